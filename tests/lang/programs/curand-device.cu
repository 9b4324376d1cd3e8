// cuRAND's device functions against an H200's numbers, with the state in a local variable and with
// the state in global memory.
#include <curand_kernel.h>

#include "check.h"
#include "curand-sequences.h"

enum kind { INT, POISSON, SKIP, UNIFORM, NORMAL, NORMAL2, LOG_NORMAL, UNIFORM_D, NORMAL_D, KINDS };
static const char *const names[KINDS] = {"int",        "poisson",        "skip",
                                         "uniform",    "normal",         "normal2",
                                         "log_normal", "uniform_double", "normal_double"};

template <class State> __device__ double number(State *state, int kind, int i)
{
    if (kind == SKIP) {
        if (i == 0)
            skipahead(1000, state);
        else
            skipahead_sequence(3, state);
    }
    switch (kind) {
    case POISSON:
        return curand_poisson(state, 3.5);
    case UNIFORM:
        return curand_uniform(state);
    case NORMAL:
        return curand_normal(state);
    case LOG_NORMAL:
        return curand_log_normal(state, 0.5f, 0.25f);
    case UNIFORM_D:
        return curand_uniform_double(state);
    case NORMAL_D:
        return curand_normal_double(state);
    }
    return curand(state);
}

struct four {
    double of[4];
};
__device__ four number4(curandStatePhilox4_32_10_t *state, int kind)
{
    if (kind == INT) {
        const uint4 x = curand4(state);
        return {{(double)x.x, (double)x.y, (double)x.z, (double)x.w}};
    }
    const float4 x = kind == UNIFORM ? curand_uniform4(state) : curand_normal4(state);
    return {{x.x, x.y, x.z, x.w}};
}

// `states` is null: each thread has a state of its own.
template <class State>
__global__ void generate(unsigned long long seed, unsigned long long subsequence,
                         unsigned long long offset, int kind, int count, State *states, double *out)
{
    State own;
    State *const state = states ? &states[threadIdx.x] : &own;
    curand_init(seed, subsequence, offset, state);
    for (int i = 0; i < count; i++) {
        if (kind == NORMAL2) {
            const float2 pair = curand_normal2(state);
            out[i++] = pair.x;
            out[i] = pair.y;
        } else {
            out[i] = number(state, kind, i);
        }
    }
}

__global__ void generate4(unsigned long long seed, unsigned long long subsequence,
                          unsigned long long offset, int kind, int count, double *out)
{
    curandStatePhilox4_32_10_t state;
    curand_init(seed, subsequence, offset, &state);
    for (int i = 0; i < count; i += 4) *(four *)(out + i) = number4(&state, kind);
}

template <class State>
static void run(const block &block, const sequence &sequence, int kind, double *out)
{
    static State *states;
    if (!states) CUDA(cudaMalloc(&states, sizeof *states));
    for (State *where : {(State *)nullptr, states}) {
        generate<<<1, 1>>>(block.seed, block.subsequence, block.offset, kind,
                           (int)sequence.values.size(), where, out);
        CUDA(cudaDeviceSynchronize());
        for (size_t i = 0; i < sequence.values.size(); i++)
            compare(block, sequence, (long)i, out[i]);
    }
}

// Distributions without an H200's numbers: means and variances.
__global__ void poissons(double lambda, int count, curandDiscreteDistribution_t table, double *out)
{
    curandStateXORWOW_t state;
    curand_init(7, threadIdx.x, 0, &state);
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++) {
        const double x = table ? curand_discrete(&state, table) : curand_poisson(&state, lambda);
        sum += x;
        squares += (x - lambda) * (x - lambda);
    }
    out[2 * threadIdx.x] = sum / count;
    out[2 * threadIdx.x + 1] = squares / count;
}

static void check_poissons(double lambda, double *out)
{
    const int threads = 32, count = 2000;
    poissons<<<1, threads>>>(lambda, count, nullptr, out);
    CUDA(cudaDeviceSynchronize());
    double mean = 0, variance = 0;
    for (int i = 0; i < threads; i++) {
        mean += out[2 * i] / threads;
        variance += out[2 * i + 1] / threads;
    }
    // five standard deviations
    CHECK(fabs(mean - lambda) < 5 * sqrt(lambda / (threads * count)), "%g: %g", lambda, mean);
    CHECK(fabs(variance / lambda - 1) < 5 * sqrt((2 + 1 / lambda) / (threads * count)), "%g: %g",
          lambda, variance);
}

int main()
{
    double *const out = managed<double>(64);
    for (const block &block : read_blocks(__FILE__, "device"))
        for (const sequence &sequence : block.sequences) {
            int kind = 0;
            while (kind < KINDS && sequence.kind != names[kind]) kind++;
            CHECK(kind < KINDS, "%s", sequence.kind.c_str());
            if (block.generator == "xorwow") run<curandStateXORWOW_t>(block, sequence, kind, out);
            if (block.generator == "mrg") run<curandStateMRG32k3a_t>(block, sequence, kind, out);
            if (block.generator == "philox")
                run<curandStatePhilox4_32_10_t>(block, sequence, kind, out);
            if (block.generator != "philox4") continue;
            generate4<<<1, 1>>>(block.seed, block.subsequence, block.offset, kind,
                                (int)sequence.values.size(), out);
            CUDA(cudaDeviceSynchronize());
            for (size_t i = 0; i < sequence.values.size(); i++)
                compare(block, sequence, (long)i, out[i]);
        }
    for (double lambda : {0.1, 5.0, 63.0, 64.0, 300.5, 4000.0, 5000.0}) check_poissons(lambda, out);
    print_comparisons();
    return finish();
}
