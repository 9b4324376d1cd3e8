// The CTA that finishes last adds the sums of all. 1: tickets are taken without atomics. 2: CTA 0 adds
// them and does not wait.
#include "pair.h"
enum { N = 16384, BLOCK = 256 };

__global__ void total(const int *in, volatile int *parts, unsigned *tickets, int *sum)
{
    __shared__ bool last;
    int mine = in[blockIdx.x * BLOCK + threadIdx.x];
    mine = __reduce_add_sync(~0u, mine);
    if (threadIdx.x % 32 == 0)
        parts[blockIdx.x * (BLOCK / 32) + threadIdx.x / 32] = mine; // @0 few active lanes // @2 possible race
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
#if DEFECT == 1
        const unsigned ticket = *tickets;
        *tickets = ticket + 1; // @1 possible race
#elif DEFECT == 2
        const unsigned ticket = blockIdx.x == 0 ? gridDim.x - 1 : 0;
#else
        const unsigned ticket = atomicAdd(tickets, 1u); // @0 few active lanes
#endif
        last = ticket == gridDim.x - 1; // @0 few active lanes
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    int all = 0;
    for (int i = threadIdx.x; i < gridDim.x * (BLOCK / 32); i += BLOCK) all += parts[i]; // @2 possible race
    all = __reduce_add_sync(~0u, all);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, all);
}

int main()
{
    int *in = device_array<int>(N, [](size_t i) { return int(i % 3); });
    int *parts = device_zeros<int>(N / 32), *sum = device_zeros<int>(1);
    unsigned *tickets = device_zeros<unsigned>(1);
    total<<<N / BLOCK, BLOCK>>>(in, parts, tickets, sum);
    CHECK(cudaDeviceSynchronize());
}
