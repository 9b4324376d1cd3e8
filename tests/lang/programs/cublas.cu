// options: -lcublas
// cuBLAS against sums of doubles: all four types, transposed, conjugated, triangles, strides that
// count down, scalars on the device. What is not asked for stays as it is.
#include <cublas_v2.h>
#include <complex>
#include <vector>

#include "check.h"

typedef std::complex<double> number;
static unsigned long long state = 88172645463325252ull;
static unsigned next()
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 32);
}
static int below(int n)
{
    return (int)(next() % (unsigned)n);
}

// Between a type's values and numbers.
template <class T> struct kind;
template <> struct kind<float> {
    static constexpr double epsilon = 1.2e-7;
    static constexpr bool is_complex = false;
    static number get(float x) { return x; }
    static float make(double re, double) { return (float)re; }
};
template <> struct kind<double> {
    static constexpr double epsilon = 2.3e-16;
    static constexpr bool is_complex = false;
    static number get(double x) { return x; }
    static double make(double re, double) { return re; }
};
template <> struct kind<cuComplex> {
    static constexpr double epsilon = 1.2e-7;
    static constexpr bool is_complex = true;
    static number get(cuComplex x) { return {x.x, x.y}; }
    static cuComplex make(double re, double im) { return make_cuComplex((float)re, (float)im); }
};
template <> struct kind<cuDoubleComplex> {
    static constexpr double epsilon = 2.3e-16;
    static constexpr bool is_complex = true;
    static number get(cuDoubleComplex x) { return {x.x, x.y}; }
    static cuDoubleComplex make(double re, double im) { return make_cuDoubleComplex(re, im); }
};

template <class T> static T any()
{
    return kind<T>::make((below(2001) - 1000) / 1000.0, (below(2001) - 1000) / 1000.0);
}

