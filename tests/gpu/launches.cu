// What recording costs: LAUNCHES kernels of US microseconds one after the other in a stream.
//     launches LAUNCHES US REPEATS
// prints the wall ns of each repeat, from the first launch to the end of the last kernel, and on
// standard error the most memory that the process had.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>
#include <sys/resource.h>

__global__ void spin(long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    const int launches = atoi(argv[1]), us = atoi(argv[2]), repeats = atoi(argv[3]);
    int khz = 0;
    cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
    const long long cycles = (long long)us * khz / 1000;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    for (int i = 0; i < 1000; i++) spin<<<132, 128, 0, stream>>>(cycles);
    cudaStreamSynchronize(stream);
    for (int r = 0; r < repeats; r++) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < launches; i++) spin<<<132, 128, 0, stream>>>(cycles);
        if (cudaStreamSynchronize(stream) != cudaSuccess) return 1;
        const std::chrono::duration<double, std::nano> ns =
            std::chrono::steady_clock::now() - start;
        printf("%.0f\n", ns.count());
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    fprintf(stderr, "%ld KiB resident at most\n", usage.ru_maxrss);
    return 0;
}
