// A pass of a radix sort on 2 bits: ranks by ballots, sorted in shared memory first, then to the
// places of each digit. 1: warps add up each other's counts without a barrier. 2: a block's keys go
// straight to the places of a table that the blocks fill in the same launch.
#include "pair.h"
enum { BLOCK = 128, CTAS = 32, DIGITS = 4, WARPS = BLOCK / 32 };

__device__ int block_rank(int digit, int (*counts)[DIGITS])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int rank = 0;
    for (int d = 0; d < DIGITS; d++) {
        const unsigned same = __ballot_sync(~0u, digit == d);
        if (lane == 0) counts[warp][d] = __popc(same); // @1 possible race // @0 few active lanes
        if (digit == d) rank = __popc(same & ((1u << lane) - 1));
    }
    if (DEFECT != 1) __syncthreads();
    for (int w = 0; w < warp; w++) rank += counts[w][digit]; // @1 possible race
    return rank;
}

__global__ void count(const unsigned *keys, int shift, int *table)
{
    __shared__ int counts[WARPS][DIGITS];
    const int digit = keys[blockIdx.x * BLOCK + threadIdx.x] >> shift & (DIGITS - 1);
    block_rank(digit, counts);
    __syncthreads();
    if (threadIdx.x < DIGITS) {
        int sum = 0;
        for (int w = 0; w < WARPS; w++) sum += counts[w][threadIdx.x]; // @0 few active lanes
        table[threadIdx.x * CTAS + blockIdx.x] = sum; // @0 few active lanes|strided access
    }
}

__global__ void scatter(const unsigned *keys, int shift, int *table, unsigned *out)
{
    __shared__ int counts[WARPS][DIGITS], starts[DIGITS], before[DIGITS];
    __shared__ unsigned sorted[BLOCK];
    const int t = threadIdx.x;
    const unsigned key = keys[blockIdx.x * BLOCK + t];
    const int digit = key >> shift & (DIGITS - 1), rank = block_rank(digit, counts);
    __syncthreads();
    if (t < DIGITS) {
        int sum = 0, all = 0;
        for (int d = 0; d < t; d++)
            for (int w = 0; w < WARPS; w++) all += counts[w][d]; // @0 few active lanes
        before[t] = all;
        if (DEFECT == 2)
            for (int w = 0; w < WARPS; w++)
                table[t * CTAS + blockIdx.x] = counts[w][t]; // @2 possible race
        for (int i = 0; i < t * CTAS + (int)blockIdx.x; i++) sum += table[i]; // @2 possible race // @0 few active lanes|strided access
        starts[t] = sum;
    }
    __syncthreads();
    sorted[before[digit] + rank] = key; // @0 bank conflicts
    __syncthreads();
    const unsigned mine = sorted[t];
    const int to = mine >> shift & (DIGITS - 1);
    out[(starts[to] + t - before[to]) % (BLOCK * CTAS)] = mine;
}

int main()
{
    unsigned *const keys = device_array<unsigned>(BLOCK * CTAS, [](size_t i) { return (unsigned)(i * 2654435761u); });
    unsigned *const out = device_zeros<unsigned>(BLOCK * CTAS);
    int *const table = device_zeros<int>(DIGITS * CTAS);
    count<<<CTAS, BLOCK>>>(keys, 4, table);
    scatter<<<CTAS, BLOCK>>>(keys, 4, table, out);
    CHECK(cudaDeviceSynchronize());
}
