// CTAs pass a value on to their neighbours, inside one launch (argument 1) or from launch to
// launch.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

__global__ void inside(int *a, int *b)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
    cooperative_groups::this_grid().sync();
    const int other = (blockIdx.x + 1) % gridDim.x;
    b[blockIdx.x * blockDim.x + threadIdx.x] = a[other * blockDim.x + threadIdx.x];
}
__global__ void first(int *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
}
__global__ void second(const int *a, int *b)
{
    const int other = (blockIdx.x + 1) % gridDim.x;
    b[blockIdx.x * blockDim.x + threadIdx.x] = a[other * blockDim.x + threadIdx.x];
}
int main(int argc, char **)
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    void *arguments[] = {&a, &b};
    if (argc > 1) {
        cudaLaunchCooperativeKernel((void *)inside, 8, 128, arguments);
    } else {
        first<<<8, 128>>>(a);
        second<<<8, 128>>>(a, b);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
