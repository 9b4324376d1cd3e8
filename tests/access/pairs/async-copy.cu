// Asynchronous copies of one tile ahead. 1: the wait for them is missing. 2: one group too many may
// go on.
#include "pair.h"
#include <cuda_pipeline.h>
enum { BLOCK = 128, TILES = 6, CTAS = 32 };

__global__ void sums(const float *in, float *out)
{
    __shared__ float tile[2][BLOCK];
    const int t = threadIdx.x;
    const float *const mine = in + blockIdx.x * BLOCK * TILES;
    float sum = 0;
    __pipeline_memcpy_async(&tile[0][t], &mine[t], 4); // @1 possible race // @2 possible race
    __pipeline_commit();
    for (int k = 0; k < TILES; k++) {
        if (k + 1 < TILES)
            __pipeline_memcpy_async(&tile[k + 1 & 1][t], &mine[(k + 1) * BLOCK + t], 4); // @1 possible race // @2 possible race
        __pipeline_commit();
        if (DEFECT != 1) __pipeline_wait_prior(DEFECT == 2 ? 2 : 1);
        __syncthreads();
        sum += tile[k & 1][BLOCK - 1 - t];
        __syncthreads();
    }
    out[blockIdx.x * BLOCK + t] = sum;
}

int main()
{
    float *in = device_array<float>(CTAS * BLOCK * TILES, [](size_t i) { return float(i % 9); });
    float *out = device_zeros<float>(CTAS * BLOCK);
    sums<<<CTAS, BLOCK>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
