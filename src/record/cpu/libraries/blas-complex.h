// cuBLAS' functions of complex types only; included as blas-typed.h, after it. REAL_SCALE(word):
// cublasCsword, cublasZdword.
#define E own<TYPE>
#define R real_of<TYPE>

namespace ctascope
{

template <bool CONJUGATED>
__device__ void NAME(dot)(int n, const E *x, int incx, const E *y, int incy, E *result)
{
    __shared__ E parts[THREADS];
    const E sum = NAME(add_all)(n, parts, [=](int i) {
        return conjugate(x[at(i, n, incx)], CONJUGATED) * y[at(i, n, incy)];
    });
    if (threadIdx.x == 0) *result = sum;
}
__global__ void CALL(dotu)(int n, const E *x, int incx, const E *y, int incy, E *result)
{
    NAME(dot)<false>(n, x, incx, y, incy, result);
}
__global__ void CALL(dotc)(int n, const E *x, int incx, const E *y, int incy, E *result)
{
    NAME(dot)<true>(n, x, incx, y, incy, result);
}

__global__ void REAL_SCALE(scal)(int n, scalar<R> alpha, E *x, int incx)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const R factor = alpha.get();
    const E element = x[(long long)i * incx];
    x[(long long)i * incx] = {factor * element.x, factor * element.y};
}

__global__ void CALL(geru)(int m, int n, scalar<E> alpha, const E *x, int incx, const E *y,
                           int incy, E *A, int lda)
{
    NAME(add_product)(m, n, alpha.get(), x, incx, y, incy, false, A, lda,
                      [](int, int) { return true; });
}
__global__ void CALL(gerc)(int m, int n, scalar<E> alpha, const E *x, int incx, const E *y,
                           int incy, E *A, int lda)
{
    NAME(add_product)(m, n, alpha.get(), x, incx, y, incy, true, A, lda,
                      [](int, int) { return true; });
}
__global__ void CALL(hemv)(int n, bool upper, scalar<E> alpha, const E *A, int lda, const E *x,
                           int incx, scalar<E> beta, E *y, int incy)
{
    NAME(symv_row)(n, upper, true, alpha, A, lda, x, incx, beta, y, incy);
}
__global__ void CALL(her)(int n, bool upper, scalar<R> alpha, const E *x, int incx, E *A,
                          long long lda)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n || (upper ? i > j : i < j)) return;
    const E sum = from_real<E>(alpha.get()) * (x[at(i, n, incx)] * conjugate(x[at(j, n, incx)])) +
                  A[i + j * lda];
    A[i + j * lda] = i == j ? real_part(sum) : sum;
}
__global__ void CALL(hemm)(bool left, bool upper, int m, int n, scalar<E> alpha, const E *A,
                           int lda, const E *B, int ldb, scalar<E> beta, E *C, int ldc)
{
    NAME(symm_element)(left, upper, true, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}
__global__ void CALL(herk)(TYPED(rank_update) u, scalar<R> alpha, const E *A, scalar<R> beta, E *C,
                           int ldc)
{
    NAME(rank_element)(u, from_real<E>(alpha.get()), A, A, from_real<E>(beta.get()), C, ldc);
}

} // namespace ctascope

