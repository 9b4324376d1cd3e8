// cuFFT for the CPU device: how a plan divides a transform into steps, and the calls.
//
// Each dimension is a step over all lines of that dimension, the last one first. A line is one step
// where it fits into shared memory and its size has small prime factors only. Otherwise
//   n = n1 n2      n2 transforms of n1 elements n2 apart, turned by roots of n, and then n1
//                  transforms of n2 elements, which may be divided again;
//   a large prime  Bluestein's convolution of a power of two, m >= 2n - 1.
#include "fft-kernels.h"
#include "library-words.h"

#include <cstdlib>
#include <new>
#include <vector>

enum { SHARED_BYTES = 65536, THREADS = 128, MAX_RANK = 3 };

// A data layout as in cufftPlanMany; strides count elements.
struct layout {
    long long size[MAX_RANK]; // as if one array of the whole rank
    long long stride, distance;
};

struct variant { // of a plan: in place or not
    std::vector<fft_step> steps;
    long long work_elements; // complex
};

struct fft_plan {
    bool is_made, allocate;
    cufftType type;
    cudaStream_t stream;
    variant variants[2]; // [in place]
    void *work, *own_work;
};

static bool is_double(cufftType type)
{
    return type & 0x40;
}
static size_t complex_bytes(cufftType type)
{
    return is_double(type) ? sizeof(complex_of<double>) : sizeof(complex_of<float>);
}
static bool from_real(cufftType type)
{
    return type == CUFFT_R2C || type == CUFFT_D2Z;
}
static bool to_real(cufftType type)
{
    return type == CUFFT_C2R || type == CUFFT_Z2D;
}

// ---- steps ----

struct builder {
    variant *made;
    long long longest; // line in shared memory

    long long take_work(long long elements)
    {
        const long long offset = made->work_elements;
        made->work_elements += elements;
        return offset;
    }
    void add(fft_step step)
    {
        step.line_count = 1;
        for (int i = 0; i < step.loop_count; i++) step.line_count *= step.loops[i].count;
        made->steps.push_back(step);
    }
    void add_lines(fft_step step);
    void add_divided(const fft_step &step);
    void add_chirps(const fft_step &step);
};

// The radices of the passes; false if a prime factor is too large.
static bool factorise(fft_step *step)
{
    long long left = step->n;
    step->factor_count = 0;
    for (int radix = 4; radix <= FFT_MAX_RADIX; radix = radix == 4 ? 2 : radix == 2 ? 3 : radix + 2)
        for (; left % radix == 0; left /= radix)
            step->factors[step->factor_count++] = (unsigned char)radix;
    if (step->factor_count == 0) step->factors[step->factor_count++] = 1;
    return left == 1;
}

void builder::add_lines(fft_step step)
{
    step.type = FFT_LINES;
    if (!factorise(&step))
        add_chirps(step);
    else if (step.n > longest)
        add_divided(step);
    else
        add(step);
}

static fft_side work_side(long long offset, long long n)
{
    return {FFT_WORK, FFT_COMPLEX, offset, 1, n, 1};
}

static long long line_count(const fft_step &step)
{
    long long lines = 1;
    for (int i = 0; i < step.loop_count; i++) lines *= step.loops[i].count;
    return lines;
}

// The loops of a step, for one that writes its lines to work memory, `n` elements each, or reads
// them from there.
static void pack(fft_step *step, long long n, bool in, bool out)
{
    long long distance = n;
    for (int i = step->loop_count - 1; i >= 0; i--) {
        fft_loop *const loop = &step->loops[i];
        if (in) loop->in_step = distance, loop->in_index = 0;
        if (out) loop->out_step = distance, loop->out_index = 0;
        distance *= loop->count;
    }
}

