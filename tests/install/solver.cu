// The program of the workflow that bare-root tries. A marked line comes to life in a change that
// the workflow has to refuse: a fault, and a finding that is new.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void relax(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // stride: i = i % 64 * (n / 64) + i / 64;
    float value = from[i];
    // fault: value += from[i + 1];
    to[i] = value * 0.5f;
}

int main(int argc, char **argv)
{
    int n = 0;
    FILE *const input = argc > 1 ? fopen(argv[1], "r") : nullptr;
    if (!input || fscanf(input, "%d", &n) != 1) return 2;
    float *const host = (float *)calloc(n, sizeof *host);
    float *from, *to;
    cudaMalloc(&from, n * sizeof *from);
    cudaMalloc(&to, n * sizeof *to);
    cudaMemcpy(from, host, n * sizeof *from, cudaMemcpyHostToDevice);
    for (int step = 0; step < 2; step++) relax<<<n / 128, 128>>>(to, from, n);
    cudaMemcpy(host, to, n * sizeof *to, cudaMemcpyDeviceToHost);
    free(host);
    return cudaDeviceSynchronize() != cudaSuccess;
}
