// Stream compaction with cooperative groups: the threads that keep a value take places together, tiles
// sum what they dropped. 1: each thread takes its place for itself. 2: the tile does not wait before
// its partial sums are added.
#include "pair.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
enum { COUNT = 1 << 15, BLOCK = 128, TILE = 8 };

__global__ void compact(const int *in, int *out, int *taken, int *dropped)
{
    __shared__ int partial[BLOCK];
    const int i = blockIdx.x * BLOCK + threadIdx.x, value = in[i];
    const bool keep = value % 3 != 0;
    if (keep) {
        if (DEFECT == 1) {
            out[atomicAdd(taken, 1)] = value; // @1 atomics on one address
        } else {
            auto active = cg::coalesced_threads();
            int first = 0;
            if (active.thread_rank() == 0) first = atomicAdd(taken, (int)active.size()); // @0 few active lanes
            out[active.shfl(first, 0) + active.thread_rank()] = value; // @0 few active lanes|misaligned access
        }
    }
    auto tile = cg::tiled_partition<TILE>(cg::this_thread_block());
    partial[threadIdx.x] = keep ? 0 : value;
    tile.sync();
    for (int half = TILE / 2; half; half /= 2) {
        if ((int)tile.thread_rank() < half) partial[threadIdx.x] += partial[threadIdx.x + half]; // @2 race in a warp // @0 few active lanes // @1 few active lanes
        if (DEFECT != 2) tile.sync();
    }
    if (tile.thread_rank() == 0) atomicAdd(&dropped[i / TILE % 64], partial[threadIdx.x]); // @0 few active lanes|bank conflicts // @1 few active lanes|bank conflicts
}

int main()
{
    int *const in = device_array<int>(COUNT, [](size_t i) { return int(i * 2654435761u >> 20); });
    int *const out = device_zeros<int>(COUNT), *const taken = device_zeros<int>(1);
    int *const dropped = device_zeros<int>(64);
    compact<<<COUNT / BLOCK, BLOCK>>>(in, out, taken, dropped);
    CHECK(cudaDeviceSynchronize());
}
