/* __nv_bfloat16 and __nv_bfloat162: the upper half of a float, on host and device. Operations are
 * done in single precision and rounded once to nearest even (a float has more than twice the bits);
 * fma in double with the bits that decide a rounding kept. */
#ifndef CTASCOPE_CUDA_BF16_H
#define CTASCOPE_CUDA_BF16_H
#define __CUDA_BF16_H__ 1

#include "ctascope/small_float.h"

#define CTS_BF16_ static __inline__ __host__ __device__ __attribute__((always_inline))

typedef struct __align__(2) {
    unsigned short x;
} __nv_bfloat16_raw;
typedef struct __align__(4) {
    unsigned short x, y;
} __nv_bfloat162_raw;

CTS_BF16_ float cts_bf16_value_(unsigned short bits)
{
    return __builtin_bit_cast(float, (unsigned int)bits << 16);
}
CTS_BF16_ unsigned short cts_bf16_bits_(float value)
{
    const unsigned int bits = __builtin_bit_cast(unsigned int, value);
    return value != value ? 0x7fff : (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
/* A double as a float *rounded to odd*: cut off, the lowest bit set when anything was lost. A
 * second rounding, to fewer bits, then errs in nothing. */
CTS_BF16_ float cts_round_to_odd_(double value)
{
    const float nearest = (float)value;
    if (value != value || (double)nearest == value) return nearest;
    unsigned int bits = __builtin_bit_cast(unsigned int, nearest);
    if (__builtin_fabs((double)nearest) > __builtin_fabs(value)) bits--;
    return __builtin_bit_cast(float, bits | 1);
}

/* At most 53 significant bits, the lowest set when anything was lost. */
CTS_BF16_ unsigned long long cts_bf16_odd_(unsigned long long value)
{
    return value >> 53 ? (value & ~0xfffull) | ((value & 0xfff) != 0) << 12 : value;
}

struct __align__(2) __nv_bfloat16 {
    unsigned short __x;

    __nv_bfloat16() = default;
    __host__ __device__ __nv_bfloat16(float value) : __x(cts_bf16_bits_(value)) {}
    __host__ __device__ __nv_bfloat16(double value) : __x(cts_bf16_bits_(cts_round_to_odd_(value)))
    {
    }
    __host__ __device__ __nv_bfloat16(int value) : __nv_bfloat16((double)value) {}
    __host__ __device__ __nv_bfloat16(unsigned int value) : __nv_bfloat16((double)value) {}
    __host__ __device__ __nv_bfloat16(short value) : __nv_bfloat16((double)value) {}
    __host__ __device__ __nv_bfloat16(unsigned short value) : __nv_bfloat16((double)value) {}
    __host__ __device__ __nv_bfloat16(long value) : __nv_bfloat16((long long)value) {}
    __host__ __device__ __nv_bfloat16(unsigned long value)
        : __nv_bfloat16((unsigned long long)value)
    {
    }
    /* 64 bits do not fit a double: what is lost becomes the lowest bit, which rounds as the rest.
     */
    __host__ __device__ __nv_bfloat16(long long value)
        : __nv_bfloat16(value < 0 ? -(double)cts_bf16_odd_(0 - (unsigned long long)value)
                                  : (double)cts_bf16_odd_((unsigned long long)value))
    {
    }
    __host__ __device__ __nv_bfloat16(unsigned long long value)
        : __nv_bfloat16((double)cts_bf16_odd_(value))
    {
    }
    __host__ __device__ __nv_bfloat16(const __nv_bfloat16_raw &raw) : __x(raw.x) {}
    __host__ __device__ operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
    __host__ __device__ operator __nv_bfloat16_raw() const volatile
    {
        return __nv_bfloat16_raw{__x};
    }
    __host__ __device__ operator float() const { return cts_bf16_value_(__x); }
    __host__ __device__ explicit operator bool() const { return (__x & 0x7fff) != 0; }
#define CTS_INTEGER_(type)                                                                         \
    __host__ __device__ operator type() const                                                      \
    {                                                                                              \
        return cts_to_integer_<type>((double)cts_bf16_value_(__x), cts_int_zero_);                 \
    }
    CTS_INTEGER_(signed char)
    CTS_INTEGER_(unsigned char)
    CTS_INTEGER_(char)
    CTS_INTEGER_(short)
    CTS_INTEGER_(unsigned short)
    CTS_INTEGER_(int)
    CTS_INTEGER_(unsigned int)
    CTS_INTEGER_(long)
    CTS_INTEGER_(unsigned long)
    CTS_INTEGER_(long long)
    CTS_INTEGER_(unsigned long long)
#undef CTS_INTEGER_
#define CTS_ASSIGN_(type)                                                                          \
    __host__ __device__ __nv_bfloat16 &operator=(type value)                                       \
    {                                                                                              \
        return *this = __nv_bfloat16(value);                                                       \
    }
    CTS_ASSIGN_(float)
    CTS_ASSIGN_(double)
    CTS_ASSIGN_(short)
    CTS_ASSIGN_(unsigned short)
    CTS_ASSIGN_(int)
    CTS_ASSIGN_(unsigned int)
    CTS_ASSIGN_(long long)
    CTS_ASSIGN_(unsigned long long)
    CTS_ASSIGN_(const __nv_bfloat16_raw &)
#undef CTS_ASSIGN_
};
struct __align__(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;

    __nv_bfloat162() = default;
    __host__ __device__ __nv_bfloat162(const __nv_bfloat16 &low, const __nv_bfloat16 &high)
        : x(low), y(high)
    {
    }
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

/* Conversions. */
CTS_BF16_ float __bfloat162float(__nv_bfloat16 a)
{
    return cts_bf16_value_(a.__x);
}
CTS_BF16_ unsigned short __bfloat16_as_ushort(__nv_bfloat16 a)
{
    return a.__x;
}
CTS_BF16_ short __bfloat16_as_short(__nv_bfloat16 a)
{
    return (short)a.__x;
}
CTS_BF16_ __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits)
{
    return __nv_bfloat16(__nv_bfloat16_raw{bits});
}
CTS_BF16_ __nv_bfloat16 __short_as_bfloat16(short bits)
{
    return __ushort_as_bfloat16((unsigned short)bits);
}
CTS_BF16_ __nv_bfloat16 __float2bfloat16(float a)
{
    return __nv_bfloat16(a);
}
CTS_BF16_ __nv_bfloat16 __float2bfloat16_rn(float a)
{
    return __nv_bfloat16(a);
}
CTS_BF16_ __nv_bfloat16 __double2bfloat16(double a)
{
    return __nv_bfloat16(a);
}
CTS_BF16_ __nv_bfloat16 cts_bf16_towards_(float value, cts_direction_ direction)
{
    const __nv_bfloat16 nearest(value);
    return value != value ? nearest
                          : __ushort_as_bfloat16(cts_redirect_(nearest.__x, (double)(float)nearest,
                                                               (double)value, direction));
}
CTS_BF16_ __nv_bfloat16 __float2bfloat16_rz(float a)
{
    return cts_bf16_towards_(a, cts_to_zero_);
}
CTS_BF16_ __nv_bfloat16 __float2bfloat16_ru(float a)
{
    return cts_bf16_towards_(a, cts_up_);
}
CTS_BF16_ __nv_bfloat16 __float2bfloat16_rd(float a)
{
    return cts_bf16_towards_(a, cts_down_);
}
CTS_BF16_ __nv_bfloat16 __int2bfloat16_rn(int a)
{
    return __nv_bfloat16(a);
}
CTS_BF16_ __nv_bfloat16 __uint2bfloat16_rn(unsigned int a)
{
    return __nv_bfloat16(a);
}
CTS_BF16_ int __bfloat162int_rz(__nv_bfloat16 a)
{
    return cts_to_integer_<int>((double)(float)a, cts_int_zero_);
}
CTS_BF16_ int __bfloat162int_rn(__nv_bfloat16 a)
{
    return cts_to_integer_<int>((double)(float)a, cts_int_nearest_);
}
CTS_BF16_ unsigned int __bfloat162uint_rz(__nv_bfloat16 a)
{
    return cts_to_integer_<unsigned int>((double)(float)a, cts_int_zero_);
}
CTS_BF16_ __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y)
{
    return __nv_bfloat162(x, y);
}
CTS_BF16_ __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high)
{
    return __nv_bfloat162(low, high);
}
CTS_BF16_ __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a)
{
    return __nv_bfloat162(a, a);
}
CTS_BF16_ __nv_bfloat162 __float2bfloat162_rn(float a)
{
    return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(a));
}
CTS_BF16_ __nv_bfloat162 __floats2bfloat162_rn(float low, float high)
{
    return __nv_bfloat162(__nv_bfloat16(low), __nv_bfloat16(high));
}
CTS_BF16_ __nv_bfloat162 __float22bfloat162_rn(float2 a)
{
    return __floats2bfloat162_rn(a.x, a.y);
}
CTS_BF16_ float2 __bfloat1622float2(__nv_bfloat162 a)
{
    return make_float2((float)a.x, (float)a.y);
}
CTS_BF16_ float __low2float(__nv_bfloat162 a)
{
    return (float)a.x;
}
CTS_BF16_ float __high2float(__nv_bfloat162 a)
{
    return (float)a.y;
}
CTS_BF16_ __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a)
{
    return a.x;
}
CTS_BF16_ __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a)
{
    return a.y;
}
CTS_BF16_ __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a)
{
    return __nv_bfloat162(a.x, a.x);
}
CTS_BF16_ __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a)
{
    return __nv_bfloat162(a.y, a.y);
}

