/* Shared by the files of the device library.
 *
 * Every function here is pure arithmetic on its arguments; several lanes run it at once, without a
 * context. Small ones are always inlined, so that LLVM can vectorise across threads. */
#ifndef CTS_DEVLIB_H
#define CTS_DEVLIB_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CTS_FUNCTION __attribute__((visibility("hidden")))
#define CTS_SMALL    __attribute__((visibility("hidden"), always_inline))

enum cts_rounding { CTS_RN, CTS_RZ, CTS_RU, CTS_RD }; /* nearest even, zero, up, down */

static inline uint32_t cts_float_bits(float value)
{
    return __builtin_bit_cast(uint32_t, value);
}
static inline float cts_float_of(uint32_t bits)
{
    return __builtin_bit_cast(float, bits);
}
static inline uint64_t cts_double_bits(double value)
{
    return __builtin_bit_cast(uint64_t, value);
}
static inline double cts_double_of(uint64_t bits)
{
    return __builtin_bit_cast(double, bits);
}

/* min and max: a NaN operand yields the other one, and -0 is below +0 (a CPU's instruction yields
 * either). Equal operands have equal bits, or are both zeros. */
static inline float cts_min_float(float a, float b)
{
    return a == b ? cts_float_of(cts_float_bits(a) | cts_float_bits(b)) : __builtin_fminf(a, b);
}
static inline float cts_max_float(float a, float b)
{
    return a == b ? cts_float_of(cts_float_bits(a) & cts_float_bits(b)) : __builtin_fmaxf(a, b);
}
static inline double cts_min_double(double a, double b)
{
    return a == b ? cts_double_of(cts_double_bits(a) | cts_double_bits(b)) : __builtin_fmin(a, b);
}
static inline double cts_max_double(double a, double b)
{
    return a == b ? cts_double_of(cts_double_bits(a) & cts_double_bits(b)) : __builtin_fmax(a, b);
}

/* Exact arithmetic with a rounding direction (rounding.c). The float forms take floats as doubles
 * and round to a float. */
double cts_add_double(double a, double b, enum cts_rounding mode);
double cts_mul_double(double a, double b, enum cts_rounding mode);
double cts_div_double(double a, double b, enum cts_rounding mode);
double cts_fma_double(double a, double b, double c, enum cts_rounding mode);
double cts_sqrt_double(double a, enum cts_rounding mode);
double cts_integer_to_double(uint64_t magnitude, int negative, enum cts_rounding mode);
float cts_add_float(float a, float b, enum cts_rounding mode);
float cts_mul_float(float a, float b, enum cts_rounding mode);
float cts_div_float(float a, float b, enum cts_rounding mode);
float cts_fma_float(float a, float b, float c, enum cts_rounding mode);
float cts_sqrt_float(float a, enum cts_rounding mode);
float cts_integer_to_float(uint64_t magnitude, int negative, enum cts_rounding mode);
float cts_double_to_float(double a, enum cts_rounding mode);
uint32_t cts_double_to_half(double a, enum cts_rounding mode);   /* the 16 bits */
uint32_t cts_double_to_bfloat(double a, enum cts_rounding mode); /* the 16 bits */
uint32_t cts_fma_bfloat(float a, float b, float c);              /* bfloat values and result */

/* Special functions that the C library lacks (special.c). */
double cts_erfinv(double y);
double cts_erfcinv(double z);
double cts_erfcx(double x);
double cts_normcdf(double x);
double cts_normcdfinv(double p);
double cts_sinpi(double x);
double cts_cospi(double x);
double cts_cbrt(double x);
double cts_rsqrt(double x);
double cts_bessel_i0(double x);
double cts_bessel_i1(double x);
double cts_lgamma(double x);

#endif
