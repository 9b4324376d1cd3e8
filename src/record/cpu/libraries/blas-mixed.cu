// Products of mixed types: elements are read in their types, added in another, rounded once.
#include "blas.h"

namespace ctascope
{

template <class T> struct batch_of {
    T *base;
    long long stride, leading;
    view_of view;
};

template <class In, class Out, class Sum>
__global__ void cublasGemmEx(int m, int n, int k, scalar<Sum> alpha, batch_of<const In> a,
                             batch_of<const In> b, scalar<Sum> beta, batch_of<Out> c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    const In *const A = a.base + blockIdx.z * a.stride, *const B = b.base + blockIdx.z * b.stride;
    Sum sum = {};
    for (int l = 0; l < k; l++)
        sum = sum + (Sum)A[i * a.view.row + l * a.view.column] *
                        (Sum)B[l * b.view.row + j * b.view.column];
    Out *const out = &c.base[blockIdx.z * c.stride + i + j * c.leading];
    const Sum factor = beta.get();
    sum = alpha.get() * sum;
    if (factor != (Sum)0) sum = sum + factor * (Sum)*out;
    *out = (Out)sum;
}

} // namespace ctascope

namespace
{

struct operand {
    const void *base;
    cudaDataType type;
    int leading;
    long long stride;
    cublasOperation_t op;
};

struct product {
    int m, n, k, count;
    const void *alpha, *beta;
    operand a, b, c;
};

template <class In, class Out, class Sum, class Scale>
cublasStatus_t launch(cublasHandle_t handle, const product &p)
{
    scalar<Sum> alpha = {}, beta = {};
    if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE) {
        if (sizeof(Scale) != sizeof(Sum)) return CUBLAS_STATUS_NOT_SUPPORTED;
        alpha.pointer = (const Sum *)p.alpha;
        beta.pointer = (const Sum *)p.beta;
    } else {
        alpha.value = (Sum) * (const Scale *)p.alpha;
        beta.value = (Sum) * (const Scale *)p.beta;
    }
    const dim3 grid(blocks_of(p.m, TILE), blocks_of(p.n, TILE), (unsigned)p.count);
    ctascope::cublasGemmEx<In, Out, Sum><<<grid, dim3(TILE, TILE), 0, handle->stream>>>(
        p.m, p.n, p.k, alpha,
        ctascope::batch_of<const In>{(const In *)p.a.base, p.a.stride, p.a.leading,
                                     view(p.a.op, p.a.leading)},
        ctascope::batch_of<const In>{(const In *)p.b.base, p.b.stride, p.b.leading,
                                     view(p.b.op, p.b.leading)},
        beta,
        ctascope::batch_of<Out>{(Out *)const_cast<void *>(p.c.base), p.c.stride, p.c.leading,
                                view(CUBLAS_OP_N, p.c.leading)});
    return blas_launched();
}

cublasStatus_t multiply(cublasHandle_t handle, const product &p, cublasComputeType_t compute)
{
    REQUIRE(p.alpha && p.beta && p.m >= 0 && p.n >= 0 && p.k >= 0 && p.count >= 0);
    REQUIRE(is_operation(p.a.op) && is_operation(p.b.op) && p.a.type == p.b.type);
    if (p.m == 0 || p.n == 0 || p.count == 0) return CUBLAS_STATUS_SUCCESS;
    const cudaDataType in = p.a.type, out = p.c.type;
    const bool half = compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC;
    const bool integer = compute == CUBLAS_COMPUTE_32I || compute == CUBLAS_COMPUTE_32I_PEDANTIC;
    const bool twice = compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC;
    if (half) {
        // Tensor cores add halves in more digits than halves have; so do we.
        if (in == CUDA_R_16F && out == CUDA_R_16F)
            return launch<__half, __half, float, __half>(handle, p);
    } else if (integer) {
        if (in == CUDA_R_8I && out == CUDA_R_32I)
            return launch<signed char, int, int, int>(handle, p);
    } else if (twice) {
        if (in == CUDA_R_64F && out == CUDA_R_64F)
            return launch<double, double, double, double>(handle, p);
    } else {
        if (in == CUDA_R_32F && out == CUDA_R_32F)
            return launch<float, float, float, float>(handle, p);
        if (in == CUDA_R_16F && out == CUDA_R_16F)
            return launch<__half, __half, float, float>(handle, p);
        if (in == CUDA_R_16F && out == CUDA_R_32F)
            return launch<__half, float, float, float>(handle, p);
        if (in == CUDA_R_16BF && out == CUDA_R_16BF)
            return launch<__nv_bfloat16, __nv_bfloat16, float, float>(handle, p);
        if (in == CUDA_R_16BF && out == CUDA_R_32F)
            return launch<__nv_bfloat16, float, float, float>(handle, p);
        if (in == CUDA_R_8I && out == CUDA_R_32F)
            return launch<signed char, float, float, float>(handle, p);
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

} // namespace

extern "C" {

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *A, cudaDataType atype,
                                          int lda, long long int strideA, const void *B,
                                          cudaDataType btype, int ldb, long long int strideB,
                                          const void *beta, void *C, cudaDataType ctype, int ldc,
                                          long long int strideC, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t)
{
    return multiply(handle,
                    {m,
                     n,
                     k,
                     count,
                     alpha,
                     beta,
                     {A, atype, lda, strideA, transa},
                     {B, btype, ldb, strideB, transb},
                     {C, ctype, ldc, strideC, CUBLAS_OP_N}},
                    compute);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void *alpha,
                            const void *A, cudaDataType atype, int lda, const void *B,
                            cudaDataType btype, int ldb, const void *beta, void *C,
                            cudaDataType ctype, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm)
{
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, atype, lda, 0, B,
                                      btype, ldb, 0, beta, C, ctype, ldc, 0, 1, compute, algorithm);
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, int m, int n, int k, const float *alpha,
                             const void *A, cudaDataType atype, int lda, const void *B,
                             cudaDataType btype, int ldb, const float *beta, void *C,
                             cudaDataType ctype, int ldc)
{
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, atype, lda, B, btype, ldb, beta,
                        C, ctype, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const __half *alpha, const __half *A, int lda,
                                         long long int strideA, const __half *B, int ldb,
                                         long long int strideB, const __half *beta, __half *C,
                                         int ldc, long long int strideC, int count)
{
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, CUDA_R_16F, lda,
                                      strideA, B, CUDA_R_16F, ldb, strideB, beta, C, CUDA_R_16F,
                                      ldc, strideC, count, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k, const __half *alpha,
                           const __half *A, int lda, const __half *B, int ldb, const __half *beta,
                           __half *C, int ldc)
{
    return cublasHgemmStridedBatched(handle, transa, transb, m, n, k, alpha, A, lda, 0, B, ldb, 0,
                                     beta, C, ldc, 0, 1);
}

} // extern "C"
