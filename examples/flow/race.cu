// Two kernels in two streams without an event between them: `consume` may read x before `produce`
// has written it. `ctascope flow` finds the race, whatever order the kernels ran in.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void produce(float *x)
{
    x[threadIdx.x] = threadIdx.x;
}

__global__ void consume(const float *x, float *y)
{
    y[threadIdx.x] = 2 * x[threadIdx.x];
}

int main()
{
    float *x, *y, result[256];
    cudaStream_t a, b;
    cudaMalloc(&x, sizeof result);
    cudaMalloc(&y, sizeof result);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    produce<<<1, 256, 0, a>>>(x);
    consume<<<1, 256, 0, b>>>(x, y);
    cudaStreamSynchronize(b);
    cudaMemcpy(result, y, sizeof result, cudaMemcpyDeviceToHost);
    printf("y[3] = %g\n", result[3]);
    return 0;
}
