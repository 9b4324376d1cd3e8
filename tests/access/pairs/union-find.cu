// Components of a graph by union and find: roots are hooked with compare-and-swap. 1: with plain loads
// and stores. 2: the last vertices have no parent yet.
#include "pair.h"
enum { VERTICES = 4096, EDGES = 8192, BLOCK = 128 };

__global__ void start(int *parents)
{
    const int v = blockIdx.x * BLOCK + threadIdx.x;
    if (v < (DEFECT == 2 ? VERTICES - 200 : VERTICES)) parents[v] = v;
}

__device__ int find(int *parents, int v)
{
    int parent;
    while ((parent = DEFECT == 1 ? parents[v] : atomicAdd(&parents[v], 0)) != v) { // @1 possible race // @2 uninitialised read // @0 atomics on one address|few active lanes|scattered access
        if (parent < 0 || parent >= VERTICES) return 0;
        v = parent;
    }
    return v;
}

__global__ void join(const int2 *edges, int *parents)
{
    const int2 edge = edges[blockIdx.x * BLOCK + threadIdx.x];
    int a = find(parents, edge.x), b = find(parents, edge.y);
    while (a != b) {
        if (a < b) {
            const int t = a;
            a = b;
            b = t;
        }
        if (DEFECT == 1) {
            parents[a] = b; // @1 possible race
            break;
        }
        if (atomicCAS(&parents[a], a, b) == a) break; // @0 scattered access
        a = find(parents, a);
        b = find(parents, b);
    }
}

__global__ void flatten(const int *parents, int *labels)
{
    int v = blockIdx.x * BLOCK + threadIdx.x;
    const int mine = v;
    for (int parent; (parent = parents[v]) != v; v = parent) // @2 uninitialised read // @0 scattered access // @1 scattered access // @0 few active lanes
        if (parent < 0 || parent >= VERTICES) break;
    labels[mine] = v;
}

int main()
{
    int2 *const edges = device_array<int2>(EDGES, [](size_t i) {
        return make_int2(int(i * 2654435761u % VERTICES), int((i * 40503u + i / 3) % VERTICES));
    });
    int *parents, *const labels = device_zeros<int>(VERTICES);
    CHECK(cudaMalloc(&parents, VERTICES * sizeof *parents));
    start<<<VERTICES / BLOCK, BLOCK>>>(parents);
    join<<<EDGES / BLOCK, BLOCK>>>(edges, parents);
    flatten<<<VERTICES / BLOCK, BLOCK>>>(parents, labels);
    CHECK(cudaDeviceSynchronize());
}
