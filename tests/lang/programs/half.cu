/* Half precision on the device against its definition: every pair of a dense set of halves, and all
 * 65,536 values for functions of one, compared with the exact result rounded once. */
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

/* Rounds a double, which holds the exact result, to a half's bits: nearest even. */
static unsigned short rounded(double exact)
{
    if (exact != exact) return 0x7fff;
    const unsigned short sign = signbit(exact) ? 0x8000 : 0;
    const double size = fabs(exact);
    if (size >= 65520) return sign | 0x7c00;
    int exponent;
    frexp(size, &exponent);
    const int lowest = exponent - 11 < -24 ? -24 : exponent - 11;
    const double units = rint(ldexp(size, -lowest)); /* exact scaling, one rounding */
    const double value = ldexp(units, lowest);
    if (value == 0) return sign;
    frexp(value, &exponent);
    if (exponent < -13) return sign | (unsigned short)ldexp(value, 24);
    return sign |
           (unsigned short)((exponent + 14) << 10 | ((int)ldexp(value, 11 - exponent) & 0x3ff));
}
static double value_of(unsigned short bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                        : exponent     ? ldexp(fraction + 1024, exponent - 25)
                                       : ldexp(fraction, -24);
    return bits & 0x8000 ? -size : size;
}
static bool agree(unsigned short got, unsigned short want)
{
    const bool got_nan = (got & 0x7fff) > 0x7c00, want_nan = (want & 0x7fff) > 0x7c00;
    return got_nan || want_nan ? got_nan && want_nan : got == want;
}

enum { SET = 512 };

struct pair_results {
    unsigned short add, sub, mul, div, fma, min, max, add2_high;
    unsigned char less, equal, unordered_less;
};

__global__ void pairs(pair_results *out, const unsigned short *set)
{
    const int i = blockIdx.x, j = threadIdx.x;
    const __half a = __ushort_as_half(set[i]), b = __ushort_as_half(set[j]);
    const __half c = __ushort_as_half(set[(i * 7 + j * 3) % SET]);
    pair_results r;
    r.add = __half_as_ushort(a + b);
    r.sub = __half_as_ushort(__hsub(a, b));
    r.mul = __half_as_ushort(a * b);
    r.div = __half_as_ushort(a / b);
    r.fma = __half_as_ushort(__hfma(a, b, c));
    r.min = __half_as_ushort(__hmin(a, b));
    r.max = __half_as_ushort(__hmax(a, b));
    r.add2_high = __half_as_ushort(__high2half(__hadd2(__halves2half2(b, a), __half2half2(b))));
    r.less = a < b;
    r.equal = __heq(a, b);
    r.unordered_less = __hltu(a, b);
    out[i * SET + j] = r;
}

static void test_pairs()
{
    unsigned short *const set = managed<unsigned short>(SET);
    pair_results *const out = managed<pair_results>((size_t)SET * SET);
    const unsigned short edges[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00,
                                    0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3800, 0x5bff};
    for (int i = 0; i < SET; i++)
        set[i] = i < 16 ? edges[i] : (unsigned short)(i * 40503u + (unsigned)i * (unsigned)i * 7u);
    pairs<<<SET, SET>>>(out, set);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < SET; i++)
        for (int j = 0; j < SET; j++) {
            const pair_results r = out[i * SET + j];
            const double a = value_of(set[i]), b = value_of(set[j]);
            const double c = value_of(set[(i * 7 + j * 3) % SET]);
            CHECK(agree(r.add, rounded(a + b)), "%a + %a: %04x", a, b, r.add);
            CHECK(agree(r.sub, rounded(a - b)), "%a - %a: %04x", a, b, r.sub);
            CHECK(agree(r.mul, rounded(a * b)), "%a * %a: %04x", a, b, r.mul);
            CHECK(agree(r.div, rounded(a / b)), "%a / %a: %04x", a, b, r.div);
            CHECK(agree(r.fma, rounded(fma(a, b, c))), "%a * %a + %a: %04x", a, b, c, r.fma);
            CHECK(agree(r.add2_high, rounded(a + b)), "%a + %a: %04x", a, b, r.add2_high);
            CHECK(agree(r.min, a == 0 && b == 0 ? set[i] | set[j] : rounded(fmin(a, b))),
                  "min %a %a: %04x", a, b, r.min);
            CHECK(agree(r.max, a == 0 && b == 0 ? set[i] & set[j] : rounded(fmax(a, b))),
                  "max %a %a: %04x", a, b, r.max);
            CHECK(r.less == (a < b) && r.equal == (a == b) && r.unordered_less == !(a >= b),
                  "%a %a", a, b);
        }
}

