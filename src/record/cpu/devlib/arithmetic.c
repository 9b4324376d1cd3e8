/* The __nv_* functions of arithmetic: with a rounding direction in the name, conversions, bits and
 * integers. Round-to-nearest forms are the CPU's own instructions; the file is compiled without
 * contraction, so that __fmul_rn and __fadd_rn never become one fma. */
#include "devlib.h"

/* name_{rn,rz,ru,rd}: `nearest` for rn, cts_<exact>(..., mode) for the others. */
#define DIRECTED_1_(type, argument, name, nearest, exact)                                          \
    CTS_SMALL type __nv_##name##_rn(argument a)                                                    \
    {                                                                                              \
        return nearest;                                                                            \
    }                                                                                              \
    CTS_SMALL type __nv_##name##_rz(argument a)                                                    \
    {                                                                                              \
        return exact(a, CTS_RZ);                                                                   \
    }                                                                                              \
    CTS_SMALL type __nv_##name##_ru(argument a)                                                    \
    {                                                                                              \
        return exact(a, CTS_RU);                                                                   \
    }                                                                                              \
    CTS_SMALL type __nv_##name##_rd(argument a)                                                    \
    {                                                                                              \
        return exact(a, CTS_RD);                                                                   \
    }
#define DIRECTED_2_(type, name, nearest, exact)                                                    \
    CTS_SMALL type __nv_##name##_rn(type a, type b)                                                \
    {                                                                                              \
        return nearest;                                                                            \
    }                                                                                              \
    CTS_SMALL type __nv_##name##_rz(type a, type b)                                                \
    {                                                                                              \
        return exact(a, b, CTS_RZ);                                                                \
    }                                                                                              \
    CTS_SMALL type __nv_##name##_ru(type a, type b)                                                \
    {                                                                                              \
        return exact(a, b, CTS_RU);                                                                \
    }                                                                                              \
    CTS_SMALL type __nv_##name##_rd(type a, type b)                                                \
    {                                                                                              \
        return exact(a, b, CTS_RD);                                                                \
    }
#define DIRECTED_3_(type, name, nearest, exact)                                                    \
    CTS_SMALL type __nv_##name##_rn(type a, type b, type c)                                        \
    {                                                                                              \
        return nearest;                                                                            \
    }                                                                                              \
    CTS_SMALL type __nv_##name##_rz(type a, type b, type c)                                        \
    {                                                                                              \
        return exact(a, b, c, CTS_RZ);                                                             \
    }                                                                                              \
    CTS_SMALL type __nv_##name##_ru(type a, type b, type c)                                        \
    {                                                                                              \
        return exact(a, b, c, CTS_RU);                                                             \
    }                                                                                              \
    CTS_SMALL type __nv_##name##_rd(type a, type b, type c)                                        \
    {                                                                                              \
        return exact(a, b, c, CTS_RD);                                                             \
    }

#define sub_double_(a, b, mode) cts_add_double(a, -(b), mode)
#define sub_float_(a, b, mode)  cts_add_float(a, -(b), mode)
#define rcp_double_(a, mode)    cts_div_double(1.0, a, mode)
#define rcp_float_(a, mode)     cts_div_float(1.0f, a, mode)

DIRECTED_2_(double, dadd, a + b, cts_add_double)
DIRECTED_2_(double, dsub, a - b, sub_double_)
DIRECTED_2_(double, dmul, a *b, cts_mul_double)
DIRECTED_2_(double, ddiv, a / b, cts_div_double)
DIRECTED_1_(double, double, drcp, 1.0 / a, rcp_double_)
DIRECTED_1_(double, double, dsqrt, __builtin_sqrt(a), cts_sqrt_double)
DIRECTED_3_(double, fma, __builtin_fma(a, b, c), cts_fma_double)
DIRECTED_2_(float, fadd, a + b, cts_add_float)
DIRECTED_2_(float, fsub, a - b, sub_float_)
DIRECTED_2_(float, fmul, a *b, cts_mul_float)
DIRECTED_2_(float, fdiv, a / b, cts_div_float)
DIRECTED_1_(float, float, frcp, 1.0f / a, rcp_float_)
DIRECTED_1_(float, float, fsqrt, __builtin_sqrtf(a), cts_sqrt_float)
DIRECTED_3_(float, fmaf, __builtin_fmaf(a, b, c), cts_fma_float)
DIRECTED_3_(float, fmaf_ieee, __builtin_fmaf(a, b, c), cts_fma_float)
DIRECTED_1_(float, double, double2float, (float)a, cts_double_to_float)

