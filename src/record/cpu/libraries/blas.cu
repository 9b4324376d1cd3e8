// cuBLAS for the CPU device: the calls of the four types, and what belongs to a handle.
#include "blas.h"
#include "library-words.h"

#include <cstdlib>

void *blas_scratch(cublasHandle_t handle, size_t size_bytes)
{
    if (handle->scratch_bytes >= size_bytes) return handle->scratch;
    cudaFree(handle->scratch); // waits for who may still use it
    handle->scratch_bytes = 0;
    if (cudaMalloc(&handle->scratch, size_bytes) != cudaSuccess) return handle->scratch = nullptr;
    handle->scratch_bytes = size_bytes;
    return handle->scratch;
}

// Where a kernel puts a result: where the program wants it, or on the device for blas_give.
template <class T> static T *blas_result(cublasHandle_t handle, T *asked)
{
    if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE) return asked;
    return (T *)blas_scratch(handle, 4096);
}

template <class T, class Out>
static cublasStatus_t blas_give(cublasHandle_t handle, T *asked, const Out *out)
{
    if ((const void *)asked == (const void *)out) return blas_launched();
    if (cudaMemcpyAsync(asked, out, sizeof *asked, cudaMemcpyDeviceToHost, handle->stream) ||
        cudaStreamSynchronize(handle->stream))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    return CUBLAS_STATUS_SUCCESS;
}

#define TYPE        float
#define NAME(word)  S##word
#define TYPED(word) word##_s
#define CALL(word)  cublasS##word
#define SUM(word)   cublasS##word
#define INDEX(word) cublasIs##word
#include "blas-typed.h"

#include "blas-real.h"
#undef TYPE
#undef NAME
#undef TYPED
#undef CALL
#undef SUM
#undef INDEX

#define TYPE        double
#define NAME(word)  D##word
#define TYPED(word) word##_d
#define CALL(word)  cublasD##word
#define SUM(word)   cublasD##word
#define INDEX(word) cublasId##word
#include "blas-typed.h"

#include "blas-real.h"
#undef TYPE
#undef NAME
#undef TYPED
#undef CALL
#undef SUM
#undef INDEX

#define TYPE             cuComplex
#define NAME(word)       C##word
#define TYPED(word)      word##_c
#define CALL(word)       cublasC##word
#define SUM(word)        cublasSc##word
#define INDEX(word)      cublasIc##word
#define REAL_SCALE(word) cublasCs##word
#include "blas-typed.h"

#include "blas-complex.h"
#undef TYPE
#undef NAME
#undef TYPED
#undef CALL
#undef SUM
#undef INDEX
#undef REAL_SCALE

#define TYPE             cuDoubleComplex
#define NAME(word)       Z##word
#define TYPED(word)      word##_z
#define CALL(word)       cublasZ##word
#define SUM(word)        cublasDz##word
#define INDEX(word)      cublasIz##word
#define REAL_SCALE(word) cublasZd##word
#include "blas-typed.h"

#include "blas-complex.h"

// ---- handles ----

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = (cublasHandle_t)calloc(1, sizeof **handle);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    REQUIRE(true);
    cudaFree(handle->scratch);
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int *version)
{
    if (!version) return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value)
{
    return library_property(type, value, CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH)
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_INVALID_VALUE;
}

#define SETTING(Word, type, member)                                                                \
    cublasStatus_t cublasSet##Word(cublasHandle_t handle, type value)                              \
    {                                                                                              \
        REQUIRE(true);                                                                             \
        handle->member = value;                                                                    \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    cublasStatus_t cublasGet##Word(cublasHandle_t handle, type *value)                             \
    {                                                                                              \
        REQUIRE(value);                                                                            \
        *value = handle->member;                                                                   \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }
SETTING(Stream, cudaStream_t, stream)
SETTING(PointerMode, cublasPointerMode_t, pointers)
SETTING(AtomicsMode, cublasAtomicsMode_t, atomics)
SETTING(MathMode, cublasMath_t, math)

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *, size_t)
{
    REQUIRE(true);
    return CUBLAS_STATUS_SUCCESS; // a hint: what is needed beside operands is the handle's own
}

