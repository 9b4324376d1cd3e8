// Words that CTAs update by atomics and load plainly: in the last CTA (right), and before an atomic that
// decides (right). 1: a CTA loads bins that others still count in. 2: the maximum is used at once.
#include "pair.h"
enum { CTAS = 16, BLOCK = 128, BINS = 32 };
__device__ unsigned finished;

__global__ void count(const int *in, unsigned *bins, int *best, unsigned *out, int *above)
{
    __shared__ bool is_last;
    const int value = in[blockIdx.x * BLOCK + threadIdx.x];
    atomicAdd(&bins[threadIdx.x % BINS], unsigned(value & 3));
    if (*best < value) atomicMax(best, value); // @0 atomics on one address // @1 atomics on one address // @2 atomics on one address
    if (DEFECT == 2) above[blockIdx.x * BLOCK + threadIdx.x] = *best - value; // @2 possible race
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(&finished, 1u) == gridDim.x - 1;
    __syncthreads();
    if (DEFECT == 1 ? blockIdx.x == 0 : is_last)
        if (threadIdx.x < BINS) out[threadIdx.x] = 2 * bins[threadIdx.x]; // @1 possible race
}

int main()
{
    int *const in = device_array<int>(CTAS * BLOCK, [](size_t i) { return int(i * 31 % 1009); });
    unsigned *const bins = device_zeros<unsigned>(BINS), *const out = device_zeros<unsigned>(BINS);
    int *const best = device_zeros<int>(1), *const above = device_zeros<int>(CTAS * BLOCK);
    count<<<CTAS, BLOCK>>>(in, bins, best, out, above);
    CHECK(cudaDeviceSynchronize());
}
