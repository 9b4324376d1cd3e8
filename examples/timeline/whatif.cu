// A program to try projections on: rounds that each launch one of five kernels, chosen at random,
// into a stream chosen at random, and in some rounds wait for a stream chosen at random. One of the
// kernels can be made to do half its work; nothing else changes then, so that the difference of two
// runs is what a projection of the first has to predict. Kernel k_i does i * WORK steps of a chain
// of dependent multiplications in each of its threads; its few blocks leave room for others.
// whatif [STREAMS = 1] [KERNELS = 100] [SEED = 1] [OPTIMISED = 0 (none) .. 5] [WORK = 500000]
//        [BLOCKS = 8] [REPEATS = 1] [COMPARE = 0 (no) .. 5]
// With COMPARE a repetition with kernel COMPARE at half its work goes before each: a drift of the
// device's clock is then in both.
#include "../common.h"
#include <chrono>
#include <cstring>
#include <vector>

static const int THREADS = 128, KINDS = 5;

__device__ static inline void steps(float *out, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = out[i];
#pragma unroll 1
    for (int step = 0; step < count; step++) x = x * 0.999f + 0.001f;
    out[i] = x; // tends to 1
}

__global__ void k_1(float *out, int count)
{
    steps(out, count);
}
__global__ void k_2(float *out, int count)
{
    steps(out, count);
}
__global__ void k_3(float *out, int count)
{
    steps(out, count);
}
__global__ void k_4(float *out, int count)
{
    steps(out, count);
}
__global__ void k_5(float *out, int count)
{
    steps(out, count);
}

typedef void (*Kernel)(float *, int);
static const Kernel kernels[KINDS] = {k_1, k_2, k_3, k_4, k_5};

// 0 is a number of its own here.
static int kernel_argument(int argc, char **argv, int index)
{
    if (argc <= index || strcmp(argv[index], "0") == 0) return 0;
    const int kernel = argument(argc, argv, index, 0);
    if (kernel > KINDS) {
        fprintf(stderr, "whatif: there is no kernel %d\n", kernel);
        exit(2);
    }
    return kernel;
}

struct Run {
    int rounds, blocks, optimised, work;
    uint64_t seed;
    std::vector<cudaStream_t> streams;
    std::vector<float *> data;
    int launches[KINDS], waits;
};

// What is measured; ms.
static double run_rounds(Run &run)
{
    const int stream_count = (int)run.streams.size();
    Random random;
    random.state = run.seed;
    for (int &count : run.launches) count = 0;
    run.waits = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < run.rounds; round++) {
        const int k = (int)(random.next() % KINDS), s = (int)(random.next() % stream_count);
        const bool wait = random.next() % 4 == 0;
        const int waited = (int)(random.next() % stream_count);
        const int count = (k + 1) * run.work / (k + 1 == run.optimised ? 2 : 1);
        kernels[k]<<<run.blocks, THREADS, 0, run.streams[s]>>>(run.data[s], count);
        run.launches[k]++;
        if (!wait) continue;
        CHECK(cudaStreamSynchronize(run.streams[waited]));
        run.waits++;
    }
    CHECK(cudaDeviceSynchronize());
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

int main(int argc, char **argv)
{
    const int stream_count = argument(argc, argv, 1, 1);
    Run run;
    run.rounds = argument(argc, argv, 2, 100);
    run.seed = (uint64_t)argument(argc, argv, 3, 1);
    run.optimised = kernel_argument(argc, argv, 4);
    run.work = argument(argc, argv, 5, 500000);
    run.blocks = argument(argc, argv, 6, 8);
    const int repeats = argument(argc, argv, 7, 1);
    const int compared = kernel_argument(argc, argv, 8), recorded = run.optimised;

    std::vector<float> ones((size_t)run.blocks * THREADS, 1);
    run.streams.resize(stream_count);
    run.data.resize(stream_count);
    for (int s = 0; s < stream_count; s++) {
        CHECK(cudaStreamCreateWithFlags(&run.streams[s], cudaStreamNonBlocking));
        run.data[s] = device_copy(ones.data(), ones.size());
    }
    // The first launch of a kernel may load its code; not part of the experiment.
    for (int k = 0; k < KINDS; k++) kernels[k]<<<run.blocks, THREADS>>>(run.data[0], 1);
    CHECK(cudaDeviceSynchronize());

    double ms = 0;
    for (int repeat = 0; repeat < repeats; repeat++) {
        if (compared) {
            run.optimised = compared;
            printf("compared %d: %.3f ms\n", repeat, run_rounds(run));
            run.optimised = recorded;
        }
        ms = run_rounds(run);
        if (repeats > 1) printf("repeat %d: %.3f ms\n", repeat, ms);
    }
    bool right = true;
    for (int s = 0; s < stream_count; s++) {
        std::vector<float> result(ones.size());
        CHECK(cudaMemcpy(result.data(), run.data[s], result.size() * sizeof(float),
                         cudaMemcpyDeviceToHost));
        for (float value : result) right &= value > 0.999f && value < 1.001f;
        CHECK(cudaFree(run.data[s]));
        CHECK(cudaStreamDestroy(run.streams[s]));
    }
    printf("launches %d %d %d %d %d, waits %d, %.3f ms\n", run.launches[0], run.launches[1],
           run.launches[2], run.launches[3], run.launches[4], run.waits, ms);
    return verdict("whatif", right);
}
