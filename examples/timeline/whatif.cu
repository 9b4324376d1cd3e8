// A program to try projections on: rounds that each launch one of five kernels, chosen at random,
// into a stream chosen at random, and in some rounds wait for a stream chosen at random. One of the
// kernels can be made to do half its work; nothing else changes then, so that the difference of two
// runs is what a projection of the first has to predict. Kernel k_i does i * WORK steps of a chain
// of dependent multiplications in each of its threads; its few blocks leave room for others.
// whatif [STREAMS = 1] [KERNELS = 100] [SEED = 1] [OPTIMISED = 0 (none) .. 5] [WORK = 500000]
#include "../common.h"
#include <chrono>
#include <cstring>
#include <vector>

static const int BLOCKS = 8, THREADS = 128, KINDS = 5;

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
static int optimised_kernel(int argc, char **argv)
{
    if (argc <= 4 || strcmp(argv[4], "0") == 0) return 0;
    const int kernel = argument(argc, argv, 4, 0);
    if (kernel > KINDS) {
        fprintf(stderr, "whatif: there is no kernel %d\n", kernel);
        exit(2);
    }
    return kernel;
}

int main(int argc, char **argv)
{
    const int stream_count = argument(argc, argv, 1, 1), rounds = argument(argc, argv, 2, 100);
    Random random;
    random.state = (uint64_t)argument(argc, argv, 3, 1);
    const int optimised = optimised_kernel(argc, argv), work = argument(argc, argv, 5, 500000);

    std::vector<float> ones(BLOCKS * THREADS, 1);
    std::vector<cudaStream_t> streams(stream_count);
    std::vector<float *> data(stream_count);
    for (int s = 0; s < stream_count; s++) {
        CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        data[s] = device_copy(ones.data(), ones.size());
    }
    // The first launch of a kernel may load its code; not part of the experiment.
    for (int k = 0; k < KINDS; k++) kernels[k]<<<BLOCKS, THREADS>>>(data[0], 1);
    CHECK(cudaDeviceSynchronize());

    int launches[KINDS] = {0}, waits = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds; round++) {
        const int k = (int)(random.next() % KINDS), s = (int)(random.next() % stream_count);
        const bool wait = random.next() % 4 == 0;
        const int waited = (int)(random.next() % stream_count);
        const int count = (k + 1) * work / (k + 1 == optimised ? 2 : 1);
        kernels[k]<<<BLOCKS, THREADS, 0, streams[s]>>>(data[s], count);
        launches[k]++;
        if (!wait) continue;
        CHECK(cudaStreamSynchronize(streams[waited]));
        waits++;
    }
    CHECK(cudaDeviceSynchronize());
    const double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    bool right = true;
    for (int s = 0; s < stream_count; s++) {
        std::vector<float> result(ones.size());
        CHECK(cudaMemcpy(result.data(), data[s], result.size() * sizeof(float),
                         cudaMemcpyDeviceToHost));
        for (float value : result) right &= value > 0.999f && value < 1.001f;
        CHECK(cudaFree(data[s]));
        CHECK(cudaStreamDestroy(streams[s]));
    }
    printf("launches %d %d %d %d %d, waits %d, %.3f ms\n", launches[0], launches[1], launches[2],
           launches[3], launches[4], waits, ms);
    return verdict("whatif", right);
}
