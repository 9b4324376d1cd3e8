// A product through tiles in shared memory. 1: the next tiles are loaded while warps still read.
// 2: the tile of B lies transposed, so that lanes read a column.
#include "pair.h"
enum { N = 128, T = 32 };

__global__ void multiply(const float *a, const float *b, float *c)
{
    __shared__ float ta[T][T], tb[T][T];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, column = blockIdx.x * T + x;
    float sum = 0;
    for (int k = 0; k < N; k += T) {
        ta[y][x] = a[row * N + k + x]; // @1 race in a warp
#if DEFECT == 2
        tb[x][y] = b[(k + y) * N + column]; // @2 bank conflicts
#else
        tb[y][x] = b[(k + y) * N + column]; // @1 possible race
#endif
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += ta[y][i] * (DEFECT == 2 ? tb[x][i] : tb[i][x]);
        if (DEFECT != 1) __syncthreads();
    }
    c[row * N + column] = sum;
}

int main()
{
    float *a = device_array<float>(N * N, [](size_t i) { return float(i % 3); });
    float *b = device_array<float>(N * N, [](size_t i) { return float(i % 5); });
    float *c = device_zeros<float>(N * N);
    multiply<<<dim3(N / T, N / T), dim3(T, T)>>>(a, b, c);
    CHECK(cudaDeviceSynchronize());
}
