#include "analyze/try/try-judge.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* How many of the smallest, and of the largest, lie outside of the interval. */
static size_t outside(size_t count)
{
    const double most = 0.05 / 2;
    double term = exp2(-(double)count), sum = 0;
    size_t k = 0;
    while (k < count / 2 && sum + term <= most) {
        sum += term;
        k++;
        term *= (double)(count - k + 1) / (double)k;
    }
    return k ? k - 1 : 0;
}

struct cts_try_estimate cts_try_estimate_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    const size_t k = outside(count);
    const double upper = values[count / 2], lower = values[(count - 1) / 2];
    return (struct cts_try_estimate){(lower + upper) / 2, values[k], values[count - 1 - k]};
}

/* ---- the baseline ---- */

static struct cts_try_estimate estimate(const struct cts_trial_result *result,
                                        double (*value)(const struct cts_trial_result *, size_t))
{
    struct cts_try_estimate none = {0};
    double *const values = result->repeats ? malloc(result->repeats * sizeof *values) : NULL;
    for (size_t i = 0; values && i < result->repeats; i++) values[i] = value(result, i);
    const struct cts_try_estimate found =
        values ? cts_try_estimate_of(values, result->repeats) : none;
    free(values);
    return found;
}

static double elapsed_at(const struct cts_trial_result *result, size_t i)
{
    return (double)result->changed[i].elapsed_ns;
}

static double busy_at(const struct cts_trial_result *result, size_t i)
{
    return (double)result->changed[i].busy_ns;
}

static double plain_at(const struct cts_trial_result *result, size_t i)
{
    return (double)result->plain[i].elapsed_ns;
}

static double part_saved(uint64_t changed, uint64_t plain)
{
    return plain ? 1 - (double)changed / (double)plain : 0;
}

static double gain_at(const struct cts_trial_result *result, size_t i)
{
    return part_saved(result->changed[i].elapsed_ns, result->plain[i].elapsed_ns);
}

static double busy_gain_at(const struct cts_trial_result *result, size_t i)
{
    return part_saved(result->changed[i].busy_ns, result->plain[i].busy_ns);
}

void cts_try_judge_baseline(const struct cts_stretch *stretch,
                            const struct cts_trial_result *result,
                            struct cts_try_baseline *baseline)
{
    *baseline =
        (struct cts_try_baseline){.fault = result->fault, .changed_bytes = result->changed_bytes};
    for (size_t i = 0; i < result->difference_count; i++) {
        const struct cts_trial_difference *const d = &result->differences[i];
        if (d->region >= stretch->region_count) continue;
        baseline->masked_bytes += d->masked_count;
        if (d->byte_count && !baseline->difference) baseline->difference = d;
    }
    baseline->elapsed_ns = estimate(result, elapsed_at);
    baseline->busy_ns = estimate(result, busy_at);
    baseline->can_judge =
        !*result->fault && !baseline->difference &&
        (double)baseline->masked_bytes <= CTS_TRY_MASK_MOST * (double)baseline->changed_bytes;
}

/* ---- a trial ---- */

/* A difference in memory that the program still has counts more than one in memory that it freed.
 */
static bool is_better(const struct cts_stretch *stretch, const struct cts_trial_difference *d,
                      const struct cts_trial_difference *than)
{
    if (!than) return true;
    const uint32_t live = stretch->regions[d->region].is_live;
    const uint32_t than_live = stretch->regions[than->region].is_live;
    if (live != than_live) return live;
    const bool is_memory = stretch->regions[d->region].op == CTS_TRIAL_NONE;
    const bool than_memory = stretch->regions[than->region].op == CTS_TRIAL_NONE;
    return is_memory && !than_memory;
}

static void sum_differences(const struct cts_stretch *stretch,
                            const struct cts_trial_result *result, struct cts_try_verdict *verdict)
{
    for (size_t i = 0; i < result->difference_count; i++) {
        const struct cts_trial_difference *const d = &result->differences[i];
        if (d->region >= stretch->region_count) continue;
        verdict->dead_bytes += d->dead_count;
        if (stretch->regions[d->region].is_live)
            verdict->live_bytes += d->byte_count;
        else
            verdict->dead_bytes += d->byte_count;
        if (d->byte_count && is_better(stretch, d, verdict->first)) verdict->first = d;
        if (d->origin < verdict->origin) verdict->origin = d->origin;
    }
    if (verdict->origin >= stretch->op_count) verdict->origin = CTS_TRIAL_NONE;
}

void cts_try_judge(const struct cts_stretch *stretch, const struct cts_try_baseline *baseline,
                   const struct cts_trial_result *result, struct cts_try_verdict *verdict)
{
    *verdict = (struct cts_try_verdict){.origin = CTS_TRIAL_NONE, .foretold = NAN};
    sum_differences(stretch, result, verdict);
    if (result->repeats && result->plain) {
        verdict->gain = estimate(result, gain_at);
        verdict->busy_gain = estimate(result, busy_gain_at);
        verdict->elapsed_ns = (uint64_t)estimate(result, elapsed_at).median;
        verdict->plain_ns = (uint64_t)estimate(result, plain_at).median;
    }
    if (*result->fault)
        verdict->kind = CTS_TRY_FAILS;
    else if (verdict->live_bytes)
        verdict->kind = CTS_TRY_DIFFERS;
    else
        verdict->kind = baseline->can_judge ? CTS_TRY_SAME : CTS_TRY_CANNOT_JUDGE;
    if (verdict->kind == CTS_TRY_DIFFERS && !baseline->can_judge)
        verdict->kind = CTS_TRY_CANNOT_JUDGE;
}
