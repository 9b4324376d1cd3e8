/* Sums of requests: their fields, by name and by number. */
#include <string.h>

#include "analyze/access/access-analysis.h"

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

const char *cts_access_system_text(enum cts_access_system system)
{
    static const char *const texts[] = {
#define X(name, text) text,
        CTS_ACCESS_SYSTEMS(X)
#undef X
    };
    return system < CTS_SYSTEM_COUNT ? texts[system] : "?";
}

double cts_access_load(const struct cts_access_counts *counts, enum cts_access_system system)
{
    switch (system) {
    case CTS_SYSTEM_SECTORS:
    case CTS_SYSTEM_L1:
        return (double)counts->sectors;
    case CTS_SYSTEM_WAVEFRONTS:
        return (double)counts->wavefronts;
    default:
        return (double)counts->atomic_requests + (double)counts->same_address_lanes;
    }
}

double cts_access_cycles(enum cts_access_system system)
{
    return system == CTS_SYSTEM_SECTORS ? 1.7 : system == CTS_SYSTEM_L1 ? 0.25 : 1;
}

double cts_access_cost(const struct cts_access_counts *counts)
{
    double cost = 0;
    for (enum cts_access_system s = 0; s <= CTS_SYSTEM_UPDATES; s++)
        cost += cts_access_load(counts, s) * cts_access_cycles(s);
    return cost;
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
