#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
#include <cuda_runtime.h>
#include <cusparse.h>
#include <cublas_v2.h>
#define CHECK_CUSPARSE(func)                                                                       \
    {                                                                                              \
        cusparseStatus_t status = (func);                                                          \
        if (status != CUSPARSE_STATUS_SUCCESS) {                                                   \
            printf("CUSPARSE API failed at line %d with error: %s (%d)\n", __LINE__,               \
                   cusparseGetErrorString(status), status);                                        \
            return EXIT_FAILURE;                                                                   \
        }                                                                                          \
    }
#define CHECK_CUBLAS(func)                                                                         \
    {                                                                                              \
        cublasStatus_t status = (func);                                                            \
        if (status != CUBLAS_STATUS_SUCCESS) {                                                     \
            printf("CUBLAS API failed at line %d with error: %s\n", __LINE__,                      \
                   cublasGetStatusString(status));                                                 \
            return EXIT_FAILURE;                                                                   \
        }                                                                                          \
    }
int main()
{
    const int m = 24, n = m * m;
    std::vector<int> off(1, 0), col;
    std::vector<double> val;
    for (int i = 0; i < n; i++) {
        int x = i % m, y = i / m;
        auto put = [&](int j, double v) {
            col.push_back(j);
            val.push_back(v);
        };
        if (y) put(i - m, -1);
        if (x) put(i - 1, -1);
        put(i, 4.1);
        if (x < m - 1) put(i + 1, -1);
        if (y < m - 1) put(i + m, -1);
        off.push_back(col.size());
    }
    int *dOff, *dCol, nnz = col.size();
    double *dVal, *x, *r, *p, *Ap;
    cudaMalloc(&dOff, (n + 1) * 4);
    cudaMalloc(&dCol, nnz * 4);
    cudaMalloc(&dVal, nnz * 8);
    for (double **q : {&x, &r, &p, &Ap}) cudaMalloc(q, n * 8);
    cudaMemcpy(dOff, off.data(), (n + 1) * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(dCol, col.data(), nnz * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(dVal, val.data(), nnz * 8, cudaMemcpyHostToDevice);
    std::vector<double> b(n, 1.0);
    cudaMemset(x, 0, n * 8);
    cudaMemcpy(r, b.data(), n * 8, cudaMemcpyHostToDevice);
    cudaMemcpy(p, r, n * 8, cudaMemcpyDeviceToDevice);
    cusparseHandle_t sh;
    cublasHandle_t bh;
    CHECK_CUSPARSE(cusparseCreate(&sh)) CHECK_CUBLAS(cublasCreate(&bh)) cusparseSpMatDescr_t A;
    cusparseDnVecDescr_t vp, vAp;
    CHECK_CUSPARSE(cusparseCreateCsr(&A, n, n, nnz, dOff, dCol, dVal, CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F))
    CHECK_CUSPARSE(cusparseCreateDnVec(&vp, n, p, CUDA_R_64F))
        CHECK_CUSPARSE(cusparseCreateDnVec(&vAp, n, Ap, CUDA_R_64F)) double one = 1,
                                                                            zero = 0, rr, rr2, pAp,
                                                                            a, beta, minus;
    size_t bs;
    void *buf;
    CHECK_CUSPARSE(cusparseSpMV_bufferSize(sh, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, vp, &zero,
                                           vAp, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, &bs))
    cudaMalloc(&buf, bs ? bs : 1);
    CHECK_CUBLAS(cublasDdot(bh, n, r, 1, r, 1, &rr)) int it = 0;
    while (rr > 1e-20 && it++ < 500) {
        CHECK_CUSPARSE(cusparseSpMV(sh, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, vp, &zero, vAp,
                                    CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, buf))
        CHECK_CUBLAS(cublasDdot(bh, n, p, 1, Ap, 1, &pAp)) a = rr / pAp;
        minus = -a;
        CHECK_CUBLAS(cublasDaxpy(bh, n, &a, p, 1, x, 1))
        CHECK_CUBLAS(cublasDaxpy(bh, n, &minus, Ap, 1, r, 1))
            CHECK_CUBLAS(cublasDdot(bh, n, r, 1, r, 1, &rr2)) beta = rr2 / rr;
        rr = rr2;
        CHECK_CUBLAS(cublasDscal(bh, n, &beta, p, 1))
        CHECK_CUBLAS(cublasDaxpy(bh, n, &one, r, 1, p, 1))
    }
    std::vector<double> h(n);
    cudaMemcpy(h.data(), x, n * 8, cudaMemcpyDeviceToHost);
    double err = 0;
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int k = off[i]; k < off[i + 1]; k++) s += val[k] * h[col[k]];
        err = fmax(err, fabs(s - 1));
    }
    printf("%d iterations, residual %g\n", it, err);
    cusparseDestroySpMat(A);
    cusparseDestroyDnVec(vp);
    cusparseDestroyDnVec(vAp);
    cusparseDestroy(sh);
    cublasDestroy(bh);
    return err < 1e-8 ? 0 : 1;
}
