// Kernels that run beside each other in any schedule: each waits until the other runs. A kernel
// that waits in vain for a minute gives up, and the program ends with 1. beside pipeline ROUNDS:
// like examples/timeline/event-pipeline, where `produce` of a round and
//   `consume` of the round before wait for each other.
// beside null-stream: like examples/timeline/null-stream, where `apart` begins before `first` ends,
//   and ends after `last` has begun.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// flags[0] is set when a kernel has given up.
__device__ static void say(int *flags, int flag)
{
    atomicExch(&flags[flag], 1);
}

__device__ static void await(int *flags, int flag)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        if (atomicAdd(&flags[flag], 0)) return;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < 60ull * 1000000000);
    say(flags, 0);
}

__global__ void produce(int *flags, int round)
{
    say(flags, 1 + 2 * round);
    if (round > 0) await(flags, 2 + 2 * (round - 1));
}

__global__ void consume(int *flags, int round, int rounds)
{
    say(flags, 2 + 2 * round);
    if (round + 1 < rounds) await(flags, 1 + 2 * (round + 1));
}

__global__ void first(int *flags)
{
    await(flags, 1);
}

__global__ void middle(int *) {}

__global__ void last(int *flags)
{
    say(flags, 2);
}

__global__ void apart(int *flags)
{
    say(flags, 1);
    await(flags, 2);
}

static void pipeline(int *flags, int rounds)
{
    cudaStream_t producer, consumer;
    cudaEvent_t full;
    CHECK(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&full, cudaEventDisableTiming));
    for (int round = 0; round < rounds; round++) {
        produce<<<1, 1, 0, producer>>>(flags, round);
        CHECK(cudaEventRecord(full, producer));
        CHECK(cudaStreamWaitEvent(consumer, full, 0));
        consume<<<1, 1, 0, consumer>>>(flags, round, rounds);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaDeviceSynchronize());
}

static void null_stream(int *flags)
{
    cudaStream_t one, other, free_one;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&other));
    CHECK(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
    apart<<<1, 1, 0, free_one>>>(flags);
    first<<<1, 1, 0, one>>>(flags);
    middle<<<1, 1>>>(flags);
    last<<<1, 1, 0, other>>>(flags);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    const int rounds = argc > 2 ? atoi(argv[2]) : 1;
    int *flags, gave_up;
    CHECK(cudaMalloc(&flags, (2 + 2 * rounds) * sizeof *flags));
    CHECK(cudaMemset(flags, 0, (2 + 2 * rounds) * sizeof *flags));
    CHECK(cudaDeviceSynchronize());
    if (strcmp(argv[1], "pipeline") == 0)
        pipeline(flags, rounds);
    else
        null_stream(flags);
    CHECK(cudaMemcpy(&gave_up, flags, sizeof gave_up, cudaMemcpyDeviceToHost));
    return gave_up;
}
