// A lock taken by atomicExch around a sum of all CTAs. 1: it is released without a fence. 2: the sum
// is stored after the lock is released.
#include "pair.h"
enum { BLOCK = 32, CTAS = 24 };

__global__ void add(const int *in, int *lock, volatile int *sum)
{
    if (threadIdx.x) return;
    int mine = 0;
    for (int k = 0; k < BLOCK; k++) mine += in[blockIdx.x * BLOCK + k]; // @0 few active lanes|repeated loads
    while (atomicExch(lock, 1)) {} // @0 few active lanes
    __threadfence();
    const int before = *sum; // @0 few active lanes
#if DEFECT == 2
    __threadfence();
    atomicExch(lock, 0);
    *sum = before + mine; // @2 possible race
#else
    *sum = before + mine; // @0 few active lanes // @1 possible race
    if (DEFECT != 1) __threadfence();
    atomicExch(lock, 0); // @0 few active lanes
#endif
}

int main()
{
    int *in = device_array<int>(CTAS * BLOCK, [](size_t i) { return int(i % 3); });
    int *lock = device_zeros<int>(1), *sum = device_zeros<int>(1);
    add<<<CTAS, BLOCK>>>(in, lock, sum);
    CHECK(cudaDeviceSynchronize());
}
