// Lane 0 stores alone in some iterations of a loop, and not all lanes of an iteration store the result of
// a shuffle. 1: a row of results for each lane. 2: the lanes exchange values by shared memory without
// waiting for each other.
#include "pair.h"
enum { STEPS = 96, WARPS = 4, CTAS = 4 };

__global__ void walk(int *marks, int *results, int seed)
{
    __shared__ int values[WARPS][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, all = blockIdx.x * WARPS + warp;
    int x = lane + seed;
    for (int i = 0; i < STEPS; i++) {
        if (lane == 0) // an iteration may leave several marks or none
            for (int j = i; j % 5; j++) marks[(all * STEPS + i) * 8 + j % 5] = x; // @0 few active lanes // @2 few active lanes
        int v = __shfl_sync(~0u, x, (lane + 1) % 32);
        if (DEFECT == 2) {
            values[warp][lane] = x; // @2 race in a warp
            v = values[warp][(lane + 1) % 32];
        }
        if ((v ^ i) % 7 == 0) continue;
        results[DEFECT == 1 ? (all * 32 + lane) * STEPS + i : (all * STEPS + i) * 32 + lane] = v; // @0 few active lanes // @1 strided access // @2 few active lanes
        x += v;
    }
}

// Lanes that skip __activemask() in an iteration meet others in the next one on the CPU device; their
// records stay in their iterations.
__global__ void search(const int *in, int *out, int *list, int n)
{
    const int lane = threadIdx.x % 32, w = blockIdx.x * WARPS + threadIdx.x / 32;
    int best = 0;
    for (int i = 0; i < n; i++) {
        const int at = (w * n + i) * 32 + lane, x = in[at];
        if (x % 5 == lane % 5) {
            best = max(best, x);
        } else if (x % 7 == 0) {
            out[at] = 0;
            continue;
        }
        const unsigned odd = __ballot_sync(__activemask(), x & 1);
        if (lane == __ffs(odd) - 1) list[w * n + i] = odd; // @0 few active lanes
        out[at] = best;
    }
}

int main()
{
    const int n = 64;
    int *const in = device_array<int>(CTAS * WARPS * n * 32, [](size_t i) { return int(i * 7919 % 1009); });
    int *const out = device_zeros<int>(CTAS * WARPS * n * 32), *const list = device_zeros<int>(CTAS * WARPS * n);
    search<<<CTAS, WARPS * 32>>>(in, out, list, n);
    int *const marks = device_zeros<int>(CTAS * WARPS * STEPS * 8);
    int *const results = device_zeros<int>(CTAS * WARPS * STEPS * 32);
    walk<<<CTAS, WARPS * 32>>>(marks, results, 3);
    CHECK(cudaDeviceSynchronize());
}
