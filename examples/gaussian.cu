// A system of linear equations by Gaussian elimination, two kernels a column, as in Rodinia's
// gaussian: `multipliers` divides what is below the pivot by it, `eliminate` takes multiples of the
// pivot's row from all rows below. The grids always cover the whole matrix; fewer and fewer of
// their threads have work. Every block of `eliminate` hears from the blocks that hold the pivot's
// row and, through the multipliers, its column.
// gaussian [UNKNOWNS = 128]
#include "common.h"
#include <cmath>
#include <vector>

enum { ROWS = 256, TILE = 16 };

__global__ void multipliers(const float *a, float *factor, int n, int k)
{
    const int row = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) factor[row] = a[row * n + k] / a[k * n + k];
}

__global__ void eliminate(float *a, float *b, const float *factor, int n, int k)
{
    const int row = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    const int column = k + blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    a[row * n + column] -= factor[row] * a[k * n + column];
    if (column == k) b[row] -= factor[row] * b[k];
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 128);
    std::vector<float> a((size_t)n * n), b(n), x(n);
    Random random;
    for (int i = 0; i < n; i++) { // the solution is 1, 2, 3, 1, 2, 3, ...
        double sum = 0;
        for (int j = 0; j < n; j++) {
            a[i * n + j] = random.unit() + (i == j ? n : 0);
            sum += a[i * n + j] * (1 + j % 3);
        }
        b[i] = (float)sum;
    }
    float *d_a = device_copy(a.data(), a.size()), *d_b = device_copy(b.data(), n), *factor;
    CHECK(cudaMalloc(&factor, n * sizeof(float)));
    const dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    for (int k = 0; k < n - 1; k++) {
        multipliers<<<(n + ROWS - 1) / ROWS, ROWS>>>(d_a, factor, n, k);
        eliminate<<<grid, block>>>(d_a, d_b, factor, n, k);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(a.data(), d_a, a.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(b.data(), d_b, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = n - 1; i >= 0; i--) {
        double rest = b[i];
        for (int j = i + 1; j < n; j++) rest -= (double)a[i * n + j] * x[j];
        x[i] = (float)(rest / a[i * n + i]);
    }
    bool right = true;
    for (int i = 0; i < n; i++) right &= std::fabs(x[i] - (1 + i % 3)) < 1e-2f;
    for (float *p : {d_a, d_b, factor}) CHECK(cudaFree(p));
    return verdict("gaussian", right);
}
