// examples/pipeline.cu; `flow` says: fuse `consume` of a round and of the next one, CTA by CTA. Two
// buffers allow that for every second round.
// pipeline before|after [REPEATS] [ELEMENTS = 67108864] [ROUNDS = 8]
#define main example_main
#include "../../examples/pipeline.cu"
#undef main
#include "measure.h"

__global__ void consume_two(const int *first, const int *second, long long *sum, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] += first[n - 1 - i] + second[n - 1 - i];
}

struct Streams {
    cudaStream_t producer, consumer;
    cudaEvent_t full[2], empty[2];
};

static Streams make_streams()
{
    Streams s;
    CHECK(cudaStreamCreateWithFlags(&s.producer, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&s.consumer, cudaStreamNonBlocking));
    for (int b = 0; b < 2; b++) {
        CHECK(cudaEventCreateWithFlags(&s.full[b], cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&s.empty[b], cudaEventDisableTiming));
    }
    return s;
}

static void round_before(const Streams &s, int *const *buffers, long long *sum, int n, int round)
{
    const int b = round % 2, blocks = (n + 255) / 256;
    if (round >= 2) CHECK(cudaStreamWaitEvent(s.producer, s.empty[b], 0));
    produce<<<blocks, 256, 0, s.producer>>>(buffers[b], n, round);
    CHECK(cudaEventRecord(s.full[b], s.producer));
    CHECK(cudaStreamWaitEvent(s.consumer, s.full[b], 0));
    consume<<<blocks, 256, 0, s.consumer>>>(buffers[b], sum, n);
    CHECK(cudaEventRecord(s.empty[b], s.consumer));
}

static void rounds_after(const Streams &s, int *const *buffers, long long *sum, int n, int round)
{
    const int blocks = (n + 255) / 256;
    if (round >= 2) CHECK(cudaStreamWaitEvent(s.producer, s.empty[0], 0));
    for (int b = 0; b < 2; b++) produce<<<blocks, 256, 0, s.producer>>>(buffers[b], n, round + b);
    CHECK(cudaEventRecord(s.full[0], s.producer));
    CHECK(cudaStreamWaitEvent(s.consumer, s.full[0], 0));
    consume_two<<<blocks, 256, 0, s.consumer>>>(buffers[0], buffers[1], sum, n);
    CHECK(cudaEventRecord(s.empty[0], s.consumer));
}

int main(int argc, char **argv)
{
    const Variant variant = variant_of(argc, argv);
    const int n = argument(argc, argv, 3, 1 << 26), rounds = argument(argc, argv, 4, 8) / 2 * 2;
    int *buffers[2];
    long long *sum;
    CHECK(cudaMalloc(&buffers[0], n * sizeof(int)));
    CHECK(cudaMalloc(&buffers[1], n * sizeof(int)));
    CHECK(cudaMalloc(&sum, n * sizeof(long long)));
    const Streams streams = make_streams();
    const auto step = [&](auto mark) {
        mark();
        CHECK(cudaMemset(sum, 0, n * sizeof(long long)));
        CHECK(cudaDeviceSynchronize());
        for (int round = 0; round < rounds; round += 1 + variant.is_after)
            (variant.is_after ? rounds_after : round_before)(streams, buffers, sum, n, round);
        CHECK(cudaDeviceSynchronize());
    };
    return measure("pipeline", variant, step, [&] { return sum_of(sum, n); });
}