extern "C" {

cublasStatus_t CALL(dotu)(cublasHandle_t handle, int n, const TYPE *x, int incx, const TYPE *y,
                          int incy, TYPE *result)
{
    REQUIRE(result);
    TYPE *const out = blas_result(handle, result);
    if (!out) return CUBLAS_STATUS_ALLOC_FAILED;
    ctascope::CALL(dotu)<<<ONE_CTA>>>(n > 0 ? n : 0, OWN(x), incx, OWN(y), incy, OUT(out));
    return blas_give(handle, result, out);
}

cublasStatus_t CALL(dotc)(cublasHandle_t handle, int n, const TYPE *x, int incx, const TYPE *y,
                          int incy, TYPE *result)
{
    REQUIRE(result);
    TYPE *const out = blas_result(handle, result);
    if (!out) return CUBLAS_STATUS_ALLOC_FAILED;
    ctascope::CALL(dotc)<<<ONE_CTA>>>(n > 0 ? n : 0, OWN(x), incx, OWN(y), incy, OUT(out));
    return blas_give(handle, result, out);
}

cublasStatus_t REAL_SCALE(scal)(cublasHandle_t handle, int n, const R *alpha, TYPE *x, int incx)
{
    REQUIRE(alpha);
    if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::REAL_SCALE(scal)<<<GRID1(n)>>>(n, scalar_of(handle, alpha), OUT(x), incx);
    return blas_launched();
}

cublasStatus_t CALL(geru)(cublasHandle_t handle, int m, int n, const TYPE *alpha, const TYPE *x,
                          int incx, const TYPE *y, int incy, TYPE *A, int lda)
{
    REQUIRE(m >= 0 && n >= 0 && incx && incy && alpha && lda >= (m > 1 ? m : 1));
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(geru)<<<GRID2(m, n)>>>(m, n, scalar_of(handle, alpha), OWN(x), incx, OWN(y),
                                          incy, OUT(A), lda);
    return blas_launched();
}

cublasStatus_t CALL(gerc)(cublasHandle_t handle, int m, int n, const TYPE *alpha, const TYPE *x,
                          int incx, const TYPE *y, int incy, TYPE *A, int lda)
{
    REQUIRE(m >= 0 && n >= 0 && incx && incy && alpha && lda >= (m > 1 ? m : 1));
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(gerc)<<<GRID2(m, n)>>>(m, n, scalar_of(handle, alpha), OWN(x), incx, OWN(y),
                                          incy, OUT(A), lda);
    return blas_launched();
}

cublasStatus_t CALL(hemv)(cublasHandle_t handle, cublasFillMode_t uplo, int n, const TYPE *alpha,
                          const TYPE *A, int lda, const TYPE *x, int incx, const TYPE *beta,
                          TYPE *y, int incy)
{
    REQUIRE(n >= 0 && lda >= (n > 1 ? n : 1) && incx && incy && alpha && beta);
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(hemv)<<<GRID1(n)>>>(n, uplo == CUBLAS_FILL_MODE_UPPER, scalar_of(handle, alpha),
                                       OWN(A), lda, OWN(x), incx, scalar_of(handle, beta), OUT(y),
                                       incy);
    return blas_launched();
}

cublasStatus_t CALL(her)(cublasHandle_t handle, cublasFillMode_t uplo, int n, const R *alpha,
                         const TYPE *x, int incx, TYPE *A, int lda)
{
    REQUIRE(n >= 0 && lda >= (n > 1 ? n : 1) && incx && alpha);
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(her)<<<GRID2(n, n)>>>(n, uplo == CUBLAS_FILL_MODE_UPPER,
                                         scalar_of(handle, alpha), OWN(x), incx, OUT(A), lda);
    return blas_launched();
}

cublasStatus_t CALL(hemm)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                          int m, int n, const TYPE *alpha, const TYPE *A, int lda, const TYPE *B,
                          int ldb, const TYPE *beta, TYPE *C, int ldc)
{
    REQUIRE(m >= 0 && n >= 0 && alpha && beta);
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(hemm)<<<GRID2(m, n)>>>(side == CUBLAS_SIDE_LEFT, uplo == CUBLAS_FILL_MODE_UPPER,
                                          m, n, scalar_of(handle, alpha), OWN(A), lda, OWN(B), ldb,
                                          scalar_of(handle, beta), OUT(C), ldc);
    return blas_launched();
}

cublasStatus_t CALL(herk)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                          int n, int k, const R *alpha, const TYPE *A, int lda, const R *beta,
                          TYPE *C, int ldc)
{
    REQUIRE(n >= 0 && k >= 0 && alpha && beta && is_operation(trans));
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    const view_of a = view(trans, lda);
    const ctascope::TYPED(rank_update)
        u = {n, k, uplo == CUBLAS_FILL_MODE_UPPER, true, false, a, a};
    ctascope::CALL(herk)<<<GRID2(n, n)>>>(u, scalar_of(handle, alpha), OWN(A),
                                          scalar_of(handle, beta), OUT(C), ldc);
    return blas_launched();
}

} // extern "C"

#undef E
#undef R
