/* The __nv_* functions of mathematics. What LLVM has an intrinsic for is written as a builtin, so
 * that the vectoriser sees it; the rest is the C library's or special.c's.
 *
 * Accuracy: at least that of the CUDA C++ Programming Guide's table. Where the C library promises
 * less, single precision is computed in double, and double in long double (80 bits on x86-64, 128
 * on aarch64). The fast forms (__sinf, ...) are as exact as the plain ones. */
#define _GNU_SOURCE
#include <math.h>

#include "devlib.h"

typedef long double extended;

#define UNARY_(name, in_float, in_double)                                                          \
    CTS_SMALL float __nv_##name##f(float x)                                                        \
    {                                                                                              \
        return in_float;                                                                           \
    }                                                                                              \
    CTS_SMALL double __nv_##name(double x)                                                         \
    {                                                                                              \
        return in_double;                                                                          \
    }
#define BINARY_(name, in_float, in_double)                                                         \
    CTS_SMALL float __nv_##name##f(float x, float y)                                               \
    {                                                                                              \
        return in_float;                                                                           \
    }                                                                                              \
    CTS_SMALL double __nv_##name(double x, double y)                                               \
    {                                                                                              \
        return in_double;                                                                          \
    }

/* Instructions, or LLVM intrinsics. */
UNARY_(fabs, __builtin_fabsf(x), __builtin_fabs(x))
UNARY_(ceil, __builtin_ceilf(x), __builtin_ceil(x))
UNARY_(floor, __builtin_floorf(x), __builtin_floor(x))
UNARY_(trunc, __builtin_truncf(x), __builtin_trunc(x))
UNARY_(round, __builtin_roundf(x), __builtin_round(x))
UNARY_(rint, __builtin_rintf(x), __builtin_rint(x))
UNARY_(nearbyint, __builtin_nearbyintf(x), __builtin_nearbyint(x))
UNARY_(sqrt, __builtin_sqrtf(x), __builtin_sqrt(x))
BINARY_(copysign, __builtin_copysignf(x, y), __builtin_copysign(x, y))
BINARY_(fmax, cts_max_float(x, y), cts_max_double(x, y))
BINARY_(fmin, cts_min_float(x, y), cts_min_double(x, y))
CTS_SMALL float __nv_fmaf(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}
CTS_SMALL double __nv_fma(double x, double y, double z)
{
    return __builtin_fma(x, y, z);
}
CTS_SMALL float __nv_rsqrtf(float x)
{
    return 1.0f / __builtin_sqrtf(x);
}
CTS_SMALL double __nv_rsqrt(double x)
{
    return cts_rsqrt(x);
}
CTS_SMALL float __nv_frsqrt_rn(float x)
{
    return (float)(1.0 / __builtin_sqrt((double)x));
}
/* 0 for NaN, as cvt.sat has it. */
CTS_SMALL float __nv_saturatef(float x)
{
    return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f);
}

/* The C library's, good enough in both precisions. */
UNARY_(exp, __builtin_expf(x), __builtin_exp(x))
UNARY_(exp2, __builtin_exp2f(x), __builtin_exp2(x))
UNARY_(log, __builtin_logf(x), __builtin_log(x))
UNARY_(log2, __builtin_log2f(x), __builtin_log2(x))
UNARY_(sin, __builtin_sinf(x), __builtin_sin(x))
UNARY_(cos, __builtin_cosf(x), __builtin_cos(x))
BINARY_(pow, __builtin_powf(x, y), __builtin_pow(x, y))
UNARY_(tan, (float)tan(x), tan(x))
UNARY_(asin, (float)asin(x), asin(x))
UNARY_(acos, (float)acos(x), acos(x))
UNARY_(atan, (float)atan(x), atan(x))
BINARY_(atan2, (float)atan2(x, y), atan2(x, y))
UNARY_(asinh, (float)asinh(x), asinh(x))
UNARY_(acosh, (float)acosh(x), acosh(x))
UNARY_(atanh, (float)atanh(x), atanh(x))
UNARY_(erf, (float)erf(x), erf(x))
UNARY_(erfc, (float)erfc(x), erfc(x))
UNARY_(expm1, (float)expm1(x), expm1(x))
UNARY_(log1p, (float)log1p(x), log1p(x))
UNARY_(tgamma, (float)tgamma(x), tgamma(x))
UNARY_(j0, (float)j0(x), j0(x))
UNARY_(j1, (float)j1(x), j1(x))
UNARY_(y0, (float)y0(x), y0(x))
UNARY_(y1, (float)y1(x), y1(x))
BINARY_(hypot, (float)hypot(x, y), hypot(x, y))
BINARY_(fmod, fmodf(x, y), fmod(x, y))
BINARY_(remainder, remainderf(x, y), remainder(x, y))
BINARY_(nextafter, nextafterf(x, y), nextafter(x, y))
BINARY_(fdim, fdimf(x, y), fdim(x, y))
UNARY_(logb, logbf(x), logb(x))

