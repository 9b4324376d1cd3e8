/* Functions of mathematics that CUDA has beside C's: overloads for float on the device (the double
 * and f-suffixed ones come with clang's headers), and those of the host. */
#ifndef CTASCOPE_MATH_H
#define CTASCOPE_MATH_H

#include "special.h"

#define CTS_DEVICE_ static __device__ __forceinline__
#define CTS_HOST_   static inline __host__

#define CTS_FLOAT_TO_(type, name)                                                                  \
    CTS_DEVICE_ type name(float x)                                                                 \
    {                                                                                              \
        return name##f(x);                                                                         \
    }
#define CTS_FLOAT_OVERLOAD_(name) CTS_FLOAT_TO_(float, name)
#define CTS_FLOAT_OVERLOAD_2_(name)                                                                \
    CTS_DEVICE_ float name(float x, float y)                                                       \
    {                                                                                              \
        return name##f(x, y);                                                                      \
    }
/* C's, of which clang declares overloads for float and leaves the bodies to CUDA's headers. */
CTS_FLOAT_OVERLOAD_(acosh)
CTS_FLOAT_OVERLOAD_(asinh)
CTS_FLOAT_OVERLOAD_(atanh)
CTS_FLOAT_OVERLOAD_(cbrt)
CTS_FLOAT_OVERLOAD_(erf)
CTS_FLOAT_OVERLOAD_(erfc)
CTS_FLOAT_OVERLOAD_(exp2)
CTS_FLOAT_OVERLOAD_(expm1)
CTS_FLOAT_OVERLOAD_(lgamma)
CTS_FLOAT_OVERLOAD_(log1p)
CTS_FLOAT_OVERLOAD_(log2)
CTS_FLOAT_OVERLOAD_(logb)
CTS_FLOAT_OVERLOAD_(nearbyint)
CTS_FLOAT_OVERLOAD_(rint)
CTS_FLOAT_OVERLOAD_(round)
CTS_FLOAT_OVERLOAD_(tgamma)
CTS_FLOAT_OVERLOAD_(trunc)
CTS_FLOAT_TO_(int, ilogb)
CTS_FLOAT_TO_(long, lrint)
CTS_FLOAT_TO_(long, lround)
CTS_FLOAT_TO_(long long, llrint)
CTS_FLOAT_TO_(long long, llround)
CTS_FLOAT_OVERLOAD_2_(copysign)
CTS_FLOAT_OVERLOAD_2_(fdim)
CTS_DEVICE_ float fma(float x, float y, float z)
{
    return fmaf(x, y, z);
}
CTS_FLOAT_OVERLOAD_2_(fmax)
CTS_FLOAT_OVERLOAD_2_(fmin)
CTS_FLOAT_OVERLOAD_2_(hypot)
CTS_FLOAT_OVERLOAD_2_(nextafter)
CTS_FLOAT_OVERLOAD_2_(remainder)
CTS_DEVICE_ float remquo(float x, float y, int *quotient)
{
    return remquof(x, y, quotient);
}
CTS_DEVICE_ float scalbln(float x, long n)
{
    return scalblnf(x, n);
}
CTS_DEVICE_ float scalbn(float x, int n)
{
    return scalbnf(x, n);
}
CTS_DEVICE_ double nan(const char *tag)
{
    return __nv_nan((const signed char *)tag);
}
CTS_DEVICE_ float nanf(const char *tag)
{
    return __nv_nanf((const signed char *)tag);
}

