// Hash chains: elements are pushed to the front of lists and looked up by the next kernel. 1: the
// front is exchanged by a load and a store. 2: the fronts are never set.
// only: faults
#include "../pairs/pair.h"
enum { N = 3000, LISTS = 128 };

__global__ void insert(const unsigned *key, int *front, int *next)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    int *const head = &front[key[i] % LISTS];
#if DEFECT == 1
    next[i] = *head;
    *head = i; // @1 possible race
#else
    next[i] = atomicExch(head, i); // @2 uninitialised read
#endif
}

__global__ void find(const unsigned *key, const int *front, const int *next, int *steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    int count = 0;
    for (int at = front[key[i] % LISTS]; at >= 0 && at < N && count < 200; at = next[at]) count++;
    steps[i] = count;
}

int main()
{
    unsigned *key =
        device_array<unsigned>(N, [](size_t i) { return (unsigned)i * 2654435761u >> 8; });
    int *front, *next, *steps = device_zeros<int>(N);
    CHECK(cudaMalloc(&front, LISTS * sizeof(int)));
    CHECK(cudaMalloc(&next, N * sizeof(int)));
    if (DEFECT != 2) CHECK(cudaMemset(front, 0xff, LISTS * sizeof(int)));
    insert<<<(N + 127) / 128, 128>>>(key, front, next);
    find<<<(N + 127) / 128, 128>>>(key, front, next, steps);
    CHECK(cudaDeviceSynchronize());
}
