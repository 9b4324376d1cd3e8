/* 8-bit floating point: e4m3 (no infinity, largest 448) and e5m2 (the upper half of a half), on
 * host and device, with pairs and fours of them; conversions round once, to nearest even. Behind
 * them e8m0, the powers of two that scale blocks of numbers. */
#ifndef CTASCOPE_CUDA_FP8_H
#define CTASCOPE_CUDA_FP8_H
#define __CUDA_FP8_H__ 1

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device_types.h"

#define CTS_FP8_ static __inline__ __host__ __device__ __attribute__((always_inline))

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

CTS_FP8_ __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                   __nv_fp8_interpretation_t kind)
{
    const unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
    const unsigned sign = (unsigned)(bits >> 56) & 0x80;
    const int mantissa = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
    const unsigned largest = kind == __NV_E4M3 ? 0x7e : 0x7b;
    if (x != x) return 0x7f;
    const double size = x < 0 ? -x : x;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent < 1 - bias) exponent = 1 - bias;
    unsigned code = largest + 1;
    if (exponent <= bias + 1) {
        const double step =
            __builtin_bit_cast(double, (unsigned long long)(exponent - mantissa + 1023) << 52);
        code =
            ((unsigned)(exponent + bias - 1) << mantissa) + (unsigned)__builtin_rint(size / step);
    }
    /* Behind the largest comes what does not fit: infinity, or of e4m3 NaN. */
    if (code > largest)
        code = saturate == __NV_SATFINITE ? largest : kind == __NV_E4M3 ? 0x7f : 0x7c;
    return (__nv_fp8_storage_t)(sign | code);
}

CTS_FP8_ __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                  __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_double_to_fp8((double)x, saturate, kind);
}

CTS_FP8_ __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                    __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_double_to_fp8((double)__half2float(__half(x)), saturate, kind);
}

CTS_FP8_ __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x,
                                                        __nv_saturation_t saturate,
                                                        __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_double_to_fp8((double)__bfloat162float(__nv_bfloat16(x)), saturate, kind);
}

CTS_FP8_ __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturate,
                                                       __nv_fp8_interpretation_t kind)
{
    const unsigned low = __nv_cvt_float_to_fp8(x.x, saturate, kind);
    const unsigned high = __nv_cvt_float_to_fp8(x.y, saturate, kind);
    return (__nv_fp8x2_storage_t)(low | high << 8);
}

CTS_FP8_ float cts_fp8_value_(__nv_fp8_storage_t code, __nv_fp8_interpretation_t kind)
{
    if (kind == __NV_E5M2) return (float)__builtin_bit_cast(_Float16, (unsigned short)(code << 8));
    const unsigned exponent = code >> 3 & 15, mantissa = code & 7;
    const unsigned scale = (exponent ? exponent - 10 : (unsigned)-9) + 127;
    const float size =
        (float)(exponent ? 8 + mantissa : mantissa) * __builtin_bit_cast(float, scale << 23);
    if ((code & 0x7f) == 0x7f) return __builtin_nanf("");
    return code & 0x80 ? -size : size;
}

/* Every value of 8 bits is one of a half. */
CTS_FP8_ __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind)
{
    return __float2half(cts_fp8_value_(x, kind));
}

CTS_FP8_ __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                                __nv_fp8_interpretation_t kind)
{
    const __half_raw low = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind);
    const __half_raw high = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind);
    __half2_raw pair;
    pair.x = low.x;
    pair.y = high.x;
    return pair;
}

