/* The dynamic programming functions: sums, then minima and maxima of two or three, of 32 bits or of
 * two lanes of 16, optionally kept from falling below 0 (relu). Sums wrap. Host and device. */
#ifndef CTASCOPE_DPX_H
#define CTASCOPE_DPX_H

#define CTS_DPX_ static __inline__ __host__ __device__ __attribute__((always_inline))

template <class T> CTS_DPX_ T cts_dpx_add_(T a, T b)
{
    return (T)((unsigned int)a + (unsigned int)b);
}
template <class T> CTS_DPX_ T cts_dpx_max_(T a, T b)
{
    return a > b ? a : b;
}
template <class T> CTS_DPX_ T cts_dpx_min_(T a, T b)
{
    return a < b ? a : b;
}

/* A function of three words, lane by lane of type T. */
template <class T, class F_>
CTS_DPX_ unsigned int cts_dpx_lanes_(unsigned int a, unsigned int b, unsigned int c, F_ function)
{
    const T low = function((T)a, (T)b, (T)c);
    const T high = function((T)(a >> 16), (T)(b >> 16), (T)(c >> 16));
    return (unsigned int)(unsigned short)low | (unsigned int)(unsigned short)high << 16;
}

/* `body` gives T from a, b, c of type T. */
#define CTS_DPX_3_(name, suffix, word, T, body)                                                    \
    CTS_DPX_ word name##_##suffix##32(const word a, const word b, const word c)                    \
    {                                                                                              \
        typedef word V_;                                                                           \
        return body;                                                                               \
    }                                                                                              \
    CTS_DPX_ unsigned int name##_##suffix##16x2(const unsigned int x, const unsigned int y,        \
                                                const unsigned int z)                              \
    {                                                                                              \
        typedef T V_;                                                                              \
        return cts_dpx_lanes_<V_>(x, y, z, [](V_ a, V_ b, V_ c) -> V_ { return body; });           \
    }
#define CTS_DPX_3_RELU_(name, body)                                                                \
    CTS_DPX_ int name##_s32_relu(const int a, const int b, const int c)                            \
    {                                                                                              \
        typedef int V_;                                                                            \
        return cts_dpx_max_<V_>(body, 0);                                                          \
    }                                                                                              \
    CTS_DPX_ unsigned int name##_s16x2_relu(const unsigned int x, const unsigned int y,            \
                                            const unsigned int z)                                  \
    {                                                                                              \
        typedef short V_;                                                                          \
        return cts_dpx_lanes_<V_>(                                                                 \
            x, y, z, [](V_ a, V_ b, V_ c) -> V_ { return cts_dpx_max_<V_>(body, 0); });            \
    }
#define CTS_DPX_ALL_(name, body)                                                                   \
    CTS_DPX_3_(name, s, int, short, body)                                                          \
    CTS_DPX_3_(name, u, unsigned int, unsigned short, body)                                        \
    CTS_DPX_3_RELU_(name, body)
CTS_DPX_ALL_(__viaddmax, cts_dpx_max_<V_>(cts_dpx_add_<V_>(a, b), c))
CTS_DPX_ALL_(__viaddmin, cts_dpx_min_<V_>(cts_dpx_add_<V_>(a, b), c))
CTS_DPX_ALL_(__vimax3, cts_dpx_max_<V_>(cts_dpx_max_<V_>(a, b), c))
CTS_DPX_ALL_(__vimin3, cts_dpx_min_<V_>(cts_dpx_min_<V_>(a, b), c))
#undef CTS_DPX_ALL_
#undef CTS_DPX_3_
#undef CTS_DPX_3_RELU_

CTS_DPX_ int __vimax_s32_relu(const int a, const int b)
{
    return __vimax3_s32(a, b, 0);
}
CTS_DPX_ int __vimin_s32_relu(const int a, const int b)
{
    return cts_dpx_max_(cts_dpx_min_(a, b), 0);
}
CTS_DPX_ unsigned int __vimax_s16x2_relu(const unsigned int a, const unsigned int b)
{
    return __vimax3_s16x2(a, b, 0);
}
CTS_DPX_ unsigned int __vimin_s16x2_relu(const unsigned int a, const unsigned int b)
{
    return __vimin3_s16x2_relu(a, b, b);
}

/* With the answer to "is it the first operand": of equals, yes. */
#define CTS_DPX_WHICH_(name, suffix, word, T, relation)                                            \
    CTS_DPX_ word name##_##suffix##32(const word a, const word b, bool *const first)               \
    {                                                                                              \
        *first = a relation b;                                                                     \
        return *first ? a : b;                                                                     \
    }                                                                                              \
    CTS_DPX_ unsigned int name##_##suffix##16x2(const unsigned int a, const unsigned int b,        \
                                                bool *const high_first, bool *const low_first)     \
    {                                                                                              \
        const T ah = (T)(a >> 16), bh = (T)(b >> 16), al = (T)a, bl = (T)b;                        \
        *high_first = ah relation bh;                                                              \
        *low_first = al relation bl;                                                               \
        return (unsigned int)(unsigned short)(*high_first ? ah : bh) << 16 |                       \
               (unsigned int)(unsigned short)(*low_first ? al : bl);                               \
    }
CTS_DPX_WHICH_(__vibmax, s, int, short, >=)
CTS_DPX_WHICH_(__vibmax, u, unsigned int, unsigned short, >=)
CTS_DPX_WHICH_(__vibmin, s, int, short, <=)
CTS_DPX_WHICH_(__vibmin, u, unsigned int, unsigned short, <=)
#undef CTS_DPX_WHICH_
#undef CTS_DPX_

#endif
