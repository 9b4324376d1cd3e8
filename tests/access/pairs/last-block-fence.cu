// Thread 0 of each CTA stores a sum, and the last CTA adds them. 1: no fence before the counter.
#include "pair.h"
enum { BLOCK = 64, CTAS = 40 };

__global__ void total(const int *in, int *parts, unsigned *done, int *sum)
{
    __shared__ int s[BLOCK];
    __shared__ bool last;
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * BLOCK + t];
    __syncthreads();
    if (t == 0) {
        int mine = 0;
        for (int k = 0; k < BLOCK; k++) mine += s[k]; // @0 few active lanes
        parts[blockIdx.x] = mine; // @0 few active lanes // @1 possible race
        if (DEFECT != 1) __threadfence();
        last = atomicInc(done, CTAS - 1) == CTAS - 1; // @0 few active lanes
    }
    __syncthreads();
    if (last && t == 0) {
        int all = 0;
        for (int k = 0; k < CTAS; k++) all += parts[k]; // @0 few active lanes // @1 possible race
        *sum = all;
    }
}

int main()
{
    int *in = device_array<int>(CTAS * BLOCK, [](size_t i) { return int(i % 3); });
    int *parts = device_zeros<int>(CTAS), *sum = device_zeros<int>(1);
    unsigned *done = device_zeros<unsigned>(1);
    total<<<CTAS, BLOCK>>>(in, parts, done, sum);
    CHECK(cudaDeviceSynchronize());
}