void builder::add_divided(const fft_step &step)
{
    long long n1 = longest;
    while (step.n % n1) n1--;
    const long long n2 = step.n / n1;
    const long long work = take_work(line_count(step) * step.n);

    fft_step first = step;
    first.n = n1;
    pack(&first, step.n, false, true);
    first.out = work_side(work, step.n);
    first.out.index_step = n2;
    first.in.index_step *= n2;
    first.twiddle_n = step.n;
    first.twiddle_loop = first.loop_count;
    first.loops[first.loop_count++] = {n2, 0, 0, step.in.index_step, 1};
    factorise(&first);
    add(first);

    fft_step second = step;
    second.n = n2;
    pack(&second, step.n, true, false);
    second.in = work_side(work, step.n);
    second.out.index_step *= n1;
    second.loops[second.loop_count++] = {n1, n2, 0, 0, step.out.index_step};
    add_lines(second);
}

void builder::add_chirps(const fft_step &step)
{
    long long m = 1;
    while (m < 2 * step.n - 1) m *= 2;
    const long long filter = take_work(m), work = take_work(line_count(step) * m);

    fft_step chirp = step;
    chirp.m = m;
    chirp.filter_offset = filter;

    fft_step inside = chirp; // lines of m elements in work memory, in place
    pack(&inside, m, true, true);
    inside.in = inside.out = work_side(work, m);

    fft_step make = inside;
    make.type = FFT_CHIRP_FILTER;
    make.loop_count = 0;
    make.in = make.out = work_side(filter, m);
    add(make);
    make.n = m;
    make.sign = CUFFT_FORWARD;
    add_lines(make);

    fft_step in = chirp;
    in.type = FFT_CHIRP_IN;
    pack(&in, m, false, true);
    in.out = work_side(work, m);
    add(in);

    fft_step transform = inside;
    transform.n = m;
    transform.sign = CUFFT_FORWARD;
    add_lines(transform);
    inside.type = FFT_CHIRP_PRODUCT;
    add(inside);
    transform.sign = CUFFT_INVERSE;
    add_lines(transform);

    fft_step out = chirp;
    out.type = FFT_CHIRP_OUT;
    pack(&out, m, true, false);
    out.in = work_side(work, m);
    add(out);
}

// ---- plans ----

struct request {
    int rank;
    long long n[MAX_RANK];
    bool is_basic; // no layouts given
    layout in, out;
    cufftType type;
    long long batch;
};

// The distance of neighbours in a dimension.
static long long step_of(const layout &layout, int rank, int dimension)
{
    long long step = layout.stride;
    for (int i = rank - 1; i > dimension; i--) step *= layout.size[i];
    return step;
}

// Elements that are stored of the last dimension.
static long long stored(const request &request, bool is_real, bool in_place)
{
    const long long n = request.n[request.rank - 1];
    if (is_real) return in_place ? 2 * (n / 2 + 1) : n;
    return from_real(request.type) || to_real(request.type) ? n / 2 + 1 : n;
}

static layout basic_layout(const request &request, bool is_real, bool in_place)
{
    layout layout = {{}, 1, 1};
    for (int i = 0; i < request.rank; i++) {
        layout.size[i] = i == request.rank - 1 ? stored(request, is_real, in_place) : request.n[i];
        layout.distance *= layout.size[i];
    }
    return layout;
}

// Where the lines of one side of a step lie.
struct placed {
    fft_buffer buffer;
    fft_kind kind;
    layout lines;
    long long offset; // of the first element in the buffer
};

static fft_side side_of(const request &request, int dimension, const placed &side)
{
    const long long stride = step_of(side.lines, request.rank, dimension);
    return {side.buffer, side.kind, side.offset, stride, request.n[dimension], 1};
}

// The lines of one dimension, from one place to another.
static void add_dimension(builder *builder, const request &request, int dimension,
                          const placed &from, const placed &to)
{
    const int rank = request.rank;
    const layout &in = from.lines, &out = to.lines;
    fft_step step = {};
    step.in = side_of(request, dimension, from);
    step.out = side_of(request, dimension, to);
    step.n = request.n[dimension];
    step.twiddle_loop = -1;
    step.loops[step.loop_count++] = {request.batch, in.distance, out.distance, 0, 0};
    for (int i = 0; i < rank; i++) {
        if (i == dimension) continue;
        const long long count = i == rank - 1 ? stored(request, false, false) : request.n[i];
        step.loops[step.loop_count++] = {count, step_of(in, rank, i), step_of(out, rank, i), 0, 0};
    }
    builder->add_lines(step);
}

