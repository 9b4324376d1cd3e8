// Steps of a stencil in one cooperative launch. 1: no barrier of the grid. 2: in place.
#include "pair.h"
#include <cooperative_groups.h>
enum { BLOCK = 64, CTAS = 8, N = BLOCK * CTAS, STEPS = 4 };

__global__ void steps(float *a, float *b)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    auto grid = cooperative_groups::this_grid();
    for (int step = 0; step < STEPS; step++) {
        float *const from = step & 1 ? b : a;
        float *const to = DEFECT == 2 ? from : step & 1 ? a : b;
        const float left = from[(i + N - 1) % N], right = from[(i + 1) % N]; // @0 misaligned access
        to[i] = (left + right) / 2; // @1 possible race // @2 possible race
        if (DEFECT != 1) grid.sync();
    }
}

int main()
{
    float *a = device_array<float>(N, [](size_t i) { return float(i % 9); });
    float *b = device_zeros<float>(N);
    void *arguments[] = {&a, &b};
    CHECK(cudaLaunchCooperativeKernel((const void *)steps, CTAS, BLOCK, arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
}