/* Arithmetic. */
#define CTS_BF16_BINARY_(name, name2, expression)                                                  \
    CTS_BF16_ __nv_bfloat16 name(__nv_bfloat16 a, __nv_bfloat16 b)                                 \
    {                                                                                              \
        return expression;                                                                         \
    }                                                                                              \
    CTS_BF16_ __nv_bfloat162 name2(__nv_bfloat162 a, __nv_bfloat162 b)                             \
    {                                                                                              \
        return __nv_bfloat162(name(a.x, b.x), name(a.y, b.y));                                     \
    }
CTS_BF16_BINARY_(__hadd, __hadd2, __nv_bfloat16((float)a + (float)b))
CTS_BF16_BINARY_(__hsub, __hsub2, __nv_bfloat16((float)a - (float)b))
CTS_BF16_BINARY_(__hmul, __hmul2, __nv_bfloat16((float)a *(float)b))
CTS_BF16_BINARY_(__hdiv, __h2div, __nv_bfloat16((float)a / (float)b))
/* -0 is below +0. */
#define CTS_BF16_ZEROES_ (((a.__x | b.__x) & 0x7fff) == 0)
CTS_BF16_BINARY_(__hmax, __hmax2,
                 CTS_BF16_ZEROES_ ? __ushort_as_bfloat16((unsigned short)(a.__x & b.__x))
                                  : __nv_bfloat16(__builtin_fmaxf((float)a, (float)b)))
