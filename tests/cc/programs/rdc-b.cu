#include "units.h"

__device__ int counter;
__device__ float table[4];
typedef int (*operation)(int *, int);

__device__ __noinline__ int store_and_count(int *out, int i)
{
    out[i] = twice(i);
    atomicAdd(&counter, 1);
    return out[i];
}

__device__ operation address_from_b(void)
{
    return store_and_count;
}

__device__ int sum_of_block(int value)
{
    __shared__ int values[32];
    int sum = 0;
    values[threadIdx.x] = value;
    __syncthreads();
    for (int i = 0; i < 32; i++) sum += values[i];
    return sum;
}
