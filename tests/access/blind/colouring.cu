// Graph colouring by priorities: each round colours the vertices that are highest among those left.
// 1: colours are read and written in one array. 2: priorities are never set.
// only: faults
#include "../pairs/pair.h"
enum { V = 2000, DEGREE = 6 };

__global__ void rank(unsigned *priority)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < V) priority[v] = v * 2654435761u;
}

__global__ void colour(const int *edge, const unsigned *priority, const int *before, int *after,
                       int c)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= V) return;
    int mine = before[v];
    if (mine < 0) {
        bool is_highest = true;
        for (int e = 0; e < DEGREE; e++) {
            const int u = edge[v * DEGREE + e];
            if (u != v && before[u] < 0 && priority[u] > priority[v]) // @2 uninitialised read
                is_highest = false;
        }
        if (is_highest) mine = c;
    }
    after[v] = mine; // @1 possible race
}

int main()
{
    int *edge = device_array<int>(V * DEGREE, [](size_t i) { return (int)((i * 40503u + 7) % V); });
    int *a = device_array<int>(V, [](size_t) { return -1; });
    int *b = device_array<int>(V, [](size_t) { return -1; });
    unsigned *priority;
    CHECK(cudaMalloc(&priority, V * sizeof(unsigned)));
    if (DEFECT != 2) rank<<<(V + 127) / 128, 128>>>(priority);
    for (int c = 0; c < 4; c++) {
        colour<<<(V + 127) / 128, 128>>>(edge, priority, a, DEFECT == 1 ? a : b, c);
        if (DEFECT != 1) std::swap(a, b);
    }
    CHECK(cudaDeviceSynchronize());
}