/* In more precision than the C library's own. */
UNARY_(log10, (float)log10(x), (double)log10l((extended)x))
UNARY_(exp10, (float)exp10(x), (double)exp10l((extended)x))
UNARY_(sinh, (float)sinh(x), (double)sinhl((extended)x))
UNARY_(cosh, (float)cosh(x), (double)coshl((extended)x))
UNARY_(tanh, (float)tanh(x), (double)tanhl((extended)x))

/* What C lacks. */
UNARY_(cbrt, (float)cbrt(x), cts_cbrt(x))
UNARY_(rcbrt, (float)(1.0 / cbrt(x)), (double)(1.0L / cbrtl((extended)x)))
UNARY_(lgamma, (float)cts_lgamma(x), cts_lgamma(x))
UNARY_(sinpi, (float)cts_sinpi(x), cts_sinpi(x))
UNARY_(cospi, (float)cts_cospi(x), cts_cospi(x))
UNARY_(erfinv, (float)cts_erfinv(x), cts_erfinv(x))
UNARY_(erfcinv, (float)cts_erfcinv(x), cts_erfcinv(x))
UNARY_(erfcx, (float)cts_erfcx(x), cts_erfcx(x))
UNARY_(normcdf, (float)cts_normcdf(x), cts_normcdf(x))
UNARY_(normcdfinv, (float)cts_normcdfinv(x), cts_normcdfinv(x))
UNARY_(cyl_bessel_i0, (float)cts_bessel_i0(x), cts_bessel_i0(x))
UNARY_(cyl_bessel_i1, (float)cts_bessel_i1(x), cts_bessel_i1(x))

CTS_SMALL double __nv_jn(int n, double x)
{
    return jn(n, x);
}
CTS_SMALL float __nv_jnf(int n, float x)
{
    return (float)jn(n, x);
}
CTS_SMALL double __nv_yn(int n, double x)
{
    return yn(n, x);
}
CTS_SMALL float __nv_ynf(int n, float x)
{
    return (float)yn(n, x);
}
CTS_SMALL double __nv_powi(double x, int n)
{
    return __builtin_pow(x, n);
}
CTS_SMALL float __nv_powif(float x, int n)
{
    return (float)__builtin_pow(x, n);
}
CTS_SMALL double __nv_ldexp(double x, int n)
{
    return ldexp(x, n);
}
CTS_SMALL float __nv_ldexpf(float x, int n)
{
    return ldexpf(x, n);
}
CTS_SMALL double __nv_scalbn(double x, int n)
{
    return ldexp(x, n);
}
CTS_SMALL float __nv_scalbnf(float x, int n)
{
    return ldexpf(x, n);
}
CTS_SMALL int __nv_ilogb(double x)
{
    return x != x ? INT32_MIN : x == 0 ? INT32_MIN : ilogb(x);
}
CTS_SMALL int __nv_ilogbf(float x)
{
    return x != x ? INT32_MIN : x == 0 ? INT32_MIN : ilogbf(x);
}
CTS_SMALL double __nv_frexp(double x, int *exponent)
{
    return frexp(x, exponent);
}
CTS_SMALL float __nv_frexpf(float x, int *exponent)
{
    return frexpf(x, exponent);
}
CTS_SMALL double __nv_modf(double x, double *whole)
{
    return modf(x, whole);
}
CTS_SMALL float __nv_modff(float x, float *whole)
{
    return modff(x, whole);
}
CTS_SMALL double __nv_remquo(double x, double y, int *q)
{
    return remquo(x, y, q);
}
CTS_SMALL float __nv_remquof(float x, float y, int *q)
{
    return remquof(x, y, q);
}
CTS_SMALL double __nv_nan(const signed char *tag)
{
    return nan((const char *)tag);
}
CTS_SMALL float __nv_nanf(const signed char *tag)
{
    return nanf((const char *)tag);
}

CTS_SMALL void __nv_sincos(double x, double *sine, double *cosine)
{
    *sine = __builtin_sin(x);
    *cosine = __builtin_cos(x);
}
CTS_SMALL void __nv_sincosf(float x, float *sine, float *cosine)
{
    *sine = __builtin_sinf(x);
    *cosine = __builtin_cosf(x);
}
CTS_SMALL void __nv_sincospi(double x, double *sine, double *cosine)
{
    *sine = cts_sinpi(x);
    *cosine = cts_cospi(x);
}
CTS_SMALL void __nv_sincospif(float x, float *sine, float *cosine)
{
    *sine = (float)cts_sinpi(x);
    *cosine = (float)cts_cospi(x);
}

