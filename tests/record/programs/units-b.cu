// The other of two translation units that use the same names for different things.
#include "units.h"

static __global__ void work(float *grid, int n)
{
    __shared__ float tile[128];
    const int i = threadIdx.x;
    tile[i] = i;
    __syncthreads();
    if (i < n) grid[i] = tile[n - 1 - i];
}

struct Field {
    int *values;
};

static __global__ void number(Field field, int n)
{
    const int i = threadIdx.x;
    if (i < n) field.values[i] = i;
}

void other_unit(int n)
{
    float *d_other;
    Field field;
    cudaMalloc(&d_other, n * sizeof *d_other);  // allocation of d_other
    cudaMalloc(&field.values, n * sizeof(int)); // allocation of field.values
    work<<<1, n>>>(d_other, n);
    number<<<1, n>>>(field, n);
    cudaDeviceSynchronize();
    cudaFree(field.values);
    cudaFree(d_other);
}
