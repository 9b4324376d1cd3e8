/* Cooperative groups as programs write them. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <nvtx3/nvToolsExt.h>
namespace cg = cooperative_groups;

template <unsigned N> __device__ int sum(cg::thread_block_tile<N> tile, int value)
{
    for (int i = tile.size() / 2; i > 0; i /= 2) value += tile.shfl_down(value, i);
    return value;
}

__device__ int sum(cg::thread_group group, int *shared, int value)
{
    const int rank = group.thread_rank();
    for (int i = group.size() / 2; i > 0; i /= 2) {
        shared[rank] = value;
        group.sync();
        if (rank < i) value += shared[rank + i];
        group.sync();
    }
    return value;
}

__global__ void all_of_it(int *out, double *numbers)
{
    __shared__ int shared[256];
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<16>(block);
    const cg::thread_block_tile<4, cg::thread_block> small = cg::tiled_partition<4>(block);
    const auto nested = cg::tiled_partition<4>(tile);
    const cg::grid_group grid = cg::this_grid();
    int i = 0;
    out[i++] = sum(tile, 3) + sum(block, shared, 1) + cg::reduce(nested, out[0], cg::plus<int>());
    grid.sync();
    numbers[0] = cg::reduce(tile, numbers[1], cg::greater<double>());
    if (threadIdx.x % 3) {
        const cg::coalesced_group active = cg::coalesced_threads();
        out[i++] = active.size() + active.shfl(3, 0) + cg::reduce(active, 1, cg::plus<int>());
        const auto labelled = cg::labeled_partition(active, (int)threadIdx.x & 1);
        const auto binary = cg::binary_partition(active, threadIdx.x & 2);
        out[i++] = labelled.ballot(1) + binary.thread_rank() + labelled.meta_group_rank();
    }
    out[i++] = cg::inclusive_scan(tile, 2) + cg::exclusive_scan(tile, 2, cg::plus<int>());
    cg::memcpy_async(block, shared, out, sizeof(int) * 256);
    cg::wait(block);
    const cg::thread_group dynamic = cg::tiled_partition(block, 8);
    out[i++] = dynamic.size() + dynamic.thread_rank() + small.meta_group_size();
    cg::sync(block);
    int all;
    out[i++] = tile.match_any(out[1]) + tile.match_all(3, all) + tile.any(1) + tile.all(1);
    struct pair {
        double x;
        int y;
    } p = {1.0, 2};
    p = tile.shfl(p, 3);
    out[i++] = p.y + (int)grid.thread_rank() + (int)grid.size() + grid.is_valid();
    __pipeline_memcpy_async(shared, out, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    cg::invoke_one(block, [&] { out[0] = 1; });
}

int main()
{
    nvtxRangePushA("probe");
    nvtxRangePop();
    return 0;
}
