// What the files of our cuBLAS share: the handle, scalars, how kernels are launched.
#ifndef CTS_LIBRARIES_BLAS_H
#define CTS_LIBRARIES_BLAS_H

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "elements.h"

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointers;
    cublasAtomicsMode_t atomics;
    cublasMath_t math;
    void *scratch; // on the device, grows; holds one call's copy of an operand that it overwrites
    size_t scratch_bytes;
};

// alpha or beta: on the host, or read by each thread where the program keeps it on the device.
template <class T> struct scalar {
    T value;
    const T *pointer;
    __device__ T get() const { return pointer ? *pointer : value; }
};

template <class T> scalar<own<T>> scalar_of(cublasHandle_t handle, const T *given)
{
    scalar<own<T>> result = {};
    if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE)
        result.pointer = (const own<T> *)given;
    else
        result.value = *(const own<T> *)given;
    return result;
}

// A value that the library itself knows.
template <class T> scalar<T> constant(T value)
{
    return {value, nullptr};
}

// Memory of the device for one call; null if there is none.
void *blas_scratch(cublasHandle_t handle, size_t size_bytes);

// What the launch before gave.
inline cublasStatus_t blas_launched()
{
    return cudaPeekAtLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                : CUBLAS_STATUS_EXECUTION_FAILED;
}

enum { THREADS = 256, TILE = 16 };

inline unsigned blocks_of(long long count, int threads = THREADS)
{
    return (unsigned)((count + threads - 1) / threads);
}

// The element of a vector whose increment may be negative.
__host__ __device__ inline long long at(int i, int n, int increment)
{
    return increment >= 0 ? (long long)i * increment : (long long)(i - (n - 1)) * increment;
}

// op(A): element (i, j) is A[i * row + j * column], conjugated if asked.
struct view_of {
    long long row, column;
    bool conjugated;
};
inline view_of view(cublasOperation_t op, int lda)
{
    if (op == CUBLAS_OP_N || op == CUBLAS_OP_CONJG) return {1, lda, op == CUBLAS_OP_CONJG};
    return {lda, 1, op == CUBLAS_OP_C};
}

inline bool is_operation(cublasOperation_t op)
{
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                         \
        if (!(condition)) return CUBLAS_STATUS_INVALID_VALUE;                                      \
    } while (0)

#endif
