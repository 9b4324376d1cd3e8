/* __half and __half2: IEEE 754 half precision over clang's _Float16, on host and device.
 *
 * Every operation rounds once, to nearest even: + - * / and square roots because a float has more
 * than twice a half's bits; fma because a double holds the product and every sum that could decide
 * a rounding. Functions of mathematics go through single precision. */
#ifndef CTASCOPE_CUDA_FP16_H
#define CTASCOPE_CUDA_FP16_H
#define __CUDA_FP16_H__ 1

#include "ctascope/small_float.h"

#define CTS_HALF_ static __inline__ __host__ __device__ __attribute__((always_inline))

typedef struct __align__(2) {
    unsigned short x;
} __half_raw;
typedef struct __align__(4) {
    unsigned short x, y;
} __half2_raw;

struct __align__(2) __half {
    union {
        _Float16 cts_value;
        unsigned short __x; /* the name that NVIDIA's libraries of headers know */
    };

    __half() = default;
    __host__ __device__ constexpr __half(_Float16 value) : cts_value(value) {}
    __host__ __device__ constexpr __half(float value) : cts_value((_Float16)value) {}
    __host__ __device__ constexpr __half(double value) : cts_value((_Float16)value) {}
    __host__ __device__ constexpr __half(int value) : cts_value((_Float16)value) {}
    __host__ __device__ constexpr __half(unsigned value) : cts_value((_Float16)value) {}
    __host__ __device__ constexpr __half(short value) : cts_value((_Float16)value) {}
    __host__ __device__ constexpr __half(unsigned short value) : cts_value((_Float16)value) {}
    __host__ __device__ constexpr __half(long value) : cts_value((_Float16)value) {}
    __host__ __device__ constexpr __half(unsigned long value) : cts_value((_Float16)value) {}
    __host__ __device__ constexpr __half(long long value) : cts_value((_Float16)value) {}
    __host__ __device__ constexpr __half(unsigned long long value) : cts_value((_Float16)value) {}
    __host__ __device__ __half(const __half_raw &raw)
        : cts_value(__builtin_bit_cast(_Float16, raw.x))
    {
    }
    __host__ __device__ operator __half_raw() const
    {
        return __half_raw{__builtin_bit_cast(unsigned short, cts_value)};
    }
    __host__ __device__ operator __half_raw() const volatile { return __half_raw{__x}; }
    __host__ __device__ constexpr operator float() const { return (float)cts_value; }
    __host__ __device__ constexpr operator bool() const { return cts_value != (_Float16)0; }
    __host__ __device__ operator signed char() const
    {
        return cts_to_integer_<signed char>((double)cts_value, cts_int_zero_);
    }
    __host__ __device__ operator unsigned char() const
    {
        return cts_to_integer_<unsigned char>((double)cts_value, cts_int_zero_);
    }
    __host__ __device__ operator char() const
    {
        return cts_to_integer_<char>((double)cts_value, cts_int_zero_);
    }
    __host__ __device__ operator short() const
    {
        return cts_to_integer_<short>((double)cts_value, cts_int_zero_);
    }
    __host__ __device__ operator unsigned short() const
    {
        return cts_to_integer_<unsigned short>((double)cts_value, cts_int_zero_);
    }
    __host__ __device__ operator int() const
    {
        return cts_to_integer_<int>((double)cts_value, cts_int_zero_);
    }
    __host__ __device__ operator unsigned int() const
    {
        return cts_to_integer_<unsigned int>((double)cts_value, cts_int_zero_);
    }
    __host__ __device__ operator long() const
    {
        return cts_to_integer_<long>((double)cts_value, cts_int_zero_);
    }
    __host__ __device__ operator unsigned long() const
    {
        return cts_to_integer_<unsigned long>((double)cts_value, cts_int_zero_);
    }
    __host__ __device__ operator long long() const
    {
        return cts_to_integer_<long long>((double)cts_value, cts_int_zero_);
    }
    __host__ __device__ operator unsigned long long() const
    {
        return cts_to_integer_<unsigned long long>((double)cts_value, cts_int_zero_);
    }
#define CTS_ASSIGN_(type)                                                                          \
    __host__ __device__ __half &operator=(type value)                                              \
    {                                                                                              \
        cts_value = (_Float16)value;                                                               \
        return *this;                                                                              \
    }
    CTS_ASSIGN_(float)
    CTS_ASSIGN_(double)
    CTS_ASSIGN_(short)
    CTS_ASSIGN_(unsigned short)
    CTS_ASSIGN_(int)
    CTS_ASSIGN_(unsigned int)
    CTS_ASSIGN_(long long)
    CTS_ASSIGN_(unsigned long long)
#undef CTS_ASSIGN_
    __host__ __device__ __half &operator=(const __half_raw &raw)
    {
        cts_value = __builtin_bit_cast(_Float16, raw.x);
        return *this;
    }
};

