// Polling: the host asks again and again whether a kernel of WORK_MS has ended, in one round with
// cudaEventQuery, in the next with cudaStreamQuery. Prints how many queries found it running.
// polling [WORK_MS = 10] [ROUNDS = 4]
#include "spin.h"

__global__ void work(int *count, unsigned long long ns)
{
    spin_for(ns);
    ++*count;
}

// Calls `query` until the work has ended; the calls in vain.
template <class Query> static long long poll(Query query)
{
    long long failed = 0;
    cudaError_t error;
    while ((error = query()) == cudaErrorNotReady) {
        (void)cudaGetLastError(); // "not ready" counts as the last error, too
        failed++;
        host_spin_ms(0.05);
    }
    CHECK(error);
    return failed;
}

int main(int argc, char **argv)
{
    const int work_ms = argument(argc, argv, 1, 10), rounds = argument(argc, argv, 2, 4);
    int *device_count, count;
    CHECK(cudaMalloc(&device_count, sizeof *device_count));
    CHECK(cudaMemset(device_count, 0, sizeof *device_count));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t stream;
    cudaEvent_t done;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&done));
    long long event_queries = 0, stream_queries = 0;
    for (int round = 0; round < rounds; round++) {
        work<<<1, 1, 0, stream>>>(device_count, ns_of_ms(work_ms));
        CHECK(cudaGetLastError());
        if (round % 2 == 0) {
            CHECK(cudaEventRecord(done, stream));
            event_queries += poll([&] { return cudaEventQuery(done); });
        } else {
            stream_queries += poll([&] { return cudaStreamQuery(stream); });
        }
    }
    CHECK(cudaMemcpy(&count, device_count, sizeof count, cudaMemcpyDeviceToHost));
    CHECK(cudaEventDestroy(done));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device_count));
    printf("queries in vain: %lld of an event, %lld of a stream\n", event_queries, stream_queries);
    return verdict("polling", count == rounds);
}
