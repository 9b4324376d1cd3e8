// cuBLAS' functions of one type, kernels and calls: included once for each type, with
//   TYPE    float, double, cuComplex, cuDoubleComplex       NAME(word)   Sword, Dword, Cword, Zword
//   CALL(word)   cublasSword, ...                          SUM(word)    cublasSword, cublasScword,
//   ... INDEX(word)  cublasIsword, ...
// Kernels are named as the calls, in namespace ctascope. One thread computes one element of what
// the call writes, and adds products in ascending order of the inner index.

namespace ctascope
{

using TYPED(value) = own<TYPE>;
#define E TYPED(value)
#define R real_of<TYPE>

// ---- level 1 ----

__global__ void CALL(copy)(int n, const E *x, int incx, E *y, int incy)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[at(i, n, incy)] = x[at(i, n, incx)];
}

__global__ void CALL(swap)(int n, E *x, int incx, E *y, int incy)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const E kept = x[at(i, n, incx)];
    x[at(i, n, incx)] = y[at(i, n, incy)];
    y[at(i, n, incy)] = kept;
}

__global__ void CALL(axpy)(int n, scalar<E> alpha, const E *x, int incx, E *y, int incy)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[at(i, n, incy)] = alpha.get() * x[at(i, n, incx)] + y[at(i, n, incy)];
}

__global__ void CALL(scal)(int n, scalar<E> alpha, E *x, int incx)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[(long long)i * incx] = alpha.get() * x[(long long)i * incx];
}

// The sums of vectors: one CTA, so that the order of additions is always the same.
template <class Sum, class Term> __device__ Sum NAME(add_all)(int n, Sum *parts, Term term)
{
    Sum sum = {};
    for (int i = threadIdx.x; i < n; i += THREADS) sum = sum + term(i);
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = parts[threadIdx.x] + parts[threadIdx.x + half];
        __syncthreads();
    }
    return parts[0];
}

__global__ void SUM(asum)(int n, const E *x, int incx, R *result)
{
    __shared__ R parts[THREADS];
    const R sum = NAME(add_all)(n, parts, [=](int i) { return size_of(x[(long long)i * incx]); });
    if (threadIdx.x == 0) *result = sum;
}

// Scaled by the largest part, whose square might overflow.
__global__ void SUM(nrm2)(int n, const E *x, int incx, R *result)
{
    __shared__ R parts[THREADS];
    R largest = 0;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        const R size = size_of(x[(long long)i * incx]);
        largest = size > largest || size != size ? size : largest;
    }
    parts[threadIdx.x] = largest;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            const R other = parts[threadIdx.x + half];
            if (other > parts[threadIdx.x] || other != other) parts[threadIdx.x] = other;
        }
        __syncthreads();
    }
    largest = parts[0];
    __syncthreads();
    R sum = 0;
    if (largest > 0 && largest <= (sizeof(R) == 4 ? 3.4e38 : 1.7e308))
        sum = NAME(add_all)(n, parts, [=](int i) {
            const E part = x[(long long)i * incx];
            const R re = *(const R *)&part / largest;
            const R im = sizeof(E) == sizeof(R)
                             ? 0
                             : ((const R *)&part)[sizeof(E) / sizeof(R) - 1] / largest;
            return re * re + im * im;
        });
    if (threadIdx.x == 0) *result = sum > 0 ? largest * sqrt(sum) : largest;
}

