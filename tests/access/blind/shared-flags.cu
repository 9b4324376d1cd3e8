// A producer warp hands tiles to three consumer warps with volatile words of shared memory. 1: full
// is set without a fence. 2: the consumers do not wait for full.
// only: faults
#include "../pairs/pair.h"
enum { TILES = 6 };

__global__ void roles(const int *in, int *out)
{
    __shared__ int tile[96];
    __shared__ volatile int full, empty[3];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) full = 0;
    if (threadIdx.x < 3) empty[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 1; k <= TILES; k++) {
        if (warp == 0) {
            if (lane < 3)
                while (empty[lane] < k - 1) {
                }
            __syncwarp();
            __threadfence_block();
            for (int i = lane; i < 96; i += 32)
                tile[i] = in[k * 96 - 96 + i]; // @1 possible race // @2 possible race
#if DEFECT != 1
            __threadfence_block();
#endif
            __syncwarp();
            if (lane == 0) full = k;
        } else {
#if DEFECT != 2
            if (lane == 0)
                while (full < k) {
                }
            __syncwarp();
            __threadfence_block();
#endif
            out[(blockIdx.x * TILES + k - 1) * 96 + (warp - 1) * 32 + lane] =
                tile[(warp - 1) * 32 + lane] + 1;
            __threadfence_block();
            __syncwarp();
            if (lane == 0) empty[warp - 1] = k;
        }
    }
}

int main()
{
    int *in = device_zeros<int>(96 * TILES), *out = device_zeros<int>(2 * 96 * TILES);
    roles<<<2, 128>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
