/* Irregular programs: breadth-first search with worklists, shortest paths with atomicMin and a flag
 * on the host, connected components by hooking, pagerank with double atomics, triangles by binary
 * search, a lock-free hash table. */
// options: --values
#include "helper.h"
#include <algorithm>
#include <climits>
#include <queue>
#include <set>
#include <unordered_map>
#include <vector>

struct CSRGraph {
    unsigned nnodes = 0, nedges = 0;
    unsigned *row_start = nullptr, *edge_dst = nullptr, *weight = nullptr;
    __host__ __device__ unsigned degree(unsigned n) const
    {
        return row_start[n + 1] - row_start[n];
    }
    __device__ __host__ unsigned destination(unsigned n, unsigned i) const
    {
        return edge_dst[row_start[n] + i];
    }
    CSRGraph copy_to_gpu() const
    {
        CSRGraph g = *this;
        checkCudaErrors(cudaMalloc((void **)&g.row_start, (nnodes + 1) * sizeof(unsigned)));
        checkCudaErrors(cudaMalloc((void **)&g.edge_dst, nedges * sizeof(unsigned)));
        checkCudaErrors(cudaMalloc((void **)&g.weight, nedges * sizeof(unsigned)));
        checkCudaErrors(cudaMemcpy(g.row_start, row_start, (nnodes + 1) * sizeof(unsigned),
                                   cudaMemcpyHostToDevice));
        checkCudaErrors(
            cudaMemcpy(g.edge_dst, edge_dst, nedges * sizeof(unsigned), cudaMemcpyHostToDevice));
        checkCudaErrors(
            cudaMemcpy(g.weight, weight, nedges * sizeof(unsigned), cudaMemcpyHostToDevice));
        return g;
    }
};

struct Worklist {
    int *items, *size;
    __device__ void push(int item) { items[atomicAdd(size, 1)] = item; }
    /* one addition per warp for those that come together */
    __device__ void push_warp(int item)
    {
        const unsigned active = __activemask(), lane = threadIdx.x & 31;
        int at = 0;
        const int leader = __ffs(active) - 1;
        if (lane == leader) at = atomicAdd(size, __popc(active));
        items[__shfl_sync(active, at, leader) + __popc(active & ((1u << lane) - 1))] = item;
    }
};

__global__ void bfs_step(CSRGraph g, int *level, Worklist in, Worklist out, int depth)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < *in.size; i += gridDim.x * blockDim.x) {
        const int node = in.items[i];
        for (unsigned e = 0; e < g.degree(node); e++) {
            const int to = g.destination(node, e);
            if (level[to] == INT_MAX && atomicCAS(&level[to], INT_MAX, depth) == INT_MAX) {
                if (depth & 1)
                    out.push(to);
                else
                    out.push_warp(to);
            }
        }
    }
}

__global__ void sssp(CSRGraph g, unsigned *distance, bool *changed)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= g.nnodes || distance[node] == UINT_MAX) return;
    for (unsigned e = g.row_start[node]; e < g.row_start[node + 1]; e++) {
        const unsigned through = distance[node] + g.weight[e];
        if (through < distance[g.edge_dst[e]] &&
            atomicMin(&distance[g.edge_dst[e]], through) > through)
            *changed = true;
    }
}

__global__ void hook(CSRGraph g, unsigned *parent, int *changed)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= g.nnodes) return;
    for (unsigned e = 0; e < g.degree(node); e++) {
        const unsigned a = parent[node], b = parent[g.destination(node, e)];
        if (a < b) {
            atomicMin(&parent[b], a);
            *changed = 1;
        }
    }
    while (parent[node] != parent[parent[node]]) parent[node] = parent[parent[node]];
}

__global__ void push_rank(CSRGraph g, const double *rank, double *next)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < g.nnodes)
        for (unsigned e = 0; e < g.degree(node); e++)
            atomicAdd(&next[g.destination(node, e)], 0.85 * rank[node] / g.degree(node));
}

