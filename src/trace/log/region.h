/* What makes two regions the same, to those who record them and to those who unite them. */
#ifndef CTS_TRACE_LOG_REGION_H
#define CTS_TRACE_LOG_REGION_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/hash.h"
#include "trace/timeline/timeline.h"

/* The same for the same regions, mixed up to the highest bits. */
static inline uint64_t cts_region_hash(const struct cts_timeline_region *r)
{
    uint64_t hash = cts_hash_text(CTS_HASH_START, r->name);
    hash = cts_hash_text(hash, r->canonical_name);
    hash = cts_hash_text(hash, r->file);
    hash ^= (uint64_t)r->begin_line << 32 | (uint32_t)(r->paradigm << 8 | r->role);
    return cts_hash(hash);
}

static inline bool cts_region_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static inline bool cts_region_is_same(const struct cts_timeline_region *a,
                                      const struct cts_timeline_region *b)
{
    return cts_region_same_text(a->name, b->name) &&
           cts_region_same_text(a->canonical_name, b->canonical_name) &&
           cts_region_same_text(a->file, b->file) && a->begin_line == b->begin_line &&
           a->end_line == b->end_line && a->paradigm == b->paradigm && a->role == b->role;
}

#endif
