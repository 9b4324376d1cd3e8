/* Asynchronous copies from global to shared memory: done at once, so that commit and wait have
 * nothing left to do. */
#ifndef CTASCOPE_CUDA_PIPELINE_H
#define CTASCOPE_CUDA_PIPELINE_H

#include "cuda_runtime.h"

/* 4, 8 or 16 bytes, of which the last `zero_fill` are zeroes instead. */
static __device__ __forceinline__ void
__pipeline_memcpy_async(void *target, const void *source, size_t size_bytes, size_t zero_fill = 0)
{
    typedef int quad __attribute__((ext_vector_type(4), may_alias));
    typedef int pair __attribute__((ext_vector_type(2), may_alias));
    typedef int word __attribute__((may_alias));
    if (zero_fill == 0 && size_bytes == 16) {
        *(quad *)target = *(const quad *)source;
    } else if (zero_fill == 0 && size_bytes == 8) {
        *(pair *)target = *(const pair *)source;
    } else if (zero_fill == 0 && size_bytes == 4) {
        *(word *)target = *(const word *)source;
    } else {
        for (size_t i = 0; i < size_bytes; i++)
            ((char *)target)[i] = i < size_bytes - zero_fill ? ((const char *)source)[i] : 0;
    }
}
static __device__ __forceinline__ void __pipeline_commit() {}
static __device__ __forceinline__ void __pipeline_wait_prior(size_t) {}

#endif
