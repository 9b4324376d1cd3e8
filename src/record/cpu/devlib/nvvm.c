/* __cts_nvvm_*: the arithmetic intrinsics of NVPTX as functions, by the conventions of
 * record/instrument/nvvm-abi.h: half, bfloat and their pairs travel as bits in a uint32_t.
 *
 * In the names: rn rz rp rm are the rounding directions nearest, zero, up and down; ftz flushes
 * subnormal operands and results to zero; approx is as exact as anything else here. */
#define _GNU_SOURCE
#include <math.h>

#include "devlib.h"

#define N(name) __cts_nvvm_##name

static inline float flush(float x)
{
    return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x;
}
static inline double flush_double(double x)
{
    return __builtin_fabs(x) < 0x1p-1022 ? __builtin_copysign(0.0, x) : x;
}

/* add, mul, div; rcp, sqrt; fma: in all directions, f, ftz.f and d. */
#define DIRECTION_2_(op, mode, direction, in_float, in_double)                                     \
    CTS_SMALL float N(op##_##mode##_f)(float a, float b)                                           \
    {                                                                                              \
        return in_float;                                                                           \
    }                                                                                              \
    CTS_SMALL float N(op##_##mode##_ftz_f)(float x, float y)                                       \
    {                                                                                              \
        const float a = flush(x), b = flush(y);                                                    \
        return flush(in_float);                                                                    \
    }                                                                                              \
    CTS_SMALL double N(op##_##mode##_d)(double a, double b)                                        \
    {                                                                                              \
        return in_double;                                                                          \
    }
#define DIRECTIONS_2_(op, in_float, in_double)                                                     \
    DIRECTION_2_(op, rn, CTS_RN, in_float, in_double)                                              \
    DIRECTION_2_(op, rz, CTS_RZ, cts_##op##_float(a, b, CTS_RZ), cts_##op##_double(a, b, CTS_RZ))  \
    DIRECTION_2_(op, rp, CTS_RU, cts_##op##_float(a, b, CTS_RU), cts_##op##_double(a, b, CTS_RU))  \
    DIRECTION_2_(op, rm, CTS_RD, cts_##op##_float(a, b, CTS_RD), cts_##op##_double(a, b, CTS_RD))
DIRECTIONS_2_(add, a + b, a + b)
DIRECTIONS_2_(mul, a *b, a *b)
DIRECTIONS_2_(div, a / b, a / b)

#define DIRECTION_1_(op, mode, in_float, in_double)                                                \
    CTS_SMALL float N(op##_##mode##_f)(float a)                                                    \
    {                                                                                              \
        return in_float;                                                                           \
    }                                                                                              \
    CTS_SMALL float N(op##_##mode##_ftz_f)(float x)                                                \
    {                                                                                              \
        const float a = flush(x);                                                                  \
        return flush(in_float);                                                                    \
    }                                                                                              \
    CTS_SMALL double N(op##_##mode##_d)(double a)                                                  \
    {                                                                                              \
        return in_double;                                                                          \
    }
DIRECTION_1_(rcp, rn, 1.0f / a, 1.0 / a)
DIRECTION_1_(rcp, rz, cts_div_float(1.0f, a, CTS_RZ), cts_div_double(1.0, a, CTS_RZ))
DIRECTION_1_(rcp, rp, cts_div_float(1.0f, a, CTS_RU), cts_div_double(1.0, a, CTS_RU))
DIRECTION_1_(rcp, rm, cts_div_float(1.0f, a, CTS_RD), cts_div_double(1.0, a, CTS_RD))
DIRECTION_1_(sqrt, rn, __builtin_sqrtf(a), __builtin_sqrt(a))
DIRECTION_1_(sqrt, rz, cts_sqrt_float(a, CTS_RZ), cts_sqrt_double(a, CTS_RZ))
DIRECTION_1_(sqrt, rp, cts_sqrt_float(a, CTS_RU), cts_sqrt_double(a, CTS_RU))
DIRECTION_1_(sqrt, rm, cts_sqrt_float(a, CTS_RD), cts_sqrt_double(a, CTS_RD))

#define DIRECTION_3_(mode, in_float, in_double)                                                    \
    CTS_SMALL float N(fma_##mode##_f)(float a, float b, float c)                                   \
    {                                                                                              \
        return in_float;                                                                           \
    }                                                                                              \
    CTS_SMALL float N(fma_##mode##_ftz_f)(float x, float y, float z)                               \
    {                                                                                              \
        const float a = flush(x), b = flush(y), c = flush(z);                                      \
        return flush(in_float);                                                                    \
    }                                                                                              \
    CTS_SMALL double N(fma_##mode##_d)(double a, double b, double c)                               \
    {                                                                                              \
        return in_double;                                                                          \
    }
DIRECTION_3_(rn, __builtin_fmaf(a, b, c), __builtin_fma(a, b, c))
DIRECTION_3_(rz, cts_fma_float(a, b, c, CTS_RZ), cts_fma_double(a, b, c, CTS_RZ))
DIRECTION_3_(rp, cts_fma_float(a, b, c, CTS_RU), cts_fma_double(a, b, c, CTS_RU))
DIRECTION_3_(rm, cts_fma_float(a, b, c, CTS_RD), cts_fma_double(a, b, c, CTS_RD))

/* One operand: `name`_f, _ftz_f and _d. */
#define UNARY_F_(name, in_float)                                                                   \
    CTS_SMALL float N(name##_f)(float a)                                                           \
    {                                                                                              \
        return in_float;                                                                           \
    }                                                                                              \
    CTS_SMALL float N(name##_ftz_f)(float x)                                                       \
    {                                                                                              \
        const float a = flush(x);                                                                  \
        return flush(in_float);                                                                    \
    }
#define UNARY_(name, in_float, in_double)                                                          \
    UNARY_F_(name, in_float)                                                                       \
    CTS_SMALL double N(name##_d)(double a)                                                         \
    {                                                                                              \
        return in_double;                                                                          \
    }
UNARY_(ceil, __builtin_ceilf(a), __builtin_ceil(a))
UNARY_(floor, __builtin_floorf(a), __builtin_floor(a))
UNARY_(trunc, __builtin_truncf(a), __builtin_trunc(a))
UNARY_(round, __builtin_rintf(a), __builtin_rint(a))
UNARY_(fabs, __builtin_fabsf(a), __builtin_fabs(a))
UNARY_(saturate, __builtin_fminf(__builtin_fmaxf(a, 0.0f), 1.0f),
       __builtin_fmin(__builtin_fmax(a, 0.0), 1.0))
UNARY_(ex2_approx, __builtin_exp2f(a), __builtin_exp2(a))
UNARY_(lg2_approx, __builtin_log2f(a), __builtin_log2(a))
UNARY_(rsqrt_approx, 1.0f / __builtin_sqrtf(a), cts_rsqrt(a))
UNARY_F_(sin_approx, __builtin_sinf(a))
UNARY_F_(cos_approx, __builtin_cosf(a))
UNARY_F_(sqrt_approx, __builtin_sqrtf(a))
UNARY_F_(rcp_approx, 1.0f / a)
CTS_SMALL float N(sqrt_f)(float a)
{
    return __builtin_sqrtf(a);
}
CTS_SMALL double N(rsqrt_approx_ftz_d)(double a)
{
    return flush_double(cts_rsqrt(flush_double(a)));
}
CTS_SMALL double N(rcp_approx_ftz_d)(double a)
{
    return flush_double(1.0 / flush_double(a));
}
CTS_SMALL float N(div_approx_f)(float a, float b)
{
    return a / b;
}
CTS_SMALL float N(div_approx_ftz_f)(float a, float b)
{
    return flush(flush(a) / flush(b));
}
CTS_SMALL double N(fmax_d)(double a, double b)
{
    return cts_max_double(a, b);
}
CTS_SMALL double N(fmin_d)(double a, double b)
{
    return cts_min_double(a, b);
}

/* 16-bit floating point. */
static inline float of_half(uint32_t bits)
{
    return (float)__builtin_bit_cast(_Float16, (uint16_t)bits);
}
static inline uint32_t to_half(float x)
{
    return __builtin_bit_cast(uint16_t, (_Float16)x);
}
static inline float of_bfloat(uint32_t bits)
{
    return cts_float_of(bits << 16);
}
static inline uint32_t to_bfloat(float x) /* nearest even */
{
    const uint32_t bits = cts_float_bits(x);
    return x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
static inline float flush_half(float x)
{
    return __builtin_fabsf(x) < 0x1p-14f ? __builtin_copysignf(0.0f, x) : x;
}

/* min and max. nan: a NaN operand yields NaN. xorsign.abs compares magnitudes and gives the result
 * the sign of the product. */
static inline float pick(float a, float b, int largest, int nan, int xorsign)
{
    if (nan && (a != a || b != b)) return cts_float_of(0x7fffffff);
    if (!xorsign) return largest ? cts_max_float(a, b) : cts_min_float(a, b);
    const uint32_t sign = (cts_float_bits(a) ^ cts_float_bits(b)) & 0x80000000u;
    const float x = __builtin_fabsf(a), y = __builtin_fabsf(b);
    const float size = largest ? cts_max_float(x, y) : cts_min_float(x, y);
    return cts_float_of((cts_float_bits(size) & 0x7fffffffu) | sign);
}
static inline float same(float x)
{
    return x;
}
#define PICK_16_(name, infix, largest, nan, xorsign, fl, type, of, to, width)                      \
    CTS_SMALL uint32_t N(name##infix##type)(uint32_t a, uint32_t b)                                \
    {                                                                                              \
        return to(fl(pick(fl(of(a)), fl(of(b)), largest, nan, xorsign)));                          \
    }                                                                                              \
    CTS_SMALL uint32_t N(name##infix##type##x2)(uint32_t a, uint32_t b)                            \
    {                                                                                              \
        return (N(name##infix##type)(a, b) & 0xffff) | N(name##infix##type)(a >> 16, b >> 16)      \
                                                           << 16;                                  \
    }
#define PICK_(name, infix, largest, nan, xorsign, fl, fl_half)                                     \
    CTS_SMALL float N(name##infix##f)(float a, float b)                                            \
    {                                                                                              \
        return fl(pick(fl(a), fl(b), largest, nan, xorsign));                                      \
    }                                                                                              \
    PICK_16_(name, infix, largest, nan, xorsign, fl_half, f16, of_half, to_half, 16)               \
    PICK_16_(name, infix, largest, nan, xorsign, fl, bf16, of_bfloat, to_bfloat, 16)
#define PICKS_(name, largest)                                                                      \
    PICK_(name, _, largest, 0, 0, same, same)                                                      \
    PICK_(name, _ftz_, largest, 0, 0, flush, flush_half)                                           \
    PICK_(name, _nan_, largest, 1, 0, same, same)                                                  \
    PICK_(name, _ftz_nan_, largest, 1, 0, flush, flush_half)                                       \
    PICK_(name, _xorsign_abs_, largest, 0, 1, same, same)                                          \
    PICK_(name, _ftz_xorsign_abs_, largest, 0, 1, flush, flush_half)                               \
    PICK_(name, _nan_xorsign_abs_, largest, 1, 1, same, same)                                      \
    PICK_(name, _ftz_nan_xorsign_abs_, largest, 1, 1, flush, flush_half)
PICKS_(fmax, 1)
PICKS_(fmin, 0)

/* fma of 16 bits: one rounding. A double holds a half's a * b + c with bits to spare wherever they
 * decide the rounding; a bfloat's exponents are too far apart for that. */
static inline float fma_half(float a, float b, float c)
{
    return (float)(_Float16)__builtin_fma((double)a, b, c);
}
static inline float fma_bfloat(float a, float b, float c)
{
    return of_bfloat(cts_fma_bfloat(a, b, c));
}
static inline float relu(float x)
{
    return x != x ? x : cts_max_float(x, 0.0f);
}
static inline float unit(float x)
{
    return x != x ? 0.0f : x <= 0 ? 0.0f : x > 1 ? 1.0f : x;
}
#define FMA_16_(infix, after, fl, type, of, to, compute)                                           \
    CTS_SMALL uint32_t N(fma_rn_##infix##type)(uint32_t a, uint32_t b, uint32_t c)                 \
    {                                                                                              \
        return to(after(fl(compute(fl(of(a)), fl(of(b)), fl(of(c))))));                            \
    }                                                                                              \
    CTS_SMALL uint32_t N(fma_rn_##infix##type##x2)(uint32_t a, uint32_t b, uint32_t c)             \
    {                                                                                              \
        return (N(fma_rn_##infix##type)(a, b, c) & 0xffff) |                                       \
               N(fma_rn_##infix##type)(a >> 16, b >> 16, c >> 16) << 16;                           \
    }
#define FMAS_16_(infix, after)                                                                     \
    FMA_16_(infix, after, same, f16, of_half, to_half, fma_half)                                   \
    FMA_16_(infix, after, same, bf16, of_bfloat, to_bfloat, fma_bfloat)                            \
    FMA_16_(ftz_##infix, after, flush_half, f16, of_half, to_half, fma_half)                       \
    FMA_16_(ftz_##infix, after, flush, bf16, of_bfloat, to_bfloat, fma_bfloat)
FMAS_16_(, same)
FMAS_16_(relu_, relu)
FMAS_16_(sat_, unit)

CTS_SMALL uint32_t N(abs_bf16)(uint32_t a)
{
    return a & 0x7fff;
}
CTS_SMALL uint32_t N(abs_bf16x2)(uint32_t a)
{
    return a & 0x7fff7fff;
}
CTS_SMALL uint32_t N(neg_bf16)(uint32_t a)
{
    return a ^ 0x8000;
}
CTS_SMALL uint32_t N(neg_bf16x2)(uint32_t a)
{
    return a ^ 0x80008000;
}
CTS_SMALL uint32_t N(ex2_approx_f16)(uint32_t a)
{
    return to_half(__builtin_exp2f(of_half(a)));
}
CTS_SMALL uint32_t N(ex2_approx_f16x2)(uint32_t a)
{
    return N(ex2_approx_f16)(a) | N(ex2_approx_f16)(a >> 16) << 16;
}
CTS_SMALL uint32_t N(f2h_rn)(float a)
{
    return to_half(a);
}
CTS_SMALL uint32_t N(f2h_rn_ftz)(float a)
{
    return to_half(flush(a));
}
CTS_SMALL uint32_t N(bf2h_rn)(uint32_t a)
{
    return to_half(of_bfloat(a));
}
CTS_SMALL uint32_t N(bf2h_rn_ftz)(uint32_t a)
{
    return to_half(flush(of_bfloat(a)));
}
#define NARROW_(mode, direction)                                                                   \
    CTS_SMALL uint32_t N(f2bf16_##mode)(float a)                                                   \
    {                                                                                              \
        return cts_double_to_bfloat(a, direction);                                                 \
    }                                                                                              \
    CTS_SMALL uint32_t N(f2bf16_##mode##_relu)(float a)                                            \
    {                                                                                              \
        return cts_double_to_bfloat(relu(a), direction);                                           \
    }                                                                                              \
    CTS_SMALL uint32_t N(ff2bf16x2_##mode)(float high, float low)                                  \
    {                                                                                              \
        return cts_double_to_bfloat(high, direction) << 16 | cts_double_to_bfloat(low, direction); \
    }                                                                                              \
    CTS_SMALL uint32_t N(ff2bf16x2_##mode##_relu)(float high, float low)                           \
    {                                                                                              \
        return N(ff2bf16x2_##mode)(relu(high), relu(low));                                         \
    }                                                                                              \
    CTS_SMALL uint32_t N(ff2f16x2_##mode)(float high, float low)                                   \
    {                                                                                              \
        return cts_double_to_half(high, direction) << 16 | cts_double_to_half(low, direction);     \
    }                                                                                              \
    CTS_SMALL uint32_t N(ff2f16x2_##mode##_relu)(float high, float low)                            \
    {                                                                                              \
        return N(ff2f16x2_##mode)(relu(high), relu(low));                                          \
    }
NARROW_(rn, CTS_RN)
NARROW_(rz, CTS_RZ)
/* 10 bits of mantissa, ties away from zero; the result keeps a float's place. */
CTS_SMALL uint32_t N(f2tf32_rna)(float a)
{
    const uint32_t bits = cts_float_bits(a);
    return a != a ? 0x7fffffff : (bits + 0x1000) & 0xffffe000;
}

/* Conversions: the __nv_ functions under other names. */
#define CONVERT_(name, result, argument, of)                                                       \
    result __nv_##of##_rn(argument);                                                               \
    result __nv_##of##_rz(argument);                                                               \
    result __nv_##of##_ru(argument);                                                               \
    result __nv_##of##_rd(argument);                                                               \
    CTS_SMALL result N(name##_rn)(argument a)                                                      \
    {                                                                                              \
        return __nv_##of##_rn(a);                                                                  \
    }                                                                                              \
    CTS_SMALL result N(name##_rz)(argument a)                                                      \
    {                                                                                              \
        return __nv_##of##_rz(a);                                                                  \
    }                                                                                              \
    CTS_SMALL result N(name##_rp)(argument a)                                                      \
    {                                                                                              \
        return __nv_##of##_ru(a);                                                                  \
    }                                                                                              \
    CTS_SMALL result N(name##_rm)(argument a)                                                      \
    {                                                                                              \
        return __nv_##of##_rd(a);                                                                  \
    }
#define CONVERT_FTZ_(name, result, argument)                                                       \
    CTS_SMALL result N(name##_rn_ftz)(argument a)                                                  \
    {                                                                                              \
        return N(name##_rn)(flush((float)a));                                                      \
    }                                                                                              \
    CTS_SMALL result N(name##_rz_ftz)(argument a)                                                  \
    {                                                                                              \
        return N(name##_rz)(flush((float)a));                                                      \
    }                                                                                              \
    CTS_SMALL result N(name##_rp_ftz)(argument a)                                                  \
    {                                                                                              \
        return N(name##_rp)(flush((float)a));                                                      \
    }                                                                                              \
    CTS_SMALL result N(name##_rm_ftz)(argument a)                                                  \
    {                                                                                              \
        return N(name##_rm)(flush((float)a));                                                      \
    }
CONVERT_(f2i, int, float, float2int)
CONVERT_(f2ui, unsigned, float, float2uint)
CONVERT_(f2ll, long long, float, float2ll)
CONVERT_(f2ull, unsigned long long, float, float2ull)
CONVERT_FTZ_(f2i, int, float)
CONVERT_FTZ_(f2ui, unsigned, float)
CONVERT_FTZ_(f2ll, long long, float)
CONVERT_FTZ_(f2ull, unsigned long long, float)
CONVERT_(d2i, int, double, double2int)
CONVERT_(d2ui, unsigned, double, double2uint)
CONVERT_(d2ll, long long, double, double2ll)
CONVERT_(d2ull, unsigned long long, double, double2ull)
CONVERT_(d2f, float, double, double2float)
CTS_SMALL float N(d2f_rn_ftz)(double a)
{
    return flush(N(d2f_rn)(a));
}
CTS_SMALL float N(d2f_rz_ftz)(double a)
{
    return flush(N(d2f_rz)(a));
}
CTS_SMALL float N(d2f_rp_ftz)(double a)
{
    return flush(N(d2f_rp)(a));
}
CTS_SMALL float N(d2f_rm_ftz)(double a)
{
    return flush(N(d2f_rm)(a));
}
CONVERT_(i2f, float, int, int2float)
CONVERT_(ui2f, float, unsigned, uint2float)
CONVERT_(ll2f, float, long long, ll2float)
CONVERT_(ull2f, float, unsigned long long, ull2float)
CONVERT_(ll2d, double, long long, ll2double)
CONVERT_(ull2d, double, unsigned long long, ull2double)
/* A double holds every 32-bit integer. */
#define EXACT_(mode)                                                                               \
    CTS_SMALL double N(i2d_##mode)(int a)                                                          \
    {                                                                                              \
        return a;                                                                                  \
    }                                                                                              \
    CTS_SMALL double N(ui2d_##mode)(unsigned a)                                                    \
    {                                                                                              \
        return a;                                                                                  \
    }
EXACT_(rn)
EXACT_(rz)
EXACT_(rp)
EXACT_(rm)

CTS_SMALL int N(bitcast_f2i)(float a)
{
    return (int)cts_float_bits(a);
}
CTS_SMALL float N(bitcast_i2f)(int a)
{
    return cts_float_of((uint32_t)a);
}
CTS_SMALL long long N(bitcast_d2ll)(double a)
{
    return (long long)cts_double_bits(a);
}
CTS_SMALL double N(bitcast_ll2d)(long long a)
{
    return cts_double_of((uint64_t)a);
}
CTS_SMALL int N(d2i_hi)(double a)
{
    return (int)(cts_double_bits(a) >> 32);
}
CTS_SMALL int N(d2i_lo)(double a)
{
    return (int)cts_double_bits(a);
}
CTS_SMALL double N(lohi_i2d)(int low, int high)
{
    return cts_double_of((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}
CTS_SMALL uint32_t N(move_i16)(uint32_t a)
{
    return a;
}
CTS_SMALL uint32_t N(move_i32)(uint32_t a)
{
    return a;
}
CTS_SMALL uint64_t N(move_i64)(uint64_t a)
{
    return a;
}
CTS_SMALL float N(move_float)(float a)
{
    return a;
}
CTS_SMALL double N(move_double)(double a)
{
    return a;
}
CTS_SMALL void *N(move_ptr)(void *a)
{
    return a;
}

/* Integers: i and ui of 32 bits, ll and ull of 64, s and us of 16. */
CTS_SMALL uint32_t N(mulhi_s)(uint32_t a, uint32_t b)
{
    return (uint32_t)(((int16_t)a * (int16_t)b) >> 16) & 0xffff;
}
CTS_SMALL uint32_t N(mulhi_us)(uint32_t a, uint32_t b)
{
    return (uint32_t)(uint16_t)a * (uint16_t)b >> 16;
}
CTS_SMALL int N(mulhi_i)(int a, int b)
{
    return (int)(((int64_t)a * b) >> 32);
}
CTS_SMALL uint32_t N(mulhi_ui)(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}
CTS_SMALL int64_t N(mulhi_ll)(int64_t a, int64_t b)
{
    return (int64_t)(((__int128)a * b) >> 64);
}
CTS_SMALL uint64_t N(mulhi_ull)(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}
int __nv_mul24(int a, int b);
unsigned __nv_umul24(unsigned a, unsigned b);
CTS_SMALL int N(mul24_i)(int a, int b)
{
    return __nv_mul24(a, b);
}
CTS_SMALL unsigned N(mul24_ui)(unsigned a, unsigned b)
{
    return __nv_umul24(a, b);
}
#define SAD_(name, type, word, carrier)                                                            \
    CTS_SMALL carrier N(sad_##name)(carrier x, carrier y, carrier c)                               \
    {                                                                                              \
        const type a = (type)x, b = (type)y;                                                       \
        return (carrier)(word)(c + (carrier)(a > b ? (word)a - (word)b : (word)b - (word)a));      \
    }
SAD_(s, int16_t, uint16_t, uint32_t)
SAD_(us, uint16_t, uint16_t, uint32_t)
SAD_(i, int32_t, uint32_t, uint32_t)
SAD_(ui, uint32_t, uint32_t, uint32_t)
SAD_(ll, int64_t, uint64_t, uint64_t)
SAD_(ull, uint64_t, uint64_t, uint64_t)
CTS_SMALL uint32_t N(rotate_b32)(uint32_t a, uint32_t n)
{
    return a << (n & 31) | a >> (-n & 31);
}
CTS_SMALL uint64_t N(rotate_b64)(uint64_t a, uint32_t n)
{
    return a << (n & 63) | a >> (-n & 63);
}
CTS_SMALL uint64_t N(rotate_right_b64)(uint64_t a, uint32_t n)
{
    return a >> (n & 63) | a << (-n & 63);
}
CTS_SMALL uint64_t N(swap_lo_hi_b64)(uint64_t a)
{
    return a << 32 | a >> 32;
}
CTS_SMALL uint32_t N(brev32)(uint32_t a)
{
    return __builtin_bitreverse32(a);
}
CTS_SMALL uint64_t N(brev64)(uint64_t a)
{
    return __builtin_bitreverse64(a);
}
CTS_SMALL int N(clz_i)(uint32_t a)
{
    return a ? __builtin_clz(a) : 32;
}
CTS_SMALL int N(clz_ll)(uint64_t a)
{
    return a ? __builtin_clzll(a) : 64;
}
CTS_SMALL int N(popc_i)(uint32_t a)
{
    return __builtin_popcount(a);
}
CTS_SMALL int N(popc_ll)(uint64_t a)
{
    return __builtin_popcountll(a);
}

/* Byte i of the result: nibble i of the selector names a byte of b:a, and its top bit asks for that
 * byte's sign eight times over. */
CTS_SMALL uint32_t N(prmt)(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t nibble = selector >> 4 * i & 15;
        uint32_t byte = (uint32_t)(bytes >> 8 * (nibble & 7)) & 0xff;
        if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}

/* The n-th set bit from base on, see __fns. */
CTS_SMALL uint32_t N(fns)(uint32_t mask, uint32_t base, int32_t n)
{
    const int step = n < 0 ? -1 : 1;
    int64_t left = n == 0 ? 1 : (int64_t)n * step;
    for (int bit = (int)base; bit >= 0 && bit < 32; bit += step) {
        if ((mask >> bit & 1) && --left == 0) return (uint32_t)bit;
        if (n == 0) break;
    }
    return 0xffffffffu;
}