// Where the largest or smallest |x| stands first, counted from 1.
template <bool SMALLEST> __device__ void NAME(find)(int n, const E *x, int incx, int *result)
{
    __shared__ R sizes[THREADS];
    __shared__ int places[THREADS];
    R best = 0;
    int place = 0;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        const R size = size_of(x[(long long)i * incx]);
        if (place == 0 || (SMALLEST ? size < best : size > best)) best = size, place = i + 1;
    }
    sizes[threadIdx.x] = best;
    places[threadIdx.x] = place;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half && places[threadIdx.x + half]) {
            const R mine = sizes[threadIdx.x], other = sizes[threadIdx.x + half];
            const int place_of_other = places[threadIdx.x + half];
            if ((SMALLEST ? other < mine : other > mine) ||
                (other == mine && place_of_other < places[threadIdx.x])) {
                sizes[threadIdx.x] = other;
                places[threadIdx.x] = place_of_other;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) *result = places[0];
}
__global__ void INDEX(amax)(int n, const E *x, int incx, int *result)
{
    NAME(find)<false>(n, x, incx, result);
}
__global__ void INDEX(amin)(int n, const E *x, int incx, int *result)
{
    NAME(find)<true>(n, x, incx, result);
}

// ---- level 2 ----

__global__ void CALL(gemv)(int rows, int inner, scalar<E> alpha, const E *A, view_of a, const E *x,
                           int incx, scalar<E> beta, E *y, int incy)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    E sum = {};
    for (int k = 0; k < inner; k++)
        sum = sum + conjugate(A[i * a.row + k * a.column], a.conjugated) * x[at(k, inner, incx)];
    E *const out = &y[at(i, rows, incy)];
    const E factor = beta.get(), zero = {};
    *out = factor == zero ? alpha.get() * sum : alpha.get() * sum + factor * *out;
}

// Element (i, j) of a symmetric or Hermitian matrix of which one triangle is stored.
__device__ E NAME(mirrored)(const E *A, long long lda, bool upper, bool hermitian, int i, int j)
{
    if (i == j) return hermitian ? real_part(A[i + j * lda]) : A[i + j * lda];
    const bool stored = upper ? i < j : i > j;
    return stored ? A[i + j * lda] : conjugate(A[j + i * lda], hermitian);
}

__device__ void NAME(symv_row)(int n, bool upper, bool hermitian, scalar<E> alpha, const E *A,
                               int lda, const E *x, int incx, scalar<E> beta, E *y, int incy)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    E sum = {};
    for (int j = 0; j < n; j++)
        sum = sum + NAME(mirrored)(A, lda, upper, hermitian, i, j) * x[at(j, n, incx)];
    E *const out = &y[at(i, n, incy)];
    const E factor = beta.get(), zero = {};
    *out = factor == zero ? alpha.get() * sum : alpha.get() * sum + factor * *out;
}
__global__ void CALL(symv)(int n, bool upper, scalar<E> alpha, const E *A, int lda, const E *x,
                           int incx, scalar<E> beta, E *y, int incy)
{
    NAME(symv_row)(n, upper, false, alpha, A, lda, x, incx, beta, y, incy);
}

// A := alpha x y' + A over the rectangle or one triangle.
template <class Keep>
__device__ void NAME(add_product)(int m, int n, E alpha, const E *x, int incx, const E *y, int incy,
                                  bool conjugated, E *A, long long lda, Keep keep)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n || !keep(i, j)) return;
    const E product = x[at(i, m, incx)] * conjugate(y[at(j, n, incy)], conjugated);
    A[i + j * lda] = alpha * product + A[i + j * lda];
}
__global__ void CALL(syr)(int n, bool upper, scalar<E> alpha, const E *x, int incx, E *A, int lda)
{
    NAME(add_product)(n, n, alpha.get(), x, incx, x, incx, false, A, lda,
                      [=](int i, int j) { return upper ? i <= j : i >= j; });
}

// The triangle of op(A) in x := op(A) x and op(A) x = b.
struct TYPED(triangle) {
    const E *A;
    view_of a;
    bool upper, unit; // of op(A)
    __device__ E get(int i, int j) const
    {
        if (i == j && unit) return from_real<E>(1);
        return conjugate(A[i * a.row + j * a.column], a.conjugated);
    }
};

__global__ void CALL(trmv)(int n, TYPED(triangle) t, const E *from, E *x, int incx)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    E sum = {};
    for (int j = t.upper ? i : 0; j < (t.upper ? n : i + 1); j++) sum = sum + t.get(i, j) * from[j];
    x[at(i, n, incx)] = sum;
}