struct one_results {
    float single;
    int nearest, zero, up, down;
    short narrow;
    unsigned unsigned_zero;
    unsigned short sqrt, neg, back, floor, rint;
};

__global__ void ones(one_results *out)
{
    const unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
    const __half a = __ushort_as_half((unsigned short)bits);
    one_results r;
    r.single = __half2float(a);
    r.nearest = __half2int_rn(a);
    r.zero = __half2int_rz(a);
    r.up = __half2int_ru(a);
    r.down = __half2int_rd(a);
    r.narrow = __half2short_rz(a);
    r.unsigned_zero = __half2uint_rz(a);
    r.sqrt = __half_as_ushort(hsqrt(a));
    r.neg = __half_as_ushort(-a);
    r.back = __half_as_ushort(__float2half(r.single));
    r.floor = __half_as_ushort(hfloor(a));
    r.rint = __half_as_ushort(hrint(a));
    out[bits] = r;
}

static double clamped(double value, double low, double high)
{
    return value != value ? 0 : fmin(fmax(value, low), high);
}

static void test_ones()
{
    one_results *const out = managed<one_results>(65536);
    ones<<<256, 256>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int bits = 0; bits < 65536; bits++) {
        const one_results r = out[bits];
        const double a = value_of((unsigned short)bits);
        CHECK(a != a ? r.single != r.single : r.single == (float)a, "%04x: %g", bits, r.single);
        CHECK(r.nearest == (int)clamped(rint(a), INT32_MIN, INT32_MAX), "%04x", bits);
        CHECK(r.zero == (int)clamped(trunc(a), INT32_MIN, INT32_MAX), "%04x", bits);
        CHECK(r.up == (int)clamped(ceil(a), INT32_MIN, INT32_MAX), "%04x", bits);
        CHECK(r.down == (int)clamped(floor(a), INT32_MIN, INT32_MAX), "%04x", bits);
        CHECK(r.narrow == (short)clamped(trunc(a), -32768, 32767), "%04x: %d", bits, r.narrow);
        CHECK(r.unsigned_zero == (unsigned)clamped(trunc(a), 0, UINT32_MAX), "%04x: %u", bits,
              r.unsigned_zero);
        CHECK(agree(r.sqrt, rounded(sqrt(a))), "%04x: %04x", bits, r.sqrt);
        CHECK(agree(r.neg, (unsigned short)(bits ^ 0x8000)), "%04x: %04x", bits, r.neg);
        CHECK(agree(r.back, (unsigned short)bits), "%04x: %04x", bits, r.back);
        CHECK(agree(r.floor, rounded(floor(a))), "%04x: %04x", bits, r.floor);
        CHECK(agree(r.rint, rounded(rint(a))), "%04x: %04x", bits, r.rint);
    }
}

/* Conversion from float in all directions: the neighbours that enclose the value. */
__global__ void directions(unsigned short *out, const float *in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[4 * i] = __half_as_ushort(__float2half_rn(in[i]));
    out[4 * i + 1] = __half_as_ushort(__float2half_rz(in[i]));
    out[4 * i + 2] = __half_as_ushort(__float2half_ru(in[i]));
    out[4 * i + 3] = __half_as_ushort(__float2half_rd(in[i]));
}

