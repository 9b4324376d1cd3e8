// A plugin that calls CUDA while it is loaded and unloaded: a static object has memory of the
// device. Also a variable of the device, and what CUDA knows of an address.
#include <cstring>

__device__ int table[1024];

__global__ void number(int *a)
{
    a[threadIdx.x] = threadIdx.x;
}

struct buffer {
    int *a;
    buffer() { cudaMalloc(&a, 32 * sizeof *a); }
    ~buffer() { cudaFree(a); }
};
static buffer numbers;

extern "C" long fill(int value)
{
    int host[32];
    number<<<1, 32>>>(numbers.a);
    cudaMemcpy(host, numbers.a, sizeof host, cudaMemcpyDeviceToHost);
    return cudaGetLastError() == cudaSuccess ? host[31] * value : -1;
}

extern "C" void *table_address()
{
    void *address = nullptr;
    cudaGetSymbolAddress(&address, table);
    return address;
}

extern "C" int type_of(const void *address)
{
    cudaPointerAttributes attributes;
    memset(&attributes, 0, sizeof attributes);
    cudaPointerGetAttributes(&attributes, address);
    cudaGetLastError();
    return attributes.type;
}
