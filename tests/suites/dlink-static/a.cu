#include "shared.cuh"
__device__ int table[16] = {1, 2, 3, 4};
__constant__ float gain = 1.0f;
__device__ float square(float x)
{
    return x * x;
}
__device__ unary_t hook = square;
__device__ float transform(float x, int i)
{
    __shared__ float s[32];
    s[threadIdx.x % 32] = x;
    return gain * s[threadIdx.x % 32] + table[i % 16];
}
__device__ float Functor::operator()(float x) const
{
    return x + k;
}
extern "C" int configure(float g)
{
    int h[16];
    for (int i = 0; i < 16; i++) h[i] = i * i;
    cudaMemcpyToSymbol(gain, &g, sizeof g);
    return cudaMemcpyToSymbol(table, h, sizeof h);
}
