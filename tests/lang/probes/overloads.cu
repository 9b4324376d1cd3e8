/* C's functions by their plain names on float: clang declares these overloads without bodies. */
__global__ void floats(float *out, const float *in, int *n)
{
    int i = 0;
    const float x = in[0], y = in[1], z = in[2];
    out[i++] = acosh(x) + asinh(x) + atanh(x) + cbrt(x) + erf(x) + erfc(x) + exp2(x) + expm1(x);
    out[i++] = lgamma(x) + log1p(x) + log2(x) + logb(x) + nearbyint(x) + rint(x) + round(x);
    out[i++] = tgamma(x) + trunc(x) + copysign(x, y) + fdim(x, y) + fma(x, y, z) + fmax(x, y);
    out[i++] = fmin(x, y) + hypot(x, y) + nextafter(x, y) + remainder(x, y) + remquo(x, y, n);
    out[i++] = scalbln(x, 2l) + scalbn(x, 3) + nanf("") + (float)nan("1");
    out[i++] = std::acosh(x) + std::cbrt(x) + std::fmin(x, y) + std::round(x) + std::hypot(x, y);
    n[1] = ilogb(x) + (int)lrint(x) + (int)lround(x) + (int)llrint(x) + (int)llround(x);
    static_assert(sizeof(fmin(x, y)) == 4 && sizeof(std::round(x)) == 4 && sizeof(cbrt(x)) == 4,
                  "single precision");
}