// One CTA: each unknown, once known, goes to all rows that wait for it.
__global__ void CALL(trsv)(int n, TYPED(triangle) t, E *x, int incx)
{
    for (int step = 0; step < n; step++) {
        const int j = t.upper ? n - 1 - step : step;
        if (threadIdx.x == 0 && !t.unit) x[at(j, n, incx)] = x[at(j, n, incx)] / t.get(j, j);
        __syncthreads();
        const E known = x[at(j, n, incx)];
        for (int i = t.upper ? (int)threadIdx.x : j + 1 + (int)threadIdx.x; i < (t.upper ? j : n);
             i += THREADS)
            x[at(i, n, incx)] = x[at(i, n, incx)] - t.get(i, j) * known;
        __syncthreads();
    }
}

// ---- level 3 ----

__device__ void NAME(gemm_element)(int m, int n, int k, scalar<E> alpha, const E *A, view_of a,
                                   const E *B, view_of b, scalar<E> beta, E *C, long long ldc)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    E sum = {};
    for (int l = 0; l < k; l++)
        sum = sum + conjugate(A[i * a.row + l * a.column], a.conjugated) *
                        conjugate(B[l * b.row + j * b.column], b.conjugated);
    E *const out = &C[i + j * ldc];
    const E factor = beta.get(), zero = {};
    *out = factor == zero ? alpha.get() * sum : alpha.get() * sum + factor * *out;
}
__global__ void CALL(gemm)(int m, int n, int k, scalar<E> alpha, const E *A, view_of a, const E *B,
                           view_of b, scalar<E> beta, E *C, int ldc)
{
    NAME(gemm_element)(m, n, k, alpha, A, a, B, b, beta, C, ldc);
}
__global__ void CALL(gemmBatched)(int m, int n, int k, scalar<E> alpha, const E *const *A,
                                  view_of a, const E *const *B, view_of b, scalar<E> beta,
                                  E *const *C, int ldc)
{
    NAME(gemm_element)(m, n, k, alpha, A[blockIdx.z], a, B[blockIdx.z], b, beta, C[blockIdx.z],
                       ldc);
}
__global__ void CALL(gemmStridedBatched)(int m, int n, int k, scalar<E> alpha, const E *A,
                                         view_of a, long long strideA, const E *B, view_of b,
                                         long long strideB, scalar<E> beta, E *C, int ldc,
                                         long long strideC)
{
    const long long z = blockIdx.z;
    NAME(gemm_element)(m, n, k, alpha, A + z * strideA, a, B + z * strideB, b, beta,
                       C + z * strideC, ldc);
}

