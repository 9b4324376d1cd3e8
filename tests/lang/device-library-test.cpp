/* The device library, linked into an ordinary program: rounding directions against the CPU's own,
 * mathematics against wider formats within CUDA's documented errors, SIMD in a word and byte
 * permutation against bytewise models.
 *
 * Error is counted in ulps of the exact result: units in the last place at its size. */
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "../count.h"

static int failures;

static void check(bool good, const char *format, double a, double b, double c, double got,
                  double want)
{
    if (good) return;
    if (failures++ < 40)
        printf("FAILED %s(%a, %a, %a): got %a, want %a\n", format, a, b, c, got, want);
}

static uint64_t random_state = 88172645463325252ull;
static uint64_t next_random()
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* ---- rounding directions ---- */

#define DIRECTIONS(X)                                                                              \
    X(rn, FE_TONEAREST)                                                                            \
    X(rz, FE_TOWARDZERO)                                                                           \
    X(ru, FE_UPWARD)                                                                               \
    X(rd, FE_DOWNWARD)

extern "C" {
#define X(mode, direction)                                                                         \
    double __nv_dadd_##mode(double, double);                                                       \
    double __nv_dsub_##mode(double, double);                                                       \
    double __nv_dmul_##mode(double, double);                                                       \
    double __nv_ddiv_##mode(double, double);                                                       \
    double __nv_dsqrt_##mode(double);                                                              \
    double __nv_drcp_##mode(double);                                                               \
    double __nv_fma_##mode(double, double, double);                                                \
    float __nv_fadd_##mode(float, float);                                                          \
    float __nv_fsub_##mode(float, float);                                                          \
    float __nv_fmul_##mode(float, float);                                                          \
    float __nv_fdiv_##mode(float, float);                                                          \
    float __nv_fsqrt_##mode(float);                                                                \
    float __nv_frcp_##mode(float);                                                                 \
    float __nv_fmaf_##mode(float, float, float);                                                   \
    float __nv_double2float_##mode(double);                                                        \
    float __nv_int2float_##mode(int);                                                              \
    float __nv_uint2float_##mode(unsigned);                                                        \
    float __nv_ll2float_##mode(long long);                                                         \
    float __nv_ull2float_##mode(unsigned long long);                                               \
    double __nv_ll2double_##mode(long long);                                                       \
    double __nv_ull2double_##mode(unsigned long long);                                             \
    int __nv_float2int_##mode(float);                                                              \
    unsigned __nv_float2uint_##mode(float);                                                        \
    long long __nv_float2ll_##mode(float);                                                         \
    unsigned long long __nv_float2ull_##mode(float);                                               \
    int __nv_double2int_##mode(double);                                                            \
    unsigned __nv_double2uint_##mode(double);                                                      \
    long long __nv_double2ll_##mode(double);                                                       \
    unsigned long long __nv_double2ull_##mode(double);
DIRECTIONS(X)
#undef X
}

/* The reference: the same operation under the CPU's rounding mode. The operands go through
 * volatile so that the compiler neither folds nor moves it. */
template <class T, class F> static T in_direction(int direction, F operation)
{
    fesetround(direction);
    volatile T result = operation();
    fesetround(FE_TONEAREST);
    return result;
}

static bool same(double a, double b)
{
    return (a != a && b != b) || memcmp(&a, &b, sizeof a) == 0;
}

