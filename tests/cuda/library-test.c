/* The mathematics of the device library for GPUs, compiled for this machine (library.sh) and
 * compared with the C library's, in units of the last place. */
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <stdio.h>

static int failures;

static void check(const char *name, double worst, double most)
{
    if (worst <= most) return;
    printf("__nv_%s: off by %g units in the last place, more than %g\n", name, worst, most);
    failures++;
}

/* Compared with `least` where the value itself is smaller. */
static double off_by(double found, long double expected, double least, double unit)
{
    if (isnan((double)expected)) return isnan(found) ? 0 : 1e300;
    if (isinf((double)expected)) return found == (double)expected ? 0 : 1e300;
    if (found == (double)expected) return 0;
    const double size = fmax(fabs((double)expected), least);
    const double off = (double)fabsl((long double)found - expected) / size / unit;
    return isnan(off) ? 1e300 : off;
}

/* From `from` on, each time by a factor or a distance, COUNT arguments; both signs if wanted. */
enum { COUNT = 2000 };
struct range {
    double from, to;
    int is_signed;
};
static double argument(const struct range *range, int i)
{
    const double part = (double)i / COUNT;
    const double x = range->from > 0 && range->to / range->from > 100
                         ? range->from * pow(range->to / range->from, part)
                         : range->from + (range->to - range->from) * part;
    return range->is_signed && i % 2 ? -x : x;
}

