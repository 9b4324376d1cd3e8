// Hillis and Steele's scan of blocks, then their totals. 1: one buffer, read and written without a
// barrier between. 2: the totals of the blocks are read, but nobody stored that of the last one.
#include "pair.h"
enum { N = 8192, BLOCK = 256 };

__global__ void scan_blocks(const int *in, int *out, int *totals)
{
    __shared__ int buffer[2][BLOCK];
    const int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    int from = 0;
    buffer[0][t] = in[i];
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
#if DEFECT == 1
        if (t >= step) buffer[0][t] += buffer[0][t - step]; // @1 possible race
#else
        buffer[1 - from][t] = buffer[from][t] + (t >= step ? buffer[from][t - step] : 0);
        from = 1 - from;
#endif
        __syncthreads();
    }
    out[i] = buffer[from][t];
    if (t == BLOCK - 1 && (DEFECT != 2 || blockIdx.x + 1 < gridDim.x))
        totals[blockIdx.x] = buffer[from][t]; // @0 few active lanes
}

__global__ void add_totals(int *out, const int *totals)
{
    __shared__ int before;
    if (threadIdx.x < 32) {
        int sum = 0;
        for (int b = threadIdx.x; b < gridDim.x; b += 32)
            sum += totals[b] * (b < blockIdx.x); // @2 uninitialised read
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (threadIdx.x == 0) before = sum; // @0 few active lanes
    }
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] += before;
}

int main()
{
    int *in = device_array<int>(N, [](size_t i) { return int(i % 3); }), *out, *totals;
    CHECK(cudaMalloc(&out, N * sizeof *out));
    CHECK(cudaMalloc(&totals, N / BLOCK * sizeof *totals));
    scan_blocks<<<N / BLOCK, BLOCK>>>(in, out, totals);
    add_totals<<<N / BLOCK, BLOCK>>>(out, totals);
    CHECK(cudaDeviceSynchronize());
}