__device__ void NAME(symm_element)(bool left, bool upper, bool hermitian, int m, int n,
                                   scalar<E> alpha, const E *A, int lda, const E *B, long long ldb,
                                   scalar<E> beta, E *C, long long ldc)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    E sum = {};
    for (int l = 0; l < (left ? m : n); l++)
        sum = sum + (left ? NAME(mirrored)(A, lda, upper, hermitian, i, l) * B[l + j * ldb]
                          : B[i + l * ldb] * NAME(mirrored)(A, lda, upper, hermitian, l, j));
    E *const out = &C[i + j * ldc];
    const E factor = beta.get(), zero = {};
    *out = factor == zero ? alpha.get() * sum : alpha.get() * sum + factor * *out;
}
__global__ void CALL(symm)(bool left, bool upper, int m, int n, scalar<E> alpha, const E *A,
                           int lda, const E *B, int ldb, scalar<E> beta, E *C, int ldc)
{
    NAME(symm_element)(left, upper, false, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

// One triangle of alpha op(A) op(B)' + beta C; `hermitian`: ' conjugates, and the diagonal is real.
// With `twice`, alpha' op(B) op(A)' is added.
struct TYPED(rank_update) {
    int n, k;
    bool upper, hermitian, twice;
    view_of a, b;
};
__device__ void NAME(rank_element)(TYPED(rank_update) u, E alpha, const E *A, const E *B, E beta,
                                   E *C, long long ldc)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= u.n || j >= u.n || (u.upper ? i > j : i < j)) return;
    E sum = {}, other = {};
    for (int l = 0; l < u.k; l++) {
        const E ai = conjugate(A[i * u.a.row + l * u.a.column], u.a.conjugated);
        const E bj = conjugate(B[j * u.b.row + l * u.b.column], u.b.conjugated);
        sum = sum + ai * conjugate(bj, u.hermitian);
        if (!u.twice) continue;
        const E bi = conjugate(B[i * u.b.row + l * u.b.column], u.b.conjugated);
        const E aj = conjugate(A[j * u.a.row + l * u.a.column], u.a.conjugated);
        other = other + bi * conjugate(aj, u.hermitian);
    }
    sum = alpha * sum;
    if (u.twice) sum = sum + conjugate(alpha, u.hermitian) * other;
    E *const out = &C[i + j * ldc];
    const E zero = {};
    const E result = beta == zero ? sum : sum + beta * *out;
    *out = u.hermitian && i == j ? real_part(result) : result;
}
__global__ void CALL(syrk)(TYPED(rank_update) u, scalar<E> alpha, const E *A, scalar<E> beta, E *C,
                           int ldc)
{
    NAME(rank_element)(u, alpha.get(), A, A, beta.get(), C, ldc);
}
__global__ void CALL(syr2k)(TYPED(rank_update) u, scalar<E> alpha, const E *A, const E *B,
                            scalar<E> beta, E *C, int ldc)
{
    NAME(rank_element)(u, alpha.get(), A, B, beta.get(), C, ldc);
}

// C := alpha op(A) B, or alpha B op(A).
__global__ void CALL(trmm)(bool left, int m, int n, scalar<E> alpha, TYPED(triangle) t, const E *B,
                           long long ldb, E *C, long long ldc)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    E sum = {};
    if (left)
        for (int l = t.upper ? i : 0; l < (t.upper ? m : i + 1); l++)
            sum = sum + t.get(i, l) * B[l + j * ldb];
    else
        for (int l = t.upper ? 0 : j; l < (t.upper ? j + 1 : n); l++)
            sum = sum + B[i + l * ldb] * t.get(l, j);
    C[i + j * ldc] = alpha.get() * sum;
}

// op(A) X = alpha B or X op(A) = alpha B, X in B's place: a thread has a column, or a row, of its
// own.
__global__ void CALL(trsm)(bool left, int m, int n, scalar<E> alpha, TYPED(triangle) t, E *B,
                           long long ldb)
{
    const int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= (left ? n : m)) return;
    E *const b = left ? B + line * ldb : B + line;
    const long long step = left ? 1 : ldb;
    const int count = left ? m : n;
    const bool from_end = left ? t.upper : !t.upper;
    const E factor = alpha.get();
    for (int s = 0; s < count; s++) {
        const int i = from_end ? count - 1 - s : s;
        E sum = factor * b[i * step];
        for (int l = from_end ? i + 1 : 0; l < (from_end ? count : i); l++)
            sum = sum - (left ? t.get(i, l) : t.get(l, i)) * b[l * step];
        b[i * step] = t.unit ? sum : sum / t.get(i, i);
    }
}

__global__ void CALL(geam)(int m, int n, scalar<E> alpha, const E *A, view_of a, scalar<E> beta,
                           const E *B, view_of b, E *C, long long ldc)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    const E p = alpha.get(), q = beta.get(), zero = {};
    E sum = {};
    if (!(p == zero)) sum = p * conjugate(A[i * a.row + j * a.column], a.conjugated);
    if (!(q == zero)) sum = sum + q * conjugate(B[i * b.row + j * b.column], b.conjugated);
    C[i + j * ldc] = sum;
}

