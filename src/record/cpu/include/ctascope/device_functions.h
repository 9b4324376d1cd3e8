/* What clang's own headers give: the built-in variables, the __nv_* library's declarations, the
 * device functions and maths over them.
 *
 * The library is linked only after the device code was optimised and instrumented, so that its
 * functions must say here that they touch no memory: an unknown call would keep LLVM from merging
 * loads around it, and the trace would show accesses that a GPU does not make. The few that write
 * through pointers are declared apart. */
#ifndef CTASCOPE_DEVICE_FUNCTIONS_H
#define CTASCOPE_DEVICE_FUNCTIONS_H

#include <__clang_cuda_builtin_vars.h>

/* Up to CUDA 9.1 libdevice had the SIMD-in-word functions; later clang writes them in PTX. */
#pragma push_macro("CUDA_VERSION")
#undef CUDA_VERSION
#define CUDA_VERSION 9010

#pragma push_macro("__device__")
#undef __device__
#define __device__ __attribute__((device)) __attribute__((const)) __attribute__((nothrow))
#define CTS_WRITERS_(X)                                                                            \
    X(double, frexp, (double, int *))                                                              \
    X(float, frexpf, (float, int *))                                                               \
    X(double, modf, (double, double *))                                                            \
    X(float, modff, (float, float *))                                                              \
    X(double, remquo, (double, double, int *))                                                     \
    X(float, remquof, (float, float, int *))                                                       \
    X(void, sincos, (double, double *, double *))                                                  \
    X(void, sincosf, (float, float *, float *))                                                    \
    X(void, sincospi, (double, double *, double *))                                                \
    X(void, sincospif, (float, float *, float *))                                                  \
    X(void, fast_sincosf, (float, float *, float *))                                               \
    X(double, norm, (int, const double *))                                                         \
    X(float, normf, (int, const float *))                                                          \
    X(double, rnorm, (int, const double *))                                                        \
    X(float, rnormf, (int, const float *))                                                         \
    X(double, nan, (const signed char *))                                                          \
    X(float, nanf, (const signed char *))
#define __nv_frexp        cts_unused_frexp_
#define __nv_frexpf       cts_unused_frexpf_
#define __nv_modf         cts_unused_modf_
#define __nv_modff        cts_unused_modff_
#define __nv_remquo       cts_unused_remquo_
#define __nv_remquof      cts_unused_remquof_
#define __nv_sincos       cts_unused_sincos_
#define __nv_sincosf      cts_unused_sincosf_
#define __nv_sincospi     cts_unused_sincospi_
#define __nv_sincospif    cts_unused_sincospif_
#define __nv_fast_sincosf cts_unused_fast_sincosf_
#define __nv_norm         cts_unused_norm_
#define __nv_normf        cts_unused_normf_
#define __nv_rnorm        cts_unused_rnorm_
#define __nv_rnormf       cts_unused_rnormf_
#define __nv_nan          cts_unused_nan_
#define __nv_nanf         cts_unused_nanf_
#include <__clang_cuda_libdevice_declares.h>
#undef __nv_frexp
#undef __nv_frexpf
#undef __nv_modf
#undef __nv_modff
#undef __nv_remquo
#undef __nv_remquof
#undef __nv_sincos
#undef __nv_sincosf
#undef __nv_sincospi
#undef __nv_sincospif
#undef __nv_fast_sincosf
#undef __nv_norm
#undef __nv_normf
#undef __nv_rnorm
#undef __nv_rnormf
#undef __nv_nan
#undef __nv_nanf
#pragma pop_macro("__device__")
extern "C" {
#define CTS_X(type, name, parameters)                                                              \
    __device__ type __nv_##name parameters __attribute__((nothrow));
CTS_WRITERS_(CTS_X)
#undef CTS_X
#undef CTS_WRITERS_
}

/* Ours instead of clang's: in PTX there, or narrower than CUDA's. */
#define __trap  cts_unused_trap_
#define __brkpt cts_unused_brkpt_
#define min     cts_unused_min_
#define max     cts_unused_max_
#define umin    cts_unused_umin_
#define umax    cts_unused_umax_
#define llmin   cts_unused_llmin_
#define llmax   cts_unused_llmax_
#define ullmin  cts_unused_ullmin_
#define ullmax  cts_unused_ullmax_
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>
#undef __trap
#undef __brkpt
#undef min
#undef max
#undef umin
#undef umax
#undef llmin
#undef llmax
#undef ullmin
#undef ullmax
#undef __prof_trigger
#pragma pop_macro("CUDA_VERSION")

extern "C" {
__device__ int vprintf(const char *, const char *);
__device__ void __assertfail(const char *message, const char *file, unsigned line,
                             const char *function, size_t char_bytes);
__device__ static inline void __assert_fail(const char *message, const char *file, unsigned line,
                                            const char *function)
{
    __assertfail(message, file, line, function, sizeof(char));
}
__device__ int printf(const char *, ...); /* clang makes it a call of vprintf */
}

#define CTS_CONVERSIONS_(variable)                                                                 \
    __device__ inline __cuda_builtin_##variable##_t::operator dim3() const                         \
    {                                                                                              \
        return dim3(x, y, z);                                                                      \
    }                                                                                              \
    __device__ inline __cuda_builtin_##variable##_t::operator uint3() const                        \
    {                                                                                              \
        return {x, y, z};                                                                          \
    }
CTS_CONVERSIONS_(threadIdx)
CTS_CONVERSIONS_(blockIdx)
CTS_CONVERSIONS_(blockDim)
CTS_CONVERSIONS_(gridDim)
#undef CTS_CONVERSIONS_

#include "minmax.h"
#include <__clang_cuda_cmath.h>
#include <__clang_cuda_complex_builtins.h>

#endif
