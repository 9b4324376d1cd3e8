// Two streams with a loop: a race (blur does not wait for shift), work that nobody reads (spare), a
// chain to fuse.
#include <cstdio>
__global__ void produce(float *x, float first)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = first + i;
}
__global__ void scale(const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}
__global__ void shift(const float *y, float *z)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    z[i] = y[i] + 1;
}
__global__ void blur(const float *z, float *w, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) w[i] = z[i - 1] + z[i] + z[i + 1];
}
int main()
{
    const int n = 4096, size = n * sizeof(float), steps = 20;
    float *x, *y, *z, *w, *spare;
    static float host[n];
    cudaStream_t a, b;
    cudaEvent_t produced;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEventCreate(&produced);
    cudaMalloc(&x, size);
    cudaMalloc(&y, size);
    cudaMalloc(&z, size);
    cudaMalloc(&w, size);
    cudaMalloc(&spare, size);
    for (int step = 0; step < steps; step++) {
        produce<<<n / 256, 256, 0, a>>>(x, step);
        cudaEventRecord(produced, a);
        produce<<<n / 256, 256, 0, a>>>(spare, step);
        cudaStreamWaitEvent(b, produced, 0);
        scale<<<n / 256, 256, 0, b>>>(x, y);
        shift<<<n / 256, 256, 0, b>>>(y, z);
        blur<<<n / 256, 256, 0, a>>>(z, w, n);
        cudaDeviceSynchronize();
    }
    cudaMemcpy(host, w, size, cudaMemcpyDeviceToHost);
    printf("%g\n", host[5]);
    return 0;
}
