/* SIMD in a word: __nv_v*2 treats a word as two 16-bit lanes, __nv_v*4 as four bytes. Each is a
 * loop over the lanes, which LLVM turns into vector code. */
#include "devlib.h"

#define LANES_(name, suffix, bits, type, expression)                                               \
    CTS_SMALL int __nv_v##name##suffix(int x, int y)                                               \
    {                                                                                              \
        uint32_t result = 0;                                                                       \
        for (int shift = 0; shift < 32; shift += bits) {                                           \
            const int32_t a = (type)((uint32_t)x >> shift), b = (type)((uint32_t)y >> shift);      \
            const int32_t low = (type) - 1 < 0 ? -(1 << (bits - 1)) : 0;                           \
            const int32_t high = (type) - 1 < 0 ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;         \
            (void)a, (void)b, (void)low, (void)high;                                               \
            result |= ((uint32_t)(expression) & ((1u << bits) - 1)) << shift;                      \
        }                                                                                          \
        return (int)result;                                                                        \
    }
#define SIGNED_(name, expression)                                                                  \
    LANES_(name, 2, 16, int16_t, expression) LANES_(name, 4, 8, int8_t, expression)
#define UNSIGNED_(name, expression)                                                                \
    LANES_(name, 2, 16, uint16_t, expression) LANES_(name, 4, 8, uint8_t, expression)
#define CLAMP_(value) ((value) < low ? low : (value) > high ? high : (value))

UNSIGNED_(add, a + b)
SIGNED_(addss, CLAMP_(a + b))
UNSIGNED_(addus, CLAMP_(a + b))
UNSIGNED_(sub, a - b)
SIGNED_(subss, CLAMP_(a - b))
UNSIGNED_(subus, CLAMP_(a - b))
/* Averages rounded up; the signed one rounds halves away from zero. */
SIGNED_(avgs, (a + b + (a + b >= 0)) >> 1)
UNSIGNED_(avgu, (a + b + 1) >> 1)
UNSIGNED_(haddu, (a + b) >> 1)
SIGNED_(absdiffs, a > b ? a - b : b - a)
UNSIGNED_(absdiffu, a > b ? a - b : b - a)
SIGNED_(maxs, a > b ? a : b)
UNSIGNED_(maxu, a > b ? a : b)
SIGNED_(mins, a < b ? a : b)
UNSIGNED_(minu, a < b ? a : b)

#define COMPARE_(name, relation, KIND)                                                             \
    KIND(cmp##name, (a relation b) ? -1 : 0) KIND(set##name, (a relation b) ? 1 : 0)
COMPARE_(eq, ==, UNSIGNED_)
COMPARE_(ne, !=, UNSIGNED_)
COMPARE_(ges, >=, SIGNED_)
COMPARE_(geu, >=, UNSIGNED_)
COMPARE_(gts, >, SIGNED_)
COMPARE_(gtu, >, UNSIGNED_)
COMPARE_(les, <=, SIGNED_)
COMPARE_(leu, <=, UNSIGNED_)
COMPARE_(lts, <, SIGNED_)
COMPARE_(ltu, <, UNSIGNED_)

/* One operand. */
SIGNED_(cts_abs_, a < 0 ? -a : a)
SIGNED_(cts_absss_, CLAMP_(a < 0 ? -a : a))
CTS_SMALL int __nv_vabs2(int x)
{
    return __nv_vcts_abs_2(x, 0);
}
CTS_SMALL int __nv_vabs4(int x)
{
    return __nv_vcts_abs_4(x, 0);
}
CTS_SMALL int __nv_vabsss2(int x)
{
    return __nv_vcts_absss_2(x, 0);
}
CTS_SMALL int __nv_vabsss4(int x)
{
    return __nv_vcts_absss_4(x, 0);
}
CTS_SMALL int __nv_vneg2(int x)
{
    return __nv_vsub2(0, x);
}
CTS_SMALL int __nv_vneg4(int x)
{
    return __nv_vsub4(0, x);
}
CTS_SMALL int __nv_vnegss2(int x)
{
    return __nv_vsubss2(0, x);
}
CTS_SMALL int __nv_vnegss4(int x)
{
    return __nv_vsubss4(0, x);
}

/* Sums of absolute differences over the lanes. */
#define SUM_(name, bits, type)                                                                     \
    CTS_SMALL int __nv_v##name(int x, int y)                                                       \
    {                                                                                              \
        int sum = 0;                                                                               \
        for (int shift = 0; shift < 32; shift += bits) {                                           \
            const int a = (type)((uint32_t)x >> shift), b = (type)((uint32_t)y >> shift);          \
            sum += a > b ? a - b : b - a;                                                          \
        }                                                                                          \
        return sum;                                                                                \
    }
SUM_(sads2, 16, int16_t)
SUM_(sads4, 8, int8_t)
SUM_(sadu2, 16, uint16_t)
SUM_(sadu4, 8, uint8_t)
