// The first half of the CTA scales what all have stored. 1: a barrier in its branch alone.
#include "pair.h"
enum { N = 8192, BLOCK = 128 };

__global__ void scale(const float *in, float *out)
{
    __shared__ float s[BLOCK];
    const int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    s[t] = in[i]; // @1 possible race
#if DEFECT == 1
    if (t < BLOCK / 2) {
        __syncthreads();
        s[t] += s[t + BLOCK / 2]; // @1 possible race
    }
    __syncthreads();
    out[i] = s[t ^ 32];
    if (t >= BLOCK / 2) s[t] = 2 * out[i]; // @1 possible race
#else
    __syncthreads();
    if (t < BLOCK / 2) s[t] += s[t + BLOCK / 2]; // @0 few active lanes
    __syncthreads();
    out[i] = s[t ^ 32];
#endif
}

int main()
{
    float *in = device_array<float>(N, [](size_t i) { return float(i % 5); });
    float *out = device_zeros<float>(N);
    scale<<<N / BLOCK, BLOCK>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