static void make_variant(const request &request, bool in_place, variant *made)
{
    builder builder = {made, (long long)(SHARED_BYTES / (2 * complex_bytes(request.type)))};
    const bool real_in = from_real(request.type), real_out = to_real(request.type);
    const layout in = request.is_basic ? basic_layout(request, real_in, in_place) : request.in;
    const layout out = request.is_basic ? basic_layout(request, real_out, in_place) : request.out;
    const int last = request.rank - 1;

    if (!real_out) { // the last dimension to the output, the others there in place
        const placed input = {FFT_IN, real_in ? FFT_REAL : FFT_COMPLEX, in, 0};
        const placed first = {FFT_OUT, real_in ? FFT_HALF : FFT_COMPLEX, out, 0};
        const placed output = {FFT_OUT, FFT_COMPLEX, out, 0};
        add_dimension(&builder, request, last, input, first);
        for (int i = last - 1; i >= 0; i--) add_dimension(&builder, request, i, output, output);
        return;
    }
    // The others to work memory, then the last dimension from there: the input stays as it is.
    placed from = {FFT_IN, FFT_COMPLEX, in, 0};
    placed work = {FFT_WORK, FFT_COMPLEX, basic_layout(request, false, false), 0};
    for (int i = 0; i < last; i++) {
        if (i == 0) work.offset = builder.take_work(work.lines.distance * request.batch);
        add_dimension(&builder, request, i, from, work);
        from = work;
    }
    from.kind = FFT_HALF;
    add_dimension(&builder, request, last, from, {FFT_OUT, FFT_REAL, out, 0});
}

static cufftResult check_request(const request &request)
{
    if (request.rank < 1 || request.rank > MAX_RANK) return CUFFT_INVALID_SIZE;
    for (int i = 0; i < request.rank; i++)
        if (request.n[i] < 1 || request.n[i] > 1ll << 30) return CUFFT_INVALID_SIZE;
    if (request.batch < 1) return CUFFT_INVALID_SIZE;
    switch (request.type) {
    case CUFFT_C2C:
    case CUFFT_R2C:
    case CUFFT_C2R:
    case CUFFT_Z2Z:
    case CUFFT_D2Z:
    case CUFFT_Z2D:
        return CUFFT_SUCCESS;
    }
    return CUFFT_INVALID_TYPE;
}

static size_t work_bytes_of(const fft_plan &plan)
{
    const long long in = plan.variants[0].work_elements, out = plan.variants[1].work_elements;
    return (size_t)(in > out ? in : out) * complex_bytes(plan.type);
}

static cufftResult make_plan(fft_plan *plan, const request &request, size_t *work_bytes)
{
    const cufftResult result = check_request(request);
    if (result != CUFFT_SUCCESS) return result;
    plan->type = request.type;
    for (int in_place = 0; in_place < 2; in_place++) {
        plan->variants[in_place] = {};
        make_variant(request, in_place, &plan->variants[in_place]);
    }
    if (work_bytes) *work_bytes = work_bytes_of(*plan);
    return CUFFT_SUCCESS;
}

static std::vector<fft_plan *> plans; // the handle is the index plus one; null: destroyed

static fft_plan *plan_of(cufftHandle handle)
{
    return handle > 0 && (size_t)handle <= plans.size() ? plans[handle - 1] : nullptr;
}

static cufftResult finish_plan(cufftHandle handle, const request &request, size_t *work_bytes)
{
    fft_plan *const plan = plan_of(handle);
    if (!plan || plan->is_made) return CUFFT_INVALID_PLAN;
    const cufftResult result = make_plan(plan, request, work_bytes);
    if (result != CUFFT_SUCCESS) return result;
    if (plan->allocate && work_bytes_of(*plan)) {
        if (cudaMalloc(&plan->own_work, work_bytes_of(*plan)) != cudaSuccess)
            return CUFFT_ALLOC_FAILED;
        plan->work = plan->own_work;
    }
    plan->is_made = true;
    return CUFFT_SUCCESS;
}

