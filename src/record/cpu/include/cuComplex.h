/* Complex numbers as pairs, for C, C++ and kernels. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include <math.h>

#include "cuda_runtime.h"

#define CTS_COMPLEX static inline __host__ __device__

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

/* The operations on pairs of `real`: names end with `suffix`, C's functions with `c`. |x| is scaled
 * by the larger part, so that it overflows only where the result does. */
#define CTS_COMPLEX_OPERATIONS(name, real, type, f, c)                                             \
    CTS_COMPLEX real cuCreal##f(type x)                                                            \
    {                                                                                              \
        return x.x;                                                                                \
    }                                                                                              \
    CTS_COMPLEX real cuCimag##f(type x)                                                            \
    {                                                                                              \
        return x.y;                                                                                \
    }                                                                                              \
    CTS_COMPLEX type make_cu##name##Complex(real r, real i)                                        \
    {                                                                                              \
        type z;                                                                                    \
        z.x = r;                                                                                   \
        z.y = i;                                                                                   \
        return z;                                                                                  \
    }                                                                                              \
    CTS_COMPLEX type cuConj##f(type x)                                                             \
    {                                                                                              \
        return make_cu##name##Complex(x.x, -x.y);                                                  \
    }                                                                                              \
    CTS_COMPLEX type cuCadd##f(type x, type y)                                                     \
    {                                                                                              \
        return make_cu##name##Complex(x.x + y.x, x.y + y.y);                                       \
    }                                                                                              \
    CTS_COMPLEX type cuCsub##f(type x, type y)                                                     \
    {                                                                                              \
        return make_cu##name##Complex(x.x - y.x, x.y - y.y);                                       \
    }                                                                                              \
    CTS_COMPLEX type cuCmul##f(type x, type y)                                                     \
    {                                                                                              \
        return make_cu##name##Complex(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);               \
    }                                                                                              \
    CTS_COMPLEX type cuCdiv##f(type x, type y)                                                     \
    {                                                                                              \
        const real s = fabs##c(y.x) + fabs##c(y.y), o = (real)1 / s;                               \
        const real a = x.x * o, b = x.y * o, u = y.x * o, v = y.y * o;                             \
        const real d = (real)1 / (u * u + v * v);                                                  \
        return make_cu##name##Complex((a * u + b * v) * d, (b * u - a * v) * d);                   \
    }                                                                                              \
    CTS_COMPLEX real cuCabs##f(type x)                                                             \
    {                                                                                              \
        const real a = fabs##c(x.x), b = fabs##c(x.y);                                             \
        const real large = a > b ? a : b, small = a > b ? b : a;                                   \
        if (large == 0 || large - large != 0) return a + b;                                        \
        const real t = small / large;                                                              \
        return large * sqrt##c((real)1 + t * t);                                                   \
    }                                                                                              \
    CTS_COMPLEX type cuCfma##f(type x, type y, type d)                                             \
    {                                                                                              \
        return cuCadd##f(cuCmul##f(x, y), d);                                                      \
    }

CTS_COMPLEX_OPERATIONS(Float, float, cuFloatComplex, f, f)
CTS_COMPLEX_OPERATIONS(Double, double, cuDoubleComplex, , )

CTS_COMPLEX cuComplex make_cuComplex(float x, float y)
{
    return make_cuFloatComplex(x, y);
}

CTS_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex c)
{
    return make_cuDoubleComplex((double)c.x, (double)c.y);
}

CTS_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex c)
{
    return make_cuFloatComplex((float)c.x, (float)c.y);
}

#undef CTS_COMPLEX_OPERATIONS
#undef CTS_COMPLEX

#endif