CTS_BF16_BINARY_(__hmin, __hmin2,
                 CTS_BF16_ZEROES_ ? __ushort_as_bfloat16((unsigned short)(a.__x | b.__x))
                                  : __nv_bfloat16(__builtin_fminf((float)a, (float)b)))
#undef CTS_BF16_ZEROES_
#undef CTS_BF16_BINARY_
CTS_BF16_ __nv_bfloat16 __hneg(__nv_bfloat16 a)
{
    return __ushort_as_bfloat16((unsigned short)(a.__x ^ 0x8000));
}
CTS_BF16_ __nv_bfloat16 __habs(__nv_bfloat16 a)
{
    return __ushort_as_bfloat16((unsigned short)(a.__x & 0x7fff));
}
CTS_BF16_ __nv_bfloat162 __hneg2(__nv_bfloat162 a)
{
    return __nv_bfloat162(__hneg(a.x), __hneg(a.y));
}
CTS_BF16_ __nv_bfloat162 __habs2(__nv_bfloat162 a)
{
    return __nv_bfloat162(__habs(a.x), __habs(a.y));
}
/* The product is exact in double; what the sum loses is recovered and decides the last bit. */
CTS_BF16_ __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
#ifdef __clang__
#pragma clang fp contract(off)
#endif
    const double product = (double)(float)a * (double)(float)b, addend = (double)(float)c;
    const double sum = product + addend;
    if (sum != sum || __builtin_fabs(sum) == __builtin_inf()) return __nv_bfloat16((float)sum);
    const double part = sum - product, lost = (product - (sum - part)) + (addend - part);
    unsigned long long bits = __builtin_bit_cast(unsigned long long, sum);
    if (lost != 0 && !(bits & 1)) bits += (lost > 0) == (sum > 0) ? 1 : -1;
    return __nv_bfloat16(__builtin_bit_cast(double, bits));
}
CTS_BF16_ __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c)
{
    return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}

