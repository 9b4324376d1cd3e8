// A lock with tickets guards a row of sums. 1: nobody takes it. 2: the row is updated after its release.
#include "pair.h"
enum { N = 2048, BLOCK = 64 };

struct Lock {
    unsigned next, serving;
};

__device__ void acquire(Lock *lock)
{
    const unsigned ticket = atomicAdd(&lock->next, 1u); // @0 few active lanes
    while (atomicAdd(&lock->serving, 0u) != ticket) // @0 few active lanes
        ;
    __threadfence();
}

__device__ void release(Lock *lock)
{
    __threadfence();
    atomicAdd(&lock->serving, 1u); // @0 few active lanes
}

__global__ void add(const int *in, volatile int *sums, Lock *lock)
{
    const int value = in[blockIdx.x * BLOCK + threadIdx.x];
    if (DEFECT != 1 && threadIdx.x == 0) acquire(lock);
    if (DEFECT == 2 && threadIdx.x == 0) release(lock);
    __syncthreads();
    sums[threadIdx.x] = sums[threadIdx.x] + value; // @1 possible race // @2 possible race
    __syncthreads();
    if (DEFECT == 0 && threadIdx.x == 0) release(lock);
}

int main()
{
    int *in = device_array<int>(N, [](size_t i) { return int(i % 3); });
    int *sums = device_zeros<int>(BLOCK);
    Lock *lock = device_zeros<Lock>(1);
    add<<<N / BLOCK, BLOCK>>>(in, sums, lock);
    CHECK(cudaDeviceSynchronize());
}
