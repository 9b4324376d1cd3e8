/* The CUDA language for `ctascope cc`: included before every source that clang compiles as CUDA, in
 * the device pass and in the host pass. It takes the place of the CUDA toolkit's headers and of
 * clang's __clang_cuda_runtime_wrapper.h, which needs them.
 *
 * Order matters. clang's forward declarations come before <cmath>, so that std::sin and its like
 * are overloaded for the device; device malloc and free come before <new>, which <cmath> brings
 * since C++20, so that operator new in a kernel is the device's; __CUDA_ARCH__ is defined while
 * device functions are declared, so that the host pass can parse kernels. */
#ifndef CTASCOPE_CUDA_H
#define CTASCOPE_CUDA_H

#ifndef __CUDA__
#error "ctascope_cuda.h is for sources compiled as CUDA"
#endif

#define __CUDACC__ 1
#define __NVCC__   1
#include "ctascope/version.h"
#define __CUDACC_VER_MAJOR__         CTS_CUDA_MAJOR
#define __CUDACC_VER_MINOR__         CTS_CUDA_MINOR
#define __CUDACC_VER_BUILD__         CTS_CUDA_BUILD
#define CUDA_VERSION                 CTS_CUDA_API_VERSION
#define __CUDACC_EXTENDED_LAMBDA__   1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define __CUDA_ARCH_LIST__           900
#define __CTASCOPE__                 1
/* clang's lambdas are the same for host and device: their result's type can be asked for anywhere.
 */
#define __nv_is_extended_device_lambda_closure_type(...)               false
#define __nv_is_extended_host_device_lambda_closure_type(...)          false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false

#include "ctascope/guards.h"
#include "ctascope/host_defines.h"

extern "C" {
__device__ void free(void *) __attribute__((nothrow));
__device__ void *malloc(__SIZE_TYPE__) __attribute__((nothrow)) __attribute__((malloc));
}
#include <__clang_cuda_math_forward_declares.h>
/* clang checks the constraints of a kernel as if the kernel called what they name, and the standard
 * concepts name std::declval(), which is the host's alone. Like that one, this one is only
 * declared.
 */
#if __cplusplus >= 201103L
#include <type_traits> /* before any header that defines concepts */
#endif
#if defined(__GLIBCXX__) && __cplusplus >= 201103L
namespace std
{
template <class T, class Reference = T &&> __device__ Reference cts_declval_(int);
template <class T> __device__ T cts_declval_(long);
template <class T> __device__ auto declval() noexcept -> decltype(cts_declval_<T>(0));
} // namespace std
#endif

#include <cmath>
#include <cstdlib>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <time.h>
#include <limits.h>
#include <new>
#if __cplusplus >= 201103L
#include <initializer_list> /* nvcc's own headers bring it, too */
#endif

#include "ctascope/vector_types.h"

#pragma push_macro("__CUDA_ARCH__")
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif
#include "ctascope/device_functions.h"
#include "ctascope/memory.h"
#include "ctascope/warp.h"
#include "ctascope/atomics.h"
#include "ctascope/math.h"
#include "ctascope/dpx.h"
#pragma pop_macro("__CUDA_ARCH__")

#include "ctascope/runtime.h"
/* Launches by kernels: headers of libraries name them in code that only -rdc=true would reach. They
 * are declared and no more: code that does call them is refused by their names. */
extern "C" {
__device__ void *cudaGetParameterBuffer(size_t alignment, size_t size_bytes);
__device__ void *cudaGetParameterBufferV2(void *kernel, dim3 grid, dim3 block,
                                          unsigned int shared_bytes);
__device__ cudaError_t cudaLaunchDevice(void *kernel, void *parameters, dim3 grid, dim3 block,
                                        unsigned int shared_bytes, cudaStream_t stream);
__device__ cudaError_t cudaLaunchDeviceV2(void *parameters, cudaStream_t stream);
__device__ cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance(void);
}
#ifndef CTS_CUDART /* fetches are the CPU device's */
#include "ctascope/texture.h"
#endif

#endif
