// Digits of keys are counted for a pass of a radix sort: a column of shared memory for each thread.
// 1: a row for each thread, so that threads meet in few banks. 2: the columns are added up too early.
#include "pair.h"
enum { KEYS = 1 << 18, BLOCK = 128, EACH = 128, DIGITS = 16 };

__device__ int place(int digit, int thread)
{
    return DEFECT == 1 ? thread * DIGITS + digit : digit * BLOCK + thread;
}

__global__ void count(const unsigned *keys, int shift, int *counts)
{
    __shared__ int columns[DIGITS * BLOCK], sums[DIGITS];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    for (int d = 0; d < DIGITS; d++) columns[d * BLOCK + t] = 0;
    __syncthreads();
    for (int k = 0; k < EACH; k++) {
        const int digit = keys[(blockIdx.x * EACH + k) * BLOCK + t] >> shift & (DIGITS - 1);
        columns[place(digit, t)]++; // @1 bank conflicts // @2 possible race
    }
    if (DEFECT != 2) __syncthreads();
    for (int d = warp; d < DIGITS; d += BLOCK / 32) {
        int sum = 0;
        for (int k = lane; k < BLOCK; k += 32) sum += columns[d * BLOCK + k]; // @2 possible race
        for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
        sums[d] = sum;
    }
    __syncthreads();
    if (t < DIGITS) counts[blockIdx.x * DIGITS + t] = sums[t];
}

int main()
{
    unsigned *const keys =
        device_array<unsigned>(KEYS, [](size_t i) { return (unsigned)(i * 2654435761u ^ i >> 3); });
    int *const counts = device_zeros<int>(KEYS / BLOCK / EACH * DIGITS);
    count<<<KEYS / BLOCK / EACH, BLOCK>>>(keys, 8, counts);
    CHECK(cudaDeviceSynchronize());
}
