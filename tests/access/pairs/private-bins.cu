// A histogram with a private copy for each warp in shared memory. 1: the copies are added up before
// all warps have counted. 2: there are no copies, and most values fall into one bin.
#include "pair.h"
enum { BINS = 64, WARPS = 8, VALUES = 1 << 17, CTAS = 16 };

__global__ void count(const unsigned char *values, unsigned *bins)
{
    __shared__ unsigned copies[WARPS][BINS];
    const int warp = threadIdx.x / 32, threads = blockDim.x;
    for (int i = threadIdx.x; i < WARPS * BINS; i += threads) copies[0][i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * threads + threadIdx.x; i < VALUES; i += CTAS * threads) {
        if (DEFECT == 2)
            atomicAdd(&bins[values[i] % 8 ? 0 : values[i] % BINS], 1); // @2 atomics on one address
        else
            atomicAdd(&copies[warp][values[i] % BINS], 1); // @1 possible race // @0 bank conflicts
    }
    if (DEFECT != 1) __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += threads) {
        unsigned sum = 0;
        for (int w = 0; w < WARPS; w++) sum += copies[w][b]; // @1 possible race
        if (sum) atomicAdd(&bins[b], sum);
    }
}

int main()
{
    unsigned char *const values = device_array<unsigned char>(
        VALUES, [](size_t i) { return (unsigned char)(i * 2654435761u >> 13); });
    unsigned *const bins = device_zeros<unsigned>(BINS);
    count<<<CTAS, 32 * WARPS>>>(values, bins);
    CHECK(cudaDeviceSynchronize());
}