// An array on host and device.
template <class T> struct array {
    std::vector<T> host;
    T *device = nullptr;
    explicit array(size_t count) : host(count)
    {
        for (T &x : host) x = any<T>();
        CUDA(cudaMalloc(&device, count * sizeof(T)));
        give();
    }
    ~array() { cudaFree(device); }
    void give()
    {
        CUDA(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    void take()
    {
        CUDA(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
    }
    number operator[](long long i) const { return kind<T>::get(host[i]); }
};

#define BLAS(call)                                                                                 \
    do {                                                                                           \
        const cublasStatus_t status_ = call;                                                       \
        if (status_ != CUBLAS_STATUS_SUCCESS) {                                                    \
            printf("%s: %s\n", #call, cublasGetStatusName(status_));                               \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

static cublasHandle_t handle;
static const cublasOperation_t operations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

static number turned(number x, bool conjugated)
{
    return conjugated ? std::conj(x) : x;
}
template <class T>
static number element(const array<T> &a, int ld, cublasOperation_t op, int i, int j)
{
    return op == CUBLAS_OP_N ? a[i + (long long)j * ld]
                             : turned(a[j + (long long)i * ld], op == CUBLAS_OP_C);
}
// Of a triangle: zero outside, one on the diagonal of a unit one.
template <class T>
static number triangle(const array<T> &a, int ld, bool upper, bool unit, cublasOperation_t op,
                       int i, int j)
{
    if (op != CUBLAS_OP_N)
        return turned(triangle(a, ld, upper, unit, CUBLAS_OP_N, j, i), op == CUBLAS_OP_C);
    if (i == j) return unit ? 1 : a[i + (long long)j * ld];
    return (upper ? i < j : i > j) ? a[i + (long long)j * ld] : 0;
}
template <class T>
static number mirrored(const array<T> &a, int ld, bool upper, bool hermitian, int i, int j)
{
    if (i == j) return hermitian ? a[i + (long long)j * ld].real() : a[i + (long long)j * ld];
    return (upper ? i < j : i > j) ? a[i + (long long)j * ld]
                                   : turned(a[j + (long long)i * ld], hermitian);
}
static long long place(int i, int n, int increment)
{
    return increment > 0 ? (long long)i * increment : (long long)(i - n + 1) * increment;
}

// `expected` has the whole array, also what no call may touch.
template <class T>
static void compare(array<T> &got, const std::vector<number> &expected, double terms,
                    const char *what)
{
    got.take();
    for (size_t i = 0; i < expected.size(); i++) {
        const double off = std::abs(got[i] - expected[i]);
        CHECK(off <= 8 * (terms + 4) * kind<T>::epsilon * (1 + std::abs(expected[i])),
              "%s: element %zu is off by %g", what, i, off);
    }
}
template <class T> static std::vector<number> numbers(const array<T> &a)
{
    std::vector<number> all(a.host.size());
    for (size_t i = 0; i < all.size(); i++) all[i] = a[i];
    return all;
}

// alpha and beta on the host, or on the device.
template <class T> struct factors {
    T alpha, beta;
    array<T> there{2};
    const T *a, *b;
    factors()
    {
        alpha = any<T>();
        beta = below(3) ? any<T>() : kind<T>::make(0, 0);
        const bool on_device = below(3) == 0;
        there.host = {alpha, beta};
        there.give();
        a = on_device ? there.device : &alpha;
        b = on_device ? there.device + 1 : &beta;
        BLAS(cublasSetPointerMode(handle, on_device ? CUBLAS_POINTER_MODE_DEVICE
                                                    : CUBLAS_POINTER_MODE_HOST));
    }
    ~factors() { cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST); }
    number alpha_value() const { return kind<T>::get(alpha); }
    number beta_value() const { return kind<T>::get(beta); }
};

template <class T> struct blas;
#define FUNCTIONS(T, L)                                                                            \
    template <> struct blas<T> {                                                                   \
        static constexpr auto axpy = cublas##L##axpy;                                              \
        static constexpr auto scal = cublas##L##scal;                                              \
        static constexpr auto swap = cublas##L##swap;                                              \
        static constexpr auto copy = cublas##L##copy;                                              \
        static constexpr auto gemv = cublas##L##gemv;                                              \
        static constexpr auto trmv = cublas##L##trmv;                                              \
        static constexpr auto trsv = cublas##L##trsv;                                              \
        static constexpr auto symv = cublas##L##symv;                                              \
        static constexpr auto syr = cublas##L##syr;                                                \
        static constexpr auto gemm = cublas##L##gemm;                                              \
        static constexpr auto batched = cublas##L##gemmBatched;                                    \
        static constexpr auto strided = cublas##L##gemmStridedBatched;                             \
        static constexpr auto symm = cublas##L##symm;                                              \
        static constexpr auto syrk = cublas##L##syrk;                                              \
        static constexpr auto syr2k = cublas##L##syr2k;                                            \
        static constexpr auto trmm = cublas##L##trmm;                                              \
        static constexpr auto trsm = cublas##L##trsm;                                              \
        static constexpr auto geam = cublas##L##geam;                                              \
        static constexpr auto dgmm = cublas##L##dgmm;                                              \
    };
FUNCTIONS(float, S)
FUNCTIONS(double, D)
FUNCTIONS(cuComplex, C)
FUNCTIONS(cuDoubleComplex, Z)

template <class T> static void vectors()
{
    const int n = 1 + below(700), incx = below(2) ? 1 + below(3) : -1 - below(3),
              incy = below(2) ? 2 : -1;
    array<T> x((size_t)n * 3), y((size_t)n * 2);
    {
        factors<T> f;
        std::vector<number> expected = numbers(y);
        for (int i = 0; i < n; i++)
            expected[place(i, n, incy)] += f.alpha_value() * x[place(i, n, incx)];
        BLAS(blas<T>::axpy(handle, n, f.a, x.device, incx, y.device, incy));
        compare(y, expected, 1, "axpy");
        expected = numbers(x);
        for (int i = 0; i < n; i++) expected[(long long)i * 2] *= f.alpha_value();
        BLAS(blas<T>::scal(handle, n, f.a, x.device, 2));
        compare(x, expected, 1, "scal");
    }
    std::vector<number> to_y = numbers(y), to_x = numbers(x);
    for (int i = 0; i < n; i++) std::swap(to_y[place(i, n, incy)], to_x[place(i, n, incx)]);
    BLAS(blas<T>::swap(handle, n, x.device, incx, y.device, incy));
    compare(x, to_x, 0, "swap");
    compare(y, to_y, 0, "swap");
    for (int i = 0; i < n; i++) to_y[place(i, n, incy)] = to_x[place(i, n, incx)];
    BLAS(blas<T>::copy(handle, n, x.device, incx, y.device, incy));
    compare(y, to_y, 0, "copy");
}

template <class T> static void matrices_and_vectors()
{
    const int m = 1 + below(60), n = 1 + below(60), lda = m + below(4), incx = below(2) ? 1 : -2,
              incy = 1 + below(2);
    const bool upper = below(2), unit = below(2);
    const cublasFillMode_t uplo = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    const cublasDiagType_t diag = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    for (cublasOperation_t op : operations) {
        array<T> a((size_t)lda * n), x(2 * (size_t)(m + n)), y(2 * (size_t)(m + n));
        factors<T> f;
        const int rows = op == CUBLAS_OP_N ? m : n, inner = op == CUBLAS_OP_N ? n : m;
        std::vector<number> expected = numbers(y);
        for (int i = 0; i < rows; i++) {
            number sum = 0;
            for (int j = 0; j < inner; j++)
                sum += element(a, lda, op, i, j) * x[place(j, inner, incx)];
            number &out = expected[place(i, rows, incy)];
            out = f.alpha_value() * sum + f.beta_value() * out;
        }
        BLAS(blas<T>::gemv(handle, op, m, n, f.a, a.device, lda, x.device, incx, f.b, y.device,
                           incy));
        compare(y, expected, inner, "gemv");
    }
    const int ld = n + 1;
    for (cublasOperation_t op : operations) {
        array<T> a((size_t)ld * n), x(2 * (size_t)n);
        for (int i = 0; i < n; i++) // so that solving is harmless
            a.host[i + (size_t)i * ld] = kind<T>::make(4 + i % 3, 0);
        for (T &e : a.host)
            if (std::abs(kind<T>::get(e)) < 3)
                e = kind<T>::make(kind<T>::get(e).real() / n, kind<T>::get(e).imag() / n);
        a.give();
        const std::vector<number> before = numbers(x);
        std::vector<number> expected = before;
        for (int i = 0; i < n; i++) {
            number sum = 0;
            for (int j = 0; j < n; j++)
                sum += triangle(a, ld, upper, unit, op, i, j) * before[place(j, n, incx)];
            expected[place(i, n, incx)] = sum;
        }
        BLAS(blas<T>::trmv(handle, uplo, op, diag, n, a.device, ld, x.device, incx));
        compare(x, expected, n, "trmv");
        BLAS(blas<T>::trsv(handle, uplo, op, diag, n, a.device, ld, x.device, incx));
        compare(x, before, 8 * n, "trsv");
    }
    array<T> a((size_t)ld * n), x(2 * (size_t)n), y(2 * (size_t)n);
    factors<T> f;
    std::vector<number> expected = numbers(y);
    for (int i = 0; i < n; i++) {
        number sum = 0;
        for (int j = 0; j < n; j++)
            sum += mirrored(a, ld, upper, false, i, j) * x[place(j, n, incx)];
        number &out = expected[place(i, n, incy)];
        out = f.alpha_value() * sum + f.beta_value() * out;
    }
    BLAS(blas<T>::symv(handle, uplo, n, f.a, a.device, ld, x.device, incx, f.b, y.device, incy));
    compare(y, expected, n, "symv");
    expected = numbers(a);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (upper ? i <= j : i >= j)
                expected[i + j * ld] +=
                    f.alpha_value() * x[place(i, n, incx)] * x[place(j, n, incx)];
    BLAS(blas<T>::syr(handle, uplo, n, f.a, x.device, incx, a.device, ld));
    compare(a, expected, 2, "syr");
}

template <class T> static void products()
{
    const int m = 1 + below(40), n = 1 + below(40), k = below(8) ? 1 + below(40) : 0;
    for (cublasOperation_t opa : operations)
        for (cublasOperation_t opb : operations) {
            const int lda = (opa == CUBLAS_OP_N ? m
                             : k                ? k
                                                : 1) +
                            below(3),
                      ldb = (opb == CUBLAS_OP_N ? k ? k : 1 : n) + below(3), ldc = m + below(3),
                      count = 1 + below(3);
            const long long sa = (long long)lda * 43, sb = (long long)ldb * 43,
                            sc = (long long)ldc * n + 5;
            array<T> a(sa * count), b(sb * count), c(sc * count);
            factors<T> f;
            std::vector<number> expected = numbers(c);
            for (int z = 0; z < count; z++)
                for (int j = 0; j < n; j++)
                    for (int i = 0; i < m; i++) {
                        number sum = 0;
                        for (int l = 0; l < k; l++) {
                            const long long ia = opa == CUBLAS_OP_N ? i + (long long)l * lda
                                                                    : l + (long long)i * lda;
                            const long long ib = opb == CUBLAS_OP_N ? l + (long long)j * ldb
                                                                    : j + (long long)l * ldb;
                            sum += turned(a[z * sa + ia], opa == CUBLAS_OP_C) *
                                   turned(b[z * sb + ib], opb == CUBLAS_OP_C);
                        }
                        number &out = expected[z * sc + i + (long long)j * ldc];
                        out = f.alpha_value() * sum + f.beta_value() * out;
                    }
            const std::vector<T> before = c.host;
            BLAS(blas<T>::strided(handle, opa, opb, m, n, k, f.a, a.device, lda, sa, b.device, ldb,
                                  sb, f.b, c.device, ldc, sc, count));
            compare(c, expected, k, "gemmStridedBatched");
            c.host = before;
            c.give();
            T **lists;
            CUDA(cudaMallocManaged(&lists, 3 * count * sizeof *lists));
            for (int z = 0; z < count; z++) {
                lists[z] = a.device + z * sa;
                lists[count + z] = b.device + z * sb;
                lists[2 * count + z] = c.device + z * sc;
            }
            BLAS(blas<T>::batched(handle, opa, opb, m, n, k, f.a, lists, lda, lists + count, ldb,
                                  f.b, lists + 2 * count, ldc, count));
            compare(c, expected, k, "gemmBatched");
            CUDA(cudaFree(lists));
            c.host = before;
            c.give();
            for (int z = 0; z < count; z++)
                BLAS(blas<T>::gemm(handle, opa, opb, m, n, k, f.a, a.device + z * sa, lda,
                                   b.device + z * sb, ldb, f.b, c.device + z * sc, ldc));
            compare(c, expected, k, "gemm");
        }
}

template <class T> static void triangles()
{
    const int m = 1 + below(30), n = 1 + below(30), k = 1 + below(30);
    for (int variant = 0; variant < 24; variant++) {
        const bool left = variant & 1, upper = variant & 2, unit = variant & 4;
        const cublasOperation_t op = operations[variant / 8];
        const cublasSideMode_t side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
        const cublasFillMode_t uplo = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
        const cublasDiagType_t diag = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
        const int size = left ? m : n, lda = size + 2, ldb = m + 1, ldc = m + 3;
        array<T> a((size_t)lda * (size + k)), b((size_t)ldb * n), c((size_t)ldc * n);
        for (T &e : a.host)
            e = kind<T>::make(kind<T>::get(e).real() / size, kind<T>::get(e).imag() / size);
        for (int i = 0; i < size; i++) a.host[i + (size_t)i * lda] = kind<T>::make(3 + i % 2, 0);
        a.give();
        factors<T> f;
        std::vector<number> expected = numbers(c);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                number sum = 0;
                for (int l = 0; l < size; l++)
                    sum += left ? mirrored(a, lda, upper, false, i, l) * b[l + j * ldb]
                                : b[i + l * ldb] * mirrored(a, lda, upper, false, l, j);
                number &out = expected[i + j * ldc];
                out = f.alpha_value() * sum + f.beta_value() * out;
            }
        BLAS(blas<T>::symm(handle, side, uplo, m, n, f.a, a.device, lda, b.device, ldb, f.b,
                           c.device, ldc));
        compare(c, expected, size, "symm");
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                number sum = 0;
                for (int l = 0; l < size; l++)
                    sum += left ? triangle(a, lda, upper, unit, op, i, l) * b[l + j * ldb]
                                : b[i + l * ldb] * triangle(a, lda, upper, unit, op, l, j);
                expected[i + j * ldc] = f.alpha_value() * sum;
            }
        BLAS(blas<T>::trmm(handle, side, uplo, op, diag, m, n, f.a, a.device, lda, b.device, ldb,
                           c.device, ldc));
        compare(c, expected, size, "trmm");
        const std::vector<number> before = numbers(b);
        std::vector<number> in_place = before, scaled = before;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                in_place[i + j * ldb] = expected[i + j * ldc];
                scaled[i + j * ldb] *= f.alpha_value() * f.alpha_value();
            }
        BLAS(blas<T>::trmm(handle, side, uplo, op, diag, m, n, f.a, a.device, lda, b.device, ldb,
                           b.device, ldb));
        compare(b, in_place, size, "trmm in place");
        BLAS(blas<T>::trsm(handle, side, uplo, op, diag, m, n, f.a, a.device, lda, b.device, ldb));
        compare(b, scaled, 16 * size, "trsm");
        if (op == CUBLAS_OP_C) continue;
        const int ldr = (op == CUBLAS_OP_N ? n : k) + 1;
        array<T> p((size_t)ldr * (n + k)), q((size_t)ldr * (n + k)), r((size_t)(n + 1) * n);
        const std::vector<number> r_before = numbers(r);
        for (int twice = 0; twice < 2; twice++) {
            expected = numbers(r);
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    if (upper ? i > j : i < j) continue;
                    number sum = 0;
                    for (int l = 0; l < k; l++)
                        sum += twice ? element(p, ldr, op, i, l) * element(q, ldr, op, j, l) +
                                           element(q, ldr, op, i, l) * element(p, ldr, op, j, l)
                                     : element(p, ldr, op, i, l) * element(p, ldr, op, j, l);
                    number &out = expected[i + j * (n + 1)];
                    out = f.alpha_value() * sum + f.beta_value() * out;
                }
            if (twice)
                BLAS(blas<T>::syr2k(handle, uplo, op, n, k, f.a, p.device, ldr, q.device, ldr, f.b,
                                    r.device, n + 1));
            else
                BLAS(blas<T>::syrk(handle, uplo, op, n, k, f.a, p.device, ldr, f.b, r.device,
                                   n + 1));
            compare(r, expected, 2 * k, twice ? "syr2k" : "syrk");
        }
    }
    for (cublasOperation_t opa : operations)
        for (cublasOperation_t opb : operations) {
            const int lda = (opa == CUBLAS_OP_N ? m : n) + 1, ldb = (opb == CUBLAS_OP_N ? m : n),
                      ldc = m + 2;
            array<T> a((size_t)lda * (m + n)), b((size_t)ldb * (m + n)), c((size_t)ldc * n),
                x(2 * (size_t)(m + n));
            factors<T> f;
            std::vector<number> expected = numbers(c);
            for (int j = 0; j < n; j++)
                for (int i = 0; i < m; i++)
                    expected[i + j * ldc] = f.alpha_value() * element(a, lda, opa, i, j) +
                                            f.beta_value() * element(b, ldb, opb, i, j);
            BLAS(blas<T>::geam(handle, opa, opb, m, n, f.a, a.device, lda, f.b, b.device, ldb,
                               c.device, ldc));
            compare(c, expected, 2, "geam");
            if (opa != CUBLAS_OP_N) continue;
            const bool left = opb == CUBLAS_OP_N;
            for (int j = 0; j < n; j++)
                for (int i = 0; i < m; i++)
                    expected[i + j * ldc] =
                        a[i + j * lda] * (left ? x[place(i, m, -2)] : x[place(j, n, -2)]);
            BLAS(blas<T>::dgmm(handle, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, m, n, a.device,
                               lda, x.device, -2, c.device, ldc));
            compare(c, expected, 1, "dgmm");
        }
}

template <class T> static void all_of()
{
    for (int round = 0; round < 3; round++) {
        vectors<T>();
        matrices_and_vectors<T>();
        products<T>();
    }
    triangles<T>();
}

// Sums: results on the host; where the largest and smallest stand first; no overflow on the way.
static void sums()
{
    const int n = 1 + below(2000);
    array<float> x(2 * (size_t)n), y((size_t)n);
    array<cuDoubleComplex> z((size_t)n), w((size_t)n);
    double asum = 0, square = 0, dot = 0;
    int largest = 0, smallest = 0;
    for (int i = 0; i < n; i++) {
        const double v = x[2 * i].real();
        asum += fabs(v), square += v * v, dot += v * y[n - 1 - i].real();
        if (fabs(v) > fabs(x[2 * largest].real())) largest = i;
        if (fabs(v) < fabs(x[2 * smallest].real())) smallest = i;
    }
    float result;
    int index;
    BLAS(cublasSasum(handle, n, x.device, 2, &result));
    CHECK(fabs(result - asum) < 1e-5 * asum, "%g %g", result, asum);
    BLAS(cublasSnrm2(handle, n, x.device, 2, &result));
    CHECK(fabs(result - sqrt(square)) < 1e-5 * sqrt(square), "%g %g", result, sqrt(square));
    BLAS(cublasSdot(handle, n, x.device, 2, y.device, -1, &result));
    CHECK(fabs(result - dot) < 1e-5 * n, "%g %g", result, dot);
    BLAS(cublasIsamax(handle, n, x.device, 2, &index));
    CHECK(index == largest + 1, "%d %d", index, largest + 1);
    BLAS(cublasIsamin(handle, n, x.device, 2, &index));
    CHECK(index == smallest + 1, "%d %d", index, smallest + 1);
    number dotc = 0, dotu = 0;
    double norm = 0;
    for (int i = 0; i < n; i++)
        dotc += std::conj(z[i]) * w[i], dotu += z[i] * w[i], norm += std::norm(z[i]);
    cuDoubleComplex product;
    double length;
    BLAS(cublasZdotc(handle, n, z.device, 1, w.device, 1, &product));
    CHECK(std::abs(kind<cuDoubleComplex>::get(product) - dotc) < 1e-12 * n);
    BLAS(cublasZdotu(handle, n, z.device, 1, w.device, 1, &product));
    CHECK(std::abs(kind<cuDoubleComplex>::get(product) - dotu) < 1e-12 * n);
    BLAS(cublasDznrm2(handle, n, z.device, 1, &length));
    CHECK(fabs(length - sqrt(norm)) < 1e-12 * sqrt(norm));
    for (float &v : x.host) v = 3e38f;
    x.give();
    BLAS(cublasSnrm2(handle, 1, x.device, 1, &result));
    CHECK(result == 3e38f, "%g", result);
    BLAS(cublasSnrm2(handle, 0, x.device, 1, &result));
    CHECK(result == 0, "%g", result);
}

// Hermitian calls keep the diagonal real.
static void hermitian()
{
    const int n = 1 + below(30), k = 1 + below(30), ld = n + 1;
    array<cuDoubleComplex> a((size_t)ld * n), b((size_t)ld * k), x((size_t)n), y((size_t)n);
    const bool upper = below(2);
    const cublasFillMode_t uplo = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    factors<cuDoubleComplex> f;
    std::vector<number> expected = numbers(y);
    for (int i = 0; i < n; i++) {
        number sum = 0;
        for (int j = 0; j < n; j++) sum += mirrored(a, ld, upper, true, i, j) * x[j];
        expected[i] = f.alpha_value() * sum + f.beta_value() * expected[i];
    }
    BLAS(cublasZhemv(handle, uplo, n, f.a, a.device, ld, x.device, 1, f.b, y.device, 1));
    compare(y, expected, n, "hemv");
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
    const double alpha = 0.5, beta = 2;
    expected = numbers(a);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            if (upper ? i > j : i < j) continue;
            number sum = 0;
            for (int l = 0; l < k; l++) sum += b[i + l * ld] * std::conj(b[j + l * ld]);
            number &out = expected[i + j * ld];
            out = alpha * sum + beta * out;
            if (i == j) out = out.real();
        }
    BLAS(cublasZherk(handle, uplo, CUBLAS_OP_N, n, k, &alpha, b.device, ld, &beta, a.device, ld));
    compare(a, expected, k, "herk");
}

