// One step of a program, as it is and changed by hand: `measure` checks that both give the same
// result, marks one step for Nsight Compute (cudaProfilerStart/Stop), and times the others.
//     PROGRAM before|after [REPEATS] [SIZES...]
// prints a line of JSON: the median, least and largest time of a step in microseconds.
//     PROGRAM once [REPEATS] [SIZES...]
// does one step as it is and reads its result: the program to record.
#ifndef FLOW_BY_HAND_MEASURE_H
#define FLOW_BY_HAND_MEASURE_H

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <cuda_profiler_api.h>

struct Variant {
    bool is_after, is_once;
    int repeats;
};

static inline Variant variant_of(int argc, char **argv)
{
    const char *const word = argc < 2 ? "" : argv[1];
    const bool is_after = !strcmp(word, "after"), is_once = !strcmp(word, "once");
    if (!is_after && !is_once && strcmp(word, "before")) {
        fprintf(stderr, "usage: %s before|after|once [REPEATS] [SIZES...]\n", argv[0]);
        exit(2);
    }
    return {is_after, is_once, argument(argc, argv, 2, 11)};
}

// The sum of a result: both versions must agree.
template <class T> static double sum_of(const T *device, size_t count)
{
    std::vector<T> host(count);
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    double sum = 0;
    for (const T &value : host) sum += (double)value;
    return sum;
}

// `step(mark)` does one step; it calls mark() where the timed part begins, after what the host
// computes.
template <class Step, class Sum>
static int measure(const char *name, Variant variant, Step step, Sum sum)
{
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    const auto mark = [&] { CHECK(cudaEventRecord(begin)); };
    step(mark);
    CHECK(cudaDeviceSynchronize());
    const double result = sum();
    if (variant.is_once) return printf("%s: %.9g\n", name, result) < 0;
    step(mark); // the cache holds what a step leaves
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaProfilerStart());
    step(mark);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaProfilerStop());
    std::vector<float> times;
    for (int i = 0; i < variant.repeats; i++) {
        float milliseconds;
        step(mark);
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
        times.push_back(1e3f * milliseconds);
    }
    std::sort(times.begin(), times.end());
    printf("{\"program\": \"%s\", \"version\": \"%s\", \"median_us\": %.1f, \"least_us\": %.1f, "
           "\"largest_us\": %.1f, \"repeats\": %d, \"sum\": %.9g}\n",
           name, variant.is_after ? "after" : "before", times[times.size() / 2], times.front(),
           times.back(), variant.repeats, result);
    return 0;
}

#endif
