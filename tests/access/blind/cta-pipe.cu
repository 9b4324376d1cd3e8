// CTA 0 hands blocks of numbers to CTA 1 through a ring of four. 1: the consumer does not wait. 2:
// the producer does not wait for room.
// only: faults
#include "../pairs/pair.h"
enum { B = 64, DEPTH = 4, COUNT = 20 };

__device__ void wait_until(volatile int *word, int least)
{
    if (threadIdx.x == 0)
        while (*word < least) {
        }
    __syncthreads();
    __threadfence();
}

__device__ void tell(volatile int *word, int value)
{
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *word = value;
}

__global__ void pipe(float *ring, int *filled, int *emptied, float *out)
{
    const int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < COUNT; k++) {
        float *slot = ring + k % DEPTH * B;
        if (blockIdx.x == 0) {
            if (DEFECT != 2) wait_until(emptied, k - DEPTH + 1);
            slot[t] = k + t; // @1 possible race // @2? possible race
            tell(filled, k + 1);
        } else {
            if (DEFECT != 1) wait_until(filled, k + 1);
            sum += slot[t];
            tell(emptied, k + 1);
        }
    }
    if (blockIdx.x) out[t] = sum;
}

int main()
{
    float *ring = device_zeros<float>(DEPTH * B), *out = device_zeros<float>(B);
    int *filled = device_zeros<int>(1), *emptied = device_zeros<int>(1);
    pipe<<<2, B>>>(ring, filled, emptied, out);
    CHECK(cudaDeviceSynchronize());
}
