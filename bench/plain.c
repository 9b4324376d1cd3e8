/* The same loops in plain C, compiled for the host's instruction set: what 'off' is compared with.
 * Prints like kernels.cu: name, threads (elements), median ns of one pass.
 * plain NAME PASSES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LARGE = 1 << 24, EDGE = 4096, CACHED = 1 << 14 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

__attribute__((noinline)) static void vectoradd(const float *restrict a, const float *restrict b,
                                                float *restrict c, int n)
{
    for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
}

__attribute__((noinline)) static void stencil(const float *restrict in, float *restrict out, int n)
{
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < n - 1; x++) {
            const int i = y * n + x;
            out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
        }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Not zeros: a compiler may turn those into pages that all are one. */
static float *numbers(size_t count)
{
    float *const memory = malloc(count * sizeof *memory);
    if (!memory) exit(1);
    for (size_t i = 0; i < count; i++) memory[i] = (float)(i % 1021) / 1024.0f;
    return memory;
}

int main(int argc, char **argv)
{
    const char *const name = argc > 1 ? argv[1] : "";
    const int passes = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 5;
    const int is_stencil = !strncmp(name, "stencil", 7);
    const int n = is_stencil ? EDGE : !strcmp(name, "cached") ? CACHED : LARGE;
    const size_t count = is_stencil ? (size_t)n * (size_t)n : (size_t)n;
    float *const a = numbers(count), *const b = numbers(count), *const c = numbers(count);
    double *const times = calloc((size_t)passes, sizeof *times);
    if (!times) return 1;
    for (int pass = 0; pass < passes; pass++) {
        const double start = now_ns();
        if (is_stencil)
            stencil(pass % 2 ? b : a, pass % 2 ? a : b, n);
        else
            vectoradd(a, b, c, n);
        times[pass] = now_ns() - start;
    }
    qsort(times, (size_t)passes, sizeof *times, by_value);
    printf("%s %zu %.0f\n", name, count, times[passes / 2]);
    return c[0] > 3.0f;
}
