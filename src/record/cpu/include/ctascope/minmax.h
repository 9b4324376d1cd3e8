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
CTS_MINMAX_ float min(float a, float b)
{
    return __builtin_fminf(a, b);
}
CTS_MINMAX_ float max(float a, float b)
{
    return __builtin_fmaxf(a, b);
}
CTS_MINMAX_ double min(double a, double b)
{
    return __builtin_fmin(a, b);
}
CTS_MINMAX_ double max(double a, double b)
{
    return __builtin_fmax(a, b);
}
CTS_MINMAX_ double min(float a, double b)
{
    return __builtin_fmin((double)a, b);
}
CTS_MINMAX_ double max(float a, double b)
{
    return __builtin_fmax((double)a, b);
}
CTS_MINMAX_ double min(double a, float b)
{
    return __builtin_fmin(a, (double)b);
}
CTS_MINMAX_ double max(double a, float b)
{
    return __builtin_fmax(a, (double)b);
}

CTS_MINMAX_ long long llmin(long long a, long long b)
{
    return min(a, b);
}
CTS_MINMAX_ long long llmax(long long a, long long b)
{
    return max(a, b);
}
CTS_MINMAX_ unsigned int umin(unsigned int a, unsigned int b)
{
    return min(a, b);
}
CTS_MINMAX_ unsigned int umax(unsigned int a, unsigned int b)
{
    return max(a, b);
}
CTS_MINMAX_ unsigned long long ullmin(unsigned long long a, unsigned long long b)
{
    return min(a, b);
}
CTS_MINMAX_ unsigned long long ullmax(unsigned long long a, unsigned long long b)
{
    return max(a, b);
}

#undef CTS_MINMAX_
#endif