/* Half of the operands are ordinary, the rest have extreme exponents or are special. */
static double operand()
{
    static const double special[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     INFINITY,
                                     -INFINITY,
                                     NAN,
                                     0x1p-1074,
                                     -0x1p-1074,
                                     0x1p-1022,
                                     0x1.fffffffffffffp1023,
                                     0x1.fffffffffffffp-1023,
                                     3.0,
                                     0x1p-537};
    const uint64_t kind = next_random() % 8;
    if (kind == 0) return special[next_random() % (sizeof special / sizeof special[0])];
    uint64_t bits = next_random();
    if (kind < 5) bits = (bits & 0x800fffffffffffffull) | (1000 + next_random() % 60) << 52;
    if (kind < 3) bits &= ~0xfffffffffull; /* few bits: exact results and ties */
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static float operand_float()
{
    static const float special[] = {0.0f, -0.0f,     1.0f,      INFINITY,        -INFINITY,
                                    NAN,  0x1p-149f, 0x1p-126f, 0x1.fffffep127f, 0x1.fffffcp-127f};
    const uint64_t kind = next_random() % 8;
    if (kind == 0) return special[next_random() % (sizeof special / sizeof special[0])];
    uint32_t bits = (uint32_t)next_random();
    if (kind < 5) bits = (bits & 0x807fffffu) | (uint32_t)(110 + next_random() % 36) << 23;
    if (kind < 3) bits &= ~0xfffu;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define COMPARE(type, name, expression, a, b, c)                                                   \
    do {                                                                                           \
        const type want = in_direction<type>(direction, [&]() -> type { return expression; });     \
        const type got = name;                                                                     \
        check(same((double)got, (double)want), #name, (double)a, (double)b, (double)c,             \
              (double)got, (double)want);                                                          \
    } while (0)

template <class I, class F> static I saturated(F value, int direction, I of_nan)
{
    if (value != value) return of_nan;
    fesetround(direction);
    const volatile F rounded = rint(value);
    fesetround(FE_TONEAREST);
    const __int128 low = (I)-1 < 0 ? -((__int128)1 << (8 * sizeof(I) - 1)) : 0;
    const __int128 high =
        (I)-1 < 0 ? ((__int128)1 << (8 * sizeof(I) - 1)) - 1 : ((__int128)1 << (8 * sizeof(I))) - 1;
    if (rounded >= 0x1p100) return (I)high;
    if (rounded <= -0x1p100) return (I)low;
    const __int128 whole = (__int128)rounded;
    return (I)(whole < low ? low : whole > high ? high : whole);
}
#define COMPARE_INTEGER(type, name, value, of_nan)                                                 \
    do {                                                                                           \
        const type want = saturated<type>(value, direction, (type)(of_nan)), got = name;           \
        check(want == got, #name, (double)value, 0, 0, (double)got, (double)want);                 \
    } while (0)

static void test_rounding()
{
    for (unsigned round = 0; round < cts_test_count(60000, 300000); round++) {
        const volatile double a = operand(), b = operand(), c = operand();
        const volatile float x = operand_float(), y = operand_float(), z = operand_float();
        const volatile int i = (int)next_random();
        const volatile unsigned u = (unsigned)next_random();
        const volatile long long l = (long long)(next_random() >> next_random() % 64);
        const volatile long long m = -l;
        const volatile unsigned long long q = next_random() >> next_random() % 64;
#define X(mode, fe)                                                                                \
    {                                                                                              \
        const int direction = fe;                                                                  \
        COMPARE(double, __nv_dadd_##mode(a, b), a + b, a, b, 0);                                   \
        COMPARE(double, __nv_dsub_##mode(a, b), a - b, a, b, 0);                                   \
        COMPARE(double, __nv_dmul_##mode(a, b), a *b, a, b, 0);                                    \
        COMPARE(double, __nv_ddiv_##mode(a, b), a / b, a, b, 0);                                   \
        COMPARE(double, __nv_dsqrt_##mode(a), sqrt(a), a, 0, 0);                                   \
        COMPARE(double, __nv_drcp_##mode(a), 1.0 / a, a, 0, 0);                                    \
        COMPARE(double, __nv_fma_##mode(a, b, c), fma(a, b, c), a, b, c);                          \
        COMPARE(float, __nv_fadd_##mode(x, y), x + y, x, y, 0);                                    \
        COMPARE(float, __nv_fsub_##mode(x, y), x - y, x, y, 0);                                    \
        COMPARE(float, __nv_fmul_##mode(x, y), x *y, x, y, 0);                                     \
        COMPARE(float, __nv_fdiv_##mode(x, y), x / y, x, y, 0);                                    \
        COMPARE(float, __nv_fsqrt_##mode(x), sqrtf(x), x, 0, 0);                                   \
        COMPARE(float, __nv_frcp_##mode(x), 1.0f / x, x, 0, 0);                                    \
        COMPARE(float, __nv_fmaf_##mode(x, y, z), fmaf(x, y, z), x, y, z);                         \
        COMPARE(float, __nv_double2float_##mode(a), (float)a, a, 0, 0);                            \
        COMPARE(float, __nv_int2float_##mode(i), (float)i, i, 0, 0);                               \
        COMPARE(float, __nv_uint2float_##mode(u), (float)u, u, 0, 0);                              \
        COMPARE(float, __nv_ll2float_##mode(l), (float)l, l, 0, 0);                                \
        COMPARE(float, __nv_ll2float_##mode(m), (float)m, m, 0, 0);                                \
        COMPARE(double, __nv_ll2double_##mode(l), (double)l, l, 0, 0);                             \
        COMPARE(double, __nv_ll2double_##mode(m), (double)m, m, 0, 0);                             \
        COMPARE(float, __nv_ull2float_##mode(q), (float)(long double)q, q, 0, 0);                  \
        COMPARE(double, __nv_ull2double_##mode(q), (double)(long double)q, q, 0, 0);               \
        COMPARE_INTEGER(int, __nv_float2int_##mode(x), x, 0);                                      \
        COMPARE_INTEGER(unsigned, __nv_float2uint_##mode(x), x, 0);                                \
        COMPARE_INTEGER(long long, __nv_float2ll_##mode(x), x, INT64_MIN);                         \
        COMPARE_INTEGER(unsigned long long, __nv_float2ull_##mode(x), x, 1ull << 63);              \
        COMPARE_INTEGER(int, __nv_double2int_##mode(a), a, INT32_MIN);                             \
        COMPARE_INTEGER(unsigned, __nv_double2uint_##mode(a), a, 1u << 31);                        \
        COMPARE_INTEGER(long long, __nv_double2ll_##mode(a), a, INT64_MIN);                        \
        COMPARE_INTEGER(unsigned long long, __nv_double2ull_##mode(a), a, 1ull << 63);             \
    }
        DIRECTIONS(X)
#undef X
    }
}

/* ---- mathematics ---- */

typedef long double wide;

static double ulps(wide got, wide want, int precision, int min_exponent)
{
    if (want != want || got != got) return want != want && got != got ? 0 : INFINITY;
    if (got == want) return 0;
    if (std::isinf(got) || std::isinf(want)) return INFINITY;
    int exponent;
    frexpl(want, &exponent);
    exponent = exponent - precision < min_exponent ? min_exponent : exponent - precision;
    return (double)(fabsl(got - want) / ldexpl(1, exponent));
}

/* References. */
static const wide pi = 3.14159265358979323846264338327950288L;
static wide sinpi_reference(wide x)
{
    const wide rest = x - 2 * rintl(x / 2);
    const wide folded = fabsl(rest) > 0.5L ? copysignl(1 - fabsl(rest), rest) : rest;
    return sinl(pi * folded);
}
static wide cospi_reference(wide x)
{
    const wide rest = fabsl(x - 2 * rintl(x / 2));
    return fabsl(rest - 0.5L) < 0.25L ? sinl(pi * (0.5L - rest)) : cosl(pi * rest);
}
static wide erfcinv_reference(wide z)
{
    /* Bisection on the wide erfc, which falls from 2 to 0. */
    wide low = -30, high = 120;
    for (int i = 0; i < 200; i++) {
        const wide middle = (low + high) / 2;
        (erfcl(middle) > z ? low : high) = middle;
    }
    return (low + high) / 2;
}
static wide erfinv_reference(wide y)
{
    if (y != 0 && fabsl(y) < 1e-9L) return y * 0.886226925452758013649083741670572591L;
    wide low = -8, high = 8;
    for (int i = 0; i < 200; i++) {
        const wide middle = (low + high) / 2;
        (fabsl(y) < 0.5L ? erfl(middle) < y : erfcl(middle) > 1 - y) ? low = middle : high = middle;
    }
    return (low + high) / 2;
}
static wide normcdf_reference(wide x)
{
    return erfcl(-x * 0.707106781186547524400844362104849039L) / 2;
}
static wide normcdfinv_reference(wide p)
{
    return -1.41421356237309504880168872420969808L * erfcinv_reference(2 * p);
}
static wide erfcx_reference(wide x)
{
    return expl(x * x) * erfcl(x);
}
static wide lgamma_reference(wide x)
{
    int sign;
    return lgammal_r(x, &sign);
}
static wide i0_reference(wide x)
{
    return std::cyl_bessel_il(0, fabsl(x));
}
static wide i1_reference(wide x)
{
    return copysignl(std::cyl_bessel_il(1, fabsl(x)), x);
}
static wide exp2_reference(wide x)
{
    return exp2l(x);
}
static wide exp10_reference(wide x)
{
    return exp10l(x);
}
static wide rsqrt_reference(wide x)
{
    return 1 / sqrtl(x);
}
static wide rcbrt_reference(wide x)
{
    return 1 / cbrtl(x);
}

/* name, reference, range (logarithmic when both ends are positive), errors by CUDA's table for
 * float and double. */
#define FUNCTIONS(X)                                                                               \
    X(rsqrt, rsqrt_reference, 1e-30, 1e30, 2, 1)                                                   \
    X(cbrt, cbrtl, 1e-30, 1e30, 1, 1)                                                              \
    X(rcbrt, rcbrt_reference, 1e-30, 1e30, 1, 1)                                                   \
    X(exp, expl, -80, 80, 2, 1)                                                                    \
    X(exp2, exp2_reference, -120, 120, 2, 1)                                                       \
    X(exp10, exp10_reference, -37, 37, 2, 1)                                                       \
    X(expm1, expm1l, -20, 80, 1, 1)                                                                \
    X(log, logl, 1e-30, 1e30, 1, 1)                                                                \
    X(log2, log2l, 1e-30, 1e30, 1, 1)                                                              \
    X(log10, log10l, 1e-30, 1e30, 2, 1)                                                            \
    X(log1p, log1pl, -0.99, 100, 1, 1)                                                             \
    X(sin, sinl, -1000, 1000, 2, 2)                                                                \
    X(cos, cosl, -1000, 1000, 2, 2)                                                                \
    X(tan, tanl, -1000, 1000, 4, 2)                                                                \
    X(sinpi, sinpi_reference, -100, 100, 1, 2)                                                     \
    X(cospi, cospi_reference, -100, 100, 1, 2)                                                     \
    X(asin, asinl, -1, 1, 2, 2)                                                                    \
    X(acos, acosl, -1, 1, 2, 2)                                                                    \
    X(atan, atanl, -50, 50, 2, 2)                                                                  \
    X(sinh, sinhl, -80, 80, 3, 2)                                                                  \
    X(cosh, coshl, -80, 80, 2, 1)                                                                  \
    X(tanh, tanhl, -10, 10, 2, 1)                                                                  \
    X(asinh, asinhl, -1000, 1000, 3, 3)                                                            \
    X(acosh, acoshl, 1, 1000, 4, 3)                                                                \
    X(atanh, atanhl, -0.999, 0.999, 3, 2)                                                          \
    X(erf, erfl, -6, 6, 2, 2)                                                                      \
    X(erfc, erfcl, -6, 9, 4, 5)                                                                    \
    X(erfinv, erfinv_reference, -0.9999, 0.9999, 2, 5)                                             \
    X(erfcinv, erfcinv_reference, 1e-30, 1.9, 4, 6)                                                \
    X(erfcx, erfcx_reference, -8, 20, 4, 4)                                                        \
    X(normcdf, normcdf_reference, -12, 6, 5, 5)                                                    \
    X(normcdfinv, normcdfinv_reference, 1e-30, 0.999, 5, 8)                                        \
    X(tgamma, tgammal, 0.1, 30, 5, 10)                                                             \
    X(lgamma, lgamma_reference, 3, 1000, 6, 4)                                                     \
    X(cyl_bessel_i0, i0_reference, -60, 60, 6, 6)                                                  \
    X(cyl_bessel_i1, i1_reference, -60, 60, 6, 6)

extern "C" {
#define X(name, reference, low, high, float_ulps, double_ulps)                                     \
    double __nv_##name(double);                                                                    \
    float __nv_##name##f(float);
FUNCTIONS(X)
#undef X
double __nv_pow(double, double);
float __nv_powf(float, float);
double __nv_atan2(double, double);
float __nv_atan2f(float, float);
double __nv_hypot(double, double);
float __nv_hypotf(float, float);
double __nv_rhypot(double, double);
double __nv_fmod(double, double);
double __nv_norm3d(double, double, double);
float __nv_rnorm3df(float, float, float);
float __nv_frsqrt_rn(float);
float __nv_fast_expf(float);
float __nv_fast_sinf(float);
float __nv_saturatef(float);
}

static double sample(double low, double high)
{
    const double u = (double)(next_random() >> 11) * 0x1p-53;
    return low > 0 ? low * pow(high / low, u) : low + (high - low) * u;
}

static void test_function(const char *name, double (*function)(double), float (*single)(float),
                          wide (*reference)(wide), double low, double high, double float_bound,
                          double double_bound)
{
    double worst = 0, worst_single = 0, at = 0, at_single = 0;
    for (unsigned i = 0; i < cts_test_count(5000, 20000); i++) {
        const double x = sample(low, high);
        const double error = ulps(function(x), reference(x), 53, -1074);
        if (error > worst) worst = error, at = x;
        const float s = (float)x;
        const double error_single = ulps(single(s), reference(s), 24, -149);
        if (error_single > worst_single) worst_single = error_single, at_single = s;
    }
    printf("%-14s float %.3f of %.0f ulp at %g, double %.3f of %.0f ulp at %g\n", name,
           worst_single, float_bound, at_single, worst, double_bound, at);
    check(worst <= double_bound, name, at, 0, 0, worst, double_bound);
    check(worst_single <= float_bound, name, at_single, 0, 0, worst_single, float_bound);
}

static void test_mathematics()
{
#define X(name, reference, low, high, float_ulps, double_ulps)                                     \
    test_function(#name, __nv_##name, __nv_##name##f, reference, low, high, float_ulps,            \
                  double_ulps);
    FUNCTIONS(X)
#undef X
    double pow_error = 0, powf_error = 0, rhypot_error = 0, norm_error = 0, rnorm_error = 0;
    for (unsigned i = 0; i < cts_test_count(25000, 100000); i++) {
        const double x = sample(1e-5, 1e5), y = sample(-20, 20), z = sample(1e-3, 1e3);
        pow_error = fmax(pow_error, ulps(__nv_pow(x, y), powl(x, y), 53, -1074));
        const float xf = (float)x, yf = (float)(y / 4), zf = (float)z;
        powf_error = fmax(powf_error, ulps(__nv_powf(xf, yf), powl(xf, yf), 24, -149));
        rhypot_error = fmax(rhypot_error, ulps(__nv_rhypot(x, z), 1 / hypotl(x, z), 53, -1074));
        norm_error =
            fmax(norm_error, ulps(__nv_norm3d(x, y, z),
                                  sqrtl((wide)x * x + (wide)y * y + (wide)z * z), 53, -1074));
        rnorm_error = fmax(
            rnorm_error, ulps(__nv_rnorm3df(xf, yf, zf),
                              1 / sqrtl((wide)xf * xf + (wide)yf * yf + (wide)zf * zf), 24, -149));
    }
    printf("pow %.3f, powf %.3f, rhypot %.3f, norm3d %.3f, rnorm3df %.3f ulp\n", pow_error,
           powf_error, rhypot_error, norm_error, rnorm_error);
    check(pow_error <= 2, "pow", 0, 0, 0, pow_error, 2);
    check(powf_error <= 4, "powf", 0, 0, 0, powf_error, 4);
    check(rhypot_error <= 1, "rhypot", 0, 0, 0, rhypot_error, 1);
    check(norm_error <= 2, "norm3d", 0, 0, 0, norm_error, 2);
    check(rnorm_error <= 2, "rnorm3df", 0, 0, 0, rnorm_error, 2);

    /* Correctly rounded: every mantissa of two binades, which is every case up to scaling; in the
     * gate each thirteenth. */
    for (uint32_t bits = 0x3f800000; bits < 0x40800000; bits += cts_test_count(13, 1)) {
        float x;
        memcpy(&x, &bits, sizeof x);
        const float want = (float)(1.0L / sqrtl(x));
        if (__nv_frsqrt_rn(x) != want) check(false, "frsqrt_rn", x, 0, 0, __nv_frsqrt_rn(x), want);
    }

    /* Ends and special values. */
    struct {
        const char *name;
        double got, want;
    } const edges[] = {
        {"rsqrt(0)", __nv_rsqrt(0), INFINITY},
        {"rsqrt(inf)", __nv_rsqrt(INFINITY), 0},
        {"erfinv(1)", __nv_erfinv(1), INFINITY},
        {"erfinv(-1)", __nv_erfinv(-1), -INFINITY},
        {"erfinv(2)", __nv_erfinv(2), NAN},
        {"erfinv(-0)", __nv_erfinv(-0.0), -0.0},
        {"erfcinv(0)", __nv_erfcinv(0), INFINITY},
        {"erfcinv(2)", __nv_erfcinv(2), -INFINITY},
        {"erfcinv(1)", __nv_erfcinv(1), 0},
        {"erfcx(inf)", __nv_erfcx(INFINITY), 0},
        {"erfcx(-inf)", __nv_erfcx(-INFINITY), INFINITY},
        {"normcdf(-inf)", __nv_normcdf(-INFINITY), 0},
        {"normcdf(inf)", __nv_normcdf(INFINITY), 1},
        {"normcdf(nan)", __nv_normcdf(NAN), NAN},
        {"normcdfinv(0)", __nv_normcdfinv(0), -INFINITY},
        {"normcdfinv(1)", __nv_normcdfinv(1), INFINITY},
        {"sinpi(-3)", __nv_sinpi(-3), -0.0},
        {"sinpi(1e300)", __nv_sinpi(1e300), 0},
        {"cospi(0.5)", __nv_cospi(0.5), 0},
        {"cospi(3)", __nv_cospi(3), -1},
        {"cospi(inf)", __nv_cospi(INFINITY), NAN},
        {"rhypot(inf, nan)", __nv_rhypot(INFINITY, NAN), 0},
        {"i0(-inf)", __nv_cyl_bessel_i0(-INFINITY), INFINITY},
        {"i1(-inf)", __nv_cyl_bessel_i1(-INFINITY), -INFINITY},
        {"saturatef(nan)", __nv_saturatef(NAN), 0},
        {"saturatef(7)", __nv_saturatef(7), 1},
        {"tgamma(-1)", __nv_tgamma(-1), NAN},
        {"lgamma(-1)", __nv_lgamma(-1), INFINITY},
    };
    for (const auto &edge : edges)
        check(same(edge.got, edge.want), edge.name, 0, 0, 0, edge.got, edge.want);
}

/* ---- words of lanes and of bytes ---- */

// clang-format off
#define WORD_FUNCTIONS(X) \
    X(add) X(addss) X(addus) X(sub) X(subss) X(subus) X(avgu) X(haddu) X(absdiffs) X(absdiffu) \
    X(maxs) X(maxu) X(mins) X(minu) X(cmpeq) X(cmpne) X(cmpges) X(cmpgeu) X(cmpgts) X(cmpgtu) \
    X(cmples) X(cmpleu) X(cmplts) X(cmpltu) X(seteq) X(setne) X(setges) X(setgeu) X(setgts) \
    X(setgtu) X(setles) X(setleu) X(setlts) X(setltu)
// clang-format on

extern "C" {
#define X(name)                                                                                    \
    int __nv_v##name##2(int, int);                                                                 \
    int __nv_v##name##4(int, int);
WORD_FUNCTIONS(X)
#undef X
int __nv_vabs2(int), __nv_vabs4(int), __nv_vabsss2(int), __nv_vabsss4(int), __nv_vneg2(int),
    __nv_vneg4(int), __nv_vnegss2(int), __nv_vnegss4(int);
int __nv_vsads2(int, int), __nv_vsads4(int, int), __nv_vsadu2(int, int), __nv_vsadu4(int, int);
unsigned __nv_byte_perm(unsigned, unsigned, unsigned);
uint32_t __cts_nvvm_prmt(uint32_t, uint32_t, uint32_t);
}

/* One lane by the words of CUDA's documentation: a, b signed (s) or unsigned (u) values of `bits`
 * bits, the result before it is cut to them. */
static int lane_model(const std::string &name, int as, int bs, int au, int bu, int bits)
{
    const int low = -(1 << (bits - 1)), high = (1 << (bits - 1)) - 1, top = (1 << bits) - 1;
    const auto clamp = [](int value, int from, int to) {
        return value < from ? from : value > to ? to : value;
    };
    if (name == "add") return au + bu;
    if (name == "addss") return clamp(as + bs, low, high);
    if (name == "addus") return clamp(au + bu, 0, top);
    if (name == "sub") return au - bu;
    if (name == "subss") return clamp(as - bs, low, high);
    if (name == "subus") return clamp(au - bu, 0, top);
    if (name == "avgu") return (au + bu + 1) / 2;
    if (name == "haddu") return (au + bu) / 2;
    if (name == "absdiffs") return abs(as - bs);
    if (name == "absdiffu") return abs(au - bu);
    if (name == "maxs") return as > bs ? as : bs;
    if (name == "maxu") return au > bu ? au : bu;
    if (name == "mins") return as < bs ? as : bs;
    if (name == "minu") return au < bu ? au : bu;
    const std::string relation = name.substr(3);
    const int yes = name.compare(0, 3, "cmp") == 0 ? top : 1;
    if (relation == "eq") return au == bu ? yes : 0;
    if (relation == "ne") return au != bu ? yes : 0;
    if (relation == "ges") return as >= bs ? yes : 0;
    if (relation == "geu") return au >= bu ? yes : 0;
    if (relation == "gts") return as > bs ? yes : 0;
    if (relation == "gtu") return au > bu ? yes : 0;
    if (relation == "les") return as <= bs ? yes : 0;
    if (relation == "leu") return au <= bu ? yes : 0;
    if (relation == "lts") return as < bs ? yes : 0;
    if (relation == "ltu") return au < bu ? yes : 0;
    abort();
}

static uint32_t word_model(uint32_t a, uint32_t b, int bits,
                           const std::function<int(int, int, int, int)> &lane)
{
    uint32_t result = 0;
    for (int shift = 0; shift < 32; shift += bits) {
        const uint32_t mask = (1u << bits) - 1;
        const int au = (int)(a >> shift & mask), bu = (int)(b >> shift & mask);
        const int sign = 1 << (bits - 1);
        result |= ((uint32_t)lane((au ^ sign) - sign, (bu ^ sign) - sign, au, bu) & mask) << shift;
    }
    return result;
}

static uint32_t sum_model(uint32_t a, uint32_t b, int bits, bool is_signed)
{
    uint32_t sum = 0;
    word_model(a, b, bits, [&](int as, int bs, int au, int bu) {
        sum += (uint32_t)(is_signed ? abs(as - bs) : abs(au - bu));
        return 0;
    });
    return sum;
}

static void check_word(const char *name, uint32_t a, uint32_t b, uint32_t got, uint32_t want)
{
    if (got != want && failures++ < 40)
        printf("FAILED %s(%08x, %08x): got %08x, want %08x\n", name, a, b, got, want);
}

static uint32_t random_word()
{
    static const uint32_t edges[] = {0,          0xffffffff, 0x80808080, 0x80008000,
                                     0x7f7f7f7f, 0x7fff7fff, 0x01010101, 0x00ff00ff};
    return next_random() % 4 ? (uint32_t)next_random() : edges[next_random() % 8];
}

static void test_words()
{
    for (int round = 0; round < 20000; round++) {
        const uint32_t a = random_word(), b = round % 16 ? random_word() : a;
        const int x = (int)a, y = (int)b;
        for (int bits = 8; bits <= 16; bits += 8) {
#define X(name)                                                                                    \
    check_word(#name, a, b,                                                                        \
               (uint32_t)(bits == 16 ? __nv_v##name##2(x, y) : __nv_v##name##4(x, y)),             \
               word_model(a, b, bits, [=](int as, int bs, int au, int bu) {                        \
                   return lane_model(#name, as, bs, au, bu, bits);                                 \
               }));
            WORD_FUNCTIONS(X)
#undef X
            const int high = (1 << (bits - 1)) - 1;
            const auto one = [&](const char *name, int got,
                                 const std::function<int(int, int, int, int)> &lane) {
                check_word(name, a, 0, (uint32_t)got, word_model(a, 0, bits, lane));
            };
            one("abs", bits == 16 ? __nv_vabs2(x) : __nv_vabs4(x),
                [](int as, int, int, int) { return abs(as); });
            one("absss", bits == 16 ? __nv_vabsss2(x) : __nv_vabsss4(x),
                [=](int as, int, int, int) { return abs(as) > high ? high : abs(as); });
            one("neg", bits == 16 ? __nv_vneg2(x) : __nv_vneg4(x),
                [](int as, int, int, int) { return -as; });
            one("negss", bits == 16 ? __nv_vnegss2(x) : __nv_vnegss4(x),
                [=](int as, int, int, int) { return -as > high ? high : -as; });
            check_word("sads", a, b, (uint32_t)(bits == 16 ? __nv_vsads2(x, y) : __nv_vsads4(x, y)),
                       sum_model(a, b, bits, true));
            check_word("sadu", a, b, (uint32_t)(bits == 16 ? __nv_vsadu2(x, y) : __nv_vsadu4(x, y)),
                       sum_model(a, b, bits, false));
        }
        const uint32_t selector = (uint32_t)next_random();
        uint8_t bytes[8], want[4], want_sign[4];
        memcpy(bytes, &a, 4);
        memcpy(bytes + 4, &b, 4);
        for (int i = 0; i < 4; i++) {
            const uint8_t byte = bytes[selector >> 4 * i & 7];
            want[i] = byte;
            want_sign[i] = selector >> 4 * i & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
        }
        uint32_t word;
        memcpy(&word, want, 4);
        check_word("byte_perm", a, b, __nv_byte_perm(a, b, selector), word);
        memcpy(&word, want_sign, 4);
        check_word("prmt", a, b, __cts_nvvm_prmt(a, b, selector), word);
    }
}

/* ---- 16-bit floating point ---- */

extern "C" {
uint32_t __cts_nvvm_fma_rn_f16(uint32_t, uint32_t, uint32_t);
uint32_t __cts_nvvm_fma_rn_bf16(uint32_t, uint32_t, uint32_t);
uint32_t __cts_nvvm_f2bf16_rn(float);
uint32_t __cts_nvvm_f2bf16_rz(float);
unsigned short __nv_float2half_rn(float);
float __nv_half2float(unsigned short);
}

/* The value of sign, exponent and mantissa bits, exactly. */
static wide small_value(uint32_t bits, int mantissa_bits, int exponent_bits)
{
    const int exponent = (int)(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const wide fraction = bits & ((1u << mantissa_bits) - 1);
    const wide size =
        exponent == 0 ? ldexpl(fraction, 1 - bias - mantissa_bits)
        : exponent == (1 << exponent_bits) - 1
            ? (fraction == 0 ? INFINITY : NAN)
            : ldexpl(fraction + ldexpl(1, mantissa_bits), exponent - bias - mantissa_bits);
    return bits & 0x8000 ? -size : size;
}

/* The neighbours of `got` must not be nearer to the exact value, and ties must be even. */
static bool is_nearest(uint32_t got, wide exact, int mantissa_bits, int exponent_bits)
{
    const wide value = small_value(got, mantissa_bits, exponent_bits);
    if (exact != exact || value != value) return exact != exact && value != value;
    const uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const wide limit = ldexpl(2 - ldexpl(1, -mantissa_bits - 1), bias);
    if (fabsl(exact) >= limit) return (got & 0x7fff) == infinity && (value < 0) == (exact < 0);
    if ((got & 0x7fff) == infinity) return false;
    const wide error = fabsl(value - exact);
    for (int step = -1; step <= 1; step += 2) {
        if ((got & 0x7fff) == 0 && step < 0) continue;
        const uint32_t other = got + (uint32_t)step;
        if ((other & 0x7fff) == infinity) continue;
        const wide other_error = fabsl(small_value(other, mantissa_bits, exponent_bits) - exact);
        if (other_error < error || (other_error == error && (got & 1))) return false;
    }
    return true;
}

static void test_small_floats()
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const wide want = small_value(bits, 10, 5);
        check(same(__nv_half2float((unsigned short)bits), (double)want), "half2float", bits, 0, 0,
              __nv_half2float((unsigned short)bits), (double)want);
    }
    for (unsigned i = 0; i < cts_test_count(80000, 400000); i++) {
        uint32_t bits = (uint32_t)next_random();
        if (i % 2) bits = (bits & 0x807fffff) | (uint32_t)(100 + next_random() % 45) << 23;
        if (i % 3 == 0) bits &= ~0xfffu; /* ties */
        float x;
        memcpy(&x, &bits, sizeof x);
        check(is_nearest(__nv_float2half_rn(x), x, 10, 5), "float2half_rn", x, 0, 0,
              __nv_float2half_rn(x), 0);
        check(is_nearest(__cts_nvvm_f2bf16_rn(x), x, 7, 8), "f2bf16_rn", x, 0, 0,
              __cts_nvvm_f2bf16_rn(x), 0);
        const uint32_t a = (uint32_t)next_random() & 0xffff, b = (uint32_t)next_random() & 0xffff,
                       c = (uint32_t)next_random() & 0xffff;
        /* Exponents of half fit: products and sums are exact in 64 bits or decided by them. */
        const wide product = small_value(a, 10, 5) * small_value(b, 10, 5);
        const wide sum = product + small_value(c, 10, 5);
        check(is_nearest(__cts_nvvm_fma_rn_f16(a, b, c), sum, 10, 5), "fma_rn_f16", a, b, c,
              __cts_nvvm_fma_rn_f16(a, b, c), (double)sum);
    }
    /* 7 * 37/256 is a tie between 258/256 and 260/256, far above an addend that decides it. */
    const uint32_t seven = 0x40e0, b = 0x3e14, tiny = 0x0080;
    check(small_value(seven, 7, 8) * small_value(b, 7, 8) == 259 / 256.0L, "tie", 0, 0, 0, 0, 0);
    const uint32_t above = __cts_nvvm_fma_rn_bf16(seven, b, tiny);
    const uint32_t below = __cts_nvvm_fma_rn_bf16(seven, b, tiny | 0x8000);
    const uint32_t tied = __cts_nvvm_fma_rn_bf16(seven, b, 0);
    check(above == 0x3f82, "fma_rn_bf16 above", 0, 0, 0, above, 0x3f82);
    check(below == 0x3f81, "fma_rn_bf16 below", 0, 0, 0, below, 0x3f81);
    check(tied == 0x3f82, "fma_rn_bf16 tied", 0, 0, 0, tied, 0x3f82);
}

/* Called for textures and traps; not in this program. */
extern "C" void __cts_dev_trap(void)
{
    abort();
}

int main()
{
    test_rounding();
    test_mathematics();
    test_words();
    test_small_floats();
    if (failures) printf("%d failures\n", failures);
    return failures != 0;
}
