// Sums of the columns of a lower triangle. The upper one is never set.
// 1: every eighth thread works. 2: whole columns are added up.
#include "pair.h"
enum { N = 512, BLOCK = 128 };

__global__ void fill(float *matrix)
{
    const int row = blockIdx.y, column = blockIdx.x * BLOCK + threadIdx.x;
    if (column <= row) matrix[row * N + column] = 1.0f / (1 + row - column);
}

__global__ void add_up(const float *matrix, float *sums)
{
    const int row = blockIdx.y;
    int column = blockIdx.x * BLOCK + threadIdx.x;
    if (DEFECT == 1 && column % 8) return;
    if (DEFECT == 1) column /= 8;
    if (DEFECT != 2 && column > row) return;
    const float value = matrix[row * N + column]; // @1 few active lanes // @2 uninitialised read
    atomicAdd(&sums[column], value);
}

int main()
{
    float *matrix, *const sums = device_zeros<float>(N);
    CHECK(cudaMalloc(&matrix, sizeof *matrix * N * N));
    const dim3 grid(N / BLOCK, N);
    fill<<<grid, BLOCK>>>(matrix);
    add_up<<<dim3(grid.x * (DEFECT == 1 ? 8 : 1), grid.y), BLOCK>>>(matrix, sums);
    CHECK(cudaDeviceSynchronize());
}
