// Sparse triangular solve without levels: a row waits for the rows it needs. 1: no fence between a
// solution and its flag. 2: rows do not wait.
//
// only: faults
#include "../pairs/pair.h"
enum { ROWS = 256, PER_ROW = 3 };

__global__ void solve(const int *column, const float *value, const float *b, float *x, int *done)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = b[row];
    for (int k = 0; k < PER_ROW; k++) {
        const int c = column[row * PER_ROW + k];
        if (c < 0) continue;
#if DEFECT != 2
        while (!*(volatile int *)&done[c]) {
        }
        __threadfence();
#endif
        sum -= value[row * PER_ROW + k] * x[c];
    }
    x[row] = sum; // @1 possible race // @2 possible race
#if DEFECT != 1
    __threadfence();
#endif
    *(volatile int *)&done[row] = 1;
}

int main()
{
    int *column = device_array<int>(ROWS * PER_ROW, [](size_t i) {
        const int row = i / PER_ROW, k = i % PER_ROW;
        return row >= 40 ? row - 33 - 2 * k : -1; // of another warp, and CTA
    });
    float *value = device_array<float>(ROWS * PER_ROW, [](size_t) { return 0.1f; });
    float *b = device_array<float>(ROWS, [](size_t i) { return (float)i; });
    float *x = device_zeros<float>(ROWS);
    int *done = device_zeros<int>(ROWS);
    solve<<<ROWS / 32, 32>>>(column, value, b, x, done);
    CHECK(cudaDeviceSynchronize());
}
