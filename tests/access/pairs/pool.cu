// Work buffers from the stream-ordered pool. 1: a buffer is used after its free. 2: a buffer that was
// handed out again is read before anyone fills it.
#include "pair.h"
enum { N = 4096, BLOCK = 128 };

__global__ void fill(int *out, int value)
{
    out[blockIdx.x * BLOCK + threadIdx.x] = value;
}

__global__ void add(const int *in, int *out)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] += in[i]; // @1 access outside allocations|fault // @2 uninitialised read
}

int main()
{
    int *out = device_zeros<int>(N), *first, *second;
    CHECK(cudaMallocAsync(&first, N * sizeof *first, 0));
    fill<<<N / BLOCK, BLOCK>>>(first, 1);
    if (DEFECT == 1) CHECK(cudaFreeAsync(first, 0));
    add<<<N / BLOCK, BLOCK>>>(first, out);
    if (DEFECT != 1) CHECK(cudaFreeAsync(first, 0));
    CHECK(cudaMallocAsync(&second, N * sizeof *second, 0));
    if (DEFECT != 2) fill<<<N / BLOCK, BLOCK>>>(second, 2);
    add<<<N / BLOCK, BLOCK>>>(second, out);
    CHECK(cudaFreeAsync(second, 0));
    CHECK(cudaDeviceSynchronize());
}
