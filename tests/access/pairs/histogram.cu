// A histogram with a copy of the bins in each CTA. 1: all lanes of a warp add to one bin of global
// memory. 2: CTAs add to the bins without atomics.
#include "pair.h"
enum { N = 32768, BLOCK = 256, BINS = 256 };

__global__ void count(const unsigned char *in, unsigned *bins)
{
#if DEFECT == 1
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK)
        atomicAdd(&bins[in[i] / 32], 1u); // @1 atomics on one address
#else
    __shared__ unsigned mine[BINS];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK)
        atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    if (DEFECT == 2)
        bins[threadIdx.x] += mine[threadIdx.x]; // @2 possible race
    else
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
#endif
}

int main()
{
    unsigned char *in = device_array<unsigned char>(N, [](size_t i) { return (unsigned char)i; });
    unsigned *bins = device_zeros<unsigned>(BINS);
    count<<<16, BLOCK>>>(in, bins);
    CHECK(cudaDeviceSynchronize());
}
