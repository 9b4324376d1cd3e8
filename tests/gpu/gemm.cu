// Products of matrices by cuBLAS whose operands are read once as a whole: what is read must be as
// large as they are. gemm single | double
#include <cstdio>
#include <cstring>

#include <cublas_v2.h>
#include <cuda_runtime.h>

enum { M = 512, N = 384, K = 256 };

template <typename T, typename Gemm> static int multiply(Gemm gemm)
{
    T *a, *b, *c, *host = new T[M * K + K * N]();
    const T one = 1, zero = 0;
    cublasHandle_t handle;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 2;
    if (cudaMalloc(&a, M * K * sizeof(T)) || cudaMalloc(&b, K * N * sizeof(T)) ||
        cudaMalloc(&c, M * N * sizeof(T)))
        return 1;
    cudaMemcpy(a, host, M * K * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, K * N * sizeof(T), cudaMemcpyHostToDevice);
    if (gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, a, M, b, K, &zero, c, M)) return 3;
    if (cudaDeviceSynchronize() != cudaSuccess) return 4;
    printf("expect operand a %zu\n", M * K * sizeof(T));
    printf("expect operand b %zu\n", K * N * sizeof(T));
    printf("expect result c %zu\n", M * N * sizeof(T));
    return 0;
}

int main(int, char **argv)
{
    return argv[1] && !strcmp(argv[1], "double") ? multiply<double>(cublasDgemm)
                                                 : multiply<float>(cublasSgemm);
}
