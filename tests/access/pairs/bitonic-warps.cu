// A bitonic sort: within a warp by shuffles, between warps through shared memory. 1: no barrier
// between a step's stores and loads. 2: each thread stores its results side by side.
#include "pair.h"
enum { BLOCK = 256, EACH = 2, CTAS = 16 };

__device__ int step_value(int mine, int other, bool keep_less)
{
    return (mine < other) == keep_less ? mine : other;
}

__global__ void sort(const int *in, int *out)
{
    __shared__ int exchange[BLOCK];
    const int t = threadIdx.x;
    int sorted[EACH];
    for (int e = 0; e < EACH; e++) {
        int value = in[(blockIdx.x * EACH + e) * BLOCK + t];
        for (int size = 2; size <= BLOCK; size *= 2)
            for (int distance = size / 2; distance; distance /= 2) {
                const bool keep_less = ((t & distance) == 0) == ((t & size) == 0);
                int other;
                if (distance < 32) {
                    other = __shfl_xor_sync(~0u, value, distance);
                } else {
                    exchange[t] = value; // @1 possible race
                    if (DEFECT != 1) __syncthreads();
                    other = exchange[t ^ distance]; // @1 possible race
                    if (DEFECT != 1) __syncthreads();
                }
                value = step_value(value, other, keep_less);
            }
        sorted[e] = value;
    }
    for (int e = 0; e < EACH; e++)
        out[blockIdx.x * EACH * BLOCK + (DEFECT == 2 ? t * EACH + e : e * BLOCK + t)] = sorted[e]; // @2 strided access|array of structs|blocked arrangement
}

int main()
{
    int *const in = device_array<int>(CTAS * EACH * BLOCK, [](size_t i) { return int(i * 7919 % 10007); });
    int *const out = device_zeros<int>(CTAS * EACH * BLOCK);
    sort<<<CTAS, BLOCK>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
