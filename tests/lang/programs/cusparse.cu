// options: -lcusparse
// cuSPARSE's products of a CSR matrix against sums of doubles: four types, both widths of indices,
// both bases, both orders of dense matrices, scalars on host and device, empty rows.
#include <cusparse.h>
#include <complex>
#include <vector>

#include "check.h"

typedef std::complex<double> number;
static unsigned long long state = 88172645463325252ull;
static int below(int n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int)((state >> 32) % (unsigned)n);
}

#define SPARSE(call)                                                                               \
    do {                                                                                           \
        const cusparseStatus_t status_ = call;                                                     \
        if (status_ != CUSPARSE_STATUS_SUCCESS) {                                                  \
            printf("%s: %s\n", #call, cusparseGetErrorName(status_));                              \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

template <class T> struct kind;
#define KIND(T, name, has_imaginary, small)                                                        \
    template <> struct kind<T> {                                                                   \
        static constexpr cudaDataType type = name;                                                 \
        static constexpr bool is_complex = has_imaginary;                                          \
        static constexpr double epsilon = small;                                                   \
    };
KIND(float, CUDA_R_32F, false, 1.2e-7)
KIND(double, CUDA_R_64F, false, 2.3e-16)
KIND(std::complex<float>, CUDA_C_32F, true, 1.2e-7)
KIND(std::complex<double>, CUDA_C_64F, true, 2.3e-16)

template <class T> static T any()
{
    const double re = (below(2001) - 1000) / 1000.0, im = (below(2001) - 1000) / 1000.0;
    if constexpr (kind<T>::is_complex)
        return T(re, im);
    else
        return (T)(re + 0 * im);
}
template <class T> static T *any_memory(size_t count)
{
    T *const memory = managed<T>(count + 1);
    for (size_t i = 0; i < count; i++) memory[i] = any<T>();
    return memory;
}

static cusparseHandle_t handle;

template <class Index>
static constexpr cusparseIndexType_t index_type =
    sizeof(Index) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;

// Dense matrices: element (i, j) of what is stored.
static long long place(cusparseOrder_t order, int ld, int i, int j)
{
    return order == CUSPARSE_ORDER_COL ? i + (long long)j * ld : (long long)i * ld + j;
}

template <class T, class Index> static void check(int rows, int columns, int width)
{
    const int base = below(2);
    std::vector<std::vector<number>> full(rows, std::vector<number>(columns));
    std::vector<Index> at_row(1, base), at_column;
    std::vector<T> stored;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++)
            if (below(4) == 0 && i % 5) {
                stored.push_back(any<T>());
                at_column.push_back(j + base);
                full[i][j] = number(stored.back());
            }
        at_row.push_back((Index)stored.size() + base);
    }
    Index *const offsets = managed<Index>(at_row.size()), *const indices =
                                                              managed<Index>(stored.size() + 1);
    T *const values = managed<T>(stored.size() + 1);
    std::copy(at_row.begin(), at_row.end(), offsets);
    std::copy(at_column.begin(), at_column.end(), indices);
    std::copy(stored.begin(), stored.end(), values);
    cusparseSpMatDescr_t a;
    SPARSE(cusparseCreateCsr(&a, rows, columns, (int64_t)stored.size(), offsets, indices, values,
                             index_type<Index>, index_type<Index>, (cusparseIndexBase_t)base,
                             kind<T>::type));

    const cusparseOperation_t op = (cusparseOperation_t)below(3);
    const bool plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
    const cusparseOrder_t order_b = below(2) ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
    const cusparseOrder_t order_c = below(2) ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
    const int rows_b = plain ? columns : width, columns_b = plain ? width : columns;
    const int ld_b = (order_b == CUSPARSE_ORDER_COL ? rows_b : columns_b) + below(3);
    const int ld_c = (order_c == CUSPARSE_ORDER_COL ? rows : width) + below(3);
    const size_t size_b = (size_t)ld_b * (order_b == CUSPARSE_ORDER_COL ? columns_b : rows_b);
    const size_t size_c = (size_t)ld_c * (order_c == CUSPARSE_ORDER_COL ? width : rows);
    T *const b = any_memory<T>(size_b), *const c = any_memory<T>(size_c);
    T *const factors = any_memory<T>(2); // managed: the host's and the device's
    if (below(2)) factors[1] = 0, c[0] = T(NAN);
    SPARSE(cusparseSetPointerMode(handle, below(2) ? CUSPARSE_POINTER_MODE_DEVICE
                                                   : CUSPARSE_POINTER_MODE_HOST));
    cusparseDnMatDescr_t dense_b, dense_c;
    SPARSE(cusparseCreateDnMat(&dense_b, rows_b, columns_b, ld_b, b, kind<T>::type, order_b));
    SPARSE(cusparseCreateDnMat(&dense_c, rows, width, ld_c, c, kind<T>::type, order_c));
    const std::vector<T> before(c, c + size_c);
    size_t bytes;
    SPARSE(cusparseSpMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, op, factors, a,
                                   dense_b, factors + 1, dense_c, kind<T>::type,
                                   CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
    SPARSE(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, op, factors, a, dense_b,
                        factors + 1, dense_c, kind<T>::type, CUSPARSE_SPMM_ALG_DEFAULT, nullptr));
    CUDA(cudaDeviceSynchronize());

    std::vector<char> written(size_c);
    std::vector<number> first(rows); // of a vector, where beta is zero
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < width; j++) {
            number sum = 0;
            for (int k = 0; k < columns; k++) {
                const number y =
                    number(plain ? b[place(order_b, ld_b, k, j)] : b[place(order_b, ld_b, j, k)]);
                sum +=
                    full[i][k] * (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(y) : y);
            }
            sum *= number(factors[0]);
            const long long at = place(order_c, ld_c, i, j);
            if (factors[1] != T(0)) sum += number(factors[1]) * number(before[at]);
            const double off = std::abs(number(c[at]) - sum);
            CHECK(off <= 4 * (columns + 4) * kind<T>::epsilon, "(%d, %d) is off by %g", i, j, off);
            written[at] = 1;
        }
    for (size_t i = 0; i < size_c; i++) CHECK(written[i] || c[i] == before[i], "%zu", i);

    T *const x = any_memory<T>(columns), *const y = any_memory<T>(rows);
    const std::vector<T> y_before(y, y + rows);
    factors[1] = any<T>();
    cusparseDnVecDescr_t dense_x, dense_y;
    SPARSE(cusparseCreateDnVec(&dense_x, columns, x, kind<T>::type));
    SPARSE(cusparseCreateDnVec(&dense_y, rows, y, kind<T>::type));
    SPARSE(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, factors, a, dense_x, factors + 1,
                        dense_y, kind<T>::type, CUSPARSE_SPMV_ALG_DEFAULT, nullptr));
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < rows; i++) {
        number sum = 0;
        for (int k = 0; k < columns; k++) sum += full[i][k] * number(x[k]);
        sum = sum * number(factors[0]) + number(factors[1]) * number(y_before[i]);
        const double off = std::abs(number(y[i]) - sum);
        CHECK(off <= 4 * (columns + 4) * kind<T>::epsilon, "row %d is off by %g", i, off);
    }
    CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_TRANSPOSE, factors, a, dense_y, factors + 1,
                       dense_x, kind<T>::type, CUSPARSE_SPMV_ALG_DEFAULT,
                       nullptr) == CUSPARSE_STATUS_NOT_SUPPORTED);
    CHECK(cusparseSpMV(nullptr, CUSPARSE_OPERATION_NON_TRANSPOSE, factors, a, dense_x, factors + 1,
                       dense_y, kind<T>::type, CUSPARSE_SPMV_ALG_DEFAULT,
                       nullptr) == CUSPARSE_STATUS_NOT_INITIALIZED);
    if (rows != columns)
        CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, factors, a, dense_y,
                           factors + 1, dense_x, kind<T>::type, CUSPARSE_SPMV_ALG_DEFAULT,
                           nullptr) == CUSPARSE_STATUS_INVALID_VALUE);
    SPARSE(cusparseDestroyDnVec(dense_x));
    SPARSE(cusparseDestroyDnVec(dense_y));
    SPARSE(cusparseDestroyDnMat(dense_b));
    SPARSE(cusparseDestroyDnMat(dense_c));
    SPARSE(cusparseDestroySpMat(a));
    for (void *memory : {(void *)offsets, (void *)indices, (void *)values, (void *)b, (void *)c,
                         (void *)factors, (void *)x, (void *)y})
        CUDA(cudaFree(memory));
}

int main()
{
    SPARSE(cusparseCreate(&handle));
    for (int i = 0; i < 12; i++) {
        const int rows = 1 + below(300), columns = 1 + below(60), width = 1 + below(7);
        check<float, int>(rows, columns, width);
        check<double, long long>(rows, columns, width);
        check<std::complex<float>, int>(rows, columns, width);
        check<std::complex<double>, long long>(rows, columns, width);
    }
    SPARSE(cusparseDestroy(handle));
    return finish();
}
