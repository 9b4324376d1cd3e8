// Each CTA hands a running sum on to the next through a flag with fences. 1: nobody waits for the flag.
// 2: the flag is raised before the sum is stored.
#include "pair.h"
enum { N = 4096, BLOCK = 64 };

__global__ void chain(const int *in, volatile int *sums, unsigned *flags)
{
    __shared__ int before;
    const int b = blockIdx.x;
    const int value = in[b * BLOCK + threadIdx.x];
    const int mine = __reduce_add_sync(~0u, value);
    __shared__ int warps[2];
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine; // @0 few active lanes
    __syncthreads();
    if (threadIdx.x == 0) {
        if (b > 0) {
            if (DEFECT != 1)
                while (atomicAdd(&flags[b - 1], 0u) == 0) // @0 few active lanes
                    ;
            __threadfence();
            before = sums[b - 1]; // @0 few active lanes
        } else {
            before = 0;
        }
        if (DEFECT == 2) atomicExch(&flags[b], 1u);
        sums[b] = before + warps[0] + warps[1]; // @1 possible race // @2 possible race // @0 few active lanes
        __threadfence();
        if (DEFECT != 2) atomicExch(&flags[b], 1u); // @0 few active lanes
    }
}

int main()
{
    int *in = device_array<int>(N, [](size_t i) { return int(i % 3); });
    int *sums = device_zeros<int>(N / BLOCK);
    unsigned *flags = device_zeros<unsigned>(N / BLOCK);
    chain<<<N / BLOCK, BLOCK>>>(in, sums, flags);
    CHECK(cudaDeviceSynchronize());
}