static request basic_request(int rank, const long long *n, cufftType type, long long batch)
{
    request request = {};
    request.rank = rank;
    for (int i = 0; i < rank && i < MAX_RANK; i++) request.n[i] = n[i];
    request.is_basic = true;
    request.type = type;
    request.batch = batch;
    return request;
}

// One side of a transform as a caller describes it.
template <class Int> struct embedding {
    const Int *sizes;
    Int stride, distance;
};

static request many_base(int rank, bool has_sizes, cufftType type, long long batch)
{
    request request = basic_request(0, nullptr, type, batch);
    request.rank = has_sizes ? rank : 0;
    return request;
}

// `base` with sizes and layouts; layouts count only where both are given.
template <class Int>
static request many_request(request base, const Int *n, embedding<Int> in, embedding<Int> out)
{
    base.is_basic = !in.sizes || !out.sizes;
    base.in = {{}, in.stride, in.distance};
    base.out = {{}, out.stride, out.distance};
    for (int i = 0; i < base.rank && i < MAX_RANK; i++) {
        base.n[i] = n[i];
        if (base.is_basic) continue;
        base.in.size[i] = in.sizes[i];
        base.out.size[i] = out.sizes[i];
    }
    return base;
}

// ---- execution ----

typedef void (*fft_kernel)(fft_step, ctascope::fft_buffers, int);

template <class R> static fft_kernel kernel_of(fft_step_type type, fft_kernel lines)
{
    switch (type) {
    case FFT_CHIRP_IN:
        return ctascope::fft_chirp_in<R>;
    case FFT_CHIRP_FILTER:
        return ctascope::fft_chirp_filter<R>;
    case FFT_CHIRP_PRODUCT:
        return ctascope::fft_chirp_product<R>;
    case FFT_CHIRP_OUT:
        return ctascope::fft_chirp_out<R>;
    case FFT_LINES:
        break;
    }
    return lines;
}

// What the steps of one call have in common.
struct transform {
    ctascope::fft_buffers buffers;
    int direction;
    cudaStream_t stream;
    int sign_of(const fft_step &step) const { return step.sign ? step.sign : direction; }
};

// Butterflies of a line go to neighbouring threads; short lines share a CTA.
static void launch_lines(fft_kernel kernel, const fft_step &step, size_t element_bytes,
                         const transform &transform)
{
    const long long per_line = step.n / step.factors[0];
    const unsigned x = (unsigned)(per_line < THREADS ? per_line : THREADS);
    const size_t bytes = step.factor_count == 1 ? 0 : (size_t)step.n * 2 * element_bytes;
    unsigned y = THREADS / x;
    if (bytes && y > SHARED_BYTES / 2 / bytes) y = (unsigned)(SHARED_BYTES / 2 / bytes);
    if (y > step.line_count) y = (unsigned)step.line_count;
    if (y == 0) y = 1;
    if (y * bytes > 48 * 1024)
        cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)(y * bytes));
    const unsigned blocks = (unsigned)((step.line_count + y - 1) / y);
    kernel<<<blocks, dim3(x, y), y * bytes, transform.stream>>>(step, transform.buffers,
                                                                transform.sign_of(step));
}

static cufftResult check_call(const fft_plan *plan, cufftType type, const transform &transform)
{
    if (!plan || !plan->is_made || plan->type != type) return CUFFT_INVALID_PLAN;
    const int direction = transform.direction;
    if (!transform.buffers.in || !transform.buffers.out ||
        (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE))
        return CUFFT_INVALID_VALUE;
    return work_bytes_of(*plan) && !plan->work ? CUFFT_NO_WORKSPACE : CUFFT_SUCCESS;
}

