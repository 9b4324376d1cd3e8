// One thread for each element of a product. 1: x runs down the rows. 2: K is split over blockIdx.z,
// and the parts are added without atomics.
#include "pair.h"
enum { N = 64 };

__global__ void multiply(const float *a, const float *b, float *c, int parts)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const int row = DEFECT == 1 ? x : y, column = DEFECT == 1 ? y : x;
    float sum = 0;
    for (int k = blockIdx.z * N / parts; k < (blockIdx.z + 1) * N / parts; k++)
        sum += a[row * N + k] * b[k * N + column]; // @1 strided access
    if (DEFECT == 2)
        c[row * N + column] += sum; // @2 possible race
    else
        c[row * N + column] = sum;
}

int main()
{
    float *a = device_array<float>(N * N, [](size_t i) { return float(i % 3); });
    float *b = device_array<float>(N * N, [](size_t i) { return float(i % 5); });
    float *c = device_zeros<float>(N * N);
    const int parts = DEFECT == 2 ? 4 : 1;
    multiply<<<dim3(N / 32, N / 8, parts), dim3(32, 8)>>>(a, b, c, parts);
    CHECK(cudaDeviceSynchronize());
}