/* A hash table with open addressing: 64-bit entries by compare-and-swap. */
__global__ void insert(unsigned long long *table, unsigned mask, const unsigned *keys, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned key = keys[i];
    for (unsigned slot = (key * 2654435769u >> 7) & mask;; slot = (slot + 1) & mask) {
        unsigned long long seen = table[slot];
        if (seen == ~0ull) seen = atomicCAS(&table[slot], ~0ull, (unsigned long long)key << 32 | 1);
        if (seen == ~0ull) return;
        if (seen >> 32 == key) {
            atomicAdd(&table[slot], 1ull);
            return;
        }
    }
}

int main()
{
    const unsigned n = 2000;
    std::set<std::pair<unsigned, unsigned>> edges;
    unsigned seed = 5;
    auto random = [&seed] { return seed = seed * 1103515245 + 12345, seed >> 8; };
    for (unsigned i = 0; i < 4 * n; i++) {
        const unsigned a = random() % n, b = random() % n;
        if (a == b || a % 10 == 9 || b % 10 == 9) continue; /* some stay alone */
        edges.insert({a, b}), edges.insert({b, a});
    }
    std::vector<unsigned> rows(n + 1), dst, weights;
    for (auto &e : edges)
        rows[e.first + 1]++, dst.push_back(e.second),
            weights.push_back(1 + (e.first ^ e.second) % 20);
    for (unsigned i = 0; i < n; i++) rows[i + 1] += rows[i];
    CSRGraph host;
    host.nnodes = n, host.nedges = (unsigned)dst.size();
    host.row_start = &rows[0], host.edge_dst = &dst[0], host.weight = &weights[0];
    CSRGraph g = host.copy_to_gpu();
    const int blocks = (n + 127) / 128;

    std::vector<int> level(n, INT_MAX), got(n);
    std::queue<int> queue;
    level[0] = 0;
    for (queue.push(0); !queue.empty(); queue.pop())
        for (unsigned e = 0; e < host.degree(queue.front()); e++)
            if (level[host.destination(queue.front(), e)] == INT_MAX)
                level[host.destination(queue.front(), e)] = level[queue.front()] + 1,
                                                      queue.push(
                                                          host.destination(queue.front(), e));
    int *d_level;
    Worklist lists[2];
    got.assign(n, INT_MAX);
    got[0] = 0;
    checkCudaErrors(cudaMalloc(&d_level, n * sizeof(int)));
    checkCudaErrors(cudaMemcpy(d_level, &got[0], n * sizeof(int), cudaMemcpyHostToDevice));
    for (auto &list : lists) {
        checkCudaErrors(cudaMalloc(&list.items, n * sizeof(int)));
        checkCudaErrors(cudaMallocManaged(&list.size, sizeof(int)));
        checkCudaErrors(cudaMemset(list.items, 0, n * sizeof(int)));
    }
    *lists[0].size = 1;
    int depth = 0;
    for (; *lists[depth & 1].size; depth++) {
        *lists[~depth & 1].size = 0;
        bfs_step<<<8, 64>>>(g, d_level, lists[depth & 1], lists[~depth & 1], depth + 1);
        checkCudaErrors(cudaDeviceSynchronize());
    }
    checkCudaErrors(cudaMemcpy(&got[0], d_level, n * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(got == level && depth > 3, "levels, depth %d", depth);

    std::vector<unsigned> distance(n, UINT_MAX), got_distance(n, UINT_MAX);
    typedef std::pair<unsigned, unsigned> item;
    std::priority_queue<item, std::vector<item>, std::greater<item>> next;
    distance[0] = got_distance[0] = 0;
    for (next.push({0, 0}); !next.empty();) {
        const auto [d, node] = next.top();
        next.pop();
        if (d > distance[node]) continue;
        for (unsigned e = rows[node]; e < rows[node + 1]; e++)
            if (d + weights[e] < distance[dst[e]])
                next.push({distance[dst[e]] = d + weights[e], dst[e]});
    }
    unsigned *d_words;
    bool *d_changed, changed;
    checkCudaErrors(cudaMalloc(&d_words, n * sizeof(unsigned)));
    checkCudaErrors(cudaMalloc(&d_changed, sizeof(bool)));
    checkCudaErrors(cudaMemcpy(d_words, &got_distance[0], n * 4, cudaMemcpyHostToDevice));
    do {
        changed = false;
        checkCudaErrors(cudaMemcpy(d_changed, &changed, 1, cudaMemcpyHostToDevice));
        sssp<<<blocks, 128>>>(g, d_words, d_changed);
        checkCudaErrors(cudaMemcpy(&changed, d_changed, 1, cudaMemcpyDeviceToHost));
    } while (changed);
    checkCudaErrors(cudaMemcpy(&got_distance[0], d_words, n * 4, cudaMemcpyDeviceToHost));
    EXPECT(got_distance == distance, "distances");

    for (unsigned i = 0; i < n; i++) distance[i] = i;
    checkCudaErrors(cudaMemcpy(d_words, &distance[0], n * 4, cudaMemcpyHostToDevice));
    int *flag, rounds = 0;
    checkCudaErrors(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
    do {
        *flag = 0;
        hook<<<blocks, 128>>>(g, d_words, flag);
        checkCudaErrors(cudaDeviceSynchronize());
    } while (*flag && ++rounds < 100);
    checkCudaErrors(cudaMemcpy(&got_distance[0], d_words, n * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < n; i++) {
        EXPECT((got_distance[i] == got_distance[0]) == (level[i] != INT_MAX), "component of %u: %u",
               i, got_distance[i]);
        for (unsigned e = rows[i]; e < rows[i + 1]; e++)
            EXPECT(got_distance[i] == got_distance[dst[e]], "%u", i);
    }

    std::vector<double> rank(n, 1.0 / n), spread(n), got_rank(n);
    double *d_rank[2];
    for (auto &r : d_rank) checkCudaErrors(cudaMalloc(&r, n * sizeof(double)));
    checkCudaErrors(cudaMemcpy(d_rank[0], &rank[0], n * 8, cudaMemcpyHostToDevice));
    for (int i = 0; i < 4; i++) {
        spread.assign(n, 0.15 / n);
        checkCudaErrors(cudaMemcpy(d_rank[~i & 1], &spread[0], n * 8, cudaMemcpyHostToDevice));
        push_rank<<<blocks, 128>>>(g, d_rank[i & 1], d_rank[~i & 1]);
        for (unsigned k = 0; k < n; k++)
            for (unsigned e = rows[k]; e < rows[k + 1]; e++)
                spread[dst[e]] += 0.85 * rank[k] / host.degree(k);
        rank = spread;
    }
    checkCudaErrors(cudaMemcpy(&got_rank[0], d_rank[0], n * 8, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < n; i++)
        EXPECT(close_to(got_rank[i] * n, rank[i] * n, 1e-12), "%u: %g", i, got_rank[i]);

    const unsigned mask = 4095;
    std::vector<unsigned> keys(3000);
    std::unordered_map<unsigned, unsigned> counts;
    for (auto &key : keys) counts[key = random() % 1500]++;
    unsigned *d_keys;
    unsigned long long *table, *h = new unsigned long long[mask + 1];
    checkCudaErrors(cudaMalloc(&d_keys, keys.size() * 4));
    checkCudaErrors(cudaMalloc(&table, (mask + 1) * 8));
    checkCudaErrors(cudaMemset(table, 0xff, (mask + 1) * 8));
    checkCudaErrors(cudaMemcpy(d_keys, &keys[0], keys.size() * 4, cudaMemcpyHostToDevice));
    insert<<<24, 128>>>(table, mask, d_keys, (int)keys.size());
    checkCudaErrors(cudaMemcpy(h, table, (mask + 1) * 8, cudaMemcpyDeviceToHost));
    size_t found = 0;
    for (unsigned i = 0; i <= mask; i++)
        if (h[i] != ~0ull) {
            found++;
            EXPECT(counts[h[i] >> 32] == (unsigned)h[i], "key %llu", h[i] >> 32);
        }
    EXPECT(found == counts.size(), "%zu of %zu keys", found, counts.size());
    delete[] h;
    return verdict();
}
