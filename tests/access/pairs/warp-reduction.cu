// Each warp sums its part of shared memory without shuffles. 1: no __syncwarp() at all.
#include "pair.h"
enum { BLOCK = 256, CTAS = 32 };

__global__ void sums(const int *in, int *out)
{
    __shared__ int s[BLOCK];
    const int t = threadIdx.x, lane = t % 32;
    s[t] = in[blockIdx.x * BLOCK + t]; // @1 race in a warp
    if (DEFECT != 1) __syncwarp();
    for (int step = 16; step; step /= 2) {
        if (lane < step) s[t] += s[t + step]; // @0 few active lanes // @1 race in a warp
        if (DEFECT != 1) __syncwarp();
    }
    if (lane == 0) out[blockIdx.x * (BLOCK / 32) + t / 32] = s[t]; // @0 few active lanes
}

int main()
{
    int *in = device_array<int>(CTAS * BLOCK, [](size_t i) { return int(i % 3); });
    int *out = device_zeros<int>(CTAS * BLOCK / 32);
    sums<<<CTAS, BLOCK>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
