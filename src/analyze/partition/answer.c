/* What the numbers mean for somebody who has to decide. */
#include "analyze/partition/partition.h"

/* A speed-up below this is no gain; a mapping with traffic beyond this matters. */
#define GAIN    1.05
#define MATTERS 1.05
/* What each partition beyond the first must add: one that is half idle is not worth its price. */
#define EFFICIENT 0.5
/* The recommended count reaches this share of the best speed-up. */
#define ENOUGH 0.9

const struct cts_partition_scale *cts_partition_find(const struct cts_partition *result,
                                                     size_t mapping, uint32_t partition_count)
{
    for (size_t i = 0; i < result->scale_count; i++)
        if (result->scales[i].mapping == mapping &&
            result->scales[i].partition_count == partition_count)
            return &result->scales[i];
    return NULL;
}

/* Less time, then less traffic, then the mapping that is listed first. */
static bool is_better(const struct cts_partition_scale *a, const struct cts_partition_scale *b)
{
    if (a->time.no_overlap_s < b->time.no_overlap_s * (1 - 1e-9)) return true;
    if (a->time.no_overlap_s > b->time.no_overlap_s * (1 + 1e-9)) return false;
    return a->traffic_bytes < b->traffic_bytes;
}

static bool is_efficient(const struct cts_partition_scale *scale)
{
    return scale->time.no_overlap_speedup >= 1 + EFFICIENT * (scale->partition_count - 1.0);
}

/* The recommended one of all scales, or of the efficient ones. */
static const struct cts_partition_scale *choose(const struct cts_partition *result,
                                                bool only_efficient)
{
    double best = 0;
    for (size_t i = 0; i < result->scale_count; i++)
        if (result->scales[i].time.no_overlap_speedup > best &&
            (!only_efficient || is_efficient(&result->scales[i])))
            best = result->scales[i].time.no_overlap_speedup;
    const struct cts_partition_scale *chosen = NULL;
    for (size_t i = 0; i < result->scale_count; i++) {
        const struct cts_partition_scale *const scale = &result->scales[i];
        if (scale->partition_count < 2 || scale->time.no_overlap_speedup < best * ENOUGH) continue;
        if (only_efficient && !is_efficient(scale)) continue;
        if (!chosen || scale->partition_count < chosen->partition_count ||
            (scale->partition_count == chosen->partition_count && is_better(scale, chosen)))
            chosen = scale;
    }
    return chosen;
}

static const struct cts_partition_scale *recommend(const struct cts_partition *result)
{
    const struct cts_partition_scale *chosen = choose(result, true);
    if (!chosen || chosen->time.no_overlap_speedup < GAIN) chosen = choose(result, false);
    return chosen || !result->scale_count ? chosen : &result->scales[0];
}

uint64_t cts_partition_largest_grid(const struct cts_catalogue *catalogue)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < catalogue->launch_count; i++) {
        const uint32_t *const grid = catalogue->launches[i].grid;
        const uint64_t ctas = (uint64_t)grid[0] * grid[1] * grid[2];
        if (ctas > largest) largest = ctas;
    }
    return largest;
}

size_t cts_partition_default_counts(const struct cts_catalogue *catalogue,
                                    uint32_t counts[CTS_PARTITION_DEFAULT_COUNTS])
{
    static const uint32_t all[CTS_PARTITION_DEFAULT_COUNTS] = {2,  3,  4,  6,  8, 12,
                                                               16, 24, 32, 48, 64};
    const uint64_t largest = cts_partition_largest_grid(catalogue);
    size_t count = 0;
    while (count < CTS_PARTITION_DEFAULT_COUNTS && all[count] <= largest) {
        counts[count] = all[count];
        count++;
    }
    return count;
}

static size_t largest_of(const uint64_t *values, size_t count)
{
    size_t most = 0;
    for (size_t i = 1; i < count; i++)
        if (values[i] > values[most]) most = i;
    return most;
}

/* The kernel whose launches read most of the traffic. */
static void find_reader(const struct cts_partition *result, const struct cts_catalogue *catalogue,
                        struct cts_partition_answer *answer)
{
    for (size_t k = 0; k < result->kernel_count; k++) {
        uint64_t bytes = 0;
        for (size_t i = 0; i < result->launch_count; i++)
            if (catalogue->launches[result->launches[i].index].kernel == result->kernels[k])
                bytes += answer->scale->launch_bytes[i];
        if (bytes <= answer->reading_kernel_bytes) continue;
        answer->reading_kernel = k;
        answer->reading_kernel_bytes = bytes;
    }
}

static void find_limit(const struct cts_partition *result, struct cts_partition_answer *answer)
{
    const struct cts_partition_time *const time = &answer->scale->time;
    const double whole_s = result->whole.time.no_overlap_s - result->whole.time.launch_s;
    const double uneven_s = time->no_overlap_s - time->launch_s - time->link_s -
                            whole_s / answer->scale->partition_count;
    answer->limit = CTS_PARTITION_LIMIT_LAUNCHES;
    answer->limit_s = time->launch_s;
    if (time->link_s > answer->limit_s) {
        answer->limit = CTS_PARTITION_LIMIT_TRAFFIC;
        answer->limit_s = time->link_s;
    }
    if (uneven_s > answer->limit_s) {
        answer->limit = CTS_PARTITION_LIMIT_UNEVEN;
        answer->limit_s = uneven_s;
    }
}

struct cts_partition_answer cts_partition_answer(const struct cts_partition *result,
                                                 const struct cts_catalogue *catalogue)
{
    struct cts_partition_answer answer = {.scale = recommend(result)};
    const struct cts_partition_scale *const scale = answer.scale;
    if (!scale || !(result->total.read_bytes | result->total.written_bytes)) return answer;
    find_limit(result, &answer);
    answer.verdict = scale->time.no_overlap_speedup < GAIN ? CTS_PARTITION_NO_GAIN
                     : !is_efficient(scale)                ? CTS_PARTITION_INEFFICIENT_GAIN
                     : scale->traffic_bytes                ? CTS_PARTITION_GAIN
                                                           : CTS_PARTITION_NO_TRAFFIC_GAIN;
    for (size_t i = 0; i < result->scale_count; i++) {
        const struct cts_partition_scale *const other = &result->scales[i];
        if (other->partition_count != scale->partition_count) continue;
        if (!answer.worst || other->traffic_bytes > answer.worst->traffic_bytes)
            answer.worst = other;
    }
    answer.mapping_matters =
        (double)answer.worst->traffic_bytes > MATTERS * (double)scale->traffic_bytes;
    answer.writes_dominate = scale->touch_remote_write_bytes > scale->touch_remote_read_bytes;
    if (!scale->traffic_bytes) return answer;
    answer.kernel = largest_of(scale->kernel_bytes, result->kernel_count);
    answer.kernel_bytes = scale->kernel_bytes[answer.kernel];
    answer.place = largest_of(scale->allocation_bytes, result->place_count);
    answer.place_bytes = scale->allocation_bytes[answer.place];
    answer.launch = largest_of(scale->launch_bytes, result->launch_count);
    answer.launch_bytes = scale->launch_bytes[answer.launch];
    find_reader(result, catalogue, &answer);
    return answer;
}
