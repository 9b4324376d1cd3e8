/* Integer intrinsics in kernels against models on the host. */
#include "check.h"

enum { N = 4096 };

struct results {
    unsigned brev, clz, ffs, popc, byte_perm, funnel_l, funnel_lc, funnel_r, funnel_rc;
    unsigned long long brevll;
    int clzll, ffsll, popcll, mulhi, mul24, hadd, rhadd, dp4a, dp2a_lo, dp2a_hi;
    unsigned umulhi, umul24, uhadd, urhadd, sad, usad, udp4a, fns;
    unsigned long long umul64hi;
    long long mul64hi;
    unsigned vadd4, vaddus2, vmaxs4, vcmpgtu2, vabsdiffu4, vsads4;
    int viaddmax, vimin3, float_as_int, hiint, saturated, nearest;
    unsigned long long saturated_ull;
};

__global__ void compute(results *out, const unsigned *in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    const unsigned long long l = (unsigned long long)a << 32 | b;
    results r;
    r.brev = __brev(a);
    r.clz = (unsigned)__clz((int)a);
    r.ffs = (unsigned)__ffs((int)a);
    r.popc = (unsigned)__popc(a);
    r.byte_perm = __byte_perm(a, b, c);
    r.funnel_l = __funnelshift_l(a, b, c);
    r.funnel_lc = __funnelshift_lc(a, b, c & 63);
    r.funnel_r = __funnelshift_r(a, b, c);
    r.funnel_rc = __funnelshift_rc(a, b, c & 63);
    r.brevll = __brevll(l);
    r.clzll = __clzll((long long)l);
    r.ffsll = __ffsll((long long)l);
    r.popcll = __popcll(l);
    r.mulhi = __mulhi((int)a, (int)b);
    r.mul24 = __mul24((int)a, (int)b);
    r.hadd = __hadd((int)a, (int)b);
    r.rhadd = __rhadd((int)a, (int)b);
    r.dp4a = __dp4a((int)a, (int)b, (int)c);
    r.dp2a_lo = __dp2a_lo((int)a, (int)b, (int)c);
    r.dp2a_hi = __dp2a_hi((int)a, (int)b, (int)c);
    r.umulhi = __umulhi(a, b);
    r.umul24 = __umul24(a, b);
    r.uhadd = __uhadd(a, b);
    r.urhadd = __urhadd(a, b);
    r.sad = __sad((int)a, (int)b, c);
    r.usad = __usad(a, b, c);
    r.udp4a = __dp4a(a, b, c);
    r.fns = __fns(a, b & 31, (int)(c % 21) - 10);
    r.umul64hi = __umul64hi(l, ~l);
    r.mul64hi = __mul64hi((long long)l, (long long)c << 20);
    r.vadd4 = __vadd4(a, b);
    r.vaddus2 = __vaddus2(a, b);
    r.vmaxs4 = __vmaxs4(a, b);
    r.vcmpgtu2 = __vcmpgtu2(a, b);
    r.vabsdiffu4 = __vabsdiffu4(a, b);
    r.vsads4 = __vsads4(a, b);
    r.viaddmax = __viaddmax_s32((int)a, (int)b, (int)c);
    r.vimin3 = __vimin3_s32((int)a, (int)b, (int)c);
    r.float_as_int = __float_as_int(__uint_as_float(a));
    r.hiint = __double2hiint(__longlong_as_double((long long)l));
    r.saturated = __float2int_rz((float)(int)a * 4.0f);
    r.nearest = __double2int_rn((double)(int)a / 2);
    r.saturated_ull = __double2ull_rz((double)(int)a * 1e10);
    out[i] = r;
}

/* Four lanes of eight bits or two of sixteen. */
template <class L, class F> static unsigned lanes(unsigned a, unsigned b, F f)
{
    unsigned result = 0;
    constexpr int bits = 8 * (int)sizeof(L);
    for (int shift = 0; shift < 32; shift += bits)
        result |= ((unsigned)f((L)(a >> shift), (L)(b >> shift)) & ((1u << bits) - 1)) << shift;
    return result;
}