struct __align__(4) __half2 {
    __half x, y;

    __half2() = default;
    __host__ __device__ constexpr __half2(const __half &low, const __half &high) : x(low), y(high)
    {
    }
    __host__ __device__ __half2(const __half2_raw &raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y})
    {
    }
    __host__ __device__ operator __half2_raw() const
    {
        return __half2_raw{((__half_raw)x).x, ((__half_raw)y).x};
    }
};

#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#endif

CTS_HALF_ _Float16 cts_f16_(__half a)
{
    return a.cts_value;
}
CTS_HALF_ __half cts_half_(_Float16 value)
{
    return __half(value);
}
CTS_HALF_ __half cts_half_bits_(unsigned short bits)
{
    return __half(__half_raw{bits});
}

/* Bits. */
CTS_HALF_ unsigned short __half_as_ushort(__half a)
{
    return ((__half_raw)a).x;
}
CTS_HALF_ short __half_as_short(__half a)
{
    return (short)((__half_raw)a).x;
}
CTS_HALF_ __half __ushort_as_half(unsigned short bits)
{
    return cts_half_bits_(bits);
}
CTS_HALF_ __half __short_as_half(short bits)
{
    return cts_half_bits_((unsigned short)bits);
}

/* Conversion to half, in all directions. */
CTS_HALF_ __half cts_half_towards_(double value, cts_direction_ direction)
{
    const __half nearest = cts_half_((_Float16)value);
    if (value != value) return nearest;
    return cts_half_bits_(
        cts_redirect_(__half_as_ushort(nearest), (double)nearest.cts_value, value, direction));
}
#define CTS_TO_HALF_(name, type)                                                                   \
    CTS_HALF_ __half name##_rn(type a)                                                             \
    {                                                                                              \
        return cts_half_((_Float16)a);                                                             \
    }                                                                                              \
    CTS_HALF_ __half name##_rz(type a)                                                             \
    {                                                                                              \
        return cts_half_towards_((double)a, cts_to_zero_);                                         \
    }                                                                                              \
    CTS_HALF_ __half name##_ru(type a)                                                             \
    {                                                                                              \
        return cts_half_towards_((double)a, cts_up_);                                              \
    }                                                                                              \
    CTS_HALF_ __half name##_rd(type a)                                                             \
    {                                                                                              \
        return cts_half_towards_((double)a, cts_down_);                                            \
    }
CTS_TO_HALF_(__float2half, float)
CTS_TO_HALF_(__int2half, int)
CTS_TO_HALF_(__uint2half, unsigned int)
CTS_TO_HALF_(__short2half, short)
CTS_TO_HALF_(__ushort2half, unsigned short)
CTS_TO_HALF_(__ll2half, long long)
CTS_TO_HALF_(__ull2half, unsigned long long)
#undef CTS_TO_HALF_
CTS_HALF_ __half __float2half(float a)
{
    return cts_half_((_Float16)a);
}
CTS_HALF_ __half __double2half(double a)
{
    return cts_half_((_Float16)a);
}
CTS_HALF_ float __half2float(__half a)
{
    return (float)a.cts_value;
}

