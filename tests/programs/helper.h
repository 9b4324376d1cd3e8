/* What suites of CUDA programs share: a macro around every call, and the last line of a test. */
#ifndef HELPER_H
#define HELPER_H
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define checkCudaErrors(call)  check_call((call), #call, __FILE__, __LINE__)
#define getLastCudaError(text) check_call(cudaGetLastError(), text, __FILE__, __LINE__)

static inline void check_call(cudaError_t error, const char *what, const char *file, int line)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s:%d: %s: %s (%s)\n", file, line, what, cudaGetErrorName(error),
            cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}

/* The number of checks that failed; the first ones are printed. */
static int wrong_count;
#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition) && wrong_count++ < 10) {                                                  \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                        \
            fprintf(stderr, "" __VA_ARGS__);                                                       \
            fprintf(stderr, "\n");                                                                 \
        }                                                                                          \
    } while (0)

static inline bool close_to(double got, double want, double tolerance)
{
    return fabs(got - want) <= tolerance * (1 + fabs(want));
}

static inline int verdict(void)
{
    puts(wrong_count ? "FAILED" : "PASSED");
    return wrong_count ? EXIT_FAILURE : EXIT_SUCCESS;
}
#endif
