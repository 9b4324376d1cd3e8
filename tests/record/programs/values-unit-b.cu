// Without values; see values-unit-a.cu.
#include "values-unit.h"

__device__ int without_values(const int *p)
{
    return *p;
}

__global__ void kernel_without_values(int *data)
{
    int sum = 0;
    for (int k = 0; k < ROUNDS; k++) {
        sum += with_values(data + k * N + threadIdx.x);
        sum -= without_values(data + k * N + threadIdx.x);
    }
    data[threadIdx.x] = sum + 3 * (int)threadIdx.x;
}

void launch_without_values(int *data)
{
    kernel_without_values<<<1, N>>>(data);
}
