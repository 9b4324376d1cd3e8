// What the libraries' kernels compute with: real and complex numbers under the same names.
#ifndef CTS_LIBRARIES_ELEMENTS_H
#define CTS_LIBRARIES_ELEMENTS_H

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define EVERYWHERE __host__ __device__ inline

// A complex number of two reals; laid out as cuComplex and cuDoubleComplex are.
template <class R> struct alignas(2 * sizeof(R)) complex_of {
    R x, y;
};

template <class T> struct element {
    using real = T;
    using type = T;
};
template <> struct element<cuComplex> {
    using real = float;
    using type = complex_of<float>;
};
template <> struct element<cuDoubleComplex> {
    using real = double;
    using type = complex_of<double>;
};
template <class R> struct element<complex_of<R>> {
    using real = R;
    using type = complex_of<R>;
};
template <class T> using real_of = typename element<T>::real;
template <class T> using own = typename element<T>::type;

template <class R> EVERYWHERE complex_of<R> operator+(complex_of<R> a, complex_of<R> b)
{
    return {a.x + b.x, a.y + b.y};
}
template <class R> EVERYWHERE complex_of<R> operator-(complex_of<R> a, complex_of<R> b)
{
    return {a.x - b.x, a.y - b.y};
}
template <class R> EVERYWHERE complex_of<R> operator*(complex_of<R> a, complex_of<R> b)
{
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
template <class R> EVERYWHERE complex_of<R> operator/(complex_of<R> a, complex_of<R> b)
{
    // Smith's way: no square of |b| that could overflow.
    if (fabs(b.x) >= fabs(b.y)) {
        const R ratio = b.y / b.x, size = b.x + b.y * ratio;
        return {(a.x + a.y * ratio) / size, (a.y - a.x * ratio) / size};
    }
    const R ratio = b.x / b.y, size = b.x * ratio + b.y;
    return {(a.x * ratio + a.y) / size, (a.y * ratio - a.x) / size};
}
template <class R> EVERYWHERE bool operator==(complex_of<R> a, complex_of<R> b)
{
    return a.x == b.x && a.y == b.y;
}

template <class T> EVERYWHERE T conjugate(T a, bool asked = true)
{
    (void)asked;
    return a;
}
template <class R> EVERYWHERE complex_of<R> conjugate(complex_of<R> a, bool asked = true)
{
    return {a.x, asked ? -a.y : a.y};
}

template <class T> EVERYWHERE T real_part(T a)
{
    return a;
}
template <class R> EVERYWHERE complex_of<R> real_part(complex_of<R> a)
{
    return {a.x, 0};
}

// |x| of BLAS: of complex numbers |re| + |im|.
EVERYWHERE float size_of(float a)
{
    return fabsf(a);
}
EVERYWHERE double size_of(double a)
{
    return fabs(a);
}
template <class R> EVERYWHERE R size_of(complex_of<R> a)
{
    return size_of(a.x) + size_of(a.y);
}

template <class T> EVERYWHERE T from_real(real_of<T> a)
{
    if constexpr (sizeof(T) == sizeof(real_of<T>))
        return a;
    else
        return {a, 0};
}

// Sums are kept in this: of halves in floats.
template <class To, class From> EVERYWHERE To convert(From a)
{
    return (To)a;
}

#endif
