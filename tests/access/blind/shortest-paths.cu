// Shortest paths over work lists. 1: a distance is lowered by a plain store. 2: the size of the
// next list is never set.
// only: faults
#include "../pairs/pair.h"
enum { V = 2048, DEGREE = 4, LIMIT = 1 << 16 };

__global__ void relax(const int *edge, const int *weight, int *distance, const int *list, int size,
                      int *next, int *next_size)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) {
        const int v = list[i];
        const int here = *(volatile int *)&distance[v];
        for (int e = v * DEGREE; e < (v + 1) * DEGREE; e++) {
            const int to = edge[e], d = here + weight[e];
#if DEFECT == 1
            if (d >= *(volatile int *)&distance[to]) continue;
            distance[to] = d; // @1 possible race
#else
            if (d >= atomicMin(&distance[to], d)) continue;
#endif
            const int at = atomicAdd(next_size, 1); // @2 uninitialised read
            if (at < LIMIT) next[at] = to;
        }
    }
}

int main()
{
    int *edge =
        device_array<int>(V * DEGREE, [](size_t i) { return (int)((i * 2654435761u) % V); });
    int *weight = device_array<int>(V * DEGREE, [](size_t i) { return (int)(1 + i % 9); });
    int *distance = device_array<int>(V, [](size_t i) { return i ? 1 << 28 : 0; });
    int *lists[2] = {device_zeros<int>(LIMIT), device_zeros<int>(LIMIT)}, *next_size;
    CHECK(cudaMalloc(&next_size, sizeof(int)));
    int size = 1;
    for (int step = 0; step < 6 && size; step++) {
        if (DEFECT != 2) CHECK(cudaMemset(next_size, 0, sizeof(int)));
        relax<<<4, 64>>>(edge, weight, distance, lists[step % 2], size, lists[1 - step % 2],
                         next_size);
        CHECK(cudaMemcpy(&size, next_size, sizeof(int), cudaMemcpyDeviceToHost));
        if (DEFECT == 2 || size > LIMIT) break;
    }
    CHECK(cudaDeviceSynchronize());
}