// 16 bits in, 32 between, rounded once at the end; integers exactly.
static void mixed()
{
    const int m = 16, n = 8, k = 32; // cuBLAS wants fours of integers
    std::vector<__half> a(m * k), b(k * n), c(m * n, __half(0.0f));
    std::vector<signed char> p(m * k), q(k * n);
    std::vector<int> r(m * n);
    for (auto &v : a) v = __half((float)(below(17) - 8) / 4);
    for (auto &v : b) v = __half((float)(below(17) - 8) / 4);
    for (auto &v : p) v = (signed char)below(256);
    for (auto &v : q) v = (signed char)below(256);
    char *memory;
    CUDA(cudaMallocManaged(&memory, 65536));
    memcpy(memory, a.data(), a.size() * 2);
    memcpy(memory + 8192, b.data(), b.size() * 2);
    const float one = 1, zero = 0;
    BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, memory, CUDA_R_16F, m,
                      memory + 8192, CUDA_R_16F, k, &zero, memory + 16384, CUDA_R_16F, m,
                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    CUDA(cudaDeviceSynchronize());
    memcpy((void *)c.data(), memory + 16384, c.size() * 2);
    const int i_one = 1, i_zero = 0;
    memcpy(memory, p.data(), p.size());
    memcpy(memory + 8192, q.data(), q.size());
    BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &i_one, memory, CUDA_R_8I, m,
                      memory + 8192, CUDA_R_8I, k, &i_zero, memory + 16384, CUDA_R_32I, m,
                      CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
    CUDA(cudaDeviceSynchronize());
    memcpy(r.data(), memory + 16384, r.size() * 4);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            float sum = 0;
            int exact = 0;
            for (int l = 0; l < k; l++)
                sum += (float)a[i + l * m] * (float)b[l + j * k],
                    exact += p[i + l * m] * q[l + j * k];
            CHECK((float)c[i + j * m] == (float)__half(sum), "%d %d", i, j);
            CHECK(r[i + j * m] == exact, "%d %d", i, j);
        }
    CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, memory, CUDA_R_8I, m,
                       memory, CUDA_R_8I, k, &zero, memory, CUDA_R_64F, m, CUBLAS_COMPUTE_32F,
                       CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
    CUDA(cudaFree(memory));
}

int main()
{
    BLAS(cublasCreate(&handle));
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    BLAS(cublasSetStream(handle, stream));
    all_of<float>();
    all_of<double>();
    all_of<cuComplex>();
    all_of<cuDoubleComplex>();
    for (int round = 0; round < 3; round++) sums(), hermitian();
    mixed();
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, nullptr, nullptr, 4, nullptr, 4,
                      nullptr, nullptr, 4) == CUBLAS_STATUS_INVALID_VALUE);
    CHECK(cublasSscal(nullptr, 1, nullptr, nullptr, 1) == CUBLAS_STATUS_NOT_INITIALIZED);
    BLAS(cublasDestroy(handle));
    return finish();
}
