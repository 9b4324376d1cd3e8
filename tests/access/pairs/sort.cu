// A bitonic sort of each CTA's keys in shared memory. 1: no barrier between stages. 2: the keys are not
// a whole number of CTAs, and nobody asks.
#include "pair.h"
enum { BLOCK = 256, N = 32 * BLOCK - (DEFECT == 2 ? 56 : 0) };

__global__ void sort(int *keys)
{
    __shared__ int s[BLOCK];
    const int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    s[t] = keys[i]; // @2 access outside allocations
    __syncthreads();
    for (int size = 2; size <= BLOCK; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            const int other = t ^ step;
            const int mine = s[t], his = s[other];
            const bool least = (t & size) == 0 == (t < other);
            if (DEFECT != 1) __syncthreads();
            s[t] = least == (mine < his) ? mine : his; // @1 possible race
            if (DEFECT != 1) __syncthreads();
        }
    if (i < N) keys[i] = s[t];
}

int main()
{
    int *keys = device_array<int>(N, [](size_t i) { return int(i * 7919 % 10007); });
    sort<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(keys);
    CHECK(cudaDeviceSynchronize());
}
