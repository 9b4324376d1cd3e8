// A transpose of doubles in tiles of 16x16 with padding. 1: without padding. 2: without tiles.
#include "../pairs/pair.h"
enum { N = 256, T = 16 };

__global__ void transpose(const double *in, double *out)
{
    const int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
#if DEFECT == 2
    out[x * N + y] = in[y * N + x]; // @2 strided access | scattered access
#else
    __shared__ double tile[T][T + (DEFECT != 1)];
    tile[threadIdx.y][threadIdx.x] = in[y * N + x];
    __syncthreads();
    const int column = blockIdx.y * T + threadIdx.x, row = blockIdx.x * T + threadIdx.y;
    out[row * N + column] = tile[threadIdx.x][threadIdx.y]; // @1 bank conflicts
#endif
}

int main()
{
    double *in = device_zeros<double>(N * N), *out = device_zeros<double>(N * N);
    transpose<<<dim3(N / T, N / T), dim3(T, T)>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
