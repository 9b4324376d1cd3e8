// A transpose through a padded tile. 1: without the tile. 2: without the padding.
#include "pair.h"
enum { N = 128, T = 32, PITCH = DEFECT == 2 ? T : T + 1 };

__global__ void transpose(const float *in, float *out)
{
    const int x = blockIdx.x * T + threadIdx.x;
#if DEFECT == 1
    for (int y = threadIdx.y; y < T; y += 8)
        out[x * N + blockIdx.y * T + y] = in[(blockIdx.y * T + y) * N + x]; // @1 strided access
#else
    __shared__ float tile[T][PITCH];
    for (int y = threadIdx.y; y < T; y += 8)
        tile[y][threadIdx.x] = in[(blockIdx.y * T + y) * N + x];
    __syncthreads();
    for (int y = threadIdx.y; y < T; y += 8)
        out[(blockIdx.x * T + y) * N + blockIdx.y * T + threadIdx.x] =
            tile[threadIdx.x][y]; // @2 bank conflicts
#endif
}

int main()
{
    float *in = device_array<float>(N * N, [](size_t i) { return float(i); });
    float *out = device_zeros<float>(N * N);
    transpose<<<dim3(N / T, N / T), dim3(T, 8)>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
