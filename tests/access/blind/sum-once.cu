// A sum in one launch: shuffles, shared memory, then the last CTA. 1: no barrier before the warps'
// sums are read. 2: no fence before the counter.
// only: faults
#include "../pairs/pair.h"
enum { B = 256, CTAS = 20 };

__device__ float warp_sum(float x)
{
    for (int step = 16; step; step /= 2) x += __shfl_down_sync(~0u, x, step);
    return x;
}

__device__ float cta_sum(float x)
{
    __shared__ float part[B / 32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    x = warp_sum(x);
    __syncthreads();
    if (lane == 0) part[warp] = x; // @1 possible race
#if DEFECT != 1
    __syncthreads();
#endif
    x = threadIdx.x < B / 32 ? part[threadIdx.x] : 0;
    return warp == 0 ? warp_sum(x) : 0;
}

__global__ void sum(const float *in, int n, float *parts, unsigned *count, float *out)
{
    __shared__ bool is_last;
    float x = 0;
    for (int i = blockIdx.x * B + threadIdx.x; i < n; i += gridDim.x * B) x += in[i];
    x = cta_sum(x);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = x; // @2 possible race
#if DEFECT != 2
        __threadfence();
#endif
        is_last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    x = threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0;
    x = cta_sum(x);
    if (threadIdx.x == 0) *out = x;
}

int main()
{
    const int n = 30000;
    float *in = device_zeros<float>(n), *parts = device_zeros<float>(CTAS),
          *out = device_zeros<float>(1);
    unsigned *count = device_zeros<unsigned>(1);
    sum<<<CTAS, B>>>(in, n, parts, count, out);
    sum<<<CTAS, B>>>(in, n, parts, count, out);
    CHECK(cudaDeviceSynchronize());
}
