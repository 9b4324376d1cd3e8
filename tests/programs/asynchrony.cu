/* Streams as samples use them: pinned copies over four streams in both orders, events with times,
 * callbacks and host functions, priorities, waits across streams, the legacy default stream. */
// options: -std=c++17 -pthread
#include "helper.h"
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

__global__ void kernel(float *a, int offset)
{
    const int i = offset + threadIdx.x + blockIdx.x * blockDim.x;
    const float x = (float)i, s = sinf(x), c = cosf(x);
    a[i] = a[i] + sqrtf(s * s + c * c);
}

__global__ void step(int *value, int factor, int add)
{
    *value = *value * factor + add;
}

__global__ void spin(long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles);
}

static std::atomic<int> callbacks{0};
static void CUDART_CB my_callback(cudaStream_t stream, cudaError_t status, void *data)
{
    if (status == cudaSuccess) callbacks += *(int *)data;
}
static void host_function(void *data)
{
    *(int *)data += 5;
}

int main()
{
    const int blockSize = 256, nStreams = 4, n = 4 * 1024 * nStreams, streamSize = n / nStreams;
    const int streamBytes = streamSize * sizeof(float), bytes = n * sizeof(float);
    float *a, *d_a, ms;
    checkCudaErrors(cudaMallocHost((void **)&a, bytes));
    checkCudaErrors(cudaMalloc((void **)&d_a, bytes));
    cudaEvent_t startEvent, stopEvent, dummyEvent;
    cudaStream_t stream[nStreams];
    checkCudaErrors(cudaEventCreate(&startEvent));
    checkCudaErrors(cudaEventCreateWithFlags(&stopEvent, cudaEventBlockingSync));
    checkCudaErrors(cudaEventCreateWithFlags(&dummyEvent, cudaEventDisableTiming));
    for (int i = 0; i < nStreams; ++i) checkCudaErrors(cudaStreamCreate(&stream[i]));
    for (int version = 0; version < 3; version++) {
        memset(a, 0, bytes);
        checkCudaErrors(cudaEventRecord(startEvent, 0));
        if (version == 0) {
            checkCudaErrors(cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice));
            kernel<<<n / blockSize, blockSize>>>(d_a, 0);
            checkCudaErrors(cudaMemcpy(a, d_a, bytes, cudaMemcpyDeviceToHost));
        } else if (version == 1) {
            for (int i = 0; i < nStreams; ++i) {
                const int offset = i * streamSize;
                checkCudaErrors(cudaMemcpyAsync(&d_a[offset], &a[offset], streamBytes,
                                                cudaMemcpyHostToDevice, stream[i]));
                kernel<<<streamSize / blockSize, blockSize, 0, stream[i]>>>(d_a, offset);
                checkCudaErrors(cudaMemcpyAsync(&a[offset], &d_a[offset], streamBytes,
                                                cudaMemcpyDeviceToHost, stream[i]));
            }
        } else {
            for (int i = 0; i < nStreams; ++i)
                checkCudaErrors(cudaMemcpyAsync(&d_a[i * streamSize], &a[i * streamSize],
                                                streamBytes, cudaMemcpyHostToDevice, stream[i]));
            for (int i = 0; i < nStreams; ++i)
                kernel<<<streamSize / blockSize, blockSize, 0, stream[i]>>>(d_a, i * streamSize);
            for (int i = 0; i < nStreams; ++i)
                checkCudaErrors(cudaMemcpyAsync(&a[i * streamSize], &d_a[i * streamSize],
                                                streamBytes, cudaMemcpyDeviceToHost, stream[i]));
        }
        checkCudaErrors(cudaEventRecord(stopEvent, 0));
        checkCudaErrors(cudaEventSynchronize(stopEvent));
        checkCudaErrors(cudaEventElapsedTime(&ms, startEvent, stopEvent));
        EXPECT(ms > 0 && ms < 60000, "%g ms", ms);
        float worst = 0;
        for (int i = 0; i < n; i++) worst = fmaxf(worst, fabsf(a[i] - 1));
        EXPECT(worst < 1e-5, "version %d: %g", version, worst);
    }
    EXPECT(cudaEventElapsedTime(&ms, startEvent, dummyEvent) == cudaErrorInvalidResourceHandle,
           "no timing");
    cudaGetLastError();

    /* order across streams: each waits for the one before */
    int *value, h_value = 0, want = 1;
    checkCudaErrors(cudaMalloc(&value, sizeof(int)));
    step<<<1, 1, 0, stream[0]>>>(value, 0, 1);
    std::vector<cudaEvent_t> events(20);
    for (int i = 0; i < 20; i++) {
        checkCudaErrors(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
        checkCudaErrors(cudaEventRecord(events[i], stream[i % nStreams]));
        checkCudaErrors(cudaStreamWaitEvent(stream[(i + 1) % nStreams], events[i], 0));
        step<<<1, 1, 0, stream[(i + 1) % nStreams]>>>(value, 3, i);
        want = want * 3 + i;
    }
    checkCudaErrors(cudaMemcpyAsync(&h_value, value, sizeof(int), cudaMemcpyDeviceToHost,
                                    stream[20 % nStreams]));
    checkCudaErrors(cudaStreamSynchronize(stream[20 % nStreams]));
    EXPECT(h_value == want, "%d, not %d", h_value, want);
    for (auto e : events) cudaEventDestroy(e);

    /* the default stream waits for blocking streams and they for it */
    spin<<<1, 1, 0, stream[1]>>>(20000000);
    step<<<1, 1, 0, stream[1]>>>(value, 0, 8);
    step<<<1, 1>>>(value, 2, 0);
    step<<<1, 1, 0, stream[2]>>>(value, 1, 1);
    checkCudaErrors(cudaMemcpy(&h_value, value, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(h_value == 17, "%d", h_value);

    int least, greatest;
    cudaStream_t high, apart;
    checkCudaErrors(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    checkCudaErrors(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    checkCudaErrors(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
    int priority = 99;
    unsigned flags = 99;
    checkCudaErrors(cudaStreamGetPriority(high, &priority));
    checkCudaErrors(cudaStreamGetFlags(high, &flags));
    EXPECT(priority == greatest && flags == cudaStreamNonBlocking, "%d %u", priority, flags);

    /* work is really in flight: the query says so, and the host goes on */
    static std::atomic<bool> go{false};
    checkCudaErrors(cudaLaunchHostFunc(
        high,
        [](void *) {
            while (!go) std::this_thread::yield();
        },
        nullptr));
    EXPECT(cudaStreamQuery(high) == cudaErrorNotReady, "in flight");
    checkCudaErrors(cudaEventRecord(dummyEvent, high));
    EXPECT(cudaEventQuery(dummyEvent) == cudaErrorNotReady, "in flight");
    EXPECT(cudaStreamQuery(apart) == cudaSuccess, "not this one");
    step<<<1, 1, 0, apart>>>(value, 0, 3);
    checkCudaErrors(cudaStreamSynchronize(apart));
    cudaGetLastError(); /* "not ready" is kept as any error */
    go = true;
    checkCudaErrors(cudaEventSynchronize(dummyEvent));
    EXPECT(cudaStreamQuery(high) == cudaSuccess, "done");

    int weights[] = {1, 10, 100, 1000}, total = 0;
    for (int i = 0; i < nStreams; i++) {
        checkCudaErrors(cudaStreamAddCallback(stream[i], my_callback, &weights[i], 0));
        checkCudaErrors(cudaLaunchHostFunc(stream[0], host_function, &total));
    }
    checkCudaErrors(cudaDeviceSynchronize());
    EXPECT(callbacks == 1111 && total == 20, "%d %d", callbacks.load(), total);

    /* several host threads launch at once */
    std::vector<std::thread> threads;
    std::mutex m;
    int *counters, sum = 0;
    checkCudaErrors(cudaMallocManaged(&counters, 4 * sizeof(int)));
    memset(counters, 0, 4 * sizeof(int));
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            checkCudaErrors(cudaSetDevice(0));
            for (int i = 0; i < 25; i++) step<<<1, 1, 0, stream[t]>>>(counters + t, 1, 1);
            checkCudaErrors(cudaStreamSynchronize(stream[t]));
            std::lock_guard<std::mutex> guard(m);
            sum += counters[t];
        });
    for (auto &t : threads) t.join();
    EXPECT(sum == 100, "%d", sum);
    const auto before = std::chrono::steady_clock::now();
    checkCudaErrors(cudaDeviceSynchronize());
    EXPECT(std::chrono::steady_clock::now() - before < std::chrono::seconds(20), "time");
    for (int i = 0; i < nStreams; ++i) checkCudaErrors(cudaStreamDestroy(stream[i]));
    cudaStreamDestroy(high), cudaStreamDestroy(apart);
    cudaEventDestroy(startEvent), cudaEventDestroy(stopEvent), cudaEventDestroy(dummyEvent);
    cudaFree(d_a), cudaFreeHost(a);
    checkCudaErrors(cudaDeviceReset());
    return verdict();
}
