/* Alignment of two sequences: blocks of 16 threads walk the anti-diagonals of the matrix, two
 * kernels for the growing and the shrinking half; wavefronts inside a tile in shared memory. */
#include <stdio.h>
#include <cuda.h>
#include "helper.h"
#define BLOCK_SIZE 16
#define LIMIT      -999

__device__ __host__ int maximum(int a, int b, int c)
{
    int k;
    if (a <= b)
        k = b;
    else
        k = a;
    if (k <= c) return c;
    return k;
}

__device__ void tile(const int *reference, int *matrix, int cols, int penalty, int bx, int by)
{
    __shared__ int temp[BLOCK_SIZE + 1][BLOCK_SIZE + 1];
    __shared__ int ref[BLOCK_SIZE][BLOCK_SIZE];
    const int tx = threadIdx.x;
    const int base = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx;
    for (int ty = 0; ty < BLOCK_SIZE; ty++)
        ref[ty][tx] = reference[base + cols * (ty + 1) + tx + 1];
    if (tx == 0) temp[0][0] = matrix[base];
    temp[tx + 1][0] = matrix[base + cols * (tx + 1)];
    temp[0][tx + 1] = matrix[base + tx + 1];
    __syncthreads();
    for (int m = 0; m < 2 * BLOCK_SIZE - 1; m++) {
        const int x = tx + 1, y = m - tx + 1;
        if (y >= 1 && y <= BLOCK_SIZE)
            temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty,
                                 temp[y - 1][x] - penalty);
        __syncthreads();
    }
    for (int ty = 0; ty < BLOCK_SIZE; ty++)
        matrix[base + cols * (ty + 1) + tx + 1] = temp[ty + 1][tx + 1];
}

__global__ void needle_1(int *reference, int *matrix, int cols, int penalty, int i)
{
    tile(reference, matrix, cols, penalty, blockIdx.x, i - 1 - blockIdx.x);
}

__global__ void needle_2(int *reference, int *matrix, int cols, int penalty, int i, int width)
{
    tile(reference, matrix, cols, penalty, blockIdx.x + width - i, width - blockIdx.x - 1);
}

int main(int argc, char **argv)
{
    int max_rows = 129, penalty = 10;
    if (argc == 3) max_rows = atoi(argv[1]) + 1, penalty = atoi(argv[2]);
    const int cols = max_rows, size = max_rows * cols;
    int *reference = (int *)malloc(size * sizeof(int)), *in = (int *)malloc(size * sizeof(int)),
        *out = (int *)malloc(size * sizeof(int));
    srand(7);
    for (int i = 0; i < size; i++) reference[i] = rand() % 21 - 10, in[i] = 0;
    for (int i = 1; i < max_rows; i++) in[i * cols] = in[i] = -i * penalty;
    int *d_reference, *d_matrix;
    cudaMalloc((void **)&d_reference, sizeof(int) * size);
    cudaMalloc((void **)&d_matrix, sizeof(int) * size);
    cudaMemcpy(d_reference, reference, sizeof(int) * size, cudaMemcpyHostToDevice);
    cudaMemcpy(d_matrix, in, sizeof(int) * size, cudaMemcpyHostToDevice);
    const int width = (cols - 1) / BLOCK_SIZE;
    dim3 dimGrid, dimBlock(BLOCK_SIZE, 1);
    for (int i = 1; i <= width; i++) {
        dimGrid.x = i;
        dimGrid.y = 1;
        needle_1<<<dimGrid, dimBlock>>>(d_reference, d_matrix, cols, penalty, i);
    }
    for (int i = width - 1; i >= 1; i--) {
        dimGrid.x = i;
        needle_2<<<dimGrid, dimBlock>>>(d_reference, d_matrix, cols, penalty, i, width);
    }
    cudaThreadSynchronize();
    getLastCudaError("needle");
    cudaMemcpy(out, d_matrix, sizeof(int) * size, cudaMemcpyDeviceToHost);
    for (int i = 1; i < max_rows; i++)
        for (int j = 1; j < cols; j++)
            in[i * cols + j] =
                maximum(in[(i - 1) * cols + j - 1] + reference[i * cols + j],
                        in[i * cols + j - 1] - penalty, in[(i - 1) * cols + j] - penalty);
    for (int i = 0; i < size; i++) EXPECT(in[i] == out[i], "%d: %d, not %d", i, out[i], in[i]);
    cudaFree(d_reference);
    cudaFree(d_matrix);
    cudaThreadExit();
    free(reference), free(in), free(out);
    return verdict();
}