__global__ void CALL(dgmm)(bool left, int m, int n, const E *A, long long lda, const E *x, int incx,
                           E *C, long long ldc)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    C[i + j * ldc] = A[i + j * lda] * (left ? x[at(i, m, incx)] : x[at(j, n, incx)]);
}

} // namespace ctascope

// ---- calls ----

#define OWN(pointer) ((const own<TYPE> *)(pointer))
#define OUT(pointer) ((own<TYPE> *)(pointer))
#define GRID2(m, n)                                                                                \
    dim3(blocks_of(m, TILE), blocks_of(n, TILE)), dim3(TILE, TILE), 0, handle->stream
#define GRID1(n) blocks_of(n), THREADS, 0, handle->stream
#define ONE_CTA  1, THREADS, 0, handle->stream
#define TRIANGLE(uplo, trans, diag, A, lda)                                                        \
    ctascope::TYPED(triangle)                                                                      \
    {                                                                                              \
        OWN(A), view(trans, lda), (uplo == CUBLAS_FILL_MODE_UPPER) == (trans == CUBLAS_OP_N),      \
            diag == CUBLAS_DIAG_UNIT                                                               \
    }

extern "C" {

cublasStatus_t CALL(copy)(cublasHandle_t handle, int n, const TYPE *x, int incx, TYPE *y, int incy)
{
    REQUIRE(true);
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(copy)<<<GRID1(n)>>>(n, OWN(x), incx, OUT(y), incy);
    return blas_launched();
}

cublasStatus_t CALL(swap)(cublasHandle_t handle, int n, TYPE *x, int incx, TYPE *y, int incy)
{
    REQUIRE(true);
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(swap)<<<GRID1(n)>>>(n, OUT(x), incx, OUT(y), incy);
    return blas_launched();
}

cublasStatus_t CALL(axpy)(cublasHandle_t handle, int n, const TYPE *alpha, const TYPE *x, int incx,
                          TYPE *y, int incy)
{
    REQUIRE(alpha);
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(axpy)<<<GRID1(n)>>>(n, scalar_of(handle, alpha), OWN(x), incx, OUT(y), incy);
    return blas_launched();
}

cublasStatus_t CALL(scal)(cublasHandle_t handle, int n, const TYPE *alpha, TYPE *x, int incx)
{
    REQUIRE(alpha);
    if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(scal)<<<GRID1(n)>>>(n, scalar_of(handle, alpha), OUT(x), incx);
    return blas_launched();
}

cublasStatus_t SUM(asum)(cublasHandle_t handle, int n, const TYPE *x, int incx, R *result)
{
    REQUIRE(result);
    R *const out = blas_result(handle, result);
    if (!out) return CUBLAS_STATUS_ALLOC_FAILED;
    ctascope::SUM(asum)<<<ONE_CTA>>>(incx > 0 ? n : 0, OWN(x), incx, out);
    return blas_give(handle, result, out);
}

cublasStatus_t SUM(nrm2)(cublasHandle_t handle, int n, const TYPE *x, int incx, R *result)
{
    REQUIRE(result);
    R *const out = blas_result(handle, result);
    if (!out) return CUBLAS_STATUS_ALLOC_FAILED;
    ctascope::SUM(nrm2)<<<ONE_CTA>>>(incx > 0 ? n : 0, OWN(x), incx, out);
    return blas_give(handle, result, out);
}

cublasStatus_t INDEX(amax)(cublasHandle_t handle, int n, const TYPE *x, int incx, int *result)
{
    REQUIRE(result);
    int *const out = blas_result(handle, result);
    if (!out) return CUBLAS_STATUS_ALLOC_FAILED;
    ctascope::INDEX(amax)<<<ONE_CTA>>>(incx > 0 ? n : 0, OWN(x), incx, out);
    return blas_give(handle, result, out);
}

cublasStatus_t INDEX(amin)(cublasHandle_t handle, int n, const TYPE *x, int incx, int *result)
{
    REQUIRE(result);
    int *const out = blas_result(handle, result);
    if (!out) return CUBLAS_STATUS_ALLOC_FAILED;
    ctascope::INDEX(amin)<<<ONE_CTA>>>(incx > 0 ? n : 0, OWN(x), incx, out);
    return blas_give(handle, result, out);
}

cublasStatus_t CALL(gemv)(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                          const TYPE *alpha, const TYPE *A, int lda, const TYPE *x, int incx,
                          const TYPE *beta, TYPE *y, int incy)
{
    REQUIRE(m >= 0 && n >= 0 && lda >= (m > 1 ? m : 1) && incx && incy && alpha && beta &&
            is_operation(trans));
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    const bool plain = trans == CUBLAS_OP_N;
    const int rows = plain ? m : n, inner = plain ? n : m;
    ctascope::CALL(gemv)<<<GRID1(rows)>>>(rows, inner, scalar_of(handle, alpha), OWN(A),
                                          view(trans, lda), OWN(x), incx, scalar_of(handle, beta),
                                          OUT(y), incy);
    return blas_launched();
}

cublasStatus_t CALL(symv)(cublasHandle_t handle, cublasFillMode_t uplo, int n, const TYPE *alpha,
                          const TYPE *A, int lda, const TYPE *x, int incx, const TYPE *beta,
                          TYPE *y, int incy)
{
    REQUIRE(n >= 0 && lda >= (n > 1 ? n : 1) && incx && incy && alpha && beta);
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(symv)<<<GRID1(n)>>>(n, uplo == CUBLAS_FILL_MODE_UPPER, scalar_of(handle, alpha),
                                       OWN(A), lda, OWN(x), incx, scalar_of(handle, beta), OUT(y),
                                       incy);
    return blas_launched();
}

cublasStatus_t CALL(syr)(cublasHandle_t handle, cublasFillMode_t uplo, int n, const TYPE *alpha,
                         const TYPE *x, int incx, TYPE *A, int lda)
{
    REQUIRE(n >= 0 && lda >= (n > 1 ? n : 1) && incx && alpha);
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(syr)<<<GRID2(n, n)>>>(n, uplo == CUBLAS_FILL_MODE_UPPER,
                                         scalar_of(handle, alpha), OWN(x), incx, OUT(A), lda);
    return blas_launched();
}

cublasStatus_t CALL(trmv)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                          cublasDiagType_t diag, int n, const TYPE *A, int lda, TYPE *x, int incx)
{
    REQUIRE(n >= 0 && lda >= (n > 1 ? n : 1) && incx && is_operation(trans));
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    own<TYPE> *const copy = (own<TYPE> *)blas_scratch(handle, n * sizeof *copy);
    if (!copy) return CUBLAS_STATUS_ALLOC_FAILED;
    ctascope::CALL(copy)<<<GRID1(n)>>>(n, OWN(x), incx, copy, 1);
    ctascope::CALL(trmv)<<<GRID1(n)>>>(n, TRIANGLE(uplo, trans, diag, A, lda), copy, OUT(x), incx);
    return blas_launched();
}

