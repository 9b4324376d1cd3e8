// cuRAND's host functions for the CPU device.
//
// A generator has many lanes: subsequences of one pseudorandom sequence, which take turns. An item
// is what a lane gives at a turn (a number, a pair of normal ones, Philox's four), and needs a
// fixed count of draws (numbers of 32 bits). Item i comes from lane i mod lanes. The kernels, named
// as the calls, keep no state in memory: each thread skips ahead to its lane's place, so that a
// recording holds the stores of the results and nothing else.
#define QUALIFIERS static inline __host__ __device__
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "library-words.h"

struct curandGenerator_st {
    curandRngType_t type;
    curandOrdering_t order;
    bool on_host;
    cudaStream_t stream;
    unsigned long long seed, offset;
    // Where it is: each lane has given `draws`; since then `numbers` came in items of this shape.
    unsigned long long draws, numbers;
    unsigned outputs_per_item, draws_per_item;
};

// One call's work, by value to the kernel.
struct turns {
    curandRngType_t type;
    unsigned long long seed, draws;  // of each lane before item 0
    unsigned long long first, count; // numbers, counted from item 0
    unsigned outputs, draws_per_item, lanes;
    double a, b; // mean and standard deviation, or lambda

    __host__ __device__ unsigned long long first_item() const { return first / outputs; }
    __host__ __device__ unsigned long long items() const
    {
        return count ? (first + count - 1) / outputs - first_item() + 1 : 0;
    }
};

namespace ctascope
{

// What a lane gives at a turn. Philox gives four numbers where the others give one or two.
#define ITEM(name, type)                                                                           \
    struct name {                                                                                  \
        typedef type value;                                                                        \
        template <class State>                                                                     \
        static __host__ __device__ void get(State *state, const turns &turns, value *out);         \
        static __host__ __device__ void get(curandStatePhilox4_32_10_t *state, const turns &turns, \
                                            value *out);                                           \
    };                                                                                             \
    template <class State>                                                                         \
    __host__ __device__ void name::get(State *state, const turns &turns, value *out)
#define OF_PHILOX(name)                                                                            \
    __host__ __device__ inline void name::get(curandStatePhilox4_32_10_t *state,                   \
                                              const turns &turns, value *out)

ITEM(integers, unsigned)
{
    out[0] = curand(state);
}
OF_PHILOX(integers)
{
    *(uint4 *)out = curand4(state);
}

ITEM(uniforms, float)
{
    out[0] = curand_uniform(state);
}
OF_PHILOX(uniforms)
{
    *(float4 *)out = curand_uniform4(state);
}

ITEM(double_uniforms, double)
{
    out[0] = curand_uniform_double(state);
}
OF_PHILOX(double_uniforms)
{
    *(double4 *)out = curand_uniform4_double(state);
}

ITEM(normals, float)
{
    const float2 pair = curand_normal2(state);
    out[0] = pair.x * (float)turns.b + (float)turns.a;
    out[1] = pair.y * (float)turns.b + (float)turns.a;
}
OF_PHILOX(normals)
{
    *(float4 *)out = curand_normal4(state);
    for (int i = 0; i < 4; i++) out[i] = out[i] * (float)turns.b + (float)turns.a;
}

ITEM(double_normals, double)
{
    const double2 pair = curand_normal2_double(state);
    out[0] = pair.x * turns.b + turns.a;
    out[1] = pair.y * turns.b + turns.a;
}
OF_PHILOX(double_normals)
{
    *(double4 *)out = curand_normal4_double(state);
    for (int i = 0; i < 4; i++) out[i] = out[i] * turns.b + turns.a;
}

ITEM(log_normals, float)
{
    normals::get(state, turns, out);
    for (int i = 0; i < 2; i++) out[i] = expf(out[i]);
}
OF_PHILOX(log_normals)
{
    normals::get(state, turns, out);
    for (int i = 0; i < 4; i++) out[i] = expf(out[i]);
}

ITEM(double_log_normals, double)
{
    double_normals::get(state, turns, out);
    for (int i = 0; i < 2; i++) out[i] = exp(out[i]);
}
OF_PHILOX(double_log_normals)
{
    double_normals::get(state, turns, out);
    for (int i = 0; i < 4; i++) out[i] = exp(out[i]);
}

ITEM(poissons, unsigned)
{
    out[0] = cts_rand_poisson_search(curand_uniform_double(state), turns.a);
}
OF_PHILOX(poissons)
{
    double uniform[4];
    double_uniforms::get(state, turns, uniform);
    for (int i = 0; i < 4; i++) out[i] = cts_rand_poisson_search(uniform[i], turns.a);
}

// All items of the lane that has item number `turn` of this call.
template <class State, class Item>
__host__ __device__ void give(const turns &turns, unsigned long long turn,
                              typename Item::value *out)
{
    unsigned long long item = turns.first_item() + turn;
    State state;
    curand_init(turns.seed, item % turns.lanes,
                turns.draws + item / turns.lanes * turns.draws_per_item, &state);
    for (; turn < turns.items(); turn += turns.lanes, item += turns.lanes) {
        alignas(32) typename Item::value values[4];
        Item::get(&state, turns, values);
        for (unsigned i = 0; i < turns.outputs; i++) {
            const unsigned long long number = item * turns.outputs + i;
            if (number >= turns.first && number < turns.first + turns.count)
                out[number - turns.first] = values[i];
        }
    }
}

template <class Item>
__host__ __device__ void give(const turns &turns, unsigned long long turn,
                              typename Item::value *out)
{
    switch (turns.type) {
    case CURAND_RNG_PSEUDO_MRG32K3A:
        return give<curandStateMRG32k3a_t, Item>(turns, turn, out);
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
        return give<curandStatePhilox4_32_10_t, Item>(turns, turn, out);
    default:
        return give<curandStateXORWOW_t, Item>(turns, turn, out);
    }
}

// The kernels.
#define CALL(name, Item)                                                                           \
    __global__ void name(turns turns, Item::value *out)                                            \
    {                                                                                              \
        const unsigned long long turn = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; \
        if (turn < turns.items() && turn < turns.lanes) give<Item>(turns, turn, out);              \
    }
CALL(curandGenerate, integers)
CALL(curandGenerateUniform, uniforms)
CALL(curandGenerateUniformDouble, double_uniforms)
CALL(curandGenerateNormal, normals)
CALL(curandGenerateNormalDouble, double_normals)
CALL(curandGenerateLogNormal, log_normals)
CALL(curandGenerateLogNormalDouble, double_log_normals)
CALL(curandGeneratePoisson, poissons)

} // namespace ctascope

