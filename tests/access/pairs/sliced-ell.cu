// A sparse matrix in slices of 32 rows (SELL-32): filled by one kernel, multiplied by another.
// 1: the rows of a slice lie one behind the other. 2: what pads the short rows is not filled.
#include "pair.h"
enum { ROWS = 4096, SLICE = 32, LONGEST = 24 };

__host__ __device__ int row_length(int row) { return 4 + (row * 7) % (LONGEST - 3); }

__device__ int place(const int *starts, int row, int k)
{
    const int slice = row / SLICE, width = (starts[slice + 1] - starts[slice]) / SLICE; // @0 repeated loads
    return starts[slice] + (DEFECT == 1 ? row % SLICE * width + k : k * SLICE + row % SLICE);
}

__global__ void fill(const int *starts, int *columns, float *values)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x, slice = row / SLICE;
    const int width = (starts[slice + 1] - starts[slice]) / SLICE;
    for (int k = 0; k < (DEFECT == 2 ? row_length(row) : width); k++) {
        columns[place(starts, row, k)] = k < row_length(row) ? (row + k) % ROWS : 0; // @1 strided access
        values[place(starts, row, k)] = k < row_length(row) ? 1.0f / (k + 1) : 0.0f; // @1 strided access
    }
}

__global__ void multiply(const int *starts, const int *columns, const float *values, const float *x,
                         float *y)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x, slice = row / SLICE;
    const int width = (starts[slice + 1] - starts[slice]) / SLICE;
    float sum = 0;
    for (int k = 0; k < width; k++) {
        const float value = values[place(starts, row, k)]; // @1 strided access // @2 uninitialised read
        const int column = columns[place(starts, row, k)]; // @1 strided access // @2 uninitialised read
        if (column >= 0 && column < ROWS) sum += value * x[column]; // @0 misaligned access|scattered access
    }
    y[row] = sum;
}

int main()
{
    std::vector<int> starts(ROWS / SLICE + 1, 0);
    for (int s = 0; s < ROWS / SLICE; s++) {
        int width = 0;
        for (int r = s * SLICE; r < (s + 1) * SLICE; r++)
            width = row_length(r) > width ? row_length(r) : width;
        starts[s + 1] = starts[s] + width * SLICE;
    }
    int *const device_starts = device_array<int>(starts.size(), [&](size_t i) { return starts[i]; });
    int *columns;
    float *values;
    CHECK(cudaMalloc(&columns, starts.back() * sizeof *columns));
    CHECK(cudaMalloc(&values, starts.back() * sizeof *values));
    float *const x = device_array<float>(ROWS, [](size_t i) { return float(i % 5); });
    float *const y = device_zeros<float>(ROWS);
    fill<<<ROWS / 128, 128>>>(device_starts, columns, values);
    multiply<<<ROWS / 128, 128>>>(device_starts, columns, values, x, y);
    CHECK(cudaDeviceSynchronize());
}
