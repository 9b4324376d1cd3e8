/* Offset and drift by medians: the drift is the slope between the medians of the first and the last
 * third, if it explains the pairs clearly better than none. */
#include "trace/collectives/clock-fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { DRIFT_PAIRS_MIN = 6, CLEARLY = 2 };
#define DRIFT_MAX 1e-3 /* of clocks that run at all; quartz is within 1e-4 */

static int by_time(const void *left, const void *right)
{
    const struct cts_clock_pair *const a = left, *const b = right;
    if (a->own_ns != b->own_ns) return a->own_ns < b->own_ns ? -1 : 1;
    return (a->difference_ns > b->difference_ns) - (a->difference_ns < b->difference_ns);
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

struct line {
    const struct cts_clock_pair *pairs;
    size_t count;
    uint64_t from_ns;
    double drift;
};

/* Of a difference from the line through 0; in the order of the pairs. */
static double above(const struct line *line, size_t index)
{
    return (double)line->pairs[index].difference_ns -
           line->drift * (double)(line->pairs[index].own_ns - line->from_ns);
}

enum { SAMPLES_MAX = 4096 };

/* The value that `part` of 1 of the differences, less `offset`, are below; absolute on request. */
static double quantile(const struct line *line, double offset, bool absolute, double part)
{
    double values[SAMPLES_MAX];
    const size_t step = line->count / SAMPLES_MAX + 1;
    size_t count = 0;
    for (size_t i = 0; i < line->count; i += step) {
        const double value = above(line, i) - offset;
        values[count++] = absolute ? fabs(value) : value;
    }
    qsort(values, count, sizeof *values, by_value);
    const size_t place = (size_t)((double)count * part);
    return values[place < count ? place : count - 1];
}

static double slope_of(const struct cts_clock_pair *pairs, size_t count)
{
    const size_t third = count / 3;
    const struct line first = {pairs, third, 0, 0}, last = {pairs + count - third, third, 0, 0};
    const double run = (double)(last.pairs[third / 2].own_ns - first.pairs[third / 2].own_ns);
    if (run <= 0) return 0;
    return (quantile(&last, 0, false, 0.5) - quantile(&first, 0, false, 0.5)) / run;
}

void cts_clock_fit(struct cts_clock_pair *pairs, size_t count, struct cts_clock_fit *fit)
{
    qsort(pairs, count, sizeof *pairs, by_time);
    struct line flat = {pairs, count, pairs[0].own_ns, 0}, steep = flat;
    *fit = (struct cts_clock_fit){.from_ns = flat.from_ns, .pair_count = count};
    fit->offset_ns = quantile(&flat, 0, false, 0.5);
    fit->residual_ns = quantile(&flat, fit->offset_ns, true, 0.95);
    if (count < DRIFT_PAIRS_MIN) return;
    steep.drift = slope_of(pairs, count);
    const double offset = quantile(&steep, 0, false, 0.5);
    const double residual = quantile(&steep, offset, true, 0.95);
    if (fabs(steep.drift) > DRIFT_MAX || residual * CLEARLY > fit->residual_ns) return;
    fit->drift = steep.drift;
    fit->offset_ns = offset;
    fit->residual_ns = residual;
}

double cts_clock_fit_at(const struct cts_clock_fit *fit, uint64_t own_ns)
{
    const double since =
        own_ns >= fit->from_ns ? (double)(own_ns - fit->from_ns) : -(double)(fit->from_ns - own_ns);
    return fit->offset_ns + fit->drift * since;
}
