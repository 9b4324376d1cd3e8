/* A recording of the program (of memory), next to a stretch of another execution of it: which rows
 * are operations of the stretch, and what data requires of them. */
#ifndef CTS_ANALYZE_TRY_MATCH_H
#define CTS_ANALYZE_TRY_MATCH_H

#include "analyze/flow/flow.h"
#include "analyze/try/try-plan.h"

struct cts_try_match {
    const struct cts_flow_result *flow;
    const struct cts_stretch *stretch;
    uint32_t *op_of_node;           /* by node of the flow; CTS_TRIAL_NONE: not in the stretch */
    uint32_t *op_of_sync;           /* by synchronisation of the catalogue */
    uint32_t *region_of_allocation; /* by allocation of the catalogue; CTS_TRIAL_NONE: none */
};

/* `allocation` may be CTS_NONE, or the count of allocations. */
static inline uint32_t cts_try_region_of(const struct cts_try_match *match, uint32_t allocation)
{
    return allocation < match->flow->catalogue->allocation_count
               ? match->region_of_allocation[allocation]
               : CTS_TRIAL_NONE;
}

/* Launches and copies are matched by their numbers, and must have the same kernel, grid and block,
 * or kind and size: CTS_USAGE names the first that has not. Flow and stretch must outlive it. */
CTS_MUST_CHECK enum cts_status cts_try_match_make(const struct cts_flow_result *flow,
                                                  const struct cts_stretch *stretch,
                                                  struct cts_try_match *match,
                                                  struct cts_error *error);
void cts_try_match_release(struct cts_try_match *match);

/* RAW, WAR and WAW between operations of the stretch. The caller releases the needs. */
CTS_MUST_CHECK enum cts_status cts_try_needs_make(const struct cts_try_match *match,
                                                  struct cts_try_needs *needs,
                                                  struct cts_error *error);

/* Bytes that each operation reads and writes, as the recording has them; the caller frees them.
 * NULL: no memory. */
uint64_t *cts_try_bytes_of(const struct cts_try_match *match, struct cts_error *error);

struct cts_try_ranges {
    struct cts_trial_range *items; /* ascending, apart */
    size_t count, capacity;
};
/* Device memory of the stretch that nothing in the recording reads after it. Empty where the
 * recording does not know: it is incomplete. The caller frees dead->items. */
CTS_MUST_CHECK enum cts_status cts_try_dead_make(const struct cts_try_match *match,
                                                 struct cts_try_ranges *dead,
                                                 struct cts_error *error);

/* Findings of one kind about the same kernels or copies, as `flow` groups them. */
struct cts_try_finding {
    size_t finding;                 /* the first, of flow->findings */
    uint32_t times;                 /* in the stretch; 0: none of them lies in it */
    const char *untried;            /* why it is not tried; NULL: it is */
    struct cts_try_change *changes; /* owned */
    size_t change_count, change_capacity;
};
struct cts_try_findings {
    struct cts_try_finding *items;
    size_t count, capacity;
};

/* The findings of a flow (made with `each`), with the changes that try them. `delay_ns`: for races.
 */
CTS_MUST_CHECK enum cts_status cts_try_findings_make(const struct cts_try_match *match,
                                                     uint64_t delay_ns,
                                                     struct cts_try_findings *findings,
                                                     struct cts_error *error);
void cts_try_findings_release(struct cts_try_findings *findings);

#endif
