/* What the numbers mean for somebody who has to decide. */
#include "analyze/partition/partition.h"

/* A speed-up below this is no gain; a mapping with traffic beyond this matters. */
#define GAIN    1.05
#define MATTERS 1.05
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

static const struct cts_partition_scale *recommend(const struct cts_partition *result)
{
    double best = 0;
    for (size_t i = 0; i < result->scale_count; i++)
        if (result->scales[i].time.no_overlap_speedup > best)
            best = result->scales[i].time.no_overlap_speedup;
    const struct cts_partition_scale *chosen = NULL;
    for (size_t i = 0; i < result->scale_count; i++) {
        const struct cts_partition_scale *const scale = &result->scales[i];
        if (scale->partition_count < 2 || scale->time.no_overlap_speedup < best * ENOUGH) continue;
        if (!chosen || scale->partition_count < chosen->partition_count ||
            (scale->partition_count == chosen->partition_count && is_better(scale, chosen)))
            chosen = scale;
    }
    for (size_t i = 0; !chosen && i < result->scale_count; i++) chosen = &result->scales[i];
    return chosen;
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

struct cts_partition_answer cts_partition_answer(const struct cts_partition *result,
                                                 const struct cts_catalogue *catalogue)
{
    struct cts_partition_answer answer = {.scale = recommend(result)};
    const struct cts_partition_scale *const scale = answer.scale;
    if (!scale || !(result->total.read_bytes | result->total.written_bytes)) return answer;
    answer.verdict = scale->time.no_overlap_speedup < GAIN ? CTS_PARTITION_NO_GAIN
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
