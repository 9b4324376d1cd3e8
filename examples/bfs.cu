// Breadth-first search with a frontier mask, two kernels a level (bfs.h), as in Rodinia's bfs. Who
// talks to whom is decided by the graph.
// bfs [NODES = 1000000] [EDGES A NODE = 6]
#include "bfs.h"
#include "common.h"
#include <algorithm>
#include <vector>

enum { BLOCK = 512 };

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 1000000), degree = argument(argc, argv, 2, 6);
    std::vector<int> first_edge(n + 1), edges((size_t)n * degree), distance(n, -1), result(n);
    Random random;
    for (int node = 0; node <= n; node++) first_edge[node] = node * degree;
    for (int &edge : edges) edge = random.next() % n;

    bool *frontier, *seen, *marked;
    int *more;
    CHECK(cudaMalloc(&frontier, n));
    CHECK(cudaMalloc(&seen, n));
    CHECK(cudaMalloc(&marked, n));
    CHECK(cudaMalloc(&more, sizeof(int)));
    CHECK(cudaMemset(frontier, 0, n));
    CHECK(cudaMemset(seen, 0, n));
    CHECK(cudaMemset(marked, 0, n));
    CHECK(cudaMemset(frontier, 1, 1));
    CHECK(cudaMemset(seen, 1, 1));
    int *d_first = device_copy(first_edge.data(), n + 1);
    int *d_edges = device_copy(edges.data(), edges.size());
    distance[0] = 0;
    int *d_distance = device_copy(distance.data(), n);

    const int blocks = (n + BLOCK - 1) / BLOCK;
    for (int again = 1; again;) {
        CHECK(cudaMemset(more, 0, sizeof(int)));
        expand<<<blocks, BLOCK>>>(d_first, d_edges, frontier, seen, marked, d_distance, n);
        settle<<<blocks, BLOCK>>>(frontier, seen, marked, more, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&again, more, sizeof(int), cudaMemcpyDeviceToHost));
    }
    CHECK(cudaMemcpy(result.data(), d_distance, n * sizeof(int), cudaMemcpyDeviceToHost));

    std::vector<int> queue = {0};
    for (size_t head = 0; head < queue.size(); head++)
        for (int e = first_edge[queue[head]]; e < first_edge[queue[head] + 1]; e++)
            if (distance[edges[e]] < 0) {
                distance[edges[e]] = distance[queue[head]] + 1;
                queue.push_back(edges[e]);
            }
    for (void *p : {(void *)frontier, (void *)seen, (void *)marked, (void *)more, (void *)d_first,
                    (void *)d_edges, (void *)d_distance})
        CHECK(cudaFree(p));
    return verdict("bfs", result == distance);
}
