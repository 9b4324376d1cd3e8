/* Memory that was freed, and what preceded the frees: those who get the memory next follow them. */
#ifndef CTS_FLOW_FREED_H
#define CTS_FLOW_FREED_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct cts_flow_freed {
    struct cts_freed_stretch {
        uint64_t start, end;
        uint32_t *clock;
    } *items; /* ascending, disjoint */
    size_t count, capacity;
    uint32_t width; /* of a clock; set before use */
};

/* What is freed in [start, end) is one stretch with a copy of `clock`. */
CTS_MUST_CHECK enum cts_status cts_flow_freed_set(struct cts_flow_freed *freed, uint64_t start,
                                                  uint64_t end, const uint32_t *clock,
                                                  struct cts_error *error);
/* `clock` joins what preceded the frees in [start, end). */
void cts_flow_freed_join(const struct cts_flow_freed *freed, uint64_t start, uint64_t end,
                         uint32_t *clock);
void cts_flow_freed_release(struct cts_flow_freed *freed);

#endif
