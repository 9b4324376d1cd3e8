/* The words of the language that are macros over attributes. C, C++ and CUDA. */
#ifndef CTASCOPE_HOST_DEFINES_H
#define CTASCOPE_HOST_DEFINES_H

#ifdef __CUDA__ /* clang's -x cuda */
#define __host__     __attribute__((host))
#define __device__   __attribute__((device))
#define __global__   __attribute__((global))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))
/* clang 19 has no managed variables for CUDA: the passes look for the annotation. */
#define __managed__                     __attribute__((device)) __attribute__((annotate("cts.managed")))
#define __launch_bounds__(...)          __attribute__((launch_bounds(__VA_ARGS__)))
#define __device_builtin_texture_type__ __attribute__((device_builtin_texture_type))
#define __device_builtin_surface_type__ __attribute__((device_builtin_surface_type))
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#endif

/* __noinline__ is clang's own word in CUDA, and no macro elsewhere: the C++ library says
 * __attribute__((__noinline__)). */
#define __grid_constant__
#define __maxnreg__(...)
#define __cluster_dims__(...)                                                                      \
    _Pragma("GCC error \"thread block clusters are not supported on the CPU device\"")
#define __device_builtin__
#define __cudart_builtin__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __inline_hint__
#define __nv_pure__          __attribute__((pure))
#define __align__(n)         __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __cdecl
#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB

#endif
