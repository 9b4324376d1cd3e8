// Rows of floats in shared memory are read and written as float2 and float4 through casts of the array.
// 1: neighbouring threads take every fourth float2. 2: no barrier between stores and loads.
#include "pair.h"
enum { BLOCK = 64, CTAS = 16 };

__global__ void pairs(const float *in, float *out)
{
    __shared__ float row[8 * BLOCK];
    const int t = threadIdx.x, i = blockIdx.x * BLOCK + t, place = DEFECT == 1 ? 4 * t : t;
    reinterpret_cast<float2 *>(row)[place] = make_float2(in[i], 1); // @1 bank conflicts // @2 possible race
    if (DEFECT != 2) __syncthreads();
    const float2 v = ((float2 *)row)[DEFECT == 1 ? place : BLOCK - 1 - place]; // @1 bank conflicts // @2 possible race|uninitialised read
    __syncthreads();
    *(float4 *)&row[4 * t] = make_float4(v.x, v.y, v.x, v.y);
    __syncthreads();
    const float4 w = *(float4 *)(row + 4 * (BLOCK - 1 - t));
    out[i] = v.x + w.y + w.x + w.w + w.z;
}

int main()
{
    float *const in = device_array<float>(BLOCK * CTAS, [](size_t i) { return float(i % 5); });
    float *const out = device_zeros<float>(BLOCK * CTAS);
    pairs<<<CTAS, BLOCK>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
