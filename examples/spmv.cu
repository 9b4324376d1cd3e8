// y = M x with M in compressed rows, twice (y = M (M x)), one row a thread: the loads of x are a
// gather that the matrix decides. The second product reads what all blocks of the first wrote.
// spmv [ROWS = 65536] [ENTRIES A ROW = 8]
#include "common.h"
#include <vector>

__global__ void multiply(const int *start, const int *column, const float *value, const float *x,
                         float *y, int rows)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int e = start[row]; e < start[row + 1]; e++) sum += value[e] * x[column[e]];
    y[row] = sum;
}

int main(int argc, char **argv)
{
    const int rows = argument(argc, argv, 1, 65536), entries = argument(argc, argv, 2, 8);
    std::vector<int> start(rows + 1), column;
    std::vector<float> value, x(rows), y(rows), z(rows);
    Random random; // small integers: float sums are exact
    for (int row = 0; row < rows; row++) {
        start[row] = (int)column.size();
        for (int e = random.next() % (2 * entries); e > 0; e--) {
            column.push_back(random.next() % rows);
            value.push_back((float)(random.next() % 3));
        }
        x[row] = (float)(random.next() % 5);
    }
    start[rows] = (int)column.size();
    if (column.empty()) column.push_back(0), value.push_back(0);

    int *d_start = device_copy(start.data(), start.size());
    int *d_column = device_copy(column.data(), column.size());
    float *d_value = device_copy(value.data(), value.size()), *d_x = device_copy(x.data(), rows);
    float *d_y, *d_z;
    CHECK(cudaMalloc(&d_y, rows * sizeof(float)));
    CHECK(cudaMalloc(&d_z, rows * sizeof(float)));
    const int blocks = (rows + 127) / 128;
    multiply<<<blocks, 128>>>(d_start, d_column, d_value, d_x, d_y, rows);
    multiply<<<blocks, 128>>>(d_start, d_column, d_value, d_y, d_z, rows);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(z.data(), d_z, rows * sizeof(float), cudaMemcpyDeviceToHost));

    std::vector<float> expected(rows);
    for (int pass = 0; pass < 2; pass++)
        for (int row = 0; row < rows; row++) {
            float sum = 0;
            for (int e = start[row]; e < start[row + 1]; e++)
                sum += value[e] * (pass ? y : x)[column[e]];
            (pass ? expected : y)[row] = sum;
        }
    for (void *p : {(void *)d_start, (void *)d_column, (void *)d_value, (void *)d_x, (void *)d_y,
                    (void *)d_z})
        CHECK(cudaFree(p));
    return verdict("spmv", z == expected);
}