/* CUDA's own. */
CTS_FLOAT_OVERLOAD_(rsqrt)
CTS_FLOAT_OVERLOAD_(rcbrt)
CTS_FLOAT_OVERLOAD_(sinpi)
CTS_FLOAT_OVERLOAD_(cospi)
CTS_FLOAT_OVERLOAD_(exp10)
CTS_FLOAT_OVERLOAD_(erfinv)
CTS_FLOAT_OVERLOAD_(erfcinv)
CTS_FLOAT_OVERLOAD_(erfcx)
CTS_FLOAT_OVERLOAD_(normcdf)
CTS_FLOAT_OVERLOAD_(normcdfinv)
CTS_FLOAT_OVERLOAD_(j0)
CTS_FLOAT_OVERLOAD_(j1)
CTS_FLOAT_OVERLOAD_(y0)
CTS_FLOAT_OVERLOAD_(y1)
CTS_FLOAT_OVERLOAD_(cyl_bessel_i0)
CTS_FLOAT_OVERLOAD_(cyl_bessel_i1)
CTS_DEVICE_ void sincos(float x, float *sine, float *cosine)
{
    sincosf(x, sine, cosine);
}
CTS_DEVICE_ void sincospi(float x, float *sine, float *cosine)
{
    sincospif(x, sine, cosine);
}
CTS_FLOAT_OVERLOAD_2_(rhypot)
CTS_FLOAT_OVERLOAD_2_(fdivide)

#undef CTS_FLOAT_TO_
#undef CTS_FLOAT_OVERLOAD_
#undef CTS_FLOAT_OVERLOAD_2_

/* The host's, as many as CUDA has there: double, float by suffix, float by overload. Some of them
 * the C library has, too, since C23: sinpi and cospi from glibc 2.41 on, rsqrt from 2.42 on. */
#define CTS_HOST_OVERLOAD_(name, implementation)                                                   \
    CTS_HOST_ float name(float x)                                                                  \
    {                                                                                              \
        return (float)implementation((double)x);                                                   \
    }
#define CTS_HOST_FUNCTION_(name, implementation)                                                   \
    CTS_HOST_ double name(double x)                                                                \
    {                                                                                              \
        return implementation(x);                                                                  \
    }                                                                                              \
    CTS_HOST_ float name##f(float x)                                                               \
    {                                                                                              \
        return (float)implementation((double)x);                                                   \
    }                                                                                              \
    CTS_HOST_OVERLOAD_(name, implementation)
#if defined __GLIBC_PREREQ && defined __GLIBC_USE
#define CTS_C23_FROM_(minor) (__GLIBC_PREREQ(2, minor) && __GLIBC_USE(IEC_60559_FUNCS_EXT_C23))
#else
#define CTS_C23_FROM_(minor) 0
#endif
#if CTS_C23_FROM_(42)
CTS_HOST_OVERLOAD_(rsqrt, cts_rsqrt)
#else
CTS_HOST_FUNCTION_(rsqrt, cts_rsqrt)
#endif
CTS_HOST_FUNCTION_(rcbrt, 1.0 / cts_cbrt)
#if CTS_C23_FROM_(41)
CTS_HOST_OVERLOAD_(sinpi, cts_sinpi)
CTS_HOST_OVERLOAD_(cospi, cts_cospi)
#else
CTS_HOST_FUNCTION_(sinpi, cts_sinpi)
CTS_HOST_FUNCTION_(cospi, cts_cospi)
#endif
#undef CTS_C23_FROM_
CTS_HOST_FUNCTION_(erfinv, cts_erfinv)
CTS_HOST_FUNCTION_(erfcinv, cts_erfcinv)
CTS_HOST_FUNCTION_(erfcx, cts_erfcx)
CTS_HOST_FUNCTION_(normcdf, cts_normcdf)
CTS_HOST_FUNCTION_(normcdfinv, cts_normcdfinv)
#undef CTS_HOST_FUNCTION_
#undef CTS_HOST_OVERLOAD_
CTS_HOST_ void sincospi(double x, double *sine, double *cosine)
{
    *sine = cts_sinpi(x);
    *cosine = cts_cospi(x);
}
CTS_HOST_ void sincospif(float x, float *sine, float *cosine)
{
    *sine = (float)cts_sinpi((double)x);
    *cosine = (float)cts_cospi((double)x);
}
CTS_HOST_ void sincos(float x, float *sine, float *cosine)
{
    *sine = sinf(x);
    *cosine = cosf(x);
}

#undef CTS_DEVICE_
#undef CTS_HOST_

#endif
