// A sparse matrix by rows (CSR) times a vector, a warp for each row. 1: a thread for each row. 2: the
// array of row starts has no end of the last row.
#include "pair.h"
enum { ROWS = 1024, PER_ROW = 32, BLOCK = 128 };

__global__ void multiply(const int *starts, const int *columns, const float *values, const float *x,
                         float *y)
{
#if DEFECT == 1
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;
    if (row < ROWS)
        for (int k = starts[row]; k < starts[row + 1]; k++)
            sum += values[k] * x[columns[k]]; // @1 strided access|scattered access
    if (row < ROWS) y[row] = sum;
#else
    const int row = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int end = starts[row + 1]; // @2 access outside allocations
    float sum = 0;
    for (int k = starts[row] + lane; k < end; k += 32) sum += values[k] * x[columns[k]];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0) y[row] = sum; // @0 few active lanes
#endif
}

int main()
{
    int *starts = device_array<int>(ROWS + (DEFECT != 2), [](size_t i) { return int(i) * PER_ROW; });
    int *columns = device_array<int>(ROWS * PER_ROW, [](size_t k) {
        return int(k / PER_ROW / 32 * 32 + k % 32); // the blocks of 32 on the diagonal
    });
    float *values = device_array<float>(ROWS * PER_ROW, [](size_t k) { return float(k % 9); });
    float *x = device_array<float>(ROWS, [](size_t i) { return float(i); });
    float *y = device_zeros<float>(ROWS);
    const int threads = DEFECT == 1 ? ROWS : ROWS * 32;
    multiply<<<threads / BLOCK, BLOCK>>>(starts, columns, values, x, y);
    CHECK(cudaDeviceSynchronize());
}
