// Tiles of 16 threads scan in shared memory, each for itself. 1: no sync of the tile between load and
// store. 2: the tiles' sums are read without a barrier of the block.
#include "pair.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
enum { BLOCK = 128, CTAS = 32 };

__global__ void scan(const int *in, int *out)
{
    __shared__ int s[BLOCK], sums[BLOCK / 16];
    const int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int rank = tile.thread_rank();
    s[t] = in[i];
    tile.sync();
    for (int step = 1; step < 16; step *= 2) {
        const int before = rank >= step ? s[t - step] : 0; // @0 few active lanes
        if (DEFECT != 1) tile.sync();
        s[t] += before; // @1 race in a warp
        tile.sync();
    }
    if (rank == 15) sums[t / 16] = s[t]; // @0 few active lanes|bank conflicts // @2 possible race
    if (DEFECT != 2) __syncthreads();
    int offset = 0;
    for (int k = 0; k < t / 16; k++) offset += sums[k]; // @0 few active lanes
    out[i] = s[t] + offset;
}

int main()
{
    int *in = device_array<int>(CTAS * BLOCK, [](size_t i) { return int(i % 3); });
    int *out = device_zeros<int>(CTAS * BLOCK);
    scan<<<CTAS, BLOCK>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
