// Warps of a CTA hand a value on in global memory, one after the other, by a flag in shared memory. 1:
// no fence before the flag. 2: the flag is not looked at.
#include "pair.h"
enum { WARPS = 4, CTAS = 16 };

__global__ void chain(int *values)
{
    __shared__ volatile int turn;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) turn = 0; // @0 few active lanes
    __syncthreads();
    if (threadIdx.x % 32) return;
    if (DEFECT != 2)
        while (turn != warp) {} // @0 few active lanes
    values[blockIdx.x] += warp; // @0 few active lanes|strided access|scattered access // @1 possible race // @2 possible race
    if (DEFECT != 1) __threadfence_block();
    turn = warp + 1; // @0 few active lanes
}

int main()
{
    int *values = device_zeros<int>(CTAS);
    chain<<<CTAS, WARPS * 32>>>(values);
    CHECK(cudaDeviceSynchronize());
}
