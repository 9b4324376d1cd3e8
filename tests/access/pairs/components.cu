// A step of label propagation: along each edge the smaller label moves on.
// 1: the smaller label is stored without an atomic. 2: the last vertex has no label yet.
#include "pair.h"
enum { VERTICES = 1 << 14, EDGES = 2 * VERTICES, BLOCK = 256 };

__global__ void name(int *labels, int *next, int count)
{
    const int v = blockIdx.x * BLOCK + threadIdx.x;
    if (v < count) labels[v] = v;
    next[v] = v;
}

__global__ void propagate(const int *from, const int *to, const int *labels, int *next)
{
    const int e = blockIdx.x * BLOCK + threadIdx.x;
    const int v = to[e];
    const int label = labels[from[e]]; // @2 uninitialised read
    if (DEFECT == 1) {
        if (label < next[v]) next[v] = label; // @1 possible race
    } else {
        atomicMin(&next[v], label);
    }
}

int main()
{
    int *const from = device_array<int>(EDGES, [](size_t e) { return (int)(e % VERTICES); });
    int *const to = device_array<int>(EDGES, [](size_t e) {
        return (int)(e < VERTICES ? e ^ 32 : (e + VERTICES / 2) % VERTICES);
    });
    int *labels, *next;
    CHECK(cudaMalloc(&labels, VERTICES * sizeof *labels));
    CHECK(cudaMalloc(&next, VERTICES * sizeof *next));
    name<<<VERTICES / BLOCK, BLOCK>>>(labels, next, VERTICES - (DEFECT == 2));
    propagate<<<EDGES / BLOCK, BLOCK>>>(from, to, labels, next);
    CHECK(cudaDeviceSynchronize());
}