template <class R>
static cufftResult execute(cufftHandle handle, cufftType type, fft_kernel lines,
                           transform transform)
{
    const fft_plan *const plan = plan_of(handle);
    const cufftResult result = check_call(plan, type, transform);
    if (result != CUFFT_SUCCESS) return result;
    const bool in_place = transform.buffers.in == transform.buffers.out;
    transform.buffers.work = plan->work;
    transform.stream = plan->stream;
    for (const fft_step &step : plan->variants[in_place].steps) {
        const fft_kernel kernel = kernel_of<R>(step.type, lines);
        if (step.type == FFT_LINES) {
            launch_lines(kernel, step, sizeof(complex_of<R>), transform);
            continue;
        }
        const long long count = step.line_count * (step.type == FFT_CHIRP_OUT ? step.n : step.m);
        const unsigned blocks = (unsigned)((count + THREADS - 1) / THREADS);
        kernel<<<blocks, THREADS, 0, transform.stream>>>(step, transform.buffers,
                                                         transform.sign_of(step));
    }
    return cudaPeekAtLastError() == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

// ---- calls ----

static cufftResult create_and(cufftHandle *handle, const request &request)
{
    if (!handle) return CUFFT_INVALID_PLAN;
    cufftHandle made;
    cufftResult result = cufftCreate(&made);
    if (result != CUFFT_SUCCESS) return result;
    result = finish_plan(made, request, nullptr);
    if (result == CUFFT_SUCCESS)
        *handle = made;
    else
        cufftDestroy(made);
    return result;
}

static cufftResult estimate(const request &request, size_t *work_bytes)
{
    if (!work_bytes) return CUFFT_INVALID_VALUE;
    fft_plan plan = {};
    return make_plan(&plan, request, work_bytes);
}

#define SIZES_1 nx
#define SIZES_2 nx, ny
#define SIZES_3 nx, ny, nz
#define INTS_1  int nx
#define INTS_2  int nx, int ny
#define INTS_3  int nx, int ny, int nz
#define MANY                                                                                       \
    int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist,  \
        cufftType type, int batch
#define MANY_REQUEST_OF(Int)                                                                       \
    many_request<Int>(many_base(rank, n != nullptr, type, batch), n, {inembed, istride, idist},    \
                      {onembed, ostride, odist})
#define MANY_REQUEST MANY_REQUEST_OF(int)

extern "C" {

cufftResult cufftCreate(cufftHandle *handle)
{
    if (!handle) return CUFFT_INVALID_VALUE;
    fft_plan *const plan = new (std::nothrow) fft_plan();
    if (!plan) return CUFFT_ALLOC_FAILED;
    plan->allocate = true;
    size_t index = 0;
    while (index < plans.size() && plans[index]) index++;
    if (index == plans.size()) plans.push_back(nullptr);
    plans[index] = plan;
    *handle = (cufftHandle)index + 1;
    return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle handle)
{
    fft_plan *const plan = plan_of(handle);
    if (!plan) return CUFFT_INVALID_PLAN;
    cudaFree(plan->own_work);
    delete plan;
    plans[handle - 1] = nullptr;
    return CUFFT_SUCCESS;
}

// Of each dimension: the plan, its making, its estimate and its size.
#define DIMENSIONS(rank, ints, sizes, extra, batch)                                                \
    cufftResult cufftPlan##rank##d(cufftHandle *plan, ints, cufftType type extra)                  \
    {                                                                                              \
        const long long n[] = {sizes};                                                             \
        return create_and(plan, basic_request(rank, n, type, batch));                              \
    }                                                                                              \
    cufftResult cufftMakePlan##rank##d(cufftHandle plan, ints, cufftType type extra,               \
                                       size_t *work_bytes)                                         \
    {                                                                                              \
        const long long n[] = {sizes};                                                             \
        return finish_plan(plan, basic_request(rank, n, type, batch), work_bytes);                 \
    }                                                                                              \
    cufftResult cufftEstimate##rank##d(ints, cufftType type extra, size_t *work_bytes)             \
    {                                                                                              \
        const long long n[] = {sizes};                                                             \
        return estimate(basic_request(rank, n, type, batch), work_bytes);                          \
    }                                                                                              \
    cufftResult cufftGetSize##rank##d(cufftHandle plan, ints, cufftType type extra,                \
                                      size_t *work_bytes)                                          \
    {                                                                                              \
        const long long n[] = {sizes};                                                             \
        return plan_of(plan) ? estimate(basic_request(rank, n, type, batch), work_bytes)           \
                             : CUFFT_INVALID_PLAN;                                                 \
    }
