#include "units.h"

static __constant__ int offset;
static __global__ void kernel(int *out)
{
    out[threadIdx.x] = shared_value(threadIdx.x) + offset;
}

int from_b(int i)
{
    int *device, host[32];
    const int two_hundred = 200;
    cudaMemcpyToSymbol(offset, &two_hundred, sizeof two_hundred);
    cudaMalloc((void **)&device, sizeof host);
    kernel<<<1, 32>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(device);
    return host[i];
}
