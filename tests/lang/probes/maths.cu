/* Every function of mathematics and every conversion, called once in device code. */
// clang-format off
#define ONE(X) \
    X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(cbrt) X(ceil) X(cos) X(cosh) X(cospi) \
    X(cyl_bessel_i0) X(cyl_bessel_i1) X(erf) X(erfc) X(erfcinv) X(erfcx) X(erfinv) X(exp) \
    X(exp10) X(exp2) X(expm1) X(fabs) X(floor) X(j0) X(j1) X(lgamma) X(log) X(log10) X(log1p) \
    X(log2) X(logb) X(nearbyint) X(normcdf) X(normcdfinv) X(rcbrt) X(rint) X(round) X(rsqrt) \
    X(sin) X(sinh) X(sinpi) X(sqrt) X(tan) X(tanh) X(tgamma) X(trunc) X(y0) X(y1)
// clang-format on

// clang-format off
#define TWO(X) \
    X(atan2) X(copysign) X(fdim) X(fmax) X(fmin) X(fmod) X(hypot) X(nextafter) X(pow) \
    X(remainder) X(rhypot) X(fdivide)
// clang-format on

// clang-format off
#define DIRECTED(X) \
    X(rn) X(rz) X(ru) X(rd)
// clang-format on

__global__ void doubles(double *out, const double *in, int *n)
{
    int i = 0;
    const double x = in[0], y = in[1], z = in[2], w = in[3];
#define X(name) out[i++] = name(x);
    ONE(X)
#undef X
#define X(name) out[i++] = name(x, y);
    TWO(X)
#undef X
    double s, c;
    sincos(x, &s, &c);
    sincospi(y, &out[i], &out[i + 1]);
    i += 2;
    out[i++] = s + c + fma(x, y, z) + jn(2, x) + yn(3, y) + ldexp(x, 3) + scalbn(x, 2) + powi(x, 3);
    out[i++] = norm(4, in) + rnorm(4, in) + norm3d(x, y, z) + rnorm3d(x, y, z);
    out[i++] = norm4d(x, y, z, w) + rnorm4d(x, y, z, w) + frexp(x, n) + modf(x, out) + nan("1");
    out[i++] = remquo(x, y, n + 1) + scalbln(x, 3l) + min(x, y) + max(x, y) + abs(x);
    n[2] = ilogb(x) + (int)llrint(x) + (int)llround(x) + (int)lrint(x) + (int)lround(x);
    n[3] = isnan(x) + isinf(x) + isfinite(x) + signbit(x) + isnormal(x) + __isnan(x) + __finite(x);
#define X(mode)                                                                                    \
    out[i++] = __dadd_##mode(x, y) + __dsub_##mode(x, y) + __dmul_##mode(x, y) +                   \
               __ddiv_##mode(x, y) + __drcp_##mode(x) + __dsqrt_##mode(x) + __fma_##mode(x, y, z); \
    out[i++] =                                                                                     \
        (double)__double2float_##mode(x) + __ll2double_##mode(n[4]) + __ull2double_##mode(5ull);   \
    n[5] += __double2int_##mode(x) + (int)__double2uint_##mode(x) + (int)__double2ll_##mode(x) +   \
            (int)__double2ull_##mode(x);
    DIRECTED(X)
#undef X
    out[i++] = __int2double_rn(n[6]) + __uint2double_rn(7u) + __hiloint2double(1, 2);
    n[7] = __double2hiint(x) + __double2loint(x);
    out[i++] = __longlong_as_double(__double_as_longlong(x) + 1);
}

__global__ void floats(float *out, const float *in, int *n)
{
    int i = 0;
    const float x = in[0], y = in[1], z = in[2], w = in[3];
#define X(name) out[i++] = name##f(x) + name(x);
    ONE(X)
#undef X
#define X(name) out[i++] = name##f(x, y) + name(x, y);
    TWO(X)
#undef X
    float s, c;
    sincosf(x, &s, &c);
    sincospif(y, &out[i], &out[i + 1]);
    i += 2;
    out[i++] = s + c + fmaf(x, y, z) + jnf(2, x) + ynf(3, y) + ldexpf(x, 3) + scalbnf(x, 2);
    out[i++] = powif(x, 3) + normf(4, in) + rnormf(4, in) + norm3df(x, y, z) + rnorm3df(x, y, z);
    out[i++] = norm4df(x, y, z, w) + rnorm4df(x, y, z, w) + frexpf(x, n) + modff(x, out);
    out[i++] = nanf("1") + remquof(x, y, n + 1) + scalblnf(x, 3l) + min(x, y) + max(x, y) + abs(x);
    n[2] = ilogbf(x) + (int)llrintf(x) + (int)llroundf(x) + (int)lrintf(x) + (int)lroundf(x);
    n[3] =
        isnan(x) + isinf(x) + isfinite(x) + signbit(x) + __isnanf(x) + __isinff(x) + __finitef(x);
#define X(mode)                                                                                    \
    out[i++] = __fadd_##mode(x, y) + __fsub_##mode(x, y) + __fmul_##mode(x, y) +                   \
               __fdiv_##mode(x, y) + __frcp_##mode(x) + __fsqrt_##mode(x) +                        \
               __fmaf_##mode(x, y, z) + __fmaf_ieee_##mode(x, y, z);                               \
    out[i++] = __int2float_##mode(n[4]) + __uint2float_##mode(5u) + __ll2float_##mode(6ll) +       \
               __ull2float_##mode(7ull);                                                           \
    n[5] += __float2int_##mode(x) + (int)__float2uint_##mode(x) + (int)__float2ll_##mode(x) +      \
            (int)__float2ull_##mode(x);
    DIRECTED(X)
#undef X
    out[i++] = __expf(x) + __exp10f(x) + __logf(x) + __log2f(x) + __log10f(x) + __sinf(x) +
               __cosf(x) + __tanf(x) + __powf(x, y) + __fdividef(x, y) + __saturatef(x) +
               __frsqrt_rn(x);
    __sincosf(x, &s, &c);
    out[i++] = s + c + __int_as_float(__float_as_int(x)) + __uint_as_float(__float_as_uint(y));
}
