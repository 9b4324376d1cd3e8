// cuFFT's kernels. Lines that fit into shared memory are transformed there by Stockham's passes,
// one per factor of n; a thread computes one butterfly after another. Longer ones are several steps
// (fft.cu). Angles are computed in double precision.
#ifndef CTS_LIBRARIES_FFT_KERNELS_H
#define CTS_LIBRARIES_FFT_KERNELS_H

#include "fft.h"

namespace ctascope
{

struct fft_buffers {
    const void *in;
    void *out, *work;
    __device__ const void *get(fft_buffer buffer) const
    {
        return buffer == FFT_IN ? in : buffer == FFT_OUT ? out : work;
    }
};

// exp(sign 2 pi i k / n)
template <class R> __device__ complex_of<R> root(long long k, long long n, int sign)
{
    double sine, cosine;
    sincospi(2.0 * (double)(k % n) / (double)n, &sine, &cosine);
    return {(R)cosine, (R)(sign < 0 ? -sine : sine)};
}

// c(j) = exp(sign pi i j j / n)
template <class R> __device__ complex_of<R> chirp(long long j, long long n, int sign)
{
    return root<R>((long long)((unsigned long long)j * j % (unsigned long long)(2 * n)), 2 * n,
                   sign);
}

// One line of a step.
struct line_of {
    long long in, out, in_index, out_index, twiddle;
    __device__ line_of(const fft_step &step, long long line)
        : in(step.in.offset), out(step.out.offset), in_index(0), out_index(0), twiddle(0)
    {
        for (int i = step.loop_count - 1; i >= 0; i--) {
            const fft_loop &loop = step.loops[i];
            const long long counter = line % loop.count;
            line /= loop.count;
            in += counter * loop.in_step;
            out += counter * loop.out_step;
            in_index += counter * loop.in_index;
            out_index += counter * loop.out_index;
            if (i == step.twiddle_loop) twiddle = counter;
        }
    }
};

template <class R>
__device__ complex_of<R> load(const fft_step &step, const fft_buffers &buffers, const line_of &line,
                              long long i)
{
    const fft_side &side = step.in;
    const void *const memory = buffers.get(side.buffer);
    const long long index = line.in_index + i * side.index_step;
    if (side.kind == FFT_REAL) return {((const R *)memory)[line.in + index * side.stride], 0};
    const complex_of<R> *const elements = (const complex_of<R> *)memory;
    if (side.kind == FFT_HALF && index > side.n / 2)
        return conjugate(elements[line.in + (side.n - index) * side.stride]);
    return elements[line.in + index * side.stride];
}

template <class R>
__device__ void store(const fft_step &step, const fft_buffers &buffers, const line_of &line,
                      long long i, complex_of<R> value)
{
    const fft_side &side = step.out;
    void *const memory = (void *)buffers.get(side.buffer);
    const long long index = line.out_index + i * side.index_step;
    if (side.kind == FFT_REAL)
        ((R *)memory)[line.out + index * side.stride] = value.x;
    else if (side.kind == FFT_COMPLEX || index <= side.n / 2)
        ((complex_of<R> *)memory)[line.out + index * side.stride] = value;
}

// ---- transforms of r elements, in place ----

// i a for sign > 0, -i a for sign < 0
template <class R> __device__ complex_of<R> quarter_turn(complex_of<R> a, int sign)
{
    return sign > 0 ? complex_of<R>{-a.y, a.x} : complex_of<R>{a.y, -a.x};
}

template <class R> __device__ void transform2(complex_of<R> *v)
{
    const complex_of<R> a = v[0];
    v[0] = a + v[1];
    v[1] = a - v[1];
}

template <class R> __device__ void transform4(complex_of<R> *v, int sign)
{
    const complex_of<R> a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3];
    const complex_of<R> d = quarter_turn(v[1] - v[3], sign);
    v[0] = a + c;
    v[1] = b + d;
    v[2] = a - c;
    v[3] = b - d;
}

template <class R> __device__ void transform_odd(complex_of<R> *v, int r, int sign)
{
    complex_of<R> roots[FFT_MAX_RADIX], sums[FFT_MAX_RADIX];
    roots[0] = {1, 0};
    for (int i = 1; i <= r / 2; i++) roots[r - i] = conjugate(roots[i] = root<R>(i, r, sign));
    for (int p = 0; p < r; p++) {
        complex_of<R> sum = v[0];
        for (int q = 1, at = p; q < r; q++, at = (at + p) % r) sum = sum + v[q] * roots[at];
        sums[p] = sum;
    }
    for (int p = 0; p < r; p++) v[p] = sums[p];
}

// ---- lines ----

