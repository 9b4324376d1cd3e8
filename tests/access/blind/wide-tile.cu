// Rows of a tile are read as float4. 1: rows of 32 floats. 2: every lane takes four floats of a row
// by itself.
#include "../pairs/pair.h"
enum { R = 32, C = 32, PITCH = DEFECT == 1 ? C : C + 4 };

__global__ void rows(const float4 *in, float4 *out)
{
    __shared__ __align__(16) float tile[R * PITCH];
    const int t = threadIdx.x;
    for (int k = 0; k < R * C / 4 / 32; k++) {
        const int at = k * 32 + t;
        *(float4 *)&tile[at / (C / 4) * PITCH + at % (C / 4) * 4] = in[blockIdx.x * R * C / 4 + at];
    }
    __syncthreads();
    float4 sum = {0, 0, 0, 0};
    for (int k = 0; k < C; k += 4) {
#if DEFECT == 2
        const float *const p = &tile[t % 8 * 128 / 32 * 8 + k];
        sum.x += p[0] + tile[(t * 32) % (R * C) + k]; // @2 bank conflicts
#else
        const float4 v = *(const float4 *)&tile[t * PITCH + k]; // @1 bank conflicts
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
#endif
    }
    out[blockIdx.x * 32 + t] = sum;
}

int main()
{
    float4 *in = device_zeros<float4>(4 * R * C / 4), *out = device_zeros<float4>(4 * 32);
    rows<<<4, 32>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
