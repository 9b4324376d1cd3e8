// Sums of warps by shuffles, added to one word by lane 0. 1: every lane adds by itself. 2: the word is
// never set.
#include "pair.h"
enum { N = 65536, BLOCK = 256, PER_THREAD = 16 };

__global__ void total(const int *in, int *sum)
{
    int mine = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK) mine += in[i];
#if DEFECT == 1
    atomicAdd(sum, mine); // @1 atomics on one address
#else
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, mine); // @0 few active lanes // @2 uninitialised read
#endif
}

int main()
{
    int *in = device_array<int>(N, [](size_t i) { return int(i % 11); });
    int *sum;
    CHECK(cudaMalloc(&sum, sizeof *sum));
    if (DEFECT != 2) CHECK(cudaMemset(sum, 0, sizeof *sum));
    total<<<N / BLOCK / PER_THREAD, BLOCK>>>(in, sum);
    CHECK(cudaDeviceSynchronize());
}
