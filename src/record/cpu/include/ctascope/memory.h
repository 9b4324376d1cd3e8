/* Loads and stores with cache hints, address spaces, timers, and small integer intrinsics that
 * clang's headers lack or write in PTX.
 *
 * A cache hint means nothing here: each function is one plain load or store of the whole type (a
 * vector type through clang's own vectors, so that LLVM does not take it apart). The hints are kept
 * apart from plain accesses in nothing but their name. */
#ifndef CTASCOPE_MEMORY_H
#define CTASCOPE_MEMORY_H

#define CTS_MEMORY_ static __device__ __forceinline__

#define CTS_HINTED_(type, carrier)                                                                 \
    CTS_LOAD_(__ldg, type, carrier)                                                                \
    CTS_LOAD_(__ldca, type, carrier)                                                               \
    CTS_LOAD_(__ldcg, type, carrier)                                                               \
    CTS_LOAD_(__ldcs, type, carrier)                                                               \
    CTS_LOAD_(__ldlu, type, carrier)                                                               \
    CTS_LOAD_(__ldcv, type, carrier)                                                               \
    CTS_STORE_(__stwb, type, carrier)                                                              \
    CTS_STORE_(__stcg, type, carrier)                                                              \
    CTS_STORE_(__stcs, type, carrier)                                                              \
    CTS_STORE_(__stwt, type, carrier)
#define CTS_LOAD_(name, type, carrier)                                                             \
    CTS_MEMORY_ type name(const type *address)                                                     \
    {                                                                                              \
        return __builtin_bit_cast(type, *(const carrier *)address);                                \
    }
#define CTS_STORE_(name, type, carrier)                                                            \
    CTS_MEMORY_ void name(type *address, type value)                                               \
    {                                                                                              \
        *(carrier *)address = __builtin_bit_cast(carrier, value);                                  \
    }
