// Bitonic sort of 512 keys in each CTA. 1: no barrier between steps. 2: the keys are not filled up
// to the CTA's size.
// only: faults
#include "../pairs/pair.h"
enum { B = 512 };

__global__ void sort(int *keys, int n)
{
    __shared__ int k[B];
    const int t = threadIdx.x, at = blockIdx.x * B + t;
#if DEFECT == 2
    if (at < n) k[t] = keys[at];
#else
    k[t] = at < n ? keys[at] : 0x7fffffff;
#endif
    __syncthreads();
    for (int size = 2; size <= B; size *= 2)
        for (int step = size / 2; step; step /= 2) {
            const int other = t ^ step;
            if (other > t) {
                const int a = k[t], b = k[other]; // @2 uninitialised read
                const bool up = !(t & size);
                if ((a > b) == up) {
                    k[t] = b;     // @1 possible race | race in a warp
                    k[other] = a; // @1 possible race | race in a warp
                }
            }
#if DEFECT != 1
            __syncthreads();
#endif
        }
    if (at < n) keys[at] = k[t];
}

int main()
{
    const int n = 1300;
    int *keys = device_array<int>(n, [](size_t i) { return (int)(i * 7919 % 10007); });
    sort<<<3, B>>>(keys, n);
    CHECK(cudaDeviceSynchronize());
}