/* Integer to floating point. */
#define magnitude_(a)                ((a) < 0 ? 0 - (uint64_t)(a) : (uint64_t)(a))
#define signed_to_float_(a, mode)    cts_integer_to_float(magnitude_(a), (a) < 0, mode)
#define signed_to_double_(a, mode)   cts_integer_to_double(magnitude_(a), (a) < 0, mode)
#define unsigned_to_float_(a, mode)  cts_integer_to_float(a, 0, mode)
#define unsigned_to_double_(a, mode) cts_integer_to_double(a, 0, mode)
DIRECTED_1_(float, int, int2float, (float)a, signed_to_float_)
DIRECTED_1_(float, unsigned, uint2float, (float)a, unsigned_to_float_)
DIRECTED_1_(float, long long, ll2float, (float)a, signed_to_float_)
DIRECTED_1_(float, unsigned long long, ull2float, (float)a, unsigned_to_float_)
DIRECTED_1_(double, long long, ll2double, (double)a, signed_to_double_)
DIRECTED_1_(double, unsigned long long, ull2double, (double)a, unsigned_to_double_)
CTS_SMALL double __nv_int2double_rn(int a)
{
    return a;
}
CTS_SMALL double __nv_uint2double_rn(unsigned a)
{
    return a;
}

/* Floating point to integer: rounds, then saturates. Of NaN: 0 from float to 32 bits, else the
 * top bit alone, as the PTX manual has it. */
