#include "common.cuh"
__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int counter = 0;
__device__ float twice(float x) { return 2 * x; }
__device__ op_t chosen = twice;
__device__ float apply(float x, int i) { atomicAdd(&counter, 1); return chosen(x) * weights[i & 3] * SCALE; }