#define CTS_HINTED_VECTOR_(type, element, count)                                                   \
    typedef element cts_##type##_v __attribute__((ext_vector_type(count), may_alias));             \
    CTS_HINTED_(type, cts_##type##_v)

CTS_HINTED_(char, char)
CTS_HINTED_(signed char, signed char)
CTS_HINTED_(unsigned char, unsigned char)
CTS_HINTED_(short, short)
CTS_HINTED_(unsigned short, unsigned short)
CTS_HINTED_(int, int)
CTS_HINTED_(unsigned int, unsigned int)
CTS_HINTED_(long, long)
CTS_HINTED_(unsigned long, unsigned long)
CTS_HINTED_(long long, long long)
CTS_HINTED_(unsigned long long, unsigned long long)
CTS_HINTED_(float, float)
CTS_HINTED_(double, double)
CTS_HINTED_VECTOR_(char2, signed char, 2)
CTS_HINTED_VECTOR_(char4, signed char, 4)
CTS_HINTED_VECTOR_(uchar2, unsigned char, 2)
CTS_HINTED_VECTOR_(uchar4, unsigned char, 4)
CTS_HINTED_VECTOR_(short2, short, 2)
CTS_HINTED_VECTOR_(short4, short, 4)
CTS_HINTED_VECTOR_(ushort2, unsigned short, 2)
CTS_HINTED_VECTOR_(ushort4, unsigned short, 4)
CTS_HINTED_VECTOR_(int2, int, 2)
CTS_HINTED_VECTOR_(int4, int, 4)
CTS_HINTED_VECTOR_(uint2, unsigned int, 2)
CTS_HINTED_VECTOR_(uint4, unsigned int, 4)
CTS_HINTED_VECTOR_(longlong2, long long, 2)
CTS_HINTED_VECTOR_(ulonglong2, unsigned long long, 2)
CTS_HINTED_VECTOR_(float2, float, 2)
CTS_HINTED_VECTOR_(float4, float, 4)
CTS_HINTED_VECTOR_(double2, double, 2)
#undef CTS_HINTED_VECTOR_

/* Address spaces. The predicates' arguments have no side effect: __builtin_assume may use them. */
#define CTS_PREDICATE_ static __device__ __forceinline__ __attribute__((const))
CTS_PREDICATE_ unsigned int __isGlobal(const void *p)
{
    return __nvvm_isspacep_global(p);
}
CTS_PREDICATE_ unsigned int __isShared(const void *p)
{
    return __nvvm_isspacep_shared(p);
}
CTS_PREDICATE_ unsigned int __isConstant(const void *p)
{
    return __nvvm_isspacep_const(p);
}
CTS_PREDICATE_ unsigned int __isLocal(const void *p)
{
    return __nvvm_isspacep_local(p);
}
#undef CTS_PREDICATE_

#define CTS_CONVERT_(space, number)                                                                \
    CTS_MEMORY_ size_t __cvta_generic_to_##space(const void *p)                                    \
    {                                                                                              \
        return (size_t)(const void __attribute__((address_space(number))) *)p;                     \
    }                                                                                              \
    CTS_MEMORY_ void *__cvta_##space##_to_generic(size_t p)                                        \
    {                                                                                              \
        return (void *)(void __attribute__((address_space(number))) *)p;                           \
    }
CTS_CONVERT_(global, 1)
CTS_CONVERT_(shared, 3)
CTS_CONVERT_(constant, 4)
CTS_CONVERT_(local, 5)
#undef CTS_CONVERT_

CTS_MEMORY_ unsigned int __isCtaShared(const void *p)
{
    return __isShared(p);
}
CTS_MEMORY_ void *__nv_associate_access_property(const void *p, unsigned long long)
{
    return (void *)p;
}

/* Time. clock() and clock64() come with clang's headers. */
CTS_MEMORY_ void __nanosleep(unsigned int ns)
{
    __nvvm_nanosleep(ns);
}

/* A hint to the debugger and the profiler: nothing listens. */
CTS_MEMORY_ void __brkpt(int = 0) {}
#define __prof_trigger(counter) ((void)(counter))
CTS_MEMORY_ void __trap()
{
    __builtin_trap();
}

/* Funnel shifts: the plain forms take the amount modulo 32, the c forms clamp it at 32. */
CTS_MEMORY_ unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift)
{
    return (unsigned int)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
CTS_MEMORY_ unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift)
{
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
CTS_MEMORY_ unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift)
{
    return (unsigned int)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
CTS_MEMORY_ unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift)
{
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

/* The n-th set bit of mask from `base` on (n > 0) or back (n < 0); n = 0 asks for base itself. */
CTS_MEMORY_ unsigned int __fns(unsigned int mask, unsigned int base, int n)
{
    const int step = n < 0 ? -1 : 1;
    int left = n == 0 ? 1 : n * step;
    for (int bit = (int)base; bit >= 0 && bit < 32; bit += step) {
        if ((mask >> bit & 1) && --left == 0) return (unsigned int)bit;
        if (n == 0) break;
    }
    return 0xffffffffu;
}

/* Dot products of bytes (4a), and of shorts with the lower (lo) or upper (hi) two bytes of b. */
template <class A_, class B_, class C_>
CTS_MEMORY_ C_ cts_dot_bytes_(unsigned int a, unsigned int b, C_ c)
{
    for (int i = 0; i < 4; i++) c += (C_)(A_)(a >> 8 * i) * (C_)(B_)(b >> 8 * i);
    return c;
}
template <class A_, class B_, class C_>
CTS_MEMORY_ C_ cts_dot_shorts_(unsigned int a, unsigned int b, C_ c)
{
    return c + (C_)(A_)a * (C_)(B_)b + (C_)(A_)(a >> 16) * (C_)(B_)(b >> 8);
}
CTS_MEMORY_ int __dp4a(int a, int b, int c)
{
    return (int)cts_dot_bytes_<signed char, signed char, unsigned int>(a, b, c);
}
CTS_MEMORY_ unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c)
{
    return cts_dot_bytes_<unsigned char, unsigned char, unsigned int>(a, b, c);
}
CTS_MEMORY_ int __dp2a_lo(int a, int b, int c)
{
    return (int)cts_dot_shorts_<short, signed char, unsigned int>(a, b, c);
}
CTS_MEMORY_ unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int c)
{
    return cts_dot_shorts_<unsigned short, unsigned char, unsigned int>(a, b, c);
}
CTS_MEMORY_ int __dp2a_hi(int a, int b, int c)
{
    return __dp2a_lo(a, (int)((unsigned)b >> 16), c);
}
CTS_MEMORY_ unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int c)
{
    return __dp2a_lo(a, b >> 16, c);
}
#define CTS_DOT_OVERLOADS_(four, two, word)                                                        \
    CTS_MEMORY_ word __dp4a(four a, four b, word c)                                                \
    {                                                                                              \
        return __dp4a(__builtin_bit_cast(word, a), __builtin_bit_cast(word, b), c);                \
    }                                                                                              \
    CTS_MEMORY_ word __dp2a_lo(two a, four b, word c)                                              \
    {                                                                                              \
        return __dp2a_lo(__builtin_bit_cast(word, a), __builtin_bit_cast(word, b), c);             \
    }                                                                                              \
    CTS_MEMORY_ word __dp2a_hi(two a, four b, word c)                                              \
    {                                                                                              \
        return __dp2a_hi(__builtin_bit_cast(word, a), __builtin_bit_cast(word, b), c);             \
    }
CTS_DOT_OVERLOADS_(char4, short2, int)
CTS_DOT_OVERLOADS_(uchar4, ushort2, unsigned int)
#undef CTS_DOT_OVERLOADS_

#endif
