#include "common.cuh"
__global__ void run(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = apply(x[i], i); }
extern "C" int go(float *host, int n) {
  float *d; cudaMalloc(&d, n * 4); cudaMemcpy(d, host, n * 4, cudaMemcpyHostToDevice); run<<<(n + 63) / 64, 64>>>(d, n); cudaMemcpy(host, d, n * 4, cudaMemcpyDeviceToHost); int c = -1; cudaMemcpyFromSymbol(&c, counter, 4); cudaFree(d); return c; }