#define CTS_FROM_HALF_(name, type)                                                                 \
    CTS_HALF_ type name##_rn(__half a)                                                             \
    {                                                                                              \
        return cts_to_integer_<type>((double)a.cts_value, cts_int_nearest_);                       \
    }                                                                                              \
    CTS_HALF_ type name##_rz(__half a)                                                             \
    {                                                                                              \
        return cts_to_integer_<type>((double)a.cts_value, cts_int_zero_);                          \
    }                                                                                              \
    CTS_HALF_ type name##_ru(__half a)                                                             \
    {                                                                                              \
        return cts_to_integer_<type>((double)a.cts_value, cts_int_up_);                            \
    }                                                                                              \
    CTS_HALF_ type name##_rd(__half a)                                                             \
    {                                                                                              \
        return cts_to_integer_<type>((double)a.cts_value, cts_int_down_);                          \
    }
CTS_FROM_HALF_(__half2int, int)
CTS_FROM_HALF_(__half2uint, unsigned int)
CTS_FROM_HALF_(__half2short, short)
CTS_FROM_HALF_(__half2ushort, unsigned short)
CTS_FROM_HALF_(__half2char, signed char)
CTS_FROM_HALF_(__half2uchar, unsigned char)
CTS_FROM_HALF_(__half2ll, long long)
CTS_FROM_HALF_(__half2ull, unsigned long long)
#undef CTS_FROM_HALF_

/* Pairs. */
CTS_HALF_ __half2 make_half2(__half x, __half y)
{
    return __half2(x, y);
}
CTS_HALF_ __half2 __halves2half2(__half low, __half high)
{
    return __half2(low, high);
}
CTS_HALF_ __half2 __half2half2(__half a)
{
    return __half2(a, a);
}
CTS_HALF_ __half2 __float2half2_rn(float a)
{
    return __half2half2(__float2half_rn(a));
}
CTS_HALF_ __half2 __floats2half2_rn(float low, float high)
{
    return __half2(__float2half_rn(low), __float2half_rn(high));
}
CTS_HALF_ __half2 __float22half2_rn(float2 a)
{
    return __floats2half2_rn(a.x, a.y);
}
CTS_HALF_ float2 __half22float2(__half2 a)
{
    return make_float2((float)a.x, (float)a.y);
}
CTS_HALF_ float __low2float(__half2 a)
{
    return (float)a.x;
}
CTS_HALF_ float __high2float(__half2 a)
{
    return (float)a.y;
}
CTS_HALF_ __half __low2half(__half2 a)
{
    return a.x;
}
CTS_HALF_ __half __high2half(__half2 a)
{
    return a.y;
}
CTS_HALF_ __half2 __low2half2(__half2 a)
{
    return __half2(a.x, a.x);
}
CTS_HALF_ __half2 __high2half2(__half2 a)
{
    return __half2(a.y, a.y);
}
CTS_HALF_ __half2 __lows2half2(__half2 a, __half2 b)
{
    return __half2(a.x, b.x);
}
CTS_HALF_ __half2 __highs2half2(__half2 a, __half2 b)
{
    return __half2(a.y, b.y);
}
CTS_HALF_ __half2 __lowhigh2highlow(__half2 a)
{
    return __half2(a.y, a.x);
}

/* Arithmetic: `name` on halves, `name2` on pairs. */
CTS_HALF_ __half cts_half_unit_(__half a)
{
    const float value = (float)a;
    return value != value || value <= 0 ? __half(0.0f) : value > 1 ? __half(1.0f) : a;
}
CTS_HALF_ __half cts_half_relu_(__half a)
{
    const float value = (float)a;
    return value != value ? cts_half_bits_(0x7fff) : value <= 0 ? __half(0.0f) : a;
}
#define CTS_HALF_BINARY_(name, name2, expression)                                                  \
    CTS_HALF_ __half name(__half a, __half b)                                                      \
    {                                                                                              \
        return expression;                                                                         \
    }                                                                                              \
    CTS_HALF_ __half2 name2(__half2 a, __half2 b)                                                  \
    {                                                                                              \
        return __half2(name(a.x, b.x), name(a.y, b.y));                                            \
    }
