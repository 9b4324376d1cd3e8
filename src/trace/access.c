/* The words of a memory access: texts, and the addresses that a pattern stands for. */
#include "trace/access.h"

static const char *const operation_texts[] = {
#define X(name, number, text) [number] = text,
    CTS_OPERATION_MAP(X)
#undef X
};

static const char *const barrier_texts[] = {
#define X(name, number, text) [number - CTS_BARRIER_FIRST] = text,
    CTS_BARRIER_MAP(X)
#undef X
};

static const char *const space_texts[] = {
#define X(name, number, text) [number] = text,
    CTS_SPACE_MAP(X)
#undef X
};

const char *cts_operation_text(unsigned operation)
{
    if (cts_operation_is_barrier(operation)) return barrier_texts[operation - CTS_BARRIER_FIRST];
    const char *const text =
        operation <= CTS_OPERATION_LAST ? operation_texts[operation] : (const char *)0;
    return text ? text : "?";
}

const char *cts_space_text(unsigned space)
{
    if (space == CTS_SPACE_BARRIER) return "barrier";
    const char *const text = space <= CTS_SPACE_LAST ? space_texts[space] : (const char *)0;
    return text ? text : "?";
}

/* Address arithmetic is modulo 2^64: a base extrapolated to lane 0 may lie below address 0. */
void cts_access_addresses(const struct cts_access *access, uint64_t addresses[CTS_WARP_LANES])
{
    const uint64_t s0 = (uint64_t)(int64_t)access->s0;
    const uint64_t s1 = (uint64_t)(int64_t)access->s1;
    unsigned nth = 0; /* among the active lanes */
    for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++) {
        if (!(access->mask >> lane & 1)) continue;
        uint64_t address = access->base;
        if (access->pattern == CTS_PATTERN_AFFINE)
            address += s0 * lane;
        else if (access->pattern == CTS_PATTERN_TWO_LEVEL)
            address += s0 * (lane % access->row_lanes) + s1 * (lane / access->row_lanes);
        else if (access->pattern == CTS_PATTERN_LIST)
            address += access->offsets[nth];
        addresses[lane] = address;
        nth++;
    }
}
