// CTAs take tiles from a counter until none is left. 1: the next tile is taken before all threads
// have read this one. 2: the last tile passes the end.
// only: faults
#include "../pairs/pair.h"
enum { TILE = 128, N = 4000 };

__global__ void scale(float *data, unsigned *counter)
{
    __shared__ unsigned tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(counter, 1); // @1 possible race
        __syncthreads();
        const unsigned i = tile * TILE + threadIdx.x;
#if DEFECT != 1
        __syncthreads();
#endif
        if (i / TILE * TILE >= N) return;
#if DEFECT != 2
        if (i < N)
#endif
            data[i] *= 2; // @2 access outside allocations
    }
}

int main()
{
    float *data = device_zeros<float>(N);
    unsigned *counter = device_zeros<unsigned>(1);
    scale<<<6, TILE>>>(data, counter);
    CHECK(cudaDeviceSynchronize());
}
