/* Sums of requests: their fields, by name and by number. */
#include <string.h>

#include "analyze/access/access.h"

const char *const cts_access_field_names[CTS_ACCESS_FIELD_COUNT] = {
#define X(name) #name,
    CTS_ACCESS_FIELDS(X)
#undef X
};

uint64_t cts_access_field(const struct cts_access_counts *counts, size_t field)
{
    uint64_t value;
    memcpy(&value, (const char *)counts + field * sizeof value, sizeof value);
    return value;
}

void cts_access_counts_add(struct cts_access_counts *sum, const struct cts_access_counts *more)
{
    uint64_t *const fields = &sum->requests;
    for (size_t i = 0; i < CTS_ACCESS_FIELD_COUNT; i++) fields[i] += cts_access_field(more, i);
}

double cts_access_cost(const struct cts_access_counts *counts)
{
    return (double)counts->wavefronts + (double)counts->sectors / 4;
}
