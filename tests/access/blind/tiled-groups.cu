// Groups of eight threads share rows of shared memory. 1: no sync of the group. 2: a group reads
// its neighbour's row.
// only: faults
#include "../pairs/pair.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
enum { B = 128 };

__global__ void rotate(const int *in, int *out)
{
    __shared__ int s[B];
    auto group = cg::tiled_partition<8>(cg::this_thread_block());
    const int t = threadIdx.x, base = t / 8 * 8;
    s[t] = in[blockIdx.x * B + t]; // @1 race in a warp // @2 possible race | race in a warp
#if DEFECT != 1
    group.sync();
#endif
    const int row = DEFECT == 2 ? (base + 8) % B : base;
    out[blockIdx.x * B + t] = s[row + (group.thread_rank() + 1) % 8];
}

int main()
{
    int *in = device_zeros<int>(B * 4), *out = device_zeros<int>(B * 4);
    rotate<<<4, B>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
