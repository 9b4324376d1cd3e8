/* Mathematics in kernels, vectorised or not, against wider formats on the host, within CUDA's
 * documented errors; and __host__ __device__ functions that give the same on both sides. */
#include "check.h"

#define FUNCTIONS(X)                                                                               \
    X(sqrt, sqrtl, 0.001, 1000, 0.5, 0.5)                                                          \
    X(rsqrt, rsqrt_wide, 0.001, 1000, 2, 1)                                                        \
    X(cbrt, cbrtl, -1000, 1000, 1, 1)                                                              \
    X(exp, expl, -80, 80, 2, 1)                                                                    \
    X(exp2, exp2l, -100, 100, 2, 1)                                                                \
    X(log, logl, 0.001, 1000, 1, 1)                                                                \
    X(log2, log2l, 0.001, 1000, 1, 1)                                                              \
    X(log10, log10l, 0.001, 1000, 2, 1)                                                            \
    X(sin, sinl, -100, 100, 2, 2)                                                                  \
    X(cos, cosl, -100, 100, 2, 2)                                                                  \
    X(tan, tanl, -100, 100, 4, 2)                                                                  \
    X(atan, atanl, -100, 100, 2, 2)                                                                \
    X(tanh, tanhl, -5, 5, 2, 1)                                                                    \
    X(erf, erfl, -4, 4, 2, 2)                                                                      \
    X(floor, floorl, -100, 100, 0, 0)                                                              \
    X(ceil, ceill, -100, 100, 0, 0)                                                                \
    X(round, roundl, -100, 100, 0, 0)                                                              \
    X(rint, rintl, -100, 100, 0, 0)                                                                \
    X(trunc, truncl, -100, 100, 0, 0)                                                              \
    X(fabs, fabsl, -100, 100, 0, 0)                                                                \
    X(lgamma, lgammal, 3, 100, 6, 4)

static long double rsqrt_wide(long double x)
{
    return 1 / sqrtl(x);
}

enum { N = 4096 };

static double ulps(long double got, long double want, int precision)
{
    if (got == want) return 0;
    if (!(fabsl(want) < INFINITY) || !(fabsl(got) < INFINITY)) return INFINITY;
    int exponent;
    frexpl(want, &exponent);
    return (double)(fabsl(got - want) / ldexpl(1, exponent - precision));
}

#define X(name, wide, low, high, single_bound, double_bound)                                       \
    template <class T> __global__ void kernel_##name(T *out, const T *in)                          \
    {                                                                                              \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                       \
        out[i] = name(in[i]);                                                                      \
    }
FUNCTIONS(X)
#undef X

template <class T>
static void test(const char *name, void (*kernel)(T *, const T *), long double (*wide)(long double),
                 double low, double high, double bound)
{
    T *const in = managed<T>(N), *const out = managed<T>(N);
    for (int i = 0; i < N; i++) in[i] = (T)(low + (high - low) * ((i * 2654435761u) * 0x1p-32));
    kernel<<<N / 256, 256>>>(out, in);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) {
        const double error = ulps(out[i], wide(in[i]), sizeof(T) == 4 ? 24 : 53);
        CHECK(error <= bound + 1e-3, "%s(%a) = %a: %g ulp of %g", name, (double)in[i],
              (double)out[i], error, bound);
    }
}

/* One text for both sides: overload resolution must find the same functions. */
template <class T> __host__ __device__ T both(T x)
{
    return rsqrt(x) + max(x, (T)2) * std::min(x, (T)3) + fmin(x, (T)1) + std::abs(-x) +
           (T)std::isnan(x) + std::floor(x) + sinpi(x) + fabs(-x) + (T)max(1, 2) + (T)min(3u, 4);
}
template <class T> __global__ void both_kernel(T *out, T x)
{
    *out = both(x);
}

