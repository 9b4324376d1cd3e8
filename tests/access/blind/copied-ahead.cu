// Tiles are copied asynchronously, one ahead. 1: the wait leaves the tile that is used in flight.
// 2: a tile is copied over the one in use.
// only: faults
#include "../pairs/pair.h"
#include <cuda_pipeline.h>
enum { B = 128, TILES = 8 };

__global__ void sum(const float *in, float *out)
{
    __shared__ float tile[2][B];
    const int t = threadIdx.x;
    float s = 0;
    __pipeline_memcpy_async(&tile[0][t], &in[t], 4); // @1 possible race // @2 possible race
    __pipeline_commit();
    for (int k = 0; k < TILES; k++) {
        if (k + 1 < TILES) {
            const int to = DEFECT == 2 ? k % 2 : (k + 1) % 2;
            __pipeline_memcpy_async(&tile[to][t], &in[(k + 1) * B + t],
                                    4); // @1 possible race // @2 possible race
        }
        __pipeline_commit();
#if DEFECT == 1
        __pipeline_wait_prior(2);
#else
        __pipeline_wait_prior(1);
#endif
        __syncthreads();
        s += tile[k % 2][B - 1 - t];
        __syncthreads();
    }
    out[t] = s;
}

int main()
{
    float *in = device_zeros<float>(B * TILES), *out = device_zeros<float>(B);
    sum<<<1, B>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
