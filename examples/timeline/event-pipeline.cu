// A pipeline of two streams: `produce` of a round must have ended before `consume` of that round
// starts (cudaStreamWaitEvent), and runs beside `consume` of the round before. Each stage takes
// STAGE_MS, so that ROUNDS rounds take (ROUNDS + 1) * STAGE_MS and not twice ROUNDS.
// event-pipeline [STAGE_MS = 10] [ROUNDS = 5]
#include "spin.h"

__global__ void produce(int *box, int round, unsigned long long ns)
{
    spin_for(ns);
    *box = round + 1;
}

__global__ void consume(const int *box, long long *sum, unsigned long long ns)
{
    *sum += *box;
    spin_for(ns);
}

int main(int argc, char **argv)
{
    const int stage_ms = argument(argc, argv, 1, 10), rounds = argument(argc, argv, 2, 5);
    const unsigned long long ns = ns_of_ms(stage_ms);
    int *boxes;
    long long *device_sum, sum;
    CHECK(cudaMalloc(&boxes, rounds * sizeof *boxes));
    CHECK(cudaMalloc(&device_sum, sizeof *device_sum));
    CHECK(cudaMemset(device_sum, 0, sizeof *device_sum));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t producer, consumer;
    cudaEvent_t full;
    CHECK(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&full, cudaEventDisableTiming));
    for (int round = 0; round < rounds; round++) {
        produce<<<1, 1, 0, producer>>>(&boxes[round], round, ns);
        CHECK(cudaEventRecord(full, producer));
        CHECK(cudaStreamWaitEvent(consumer, full, 0));
        consume<<<1, 1, 0, consumer>>>(&boxes[round], device_sum, ns);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaStreamSynchronize(consumer));
    CHECK(cudaMemcpy(&sum, device_sum, sizeof sum, cudaMemcpyDeviceToHost));
    CHECK(cudaEventDestroy(full));
    CHECK(cudaStreamDestroy(producer));
    CHECK(cudaStreamDestroy(consumer));
    CHECK(cudaFree(boxes));
    CHECK(cudaFree(device_sum));
    return verdict("event-pipeline", sum == (long long)rounds * (rounds + 1) / 2);
}
