/* Special functions that the C library lacks, in double precision; single precision is these,
 * rounded. */
#define _GNU_SOURCE
#include <math.h>

#include "devlib.h"

#define SQRT_PI     1.77245385090551602730
#define INV_SQRT_PI 0.56418958354775628695

typedef long double extended;

/* Both inverses start from Winitzki's approximation (relative error 2e-3) and take Halley steps,
 * each of which triples the number of right digits. t = ln(1 - y^2). */
static double inverse_start(double t)
{
    const double a = 0.147;
    const double s = 2 / (M_PI * a) + t / 2;
    return sqrt(sqrt(s * s - t / a) - s);
}

/* z in (0, 1]: the tail form keeps its relative accuracy down to the smallest z. */
static double inverse_of_tail(double z)
{
    double x = inverse_start(log(z) + log(2 - z));
    for (int i = 0; i < 4; i++) {
        const double u = (erfc(x) - z) * (SQRT_PI / 2) * exp(x * x); /* Newton's step, negated */
        x += u / (1 - x * u);
    }
    return x;
}

static double inverse_of_centre(double y)
{
    double x = inverse_start(log1p(-y * y));
    for (int i = 0; i < 4; i++) {
        const double u = (erf(x) - y) * (SQRT_PI / 2) * exp(x * x);
        x -= u / (1 + x * u);
    }
    return x;
}

CTS_FUNCTION double cts_erfinv(double y)
{
    const double size = fabs(y);
    if (!(size < 1)) return size == 1 ? copysign(INFINITY, y) : NAN;
    if (size < 1e-8) return y * (SQRT_PI / 2);
    return copysign(size <= 0.5 ? inverse_of_centre(size) : inverse_of_tail(1 - size), y);
}

CTS_FUNCTION double cts_erfcinv(double z)
{
    if (!(z > 0 && z < 2)) return z == 0 ? INFINITY : z == 2 ? -INFINITY : NAN;
    if (z >= 0.5 && z <= 1.5) return cts_erfinv(1 - z);
    return z < 1 ? inverse_of_tail(z) : -inverse_of_tail(2 - z);
}

/* exp(x^2) erfc(x). Large x: the continued fraction of erfc, evaluated from its end; the number of
 * terms follows its speed of convergence. Else the product, with the error of x^2 made good. */
CTS_FUNCTION double cts_erfcx(double x)
{
    if (x != x) return x;
    if (x > 1e8) return INV_SQRT_PI / x;
    if (x >= 1.25) {
        extended tail = x;
        for (int k = (int)(200 / (x * x)) + 12; k > 0; k--) tail = x + k * 0.5L / tail;
        return (double)(0.564189583547756286948L / tail);
    }
    if (x < -26.7) return INFINITY;
    const double high = x * x, low = fma(x, x, -high);
    const double scale = exp(high);
    return fma(scale, low, scale) * erfc(x);
}

/* erfc(-x / sqrt 2) / 2. The argument's rounding error is multiplied by its square in the result,
 * so that the argument is carried in two parts. */
CTS_FUNCTION double cts_normcdf(double x)
{
    const double inv_sqrt_2_high = 0.70710678118654757, inv_sqrt_2_low = -4.8336466567264567e-17;
    if (x < -38.6) return 0 * x == 0 ? 0 : x != x ? x : 0;
    if (x > 9) return 1;
    const double high = -x * inv_sqrt_2_high;
    const double low = fma(-x, inv_sqrt_2_high, -high) - x * inv_sqrt_2_low;
    const double slope = 2 * INV_SQRT_PI * exp(-high * high);
    return 0.5 * (erfc(high) - low * slope);
}

CTS_FUNCTION double cts_normcdfinv(double p)
{
    return (double)(-1.41421356237309504880L * cts_erfcinv(2 * p));
}

/* x modulo 2 is exact, and so is its distance to the nearest half. */
static double sine_of_halves(double x, int quarter)
{
    if (!(fabs(x) < 0x1p53)) return x - x + (quarter ? 1 : copysign(0, x));
    const double halves = rint(2 * x);
    const double rest = fma(halves, -0.5, x) * M_PI;
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

CTS_FUNCTION double cts_sinpi(double x)
{
    const double y = sine_of_halves(x, 0);
    return y == 0 ? copysign(0, x) : y;
}

CTS_FUNCTION double cts_cospi(double x)
{
    const double y = sine_of_halves(x, 1);
    return y == 0 ? 0 : y;
}

CTS_FUNCTION double cts_cbrt(double x)
{
    return (double)cbrtl((extended)x);
}

CTS_FUNCTION double cts_rsqrt(double x)
{
    return (double)(1.0L / sqrtl((extended)x));
}

/* Modified Bessel functions of the first kind. Up to 30 the power series, whose terms are all
 * positive; above, the asymptotic one, whose smallest term is far below the rounding error there.
 * exp is split: it overflows before the function does. */
static double bessel_large(extended x, extended order_squared_4)
{
    extended term = 1, sum = 1;
    for (int k = 1; k < 60 && fabsl(term) > 1e-20L; k++) {
        const extended odd = 2 * k - 1;
        term *= -(order_squared_4 - odd * odd) / (k * 8 * x);
        sum += term;
    }
    const extended half = expl(x / 2);
    return (double)(half * (sum / sqrtl(2 * 3.14159265358979323846L * x)) * half);
}

CTS_FUNCTION double cts_bessel_i0(double x)
{
    const extended size = fabs(x);
    if (!(size < 30)) return x != x ? x : size > 720 ? INFINITY : bessel_large(size, 0);
    const extended q = size * size / 4;
    extended term = 1, sum = 1;
    for (int k = 1; term > sum * 1e-20L; k++) {
        term *= q / ((extended)k * k);
        sum += term;
    }
    return (double)sum;
}

CTS_FUNCTION double cts_bessel_i1(double x)
{
    const extended size = fabs(x);
    if (!(size < 30))
        return x != x ? x : copysign(size > 720 ? INFINITY : bessel_large(size, 4), x);
    const extended q = size * size / 4;
    extended term = size / 2, sum = term;
    for (int k = 1; term > sum * 1e-20L; k++) {
        term *= q / ((extended)k * (k + 1));
        sum += term;
    }
    return copysign((double)sum, x);
}

/* Without the C library's global signgam, which several lanes would write at once. */
CTS_FUNCTION double cts_lgamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}
