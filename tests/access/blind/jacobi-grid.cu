// Jacobi steps in one cooperative launch. 1: no barrier of the grid between steps. 2: steps write
// to the array that they read.
// only: faults
#include "../pairs/pair.h"
#include <cooperative_groups.h>
enum { N = 1024, STEPS = 6 };

__global__ void jacobi(float *a, float *b)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < STEPS; k++) {
        float *const to = DEFECT == 2 ? a : b;
        if (i > 0 && i < N - 1)
            to[i] = 0.5f * (a[i - 1] + a[i + 1]); // @1 possible race // @2 possible race
#if DEFECT != 1
        grid.sync();
#endif
        if (DEFECT != 2) {
            float *const swap = a;
            a = b;
            b = swap;
        }
    }
}

int main()
{
    float *a = device_zeros<float>(N), *b = device_zeros<float>(N);
    void *arguments[] = {&a, &b};
    CHECK(cudaLaunchCooperativeKernel((void *)jacobi, dim3(N / 128), dim3(128), arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
}
