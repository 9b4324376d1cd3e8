// The last CTA adds the sums of all and resets the counter by a plain store, for the next launch. 1: CTA 0
// resets it, last or not. 2: every CTA resets it.
#include "pair.h"
enum { BLOCK = 64, CTAS = 24 };

__global__ void total(const int *in, int *parts, unsigned *done, int *sum)
{
    __shared__ bool last;
    const int mine = __reduce_add_sync(~0u, in[blockIdx.x * BLOCK + threadIdx.x]);
    if (threadIdx.x % 32 == 0) parts[blockIdx.x * 2 + threadIdx.x / 32] = mine; // @0 few active lanes
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(done, 1u) == CTAS - 1; // @0 few active lanes
    __syncthreads();
    if (last) {
        __threadfence();
        int all = 0;
        if (threadIdx.x < 32)
            for (int k = threadIdx.x; k < CTAS * 2; k += 32) all += parts[k];
        if (threadIdx.x < 32) all = __reduce_add_sync(~0u, all);
        if (threadIdx.x == 0) *sum += all;
    }
    const bool resets = DEFECT == 0 ? last : DEFECT == 2 || blockIdx.x == 0;
    if (resets && threadIdx.x == 0) *done = 0; // @1 possible race // @2 possible race
}

int main()
{
    int *in = device_array<int>(CTAS * BLOCK, [](size_t i) { return int(i % 3); });
    int *parts = device_zeros<int>(CTAS * 2), *sum = device_zeros<int>(1);
    unsigned *done = device_zeros<unsigned>(1);
    for (int k = 0; k < 3; k++) total<<<CTAS, BLOCK>>>(in, parts, done, sum);
    CHECK(cudaDeviceSynchronize());
}
