/* Cooperative groups: ranks, shuffles and reductions of tiles, coalesced groups and partitions, and
 * a barrier of the grid. */
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

enum { THREADS = 96, CTAS = 4 };

template <unsigned N> __global__ void tiles(int *out)
{
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<N>(block);
    const int rank = (int)block.thread_rank();
    int sum = rank;
    for (unsigned i = tile.size() / 2; i > 0; i /= 2) sum += tile.shfl_down(sum, i);
    sum = tile.shfl(sum, 0);
    int *const mine = out + 8 * rank;
    mine[0] = sum;
    mine[1] = cg::reduce(tile, rank, cg::plus<int>());
    mine[2] = (int)tile.thread_rank();
    mine[3] = (int)tile.meta_group_rank();
    mine[4] = cg::inclusive_scan(tile, rank);
    mine[5] = cg::exclusive_scan(tile, rank);
    mine[6] = (int)tile.ballot(rank % 3 == 0);
    mine[7] = cg::reduce(tile, rank, cg::greater<int>());
}

template <unsigned N> static void test_tiles()
{
    int *const out = managed<int>(8 * THREADS);
    tiles<N><<<1, THREADS>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int rank = 0; rank < THREADS; rank++) {
        const int first = rank / (int)N * (int)N;
        int sum = 0, ballot = 0, before = 0;
        for (int i = 0; i < (int)N; i++) {
            sum += first + i;
            ballot |= ((first + i) % 3 == 0) << i;
            if (first + i < rank) before += first + i;
        }
        const int *const mine = out + 8 * rank;
        CHECK(mine[0] == sum && mine[1] == sum, "tile %u rank %d: %d %d", N, rank, mine[0],
              mine[1]);
        CHECK(mine[2] == rank - first && mine[3] == first / (int)N, "tile %u rank %d", N, rank);
        CHECK(mine[4] == before + rank && mine[5] == before, "tile %u rank %d", N, rank);
        CHECK(mine[6] == ballot, "tile %u rank %d: %x %x", N, rank, mine[6], ballot);
        CHECK(mine[7] == first + (int)N - 1, "tile %u rank %d", N, rank);
    }
}

__global__ void coalesced(int *out, int *counter)
{
    const int id = threadIdx.x;
    if (id % 3 == 1) {
        const cg::coalesced_group active = cg::coalesced_threads();
        int *const mine = out + 6 * id;
        mine[0] = (int)active.size();
        mine[1] = (int)active.thread_rank();
        mine[2] = cg::reduce(active, id, cg::plus<int>());
        mine[3] = active.shfl(id, (int)active.size() - 1);
        /* One addition for all: the aggregation idiom. */
        int base = 0;
        if (active.thread_rank() == 0) base = atomicAdd(counter, (int)active.size());
        mine[4] = active.shfl(base, 0) + (int)active.thread_rank();
        const auto labelled = cg::labeled_partition(active, id / 16);
        mine[5] = cg::reduce(labelled, 1, cg::plus<int>());
    }
}

__global__ void dynamic(int *out)
{
    __shared__ int memory[THREADS];
    const cg::thread_group group = cg::tiled_partition(cg::this_thread_block(), 8);
    const int rank = (int)group.thread_rank(), base = (int)threadIdx.x - rank;
    memory[threadIdx.x] = (int)threadIdx.x;
    for (int i = (int)group.size() / 2; i > 0; i /= 2) {
        group.sync();
        if (rank < i) memory[base + rank] += memory[base + rank + i];
    }
    group.sync();
    out[threadIdx.x] = memory[base];
}

/* Each round reads what other blocks wrote in the round before. */
__global__ void rounds(int *a, int *b)
{
    const cg::grid_group grid = cg::this_grid();
    const int id = (int)grid.thread_rank(), size = (int)grid.size();
    a[id] = id;
    grid.sync();
    for (int i = 0; i < 10; i++) {
        b[id] = a[(id + 1) % size] + 1;
        grid.sync();
        int *const swap = a;
        a = b;
        b = swap;
    }
}

int main()
{
    test_tiles<32>();
    test_tiles<16>();
    test_tiles<8>();
    test_tiles<4>();
    test_tiles<2>();
    test_tiles<1>();

    int *const out = managed<int>(6 * THREADS), *const counter = managed<int>(1);
    coalesced<<<1, THREADS>>>(out, counter);
    CUDA(cudaDeviceSynchronize());
    int total = 0;
    static bool taken[THREADS];
    for (int id = 1; id < THREADS; id += 3, total++) {
        const int *const mine = out + 6 * id, first = id / 32 * 32;
        int size = 0, sum = 0, rank = 0, last = 0, labelled = 0;
        for (int i = first; i < first + 32; i++)
            if (i % 3 == 1) {
                size++, sum += i, last = i;
                rank += i < id;
                labelled += i / 16 == id / 16;
            }
        CHECK(mine[0] == size && mine[1] == rank, "id %d: %d %d", id, mine[0], mine[1]);
        CHECK(mine[2] == sum && mine[3] == last, "id %d: %d %d", id, mine[2], mine[3]);
        CHECK(mine[4] >= 0 && mine[4] < THREADS && !taken[mine[4]], "id %d: %d", id, mine[4]);
        if (mine[4] >= 0 && mine[4] < THREADS) taken[mine[4]] = true;
        CHECK(mine[5] == labelled, "id %d: %d, not %d", id, mine[5], labelled);
    }
    CHECK(*counter == total, "%d", *counter);

    dynamic<<<1, THREADS>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < THREADS; i++) CHECK(out[i] == 8 * (i / 8 * 8) + 28, "%d: %d", i, out[i]);

    const int size = CTAS * THREADS;
    int *a = managed<int>(size), *b = managed<int>(size);
    void *arguments[] = {&a, &b};
    CUDA(cudaLaunchCooperativeKernel(rounds, dim3(CTAS), dim3(THREADS), arguments));
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < size; i++) CHECK(a[i] == (i + 10) % size + 10, "%d: %d", i, a[i]);
    return finish();
}