#define CTS_FP8_TYPE_(name, kind)                                                                  \
    struct __nv_fp8_##name {                                                                       \
        __nv_fp8_storage_t __x;                                                                    \
        __nv_fp8_##name() = default;                                                               \
        __host__ __device__ explicit __nv_fp8_##name(const __half f)                               \
            : __x(__nv_cvt_float_to_fp8(__half2float(f), __NV_SATFINITE, kind))                    \
        {                                                                                          \
        }                                                                                          \
        __host__ __device__ explicit __nv_fp8_##name(const __nv_bfloat16 f)                        \
            : __x(__nv_cvt_float_to_fp8(__bfloat162float(f), __NV_SATFINITE, kind))                \
        {                                                                                          \
        }                                                                                          \
        template <class T_, class = decltype(static_cast<double>(*(T_ *)nullptr)),                 \
                  bool = (bool)__is_arithmetic(T_)>                                                \
        __host__ __device__ explicit __nv_fp8_##name(const T_ f)                                   \
            : __x(__nv_cvt_double_to_fp8((double)f, __NV_SATFINITE, kind))                         \
        {                                                                                          \
        }                                                                                          \
        __host__ __device__ explicit operator float() const                                        \
        {                                                                                          \
            return cts_fp8_value_(__x, kind);                                                      \
        }                                                                                          \
        __host__ __device__ explicit operator double() const                                       \
        {                                                                                          \
            return (double)cts_fp8_value_(__x, kind);                                              \
        }                                                                                          \
        __host__ __device__ explicit operator __half() const                                       \
        {                                                                                          \
            return __half(__nv_cvt_fp8_to_halfraw(__x, kind));                                     \
        }                                                                                          \
        __host__ __device__ explicit operator __nv_bfloat16() const                                \
        {                                                                                          \
            return __nv_bfloat16(cts_fp8_value_(__x, kind));                                       \
        }                                                                                          \
        __host__ __device__ explicit operator bool() const                                         \
        {                                                                                          \
            return (__x & 0x7f) != 0;                                                              \
        }                                                                                          \
        __host__ __device__ explicit operator int() const                                          \
        {                                                                                          \
            return cts_to_integer_<int>((double)cts_fp8_value_(__x, kind), cts_int_zero_);         \
        }                                                                                          \
        __host__ __device__ explicit operator unsigned int() const                                 \
        {                                                                                          \
            return cts_to_integer_<unsigned int>((double)cts_fp8_value_(__x, kind),                \
                                                 cts_int_zero_);                                   \
        }                                                                                          \
    };                                                                                             \
    struct __align__(2) __nv_fp8x2_##name {                                                        \
        __nv_fp8x2_storage_t __x;                                                                  \
        __nv_fp8x2_##name() = default;                                                             \
        __host__ __device__ explicit __nv_fp8x2_##name(const float2 f)                             \
            : __x(__nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, kind))                               \
        {                                                                                          \
        }                                                                                          \
        __host__ __device__ explicit __nv_fp8x2_##name(const __half2 f)                            \
            : __x(__nv_cvt_float2_to_fp8x2(__half22float2(f), __NV_SATFINITE, kind))               \
        {                                                                                          \
        }                                                                                          \
        __host__ __device__ explicit operator __half2() const                                      \
        {                                                                                          \
            return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind));                                 \
        }                                                                                          \
        __host__ __device__ explicit operator float2() const                                       \
        {                                                                                          \
            return __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind)));                 \
        }                                                                                          \
    };                                                                                             \
    struct __align__(4) __nv_fp8x4_##name {                                                        \
        __nv_fp8x4_storage_t __x;                                                                  \
        __nv_fp8x4_##name() = default;                                                             \
        __host__ __device__ explicit __nv_fp8x4_##name(const float4 f)                             \
            : __x(__nv_cvt_float2_to_fp8x2(make_float2(f.x, f.y), __NV_SATFINITE, kind) |          \
                  (unsigned)__nv_cvt_float2_to_fp8x2(make_float2(f.z, f.w), __NV_SATFINITE, kind)  \
                      << 16)                                                                       \
        {                                                                                          \
        }                                                                                          \
        __host__ __device__ explicit operator float4() const                                       \
        {                                                                                          \
            return make_float4(cts_fp8_value_((__nv_fp8_storage_t)__x, kind),                      \
                               cts_fp8_value_((__nv_fp8_storage_t)(__x >> 8), kind),               \
                               cts_fp8_value_((__nv_fp8_storage_t)(__x >> 16), kind),              \
                               cts_fp8_value_((__nv_fp8_storage_t)(__x >> 24), kind));             \
        }                                                                                          \
    };
CTS_FP8_TYPE_(e4m3, __NV_E4M3)
CTS_FP8_TYPE_(e5m2, __NV_E5M2)
#undef CTS_FP8_TYPE_

/* Scales of CUDA 12.8 and later: code c is 2^(c - 127), 255 is NaN; there is no sign. A size is
 * rounded to a power of two, towards zero or (any other mode) away from it; what is too small is
 * 2^-127. */
CTS_FP8_ __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double x, __nv_saturation_t saturate,
                                                    enum cudaRoundMode rounding)
{
    const unsigned long long bits = __builtin_bit_cast(unsigned long long, x) << 1 >> 1;
    const unsigned long long least = 0x3800000000000000ull; /* 2^-127 */
    if (x != x) return 0xff;
    if (bits < least) return 0;
    const bool is_power = (bits & 0xfffffffffffffull) == 0;
    const unsigned code =
        (unsigned)((bits - least) >> 52) + (rounding != cudaRoundZero && !is_power);
    return (__nv_fp8_storage_t)(code <= 254 ? code : saturate == __NV_SATFINITE ? 254 : 255);
}

CTS_FP8_ __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t saturate,
                                                   enum cudaRoundMode rounding)
{
    return __nv_cvt_double_to_e8m0((double)x, saturate, rounding);
}

CTS_FP8_ __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw x,
                                                         __nv_saturation_t saturate,
                                                         enum cudaRoundMode rounding)
{
    return __nv_cvt_double_to_e8m0((double)__bfloat162float(__nv_bfloat16(x)), saturate, rounding);
}

CTS_FP8_ float cts_e8m0_value_(__nv_fp8_storage_t code)
{
    if (code == 255) return __builtin_nanf("");
    return __builtin_bit_cast(float, code ? (unsigned)code << 23 : 1u << 22);
}

CTS_FP8_ __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x)
{
    return __nv_bfloat16(cts_e8m0_value_(x));
}

struct __nv_fp8_e8m0 {
    __nv_fp8_storage_t __x;
    __nv_fp8_e8m0() = default;
    __host__ __device__ explicit __nv_fp8_e8m0(const __half f) : __nv_fp8_e8m0(__half2float(f)) {}
    __host__ __device__ explicit __nv_fp8_e8m0(const __nv_bfloat16 f)
        : __nv_fp8_e8m0(__bfloat162float(f))
    {
    }
    template <class T_, class = decltype(static_cast<double>(*(T_ *)nullptr)),
              bool = (bool)__is_arithmetic(T_)>
    __host__ __device__ explicit __nv_fp8_e8m0(const T_ f)
        : __x(__nv_cvt_double_to_e8m0((double)f, __NV_SATFINITE, cudaRoundPosInf))
    {
    }
    __host__ __device__ explicit operator float() const { return cts_e8m0_value_(__x); }
    __host__ __device__ explicit operator double() const { return (double)cts_e8m0_value_(__x); }
    __host__ __device__ explicit operator __nv_bfloat16() const
    {
        return __nv_bfloat16(cts_e8m0_value_(__x));
    }
};
#undef CTS_FP8_

#endif
