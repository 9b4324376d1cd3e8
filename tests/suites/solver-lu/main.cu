#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
#include <cuda_runtime.h>
#include <cusolverDn.h>
#define CUSOLVER_CHECK(err)                                                                        \
    do {                                                                                           \
        cusolverStatus_t err_ = (err);                                                             \
        if (err_ != CUSOLVER_STATUS_SUCCESS) {                                                     \
            printf("cusolver error %d at %s:%d\n", err_, __FILE__, __LINE__);                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
int main()
{
    const int n = 24;
    std::vector<double> A(n * n), b(n), x(n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) A[j * n + i] = (i == j ? n : 0) + std::sin(i * 3.0 + j);
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < n; j++) s += A[j * n + i] * (j + 1);
        b[i] = s;
    }
    cusolverDnHandle_t h;
    cudaStream_t s;
    CUSOLVER_CHECK(cusolverDnCreate(&h));
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    CUSOLVER_CHECK(cusolverDnSetStream(h, s));
    double *dA, *dB, *work;
    int *piv, *info, lwork, hinfo;
    cudaMalloc(&dA, n * n * 8);
    cudaMalloc(&dB, n * 8);
    cudaMalloc(&piv, n * 4);
    cudaMalloc(&info, 4);
    cudaMemcpy(dA, A.data(), n * n * 8, cudaMemcpyHostToDevice);
    cudaMemcpy(dB, b.data(), n * 8, cudaMemcpyHostToDevice);
    CUSOLVER_CHECK(cusolverDnDgetrf_bufferSize(h, n, n, dA, n, &lwork));
    cudaMalloc(&work, lwork * 8);
    CUSOLVER_CHECK(cusolverDnDgetrf(h, n, n, dA, n, work, piv, info));
    CUSOLVER_CHECK(cusolverDnDgetrs(h, CUBLAS_OP_N, n, 1, dA, n, piv, dB, n, info));
    cudaStreamSynchronize(s);
    cudaMemcpy(&hinfo, info, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(x.data(), dB, n * 8, cudaMemcpyDeviceToHost);
    int bad = hinfo != 0;
    for (int i = 0; i < n; i++) bad += std::fabs(x[i] - (i + 1)) > 1e-9;
    printf("bad %d\n", bad);
    CUSOLVER_CHECK(cusolverDnDestroy(h));
    return bad != 0;
}