cublasStatus_t CALL(trsv)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                          cublasDiagType_t diag, int n, const TYPE *A, int lda, TYPE *x, int incx)
{
    REQUIRE(n >= 0 && lda >= (n > 1 ? n : 1) && incx && is_operation(trans));
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(trsv)<<<ONE_CTA>>>(n, TRIANGLE(uplo, trans, diag, A, lda), OUT(x), incx);
    return blas_launched();
}

static bool TYPED(gemm_is_valid)(cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                                 int k, int lda, int ldb, int ldc)
{
    const int rows_a = transa == CUBLAS_OP_N ? m : k, rows_b = transb == CUBLAS_OP_N ? k : n;
    return m >= 0 && n >= 0 && k >= 0 && is_operation(transa) && is_operation(transb) &&
           lda >= (rows_a > 1 ? rows_a : 1) && ldb >= (rows_b > 1 ? rows_b : 1) &&
           ldc >= (m > 1 ? m : 1);
}

cublasStatus_t CALL(gemm)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                          int m, int n, int k, const TYPE *alpha, const TYPE *A, int lda,
                          const TYPE *B, int ldb, const TYPE *beta, TYPE *C, int ldc)
{
    REQUIRE(alpha && beta && TYPED(gemm_is_valid)(transa, transb, m, n, k, lda, ldb, ldc));
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(gemm)<<<GRID2(m, n)>>>(m, n, k, scalar_of(handle, alpha), OWN(A),
                                          view(transa, lda), OWN(B), view(transb, ldb),
                                          scalar_of(handle, beta), OUT(C), ldc);
    return blas_launched();
}