// ---- generators ----

static unsigned lanes_of(const curandGenerator_st *generator)
{
    if (generator->type == CURAND_RNG_PSEUDO_PHILOX4_32_10) return 65536;
    return generator->type == CURAND_RNG_PSEUDO_MRG32K3A &&
                   generator->order != CURAND_ORDERING_PSEUDO_LEGACY
               ? 81920
               : 4096;
}

static void restart(curandGenerator_st *generator)
{
    const bool four = generator->type == CURAND_RNG_PSEUDO_PHILOX4_32_10;
    generator->draws = 0;
    generator->numbers = generator->offset;
    generator->outputs_per_item = generator->draws_per_item = four ? 4 : 1;
}

static curandStatus_t refuse(const char *what)
{
    fprintf(stderr, "ctascope: cuRAND: %s is not supported on the CPU device\n", what);
    return CURAND_STATUS_TYPE_ERROR;
}

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, bool on_host)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
        type = CURAND_RNG_PSEUDO_XORWOW;
        break;
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
        break;
    case CURAND_RNG_PSEUDO_MTGP32:
        return refuse("CURAND_RNG_PSEUDO_MTGP32");
    case CURAND_RNG_PSEUDO_MT19937:
        return refuse("CURAND_RNG_PSEUDO_MT19937");
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
        return refuse("CURAND_RNG_QUASI_SOBOL32");
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
        return refuse("CURAND_RNG_QUASI_SCRAMBLED_SOBOL32");
    case CURAND_RNG_QUASI_SOBOL64:
        return refuse("CURAND_RNG_QUASI_SOBOL64");
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
        return refuse("CURAND_RNG_QUASI_SCRAMBLED_SOBOL64");
    default:
        return CURAND_STATUS_TYPE_ERROR;
    }
    curandGenerator_st *const made = (curandGenerator_st *)calloc(1, sizeof *made);
    if (!made) return CURAND_STATUS_ALLOCATION_FAILED;
    made->type = type;
    made->order = CURAND_ORDERING_PSEUDO_DEFAULT;
    made->on_host = on_host;
    restart(made);
    *generator = made;
    return CURAND_STATUS_SUCCESS;
}

