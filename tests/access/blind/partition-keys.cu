// One pass of a partition by key: count, scan, scatter. 1: the counts are never cleared. 2:
// positions are one too far.
// only: faults
#include "../pairs/pair.h"
enum { N = 6000, KEYS = 16 };

__global__ void count(const int *in, int *counts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd(&counts[in[i] % KEYS], 1); // @1 uninitialised read
}

__global__ void scan(const int *counts, int *next)
{
    if (threadIdx.x) return;
    int sum = DEFECT == 2;
    for (int k = 0; k < KEYS; k++) {
        next[k] = sum;
        sum += counts[k];
    }
}

__global__ void scatter(const int *in, int *next, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const int at = atomicAdd(&next[in[i] % KEYS], 1);
#if DEFECT == 1
    if (at < 0 || at >= N) return;
#endif
    out[at] = in[i]; // @2 access outside allocations
}

int main()
{
    int *in = device_array<int>(N, [](size_t i) { return (int)(i * 37 % 1009); });
    int *out = device_zeros<int>(N), *counts, *next;
    CHECK(cudaMalloc(&counts, KEYS * sizeof(int)));
    CHECK(cudaMalloc(&next, KEYS * sizeof(int)));
    if (DEFECT != 1) CHECK(cudaMemset(counts, 0, KEYS * sizeof(int)));
    count<<<(N + 127) / 128, 128>>>(in, counts);
    scan<<<1, 32>>>(counts, next);
    scatter<<<(N + 127) / 128, 128>>>(in, next, out);
    CHECK(cudaDeviceSynchronize());
}
