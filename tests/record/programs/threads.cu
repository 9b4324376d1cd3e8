// Host threads that launch at the same time, and what a program may do to its recording.
//   threads HOW
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctascope/record.h>
#include <cuda_profiler_api.h>
#include <thread>
#include <unistd.h>
#include <vector>

enum { THREADS = 4, LAUNCHES = 100, CTAS = 4, BLOCK = 64, N = CTAS * BLOCK };

__global__ void add(int *data, int amount)
{
    data[blockIdx.x * BLOCK + threadIdx.x] += amount;
}

// Launches in a stream of its own; the sum of what is there then.
static long launch_some(int launches)
{
    cudaStream_t stream;
    int *data, host[N];
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) exit(90);
    if (cudaMalloc(&data, sizeof host)) exit(91);
    cudaMemsetAsync(data, 0, sizeof host, stream);
    for (int i = 0; i < launches; i++) add<<<CTAS, BLOCK, 0, stream>>>(data, i);
    cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, stream);
    if (cudaStreamSynchronize(stream)) exit(92);
    cudaFree(data);
    cudaStreamDestroy(stream);
    long sum = 0;
    for (int value : host) sum += value;
    return sum;
}

int main(int argc, char **argv)
{
    const auto is = [&](const char *word) { return argc > 1 && !strcmp(argv[1], word); };
    if (is("together")) {
        std::vector<std::thread> threads;
        long sums[THREADS];
        for (int t = 0; t < THREADS; t++)
            threads.emplace_back([&sums, t] { sums[t] = launch_some(LAUNCHES); });
        for (auto &thread : threads) thread.join();
        for (long sum : sums) printf("%ld\n", sum);
    }
    if (is("exit-in-a-thread")) { // while others launch and wait
        for (int t = 0; t < THREADS; t++)
            std::thread([] {
                for (;;) launch_some(10);
            }).detach();
        std::thread([] {
            launch_some(LAUNCHES);
            exit(8);
        }).join();
    }
    if (is("exit-in-a-callback")) {
        launch_some(5);
        cudaLaunchHostFunc(nullptr, [](void *) { exit(8); }, nullptr);
        cudaDeviceSynchronize();
    }
    if (is("reset")) {
        launch_some(5);
        cudaDeviceReset();
        launch_some(5);
    }
    if (is("switch")) { // launches 2, 3 and 6 are to be recorded
        int *data;
        cudaMalloc(&data, N * sizeof *data);
        for (int i = 0; i < 8; i++) {
            if (i == 2 || i == 6)
                cts_start();
            else if (i != 3)
                cts_stop();
            add<<<CTAS, BLOCK>>>(data, i);
        }
        cudaDeviceSynchronize();
    }
    if (is("profiler")) { // launches 2, 3 and 4
        int *data;
        cudaMalloc(&data, N * sizeof *data);
        for (int i = 0; i < 8; i++) {
            if (i == 2) cudaProfilerStart();
            if (i == 5) cudaProfilerStop();
            add<<<CTAS, BLOCK>>>(data, i);
        }
        cudaDeviceSynchronize();
    }
    return 0;
}
