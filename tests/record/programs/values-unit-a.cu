// With values; see values-unit-b.cu.
#include "values-unit.h"

__device__ int with_values(const int *p)
{
    return *p;
}

__global__ void kernel_with_values(int *data)
{
    int sum = 0;
    for (int k = 0; k < ROUNDS; k++) {
        sum += with_values(data + k * N + threadIdx.x);
        sum -= without_values(data + k * N + threadIdx.x);
    }
    data[threadIdx.x] = sum + 3 * (int)threadIdx.x;
}

int main()
{
    int host[N * ROUNDS], *data;
    for (int i = 0; i < N * ROUNDS; i++) host[i] = 3 * i;
    cudaMalloc(&data, sizeof host);
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    kernel_with_values<<<1, N>>>(data);
    launch_without_values(data);
    return cudaDeviceSynchronize();
}
