/* cuBLAS for the CPU device: levels 1 to 3, batched and mixed products. Columns are contiguous, as
 * Fortran has them. Each call that computes is one or more launches of kernels of our own, named as
 * the call, so that a recording holds what it reads and writes; which CTA does what is not cuBLAS'.
 * Results are right to rounding. What is not declared here, the compiler refuses by name. */
#ifndef CUBLAS_V2_H_
#define CUBLAS_V2_H_
#define CUBLAS_API_H_ 1 /* as programs that look for it */

#include <stdint.h>

#include "cuComplex.h"
#include "library_types.h"
#ifdef __CUDACC__
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#elif defined(__cplusplus)
struct __half;
#else
typedef struct __half __half;
#endif

#define CUBLASAPI
#define CUBLAS_VER_MAJOR 12
#define CUBLAS_VER_MINOR 9
#define CUBLAS_VER_PATCH 1
#define CUBLAS_VERSION   (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)

typedef struct cublasContext *cublasHandle_t;
typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum {
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2,
    CUBLAS_OP_HERMITAN = 2,
    CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum {
    CUBLAS_FILL_MODE_LOWER = 0,
    CUBLAS_FILL_MODE_UPPER = 1,
    CUBLAS_FILL_MODE_FULL = 2
} cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_ALGO1 = 1,
    CUBLAS_GEMM_ALGO2 = 2,
    CUBLAS_GEMM_ALGO3 = 3,
    CUBLAS_GEMM_ALGO4 = 4,
    CUBLAS_GEMM_ALGO5 = 5,
    CUBLAS_GEMM_ALGO6 = 6,
    CUBLAS_GEMM_ALGO7 = 7,
    CUBLAS_GEMM_ALGO23 = 23,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
    CUBLAS_GEMM_ALGO15_TENSOR_OP = 115
} cublasGemmAlgo_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;

#include "ctascope/blas_names.h"

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t size_bytes);
const char *cublasGetStatusString(cublasStatus_t status);
const char *cublasGetStatusName(cublasStatus_t status);

cublasStatus_t cublasSetVector(int n, int element_bytes, const void *x, int incx, void *device_y,
                               int incy);
cublasStatus_t cublasGetVector(int n, int element_bytes, const void *device_x, int incx, void *y,
                               int incy);
cublasStatus_t cublasSetMatrix(int rows, int columns, int element_bytes, const void *a, int lda,
                               void *device_b, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int columns, int element_bytes, const void *device_a,
                               int lda, void *b, int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int element_bytes, const void *x, int incx,
                                    void *device_y, int incy, cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int element_bytes, const void *device_x, int incx,
                                    void *y, int incy, cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int element_bytes, const void *a,
                                    int lda, void *device_b, int ldb, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int element_bytes, const void *device_a,
                                    int lda, void *b, int ldb, cudaStream_t stream);

#define CTS_BLAS_H_ cublasHandle_t handle

