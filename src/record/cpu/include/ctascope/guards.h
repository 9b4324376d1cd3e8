/* The include guards of the toolkit's own headers, which other people's headers test to learn what
 * is declared. nvcc includes cuda_runtime.h before every CUDA source, and that all of these. */
#ifndef CTASCOPE_GUARDS_H
#define CTASCOPE_GUARDS_H

#define __BUILTIN_TYPES_H__           1
#define __CHANNEL_DESCRIPTOR_H__      1
#define __CUDA_RUNTIME_API_H__        1
#define __DEVICE_TYPES_H__            1
#define __DRIVER_FUNCTIONS_H__        1
#define __DRIVER_TYPES_H__            1
#define __HOST_CONFIG_H__             1
#define __HOST_DEFINES_H__            1
#define __LIBRARY_TYPES_H__           1
#define __SURFACE_TYPES_H__           1
#define __TEXTURE_TYPES_H__           1
#define __VECTOR_FUNCTIONS_H__        1
#define __VECTOR_TYPES_H__            1
#define __CUDA_DEVICE_RUNTIME_API_H__ 1

#ifdef __CUDACC__
#define __COMMON_FUNCTIONS_H__           1
#define __CUDA_RUNTIME_H__               1
#define __DEVICE_ATOMIC_FUNCTIONS_H__    1
#define __DEVICE_FUNCTIONS_H__           1
#define __DEVICE_LAUNCH_PARAMETERS_H__   1
#define __MATH_FUNCTIONS_H__             1
#define __SM_20_ATOMIC_FUNCTIONS_H__     1
#define __SM_20_INTRINSICS_H__           1
#define __SM_30_INTRINSICS_H__           1
#define __SM_32_ATOMIC_FUNCTIONS_H__     1
#define __SM_32_INTRINSICS_H__           1
#define __SM_35_ATOMIC_FUNCTIONS_H__     1
#define __SM_35_INTRINSICS_H__           1
#define __SM_60_ATOMIC_FUNCTIONS_H__     1
#define __SM_61_INTRINSICS_H__           1
#define __SURFACE_INDIRECT_FUNCTIONS_H__ 1
#define __TEXTURE_INDIRECT_FUNCTIONS_H__ 1
#endif

#endif
