// Many systems of 6 equations, one a thread, eliminated in registers. 1: each matrix lies for itself
// instead of interleaved with the others. 2: rows are swapped by an index, which puts them into local
// memory.
// options: --locals
#include "pair.h"
enum { N = 6, SYSTEMS = 4096, BLOCK = 128 };

__device__ int place(int system, int row, int column)
{
    return DEFECT == 1 ? (system * N + row) * N + column : (row * N + column) * SYSTEMS + system;
}

__global__ void solve(const float *matrices, const float *sides, float *out)
{
    const int system = blockIdx.x * BLOCK + threadIdx.x;
    float a[N][N], b[N];
#pragma unroll
    for (int r = 0; r < N; r++) {
        b[r] = sides[r * SYSTEMS + system];
#pragma unroll
        for (int c = 0; c < N; c++) a[r][c] = matrices[place(system, r, c)]; // @1 strided access|array of structs // @2 local memory
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        int pivot = k;
        if (DEFECT == 2)
            for (int r = k + 1; r < N; r++)
                if (fabsf(a[r][k]) > fabsf(a[pivot][k])) pivot = r; // @2 local memory
#pragma unroll
        for (int c = 0; c < N; c++) {
            const float t = a[k][c];
            a[k][c] = a[pivot][c]; // @2 local memory
            a[pivot][c] = t;       // @2 local memory
        }
#pragma unroll
        for (int r = 0; r < N; r++) {
            if (r == k) continue;
            const float factor = a[r][k] / a[k][k]; // @2 local memory
#pragma unroll
            for (int c = k; c < N; c++) a[r][c] -= factor * a[k][c]; // @2 local memory
            b[r] -= factor * b[k];
        }
    }
#pragma unroll
    for (int r = 0; r < N; r++) out[r * SYSTEMS + system] = b[r] / a[r][r]; // @2 local memory
}

int main()
{
    float *const matrices = device_array<float>(SYSTEMS * N * N, [](size_t i) { return float(i * 7919 % 97 + 1); });
    float *const sides = device_array<float>(SYSTEMS * N, [](size_t i) { return float(i % 9); });
    float *const out = device_zeros<float>(SYSTEMS * N);
    solve<<<SYSTEMS / BLOCK, BLOCK>>>(matrices, sides, out);
    CHECK(cudaDeviceSynchronize());
}
