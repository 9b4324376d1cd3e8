// A plugin: a library that is loaded with dlopen(). fill() launches with the triple chevron, on the
// thread that calls it, and returns the sum of what its kernel wrote.
#include <vector>

__global__ void fill_kernel(int *a, int value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i * value;
}

extern "C" long fill(int value)
{
    const int count = 1024;
    int *a;
    std::vector<int> host(count);
    cudaMalloc(&a, count * sizeof *a);
    fill_kernel<<<count / 256, 256, 0, cudaStreamPerThread>>>(a, value);
    cudaStreamSynchronize(cudaStreamPerThread);
    cudaMemcpy(host.data(), a, count * sizeof *a, cudaMemcpyDeviceToHost);
    cudaFree(a);
    long sum = 0;
    for (const int element : host) sum += element;
    return cudaGetLastError() == cudaSuccess ? sum : -1;
}
