/* Warp matrix functions (WMMA): C = A B + C by the 32 lanes of a warp.
 *
 * CUDA leaves open which lane holds which element; here element i of lane l is number 32 i + l of
 * the matrix by rows. Products are exact and sums single precision in order of k (int for integers,
 * double for doubles): a GPU's sums may differ in their last bits. The layout makes neighbouring
 * lanes load neighbouring elements of a row, which is not a tensor core's pattern. */
#ifndef CTASCOPE_MMA_H
#define CTASCOPE_MMA_H
#define __CUDA_MMA_H__ 1

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#define CTS_MMA_ static __device__ __forceinline__

namespace nvcuda
{
namespace wmma
{

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };

namespace precision
{
struct tf32;
}

namespace cts_
{
template <class T> struct type_of {
    typedef T element; /* what x[] holds */
    typedef float sum;
    CTS_MMA_ float operand(T value) { return (float)value; }
};
template <> struct type_of<precision::tf32> {
    typedef float element;
    typedef float sum;
    CTS_MMA_ float operand(float value)
    {
        return __uint_as_float(__float_as_uint(value) & 0xffffe000u);
    }
};
template <> struct type_of<double> {
    typedef double element;
    typedef double sum;
    CTS_MMA_ double operand(double value) { return value; }
};
template <> struct type_of<signed char> {
    typedef signed char element;
    typedef int sum;
    CTS_MMA_ int operand(signed char value) { return value; }
};
template <> struct type_of<unsigned char> {
    typedef unsigned char element;
    typedef int sum;
    CTS_MMA_ int operand(unsigned char value) { return value; }
};
template <class Use, int m, int n, int k> struct shape;
template <int m, int n, int k> struct shape<matrix_a, m, n, k> {
    static constexpr int rows = m, columns = k;
};
template <int m, int n, int k> struct shape<matrix_b, m, n, k> {
    static constexpr int rows = k, columns = n;
};
template <int m, int n, int k> struct shape<accumulator, m, n, k> {
    static constexpr int rows = m, columns = n;
};
template <class Layout> struct is_by_rows {
    static constexpr bool value = true;
};
template <> struct is_by_rows<col_major> {
    static constexpr bool value = false;
};

/* All elements of the warp's matrix, in every lane: several small ones travel in one word. */
template <class T, int count>
CTS_MMA_ void gather(typename type_of<T>::sum (&whole)[32 * count],
                     const typename type_of<T>::element (&own)[count])
{
    typedef typename type_of<T>::element element;
    constexpr int per_word = sizeof(element) < 4 ? 4 / (int)sizeof(element) : 1;
    constexpr int packed = count % per_word == 0 ? per_word : 1;
    for (int first = 0; first < count; first += packed) {
        for (int lane = 0; lane < 32; lane++) {
            element part[packed];
            if constexpr (sizeof(element) == 8) {
                part[0] = __shfl_sync(0xffffffffu, own[first], lane);
            } else {
                unsigned int word = 0;
                __builtin_memcpy(&word, &own[first], packed * sizeof(element));
                word = __shfl_sync(0xffffffffu, word, lane);
                __builtin_memcpy(part, &word, packed * sizeof(element));
            }
            for (int i = 0; i < packed; i++)
                whole[(first + i) * 32 + lane] = type_of<T>::operand(part[i]);
        }
    }
}
} // namespace cts_

template <class Use, int m, int n, int k, class T, class Layout = void> class fragment
{
  public:
    typedef typename cts_::type_of<T>::element element_type;
    typedef element_type storage_element_type;
    static constexpr int cts_rows = cts_::shape<Use, m, n, k>::rows;
    static constexpr int cts_columns = cts_::shape<Use, m, n, k>::columns;
    static constexpr int num_elements = cts_rows * cts_columns / 32;
    static constexpr int num_storage_elements = num_elements;
    static_assert(cts_rows * cts_columns % 32 == 0, "no shape of a warp's matrix");
    element_type x[num_elements];
};

CTS_MMA_ float __float_to_tf32(float value)
{
    const unsigned int bits = __float_as_uint(value);
    return value != value ? value : __uint_as_float((bits + 0x1000u) & 0xffffe000u);
}

template <class Use, int m, int n, int k, class T, class Layout, class Value>
CTS_MMA_ void fill_fragment(fragment<Use, m, n, k, T, Layout> &target, const Value &value)
{
    for (int i = 0; i < target.num_elements; i++)
        target.x[i] = (typename cts_::type_of<T>::element)value;
}

namespace cts_
{
/* Where element i of this lane lies. */
template <class Fragment>
CTS_MMA_ size_t place(const Fragment &, int i, unsigned int stride, bool by_rows)
{
    const unsigned int at = (unsigned int)i * 32 + cts_lane_();
    const unsigned int row = at / Fragment::cts_columns, column = at % Fragment::cts_columns;
    return by_rows ? (size_t)row * stride + column : (size_t)column * stride + row;
}
} // namespace cts_

template <class Use, int m, int n, int k, class T, class Layout, class Value>
CTS_MMA_ void load_matrix_sync(fragment<Use, m, n, k, T, Layout> &target, const Value *source,
                               unsigned int stride)
{
    for (int i = 0; i < target.num_elements; i++)
        target.x[i] = source[cts_::place(target, i, stride, cts_::is_by_rows<Layout>::value)];
    __syncwarp();
}
template <int m, int n, int k, class T, class Value>
CTS_MMA_ void load_matrix_sync(fragment<accumulator, m, n, k, T> &target, const Value *source,
                               unsigned int stride, layout_t layout)
{
    for (int i = 0; i < target.num_elements; i++)
        target.x[i] = source[cts_::place(target, i, stride, layout == mem_row_major)];
    __syncwarp();
}
template <int m, int n, int k, class T, class Value>
CTS_MMA_ void store_matrix_sync(Value *target, const fragment<accumulator, m, n, k, T> &source,
                                unsigned int stride, layout_t layout)
{
    for (int i = 0; i < source.num_elements; i++)
        target[cts_::place(source, i, stride, layout == mem_row_major)] = source.x[i];
    __syncwarp();
}

template <int m, int n, int k, class TD, class TA, class LA, class TB, class LB, class TC>
CTS_MMA_ void mma_sync(fragment<accumulator, m, n, k, TD> &target,
                       const fragment<matrix_a, m, n, k, TA, LA> &a,
                       const fragment<matrix_b, m, n, k, TB, LB> &b,
                       const fragment<accumulator, m, n, k, TC> &c, bool = false)
{
    typedef typename cts_::type_of<TA>::sum sum;
    sum left[m * k], right[k * n];
    cts_::gather<TA>(left, a.x);
    cts_::gather<TB>(right, b.x);
    for (int i = 0; i < target.num_elements; i++) {
        const int at = i * 32 + (int)cts_lane_(), row = at / n, column = at % n;
        sum total = (sum)c.x[i];
        for (int j = 0; j < k; j++) total += left[row * k + j] * right[j * n + column];
        target.x[i] = (typename cts_::type_of<TD>::element)total;
    }
}

} // namespace wmma
} // namespace nvcuda

#undef CTS_MMA_

#endif
