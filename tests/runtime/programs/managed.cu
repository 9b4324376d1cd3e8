// Memory that host and device share: __managed__ variables, managed and mapped memory.
#include <cuda_runtime.h>

#include "../../lang/programs/check.h"

__managed__ int counter = 3;
__managed__ double table[8];

__global__ void count(int by)
{
    atomicAdd(&counter, by);
    if (threadIdx.x < 8) table[threadIdx.x] += threadIdx.x;
}

__global__ void scale(float *data, int n, float factor)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= factor;
}

struct list {
    int value;
    list *next;
};

__global__ void sum_list(const list *head, int *sum)
{
    *sum = 0;
    for (; head; head = head->next) *sum += head->value;
}

int main()
{
    count<<<4, 32>>>(1);
    CUDA(cudaDeviceSynchronize());
    CHECK(counter == 131, "%d", counter);
    counter += 9;
    table[7] = 100;
    count<<<1, 32>>>(2);
    CUDA(cudaDeviceSynchronize());
    CHECK(counter == 204, "%d", counter);
    CHECK(table[7] == 107 && table[3] == 15, "%g %g", table[7], table[3]);
    cudaPointerAttributes attributes;
    CUDA(cudaPointerGetAttributes(&attributes, &counter));
    CHECK(attributes.type == cudaMemoryTypeManaged);

    const int n = 10000;
    float *mapped, *device;
    CUDA(cudaHostAlloc(&mapped, n * sizeof *mapped, cudaHostAllocMapped));
    CUDA(cudaHostGetDevicePointer(&device, mapped, 0));
    for (int i = 0; i < n; i++) mapped[i] = i;
    scale<<<(n + 255) / 256, 256>>>(device, n, 0.5f);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) CHECK(mapped[i] == i * 0.5f, "%d: %g", i, mapped[i]);
    CUDA(cudaFreeHost(mapped));

    list *const nodes = managed<list>(100);
    for (int i = 0; i < 100; i++) nodes[i] = {i, i < 99 ? &nodes[i + 1] : nullptr};
    int *const sum = managed<int>(1);
    sum_list<<<1, 1>>>(nodes, sum);
    CUDA(cudaDeviceSynchronize());
    CHECK(*sum == 4950, "%d", *sum);
    return finish();
}
