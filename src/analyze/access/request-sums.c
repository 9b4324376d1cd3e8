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
#define X(name) sum->name += more->name;
    CTS_ACCESS_FIELDS(X)
#undef X
}

double cts_access_cost(const struct cts_access_counts *counts)
{
    return (double)counts->wavefronts + (double)counts->sectors / 4;
}

uint64_t *cts_access_requests_of(struct cts_access_counts *counts, enum cts_lane_layout layout)
{
    switch (layout) {
    case CTS_LAYOUT_UNIFORM:
        return &counts->uniform_requests;
    case CTS_LAYOUT_DENSE:
        return &counts->dense_requests;
    case CTS_LAYOUT_STRIDED:
        return &counts->strided_requests;
    case CTS_LAYOUT_TWO_LEVEL:
        return &counts->two_level_requests;
    case CTS_LAYOUT_IRREGULAR:
    case CTS_LAYOUT_COUNT:
        break;
    }
    return &counts->irregular_requests;
}