static unsigned nth_set(unsigned mask, unsigned base, int n)
{
    if (n == 0) return mask >> base & 1 ? base : ~0u;
    const int step = n < 0 ? -1 : 1;
    n *= step;
    for (int bit = (int)base; bit >= 0 && bit < 32; bit += step)
        if ((mask >> bit & 1) && --n == 0) return (unsigned)bit;
    return ~0u;
}

static void compare(const results &r, unsigned a, unsigned b, unsigned c)
{
    const int sa = (int)a, sb = (int)b, sc = (int)c;
    const unsigned long long l = (unsigned long long)a << 32 | b,
                             ba = (unsigned long long)b << 32 | a;
    unsigned brev = 0, perm = 0, dp = (unsigned)c, udp = c, lo = c, hi = c, sads = 0;
    unsigned long long brevll = 0;
    for (int i = 0; i < 32; i++) brev |= (a >> i & 1) << (31 - i);
    for (int i = 0; i < 64; i++) brevll |= (l >> i & 1) << (63 - i);
    for (int i = 0; i < 4; i++) {
        perm |= (unsigned)(ba >> 8 * (c >> 4 * i & 7) & 0xff) << 8 * i;
        const int x = (signed char)(a >> 8 * i), y = (signed char)(b >> 8 * i);
        dp += (unsigned)(x * y);
        udp += (a >> 8 * i & 0xff) * (b >> 8 * i & 0xff);
        sads += (unsigned)abs(x - y);
    }
    for (int i = 0; i < 2; i++) {
        lo += (unsigned)((short)(a >> 16 * i) * (signed char)(b >> 8 * i));
        hi += (unsigned)((short)(a >> 16 * i) * (signed char)(b >> (8 * i + 16)));
    }
    const unsigned s = c & 31, clamp = (c & 63) > 32 ? 32 : c & 63;
    CHECK(r.brev == brev && r.brevll == brevll, "%x", a);
    CHECK(r.clz == (a ? (unsigned)__builtin_clz(a) : 32) && r.ffs == (unsigned)__builtin_ffs(sa) &&
              r.popc == (unsigned)__builtin_popcount(a),
          "%x", a);
    CHECK(r.clzll == (l ? __builtin_clzll(l) : 64) && r.ffsll == __builtin_ffsll((long long)l) &&
              r.popcll == __builtin_popcountll(l),
          "%llx", l);
    CHECK(r.byte_perm == perm, "%x %x %x: %x", a, b, c, r.byte_perm);
    CHECK(r.funnel_l == (unsigned)((ba << s) >> 32) && r.funnel_r == (unsigned)(ba >> s), "%x", c);
    CHECK(r.funnel_lc == (unsigned)((ba << clamp) >> 32), "%x %x %x: %x", a, b, c, r.funnel_lc);
    CHECK(r.funnel_rc == (clamp == 32 ? b : (unsigned)(ba >> clamp)), "%x: %x", c, r.funnel_rc);
    CHECK(r.mulhi == (int)(((long long)sa * sb) >> 32), "%x %x", a, b);
    CHECK(r.umulhi == (unsigned)(((unsigned long long)a * b) >> 32), "%x %x", a, b);
    const long long a24 = (long long)(int)(a << 8) >> 8, b24 = (long long)(int)(b << 8) >> 8;
    CHECK(r.mul24 == (int)(a24 * b24), "%x %x: %x", a, b, r.mul24);
    CHECK(r.umul24 == (unsigned)((unsigned long long)(a & 0xffffff) * (b & 0xffffff)), "%x", a);
    CHECK(r.hadd == (int)(((long long)sa + sb) >> 1) &&
              r.rhadd == (int)(((long long)sa + sb + 1) >> 1),
          "%x %x", a, b);
    CHECK(r.uhadd == (unsigned)(((unsigned long long)a + b) >> 1) &&
              r.urhadd == (unsigned)(((unsigned long long)a + b + 1) >> 1),
          "%x %x", a, b);
    CHECK(r.sad == c + (unsigned)llabs((long long)sa - sb) && r.usad == c + (a > b ? a - b : b - a),
          "%x %x", a, b);
    CHECK((unsigned)r.dp4a == dp && r.udp4a == udp, "%x %x %x", a, b, c);
    CHECK((unsigned)r.dp2a_lo == lo && (unsigned)r.dp2a_hi == hi, "%x %x %x", a, b, c);
    CHECK(r.fns == nth_set(a, b & 31, (int)(c % 21) - 10), "%x %x %x: %x", a, b, c, r.fns);
    CHECK(r.umul64hi == (unsigned long long)(((unsigned __int128)l * ~l) >> 64), "%llx", l);
    CHECK(r.mul64hi == (long long)(((__int128)(long long)l * ((long long)c << 20)) >> 64), "%llx",
          l);
    CHECK(r.vadd4 == lanes<unsigned char>(a, b, [](int x, int y) { return x + y; }), "%x %x", a, b);
    CHECK(r.vaddus2 == lanes<unsigned short>(
                           a, b, [](int x, int y) { return x + y > 65535 ? 65535 : x + y; }),
          "%x %x", a, b);
    CHECK(r.vmaxs4 == lanes<signed char>(a, b, [](int x, int y) { return x > y ? x : y; }), "%x",
          a);
    CHECK(r.vcmpgtu2 == lanes<unsigned short>(a, b, [](int x, int y) { return x > y ? 65535 : 0; }),
          "%x %x", a, b);
    CHECK(r.vabsdiffu4 == lanes<unsigned char>(a, b, [](int x, int y) { return abs(x - y); }), "%x",
          a);
    CHECK(r.vsads4 == sads, "%x %x: %u", a, b, r.vsads4);
    const int wrapped = (int)(a + b);
    CHECK(r.viaddmax == (wrapped > sc ? wrapped : sc), "%x %x %x", a, b, c);
    CHECK(r.vimin3 == (sa < sb ? sa < sc ? sa : sc : sb < sc ? sb : sc), "%x %x %x", a, b, c);
    CHECK(r.float_as_int == sa || (a & 0x7fffffff) > 0x7f800000, "%x", a);
    CHECK(r.hiint == sa || (a & 0x7ff00000) == 0x7ff00000, "%x", a);
    const double quadruple = (double)((float)sa * 4.0f);
    CHECK(r.saturated == (quadruple >= 0x1p31   ? INT32_MAX
                          : quadruple < -0x1p31 ? INT32_MIN
                                                : (int)quadruple),
          "%x: %x", a, r.saturated);
    CHECK(r.nearest == (int)rint((double)sa / 2), "%x", a);
    const double product = (double)sa * 1e10;
    CHECK(r.saturated_ull == (product >= 0x1p64 ? ~0ull
                              : product < 0     ? 0
                                                : (unsigned long long)product),
          "%x: %llx", a, r.saturated_ull);
}

int main()
{
    unsigned *const in = managed<unsigned>(3 * N);
    results *const out = managed<results>(N);
    const unsigned edges[] = {0, 1, ~0u, 0x80000000u, 0x7fffffffu, 0x80808080u, 0x00ff00ffu, 31};
    unsigned seed = 1;
    for (int i = 0; i < 3 * N; i++) {
        seed = seed * 1664525u + 1013904223u;
        in[i] = i % 5 == 0 ? edges[(seed >> 20) % 8] : seed ^ seed >> 15;
    }
    compute<<<N / 256, 256>>>(out, in);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) compare(out[i], in[3 * i], in[3 * i + 1], in[3 * i + 2]);
    return finish();
}
