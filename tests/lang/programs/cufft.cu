// options: -lcufft
// cuFFT against sums of doubles: all six types, one to three dimensions, batches, layouts with
// gaps, in place and out of place, prime and large sizes. What is not asked for stays as it is.
#include <cufft.h>
#include <complex>
#include <vector>

#include "check.h"

typedef std::complex<double> number;
static unsigned long long state = 88172645463325252ull;
static unsigned below(unsigned n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 32) % n;
}
static double any()
{
    return ((int)below(2001) - 1000) / 1000.0;
}

#define FFT(call)                                                                                  \
    do {                                                                                           \
        const cufftResult result_ = call;                                                          \
        if (result_ != CUFFT_SUCCESS) {                                                            \
            printf("%s: %d\n", #call, (int)result_);                                               \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

static const double pi = 3.14159265358979323846;
static number root(long long k, long long n, int sign)
{
    return std::polar(1.0, sign * 2 * pi * (double)(k % n) / (double)n);
}

// ---- the reference: one dimension after the other ----

struct shape {
    int rank, n[3];
    long long count() const
    {
        long long count = 1;
        for (int i = 0; i < rank; i++) count *= n[i];
        return count;
    }
};

static void transform(std::vector<number> &x, const shape &shape, int sign)
{
    for (int d = 0; d < shape.rank; d++) {
        const long long n = shape.n[d];
        long long step = 1;
        for (int i = d + 1; i < shape.rank; i++) step *= shape.n[i];
        std::vector<number> roots(n), sums(n);
        for (long long k = 0; k < n; k++) roots[k] = root(k, n, sign);
        for (long long first = 0; first < shape.count(); first++) {
            if (first / step % n) continue;
            for (long long k = 0; k < n; k++) {
                sums[k] = 0;
                for (long long j = 0; j < n; j++) sums[k] += x[first + j * step] * roots[k * j % n];
            }
            for (long long k = 0; k < n; k++) x[first + k * step] = sums[k];
        }
    }
}

// ---- layouts ----

struct layout {
    int sizes[3], stride, distance;
    long long at(const shape &shape, int batch, const int *index) const
    {
        long long at = 0;
        for (int i = 0; i < shape.rank; i++) at = at * sizes[i] + index[i];
        return batch * (long long)distance + at * stride;
    }
};

static layout any_layout(const shape &shape, const int *n, bool basic)
{
    layout made = {};
    made.stride = basic ? 1 : 1 + (int)below(3);
    made.distance = made.stride;
    for (int i = 0; i < shape.rank; i++) {
        made.sizes[i] = n[i] + (basic || i == 0 ? 0 : (int)below(3));
        made.distance *= made.sizes[i];
    }
    if (!basic) made.distance += (int)below(5);
    return made;
}

static bool next_index(const shape &shape, int *index)
{
    for (int i = shape.rank - 1; i >= 0; i--) {
        if (++index[i] < shape.n[i]) return true;
        index[i] = 0;
    }
    return false;
}
static long long packed(const shape &shape, const int *index)
{
    long long at = 0;
    for (int i = 0; i < shape.rank; i++) at = at * shape.n[i] + index[i];
    return at;
}

// ---- calls of one precision ----

template <class R> struct calls;
template <> struct calls<float> {
    static constexpr cufftType c2c = CUFFT_C2C, r2c = CUFFT_R2C, c2r = CUFFT_C2R;
    static constexpr double epsilon = 1.2e-7;
    static cufftResult complex(cufftHandle plan, void *in, void *out, int direction)
    {
        return cufftExecC2C(plan, (cufftComplex *)in, (cufftComplex *)out, direction);
    }
    static cufftResult from_real(cufftHandle plan, void *in, void *out)
    {
        return cufftExecR2C(plan, (cufftReal *)in, (cufftComplex *)out);
    }
    static cufftResult to_real(cufftHandle plan, void *in, void *out)
    {
        return cufftExecC2R(plan, (cufftComplex *)in, (cufftReal *)out);
    }
};
template <> struct calls<double> {
    static constexpr cufftType c2c = CUFFT_Z2Z, r2c = CUFFT_D2Z, c2r = CUFFT_Z2D;
    static constexpr double epsilon = 2.3e-16;
    static cufftResult complex(cufftHandle plan, void *in, void *out, int direction)
    {
        return cufftExecZ2Z(plan, (cufftDoubleComplex *)in, (cufftDoubleComplex *)out, direction);
    }
    static cufftResult from_real(cufftHandle plan, void *in, void *out)
    {
        return cufftExecD2Z(plan, (cufftDoubleReal *)in, (cufftDoubleComplex *)out);
    }
    static cufftResult to_real(cufftHandle plan, void *in, void *out)
    {
        return cufftExecZ2D(plan, (cufftDoubleComplex *)in, (cufftDoubleReal *)out);
    }
};

enum type { COMPLEX, FROM_REAL, TO_REAL };

// Memory of reals; `mark` everywhere that no call may touch.
static const double mark = 77.5;
template <class R> struct array {
    std::vector<R> host;
    R *device;
    explicit array(long long count) : host(count, (R)mark)
    {
        CUDA(cudaMalloc(&device, (count + 1) * sizeof(R)));
    }
    ~array() { cudaFree(device); }
    void give()
    {
        CUDA(cudaMemcpy(device, host.data(), host.size() * sizeof(R), cudaMemcpyHostToDevice));
    }
    void take()
    {
        CUDA(cudaMemcpy(host.data(), device, host.size() * sizeof(R), cudaMemcpyDeviceToHost));
    }
};

static cufftHandle make_plan(const shape &shape, type type, const layout &in, const layout &out,
                             cufftType kind, int batch, bool basic)
{
    cufftHandle plan;
    int n[3], in_sizes[3], out_sizes[3];
    for (int i = 0; i < shape.rank; i++) n[i] = shape.n[i];
    for (int i = 0; i < shape.rank; i++) in_sizes[i] = in.sizes[i], out_sizes[i] = out.sizes[i];
    if (!basic)
        FFT(cufftPlanMany(&plan, shape.rank, n, in_sizes, in.stride, in.distance, out_sizes,
                          out.stride, out.distance, kind, batch));
    else if (shape.rank == 1)
        FFT(cufftPlan1d(&plan, n[0], kind, batch));
    else if (batch > 1)
        FFT(cufftPlanMany(&plan, shape.rank, n, nullptr, 1, 0, nullptr, 1, 0, kind, batch));
    else if (shape.rank == 2)
        FFT(cufftPlan2d(&plan, n[0], n[1], kind));
    else
        FFT(cufftPlan3d(&plan, n[0], n[1], n[2], kind));
    (void)type;
    return plan;
}

// One plan, run once; `where` says which in messages.
template <class R>
static void check(const shape &full, type type, int batch, bool basic, bool in_place,
                  const char *where)
{
    const int sign = type == FROM_REAL ? -1 : type == TO_REAL ? 1 : below(2) ? 1 : -1;
    shape half = full; // what is stored of a complex array with real partner
    if (type != COMPLEX) half.n[full.rank - 1] = full.n[full.rank - 1] / 2 + 1;
    int padded[3];
    for (int i = 0; i < full.rank; i++) padded[i] = full.n[i];
    if (in_place && type != COMPLEX) padded[full.rank - 1] = 2 * half.n[full.rank - 1];
    const shape &in_shape = type == TO_REAL ? half : full;
    const shape &out_shape = type == FROM_REAL ? half : full;
    layout in = any_layout(full, type == FROM_REAL ? padded : in_shape.n, basic);
    layout out = any_layout(full, type == TO_REAL ? padded : out_shape.n, basic);
    if (in_place && !basic) out = in; // complex ones only
    const int in_reals = type == FROM_REAL ? 1 : 2, out_reals = type == TO_REAL ? 1 : 2;

    array<R> source((long long)in.distance * batch * in_reals);
    array<R> target((long long)out.distance * batch * out_reals);
    std::vector<std::vector<number>> expected(batch);
    for (int b = 0; b < batch; b++) {
        std::vector<number> &x = expected[b];
        x.resize(full.count());
        for (number &value : x) value = number((R)any(), type == FROM_REAL ? 0 : (R)any());
        int index[3] = {};
        if (type == TO_REAL) { // the transform of real numbers
            for (number &value : x) value = value.real();
            transform(x, full, -1);
            for (number &value : x) value = number((R)value.real(), (R)value.imag());
        }
        do {
            const number value = x[packed(full, index)];
            R *const at = &source.host[in.at(full, b, index) * in_reals];
            at[0] = (R)value.real();
            if (in_reals == 2) at[1] = (R)value.imag();
        } while (next_index(in_shape, index));
        transform(x, full, sign);
    }
    source.give();
    target.give();
    const std::vector<R> given = source.host;

    const cufftHandle plan = make_plan(full, type, in, out,
                                       type == COMPLEX     ? calls<R>::c2c
                                       : type == FROM_REAL ? calls<R>::r2c
                                                           : calls<R>::c2r,
                                       batch, basic);
    array<R> &result = in_place ? source : target;
    FFT(type == COMPLEX     ? calls<R>::complex(plan, source.device, result.device, sign)
        : type == FROM_REAL ? calls<R>::from_real(plan, source.device, result.device)
                            : calls<R>::to_real(plan, source.device, result.device));
    FFT(cufftDestroy(plan));
    source.take();
    result.take();

    if (!in_place) CHECK(source.host == given, "%s: the input changed", where);
    double size = 0;
    for (const auto &x : expected)
        for (const number &value : x) size = std::max(size, std::abs(value));
    std::vector<char> written(result.host.size());
    for (int b = 0; b < batch; b++) {
        int index[3] = {};
        do {
            const long long at = out.at(full, b, index) * out_reals;
            const number got(result.host[at], out_reals == 2 ? result.host[at + 1] : 0);
            const number wanted = expected[b][packed(full, index)];
            const double off = std::abs(out_reals == 2 ? got - wanted : got.real() - wanted.real());
            CHECK(off <= 12 * calls<R>::epsilon * (size + 1), "%s: off by %g of %g", where, off,
                  size);
            for (int i = 0; i < out_reals; i++) written[at + i] = 1;
        } while (next_index(out_shape, index));
    }
    if (!in_place)
        for (size_t i = 0; i < written.size(); i++)
            CHECK(written[i] || result.host[i] == (R)mark, "%s: %zu was written", where, i);
}

static void check_any(const shape &shape, int batch)
{
    for (int type = COMPLEX; type <= TO_REAL; type++)
        for (int variant = 0; variant < 3; variant++) {
            const bool basic = variant != 1, in_place = variant == 2;
            char where[100];
            snprintf(where, sizeof where, "type %d, %s, %d x (%d, %d, %d)", type,
                     in_place ? "in place"
                     : basic  ? "basic"
                              : "layouts",
                     batch, shape.n[0], shape.n[1], shape.n[2]);
            if (below(2))
                check<float>(shape, (enum type)type, batch, basic, in_place, where);
            else
                check<double>(shape, (enum type)type, batch, basic, in_place, where);
        }
}

// ---- sizes whose sums are too many: a few of them ----

template <class R> static void check_large(int n, int batch)
{
    array<R> x(2ll * n * batch);
    for (R &value : x.host) value = (R)any();
    const std::vector<R> given = x.host;
    x.give();
    cufftHandle plan;
    size_t bytes;
    FFT(cufftCreate(&plan));
    FFT(cufftSetAutoAllocation(plan, 0));
    FFT(cufftMakePlan1d(plan, n, calls<R>::c2c, batch, &bytes));
    void *work;
    CUDA(cudaMalloc(&work, bytes + 1));
    if (bytes)
        CHECK(calls<R>::complex(plan, x.device, x.device, -1) == CUFFT_NO_WORKSPACE, "%d", n);
    FFT(cufftSetWorkArea(plan, work));
    FFT(calls<R>::complex(plan, x.device, x.device, CUFFT_FORWARD));
    x.take();
    for (int i = 0; i < 6; i++) {
        const int b = (int)below(batch), k = i == 0 ? n - 1 : (int)below(n);
        std::complex<long double> sum = 0;
        double squares = 0;
        for (int j = 0; j < n; j++) {
            const R *const at = &given[2 * ((long long)b * n + j)];
            const long double turn = 2 * acosl(-1) * (long double)((long long)j * k % n) / n;
            sum += std::complex<long double>(at[0], at[1]) * std::polar(1.0l, -turn);
            squares += at[0] * at[0] + at[1] * at[1];
        }
        const R *const at = &x.host[2 * ((long long)b * n + k)];
        const double off = (double)std::abs(std::complex<long double>(at[0], at[1]) - sum);
        CHECK(off <= 12 * calls<R>::epsilon * sqrt(squares), "%d: %d is off by %g of %g", n, k, off,
              sqrt(squares));
    }
    FFT(calls<R>::complex(plan, x.device, x.device, CUFFT_INVERSE));
    x.take();
    for (size_t i = 0; i < given.size(); i++)
        CHECK(fabs(x.host[i] / n - given[i]) < 20 * calls<R>::epsilon, "%d: %zu does not return", n,
              i);
    FFT(cufftDestroy(plan));
    CUDA(cudaFree(work));
}

static void check_errors()
{
    cufftHandle plan = 12345;
    cufftComplex *const x = managed<cufftComplex>(8);
    size_t bytes;
    CHECK(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE && plan == 12345);
    CHECK(cufftPlan1d(&plan, 8, CUFFT_C2C, 0) == CUFFT_INVALID_SIZE);
    CHECK(cufftPlan2d(&plan, 8, -1, CUFFT_C2C) == CUFFT_INVALID_SIZE);
    CHECK(cufftPlan1d(&plan, 8, (cufftType)7, 1) == CUFFT_INVALID_TYPE);
    CHECK(cufftExecC2C(12345, x, x, CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
    CHECK(cufftDestroy(12345) == CUFFT_INVALID_PLAN);
    FFT(cufftCreate(&plan));
    CHECK(cufftExecC2C(plan, x, x, CUFFT_FORWARD) == CUFFT_INVALID_PLAN, "not made yet");
    FFT(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes));
    CHECK(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes) == CUFFT_INVALID_PLAN, "made before");
    CHECK(cufftExecC2C(plan, x, nullptr, CUFFT_FORWARD) == CUFFT_INVALID_VALUE);
    CHECK(cufftExecC2C(plan, x, x, 0) == CUFFT_INVALID_VALUE);
    CHECK(cufftExecR2C(plan, (float *)x, x) == CUFFT_INVALID_PLAN, "of another type");
    FFT(cufftDestroy(plan));
    CHECK(cufftExecC2C(plan, x, x, CUFFT_FORWARD) == CUFFT_INVALID_PLAN, "destroyed");
}

int main()
{
    for (int n = 1; n <= 40; n++) check_any({1, {n, 1, 1}}, 1 + n % 3);
    for (int n : {49, 60, 64, 97, 100, 101, 121, 127, 128, 143, 210, 256})
        check_any({1, {n, 1, 1}}, 2);
    for (int i = 0; i < 12; i++) {
        check_any({2, {1 + (int)below(20), 1 + (int)below(20), 1}}, 1 + (int)below(2));
        check_any({3, {1 + (int)below(9), 1 + (int)below(9), 1 + (int)below(9)}},
                  1 + (int)below(2));
    }
    check_any({2, {37, 4, 1}}, 1);
    check_any({3, {4, 37, 3}}, 2);
    check_large<float>(4096, 2);
    check_large<double>(4096, 2);
    check_large<float>(12288, 2);
    check_large<double>(31 * 29 * 23, 1);
    check_large<double>(4099, 2);
    check_large<float>(10007, 1);
    check_errors();
    return finish();
}
