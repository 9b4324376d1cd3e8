/* <math.h> for the device library on a GPU: its functions are those of LLVM's library for OpenCL C
 * (libclc), by the names that C++ gives to OpenCL's. What that does not have (j0, ...) stays
 * undefined; a kernel that uses it is refused by name. The GPU knows no wider type than double. */
#ifndef CTS_CUDA_LIBRARY_MATH_H
#define CTS_CUDA_LIBRARY_MATH_H

#define CTS_MATH_1_(name, length)                                                                  \
    double name(double) __asm__("_Z" #length #name "d");                                           \
    float name##f(float) __asm__("_Z" #length #name "f");
#define CTS_MATH_2_(name, length)                                                                  \
    double name(double, double) __asm__("_Z" #length #name "dd");                                  \
    float name##f(float, float) __asm__("_Z" #length #name "ff");

CTS_MATH_1_(exp, 3)
CTS_MATH_1_(exp2, 4)
CTS_MATH_1_(exp10, 5)
CTS_MATH_1_(expm1, 5)
CTS_MATH_1_(log, 3)
CTS_MATH_1_(log2, 4)
CTS_MATH_1_(log10, 5)
CTS_MATH_1_(log1p, 5)
CTS_MATH_1_(logb, 4)
CTS_MATH_1_(sin, 3)
CTS_MATH_1_(cos, 3)
CTS_MATH_1_(tan, 3)
CTS_MATH_1_(asin, 4)
CTS_MATH_1_(acos, 4)
CTS_MATH_1_(atan, 4)
CTS_MATH_1_(sinh, 4)
CTS_MATH_1_(cosh, 4)
CTS_MATH_1_(tanh, 4)
CTS_MATH_1_(asinh, 5)
CTS_MATH_1_(acosh, 5)
CTS_MATH_1_(atanh, 5)
CTS_MATH_1_(cbrt, 4)
CTS_MATH_1_(erf, 3)
CTS_MATH_1_(erfc, 4)
CTS_MATH_1_(tgamma, 6)
CTS_MATH_2_(pow, 3)
CTS_MATH_2_(atan2, 5)
CTS_MATH_2_(hypot, 5)
CTS_MATH_2_(fmod, 4)
CTS_MATH_2_(remainder, 9)
CTS_MATH_2_(nextafter, 9)
CTS_MATH_2_(fdim, 4)
double ldexp(double, int) __asm__("_Z5ldexpdi");
float ldexpf(float, int) __asm__("_Z5ldexpfi");
double frexp(double, int *) __asm__("_Z5frexpdPi");
float frexpf(float, int *) __asm__("_Z5frexpfPi");
double modf(double, double *) __asm__("_Z4modfdPd");
float modff(float, float *) __asm__("_Z4modffPf");
double remquo(double, double, int *) __asm__("_Z6remquoddPi");
float remquof(float, float, int *) __asm__("_Z6remquoffPi");
int ilogb(double) __asm__("_Z5ilogbd");
int ilogbf(float) __asm__("_Z5ilogbf");
double lgamma_r(double, int *) __asm__("_Z8lgamma_rdPi");
double j0(double), j1(double), jn(int, double), y0(double), y1(double), yn(int, double);

/* Builtins that LLVM would lower to calls of a C library. */
#define __builtin_exp(x)     exp(x)
#define __builtin_expf(x)    expf(x)
#define __builtin_exp2(x)    exp2(x)
#define __builtin_exp2f(x)   exp2f(x)
#define __builtin_log(x)     log(x)
#define __builtin_logf(x)    logf(x)
#define __builtin_log2(x)    log2(x)
#define __builtin_log2f(x)   log2f(x)
#define __builtin_sin(x)     sin(x)
#define __builtin_sinf(x)    sinf(x)
#define __builtin_cos(x)     cos(x)
#define __builtin_cosf(x)    cosf(x)
#define __builtin_pow(x, y)  pow(x, y)
#define __builtin_powf(x, y) powf(x, y)

#define sqrt(x)        __builtin_sqrt(x)
#define fabs(x)        __builtin_fabs(x)
#define rint(x)        __builtin_rint(x)
#define fma(x, y, z)   __builtin_fma(x, y, z)
#define copysign(x, y) __builtin_copysign(x, y)
#define nan(tag)       ((void)(tag), __builtin_nan(""))
#define nanf(tag)      ((void)(tag), __builtin_nanf(""))

#define sqrtl(x)  __builtin_sqrt(x)
#define fabsl(x)  __builtin_fabs(x)
#define cbrtl(x)  cbrt(x)
#define expl(x)   exp(x)
#define log10l(x) log10(x)
#define exp10l(x) exp10(x)
#define sinhl(x)  sinh(x)
#define coshl(x)  cosh(x)
#define tanhl(x)  tanh(x)

#endif
