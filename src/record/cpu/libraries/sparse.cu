// cuSPARSE for the CPU device: products of a CSR matrix and a dense vector or matrix. One thread
// computes one element of the result, and adds products in the order in which they are stored.
#include <cusparse.h>

#include <cstdio>
#include <cstdlib>

#include "blas.h"
#include "library-words.h"

struct cusparseContext {
    cudaStream_t stream;
    cusparsePointerMode_t pointers;
};
struct cusparseSpMatDescr {
    int64_t rows, columns, nonzeros;
    void *offsets, *indices, *values;
    cusparseIndexType_t offset_type, index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
};
struct cusparseDnVecDescr {
    int64_t count;
    void *values;
    cudaDataType type;
};
struct cusparseDnMatDescr {
    int64_t rows, columns, ld;
    void *values;
    cudaDataType type;
    cusparseOrder_t order;
};

// A dense operand: element (i, j) is at i * row + j * column, conjugated if asked.
struct dense {
    void *values;
    view_of view;
};

namespace ctascope
{

__device__ inline long long index_at(const void *indices, cusparseIndexType_t type, long long i)
{
    return type == CUSPARSE_INDEX_64I ? ((const long long *)indices)[i] : ((const int *)indices)[i];
}

// C(i, j) = alpha (A B)(i, j) + beta C(i, j); C is not read where beta is zero.
template <class E>
__device__ void multiply(const cusparseSpMatDescr &a, const dense &b, const dense &c, long long i,
                         long long j, const scalar<E> *factors)
{
    const long long first = index_at(a.offsets, a.offset_type, i) - a.base;
    const long long end = index_at(a.offsets, a.offset_type, i + 1) - a.base;
    E sum = {};
    for (long long k = first; k < end; k++) {
        const long long column = index_at(a.indices, a.index_type, k) - a.base;
        const E *const element = (const E *)b.values + column * b.view.row + j * b.view.column;
        sum = sum + ((const E *)a.values)[k] * conjugate(*element, b.view.conjugated);
    }
    const E beta = factors[1].get(), zero = {};
    E *const out = (E *)c.values + i * c.view.row + j * c.view.column;
    sum = factors[0].get() * sum;
    *out = beta == zero ? sum : sum + beta * *out;
}

template <class E> struct factors_of {
    scalar<E> of[2]; // alpha, beta
};

template <class E>
__global__ void cusparseSpMV(cusparseSpMatDescr a, dense x, dense y, factors_of<E> factors)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < a.rows) multiply<E>(a, x, y, i, 0, factors.of);
}

template <class E>
__global__ void cusparseSpMM(cusparseSpMatDescr a, dense b, dense c, factors_of<E> factors)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < a.rows) multiply<E>(a, b, c, i, blockIdx.y, factors.of);
}

} // namespace ctascope

static cusparseStatus_t refuse(const char *what)
{
    fprintf(stderr, "ctascope: cuSPARSE: %s is not supported on the CPU device\n", what);
    return CUSPARSE_STATUS_NOT_SUPPORTED;
}

// A product: alpha op(A) B + beta C; one column for a vector.
struct product {
    cusparseHandle_t handle;
    cusparseOperation_t op;
    const cusparseSpMatDescr *a;
    dense b, c;
    int64_t columns;
    const void *alpha, *beta;
    bool is_vector;
};

template <class T> static cusparseStatus_t launch(const product &product)
{
    ctascope::factors_of<T> factors = {};
    const void *const given[] = {product.alpha, product.beta};
    for (int i = 0; i < 2; i++)
        if (product.handle->pointers == CUSPARSE_POINTER_MODE_DEVICE)
            factors.of[i].pointer = (const T *)given[i];
        else
            factors.of[i].value = *(const T *)given[i];
    if (product.a->rows == 0 || product.columns == 0) return CUSPARSE_STATUS_SUCCESS;
    const dim3 grid(blocks_of(product.a->rows), (unsigned)product.columns);
    const auto kernel = product.is_vector ? ctascope::cusparseSpMV<T> : ctascope::cusparseSpMM<T>;
    kernel<<<grid, THREADS, 0, product.handle->stream>>>(*product.a, product.b, product.c, factors);
    return cudaPeekAtLastError() == cudaSuccess ? CUSPARSE_STATUS_SUCCESS
                                                : CUSPARSE_STATUS_EXECUTION_FAILED;
}