#define TO_INTEGER_(name, source, suffix, type, low, high, over, of_nan)                           \
    static inline type saturate_##name(source a)                                                   \
    {                                                                                              \
        return a != a      ? (type)(of_nan)                                                        \
               : a < low   ? (type)(over##_MIN_)                                                   \
               : a >= high ? (type)(over##_MAX_)                                                   \
                           : (type)a;                                                              \
    }                                                                                              \
    CTS_SMALL type __nv_##name##_rn(source a)                                                      \
    {                                                                                              \
        return saturate_##name(__builtin_rint##suffix(a));                                         \
    }                                                                                              \
    CTS_SMALL type __nv_##name##_rz(source a)                                                      \
    {                                                                                              \
        return saturate_##name(__builtin_trunc##suffix(a));                                        \
    }                                                                                              \
    CTS_SMALL type __nv_##name##_ru(source a)                                                      \
    {                                                                                              \
        return saturate_##name(__builtin_ceil##suffix(a));                                         \
    }                                                                                              \
    CTS_SMALL type __nv_##name##_rd(source a)                                                      \
    {                                                                                              \
        return saturate_##name(__builtin_floor##suffix(a));                                        \
    }
#define I_MIN_ INT32_MIN
#define I_MAX_ INT32_MAX
#define U_MIN_ 0
#define U_MAX_ UINT32_MAX
#define L_MIN_ INT64_MIN
#define L_MAX_ INT64_MAX
#define Q_MIN_ 0
#define Q_MAX_ UINT64_MAX
TO_INTEGER_(float2int, float, f, int, -0x1p31f, 0x1p31f, I, 0)
TO_INTEGER_(float2uint, float, f, unsigned, 0.0f, 0x1p32f, U, 0)
TO_INTEGER_(float2ll, float, f, long long, -0x1p63f, 0x1p63f, L, INT64_MIN)
TO_INTEGER_(float2ull, float, f, unsigned long long, 0.0f, 0x1p64f, Q, (uint64_t)1 << 63)
TO_INTEGER_(double2int, double, , int, -0x1p31, 0x1p31, I, INT32_MIN)
TO_INTEGER_(double2uint, double, , unsigned, 0.0, 0x1p32, U, (uint32_t)1 << 31)
TO_INTEGER_(double2ll, double, , long long, -0x1p63, 0x1p63, L, INT64_MIN)
TO_INTEGER_(double2ull, double, , unsigned long long, 0.0, 0x1p64, Q, (uint64_t)1 << 63)

CTS_SMALL long long __nv_llrint(double a)
{
    return __nv_double2ll_rn(a);
}
CTS_SMALL long long __nv_llrintf(float a)
{
    return __nv_float2ll_rn(a);
}
CTS_SMALL long long __nv_llround(double a)
{
    return __nv_double2ll_rz(__builtin_round(a));
}
CTS_SMALL long long __nv_llroundf(float a)
{
    return __nv_float2ll_rz(__builtin_roundf(a));
}

CTS_SMALL unsigned short __nv_float2half_rn(float a)
{
    return __builtin_bit_cast(unsigned short, (_Float16)a);
}
CTS_SMALL float __nv_half2float(unsigned short a)
{
    return (float)__builtin_bit_cast(_Float16, a);
}

/* Bits as another type. */
CTS_SMALL int __nv_float_as_int(float a)
{
    return (int)cts_float_bits(a);
}
CTS_SMALL unsigned __nv_float_as_uint(float a)
{
    return cts_float_bits(a);
}
CTS_SMALL float __nv_int_as_float(int a)
{
    return cts_float_of((uint32_t)a);
}
CTS_SMALL float __nv_uint_as_float(unsigned a)
{
    return cts_float_of(a);
}
CTS_SMALL long long __nv_double_as_longlong(double a)
{
    return (long long)cts_double_bits(a);
}
CTS_SMALL double __nv_longlong_as_double(long long a)
{
    return cts_double_of((uint64_t)a);
}
CTS_SMALL int __nv_double2hiint(double a)
{
    return (int)(cts_double_bits(a) >> 32);
}
CTS_SMALL int __nv_double2loint(double a)
{
    return (int)cts_double_bits(a);
}
CTS_SMALL double __nv_hiloint2double(int high, int low)
{
    return cts_double_of((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}
/* 1/a to the 20 bits that the upper word of a double holds. */
CTS_SMALL double __nv_rcp64h(double a)
{
    return cts_double_of(cts_double_bits(1.0 / a) & 0xffffffff00000000ull);
}

/* Integers. */
CTS_SMALL int __nv_abs(int a)
{
    return a < 0 ? (int)(0 - (unsigned)a) : a;
}
CTS_SMALL long long __nv_llabs(long long a)
{
    return a < 0 ? (long long)(0 - (uint64_t)a) : a;
}
CTS_SMALL int __nv_min(int a, int b)
{
    return a < b ? a : b;
}
CTS_SMALL int __nv_max(int a, int b)
{
    return a > b ? a : b;
}
CTS_SMALL unsigned __nv_umin(unsigned a, unsigned b)
{
    return a < b ? a : b;
}
CTS_SMALL unsigned __nv_umax(unsigned a, unsigned b)
{
    return a > b ? a : b;
}
CTS_SMALL long long __nv_llmin(long long a, long long b)
{
    return a < b ? a : b;
}
CTS_SMALL long long __nv_llmax(long long a, long long b)
{
    return a > b ? a : b;
}
CTS_SMALL unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b)
{
    return a < b ? a : b;
}
CTS_SMALL unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b)
{
    return a > b ? a : b;
}
CTS_SMALL unsigned __nv_brev(unsigned a)
{
    return __builtin_bitreverse32(a);
}
CTS_SMALL unsigned long long __nv_brevll(unsigned long long a)
{
    return __builtin_bitreverse64(a);
}
CTS_SMALL int __nv_clz(int a)
{
    return a ? __builtin_clz((unsigned)a) : 32;
}
CTS_SMALL int __nv_clzll(long long a)
{
    return a ? __builtin_clzll((unsigned long long)a) : 64;
}
CTS_SMALL int __nv_ffs(int a)
{
    return __builtin_ffs(a);
}
CTS_SMALL int __nv_ffsll(long long a)
{
    return __builtin_ffsll(a);
}
CTS_SMALL int __nv_popc(unsigned a)
{
    return __builtin_popcount(a);
}
CTS_SMALL int __nv_popcll(unsigned long long a)
{
    return __builtin_popcountll(a);
}
CTS_SMALL int __nv_hadd(int a, int b)
{
    return (int)(((long long)a + b) >> 1);
}
CTS_SMALL int __nv_rhadd(int a, int b)
{
    return (int)(((long long)a + b + 1) >> 1);
}
CTS_SMALL unsigned __nv_uhadd(unsigned a, unsigned b)
{
    return (unsigned)(((unsigned long long)a + b) >> 1);
}
CTS_SMALL unsigned __nv_urhadd(unsigned a, unsigned b)
{
    return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}
static inline long long sign_24(int a)
{
    return (int)((unsigned)a << 8) >> 8;
}
CTS_SMALL int __nv_mul24(int a, int b)
{
    return (int)(sign_24(a) * sign_24(b));
}
CTS_SMALL unsigned __nv_umul24(unsigned a, unsigned b)
{
    return (unsigned)((unsigned long long)(a & 0xffffff) * (b & 0xffffff));
}
CTS_SMALL int __nv_mulhi(int a, int b)
{
    return (int)(((long long)a * b) >> 32);
}
CTS_SMALL unsigned __nv_umulhi(unsigned a, unsigned b)
{
    return (unsigned)(((unsigned long long)a * b) >> 32);
}
CTS_SMALL long long __nv_mul64hi(long long a, long long b)
{
    return (long long)(((__int128)a * b) >> 64);
}
CTS_SMALL unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
CTS_SMALL int __nv_sad(int a, int b, int c)
{
    const long long difference = (long long)a - b;
    return (int)((unsigned)c + (unsigned)(difference < 0 ? -difference : difference));
}
CTS_SMALL unsigned __nv_usad(unsigned a, unsigned b, unsigned c)
{
    return c + (a > b ? a - b : b - a);
}

/* Byte i of the result is the byte of b:a that nibble i's low three bits name; the top bit of the
 * nibble is ignored, as __byte_perm does (PTX's prmt copies the sign then: nvvm.c). */
CTS_SMALL unsigned __nv_byte_perm(unsigned a, unsigned b, unsigned selector)
{
    const unsigned long long bytes = (unsigned long long)b << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++)
        result |= (unsigned)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}
