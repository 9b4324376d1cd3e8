#include <stdio.h>
#include <stdlib.h>
#include <assert.h>
#include <math.h>
#include "device_launch_parameters.h"
#include "cuda_runtime.h"
#include <cuda_runtime_api.h>
#include <device_functions.h>
#define TILE_WIDTH 16
#define wbCheck(stmt) do { cudaError_t err = stmt; if (err != cudaSuccess) { printf("Failed to run stmt %s: %s\n", #stmt, cudaGetErrorString(err)); return -1; } } while (0)
typedef struct { int width, height, stride; float* elements; } Matrix;
__device__ float GetElement(const Matrix A, int row, int col) { return A.elements[row * A.stride + col]; }
__device__ void SetElement(Matrix A, int row, int col, float value) { A.elements[row * A.stride + col] = value; }
__device__ Matrix GetSubMatrix(Matrix A, int row, int col) { Matrix Asub; Asub.width = TILE_WIDTH; Asub.height = TILE_WIDTH; Asub.stride = A.stride; Asub.elements = &A.elements[A.stride * TILE_WIDTH * row + TILE_WIDTH * col]; return Asub; }
__global__ void MatMulKernel(Matrix A, Matrix B, Matrix C) {
    int blockRow = blockIdx.y, blockCol = blockIdx.x; Matrix Csub = GetSubMatrix(C, blockRow, blockCol); float Cvalue = 0; int row = threadIdx.y, col = threadIdx.x;
    for (int m = 0; m < (A.width / TILE_WIDTH); ++m) {
        Matrix Asub = GetSubMatrix(A, blockRow, m), Bsub = GetSubMatrix(B, m, blockCol); __shared__ float As[TILE_WIDTH][TILE_WIDTH]; __shared__ float Bs[TILE_WIDTH][TILE_WIDTH];
        As[row][col] = GetElement(Asub, row, col); Bs[row][col] = GetElement(Bsub, row, col); __syncthreads(); for (int e = 0; e < TILE_WIDTH; ++e) Cvalue += As[row][e] * Bs[e][col]; __syncthreads(); }
    assert(C.stride == B.width); SetElement(Csub, row, col, Cvalue); }
__global__ void helloCUDA(float f, int *votes) { if (threadIdx.x < 1) printf("Hello thread %d, f=%f, %s\n", threadIdx.x, f, "text"); int c = __syncthreads_count(threadIdx.x & 1), o = __syncthreads_or(threadIdx.x == 3), a = __syncthreads_and(threadIdx.x < 64); if (!threadIdx.x) *votes = c * 100 + (o != 0) * 10 + (a != 0); __threadfence(); int *p = (int *)malloc(16); if (p) { p[0] = 1; free(p); } }
int main(void) {
    Matrix A, B, C; A.width = A.stride = B.height = 48; A.height = 32; B.width = B.stride = 64; C.width = C.stride = 64; C.height = 32; Matrix a = A, b = B, c = C; B.height = 48;
    A.elements = (float*)malloc(48 * 32 * 4); B.elements = (float*)malloc(48 * 64 * 4); C.elements = (float*)malloc(32 * 64 * 4); for (int i = 0; i < 48 * 32; i++) A.elements[i] = i % 7; for (int i = 0; i < 48 * 64; i++) B.elements[i] = i % 5;
    wbCheck(cudaMalloc(&a.elements, 48 * 32 * 4)); wbCheck(cudaMalloc(&b.elements, 48 * 64 * 4)); wbCheck(cudaMalloc(&c.elements, 32 * 64 * 4)); wbCheck(cudaMemcpy(a.elements, A.elements, 48 * 32 * 4, cudaMemcpyHostToDevice)); wbCheck(cudaMemcpy(b.elements, B.elements, 48 * 64 * 4, cudaMemcpyHostToDevice));
    dim3 dimBlock(TILE_WIDTH, TILE_WIDTH), dimGrid(B.width / dimBlock.x, A.height / dimBlock.y); MatMulKernel<<<dimGrid, dimBlock>>>(a, b, c); wbCheck(cudaDeviceSynchronize()); wbCheck(cudaMemcpy(C.elements, c.elements, 32 * 64 * 4, cudaMemcpyDeviceToHost)); int bad = 0;
    for (int i = 0; i < 32; i++) for (int j = 0; j < 64; j++) { float s = 0; for (int k = 0; k < 48; k++) s += A.elements[i * 48 + k] * B.elements[k * 64 + j]; bad += s != C.elements[i * 64 + j]; }
    int *v, hv; wbCheck(cudaMalloc(&v, 4)); helloCUDA<<<1, 64>>>(1.2345f, v); wbCheck(cudaMemcpy(&hv, v, 4, cudaMemcpyDeviceToHost)); bad += hv != 3211; printf("%s %d\n", bad ? "FAILED" : "PASSED", hv); cudaDeviceReset(); return bad != 0; }
