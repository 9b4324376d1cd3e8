// Two streams and events: `produce` runs in one stream, `consume` in another, which waits for an
// event before each round; two buffers let round r be consumed while r + 1 is produced, and the
// producer waits until the buffer that it fills is free. The order of the launches across the
// streams follows from the events alone.
// pipeline [ELEMENTS = 65536] [ROUNDS = 8]
#include "common.h"
#include <vector>

__global__ void produce(int *buffer, int n, int round)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) buffer[i] = i * 3 + round;
}

__global__ void consume(const int *buffer, long long *sum, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] += buffer[n - 1 - i];
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 65536), rounds = argument(argc, argv, 2, 8);
    int *buffers[2];
    long long *sum;
    CHECK(cudaMalloc(&buffers[0], n * sizeof(int)));
    CHECK(cudaMalloc(&buffers[1], n * sizeof(int)));
    CHECK(cudaMalloc(&sum, n * sizeof(long long)));
    CHECK(cudaMemset(sum, 0, n * sizeof(long long)));
    CHECK(cudaDeviceSynchronize());

    cudaStream_t producer, consumer;
    cudaEvent_t full[2], empty[2];
    CHECK(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
    for (int b = 0; b < 2; b++) {
        CHECK(cudaEventCreateWithFlags(&full[b], cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&empty[b], cudaEventDisableTiming));
    }
    const int blocks = (n + 255) / 256;
    for (int round = 0; round < rounds; round++) {
        const int b = round % 2;
        if (round >= 2) CHECK(cudaStreamWaitEvent(producer, empty[b], 0));
        produce<<<blocks, 256, 0, producer>>>(buffers[b], n, round);
        CHECK(cudaEventRecord(full[b], producer));
        CHECK(cudaStreamWaitEvent(consumer, full[b], 0));
        consume<<<blocks, 256, 0, consumer>>>(buffers[b], sum, n);
        CHECK(cudaEventRecord(empty[b], consumer));
    }
    CHECK(cudaDeviceSynchronize());
    std::vector<long long> result(n);
    CHECK(cudaMemcpy(result.data(), sum, n * sizeof(long long), cudaMemcpyDeviceToHost));

    bool right = true;
    for (int i = 0; i < n; i++)
        right &=
            result[i] == (long long)rounds * (n - 1 - i) * 3 + (long long)rounds * (rounds - 1) / 2;
    for (int b = 0; b < 2; b++) {
        CHECK(cudaEventDestroy(full[b]));
        CHECK(cudaEventDestroy(empty[b]));
        CHECK(cudaFree(buffers[b]));
    }
    CHECK(cudaStreamDestroy(producer));
    CHECK(cudaStreamDestroy(consumer));
    CHECK(cudaFree(sum));
    return verdict("pipeline", right);
}