struct odds {
    float sine, cosine, power, square, remainder, whole, fraction, scaled, hypotenuse, fast;
    double dsine, dcosine;
    int exponent, quotient, nearest, class_bits;
    long rounded;
    float directed[4];
};
__global__ void pointers(odds *o, float x, float y)
{
    sincosf(x, &o->sine, &o->cosine);
    sincospi((double)y, &o->dsine, &o->dcosine);
    o->power = powf(x, y);
    o->square = pow(x, 2);
    o->remainder = remquof(x, y, &o->quotient);
    o->fraction = modff(x, &o->whole);
    o->scaled = frexpf(x, &o->exponent);
    o->hypotenuse = hypotf(x, y);
    o->nearest = __float2int_rn(x);
    o->rounded = lroundf(x);
    o->class_bits = isnan(x) + 2 * isinf(x / 0.0f) + 4 * isfinite(x) + 8 * signbit(-x);
    o->fast = __expf(y) + __sinf(x) + __logf(x) + __fdividef(x, y) + __powf(x, 2);
    o->directed[0] = __fadd_rn(x, 1e-9f);
    o->directed[1] = __fadd_rz(x, 1e-9f);
    o->directed[2] = __fadd_ru(x, 1e-9f);
    o->directed[3] = __fmaf_rd(x, y, -1e-9f);
}

/* A product that an fma would keep: __fmul_rn and __fadd_rn never become one. */
__global__ void contraction(float *out, float a, float b, float c)
{
    out[0] = __fadd_rn(__fmul_rn(a, b), c);
    out[1] = __fmaf_rn(a, b, c);
}

int main()
{
#define X(name, wide, low, high, single_bound, double_bound)                                       \
    test<float>(#name "f", kernel_##name<float>, wide, low, high, single_bound);                   \
    test<double>(#name, kernel_##name<double>, wide, low, high, double_bound);
    FUNCTIONS(X)
#undef X
    float *const single = managed<float>(2);
    double *const wide = managed<double>(1);
    both_kernel<<<1, 1>>>(single, 1.75f);
    both_kernel<<<1, 1>>>(wide, 1.75);
    CUDA(cudaDeviceSynchronize());
    CHECK(ulps(*single, both(1.75), 24) < 4, "%a %a", *single, both(1.75f));
    CHECK(ulps(*wide, both((double)1.75), 53) < 4, "%a %a", *wide, both(1.75));

    odds *const o = managed<odds>(1);
    pointers<<<1, 1>>>(o, 10.7f, 3.25f);
    CUDA(cudaDeviceSynchronize());
    CHECK(o->sine == sinf(10.7f) && o->cosine == cosf(10.7f), "%a %a", o->sine, o->cosine);
    CHECK(fabs(o->dsine + sqrt(0.5)) < 1e-15 && fabs(o->dcosine + sqrt(0.5)) < 1e-15, "%g %g",
          o->dsine, o->dcosine);
    CHECK(ulps(o->power, powl(10.7f, 3.25L), 24) < 4 && o->square == 10.7f * 10.7f, "%g", o->power);
    int quotient, exponent;
    CHECK(o->remainder == remquof(10.7f, 3.25f, &quotient) && o->quotient == quotient, "%g",
          o->remainder);
    float whole;
    CHECK(o->fraction == modff(10.7f, &whole) && o->whole == whole, "%g", o->fraction);
    CHECK(o->scaled == frexpf(10.7f, &exponent) && o->exponent == exponent, "%g", o->scaled);
    CHECK(ulps(o->hypotenuse, hypotl(10.7f, 3.25L), 24) < 3, "%g", o->hypotenuse);
    CHECK(o->nearest == 11 && o->rounded == 11 && o->class_bits == 14, "%d %ld %d", o->nearest,
          o->rounded, o->class_bits);
    CHECK(fabsf(o->fast -
                (expf(3.25f) + sinf(10.7f) + logf(10.7f) + 10.7f / 3.25f + 10.7f * 10.7f)) < 1e-4f,
          "%g", o->fast);
    CHECK(o->directed[0] == 10.7f && o->directed[1] == 10.7f &&
              o->directed[2] == nextafterf(10.7f, 100) && o->directed[3] <= 10.7 * 3.25 &&
              o->directed[3] > 34.7,
          "%a %a %a %a", o->directed[0], o->directed[1], o->directed[2], o->directed[3]);
    const float a = 1 + 0x1p-12f, c = -(1 + 0x1p-11f);
    contraction<<<1, 1>>>(single, a, a, c);
    CUDA(cudaDeviceSynchronize());
    CHECK(single[0] == 0 && single[1] == 0x1p-24f, "%a %a", single[0], single[1]);
    return finish();
}
