#include <math.h>
#include <stdlib.h>

#include "analyze/communication/comm-model.h"
#include "common/search.h"

_Static_assert(sizeof(struct cts_comm_counts) % sizeof(uint64_t) == 0, "counts are words");
_Static_assert(offsetof(struct cts_comm_counts, shared_load_accesses) ==
                   CTS_COMM_FIELDS_PER_SPACE * sizeof(uint64_t),
               "the fields of a space follow one another");

const char *const cts_comm_field_names[CTS_COMM_FIELD_COUNT] = {
#define X(name) #name,
    CTS_COMM_FIELDS(X)
#undef X
};

uint64_t cts_comm_field(const struct cts_comm_counts *counts, size_t field)
{
    return ((const uint64_t *)counts)[field];
}

void cts_comm_counts_add(struct cts_comm_counts *sum, const struct cts_comm_counts *more)
{
    uint64_t *const to = (uint64_t *)sum;
    const uint64_t *const from = (const uint64_t *)more;
    for (size_t i = 0; i < CTS_COMM_FIELD_COUNT; i++) to[i] += from[i];
}

uint64_t cts_comm_ratio_written(const struct cts_comm_counts *counts)
{
    return counts->global_written_unique_bytes - counts->unseen_written_bytes;
}

uint64_t cts_comm_ratio_communicated(const struct cts_comm_counts *counts)
{
    return counts->communicated_out_bytes - counts->unseen_communicated_out_bytes;
}

void cts_comm_degree_add(struct cts_comm_degree *sum, const struct cts_comm_degree *more)
{
    if (!more->cta_count) return;
    if (!sum->cta_count || more->smallest < sum->smallest) sum->smallest = more->smallest;
    if (more->largest > sum->largest) sum->largest = more->largest;
    sum->cta_count += more->cta_count;
    sum->sum += more->sum;
    sum->sum_of_squares += more->sum_of_squares;
}

double cts_comm_degree_mean(const struct cts_comm_degree *degree)
{
    return degree->cta_count ? (double)degree->sum / (double)degree->cta_count : 0;
}

/* sqrt(n * sum of squares - sum^2) / n: exact up to the root. */
double cts_comm_degree_deviation(const struct cts_comm_degree *degree)
{
    if (!degree->cta_count) return 0;
    const unsigned __int128 spread =
        degree->sum_of_squares * degree->cta_count - (unsigned __int128)degree->sum * degree->sum;
    return sqrt((double)spread) / (double)degree->cta_count;
}

size_t cts_comm_launch_of(const struct cts_comm *result, uint32_t node, size_t *hint)
{
    const struct cts_comm_launch *const launches = result->launches;
    size_t low = *hint;
    if (low < result->launch_count && launches[low].first_node <= node &&
        (low + 1 == result->launch_count || node < launches[low + 1].first_node))
        return low;
    low = CTS_SEARCH(result->launch_count, i, launches[i].first_node <= node);
    if (low > 0) low--; /* the last launch that begins at or before the node */
    *hint = low;
    return low;
}

void cts_comm_release(struct cts_comm *result)
{
    free(result->launches);
    free(result->kernels);
    free(result->launch_pairs);
    free(result->kernel_pairs);
    free(result->transfer_sizes);
    free(result->in_degrees);
    free(result->out_degrees);
    free(result->top);
    free(result->transfers);
    free(result->ctas);
    free(result->distances);
    free(result->evolution);
    free(result->sites);
    free(result->allocations);
    free(result->allocation_pairs);
    free(result->device_pairs);
    free(result->sms);
    for (size_t i = 0; result->strides && i < result->stride_count; i++)
        for (unsigned kind = 0; kind < CTS_STRIDE_KIND_COUNT; kind++)
            free(result->strides[i].entries[kind]);
    free(result->strides);
    cts_comm_density_release(&result->density);
    *result = (struct cts_comm){0};
}