/* ---- of all four types ---- */
#define CTS_BLAS_ALL_(L, T)                                                                        \
    cublasStatus_t cublas##L##copy(CTS_BLAS_H_, int n, const T *x, int incx, T *y, int incy);      \
    cublasStatus_t cublas##L##swap(CTS_BLAS_H_, int n, T *x, int incx, T *y, int incy);            \
    cublasStatus_t cublas##L##axpy(CTS_BLAS_H_, int n, const T *alpha, const T *x, int incx, T *y, \
                                   int incy);                                                      \
    cublasStatus_t cublas##L##scal(CTS_BLAS_H_, int n, const T *alpha, T *x, int incx);            \
    cublasStatus_t cublas##L##gemv(CTS_BLAS_H_, cublasOperation_t trans, int m, int n,             \
                                   const T *alpha, const T *A, int lda, const T *x, int incx,      \
                                   const T *beta, T *y, int incy);                                 \
    cublasStatus_t cublas##L##trmv(CTS_BLAS_H_, cublasFillMode_t uplo, cublasOperation_t trans,    \
                                   cublasDiagType_t diag, int n, const T *A, int lda, T *x,        \
                                   int incx);                                                      \
    cublasStatus_t cublas##L##trsv(CTS_BLAS_H_, cublasFillMode_t uplo, cublasOperation_t trans,    \
                                   cublasDiagType_t diag, int n, const T *A, int lda, T *x,        \
                                   int incx);                                                      \
    cublasStatus_t cublas##L##symv(CTS_BLAS_H_, cublasFillMode_t uplo, int n, const T *alpha,      \
                                   const T *A, int lda, const T *x, int incx, const T *beta, T *y, \
                                   int incy);                                                      \
    cublasStatus_t cublas##L##syr(CTS_BLAS_H_, cublasFillMode_t uplo, int n, const T *alpha,       \
                                  const T *x, int incx, T *A, int lda);                            \
    cublasStatus_t cublas##L##gemm(                                                                \
        CTS_BLAS_H_, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,      \
        const T *alpha, const T *A, int lda, const T *B, int ldb, const T *beta, T *C, int ldc);   \
    cublasStatus_t cublas##L##gemmBatched(                                                         \
        CTS_BLAS_H_, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,      \
        const T *alpha, const T *const A[], int lda, const T *const B[], int ldb, const T *beta,   \
        T *const C[], int ldc, int count);                                                         \
    cublasStatus_t cublas##L##gemmStridedBatched(                                                  \
        CTS_BLAS_H_, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,      \
        const T *alpha, const T *A, int lda, long long int strideA, const T *B, int ldb,           \
        long long int strideB, const T *beta, T *C, int ldc, long long int strideC, int count);    \
    cublasStatus_t cublas##L##symm(CTS_BLAS_H_, cublasSideMode_t side, cublasFillMode_t uplo,      \
                                   int m, int n, const T *alpha, const T *A, int lda, const T *B,  \
                                   int ldb, const T *beta, T *C, int ldc);                         \
    cublasStatus_t cublas##L##syrk(CTS_BLAS_H_, cublasFillMode_t uplo, cublasOperation_t trans,    \
                                   int n, int k, const T *alpha, const T *A, int lda,              \
                                   const T *beta, T *C, int ldc);                                  \
    cublasStatus_t cublas##L##syr2k(CTS_BLAS_H_, cublasFillMode_t uplo, cublasOperation_t trans,   \
                                    int n, int k, const T *alpha, const T *A, int lda, const T *B, \
                                    int ldb, const T *beta, T *C, int ldc);                        \
    cublasStatus_t cublas##L##trmm(CTS_BLAS_H_, cublasSideMode_t side, cublasFillMode_t uplo,      \
                                   cublasOperation_t trans, cublasDiagType_t diag, int m, int n,   \
                                   const T *alpha, const T *A, int lda, const T *B, int ldb, T *C, \
                                   int ldc);                                                       \
    cublasStatus_t cublas##L##trsm(CTS_BLAS_H_, cublasSideMode_t side, cublasFillMode_t uplo,      \
                                   cublasOperation_t trans, cublasDiagType_t diag, int m, int n,   \
                                   const T *alpha, const T *A, int lda, T *B, int ldb);            \
    cublasStatus_t cublas##L##geam(                                                                \
        CTS_BLAS_H_, cublasOperation_t transa, cublasOperation_t transb, int m, int n,             \
        const T *alpha, const T *A, int lda, const T *beta, const T *B, int ldb, T *C, int ldc);   \
    cublasStatus_t cublas##L##dgmm(CTS_BLAS_H_, cublasSideMode_t side, int m, int n, const T *A,   \
                                   int lda, const T *x, int incx, T *C, int ldc);
#define CTS_BLAS_SUMS_(L, l, T, LR, R)                                                             \
    CTS_BLAS_ALL_(L, T)                                                                            \
    cublasStatus_t cublas##LR##nrm2(CTS_BLAS_H_, int n, const T *x, int incx, R *result);          \
    cublasStatus_t cublas##LR##asum(CTS_BLAS_H_, int n, const T *x, int incx, R *result);          \
    cublasStatus_t cublasI##l##amax(CTS_BLAS_H_, int n, const T *x, int incx, int *result);        \
    cublasStatus_t cublasI##l##amin(CTS_BLAS_H_, int n, const T *x, int incx, int *result);
CTS_BLAS_SUMS_(S, s, float, S, float)
CTS_BLAS_SUMS_(D, d, double, D, double)
CTS_BLAS_SUMS_(C, c, cuComplex, Sc, float)
CTS_BLAS_SUMS_(Z, z, cuDoubleComplex, Dz, double)

/* ---- of real types ---- */
#define CTS_BLAS_REAL_(L, T)                                                                       \
    cublasStatus_t cublas##L##dot(CTS_BLAS_H_, int n, const T *x, int incx, const T *y, int incy,  \
                                  T *result);                                                      \
    cublasStatus_t cublas##L##rot(CTS_BLAS_H_, int n, T *x, int incx, T *y, int incy, const T *c,  \
                                  const T *s);                                                     \
    cublasStatus_t cublas##L##rotg(CTS_BLAS_H_, T *a, T *b, T *c, T *s);                           \
    cublasStatus_t cublas##L##ger(CTS_BLAS_H_, int m, int n, const T *alpha, const T *x, int incx, \
                                  const T *y, int incy, T *A, int lda);                            \
    cublasStatus_t cublas##L##syr2(CTS_BLAS_H_, cublasFillMode_t uplo, int n, const T *alpha,      \
                                   const T *x, int incx, const T *y, int incy, T *A, int lda);
