// Blocked Floyd-Warshall: pivot tile, its row and column, the rest. 1: the pivot's steps have no
// barrier. 2: row and rest are updated in one launch.
// only: faults
#include "../pairs/pair.h"
enum { N = 64, T = 16 };

__global__ void pivot(int *d, int p)
{
    __shared__ int s[T][T];
    const int x = threadIdx.x, y = threadIdx.y, at = (p * T + y) * N + p * T + x;
    s[y][x] = d[at];
    __syncthreads();
    for (int k = 0; k < T; k++) {
        const int through = s[y][k] + s[k][x];
        if (through < s[y][x]) s[y][x] = through; // @1 possible race | race in a warp
#if DEFECT != 1
        __syncthreads();
#endif
    }
    d[at] = s[y][x];
}

__global__ void others(int *d, int p, int phase)
{
    const int bx = blockIdx.x, by = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
    const bool is_cross = (bx == p) != (by == p);
    if (bx == p && by == p) return;
    if (phase < 2 && is_cross != (phase == 0)) return;
    __shared__ int row[T][T], column[T][T];
    column[y][x] = d[(by * T + y) * N + p * T + x];
    row[y][x] = d[(p * T + y) * N + bx * T + x];
    __syncthreads();
    int best = d[(by * T + y) * N + bx * T + x];
    for (int k = 0; k < T; k++) best = min(best, column[y][k] + row[k][x]);
    d[(by * T + y) * N + bx * T + x] = best; // @2 possible race
}

int main()
{
    int *d = device_array<int>(N * N, [](size_t i) { return (int)(i * 7919 % 1000) + 1; });
    for (int p = 0; p < N / T; p++) {
        pivot<<<1, dim3(T, T)>>>(d, p);
        for (int phase = DEFECT == 2 ? 2 : 0; phase < (DEFECT == 2 ? 3 : 2); phase++)
            others<<<dim3(N / T, N / T), dim3(T, T)>>>(d, p, phase);
    }
    CHECK(cudaDeviceSynchronize());
}