static void test_directions()
{
    enum { N = 32768 };
    float *const in = managed<float>(N);
    unsigned short *const out = managed<unsigned short>(4 * N);
    unsigned seed = 12345;
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525u + 1013904223u;
        unsigned bits = (seed & 0x807fffffu) | (100 + (seed >> 8) % 46) << 23;
        if (i % 4 == 0) bits &= ~0xfffu;
        memcpy(&in[i], &bits, 4);
    }
    directions<<<N / 256, 256>>>(out, in);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) {
        const double x = in[i];
        const double zero = value_of(out[4 * i + 1]), up = value_of(out[4 * i + 2]),
                     down = value_of(out[4 * i + 3]);
        CHECK(out[4 * i] == rounded(x), "%a: %04x", x, out[4 * i]);
        CHECK(down <= x && x <= up, "%a: %a %a", x, down, up);
        CHECK(up == down ? up == x : true, "%a", x);
        /* Neighbours: nothing lies between them. */
        CHECK(x == up ||
                  fabs(fabs(value_of(out[4 * i + 2])) - fabs(down)) <=
                      fmax(fabs(x) * 0x1p-10, 0x1p-24) ||
                  fabs(x) > 65504,
              "%a: %a %a", x, down, up);
        CHECK(zero == (x < 0 ? up : down), "%a: %a", x, zero);
    }
}

/* bfloat16: the same by its own width, on a smaller set. */
static unsigned short rounded_bfloat(double exact)
{
    /* To odd at float precision first, where the exact result is a double. */
    float f = (float)exact;
    unsigned bits;
    if ((double)f != exact && f == f) {
        memcpy(&bits, &f, 4);
        if (fabs((double)f) > fabs(exact)) bits--;
        bits |= 1;
        memcpy(&f, &bits, 4);
    }
    memcpy(&bits, &f, 4);
    return f != f ? 0x7fff : (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
__global__ void bfloats(unsigned short *out)
{
    const int i = blockIdx.x, j = threadIdx.x;
    const __nv_bfloat16 a = __ushort_as_bfloat16((unsigned short)(0x3f00 + i)),
                        b = __ushort_as_bfloat16((unsigned short)(0xbe80 + j));
    unsigned short *const mine = out + 4 * (256 * i + j);
    mine[0] = __bfloat16_as_ushort(a + b);
    mine[1] = __bfloat16_as_ushort(a * b);
    mine[2] = __bfloat16_as_ushort(a / b);
    mine[3] = __bfloat16_as_ushort(__hfma(a, b, a));
}

static void test_bfloats()
{
    unsigned short *const out = managed<unsigned short>(4 * 65536);
    bfloats<<<256, 256>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 256; i++)
        for (int j = 0; j < 256; j++) {
            const unsigned ab = (0x3f00u + (unsigned)i) << 16, bb = (0xbe80u + (unsigned)j) << 16;
            float a, b;
            memcpy(&a, &ab, 4);
            memcpy(&b, &bb, 4);
            const unsigned short *const mine = out + 4 * (256 * i + j);
            CHECK(mine[0] == rounded_bfloat((double)a + b), "%g %g: %04x", a, b, mine[0]);
            CHECK(mine[1] == rounded_bfloat((double)a * b), "%g %g: %04x", a, b, mine[1]);
            CHECK(mine[2] == rounded_bfloat((double)a / b), "%g %g: %04x", a, b, mine[2]);
            CHECK(mine[3] == rounded_bfloat(fma((double)a, b, a)), "%g %g: %04x", a, b, mine[3]);
        }
}

__global__ void sums(__half *one, __half2 *two)
{
    atomicAdd(one, __float2half(0.5f));
    atomicAdd(two, __floats2half2_rn(1.0f, 0.25f));
    const __half lane = __int2half_rn((int)threadIdx.x);
    const __half2 pair = __halves2half2(lane, -lane);
    const float from =
        __half2float(__shfl_xor_sync(~0u, lane, 1)) + __low2float(__shfl_down_sync(~0u, pair, 0u));
    if ((int)from != (int)(threadIdx.x ^ 1) + (int)threadIdx.x) *one = __float2half(-1000.0f);
}

int main()
{
    test_pairs();
    test_ones();
    test_directions();
    test_bfloats();
    __half *const one = managed<__half>(1);
    __half2 *const two = managed<__half2>(1);
    sums<<<4, 64>>>(one, two);
    CUDA(cudaDeviceSynchronize());
    CHECK((float)*one == 128.0f, "%g", (float)*one);
    CHECK(__low2float(*two) == 256.0f && __high2float(*two) == 64.0f, "%g", __low2float(*two));
    return finish();
}