CTS_BLAS_REAL_(S, float)
CTS_BLAS_REAL_(D, double)

/* ---- of complex types ---- */
#define CTS_BLAS_COMPLEX_(L, LR, T, R)                                                             \
    cublasStatus_t cublas##L##dotu(CTS_BLAS_H_, int n, const T *x, int incx, const T *y, int incy, \
                                   T *result);                                                     \
    cublasStatus_t cublas##L##dotc(CTS_BLAS_H_, int n, const T *x, int incx, const T *y, int incy, \
                                   T *result);                                                     \
    cublasStatus_t cublas##LR##scal(CTS_BLAS_H_, int n, const R *alpha, T *x, int incx);           \
    cublasStatus_t cublas##L##geru(CTS_BLAS_H_, int m, int n, const T *alpha, const T *x,          \
                                   int incx, const T *y, int incy, T *A, int lda);                 \
    cublasStatus_t cublas##L##gerc(CTS_BLAS_H_, int m, int n, const T *alpha, const T *x,          \
                                   int incx, const T *y, int incy, T *A, int lda);                 \
    cublasStatus_t cublas##L##hemv(CTS_BLAS_H_, cublasFillMode_t uplo, int n, const T *alpha,      \
                                   const T *A, int lda, const T *x, int incx, const T *beta, T *y, \
                                   int incy);                                                      \
    cublasStatus_t cublas##L##her(CTS_BLAS_H_, cublasFillMode_t uplo, int n, const R *alpha,       \
                                  const T *x, int incx, T *A, int lda);                            \
    cublasStatus_t cublas##L##hemm(CTS_BLAS_H_, cublasSideMode_t side, cublasFillMode_t uplo,      \
                                   int m, int n, const T *alpha, const T *A, int lda, const T *B,  \
                                   int ldb, const T *beta, T *C, int ldc);                         \
    cublasStatus_t cublas##L##herk(CTS_BLAS_H_, cublasFillMode_t uplo, cublasOperation_t trans,    \
                                   int n, int k, const R *alpha, const T *A, int lda,              \
                                   const R *beta, T *C, int ldc);
CTS_BLAS_COMPLEX_(C, Cs, cuComplex, float)
CTS_BLAS_COMPLEX_(Z, Zd, cuDoubleComplex, double)

/* ---- mixed types ---- */
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k, const __half *alpha,
                           const __half *A, int lda, const __half *B, int ldb, const __half *beta,
                           __half *C, int ldc);
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const __half *alpha, const __half *A, int lda,
                                         long long int strideA, const __half *B, int ldb,
                                         long long int strideB, const __half *beta, __half *C,
                                         int ldc, long long int strideC, int count);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void *alpha,
                            const void *A, cudaDataType atype, int lda, const void *B,
                            cudaDataType btype, int ldb, const void *beta, void *C,
                            cudaDataType ctype, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *A, cudaDataType atype,
                                          int lda, long long int strideA, const void *B,
                                          cudaDataType btype, int ldb, long long int strideB,
                                          const void *beta, void *C, cudaDataType ctype, int ldc,
                                          long long int strideC, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, int m, int n, int k, const float *alpha,
                             const void *A, cudaDataType atype, int lda, const void *B,
                             cudaDataType btype, int ldb, const float *beta, void *C,
                             cudaDataType ctype, int ldc);

#undef CTS_BLAS_H_
#undef CTS_BLAS_ALL_
#undef CTS_BLAS_SUMS_
#undef CTS_BLAS_REAL_
#undef CTS_BLAS_COMPLEX_

#ifdef __cplusplus
}

/* As before CUDA 11: what is computed in is named by a type of data. */
static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *A, cudaDataType atype,
                                          int lda, const void *B, cudaDataType btype, int ldb,
                                          const void *beta, void *C, cudaDataType ctype, int ldc,
                                          cudaDataType compute, cublasGemmAlgo_t algorithm)
{
    const cublasComputeType_t type = compute == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                     : compute == CUDA_R_64F || compute == CUDA_C_64F
                                         ? CUBLAS_COMPUTE_64F
                                     : compute == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                                             : CUBLAS_COMPUTE_32F;
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, atype, lda, B, btype, ldb, beta,
                        C, ctype, ldc, type, algorithm);
}
#endif

#endif
