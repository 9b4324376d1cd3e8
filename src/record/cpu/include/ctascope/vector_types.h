/* char1 .. double4, dim3 and make_*, with the sizes and alignments that CUDA gives them: a type of
 * 2 or 4 elements is aligned to its size, at most 16; of 1 or 3 to its element. C and C++. */
#ifndef CTASCOPE_VECTOR_TYPES_H
#define CTASCOPE_VECTOR_TYPES_H

#include "host_defines.h"

#define CTS_VECTOR_TYPE_(type, name, align2, align4)                                               \
    struct name##1                                                                                 \
    {                                                                                              \
        type x;                                                                                    \
    };                                                                                             \
    struct __align__(align2) name##2                                                               \
    {                                                                                              \
        type x, y;                                                                                 \
    };                                                                                             \
    struct name##3                                                                                 \
    {                                                                                              \
        type x, y, z;                                                                              \
    };                                                                                             \
    struct __align__(align4) name##4                                                               \
    {                                                                                              \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    typedef struct name##1 name##1;                                                                \
    typedef struct name##2 name##2;                                                                \
    typedef struct name##3 name##3;                                                                \
    typedef struct name##4 name##4;                                                                \
    static __inline__ __host__ __device__ name##1 make_##name##1(type x)                           \
    {                                                                                              \
        name##1 v = {x};                                                                           \
        return v;                                                                                  \
    }                                                                                              \
    static __inline__ __host__ __device__ name##2 make_##name##2(type x, type y)                   \
    {                                                                                              \
        name##2 v = {x, y};                                                                        \
        return v;                                                                                  \
    }                                                                                              \
    static __inline__ __host__ __device__ name##3 make_##name##3(type x, type y, type z)           \
    {                                                                                              \
        name##3 v = {x, y, z};                                                                     \
        return v;                                                                                  \
    }                                                                                              \
    static __inline__ __host__ __device__ name##4 make_##name##4(type x, type y, type z, type w)   \
    {                                                                                              \
        name##4 v = {x, y, z, w};                                                                  \
        return v;                                                                                  \
    }

CTS_VECTOR_TYPE_(signed char, char, 2, 4)
CTS_VECTOR_TYPE_(unsigned char, uchar, 2, 4)
CTS_VECTOR_TYPE_(short, short, 4, 8)
CTS_VECTOR_TYPE_(unsigned short, ushort, 4, 8)
CTS_VECTOR_TYPE_(int, int, 8, 16)
CTS_VECTOR_TYPE_(unsigned int, uint, 8, 16)
CTS_VECTOR_TYPE_(long, long, 16, 16)
CTS_VECTOR_TYPE_(unsigned long, ulong, 16, 16)
CTS_VECTOR_TYPE_(long long, longlong, 16, 16)
CTS_VECTOR_TYPE_(unsigned long long, ulonglong, 16, 16)
CTS_VECTOR_TYPE_(float, float, 8, 16)
CTS_VECTOR_TYPE_(double, double, 16, 16)
#undef CTS_VECTOR_TYPE_

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1,
                                       unsigned int vz = 1)
        : x(vx), y(vy), z(vz)
    {
    }
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
typedef struct dim3 dim3;

#endif