static cusparseStatus_t multiply(const product &product, cudaDataType b, cudaDataType c,
                                 cudaDataType compute)
{
    if (product.op != CUSPARSE_OPERATION_NON_TRANSPOSE) return refuse("a transposed sparse matrix");
    const cudaDataType type = product.a->type;
    if (b != type || c != type || compute != type) return refuse("a product of mixed types");
    switch (type) {
    case CUDA_R_32F:
        return launch<float>(product);
    case CUDA_R_64F:
        return launch<double>(product);
    case CUDA_C_32F:
        return launch<complex_of<float>>(product);
    case CUDA_C_64F:
        return launch<complex_of<double>>(product);
    default:
        return refuse("this type of values");
    }
}

static view_of view_of_dense(const cusparseDnMatDescr &matrix, cusparseOperation_t op)
{
    view_of view = matrix.order == CUSPARSE_ORDER_COL ? view_of{1, matrix.ld, false}
                                                      : view_of{matrix.ld, 1, false};
    if (op == CUSPARSE_OPERATION_NON_TRANSPOSE) return view;
    return {view.column, view.row, op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};
}

#undef REQUIRE
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!handle) return CUSPARSE_STATUS_NOT_INITIALIZED;                                       \
        if (!(condition)) return CUSPARSE_STATUS_INVALID_VALUE;                                    \
    } while (0)

template <class T> static cusparseStatus_t keep(T **made, const T &value)
{
    *made = (T *)malloc(sizeof value);
    if (!*made) return CUSPARSE_STATUS_ALLOC_FAILED;
    **made = value;
    return CUSPARSE_STATUS_SUCCESS;
}

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle)
{
    REQUIRE(true);
    return keep(handle, cusparseContext());
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle)
{
    REQUIRE(true);
    free(handle);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version)
{
    REQUIRE(version);
    *version = CUSPARSE_VERSION;
    return CUSPARSE_STATUS_SUCCESS;
}

#define SETTING(Word, type, member)                                                                \
    cusparseStatus_t cusparseSet##Word(cusparseHandle_t handle, type value)                        \
    {                                                                                              \
        REQUIRE(true);                                                                             \
        handle->member = value;                                                                    \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }                                                                                              \
    cusparseStatus_t cusparseGet##Word(cusparseHandle_t handle, type *value)                       \
    {                                                                                              \
        REQUIRE(value);                                                                            \
        *value = handle->member;                                                                   \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }
SETTING(Stream, cudaStream_t, stream)
SETTING(PointerMode, cusparsePointerMode_t, pointers)

#define STATUS(name, text) {CUSPARSE_STATUS_##name, "CUSPARSE_STATUS_" #name, text}
static const library_status statuses[] = {
    STATUS(SUCCESS, "success"),
    STATUS(NOT_INITIALIZED, "the handle is not initialised"),
    STATUS(ALLOC_FAILED, "no memory"),
    STATUS(INVALID_VALUE, "invalid value"),
    STATUS(ARCH_MISMATCH, "the device lacks a feature"),
    STATUS(MAPPING_ERROR, "memory cannot be mapped"),
    STATUS(EXECUTION_FAILED, "a kernel failed"),
    STATUS(INTERNAL_ERROR, "internal error"),
    STATUS(MATRIX_TYPE_NOT_SUPPORTED, "matrix type not supported"),
    STATUS(ZERO_PIVOT, "zero pivot"),
    STATUS(NOT_SUPPORTED, "not supported"),
    STATUS(INSUFFICIENT_RESOURCES, "insufficient resources"),
};

const char *cusparseGetErrorName(cusparseStatus_t status)
{
    return library_status_of(statuses, status).name;
}

const char *cusparseGetErrorString(cusparseStatus_t status)
{
    return library_status_of(statuses, status).text;
}

// ---- operands ----

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *handle, int64_t rows, int64_t columns,
                                   int64_t nonzeros, void *row_offsets, void *column_indices,
                                   void *values, cusparseIndexType_t offset_type,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                   cudaDataType value_type)
{
    if (!handle || rows < 0 || columns < 0 || nonzeros < 0 || (rows && !row_offsets) ||
        (nonzeros && (!column_indices || !values)))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (offset_type == CUSPARSE_INDEX_16U || index_type == CUSPARSE_INDEX_16U)
        return refuse("CUSPARSE_INDEX_16U");
    return keep(handle, cusparseSpMatDescr{rows, columns, nonzeros, row_offsets, column_indices,
                                           values, offset_type, index_type, base, value_type});
}

cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t handle, void *row_offsets,
                                        void *column_indices, void *values)
{
    REQUIRE(row_offsets && column_indices && values);
    handle->offsets = row_offsets;
    handle->indices = column_indices;
    handle->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *handle, int64_t count, void *values,
                                     cudaDataType value_type)
{
    if (!handle || count < 0 || (count && !values)) return CUSPARSE_STATUS_INVALID_VALUE;
    return keep(handle, cusparseDnVecDescr{count, values, value_type});
}

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *handle, int64_t rows, int64_t columns,
                                     int64_t ld, void *values, cudaDataType value_type,
                                     cusparseOrder_t order)
{
    if (!handle || rows < 0 || columns < 0 || !values ||
        ld < (order == CUSPARSE_ORDER_COL ? rows : columns))
        return CUSPARSE_STATUS_INVALID_VALUE;
    return keep(handle, cusparseDnMatDescr{rows, columns, ld, values, value_type, order});
}

#define OPERAND(Word, set)                                                                         \
    cusparseStatus_t set(cusparse##Word##Descr_t handle, void *values)                             \
    {                                                                                              \
        REQUIRE(values);                                                                           \
        handle->values = values;                                                                   \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }                                                                                              \
    cusparseStatus_t cusparseDestroy##Word(cusparseConst##Word##Descr_t handle)                    \
    {                                                                                              \
        free((void *)handle);                                                                      \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }
OPERAND(SpMat, cusparseSpMatSetValues)
OPERAND(DnVec, cusparseDnVecSetValues)
OPERAND(DnMat, cusparseDnMatSetValues)

// ---- products; none needs a buffer ----

#define SPMV                                                                                       \
    cusparseHandle_t handle, cusparseOperation_t op_a, const void *alpha,                          \
        cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void *beta,                \
        cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t
#define SPMM                                                                                       \
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,                   \
        const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,               \
        const void *beta, cusparseDnMatDescr_t c, cudaDataType type, cusparseSpMMAlg_t

cusparseStatus_t cusparseSpMV_bufferSize(SPMV, size_t *buffer_bytes)
{
    (void)op_a, (void)type;
    REQUIRE(alpha && a && x && beta && y && buffer_bytes);
    *buffer_bytes = 0;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV_preprocess(SPMV, void *)
{
    (void)op_a, (void)type;
    REQUIRE(alpha && a && x && beta && y);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV(SPMV, void *)
{
    REQUIRE(alpha && a && x && beta && y);
    if (op_a == CUSPARSE_OPERATION_NON_TRANSPOSE)
        REQUIRE(x->count == a->columns && y->count == a->rows);
    const view_of column = {1, 0, false};
    return multiply(
        {handle, op_a, a, {x->values, column}, {y->values, column}, 1, alpha, beta, true}, x->type,
        y->type, type);
}

cusparseStatus_t cusparseSpMM_bufferSize(SPMM, size_t *buffer_bytes)
{
    (void)op_a, (void)op_b, (void)type;
    REQUIRE(alpha && a && b && beta && c && buffer_bytes);
    *buffer_bytes = 0;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM_preprocess(SPMM, void *)
{
    (void)op_a, (void)op_b, (void)type;
    REQUIRE(alpha && a && b && beta && c);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM(SPMM, void *)
{
    REQUIRE(alpha && a && b && beta && c);
    const bool plain = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (op_a == CUSPARSE_OPERATION_NON_TRANSPOSE)
        REQUIRE((plain ? b->rows : b->columns) == a->columns && c->rows == a->rows &&
                (plain ? b->columns : b->rows) == c->columns);
    return multiply({handle,
                     op_a,
                     a,
                     {b->values, view_of_dense(*b, op_b)},
                     {c->values, view_of_dense(*c, CUSPARSE_OPERATION_NON_TRANSPOSE)},
                     c->columns,
                     alpha,
                     beta,
                     false},
                    b->type, c->type, type);
}

} // extern "C"
