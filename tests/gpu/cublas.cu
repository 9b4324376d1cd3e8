// Kernels of a library: 5 products of 256 x 256 matrices.
#include <cstdio>
#include <cstdlib>

#include <cublas_v2.h>
#include <cuda_runtime.h>

int main()
{
    enum { N = 256, PRODUCTS = 5 };
    float *a, *b, *c;
    const float one = 1.0f, zero = 0.0f;
    cublasHandle_t handle;
    if (cudaMalloc(&a, N * N * 4) || cudaMalloc(&b, N * N * 4) || cudaMalloc(&c, N * N * 4))
        return 1;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 2;
    cudaMemset(a, 0, N * N * 4);
    cudaMemset(b, 0, N * N * 4);
    for (int i = 0; i < PRODUCTS; i++)
        if (cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, c, N))
            return 3;
    if (cudaDeviceSynchronize() != cudaSuccess) return 4;
    printf("expect at-least-kernels %d\n", PRODUCTS);
    return 0;
}
