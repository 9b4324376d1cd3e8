#include "analyze/try/try-iteration.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

enum { PERIOD_MAX = 4096 };

/* Each kernel gets the index of its first launch, so that launches compare as numbers. */
static uint32_t *number_kernels(const char *const *kernels, size_t count, struct cts_error *error)
{
    uint32_t *const numbers = cts_array_zeroed(count, sizeof *numbers, error);
    uint32_t *const firsts = cts_array_zeroed(count, sizeof *firsts, error);
    size_t first_count = 0;
    for (size_t i = 0; numbers && firsts && i < count; i++) {
        size_t k = 0;
        while (k < first_count && strcmp(kernels[firsts[k]], kernels[i]) != 0) k++;
        if (k == first_count) firsts[first_count++] = (uint32_t)i;
        numbers[i] = firsts[k];
    }
    const bool good = numbers && firsts;
    free(firsts);
    if (!good) free(numbers);
    return good ? numbers : NULL;
}

/* The longest run of launches that equal the launch one period later. */
static void try_period(const uint32_t *numbers, size_t count, size_t period,
                       struct cts_try_pattern *best)
{
    size_t run = 0;
    for (size_t i = 0; i + period < count; i++) {
        run = numbers[i] == numbers[i + period] ? run + 1 : 0;
        const size_t iterations = run / period + 1;
        if (iterations < 2 || iterations * period <= best->iterations * best->period) continue;
        *best = (struct cts_try_pattern){i + 1 - run, period, iterations};
    }
}

enum cts_status cts_try_find_pattern(const char *const *kernels, size_t count,
                                     struct cts_try_pattern *pattern, struct cts_error *error)
{
    uint32_t *const numbers = number_kernels(kernels, count, error);
    *pattern = (struct cts_try_pattern){0};
    if (!numbers) return CTS_MEMORY;
    for (size_t period = 1; period <= count / 2 && period <= PERIOD_MAX; period++)
        try_period(numbers, count, period, pattern);
    free(numbers);
    return CTS_OK;
}
