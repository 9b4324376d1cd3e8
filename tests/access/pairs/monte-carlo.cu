// The mean of a function of samples: shuffles in each warp, then shared memory.
// 1: lanes swap values through shared memory, and nothing orders them. 2: the warps' sums are read
// before all are there.
#include "pair.h"
enum { SAMPLES = 1 << 18, BLOCK = 256, EACH = 64, WARPS = BLOCK / 32 };

__global__ void estimate(const float *samples, float *sums)
{
    __shared__ float swap[BLOCK], parts[WARPS];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    float sum = 0;
    for (int k = 0; k < EACH; k++) {
        const float x = samples[(blockIdx.x * EACH + k) * BLOCK + t];
        sum += sqrtf(1 - x * x);
    }
    if (DEFECT == 1) {
        swap[t] = sum;       // @1 race in a warp
        sum += swap[t ^ 16]; // @1 race in a warp
    } else {
        sum += __shfl_xor_sync(~0u, sum, 16);
    }
    for (int d = 8; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) parts[warp] = sum; // @2 possible race
    if (DEFECT != 2) __syncthreads();
    if (warp == 0 && lane < WARPS) {
        sum = parts[lane]; // @2 possible race
        for (int d = WARPS / 2; d; d /= 2) sum += __shfl_xor_sync((1u << WARPS) - 1, sum, d);
        if (lane == 0) sums[blockIdx.x] = sum;
    }
}

int main()
{
    float *const samples =
        device_array<float>(SAMPLES, [](size_t i) { return (float)(i * 2654435761u % 1000) / 1000; });
    float *const sums = device_zeros<float>(SAMPLES / BLOCK / EACH);
    estimate<<<SAMPLES / BLOCK / EACH, BLOCK>>>(samples, sums);
    CHECK(cudaDeviceSynchronize());
}
