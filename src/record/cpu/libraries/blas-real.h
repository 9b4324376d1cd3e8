// cuBLAS' functions of real types only; included as blas-typed.h, after it.
#define E own<TYPE>

namespace ctascope
{

__global__ void CALL(dot)(int n, const E *x, int incx, const E *y, int incy, E *result)
{
    __shared__ E parts[THREADS];
    const E sum =
        NAME(add_all)(n, parts, [=](int i) { return x[at(i, n, incx)] * y[at(i, n, incy)]; });
    if (threadIdx.x == 0) *result = sum;
}

__global__ void CALL(rot)(int n, E *x, int incx, E *y, int incy, scalar<E> c, scalar<E> s)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    E *const px = &x[at(i, n, incx)], *const py = &y[at(i, n, incy)];
    const E a = *px, b = *py;
    *px = c.get() * a + s.get() * b;
    *py = c.get() * b - s.get() * a;
}

// The rotation that turns (a, b) to (r, 0); a and b become r and z, from which s and c can be had.
EVERYWHERE void NAME(rotation)(E *a, E *b, E *c, E *s)
{
    const E sign = fabs(*a) > fabs(*b) ? *a : *b, scale = fabs(*a) + fabs(*b);
    if (scale == 0) {
        *c = 1, *s = 0, *a = 0, *b = 0;
        return;
    }
    const E p = *a / scale, q = *b / scale;
    const E r = copysign(scale * sqrt(p * p + q * q), sign);
    *c = *a / r;
    *s = *b / r;
    const E z = fabs(*a) > fabs(*b) ? *s : *c != 0 ? 1 / *c : 1;
    *a = r;
    *b = z;
}
__global__ void CALL(rotg)(E *a, E *b, E *c, E *s)
{
    NAME(rotation)(a, b, c, s);
}

__global__ void CALL(ger)(int m, int n, scalar<E> alpha, const E *x, int incx, const E *y, int incy,
                          E *A, int lda)
{
    NAME(add_product)(m, n, alpha.get(), x, incx, y, incy, false, A, lda,
                      [](int, int) { return true; });
}

__global__ void CALL(syr2)(int n, bool upper, scalar<E> alpha, const E *x, int incx, const E *y,
                           int incy, E *A, long long lda)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n || (upper ? i > j : i < j)) return;
    const E sum = x[at(i, n, incx)] * y[at(j, n, incy)] + y[at(i, n, incy)] * x[at(j, n, incx)];
    A[i + j * lda] = alpha.get() * sum + A[i + j * lda];
}

} // namespace ctascope

extern "C" {

cublasStatus_t CALL(dot)(cublasHandle_t handle, int n, const TYPE *x, int incx, const TYPE *y,
                         int incy, TYPE *result)
{
    REQUIRE(result);
    E *const out = blas_result(handle, result);
    if (!out) return CUBLAS_STATUS_ALLOC_FAILED;
    ctascope::CALL(dot)<<<ONE_CTA>>>(n > 0 ? n : 0, x, incx, y, incy, out);
    return blas_give(handle, result, out);
}

cublasStatus_t CALL(rot)(cublasHandle_t handle, int n, TYPE *x, int incx, TYPE *y, int incy,
                         const TYPE *c, const TYPE *s)
{
    REQUIRE(c && s);
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(rot)<<<GRID1(n)>>>(n, x, incx, y, incy, scalar_of(handle, c),
                                      scalar_of(handle, s));
    return blas_launched();
}

cublasStatus_t CALL(rotg)(cublasHandle_t handle, TYPE *a, TYPE *b, TYPE *c, TYPE *s)
{
    REQUIRE(a && b && c && s);
    if (handle->pointers == CUBLAS_POINTER_MODE_HOST) {
        ctascope::NAME(rotation)(a, b, c, s);
        return CUBLAS_STATUS_SUCCESS;
    }
    ctascope::CALL(rotg)<<<1, 1, 0, handle->stream>>>(a, b, c, s);
    return blas_launched();
}

cublasStatus_t CALL(ger)(cublasHandle_t handle, int m, int n, const TYPE *alpha, const TYPE *x,
                         int incx, const TYPE *y, int incy, TYPE *A, int lda)
{
    REQUIRE(m >= 0 && n >= 0 && incx && incy && alpha && lda >= (m > 1 ? m : 1));
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(ger)<<<GRID2(m, n)>>>(m, n, scalar_of(handle, alpha), x, incx, y, incy, A, lda);
    return blas_launched();
}

cublasStatus_t CALL(syr2)(cublasHandle_t handle, cublasFillMode_t uplo, int n, const TYPE *alpha,
                          const TYPE *x, int incx, const TYPE *y, int incy, TYPE *A, int lda)
{
    REQUIRE(n >= 0 && incx && incy && alpha && lda >= (n > 1 ? n : 1));
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(syr2)<<<GRID2(n, n)>>>(n, uplo == CUBLAS_FILL_MODE_UPPER,
                                          scalar_of(handle, alpha), x, incx, y, incy, A, lda);
    return blas_launched();
}

} // extern "C"

#undef E
