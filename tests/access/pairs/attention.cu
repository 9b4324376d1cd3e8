// Attention with an online softmax: a warp for each query, tiles of keys and values in shared memory.
// 1: the tile is overwritten while other warps still read it. 2: the keys' rows are not padded.
#include "pair.h"
enum { QUERIES = 128, KEYS = 128, DEPTH = 32, TILE = 32, WARPS = 8 };
enum { PITCH = DEFECT == 2 ? DEPTH : DEPTH + 1 };

__global__ void attend(const float *q, const float *k, const float *v, float *out, float *largest)
{
    __shared__ float keys[TILE][PITCH], values[TILE][DEPTH];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int query = blockIdx.x * WARPS + warp;
    const float mine = q[query * DEPTH + lane];
    float top = -1e30f, weight = 0, sum = 0;
    for (int tile = 0; tile < KEYS; tile += TILE) {
        for (int r = warp; r < TILE; r += WARPS) {
            keys[r][lane] = k[(tile + r) * DEPTH + lane];   // @1 possible race
            values[r][lane] = v[(tile + r) * DEPTH + lane]; // @1 possible race
        }
        __syncthreads();
        float score = 0;
        for (int d = 0; d < DEPTH; d++)
            score += __shfl_sync(~0u, mine, d) * keys[lane][d]; // @1 possible race // @2 bank conflicts
        float most = score;
        for (int s = 16; s; s /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, s));
        most = fmaxf(most, top);
        if (lane == 0) largest[query * (KEYS / TILE) + tile / TILE] = most; // @0 few active lanes
        const float scale = expf(top - most), part = expf(score - most);
        float total = part;
        for (int s = 16; s; s /= 2) total += __shfl_xor_sync(~0u, total, s);
        weight = weight * scale + total;
        sum *= scale;
        for (int j = 0; j < TILE; j++) sum += __shfl_sync(~0u, part, j) * values[j][lane]; // @1 possible race
        top = most;
        if (DEFECT != 1) __syncthreads();
    }
    out[query * DEPTH + lane] = sum / weight;
}

int main()
{
    auto value = [](size_t i) { return float(i * 37 % 101) / 101; };
    float *const q = device_array<float>(QUERIES * DEPTH, value);
    float *const k = device_array<float>(KEYS * DEPTH, value);
    float *const v = device_array<float>(KEYS * DEPTH, value);
    float *const out = device_zeros<float>(QUERIES * DEPTH);
    float *const largest = device_zeros<float>(QUERIES * (KEYS / TILE));
    attend<<<QUERIES / WARPS, 32 * WARPS>>>(q, k, v, out, largest);
    CHECK(cudaDeviceSynchronize());
}