/* Comparisons. */
CTS_BF16_ bool __hisnan(__nv_bfloat16 a)
{
    return (a.__x & 0x7fff) > 0x7f80;
}
CTS_BF16_ int __hisinf(__nv_bfloat16 a)
{
    return a.__x == 0x7f80 ? 1 : a.__x == 0xff80 ? -1 : 0;
}
/* Of single values and of pairs: a value each, a mask each, or whether both hold. */
#define CTS_BF16_COMPARE_(name, expression)                                                        \
    CTS_BF16_ bool __h##name(__nv_bfloat16 a_half, __nv_bfloat16 b_half)                           \
    {                                                                                              \
        const float a = (float)a_half, b = (float)b_half;                                          \
        return expression;                                                                         \
    }                                                                                              \
    CTS_BF16_ __nv_bfloat162 __h##name##2(__nv_bfloat162 a, __nv_bfloat162 b)                      \
    {                                                                                              \
        return __nv_bfloat162(__nv_bfloat16(__h##name(a.x, b.x) ? 1.0f : 0.0f),                    \
                              __nv_bfloat16(__h##name(a.y, b.y) ? 1.0f : 0.0f));                   \
    }                                                                                              \
    CTS_BF16_ unsigned int __h##name##2_mask(__nv_bfloat162 a, __nv_bfloat162 b)                   \
    {                                                                                              \
        return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0);      \
    }                                                                                              \
    CTS_BF16_ bool __hb##name##2(__nv_bfloat162 a, __nv_bfloat162 b)                               \
    {                                                                                              \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                         \
    }
CTS_BF16_COMPARE_(eq, a == b)
CTS_BF16_COMPARE_(ne, a<b || a> b)
CTS_BF16_COMPARE_(lt, a < b)
CTS_BF16_COMPARE_(le, a <= b)
CTS_BF16_COMPARE_(gt, a > b)
CTS_BF16_COMPARE_(ge, a >= b)
CTS_BF16_COMPARE_(equ, !(a < b || a > b))
CTS_BF16_COMPARE_(neu, a != b)
CTS_BF16_COMPARE_(ltu, !(a >= b))
CTS_BF16_COMPARE_(leu, !(a > b))
CTS_BF16_COMPARE_(gtu, !(a <= b))
CTS_BF16_COMPARE_(geu, !(a < b))
#undef CTS_BF16_COMPARE_
CTS_BF16_ __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __nv_bfloat162(a.x, b.x);
}
CTS_BF16_ __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __nv_bfloat162(a.y, b.y);
}

