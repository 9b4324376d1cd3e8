// options: -lcurand
// cuRAND's host functions against an H200's numbers: generators of the device and of the host, all
// at once and in pieces.
#include <curand.h>
#include <curand_kernel.h>

#include "check.h"
#include "curand-sequences.h"

#define RAND(call)                                                                                 \
    do {                                                                                           \
        const curandStatus_t status_ = call;                                                       \
        if (status_ != CURAND_STATUS_SUCCESS) {                                                    \
            printf("%s: %d\n", #call, (int)status_);                                               \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

static curandRngType_t type_of(const std::string &name)
{
    return name == "xorwow" ? CURAND_RNG_PSEUDO_XORWOW
           : name == "mrg"  ? CURAND_RNG_PSEUDO_MRG32K3A
                            : CURAND_RNG_PSEUDO_PHILOX4_32_10;
}

static curandGenerator_t make(const block &block, bool on_host)
{
    curandGenerator_t made;
    RAND(on_host ? curandCreateGeneratorHost(&made, type_of(block.generator))
                 : curandCreateGenerator(&made, type_of(block.generator)));
    RAND(curandSetPseudoRandomGeneratorSeed(made, block.seed));
    RAND(curandSetGeneratorOrdering(made, (curandOrdering_t)block.subsequence));
    return made;
}

// A call's numbers, where the generator may write them, as doubles.
template <class T, class Call>
static std::vector<double> collect(size_t count, bool on_host, Call call)
{
    std::vector<T> host(count);
    T *out = host.data();
    if (!on_host) CUDA(cudaMalloc(&out, count * sizeof(T)));
    RAND(call(out));
    if (!on_host) {
        CUDA(cudaMemcpy(host.data(), out, count * sizeof(T), cudaMemcpyDeviceToHost));
        CUDA(cudaFree(out));
    }
    return std::vector<double>(host.begin(), host.end());
}

static std::vector<double> generate(curandGenerator_t generator, const std::string &kind,
                                    size_t count, bool on_host)
{
    if (kind == "uniform")
        return collect<float>(count, on_host, [=](float *out) {
            return curandGenerateUniform(generator, out, count);
        });
    if (kind == "uniform_double")
        return collect<double>(count, on_host, [=](double *out) {
            return curandGenerateUniformDouble(generator, out, count);
        });
    if (kind == "normal")
        return collect<float>(count, on_host, [=](float *out) {
            return curandGenerateNormal(generator, out, count, 0, 1);
        });
    if (kind == "normal_double")
        return collect<double>(count, on_host, [=](double *out) {
            return curandGenerateNormalDouble(generator, out, count, 0, 1);
        });
    return collect<unsigned>(count, on_host,
                             [=](unsigned *out) { return curandGenerate(generator, out, count); });
}

static void check_block(const block &block, bool on_host)
{
    for (const sequence &sequence : block.sequences) {
        curandGenerator_t generator = make(block, on_host);
        const size_t count = (sequence.values.size() + 1) / 2 * 2;
        std::vector<double> numbers;
        if (sequence.kind == "offset") {
            RAND(curandSetGeneratorOffset(generator, sequence.first));
            numbers = generate(generator, sequence.kind, count, on_host);
        } else if (sequence.kind == "int" && sequence.first % 2 == 0 && sequence.first) {
            // in three calls, the middle one of an odd count
            generate(generator, "int", sequence.first - 7, on_host);
            generate(generator, "uniform", 7, on_host);
            numbers = generate(generator, "int", count, on_host);
        } else {
            numbers = generate(generator, sequence.kind, sequence.first + count, on_host);
            numbers.erase(numbers.begin(), numbers.begin() + sequence.first);
        }
        for (size_t i = 0; i < sequence.values.size(); i++)
            compare(block, sequence, (long)i, numbers[i]);
        RAND(curandDestroyGenerator(generator));
    }
}

// No H200's numbers: the moments of what is left, and that another kind of number repeats none.
static void check_moments(curandRngType_t type, bool on_host)
{
    const size_t count = 40000;
    curandGenerator_t generator;
    RAND(on_host ? curandCreateGeneratorHost(&generator, type)
                 : curandCreateGenerator(&generator, type));
    const std::vector<double> shifted = collect<float>(count, on_host, [=](float *out) {
        return curandGenerateNormal(generator, out, count, 3, 2);
    });
    const std::vector<double> logs = collect<double>(count, on_host, [=](double *out) {
        return curandGenerateLogNormalDouble(generator, out, count, 0.5, 0.25);
    });
    const std::vector<double> log_floats = collect<float>(count, on_host, [=](float *out) {
        return curandGenerateLogNormal(generator, out, count, 0.5f, 0.25f);
    });
    const std::vector<double> poissons = collect<unsigned>(count, on_host, [=](unsigned *out) {
        return curandGeneratePoisson(generator, out, count, 80.5);
    });
    struct {
        const std::vector<double> *numbers;
        double mean, deviation;
        bool is_log;
    } const expected[] = {{&shifted, 3, 2, false},
                          {&logs, 0.5, 0.25, true},
                          {&log_floats, 0.5, 0.25, true},
                          {&poissons, 80.5, sqrt(80.5), false}};
    for (const auto &each : expected) {
        double mean = 0, variance = 0;
        for (double x : *each.numbers) mean += (each.is_log ? log(x) : x) / count;
        for (double x : *each.numbers)
            variance += pow((each.is_log ? log(x) : x) - mean, 2) / count;
        CHECK(fabs(mean - each.mean) < 5 * each.deviation / sqrt(count), "%g, not %g", mean,
              each.mean);
        CHECK(fabs(variance / pow(each.deviation, 2) - 1) < 0.05, "%g", variance);
    }
    for (size_t i = 0; i < count; i++)
        CHECK((float)logs[i] != (float)log_floats[i], "number %zu came twice", i);
    RAND(curandDestroyGenerator(generator));
}

__global__ void discrete(curandDiscreteDistribution_t distribution, unsigned *out)
{
    curandStatePhilox4_32_10_t state;
    curand_init(11, threadIdx.x, 0, &state);
    const uint4 four = curand_discrete4(&state, distribution);
    out[2 * threadIdx.x] = curand_discrete(&state, distribution);
    out[2 * threadIdx.x + 1] = four.x;
}

static void check_errors()
{
    curandGenerator_t generator;
    CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_MTGP32) == CURAND_STATUS_TYPE_ERROR);
    CHECK(curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL64) == CURAND_STATUS_TYPE_ERROR);
    CHECK(curandCreateGenerator(&generator, (curandRngType_t)7) == CURAND_STATUS_TYPE_ERROR);
    CHECK(curandGenerate(nullptr, nullptr, 1) == CURAND_STATUS_NOT_INITIALIZED);
    RAND(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_DEFAULT));
    float three[3];
    unsigned long long wide;
    CHECK(curandGenerateNormal(generator, three, 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    CHECK(curandGenerateLongLong(generator, &wide, 1) == CURAND_STATUS_TYPE_ERROR);
    CHECK(curandSetQuasiRandomGeneratorDimensions(generator, 2) == CURAND_STATUS_TYPE_ERROR);
    CHECK(curandSetGeneratorOrdering(generator, CURAND_ORDERING_QUASI_DEFAULT) ==
          CURAND_STATUS_OUT_OF_RANGE);
    CHECK(curandGenerateUniform(generator, three, 0) == CURAND_STATUS_SUCCESS);
    RAND(curandDestroyGenerator(generator));
}

int main()
{
    for (const block &block : read_blocks(__FILE__, "host"))
        for (bool on_host : {false, true}) check_block(block, on_host);
    for (curandRngType_t type :
         {CURAND_RNG_PSEUDO_DEFAULT, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_PHILOX4_32_10})
        for (bool on_host : {false, true}) check_moments(type, on_host);
    check_errors();
    curandDiscreteDistribution_t distribution;
    RAND(curandCreatePoissonDistribution(20, &distribution));
    unsigned *const out = managed<unsigned>(2048);
    discrete<<<1, 1024>>>(distribution, out);
    CUDA(cudaDeviceSynchronize());
    double mean = 0;
    for (int i = 0; i < 2048; i++) mean += out[i] / 2048.0;
    CHECK(fabs(mean - 20) < 5 * sqrt(20 / 2048.0), "%g", mean);
    RAND(curandDestroyDistribution(distribution));
    print_comparisons();
    return finish();
}