cublasStatus_t CALL(gemmBatched)(cublasHandle_t handle, cublasOperation_t transa,
                                 cublasOperation_t transb, int m, int n, int k, const TYPE *alpha,
                                 const TYPE *const A[], int lda, const TYPE *const B[], int ldb,
                                 const TYPE *beta, TYPE *const C[], int ldc, int count)
{
    REQUIRE(alpha && beta && count >= 0 &&
            TYPED(gemm_is_valid)(transa, transb, m, n, k, lda, ldb, ldc));
    if (m == 0 || n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
    const dim3 grid(blocks_of(m, TILE), blocks_of(n, TILE), (unsigned)count);
    ctascope::CALL(gemmBatched)<<<grid, dim3(TILE, TILE), 0, handle->stream>>>(
        m, n, k, scalar_of(handle, alpha), (const own<TYPE> *const *)A, view(transa, lda),
        (const own<TYPE> *const *)B, view(transb, ldb), scalar_of(handle, beta),
        (own<TYPE> *const *)C, ldc);
    return blas_launched();
}

cublasStatus_t CALL(gemmStridedBatched)(cublasHandle_t handle, cublasOperation_t transa,
                                        cublasOperation_t transb, int m, int n, int k,
                                        const TYPE *alpha, const TYPE *A, int lda,
                                        long long int strideA, const TYPE *B, int ldb,
                                        long long int strideB, const TYPE *beta, TYPE *C, int ldc,
                                        long long int strideC, int count)
{
    REQUIRE(alpha && beta && count >= 0 &&
            TYPED(gemm_is_valid)(transa, transb, m, n, k, lda, ldb, ldc));
    if (m == 0 || n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
    const dim3 grid(blocks_of(m, TILE), blocks_of(n, TILE), (unsigned)count);
    ctascope::CALL(gemmStridedBatched)<<<grid, dim3(TILE, TILE), 0, handle->stream>>>(
        m, n, k, scalar_of(handle, alpha), OWN(A), view(transa, lda), strideA, OWN(B),
        view(transb, ldb), strideB, scalar_of(handle, beta), OUT(C), ldc, strideC);
    return blas_launched();
}

cublasStatus_t CALL(symm)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                          int m, int n, const TYPE *alpha, const TYPE *A, int lda, const TYPE *B,
                          int ldb, const TYPE *beta, TYPE *C, int ldc)
{
    REQUIRE(m >= 0 && n >= 0 && alpha && beta);
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(symm)<<<GRID2(m, n)>>>(side == CUBLAS_SIDE_LEFT, uplo == CUBLAS_FILL_MODE_UPPER,
                                          m, n, scalar_of(handle, alpha), OWN(A), lda, OWN(B), ldb,
                                          scalar_of(handle, beta), OUT(C), ldc);
    return blas_launched();
}

cublasStatus_t CALL(syrk)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                          int n, int k, const TYPE *alpha, const TYPE *A, int lda, const TYPE *beta,
                          TYPE *C, int ldc)
{
    REQUIRE(n >= 0 && k >= 0 && alpha && beta && is_operation(trans));
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    const ctascope::TYPED(rank_update) u = {
        n, k, uplo == CUBLAS_FILL_MODE_UPPER, false, false, view(trans, lda), view(trans, lda)};
    ctascope::CALL(syrk)<<<GRID2(n, n)>>>(u, scalar_of(handle, alpha), OWN(A),
                                          scalar_of(handle, beta), OUT(C), ldc);
    return blas_launched();
}