#ifndef __CUDA_NO_BFLOAT16_OPERATORS__
#define CTS_BF16_OPERATOR_(symbol, name, name2)                                                    \
    CTS_BF16_ __nv_bfloat16 operator symbol(const __nv_bfloat16 &a, const __nv_bfloat16 &b)        \
    {                                                                                              \
        return name(a, b);                                                                         \
    }                                                                                              \
    CTS_BF16_ __nv_bfloat16 &operator symbol##=(__nv_bfloat16 & a, const __nv_bfloat16 & b)        \
    {                                                                                              \
        return a = name(a, b);                                                                     \
    }                                                                                              \
    CTS_BF16_ __nv_bfloat162 operator symbol(const __nv_bfloat162 &a, const __nv_bfloat162 &b)     \
    {                                                                                              \
        return name2(a, b);                                                                        \
    }                                                                                              \
    CTS_BF16_ __nv_bfloat162 &operator symbol##=(__nv_bfloat162 & a, const __nv_bfloat162 & b)     \
    {                                                                                              \
        return a = name2(a, b);                                                                    \
    }
CTS_BF16_OPERATOR_(+, __hadd, __hadd2)
CTS_BF16_OPERATOR_(-, __hsub, __hsub2)
CTS_BF16_OPERATOR_(*, __hmul, __hmul2)
CTS_BF16_OPERATOR_(/, __hdiv, __h2div)
#undef CTS_BF16_OPERATOR_
CTS_BF16_ __nv_bfloat16 operator-(const __nv_bfloat16 &a)
{
    return __hneg(a);
}
CTS_BF16_ __nv_bfloat162 operator-(const __nv_bfloat162 &a)
{
    return __hneg2(a);
}
#define CTS_BF16_RELATION_(symbol)                                                                 \
    CTS_BF16_ bool operator symbol(const __nv_bfloat16 &a, const __nv_bfloat16 &b)                 \
    {                                                                                              \
        return (float)a symbol(float) b;                                                           \
    }
CTS_BF16_RELATION_(==)
CTS_BF16_RELATION_(!=)
CTS_BF16_RELATION_(<)
CTS_BF16_RELATION_(<=)
CTS_BF16_RELATION_(>)
CTS_BF16_RELATION_(>=)
#undef CTS_BF16_RELATION_
#endif