#define CTS_HALF_ROUNDED_(operation) cts_half_((_Float16)(cts_f16_(a) operation cts_f16_(b)))
CTS_HALF_BINARY_(__hadd, __hadd2, CTS_HALF_ROUNDED_(+))
CTS_HALF_BINARY_(__hsub, __hsub2, CTS_HALF_ROUNDED_(-))
CTS_HALF_BINARY_(__hmul, __hmul2, CTS_HALF_ROUNDED_(*))
CTS_HALF_BINARY_(__hdiv, __h2div, cts_half_((_Float16)((float)a / (float)b)))
#undef CTS_HALF_ROUNDED_
CTS_HALF_BINARY_(__hadd_sat, __hadd2_sat, cts_half_unit_(__hadd(a, b)))
CTS_HALF_BINARY_(__hsub_sat, __hsub2_sat, cts_half_unit_(__hsub(a, b)))
CTS_HALF_BINARY_(__hmul_sat, __hmul2_sat, cts_half_unit_(__hmul(a, b)))
/* The _rn forms are never contracted into an fma: their operations are done in single precision,
 * where a contraction cannot reach across the conversions. */
CTS_HALF_BINARY_(__hadd_rn, __hadd2_rn, cts_half_((_Float16)((float)a + (float)b)))
CTS_HALF_BINARY_(__hsub_rn, __hsub2_rn, cts_half_((_Float16)((float)a - (float)b)))
CTS_HALF_BINARY_(__hmul_rn, __hmul2_rn, cts_half_((_Float16)((float)a *(float)b)))

#define CTS_HALF_TERNARY_(name, name2, expression)                                                 \
    CTS_HALF_ __half name(__half a, __half b, __half c)                                            \
    {                                                                                              \
        return expression;                                                                         \
    }                                                                                              \
    CTS_HALF_ __half2 name2(__half2 a, __half2 b, __half2 c)                                       \
    {                                                                                              \
        return __half2(name(a.x, b.x, c.x), name(a.y, b.y, c.y));                                  \
    }
CTS_HALF_TERNARY_(__hfma, __hfma2,
                  cts_half_((_Float16)__builtin_fma((double)a.cts_value, (double)b.cts_value,
                                                    (double)c.cts_value)))
CTS_HALF_TERNARY_(__hfma_sat, __hfma2_sat, cts_half_unit_(__hfma(a, b, c)))
CTS_HALF_TERNARY_(__hfma_relu, __hfma2_relu, cts_half_relu_(__hfma(a, b, c)))
#undef CTS_HALF_TERNARY_

#define CTS_HALF_UNARY_(name, name2, expression)                                                   \
    CTS_HALF_ __half name(__half a)                                                                \
    {                                                                                              \
        return expression;                                                                         \
    }                                                                                              \
    CTS_HALF_ __half2 name2(__half2 a)                                                             \
    {                                                                                              \
        return __half2(name(a.x), name(a.y));                                                      \
    }
CTS_HALF_UNARY_(__hneg, __hneg2, cts_half_bits_((unsigned short)(__half_as_ushort(a) ^ 0x8000)))
CTS_HALF_UNARY_(__habs, __habs2, cts_half_bits_((unsigned short)(__half_as_ushort(a) & 0x7fff)))

/* a * b + c of complex numbers. */
CTS_HALF_ __half2 __hcmadd(__half2 a, __half2 b, __half2 c)
{
    return __half2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)),
                   __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}

/* Comparisons: plain ones are false for NaN, those with u true. Of pairs: 1.0 and 0.0 per element,
 * a mask, or whether both hold (hb). */