#define STATUS(name, text) {CUBLAS_STATUS_##name, "CUBLAS_STATUS_" #name, text}
static const library_status statuses[] = {
    STATUS(SUCCESS, "success"),
    STATUS(NOT_INITIALIZED, "the handle is not initialised"),
    STATUS(ALLOC_FAILED, "no memory"),
    STATUS(INVALID_VALUE, "invalid value"),
    STATUS(ARCH_MISMATCH, "the device lacks a feature"),
    STATUS(MAPPING_ERROR, "memory cannot be mapped"),
    STATUS(EXECUTION_FAILED, "a kernel failed"),
    STATUS(INTERNAL_ERROR, "internal error"),
    STATUS(NOT_SUPPORTED, "not supported"),
    STATUS(LICENSE_ERROR, "license error"),
};

const char *cublasGetStatusName(cublasStatus_t status)
{
    return library_status_of(statuses, status).name;
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    return library_status_of(statuses, status).text;
}

// ---- vectors and matrices between host and device: rows of one element, or columns ----

struct matrix_shape {
    int rows, columns, element_bytes;
};
// Of a matrix's columns, or a vector's elements, each `stride` elements behind the one before.
struct strided {
    const void *at;
    int stride;
};

// Without a stream it waits.
static cublasStatus_t copy(matrix_shape shape, strided from, strided to, cudaMemcpyKind kind,
                           const cudaStream_t *stream)
{
    const int rows = shape.rows, columns = shape.columns, element_bytes = shape.element_bytes;
    if (rows < 0 || columns < 0 || element_bytes <= 0 || from.stride <= 0 || to.stride <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
    const size_t width = (size_t)rows * element_bytes;
    const size_t pitch_from = (size_t)from.stride * element_bytes,
                 pitch_to = (size_t)to.stride * element_bytes;
    const cudaError_t error =
        stream ? cudaMemcpy2DAsync((void *)to.at, pitch_to, from.at, pitch_from, width, columns,
                                   kind, *stream)
               : cudaMemcpy2D((void *)to.at, pitch_to, from.at, pitch_from, width, columns, kind);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

#define COPIES(Verb, kind)                                                                         \
    cublasStatus_t cublas##Verb##Vector(int n, int element_bytes, const void *x, int incx,         \
                                        void *y, int incy)                                         \
    {                                                                                              \
        return copy({1, n, element_bytes}, {x, incx}, {y, incy}, kind, nullptr);                   \
    }                                                                                              \
    cublasStatus_t cublas##Verb##VectorAsync(int n, int element_bytes, const void *x, int incx,    \
                                             void *y, int incy, cudaStream_t stream)               \
    {                                                                                              \
        return copy({1, n, element_bytes}, {x, incx}, {y, incy}, kind, &stream);                   \
    }                                                                                              \
    cublasStatus_t cublas##Verb##Matrix(int rows, int columns, int element_bytes, const void *a,   \
                                        int lda, void *b, int ldb)                                 \
    {                                                                                              \
        return copy({rows, columns, element_bytes}, {a, lda}, {b, ldb}, kind, nullptr);            \
    }                                                                                              \
    cublasStatus_t cublas##Verb##MatrixAsync(int rows, int columns, int element_bytes,             \
                                             const void *a, int lda, void *b, int ldb,             \
                                             cudaStream_t stream)                                  \
    {                                                                                              \
        return copy({rows, columns, element_bytes}, {a, lda}, {b, ldb}, kind, &stream);            \
    }
COPIES(Set, cudaMemcpyHostToDevice)
COPIES(Get, cudaMemcpyDeviceToHost)

} // extern "C"
