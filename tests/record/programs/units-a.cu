// One of two translation units that use the same names for different things.
#include "units.h"
#include <cstdio>

static __global__ void work(float *grid, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) grid[i] = 2 * i;
}

namespace
{
__device__ float offset = 1;
__device__ float shifted(const float *row, int i)
{
    return row[i] + offset;
}
} // namespace

template <class T, int STEP> __global__ void stride(T *data, int n)
{
    const int i = STEP * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) data[i] += T(1);
}

template <class F> __global__ void apply(F f, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}

static __global__ void shift(const float *row, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = shifted(row, i);
}

int main()
{
    const int n = 128;
    float *d_grid;
    double *d_wide;
    cudaMalloc(&d_grid, n * sizeof(float));                              // allocation of d_grid
    if (cudaMalloc((void **)&d_wide, n * sizeof(double)) != cudaSuccess) // allocation of d_wide
        return 1;
    cudaMemset(d_wide, 0, n * sizeof(double));
    work<<<1, n>>>(d_grid, n);
    stride<float, 1><<<1, n>>>(d_grid, n);
    stride<double, 2><<<1, n>>>(d_wide, n);
    apply<<<1, n>>>([=] __device__(int i) { d_grid[i] *= 3; }, n);
    apply<<<1, n>>>([=] __device__(int i) { d_wide[i] -= 1; }, n);
    shift<<<1, n>>>(d_grid, d_grid, n);
    other_unit(n);
    float host[n];
    cudaMemcpy(host, d_grid, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g\n", host[n - 1]);
    return host[n - 1] == 3 * (2 * (n - 1) + 1) + 1 ? 0 : 1;
}