#ifdef __CUDA__
#define CTS_BF16_DEVICE_ static __device__ __forceinline__
#define CTS_BF16_FUNCTION_(name, single)                                                           \
    CTS_BF16_DEVICE_ __nv_bfloat16 h##name(__nv_bfloat16 a)                                        \
    {                                                                                              \
        return __nv_bfloat16(single((float)a));                                                    \
    }                                                                                              \
    CTS_BF16_DEVICE_ __nv_bfloat162 h2##name(__nv_bfloat162 a)                                     \
    {                                                                                              \
        return __nv_bfloat162(h##name(a.x), h##name(a.y));                                         \
    }
CTS_BF16_FUNCTION_(exp, ::expf)
CTS_BF16_FUNCTION_(exp2, ::exp2f)
CTS_BF16_FUNCTION_(log, ::logf)
CTS_BF16_FUNCTION_(log2, ::log2f)
CTS_BF16_FUNCTION_(log10, ::log10f)
CTS_BF16_FUNCTION_(exp10, ::exp10f)
CTS_BF16_FUNCTION_(sin, ::sinf)
CTS_BF16_FUNCTION_(cos, ::cosf)
CTS_BF16_FUNCTION_(sqrt, ::sqrtf)
CTS_BF16_FUNCTION_(rsqrt, ::rsqrtf)
CTS_BF16_FUNCTION_(tanh, ::tanhf)
CTS_BF16_FUNCTION_(floor, ::floorf)
CTS_BF16_FUNCTION_(ceil, ::ceilf)
CTS_BF16_FUNCTION_(trunc, ::truncf)
CTS_BF16_FUNCTION_(rint, ::rintf)
#undef CTS_BF16_FUNCTION_
#define CTS_BF16_SHUFFLE_(name, offset_type)                                                       \
    CTS_BF16_DEVICE_ __nv_bfloat16 name(unsigned int mask, __nv_bfloat16 value,                    \
                                        offset_type offset, int width = 32)                        \
    {                                                                                              \
        return __ushort_as_bfloat16((unsigned short)name(mask, (int)value.__x, offset, width));    \
    }                                                                                              \
    CTS_BF16_DEVICE_ __nv_bfloat162 name(unsigned int mask, __nv_bfloat162 value,                  \
                                         offset_type offset, int width = 32)                       \
    {                                                                                              \
        return __builtin_bit_cast(__nv_bfloat162,                                                  \
                                  name(mask, __builtin_bit_cast(int, value), offset, width));      \
    }
CTS_BF16_SHUFFLE_(__shfl_sync, int)
CTS_BF16_SHUFFLE_(__shfl_up_sync, unsigned int)
CTS_BF16_SHUFFLE_(__shfl_down_sync, unsigned int)
CTS_BF16_SHUFFLE_(__shfl_xor_sync, int)
#undef CTS_BF16_SHUFFLE_
/* Memory: one access each. */
#define CTS_BF16_STORE_(store)                                                                     \
    CTS_BF16_DEVICE_ void store(__nv_bfloat16 *address, __nv_bfloat16 value)                       \
    {                                                                                              \
        *(unsigned short *)(void *)address = value.__x;                                            \
    }                                                                                              \
    CTS_BF16_DEVICE_ void store(__nv_bfloat162 *address, __nv_bfloat162 value)                     \
    {                                                                                              \
        *(unsigned int *)(void *)address = __builtin_bit_cast(unsigned int, value);                \
    }
#define CTS_BF16_LOAD_(load)                                                                       \
    CTS_BF16_DEVICE_ __nv_bfloat16 load(const __nv_bfloat16 *address)                              \
    {                                                                                              \
        return __ushort_as_bfloat16(*(const unsigned short *)(const void *)address);               \
    }                                                                                              \
    CTS_BF16_DEVICE_ __nv_bfloat162 load(const __nv_bfloat162 *address)                            \
    {                                                                                              \
        return __builtin_bit_cast(__nv_bfloat162, *(const unsigned int *)(const void *)address);   \
    }
CTS_BF16_LOAD_(__ldg)
CTS_BF16_LOAD_(__ldca)
CTS_BF16_LOAD_(__ldcg)
CTS_BF16_LOAD_(__ldcs)
CTS_BF16_LOAD_(__ldlu)
CTS_BF16_LOAD_(__ldcv)
CTS_BF16_STORE_(__stwb)
CTS_BF16_STORE_(__stcg)
CTS_BF16_STORE_(__stcs)
CTS_BF16_STORE_(__stwt)
#undef CTS_BF16_STORE_
#undef CTS_BF16_LOAD_
/* A loop of compare-and-swap: it is recorded as the atomics that it makes. */
CTS_BF16_DEVICE_ __nv_bfloat16 atomicAdd(__nv_bfloat16 *address, __nv_bfloat16 value)
{
    unsigned short seen = *(volatile unsigned short *)(void *)address, expected;
    do {
        expected = seen;
        const __nv_bfloat16 sum = __hadd(__ushort_as_bfloat16(expected), value);
        seen = atomicCAS((unsigned short *)(void *)address, expected, sum.__x);
    } while (seen != expected);
    return __ushort_as_bfloat16(seen);
}
CTS_BF16_DEVICE_ __nv_bfloat162 atomicAdd(__nv_bfloat162 *address, __nv_bfloat162 value)
{
    return __nv_bfloat162(atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y));
}
#undef CTS_BF16_DEVICE_
#endif

#endif
