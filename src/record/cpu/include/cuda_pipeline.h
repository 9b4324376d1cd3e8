/* Asynchronous copies from global to shared memory: done at once, so that commit and wait have
 * nothing left to do. */
#ifndef CTASCOPE_CUDA_PIPELINE_H
#define CTASCOPE_CUDA_PIPELINE_H

#include "cuda_runtime.h"

/* Recorded, and nothing else. */
extern "C" __device__ void __cts_async_copy(void);
extern "C" __device__ void __cts_async_commit(void);
extern "C" __device__ void __cts_async_wait(unsigned int);

/* 4, 8 or 16 bytes, of which the last `zero_fill` are zeroes instead. */
static __device__ __forceinline__ void
__pipeline_memcpy_async(void *target, const void *source, size_t size_bytes, size_t zero_fill = 0)
{
    typedef int quad __attribute__((ext_vector_type(4), may_alias));
    typedef int pair __attribute__((ext_vector_type(2), may_alias));
    typedef int word __attribute__((may_alias));
    if (zero_fill == 0 && size_bytes == 16) {
        __cts_async_copy();
        *(quad *)target = *(const quad *)source;
    } else if (zero_fill == 0 && size_bytes == 8) {
        __cts_async_copy();
        *(pair *)target = *(const pair *)source;
    } else if (zero_fill == 0 && size_bytes == 4) {
        __cts_async_copy();
        *(word *)target = *(const word *)source;
    } else {
        for (size_t i = 0; i < size_bytes; i++) {
            __cts_async_copy();
            ((char *)target)[i] = i < size_bytes - zero_fill ? ((const char *)source)[i] : 0;
        }
    }
}
static __device__ __forceinline__ void __pipeline_commit()
{
    __cts_async_commit();
}
static __device__ __forceinline__ void __pipeline_wait_prior(size_t groups)
{
    __cts_async_wait((unsigned int)groups);
}

#endif