CTS_HALF_ bool __hisnan(__half a)
{
    return a.cts_value != a.cts_value;
}
CTS_HALF_ int __hisinf(__half a)
{
    const unsigned short bits = __half_as_ushort(a);
    return bits == 0x7c00 ? 1 : bits == 0xfc00 ? -1 : 0;
}
CTS_HALF_ __half2 __hisnan2(__half2 a)
{
    return __half2(__half(__hisnan(a.x) ? 1.0f : 0.0f), __half(__hisnan(a.y) ? 1.0f : 0.0f));
}
#define CTS_HALF_COMPARE_(name, expression)                                                        \
    CTS_HALF_ bool __h##name(__half a, __half b)                                                   \
    {                                                                                              \
        return expression;                                                                         \
    }                                                                                              \
    CTS_HALF_ __half2 __h##name##2(__half2 a, __half2 b)                                           \
    {                                                                                              \
        return __half2(__half(__h##name(a.x, b.x) ? 1.0f : 0.0f),                                  \
                       __half(__h##name(a.y, b.y) ? 1.0f : 0.0f));                                 \
    }                                                                                              \
    CTS_HALF_ unsigned int __h##name##2_mask(__half2 a, __half2 b)                                 \
    {                                                                                              \
        return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);    \
    }                                                                                              \
    CTS_HALF_ bool __hb##name##2(__half2 a, __half2 b)                                             \
    {                                                                                              \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                         \
    }
CTS_HALF_COMPARE_(eq, cts_f16_(a) == cts_f16_(b))
CTS_HALF_COMPARE_(ne, cts_f16_(a) < cts_f16_(b) || cts_f16_(a) > cts_f16_(b))
CTS_HALF_COMPARE_(lt, cts_f16_(a) < cts_f16_(b))
CTS_HALF_COMPARE_(le, cts_f16_(a) <= cts_f16_(b))
CTS_HALF_COMPARE_(gt, cts_f16_(a) > cts_f16_(b))
CTS_HALF_COMPARE_(ge, cts_f16_(a) >= cts_f16_(b))
CTS_HALF_COMPARE_(equ, !(cts_f16_(a) < cts_f16_(b) || cts_f16_(a) > cts_f16_(b)))
CTS_HALF_COMPARE_(neu, cts_f16_(a) != cts_f16_(b))
CTS_HALF_COMPARE_(ltu, !(cts_f16_(a) >= cts_f16_(b)))
CTS_HALF_COMPARE_(leu, !(cts_f16_(a) > cts_f16_(b)))
CTS_HALF_COMPARE_(gtu, !(cts_f16_(a) <= cts_f16_(b)))
CTS_HALF_COMPARE_(geu, !(cts_f16_(a) < cts_f16_(b)))
#undef CTS_HALF_COMPARE_

/* A NaN operand yields the other one, or (nan) a NaN; -0 is below +0. */
CTS_HALF_ __half cts_half_pick_(__half a, __half b, bool largest)
{
    if (__hisnan(a) && __hisnan(b)) return cts_half_bits_(0x7fff);
    if (__hisnan(a) || __hisnan(b)) return __hisnan(a) ? b : a;
    if (cts_f16_(a) == cts_f16_(b)) return ((__half_as_ushort(a) & 0x8000) != 0) == largest ? b : a;
    return (cts_f16_(a) > cts_f16_(b)) == largest ? a : b;
}
#define CTS_HALF_ANY_NAN_(other) (__hisnan(a) || __hisnan(b) ? cts_half_bits_(0x7fff) : other(a, b))
CTS_HALF_BINARY_(__hmax, __hmax2, cts_half_pick_(a, b, true))
CTS_HALF_BINARY_(__hmin, __hmin2, cts_half_pick_(a, b, false))
CTS_HALF_BINARY_(__hmax_nan, __hmax2_nan, CTS_HALF_ANY_NAN_(__hmax))
CTS_HALF_BINARY_(__hmin_nan, __hmin2_nan, CTS_HALF_ANY_NAN_(__hmin))
#undef CTS_HALF_ANY_NAN_
#undef CTS_HALF_BINARY_

#ifndef __CUDA_NO_HALF_OPERATORS__
#define CTS_HALF_OPERATOR_(symbol, name, name2)                                                    \
    CTS_HALF_ __half operator symbol(const __half &a, const __half &b)                             \
    {                                                                                              \
        return name(a, b);                                                                         \
    }                                                                                              \
    CTS_HALF_ __half &operator symbol##=(__half & a, const __half & b)                             \
    {                                                                                              \
        return a = name(a, b);                                                                     \
    }                                                                                              \
    CTS_HALF_ __half2 operator symbol(const __half2 &a, const __half2 &b)                          \
    {                                                                                              \
        return name2(a, b);                                                                        \
    }                                                                                              \
    CTS_HALF_ __half2 &operator symbol##=(__half2 & a, const __half2 & b)                          \
    {                                                                                              \
        return a = name2(a, b);                                                                    \
    }
CTS_HALF_OPERATOR_(+, __hadd, __hadd2)
CTS_HALF_OPERATOR_(-, __hsub, __hsub2)
CTS_HALF_OPERATOR_(*, __hmul, __hmul2)
CTS_HALF_OPERATOR_(/, __hdiv, __h2div)
#undef CTS_HALF_OPERATOR_
CTS_HALF_ __half operator+(const __half &a)
{
    return a;
}
CTS_HALF_ __half operator-(const __half &a)
{
    return __hneg(a);
}
CTS_HALF_ __half2 operator+(const __half2 &a)
{
    return a;
}
CTS_HALF_ __half2 operator-(const __half2 &a)
{
    return __hneg2(a);
}
CTS_HALF_ __half &operator++(__half &a)
{
    return a = __hadd(a, __half(1.0f));
}
CTS_HALF_ __half &operator--(__half &a)
{
    return a = __hsub(a, __half(1.0f));
}
CTS_HALF_ __half operator++(__half &a, int)
{
    const __half old = a;
    ++a;
    return old;
}
CTS_HALF_ __half operator--(__half &a, int)
{
    const __half old = a;
    --a;
    return old;
}
#define CTS_HALF_RELATION_(symbol, name)                                                           \
    CTS_HALF_ bool operator symbol(const __half &a, const __half &b)                               \
    {                                                                                              \
        return __h##name(a, b);                                                                    \
    }                                                                                              \
    CTS_HALF_ bool operator symbol(const __half2 &a, const __half2 &b)                             \
    {                                                                                              \
        return __hb##name##2(a, b);                                                                \
    }
CTS_HALF_RELATION_(==, eq)
CTS_HALF_RELATION_(!=, neu)
CTS_HALF_RELATION_(<, lt)
CTS_HALF_RELATION_(<=, le)
CTS_HALF_RELATION_(>, gt)
CTS_HALF_RELATION_(>=, ge)
#undef CTS_HALF_RELATION_
#endif

/* Functions of mathematics. */
CTS_HALF_UNARY_(hsqrt, h2sqrt, __half(__builtin_sqrtf((float)a)))
CTS_HALF_UNARY_(hfloor, h2floor, __half(__builtin_floorf((float)a)))
CTS_HALF_UNARY_(hceil, h2ceil, __half(__builtin_ceilf((float)a)))
CTS_HALF_UNARY_(htrunc, h2trunc, __half(__builtin_truncf((float)a)))
CTS_HALF_UNARY_(hrint, h2rint, __half(__builtin_rintf((float)a)))
CTS_HALF_UNARY_(hrcp, h2rcp, __half(1.0f / (float)a))
CTS_HALF_UNARY_(hrsqrt, h2rsqrt, __half(1.0f / __builtin_sqrtf((float)a)))
#undef CTS_HALF_UNARY_

#ifdef __CUDA__
#define CTS_HALF_DEVICE_ static __device__ __forceinline__
#define CTS_HALF_FUNCTION_(name, single)                                                           \
    CTS_HALF_DEVICE_ __half h##name(__half a)                                                      \
    {                                                                                              \
        return __half(single((float)a));                                                           \
    }                                                                                              \
    CTS_HALF_DEVICE_ __half2 h2##name(__half2 a)                                                   \
    {                                                                                              \
        return __half2(h##name(a.x), h##name(a.y));                                                \
    }
CTS_HALF_FUNCTION_(exp, ::expf)
CTS_HALF_FUNCTION_(exp2, ::exp2f)
CTS_HALF_FUNCTION_(exp10, ::exp10f)
CTS_HALF_FUNCTION_(log, ::logf)
CTS_HALF_FUNCTION_(log2, ::log2f)
CTS_HALF_FUNCTION_(log10, ::log10f)
CTS_HALF_FUNCTION_(sin, ::sinf)
CTS_HALF_FUNCTION_(cos, ::cosf)
CTS_HALF_FUNCTION_(tanh, ::tanhf)
CTS_HALF_FUNCTION_(tanh_approx, ::tanhf)
#undef CTS_HALF_FUNCTION_

/* Warps: shuffles carry the bits. */
#define CTS_HALF_SHUFFLE_(name, offset_type)                                                       \
    CTS_HALF_DEVICE_ __half name(unsigned int mask, __half value, offset_type offset,              \
                                 int width = 32)                                                   \
    {                                                                                              \
        return cts_half_bits_(                                                                     \
            (unsigned short)name(mask, (int)__half_as_ushort(value), offset, width));              \
    }                                                                                              \
    CTS_HALF_DEVICE_ __half2 name(unsigned int mask, __half2 value, offset_type offset,            \
                                  int width = 32)                                                  \
    {                                                                                              \
        return __builtin_bit_cast(__half2,                                                         \
                                  name(mask, __builtin_bit_cast(int, value), offset, width));      \
    }
CTS_HALF_SHUFFLE_(__shfl_sync, int)
CTS_HALF_SHUFFLE_(__shfl_up_sync, unsigned int)
CTS_HALF_SHUFFLE_(__shfl_down_sync, unsigned int)
CTS_HALF_SHUFFLE_(__shfl_xor_sync, int)
#undef CTS_HALF_SHUFFLE_

/* Memory: one access each. */
#define CTS_HALF_STORE_(store)                                                                     \
    CTS_HALF_DEVICE_ void store(__half *address, __half value)                                     \
    {                                                                                              \
        *(unsigned short *)(void *)address = __half_as_ushort(value);                              \
    }                                                                                              \
    CTS_HALF_DEVICE_ void store(__half2 *address, __half2 value)                                   \
    {                                                                                              \
        *(unsigned int *)(void *)address = __builtin_bit_cast(unsigned int, value);                \
    }
#define CTS_HALF_LOAD_(load)                                                                       \
    CTS_HALF_DEVICE_ __half load(const __half *address)                                            \
    {                                                                                              \
        return cts_half_bits_(*(const unsigned short *)(const void *)address);                     \
    }                                                                                              \
    CTS_HALF_DEVICE_ __half2 load(const __half2 *address)                                          \
    {                                                                                              \
        return __builtin_bit_cast(__half2, *(const unsigned int *)(const void *)address);          \
    }
CTS_HALF_LOAD_(__ldg)
CTS_HALF_LOAD_(__ldca)
CTS_HALF_LOAD_(__ldcg)
CTS_HALF_LOAD_(__ldcs)
CTS_HALF_LOAD_(__ldlu)
CTS_HALF_LOAD_(__ldcv)
CTS_HALF_STORE_(__stwb)
CTS_HALF_STORE_(__stcg)
CTS_HALF_STORE_(__stcs)
CTS_HALF_STORE_(__stwt)
#undef CTS_HALF_STORE_
#undef CTS_HALF_LOAD_

/* Atomics: of a pair, each half by itself, as the hardware promises no more. */
CTS_HALF_DEVICE_ __half atomicAdd(__half *address, __half value)
{
    return cts_half_(__atomic_fetch_add(&address->cts_value, value.cts_value, __ATOMIC_SEQ_CST));
}
CTS_HALF_DEVICE_ __half2 atomicAdd(__half2 *address, __half2 value)
{
    return __half2(atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y));
}
#undef CTS_HALF_DEVICE_
#endif

#endif
