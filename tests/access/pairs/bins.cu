// A histogram in shared memory, then added to the one of all. 1: read without a barrier after the
// atomics. 2: cleared without one before them.
#include "pair.h"
enum { BLOCK = 256, CTAS = 24, BINS = 64 };

__global__ void histogram(const unsigned *in, unsigned *out)
{
    __shared__ unsigned bins[BINS];
    const int t = threadIdx.x;
    if (t < BINS) bins[t] = 0; // @2 possible race
    if (DEFECT != 2) __syncthreads();
    atomicAdd(&bins[in[blockIdx.x * BLOCK + t] % BINS], 1u); // @0 bank conflicts|atomics on one address // @1 possible race
    if (DEFECT != 1) __syncthreads();
    if (t < BINS) atomicAdd(&out[t], bins[t]);
}

int main()
{
    unsigned *in = device_array<unsigned>(CTAS * BLOCK, [](size_t i) { return unsigned(i * 2654435761u >> 20); });
    unsigned *out = device_zeros<unsigned>(BINS);
    histogram<<<CTAS, BLOCK>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
