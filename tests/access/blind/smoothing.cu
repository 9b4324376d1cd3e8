// Five-point smoothing through a tile with a rim. 1: the rim is loaded after the barrier. 2: the
// rim is not loaded at the CTA's right end.
// only: faults
#include "../pairs/pair.h"
enum { B = 128, N = 1024 };

__global__ void smooth(const float *in, float *out)
{
    __shared__ float s[B + 4];
    const int t = threadIdx.x, i = blockIdx.x * B + t;
    s[t + 2] = in[i];
#if DEFECT == 1
    __syncthreads();
#endif
    if (t < 2) s[t] = i >= 2 ? in[i - 2] : 0; // @1 race in a warp | possible race
#if DEFECT != 2
    if (t >= B - 2) s[t + 4] = i < N - 2 ? in[i + 2] : 0; // @1 race in a warp | possible race
#endif
#if DEFECT != 1
    __syncthreads();
#endif
    out[i] = (s[t] + s[t + 1] + s[t + 2] + s[t + 3] + s[t + 4]) /
             5; // @2 uninitialised read // @1 uninitialised read
}

int main()
{
    float *in = device_zeros<float>(N), *out = device_zeros<float>(N);
    smooth<<<N / B, B>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
