// A prefix sum in one pass: a block looks back at the sums of the blocks before it (decoupled
// look-back). 1: the flag is set before the sum is stored. 2: the flag is not looked at.
#include "pair.h"
enum { BLOCK = 256, TILES = 48 };
enum : int { NOTHING = 0, SUM = 1, PREFIX = 2 };

__device__ int ticket;

__device__ int warp_scan(int value)
{
    const int lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(~0u, value, step);
        if (lane >= step) value += before;
    }
    return value;
}

__device__ int block_scan(int value, int *sums)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = warp_scan(value);
    if (lane == 31) sums[warp] = value; // @0 few active lanes
    __syncthreads();
    for (int w = 0; w < warp; w++) value += sums[w];
    return value;
}

__global__ void scan(const int *in, int *out, int *sum, int *prefix, volatile int *state)
{
    __shared__ int sums[BLOCK / 32], tile_shared, before_shared;
    if (threadIdx.x == 0) tile_shared = atomicAdd(&ticket, 1);
    __syncthreads();
    const int tile = tile_shared, i = tile * BLOCK + threadIdx.x;
    const int value = block_scan(in[i], sums);
    if (threadIdx.x == BLOCK - 1) {
        int before = 0;
        if (DEFECT == 1) state[tile] = SUM;
        sum[tile] = value; // @1? possible race // @2 possible race
        if (DEFECT != 1) {
            __threadfence();
            state[tile] = SUM;
        }
        for (int back = tile - 1; back >= 0; back--) {
            int seen = SUM;
            while (DEFECT != 2 && (seen = state[back]) == NOTHING) continue;
            __threadfence();
            if (seen == PREFIX) {
                before += prefix[back];
                break;
            }
            before += sum[back]; // @1? possible race // @2 possible race
        }
        prefix[tile] = before + value;
        __threadfence();
        state[tile] = PREFIX;
        before_shared = before;
    }
    __syncthreads();
    out[i] = value + before_shared;
}

int main()
{
    int *const in = device_array<int>(BLOCK * TILES, [](size_t i) { return int(i % 7); });
    int *const out = device_zeros<int>(BLOCK * TILES);
    int *const sum = device_zeros<int>(TILES), *const prefix = device_zeros<int>(TILES);
    int *const state = device_zeros<int>(TILES);
    scan<<<TILES, BLOCK>>>(in, out, sum, prefix, state);
    CHECK(cudaDeviceSynchronize());
}