cublasStatus_t CALL(syr2k)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                           int n, int k, const TYPE *alpha, const TYPE *A, int lda, const TYPE *B,
                           int ldb, const TYPE *beta, TYPE *C, int ldc)
{
    REQUIRE(n >= 0 && k >= 0 && alpha && beta && is_operation(trans));
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    const ctascope::TYPED(rank_update)
        u = {n, k, uplo == CUBLAS_FILL_MODE_UPPER, false, true, view(trans, lda), view(trans, ldb)};
    ctascope::CALL(syr2k)<<<GRID2(n, n)>>>(u, scalar_of(handle, alpha), OWN(A), OWN(B),
                                           scalar_of(handle, beta), OUT(C), ldc);
    return blas_launched();
}

cublasStatus_t CALL(trmm)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                          cublasOperation_t trans, cublasDiagType_t diag, int m, int n,
                          const TYPE *alpha, const TYPE *A, int lda, const TYPE *B, int ldb,
                          TYPE *C, int ldc)
{
    REQUIRE(m >= 0 && n >= 0 && alpha && is_operation(trans));
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    const own<TYPE> *from = OWN(B);
    int from_ld = ldb;
    if (B == C) { // in place: from a copy
        own<TYPE> *const copy = (own<TYPE> *)blas_scratch(handle, (size_t)m * n * sizeof *copy);
        if (!copy) return CUBLAS_STATUS_ALLOC_FAILED;
        ctascope::CALL(geam)<<<GRID2(m, n)>>>(m, n, constant(from_real<own<TYPE>>(1)), OWN(B),
                                              view(CUBLAS_OP_N, ldb), constant(own<TYPE>{}), OWN(B),
                                              view(CUBLAS_OP_N, ldb), copy, m);
        from = copy;
        from_ld = m;
    }
    ctascope::CALL(trmm)<<<GRID2(m, n)>>>(side == CUBLAS_SIDE_LEFT, m, n, scalar_of(handle, alpha),
                                          TRIANGLE(uplo, trans, diag, A, lda), from, from_ld,
                                          OUT(C), ldc);
    return blas_launched();
}

cublasStatus_t CALL(trsm)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                          cublasOperation_t trans, cublasDiagType_t diag, int m, int n,
                          const TYPE *alpha, const TYPE *A, int lda, TYPE *B, int ldb)
{
    REQUIRE(m >= 0 && n >= 0 && alpha && is_operation(trans));
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    const bool left = side == CUBLAS_SIDE_LEFT;
    ctascope::CALL(trsm)<<<GRID1(left ? n : m)>>>(left, m, n, scalar_of(handle, alpha),
                                                  TRIANGLE(uplo, trans, diag, A, lda), OUT(B), ldb);
    return blas_launched();
}

cublasStatus_t CALL(geam)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                          int m, int n, const TYPE *alpha, const TYPE *A, int lda, const TYPE *beta,
                          const TYPE *B, int ldb, TYPE *C, int ldc)
{
    REQUIRE(m >= 0 && n >= 0 && alpha && beta && is_operation(transa) && is_operation(transb));
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(geam)<<<GRID2(m, n)>>>(m, n, scalar_of(handle, alpha), OWN(A), view(transa, lda),
                                          scalar_of(handle, beta), OWN(B), view(transb, ldb),
                                          OUT(C), ldc);
    return blas_launched();
}

cublasStatus_t CALL(dgmm)(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const TYPE *A,
                          int lda, const TYPE *x, int incx, TYPE *C, int ldc)
{
    REQUIRE(m >= 0 && n >= 0);
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    ctascope::CALL(dgmm)<<<GRID2(m, n)>>>(side == CUBLAS_SIDE_LEFT, m, n, OWN(A), lda, OWN(x), incx,
                                          OUT(C), ldc);
    return blas_launched();
}

} // extern "C"

#undef E
#undef R