// What a call generates: how many numbers an item has, and how many draws it takes.
struct shape {
    unsigned outputs, draws;
};

static turns take_turns(curandGenerator_st *generator, shape shape, size_t count)
{
    const unsigned lanes = lanes_of(generator);
    if (shape.outputs != generator->outputs_per_item || shape.draws != generator->draws_per_item) {
        // Another shape begins where no lane has given numbers yet.
        const unsigned long long row = (unsigned long long)lanes * generator->outputs_per_item;
        generator->draws += (generator->numbers + row - 1) / row * generator->draws_per_item;
        generator->numbers = 0;
        generator->outputs_per_item = shape.outputs;
        generator->draws_per_item = shape.draws;
    }
    const turns turns = {generator->type,
                         generator->seed,
                         generator->draws,
                         generator->numbers,
                         count,
                         shape.outputs,
                         shape.draws,
                         lanes,
                         0,
                         0};
    generator->numbers += count;
    return turns;
}

enum { THREADS = 128 };

template <class Item>
static curandStatus_t generate(curandGenerator_t generator,
                               void (*kernel)(turns, typename Item::value *), const turns &turns,
                               typename Item::value *out)
{
    const unsigned long long threads = turns.items() < turns.lanes ? turns.items() : turns.lanes;
    if (generator->on_host) {
        for (unsigned long long turn = 0; turn < threads; turn++)
            ctascope::give<Item>(turns, turn, out);
        return CURAND_STATUS_SUCCESS;
    }
    if (threads == 0) return CURAND_STATUS_SUCCESS;
    if (cudaPeekAtLastError() != cudaSuccess) return CURAND_STATUS_PREEXISTING_FAILURE;
    kernel<<<(unsigned)((threads + THREADS - 1) / THREADS), THREADS, 0, generator->stream>>>(turns,
                                                                                             out);
    return cudaPeekAtLastError() == cudaSuccess ? CURAND_STATUS_SUCCESS
                                                : CURAND_STATUS_LAUNCH_FAILURE;
}

// The shapes: XORWOW's, MRG32k3a's, Philox's.
static shape shape_of(const curandGenerator_st *generator, shape xorwow, shape mrg, shape philox)
{
    return generator->type == CURAND_RNG_PSEUDO_MRG32K3A        ? mrg
           : generator->type == CURAND_RNG_PSEUDO_PHILOX4_32_10 ? philox
                                                                : xorwow;
}
static shape of_numbers(const curandGenerator_st *generator)
{
    return shape_of(generator, {1, 1}, {1, 1}, {4, 4});
}
static shape of_doubles(const curandGenerator_st *generator)
{
    return shape_of(generator, {1, 2}, {1, 1}, {4, 8});
}
static shape of_normals(const curandGenerator_st *generator)
{
    return shape_of(generator, {2, 2}, {2, 2}, {4, 4});
}
static shape of_double_normals(const curandGenerator_st *generator)
{
    return shape_of(generator, {2, 4}, {2, 2}, {4, 8});
}

