// A warp waits for a word of shared memory that another one sets: a volatile word, and an atomic of C++.
// 1: the word is set before the values. 2: the values are read without a look at the word.
#include "pair.h"

__global__ void by_volatile(int *out)
{
    __shared__ int values[32];
    __shared__ volatile int flag;
    const int lane = threadIdx.x % 32;
    flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        while (DEFECT != 2 && flag == 0) continue;
        __threadfence_block();
        out[lane] = values[lane]; // @2 possible race|uninitialised read
    } else if (DEFECT == 1) {
        flag = 1;
        values[lane] = 5; // @1 possible race
    } else {
        values[lane] = 5; // @2 possible race
        __threadfence_block();
        flag = 1;
    }
}

__global__ void by_atomics(int *out)
{
    __shared__ int values[32], flag;
    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) == 0) continue;
        out[lane] = values[lane];
    } else {
        values[lane] = 5;
        __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    }
}

int main()
{
    int *const out = device_zeros<int>(64);
    by_volatile<<<1, 64>>>(out);
    by_atomics<<<1, 64>>>(out + 32);
    CHECK(cudaDeviceSynchronize());
}