#define BATCH , int batch
#define NO_BATCH
DIMENSIONS(1, INTS_1, SIZES_1, BATCH, batch)
DIMENSIONS(2, INTS_2, SIZES_2, NO_BATCH, 1)
DIMENSIONS(3, INTS_3, SIZES_3, NO_BATCH, 1)

cufftResult cufftPlanMany(cufftHandle *plan, MANY)
{
    return create_and(plan, MANY_REQUEST);
}

cufftResult cufftMakePlanMany(cufftHandle plan, MANY, size_t *work_bytes)
{
    return finish_plan(plan, MANY_REQUEST, work_bytes);
}

cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long *n, long long *inembed,
                                long long istride, long long idist, long long *onembed,
                                long long ostride, long long odist, cufftType type, long long batch,
                                size_t *work_bytes)
{
    return finish_plan(plan, MANY_REQUEST_OF(long long), work_bytes);
}

cufftResult cufftEstimateMany(MANY, size_t *work_bytes)
{
    return estimate(MANY_REQUEST, work_bytes);
}

cufftResult cufftGetSizeMany(cufftHandle plan, MANY, size_t *work_bytes)
{
    return plan_of(plan) ? estimate(MANY_REQUEST, work_bytes) : CUFFT_INVALID_PLAN;
}

cufftResult cufftGetSize(cufftHandle handle, size_t *work_bytes)
{
    const fft_plan *const plan = plan_of(handle);
    if (!plan || !plan->is_made) return CUFFT_INVALID_PLAN;
    if (!work_bytes) return CUFFT_INVALID_VALUE;
    *work_bytes = work_bytes_of(*plan);
    return CUFFT_SUCCESS;
}

cufftResult cufftSetAutoAllocation(cufftHandle handle, int automatic)
{
    fft_plan *const plan = plan_of(handle);
    if (!plan || plan->is_made) return CUFFT_INVALID_PLAN;
    plan->allocate = automatic != 0;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void *work)
{
    fft_plan *const plan = plan_of(handle);
    if (!plan) return CUFFT_INVALID_PLAN;
    cudaFree(plan->own_work);
    plan->own_work = nullptr;
    plan->work = work;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream)
{
    fft_plan *const plan = plan_of(handle);
    if (!plan) return CUFFT_INVALID_PLAN;
    plan->stream = stream;
    return CUFFT_SUCCESS;
}

cufftResult cufftGetVersion(int *version)
{
    if (!version) return CUFFT_INVALID_VALUE;
    *version = CUFFT_VERSION;
    return CUFFT_SUCCESS;
}

cufftResult cufftGetProperty(libraryPropertyType type, int *value)
{
    return library_property(type, value, CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH)
               ? CUFFT_SUCCESS
               : CUFFT_INVALID_VALUE;
}

#define EXEC_COMPLEX(kind, R, element)                                                             \
    cufftResult cufftExec##kind(cufftHandle plan, element *in, element *out, int direction)        \
    {                                                                                              \
        return execute<R>(plan, CUFFT_##kind, ctascope::cufftExec##kind,                           \
                          {{in, out, nullptr}, direction, nullptr});                               \
    }
#define EXEC_REAL(kind, R, from, to, direction)                                                    \
    cufftResult cufftExec##kind(cufftHandle plan, from *in, to *out)                               \
    {                                                                                              \
        return execute<R>(plan, CUFFT_##kind, ctascope::cufftExec##kind,                           \
                          {{in, out, nullptr}, direction, nullptr});                               \
    }
EXEC_COMPLEX(C2C, float, cufftComplex)
EXEC_COMPLEX(Z2Z, double, cufftDoubleComplex)
EXEC_REAL(R2C, float, cufftReal, cufftComplex, CUFFT_FORWARD)
EXEC_REAL(D2Z, double, cufftDoubleReal, cufftDoubleComplex, CUFFT_FORWARD)
EXEC_REAL(C2R, float, cufftComplex, cufftReal, CUFFT_INVERSE)
EXEC_REAL(Z2D, double, cufftDoubleComplex, cufftDoubleReal, CUFFT_INVERSE)

} // extern "C"
