/* Boxes and fits.
 *
 * Fits are by least squares: a + b p in closed form; a - a/(b+p) is linear in a once b is known,
 * so that one search along b is left: over a grid that is even in the logarithm of b + 2, then by
 * golden section around the best point. b stays above -2, where the term has its pole for p >= 2.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/partition/partition.h"

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The value `quarters`/4 of the way through sorted values. */
static double quartile(const uint64_t *sorted, size_t count, unsigned quarters)
{
    const size_t steps = (count - 1) * quarters;
    const size_t low = steps / 4;
    const double low_value = (double)sorted[low];
    if (steps % 4 == 0) return low_value;
    return low_value + ((double)sorted[low + 1] - low_value) * (double)(steps % 4) / 4;
}

struct cts_partition_box cts_partition_box_of(const uint64_t *values, size_t count,
                                              uint64_t *scratch)
{
    struct cts_partition_box box = {.count = count};
    if (!count) return box;
    memcpy(scratch, values, count * sizeof *values);
    qsort(scratch, count, sizeof *scratch, by_value);
    box.least = (double)scratch[0];
    box.most = (double)scratch[count - 1];
    box.quartile1 = quartile(scratch, count, 1);
    box.median = quartile(scratch, count, 2);
    box.quartile3 = quartile(scratch, count, 3);
    const double reach = 1.5 * (box.quartile3 - box.quartile1);
    box.low_whisker = box.most;
    box.high_whisker = box.least;
    for (size_t i = 0; i < count; i++) {
        const double value = (double)scratch[i];
        box.mean += value / (double)count;
        if (value < box.quartile1 - reach || value > box.quartile3 + reach) {
            box.outliers++;
            continue;
        }
        box.low_whisker = fmin(box.low_whisker, value);
        box.high_whisker = fmax(box.high_whisker, value);
    }
    return box;
}

struct points {
    const double *p, *y;
    size_t count;
};

static void fit_line(const struct points *points, double *a, double *b)
{
    const double n = (double)points->count;
    double sum_p = 0, sum_y = 0, spread = 0, shared = 0;
    for (size_t i = 0; i < points->count; i++) {
        sum_p += points->p[i];
        sum_y += points->y[i];
    }
    for (size_t i = 0; i < points->count; i++) {
        const double distance = points->p[i] - sum_p / n;
        spread += distance * distance;
        shared += distance * (points->y[i] - sum_y / n);
    }
    *b = spread > 0 ? shared / spread : 0;
    *a = sum_y / n - *b * sum_p / n;
}

/* The best a for a given b, and the sum of squared errors. */
static double fit_limit(const struct points *points, double b, double *a)
{
    double above = 0, below = 0, errors = 0;
    for (size_t i = 0; i < points->count; i++) {
        const double f = 1 - 1 / (b + points->p[i]);
        above += points->y[i] * f;
        below += f * f;
    }
    *a = below > 0 ? above / below : 0;
    for (size_t i = 0; i < points->count; i++) {
        const double error = points->y[i] - *a * (1 - 1 / (b + points->p[i]));
        errors += error * error;
    }
    return errors;
}

static double search_limit(const struct points *points, double *a)
{
    enum { STEPS = 400, ROUNDS = 120 };
    const double ratio = (sqrt(5) - 1) / 2;
    double best = INFINITY;
    int best_step = 0;
    for (int i = 0; i <= STEPS; i++) { /* b + 2 from 10^-4 to 10^6 */
        const double errors = fit_limit(points, pow(10, -4 + 10.0 * i / STEPS) - 2, a);
        if (errors >= best) continue;
        best = errors;
        best_step = i;
    }
    double low = -4 + 10.0 * (best_step - 1) / STEPS, high = -4 + 10.0 * (best_step + 1) / STEPS;
    for (int i = 0; i < ROUNDS; i++) {
        const double x1 = high - ratio * (high - low), x2 = low + ratio * (high - low);
        if (fit_limit(points, pow(10, x1) - 2, a) <= fit_limit(points, pow(10, x2) - 2, a))
            high = x2;
        else
            low = x1;
    }
    const double b = pow(10, (low + high) / 2) - 2;
    (void)fit_limit(points, b, a);
    return b;
}

void cts_partition_fit_points(const double *p, const double *y, size_t count,
                              struct cts_partition_fit *fit)
{
    const struct points points = {p, y, count};
    double sum = 0, line_errors = 0;
    fit->point_count = count;
    for (size_t i = 0; i < count; i++) sum += y[i];
    if (count < 3 || sum <= 0) return;
    fit->is_known = true;
    fit_line(&points, &fit->linear_a, &fit->linear_b);
    fit->limited_b = search_limit(&points, &fit->limited_a);
    for (size_t i = 0; i < count; i++) {
        const double error = y[i] - (fit->linear_a + fit->linear_b * p[i]);
        line_errors += error * error;
    }
    double a;
    const double mean = sum / (double)count;
    const double limit_errors = fit_limit(&points, fit->limited_b, &a);
    fit->linear_residual = sqrt(line_errors / (double)count) / mean;
    fit->limited_residual = sqrt(limit_errors / (double)count) / mean;
    fit->limited_is_better = fit->limited_residual < fit->linear_residual;
}
