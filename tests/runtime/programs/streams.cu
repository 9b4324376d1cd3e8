// A pipeline over streams with events, callbacks and graphs, through the C++ forms of the API.
#include <cuda_runtime.h>

#include <atomic>
#include <thread>
#include <vector>

#include "../../lang/programs/check.h"

const int N = 1 << 14, STREAMS = 4, ROUNDS = 8;

__global__ void step(int *data, int add)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) data[i] = data[i] * 3 + add;
}

static std::atomic<int> calls;

static void CUDART_CB count_call(cudaStream_t, cudaError_t status, void *data)
{
    if (status == cudaSuccess) *(std::atomic<int> *)data += 1;
}

static void check_pipeline()
{
    int *host[STREAMS], *device[STREAMS];
    cudaStream_t streams[STREAMS];
    cudaEvent_t events[STREAMS];
    for (int s = 0; s < STREAMS; s++) {
        CUDA(cudaMallocHost(&host[s], N * sizeof(int)));
        CUDA(cudaMallocAsync(&device[s], N * sizeof(int), 0));
        CUDA(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        CUDA(cudaEventCreate(&events[s]));
        for (int i = 0; i < N; i++) host[s][i] = s * 1000 + i;
    }
    CUDA(cudaStreamSynchronize(0));
    for (int s = 0; s < STREAMS; s++)
        CUDA(cudaMemcpyAsync(device[s], host[s], N * sizeof(int), cudaMemcpyHostToDevice,
                             streams[s]));
    // A ring: every round, stream s goes on when stream s - 1 has done its step.
    for (int round = 0; round < ROUNDS; round++)
        for (int s = 0; s < STREAMS; s++) {
            if (round > 0 || s > 0)
                CUDA(cudaStreamWaitEvent(streams[s], events[(s + STREAMS - 1) % STREAMS], 0));
            const int from = (s + STREAMS - 1) % STREAMS;
            step<<<N / 256, 256, 0, streams[s]>>>(device[s], round);
            if (round == ROUNDS - 1 && s > 0)
                CUDA(cudaMemcpyAsync(device[s], device[from], sizeof(int), cudaMemcpyDeviceToDevice,
                                     streams[s]));
            CUDA(cudaEventRecord(events[s], streams[s]));
            CUDA(cudaStreamAddCallback(streams[s], count_call, &calls, 0));
        }
    for (int s = 0; s < STREAMS; s++)
        CUDA(cudaMemcpyAsync(host[s], device[s], N * sizeof(int), cudaMemcpyDeviceToHost,
                             streams[s]));
    CUDA(cudaDeviceSynchronize());
    CHECK(calls == STREAMS * ROUNDS, "%d", calls.load());
    for (int s = 0; s < STREAMS; s++)
        for (int i = 0; i < N; i++) {
            int value = (i == 0 ? 0 : s * 1000) + i; // element 0 came along the ring from stream 0
            for (int round = 0; round < ROUNDS; round++) value = value * 3 + round;
            CHECK(host[s][i] == value, "stream %d, %d: %d, not %d", s, i, host[s][i], value);
        }
    float ms = -1;
    CUDA(cudaEventElapsedTime(&ms, events[0], events[STREAMS - 1]));
    CHECK(ms >= 0, "%g", ms);
    for (int s = 0; s < STREAMS; s++) {
        CUDA(cudaFreeAsync(device[s], streams[s]));
        CUDA(cudaStreamDestroy(streams[s]));
        CUDA(cudaEventDestroy(events[s]));
        CUDA(cudaFreeHost(host[s]));
    }
}

static void check_graph()
{
    int *const data = managed<int>(N);
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 5; i++) step<<<N / 256, 256, 0, stream>>>(data, i);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    int value = 0;
    for (int i = 0; i < 10; i++) value = value * 3 + i % 5;
    CHECK(data[N - 1] == value, "%d, not %d", data[N - 1], value);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
}

// Threads of the program that share the legacy stream.
static void check_threads()
{
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([] {
            int *device;
            std::vector<int> host(N, 1);
            CUDA(cudaMalloc(&device, N * sizeof(int)));
            for (int i = 0; i < 20; i++) {
                host.assign(N, i);
                CUDA(cudaMemcpy(device, host.data(), N * sizeof(int), cudaMemcpyHostToDevice));
                step<<<N / 256, 256>>>(device, 1);
                CUDA(cudaMemcpy(host.data(), device, N * sizeof(int), cudaMemcpyDeviceToHost));
                CHECK(host[N - 1] == i * 3 + 1, "%d", host[N - 1]);
            }
            CUDA(cudaFree(device));
        });
    for (std::thread &thread : threads) thread.join();
}

int main()
{
    check_pipeline();
    check_graph();
    check_threads();
    return finish();
}