/* Double's unit is FLT_EPSILON for float: relative errors of up to half of it are rounding's. */
#define ONE_(name, reference, low, high, both, least, most, most_float)                            \
    double __nv_##name(double);                                                                    \
    float __nv_##name##f(float);                                                                   \
    static void check_##name(void)                                                                 \
    {                                                                                              \
        const struct range range = {low, high, both};                                              \
        double worst = 0, worst_float = 0;                                                         \
        for (int i = 0; i < COUNT; i++) {                                                          \
            const double x = argument(&range, i);                                                  \
            const float y = (float)x;                                                              \
            worst = fmax(worst,                                                                    \
                         off_by(__nv_##name(x), reference((long double)x), least, DBL_EPSILON));   \
            worst_float =                                                                          \
                fmax(worst_float, off_by((double)__nv_##name##f(y), reference((long double)y),     \
                                         least, FLT_EPSILON));                                     \
        }                                                                                          \
        check(#name, worst, most);                                                                 \
        check(#name "f", worst_float, most_float);                                                 \
    }
#define ONES_(X)                                                                                   \
    X(sin, sinl, 1e-6, 1e8, 1, 0, 4, 4)                                                            \
    X(cos, cosl, 1e-6, 1e8, 1, 0, 4, 4)                                                            \
    X(tan, tanl, 1e-6, 1e6, 1, 0, 5, 5)                                                            \
    X(asin, asinl, 1e-6, 1, 1, 0, 4, 4)                                                            \
    X(acos, acosl, 1e-6, 1, 1, 0, 4, 4)                                                            \
    X(atan, atanl, 1e-6, 1e6, 1, 0, 5, 5)                                                          \
    X(sinh, sinhl, 1e-3, 80, 1, 0, 4, 4)                                                           \
    X(cosh, coshl, 1e-3, 80, 1, 0, 4, 4)                                                           \
    X(tanh, tanhl, 1e-3, 20, 1, 0, 5, 5)                                                           \
    X(asinh, asinhl, 1e-3, 1e6, 1, 0, 5, 5)                                                        \
    X(acosh, acoshl, 1, 1e6, 0, 1, 5, 5)                                                           \
    X(atanh, atanhl, 1e-3, 0.99, 1, 0, 5, 5)                                                       \
    X(exp, expl, 1e-3, 80, 1, 0, 3, 3)                                                             \
    X(exp2, exp2l, 1e-3, 120, 1, 0, 3, 3)                                                          \
    X(exp10, exp10l, 1e-3, 37, 1, 0, 3, 3)                                                         \
    X(expm1, expm1l, 1e-6, 80, 1, 0, 3, 3)                                                         \
    X(log, logl, 1e-30, 1e30, 0, 1e-3, 4, 4)                                                       \
    X(log2, log2l, 1e-30, 1e30, 0, 1e-3, 4, 4)                                                     \
    X(log10, log10l, 1e-30, 1e30, 0, 1e-3, 4, 4)                                                   \
    X(log1p, log1pl, 1e-6, 1e6, 0, 0, 4, 4)                                                        \
    X(cbrt, cbrtl, 1e-30, 1e30, 1, 0, 3, 3)                                                        \
    X(sqrt, sqrtl, 1e-30, 1e30, 0, 0, 1, 1)                                                        \
    X(erf, erfl, 1e-3, 6, 1, 0, 16, 16)                                                            \
    X(erfc, erfcl, 1e-3, 5, 1, 0, 16, 16)                                                          \
    X(tgamma, tgammal, 0.1, 30, 0, 0, 150, 16)                                                     \
    X(lgamma, lgammal, 0.1, 1000, 0, 1, 32, 16)                                                    \
    X(ceil, ceill, 1e-3, 1e6, 1, 0, 0, 0)                                                          \
    X(floor, floorl, 1e-3, 1e6, 1, 0, 0, 0)                                                        \
    X(rint, rintl, 1e-3, 1e6, 1, 0, 0, 0)                                                          \
    X(round, roundl, 1e-3, 1e6, 1, 0, 0, 0)                                                        \
    X(trunc, truncl, 1e-3, 1e6, 1, 0, 0, 0)                                                        \
    X(logb, logbl, 1e-30, 1e30, 1, 0, 0, 0)
ONES_(ONE_)

#define TWO_(name, reference, low, high, low_2, high_2, both, most)                                \
    double __nv_##name(double, double);                                                            \
    float __nv_##name##f(float, float);                                                            \
    static void check_##name(void)                                                                 \
    {                                                                                              \
        const struct range first = {low, high, both}, second = {low_2, high_2, both};              \
        double worst = 0, worst_float = 0;                                                         \
        for (int i = 0; i < COUNT; i++) {                                                          \
            const double x = argument(&first, i), y = argument(&second, i * 7 % COUNT);            \
            const float u = (float)x, v = (float)y;                                                \
            worst =                                                                                \
                fmax(worst, off_by(__nv_##name(x, y), reference((long double)x, (long double)y),   \
                                   0, DBL_EPSILON));                                               \
            worst_float = fmax(worst_float,                                                        \
                               off_by((double)__nv_##name##f(u, v),                                \
                                      reference((long double)u, (long double)v), 0, FLT_EPSILON)); \
        }                                                                                          \
        check(#name, worst, most);                                                                 \
        check(#name "f", worst_float, most);                                                       \
    }
#define TWOS_(X)                                                                                   \
    X(pow, powl, 1e-2, 1e2, 0.1, 15, 0, 16)                                                        \
    X(atan2, atan2l, 1e-3, 1e3, 1e-2, 1e2, 1, 6)                                                   \
    X(hypot, hypotl, 1e-3, 1e3, 1e-2, 1e2, 1, 4)                                                   \
    X(fmod, fmodl, 1e-3, 1e6, 0.1, 10, 0, 0)                                                       \
    X(remainder, remainderl, 1e-3, 1e6, 0.1, 10, 0, 0)                                             \
    X(copysign, copysignl, 1e-3, 1e6, 0.1, 10, 1, 0)                                               \
    X(fdim, fdiml, 1, 10, 1, 10, 1, 1)                                                             \
    X(fmax, fmaxl, 1, 10, 1, 10, 1, 0)                                                             \
    X(fmin, fminl, 1, 10, 1, 10, 1, 0)
TWOS_(TWO_)

double __nv_frexp(double, int *), __nv_modf(double, double *), __nv_ldexp(double, int);
double __nv_dadd_ru(double, double), __nv_remquo(double, double, int *);
int __nv_ilogb(double), __nv_double2int_rn(double), __nv_popc(int);
double __nv_norm3d(double, double, double);

static void expect(const char *what, double found, double expected)
{
    if (found == expected) return;
    printf("%s: %g, not %g\n", what, found, expected);
    failures++;
}

static void check_rest(void)
{
    int e = 0, q = 0;
    double whole = 0;
    expect("frexp", __nv_frexp(-6.5, &e), -0.8125);
    expect("frexp's exponent", e, 3);
    expect("modf", __nv_modf(-6.25, &whole), -0.25);
    expect("modf's whole", whole, -6);
    expect("ldexp", __nv_ldexp(0.75, -3), 0.09375);
    expect("remquo", __nv_remquo(7.5, 2, &q), -0.5);
    expect("remquo's quotient", q & 7, 4);
    expect("ilogb", __nv_ilogb(40), 5);
    expect("dadd_ru", __nv_dadd_ru(1, 1e-30), 1 + DBL_EPSILON);
    expect("double2int_rn", __nv_double2int_rn(2.5), 2);
    expect("popc", __nv_popc(0x70f), 7);
    expect("norm3d", __nv_norm3d(2, 3, 6), 7);
}

int main(void)
{
#define CALL_ONE_(name, ...) check_##name();
    ONES_(CALL_ONE_)
    TWOS_(CALL_ONE_)
    check_rest();
    return failures != 0;
}