// One pass of radix r after others whose product is `before`: from memory or from the shared half
// `from`, to the other half or to memory. Element b + q n / r of the source is part q of butterfly
// b.
template <class R> struct fft_pass {
    const fft_step &step;
    const fft_buffers &buffers;
    const line_of &line;
    int sign;
    const complex_of<R> *from; // null: the step's input
    complex_of<R> *to;         // null: the step's output

    __device__ complex_of<R> get(int i) const
    {
        return from ? from[i] : load<R>(step, buffers, line, i);
    }
    __device__ void put(int i, complex_of<R> value) const
    {
        if (to) {
            to[i] = value;
            return;
        }
        if (step.twiddle_n) value = value * root<R>(line.twiddle * i, step.twiddle_n, sign);
        store<R>(step, buffers, line, i, value);
    }
    // v[q] times the q-th power of a root of n
    __device__ void turn_all(complex_of<R> *v, int r, int j, long long n) const
    {
        if (r > 4) {
            for (int q = 1; q < r; q++) v[q] = v[q] * root<R>((long long)q * j, n, sign);
            return;
        }
        const complex_of<double> first = root<double>(j, n, sign);
        complex_of<double> power = first;
        for (int q = 1; q < r; q++, power = power * first)
            v[q] = v[q] * complex_of<R>{(R)power.x, (R)power.y};
    }
    __device__ void butterfly(int r, int before, int b) const
    {
        const int n = (int)step.n, j = b % before;
        complex_of<R> v[FFT_MAX_RADIX + 1];
        for (int q = 0; q < r; q++) v[q] = get(b + q * (n / r));
        if (j) turn_all(v, r, j, (long long)before * r);
        if (r == 2)
            transform2<R>(v);
        else if (r == 4)
            transform4<R>(v, sign);
        else
            transform_odd<R>(v, r, sign);
        for (int p = 0; p < r; p++) put((b - j) * r + j + p * before, v[p]);
    }
};

template <class R>
__device__ void transform_lines(const fft_step &step, const fft_buffers &buffers, int sign)
{
    extern __shared__ double fft_shared[];
    const long long number = blockIdx.x * (long long)blockDim.y + threadIdx.y;
    const bool exists = number < step.line_count;
    const line_of line(step, exists ? number : 0);
    complex_of<R> *const halves = (complex_of<R> *)fft_shared + threadIdx.y * 2 * step.n;
    const complex_of<R> *from = nullptr;
    int before = 1;
    for (int f = 0; f < step.factor_count; f++) {
        const int r = step.factors[f];
        complex_of<R> *const to =
            f + 1 == step.factor_count ? nullptr : halves + (f % 2 ? step.n : 0);
        const fft_pass<R> pass = {step, buffers, line, sign, from, to};
        if (exists)
            for (int b = threadIdx.x; b < step.n / r; b += blockDim.x) pass.butterfly(r, before, b);
        if (to) __syncthreads();
        from = to;
        before *= r;
    }
}

// ---- Bluestein's chirps: a transform of n elements as a convolution of m ----

template <class R> __global__ void fft_chirp_in(fft_step step, fft_buffers buffers, int sign)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= step.line_count * step.m) return;
    const line_of line(step, i / step.m);
    const long long j = i % step.m;
    complex_of<R> value = {};
    if (j < step.n) value = load<R>(step, buffers, line, j) * chirp<R>(j, step.n, sign);
    store<R>(step, buffers, line, j, value);
}

template <class R> __global__ void fft_chirp_filter(fft_step step, fft_buffers buffers, int sign)
{
    const long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (j >= step.m) return;
    const line_of line(step, 0);
    const long long distance = j < step.n ? j : step.m - j;
    complex_of<R> value = {};
    if (distance < step.n) value = chirp<R>(distance, step.n, -sign);
    store<R>(step, buffers, line, j, value);
}

template <class R> __global__ void fft_chirp_product(fft_step step, fft_buffers buffers, int)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= step.line_count * step.m) return;
    const line_of line(step, i / step.m);
    const long long j = i % step.m;
    const complex_of<R> *const filter = (const complex_of<R> *)buffers.work + step.filter_offset;
    store<R>(step, buffers, line, j, load<R>(step, buffers, line, j) * filter[j]);
}

template <class R> __global__ void fft_chirp_out(fft_step step, fft_buffers buffers, int sign)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= step.line_count * step.n) return;
    const line_of line(step, i / step.n);
    const long long k = i % step.n;
    complex_of<R> value = load<R>(step, buffers, line, k) * chirp<R>(k, step.n, sign);
    value.x /= (R)step.m;
    value.y /= (R)step.m;
    store<R>(step, buffers, line, k, value);
}

#define FFT_CALL(name, R)                                                                          \
    __global__ void name(fft_step step, fft_buffers buffers, int sign)                             \
    {                                                                                              \
        transform_lines<R>(step, buffers, sign);                                                   \
    }
FFT_CALL(cufftExecC2C, float)
FFT_CALL(cufftExecR2C, float)
FFT_CALL(cufftExecC2R, float)
FFT_CALL(cufftExecZ2Z, double)
FFT_CALL(cufftExecD2Z, double)
FFT_CALL(cufftExecZ2D, double)

} // namespace ctascope

#endif
