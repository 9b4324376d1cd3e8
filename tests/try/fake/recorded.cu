// The case `copies` of program.c for the runtime: what the CPU device records of it says what data
// requires there.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

static const int COUNT = 4096, BYTES = COUNT * sizeof(float);

extern "C" __global__ void fill(float *x, float value, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value + i;
}

extern "C" __global__ void twice(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

extern "C" __global__ void add(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}

int main()
{
    float *x, *y, *z, value = 3, last;
    cudaMalloc(&x, BYTES);
    cudaMemset(x, 0, BYTES);
    cudaMalloc(&y, BYTES);
    cudaMemset(y, 1, BYTES);
    cudaMalloc(&z, BYTES);
    cudaMemset(z, 2, BYTES);
    cudaProfilerStart();
    fill<<<COUNT / 256, 256>>>(x, 1, COUNT);
    cudaDeviceSynchronize();
    cudaMemcpyAsync(y, x, BYTES, cudaMemcpyDeviceToDevice);
    cudaMemsetAsync(z, 64, BYTES);
    add<<<COUNT / 256, 256>>>(y, z, COUNT);
    cudaMemcpy(z, &value, sizeof value, cudaMemcpyHostToDevice);
    twice<<<COUNT / 256, 256>>>(x, y, COUNT);
    twice<<<COUNT / 256, 256>>>(y, z, COUNT);
    cudaDeviceSynchronize();
    cudaProfilerStop();
    cudaMemcpy(&last, z + COUNT - 1, sizeof last, cudaMemcpyDeviceToHost);
    return last < 0;
}