#define REQUIRE(condition, status)                                                                 \
    do {                                                                                           \
        if (!generator) return CURAND_STATUS_NOT_INITIALIZED;                                      \
        if (!(condition)) return status;                                                           \
    } while (0)

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, false);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, true);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    REQUIRE(true, CURAND_STATUS_SUCCESS);
    free(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int *version)
{
    if (!version) return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetProperty(libraryPropertyType type, int *value)
{
    return library_property(type, value, CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH)
               ? CURAND_STATUS_SUCCESS
               : CURAND_STATUS_OUT_OF_RANGE;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    REQUIRE(true, CURAND_STATUS_SUCCESS);
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed)
{
    REQUIRE(true, CURAND_STATUS_SUCCESS);
    generator->seed = seed;
    restart(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    REQUIRE(true, CURAND_STATUS_SUCCESS);
    generator->offset = offset;
    restart(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order)
{
    REQUIRE(order >= CURAND_ORDERING_PSEUDO_BEST && order <= CURAND_ORDERING_PSEUDO_DYNAMIC,
            CURAND_STATUS_OUT_OF_RANGE);
    if (order == CURAND_ORDERING_PSEUDO_SEEDED) {
        refuse("CURAND_ORDERING_PSEUDO_SEEDED");
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    generator->order = order;
    restart(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned int)
{
    REQUIRE(false, CURAND_STATUS_TYPE_ERROR); // none is quasirandom
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator)
{
    REQUIRE(true, CURAND_STATUS_SUCCESS);
    return CURAND_STATUS_SUCCESS; // no state to prepare
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int *output, size_t count)
{
    REQUIRE(true, CURAND_STATUS_SUCCESS);
    return generate<ctascope::integers>(generator, ctascope::curandGenerate,
                                        take_turns(generator, of_numbers(generator), count),
                                        output);
}

curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long *, size_t)
{
    REQUIRE(false, CURAND_STATUS_TYPE_ERROR); // for Sobol sequences of 64 bits
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *output, size_t count)
{
    REQUIRE(true, CURAND_STATUS_SUCCESS);
    return generate<ctascope::uniforms>(generator, ctascope::curandGenerateUniform,
                                        take_turns(generator, of_numbers(generator), count),
                                        output);
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *output,
                                           size_t count)
{
    REQUIRE(true, CURAND_STATUS_SUCCESS);
    return generate<ctascope::double_uniforms>(generator, ctascope::curandGenerateUniformDouble,
                                               take_turns(generator, of_doubles(generator), count),
                                               output);
}

#define NORMAL_CALL(name, type, Item, shape)                                                       \
    curandStatus_t name(curandGenerator_t generator, type *output, size_t count, type mean,        \
                        type stddev)                                                               \
    {                                                                                              \
        REQUIRE(count % 2 == 0, CURAND_STATUS_LENGTH_NOT_MULTIPLE);                                \
        turns turns = take_turns(generator, shape(generator), count);                              \
        turns.a = mean;                                                                            \
        turns.b = stddev;                                                                          \
        return generate<ctascope::Item>(generator, ctascope::name, turns, output);                 \
    }
NORMAL_CALL(curandGenerateNormal, float, normals, of_normals)
NORMAL_CALL(curandGenerateNormalDouble, double, double_normals, of_double_normals)
NORMAL_CALL(curandGenerateLogNormal, float, log_normals, of_normals)
NORMAL_CALL(curandGenerateLogNormalDouble, double, double_log_normals, of_double_normals)

curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int *output,
                                     size_t count, double lambda)
{
    REQUIRE(lambda > 0 && lambda < 1e9, CURAND_STATUS_OUT_OF_RANGE);
    turns turns = take_turns(generator, of_doubles(generator), count);
    turns.a = lambda;
    return generate<ctascope::poissons>(generator, ctascope::curandGeneratePoisson, turns, output);
}

// ---- tables for curand_discrete() ----

curandStatus_t curandCreatePoissonDistribution(double lambda,
                                               curandDiscreteDistribution_t *distribution)
{
    if (!distribution || !(lambda > 0 && lambda < 1e6)) return CURAND_STATUS_OUT_OF_RANGE;
    const double reach = 12 * sqrt(lambda) + 24;
    const unsigned first = lambda > reach ? (unsigned)(lambda - reach) : 0;
    std::vector<double> sums((size_t)(lambda + reach) - first + 1);
    double sum = 0;
    for (size_t i = 0; i < sums.size(); i++) {
        const double k = (double)(first + i);
        sums[i] = sum += exp(k * log(lambda) - lambda - lgamma(k + 1));
    }
    char *memory;
    curandDiscreteDistribution_st table = {nullptr, (unsigned)sums.size(), first};
    if (cudaMalloc((void **)&memory, sizeof table + sums.size() * sizeof(double)) != cudaSuccess)
        return CURAND_STATUS_ALLOCATION_FAILED;
    table.sums = (const double *)(memory + sizeof table);
    if (cudaMemcpy(memory, &table, sizeof table, cudaMemcpyHostToDevice) != cudaSuccess ||
        cudaMemcpy(memory + sizeof table, sums.data(), sums.size() * sizeof(double),
                   cudaMemcpyHostToDevice) != cudaSuccess) {
        cudaFree(memory);
        return CURAND_STATUS_PREEXISTING_FAILURE;
    }
    *distribution = (curandDiscreteDistribution_t)memory;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandDestroyDistribution(curandDiscreteDistribution_t distribution)
{
    if (!distribution) return CURAND_STATUS_NOT_INITIALIZED;
    cudaFree(distribution);
    return CURAND_STATUS_SUCCESS;
}

} // extern "C"
