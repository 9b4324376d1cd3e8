/* Special functions that the C library lacks, in double precision; single precision is these,
 * rounded. For the host side of CUDA sources, and for the device library, which includes this file
 * with CTS_SPECIAL defined. C and C++. */
#ifndef CTASCOPE_SPECIAL_H
#define CTASCOPE_SPECIAL_H

#include <math.h>

#ifndef CTS_SPECIAL
#define CTS_SPECIAL static inline
#endif

#define CTS_PI          3.14159265358979323846
#define CTS_SQRT_PI     1.77245385090551602730
#define CTS_INV_SQRT_PI 0.56418958354775628695

/* Both inverses start from Winitzki's approximation (relative error 2e-3) and take Halley steps,
 * each of which triples the number of right digits. t = ln(1 - y^2). */
static inline double cts_inverse_start_(double t)
{
    const double a = 0.147;
    const double s = 2 / (CTS_PI * a) + t / 2;
    return sqrt(sqrt(s * s - t / a) - s);
}

/* z in (0, 1]: the tail form keeps its relative accuracy down to the smallest z. */
static inline double cts_inverse_of_tail_(double z)
{
    double x = cts_inverse_start_(log(z) + log(2 - z));
    for (int i = 0; i < 4; i++) {
        const double u =
            (erfc(x) - z) * (CTS_SQRT_PI / 2) * exp(x * x); /* Newton's step, negated */
        x += u / (1 - x * u);
    }
    return x;
}

static inline double cts_inverse_of_centre_(double y)
{
    double x = cts_inverse_start_(log1p(-y * y));
    for (int i = 0; i < 4; i++) {
        const double u = (erf(x) - y) * (CTS_SQRT_PI / 2) * exp(x * x);
        x -= u / (1 + x * u);
    }
    return x;
}

CTS_SPECIAL double cts_erfinv(double y)
{
    const double size = fabs(y);
    if (!(size < 1)) return size == 1 ? copysign(__builtin_inf(), y) : __builtin_nan("");
    if (size < 1e-8) return y * (CTS_SQRT_PI / 2);
    return copysign(size <= 0.5 ? cts_inverse_of_centre_(size) : cts_inverse_of_tail_(1 - size), y);
}

CTS_SPECIAL double cts_erfcinv(double z)
{
    if (!(z > 0 && z < 2))
        return z == 0 ? __builtin_inf() : z == 2 ? -__builtin_inf() : __builtin_nan("");
    if (z >= 0.5 && z <= 1.5) return cts_erfinv(1 - z);
    return z < 1 ? cts_inverse_of_tail_(z) : -cts_inverse_of_tail_(2 - z);
}

/* exp(x^2) erfc(x). Large x: the continued fraction of erfc, evaluated from its end; the number of
 * terms follows its speed of convergence. Else the product, with the error of x^2 made good. */
CTS_SPECIAL double cts_erfcx(double x)
{
    if (x != x) return x;
    if (x > 1e8) return CTS_INV_SQRT_PI / x;
    if (x >= 0.85) {
        long double tail = x;
        for (int k = (int)(200 / (x * x)) + 12; k > 0; k--) tail = x + k * 0.5L / tail;
        return (double)(0.564189583547756286948L / tail);
    }
    if (x < -26.7) return __builtin_inf();
    const double high = x * x, low = fma(x, x, -high);
    const double scale = exp(high);
    return fma(scale, low, scale) * erfc(x);
}

/* erfc(-x / sqrt 2) / 2. The argument's rounding error is multiplied by its square in the result,
 * so that the argument is carried in two parts. */
CTS_SPECIAL double cts_normcdf(double x)
{
    const double inv_sqrt_2_high = 0.70710678118654757, inv_sqrt_2_low = -4.8336466567264567e-17;
    if (x < -38.6) return 0 * x == 0 ? 0 : x != x ? x : 0;
    if (x > 9) return 1;
    const double high = -x * inv_sqrt_2_high;
    const double low = fma(-x, inv_sqrt_2_high, -high) - x * inv_sqrt_2_low;
    const double slope = 2 * CTS_INV_SQRT_PI * exp(-high * high);
    return 0.5 * (erfc(high) - low * slope);
}

CTS_SPECIAL double cts_normcdfinv(double p)
{
    return (double)(-1.41421356237309504880L * cts_erfcinv(2 * p));
}

/* x modulo 2 is exact, and so is its distance to the nearest half. */
static inline double cts_sine_of_halves_(double x, int quarter)
{
    if (!(fabs(x) < 0x1p53)) return x - x + (quarter ? 1 : copysign(0, x));
    const double halves = rint(2 * x);
    const double rest = fma(halves, -0.5, x) * CTS_PI;
    switch (((long long)halves + quarter) & 3) {
    case 0:
        return halves == 0 && quarter == 0 && x == 0 ? x : sin(rest);
    case 1:
        return cos(rest);
    case 2:
        return -sin(rest);
    default:
        return -cos(rest);
    }
}

CTS_SPECIAL double cts_sinpi(double x)
{
    const double y = cts_sine_of_halves_(x, 0);
    return y == 0 ? copysign(0, x) : y;
}

CTS_SPECIAL double cts_cospi(double x)
{
    const double y = cts_sine_of_halves_(x, 1);
    return y == 0 ? 0 : y;
}

CTS_SPECIAL double cts_cbrt(double x)
{
    return (double)cbrtl((long double)x);
}

CTS_SPECIAL double cts_rsqrt(double x)
{
    return (double)(1.0L / sqrtl((long double)x));
}

/* Modified Bessel functions of the first kind. Up to 30 the power series, whose terms are all
 * positive; above, the asymptotic one, whose smallest term is far below the rounding error there.
 * exp is split: it overflows before the function does. */
static inline double cts_bessel_large_(long double x, long double order_squared_4)
{
    long double term = 1, sum = 1;
    for (int k = 1; k < 60 && fabsl(term) > 1e-20L; k++) {
        const long double odd = 2 * k - 1;
        term *= -(order_squared_4 - odd * odd) / (k * 8 * x);
        sum += term;
    }
    const long double half = expl(x / 2);
    return (double)(half * (sum / sqrtl(2 * 3.14159265358979323846L * x)) * half);
}

CTS_SPECIAL double cts_bessel_i0(double x)
{
    const long double size = fabs(x);
    if (!(size < 30)) return x != x ? x : size > 720 ? __builtin_inf() : cts_bessel_large_(size, 0);
    const long double q = size * size / 4;
    long double term = 1, sum = 1;
    for (int k = 1; term > sum * 1e-20L; k++) {
        term *= q / ((long double)k * k);
        sum += term;
    }
    return (double)sum;
}

CTS_SPECIAL double cts_bessel_i1(double x)
{
    const long double size = fabs(x);
    if (!(size < 30))
        return x != x ? x : copysign(size > 720 ? __builtin_inf() : cts_bessel_large_(size, 4), x);
    const long double q = size * size / 4;
    long double term = size / 2, sum = term;
    for (int k = 1; term > sum * 1e-20L; k++) {
        term *= q / ((long double)k * (k + 1));
        sum += term;
    }
    return copysign((double)sum, x);
}

/* Without the C library's global signgam, which several lanes would write at once. */
CTS_SPECIAL double cts_lgamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

#undef CTS_PI
#undef CTS_SQRT_PI
#undef CTS_INV_SQRT_PI

#endif
