// The two kernels of a breadth-first search by levels: `expand` visits the neighbours of the
// frontier and marks the ones not seen yet; `settle` turns the marks into the next frontier and
// says whether there is one. Several threads may mark the same node: they write the same values.
#ifndef EXAMPLES_BFS_H
#define EXAMPLES_BFS_H

__global__ void expand(const int *first_edge, const int *edges, bool *frontier, const bool *seen,
                       bool *marked, int *distance, int n)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n || !frontier[node]) return;
    frontier[node] = false;
    for (int e = first_edge[node]; e < first_edge[node + 1]; e++) {
        const int neighbour = edges[e];
        if (!seen[neighbour]) {
            distance[neighbour] = distance[node] + 1;
            marked[neighbour] = true;
        }
    }
}

__global__ void settle(bool *frontier, bool *seen, bool *marked, int *more, int n)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n || !marked[node]) return;
    frontier[node] = true;
    seen[node] = true;
    marked[node] = false;
    *more = 1;
}

#endif
