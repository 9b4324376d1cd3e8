// What the examples share: arguments, errors, random numbers that are the same everywhere.
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t check_error = (call);                                                    \
        if (check_error != cudaSuccess) {                                                          \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(check_error));                                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// Argument `index` as a number of at least 1, or `otherwise` when it is not given.
static inline int argument(int argc, char **argv, int index, int otherwise)
{
    if (index >= argc) return otherwise;
    char *end;
    const long value = strtol(argv[index], &end, 10);
    if (*end || value < 1 || value > 1 << 30) {
        fprintf(stderr, "%s: '%s' is not a size\n", argv[0], argv[index]);
        exit(2);
    }
    return (int)value;
}

// A small generator with a fixed start (the constants are Knuth's MMIX ones).
struct Random {
    uint64_t state = 1;
    uint32_t next()
    {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)(state >> 33);
    }
    float unit() { return (float)(next() >> 7) / (float)(1 << 24); }
};

// Prints the verdict and gives the exit status.
static inline int verdict(const char *name, bool right)
{
    printf("%s: %s\n", name, right ? "right" : "WRONG");
    return right ? 0 : 1;
}

template <class T> static T *device_copy(const T *host, size_t count)
{
    T *device;
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

#endif
