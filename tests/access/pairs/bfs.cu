// Breadth-first search over a ring with chords; frontiers in a queue, whose tail a warp moves once.
// 1: every lane moves the tail. 2: only the distance of the first vertex is ever set.
#include "pair.h"
enum { VERTICES = 4096, DEGREE = 4, BLOCK = 128 };

__global__ void expand(const int *edges, int *distance, const int *frontier, int count, int *next,
                       int *tail, int level)
{
    const int f = blockIdx.x * BLOCK + threadIdx.x;
    for (int e = 0; e < DEGREE; e++) {
        int found = -1;
        if (f < count) {
            const int to = edges[e * VERTICES + frontier[f]]; // @0 scattered access|few active lanes|misaligned access|strided access
            if (atomicCAS(&distance[to], -1, level) == -1) // @2 uninitialised read // @0 scattered access|few active lanes|misaligned access|strided access
                found = to;
        }
#if DEFECT == 1
        if (found >= 0) next[atomicAdd(tail, 1)] = found; // @1 atomics on one address
#else
        const unsigned some = __ballot_sync(~0u, found >= 0);
        const int lane = threadIdx.x % 32;
        int at = 0;
        if (lane == 0 && some) at = atomicAdd(tail, __popc(some)); // @0 few active lanes
        at = __shfl_sync(~0u, at, 0) + __popc(some & ((1u << lane) - 1));
        if (found >= 0) next[at] = found; // @0 few active lanes|misaligned access
#endif
    }
}

int main()
{
    int *edges = device_array<int>(VERTICES * DEGREE, [](size_t k) {
        const int v = int(k % VERTICES), e = int(k / VERTICES);
        const int steps[DEGREE] = {1, VERTICES - 1, 64, VERTICES - 64};
        return (v + steps[e]) % VERTICES;
    });
    int *distance, *tail = device_zeros<int>(1);
    CHECK(cudaMalloc(&distance, VERTICES * sizeof *distance));
    if (DEFECT != 2) CHECK(cudaMemset(distance, 0xff, VERTICES * sizeof *distance));
    CHECK(cudaMemset(distance, 0, sizeof *distance));
    int *frontier = device_zeros<int>(VERTICES), *next = device_zeros<int>(VERTICES);
    for (int count = 1, level = 1; count > 0 && level < 40; level++) {
        CHECK(cudaMemset(tail, 0, sizeof *tail));
        expand<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(edges, distance, frontier, count, next, tail,
                                                       level);
        CHECK(cudaMemcpy(&count, tail, sizeof count, cudaMemcpyDeviceToHost));
        int *other = frontier;
        frontier = next, next = other;
    }
}