/* Norms: the wider format's exponents make overflow in between impossible. */
static inline extended square(extended x)
{
    return x * x;
}
CTS_SMALL double __nv_norm3d(double x, double y, double z)
{
    return (double)sqrtl(square(x) + square(y) + square(z));
}
CTS_SMALL double __nv_norm4d(double x, double y, double z, double w)
{
    return (double)sqrtl(square(x) + square(y) + square(z) + square(w));
}
CTS_SMALL double __nv_rnorm3d(double x, double y, double z)
{
    return (double)(1.0L / sqrtl(square(x) + square(y) + square(z)));
}
CTS_SMALL double __nv_rnorm4d(double x, double y, double z, double w)
{
    return (double)(1.0L / sqrtl(square(x) + square(y) + square(z) + square(w)));
}
CTS_SMALL double __nv_rhypot(double x, double y)
{
    if (__builtin_isinf(x) || __builtin_isinf(y)) return 0;
    return (double)(1.0L / sqrtl(square(x) + square(y)));
}
static inline extended sum_of_squares(int n, const double *values)
{
    extended sum = 0;
    for (int i = 0; i < n; i++) sum += square(values[i]);
    return sum;
}
CTS_SMALL double __nv_norm(int n, const double *values)
{
    return (double)sqrtl(sum_of_squares(n, values));
}
CTS_SMALL double __nv_rnorm(int n, const double *values)
{
    return (double)(1.0L / sqrtl(sum_of_squares(n, values)));
}

static inline double squaref(float x)
{
    return (double)x * x;
}
CTS_SMALL float __nv_norm3df(float x, float y, float z)
{
    return (float)__builtin_sqrt(squaref(x) + squaref(y) + squaref(z));
}
CTS_SMALL float __nv_norm4df(float x, float y, float z, float w)
{
    return (float)__builtin_sqrt(squaref(x) + squaref(y) + squaref(z) + squaref(w));
}
CTS_SMALL float __nv_rnorm3df(float x, float y, float z)
{
    return (float)(1.0 / __builtin_sqrt(squaref(x) + squaref(y) + squaref(z)));
}
CTS_SMALL float __nv_rnorm4df(float x, float y, float z, float w)
{
    return (float)(1.0 / __builtin_sqrt(squaref(x) + squaref(y) + squaref(z) + squaref(w)));
}
CTS_SMALL float __nv_rhypotf(float x, float y)
{
    if (__builtin_isinf(x) || __builtin_isinf(y)) return 0;
    return (float)(1.0 / __builtin_sqrt(squaref(x) + squaref(y)));
}
CTS_SMALL float __nv_normf(int n, const float *values)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += squaref(values[i]);
    return (float)__builtin_sqrt(sum);
}
CTS_SMALL float __nv_rnormf(int n, const float *values)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += squaref(values[i]);
    return (float)(1.0 / __builtin_sqrt(sum));
}

/* The fast forms. */
CTS_SMALL float __nv_fast_cosf(float x)
{
    return __builtin_cosf(x);
}
CTS_SMALL float __nv_fast_sinf(float x)
{
    return __builtin_sinf(x);
}
CTS_SMALL float __nv_fast_tanf(float x)
{
    return (float)tan(x);
}
CTS_SMALL float __nv_fast_expf(float x)
{
    return __builtin_expf(x);
}
CTS_SMALL float __nv_fast_exp10f(float x)
{
    return (float)exp10(x);
}
CTS_SMALL float __nv_fast_logf(float x)
{
    return __builtin_logf(x);
}
CTS_SMALL float __nv_fast_log2f(float x)
{
    return __builtin_log2f(x);
}
CTS_SMALL float __nv_fast_log10f(float x)
{
    return (float)log10(x);
}
CTS_SMALL float __nv_fast_powf(float x, float y)
{
    return __builtin_powf(x, y);
}
CTS_SMALL float __nv_fast_fdividef(float x, float y)
{
    return x / y;
}
CTS_SMALL void __nv_fast_sincosf(float x, float *sine, float *cosine)
{
    __nv_sincosf(x, sine, cosine);
}

/* Classes. */
CTS_SMALL int __nv_finitef(float x)
{
    return __builtin_isfinite(x) != 0;
}
CTS_SMALL int __nv_isfinited(double x)
{
    return __builtin_isfinite(x) != 0;
}
CTS_SMALL int __nv_isinff(float x)
{
    return __builtin_isinf(x) != 0;
}
CTS_SMALL int __nv_isinfd(double x)
{
    return __builtin_isinf(x) != 0;
}
CTS_SMALL int __nv_isnanf(float x)
{
    return x != x;
}
CTS_SMALL int __nv_isnand(double x)
{
    return x != x;
}
CTS_SMALL int __nv_signbitf(float x)
{
    return (int)(cts_float_bits(x) >> 31);
}
CTS_SMALL int __nv_signbitd(double x)
{
    return (int)(cts_double_bits(x) >> 63);
}
