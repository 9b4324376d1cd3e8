// A tree of sums in shared memory. 1: interleaved addresses. 2: a level without its barrier.
#include "pair.h"
enum { N = 16384, BLOCK = 256 };

__global__ void reduce(const float *in, float *out)
{
    __shared__ float part[BLOCK];
    const int t = threadIdx.x;
    part[t] = in[blockIdx.x * BLOCK + t];
    __syncthreads();
#if DEFECT == 1
    for (int step = 1; step < BLOCK; step *= 2) {
        const int i = 2 * step * t;
        if (i < BLOCK) part[i] += part[i + step]; // @1 bank conflicts
        __syncthreads();
    }
#else
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (t < step) part[t] += part[t + step]; // @2 possible race // @0 few active lanes
        if (DEFECT != 2) __syncthreads();
    }
#endif
    if (t == 0) out[blockIdx.x] = part[0]; // @0 few active lanes
}

int main()
{
    float *in = device_array<float>(N, [](size_t i) { return float(i % 11); });
    float *out = device_zeros<float>(N / BLOCK);
    reduce<<<N / BLOCK, BLOCK>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
