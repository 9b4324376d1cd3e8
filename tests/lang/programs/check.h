/* What the programs share: failures are counted and printed, the exit status tells. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int failures;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition) && failures++ < 20) {                                                     \
            printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);                                 \
            printf("" __VA_ARGS__);                                                                \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)
#define CUDA(call)                                                                                 \
    do {                                                                                           \
        const cudaError_t error = call;                                                            \
        if (error != cudaSuccess) {                                                                \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));       \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

template <class T> static T *managed(size_t count)
{
    T *memory;
    CUDA(cudaMallocManaged(&memory, count * sizeof(T)));
    memset((void *)memory, 0, count * sizeof(T));
    return memory;
}

static int finish()
{
    CUDA(cudaDeviceSynchronize());
    printf(failures ? "%d failures\n" : "good\n", failures);
    return failures != 0;
}
