/* min and max for all pairs of types, on host and device: clang's headers have two of them, for the
 * device. */
#ifndef CTASCOPE_MINMAX_H
#define CTASCOPE_MINMAX_H

#define CTS_MINMAX_ static __inline__ __host__ __device__ __attribute__((always_inline))

/* min and max. Of two integer types the usual arithmetic conversions decide, as in CUDA. */
#define CTS_MIN_MAX_(a_type, b_type, type)                                                         \
    CTS_MINMAX_ type min(a_type a, b_type b)                                                       \
    {                                                                                              \
        return (type)a < (type)b ? (type)a : (type)b;                                              \
    }                                                                                              \
    CTS_MINMAX_ type max(a_type a, b_type b)                                                       \
    {                                                                                              \
        return (type)a > (type)b ? (type)a : (type)b;                                              \
    }
CTS_MIN_MAX_(int, int, int)
CTS_MIN_MAX_(unsigned int, unsigned int, unsigned int)
CTS_MIN_MAX_(int, unsigned int, unsigned int)
CTS_MIN_MAX_(unsigned int, int, unsigned int)
CTS_MIN_MAX_(long, long, long)
CTS_MIN_MAX_(unsigned long, unsigned long, unsigned long)
CTS_MIN_MAX_(long, unsigned long, unsigned long)
CTS_MIN_MAX_(unsigned long, long, unsigned long)
CTS_MIN_MAX_(long long, long long, long long)
CTS_MIN_MAX_(unsigned long long, unsigned long long, unsigned long long)
CTS_MIN_MAX_(long long, unsigned long long, unsigned long long)
CTS_MIN_MAX_(unsigned long long, long long, unsigned long long)
#undef CTS_MIN_MAX_

/* A NaN beside a number counts as absent. */
#define CTS_FLOAT_MIN_MAX_(a_type, b_type, type, suffix)                                           \
    CTS_MINMAX_ type min(a_type a, b_type b)                                                       \
    {                                                                                              \
        return __builtin_fmin##suffix((type)a, (type)b);                                           \
    }                                                                                              \
    CTS_MINMAX_ type max(a_type a, b_type b)                                                       \
    {                                                                                              \
        return __builtin_fmax##suffix((type)a, (type)b);                                           \
    }
CTS_FLOAT_MIN_MAX_(float, float, float, f)
CTS_FLOAT_MIN_MAX_(double, double, double, )
CTS_FLOAT_MIN_MAX_(float, double, double, )
CTS_FLOAT_MIN_MAX_(double, float, double, )
#undef CTS_FLOAT_MIN_MAX_

#define CTS_NAMED_MIN_MAX_(prefix, type)                                                           \
    CTS_MINMAX_ type prefix##min(type a, type b)                                                   \
    {                                                                                              \
        return min(a, b);                                                                          \
    }                                                                                              \
    CTS_MINMAX_ type prefix##max(type a, type b)                                                   \
    {                                                                                              \
        return max(a, b);                                                                          \
    }
CTS_NAMED_MIN_MAX_(ll, long long)
CTS_NAMED_MIN_MAX_(u, unsigned int)
CTS_NAMED_MIN_MAX_(ull, unsigned long long)
#undef CTS_NAMED_MIN_MAX_

#undef CTS_MINMAX_
#endif
