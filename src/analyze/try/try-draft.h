/* A plan in the making: an entry for each operation of the stretch, in call order. */
#ifndef CTS_ANALYZE_TRY_DRAFT_H
#define CTS_ANALYZE_TRY_DRAFT_H

#include "analyze/try/try-plan.h"

struct cts_try_entry {
    bool is_dropped, host_waits, keeps_lane; /* it comes after the one before it in its lane */
    bool is_urgent, is_programmatic;
    uint32_t lane, times;
    uint64_t gap_ns, delay_ns;
    struct cts_try_list afters; /* operations */
};

struct cts_try_draft {
    const struct cts_try_plan_options *options;
    struct cts_try_entry *entries; /* by operation */
    uint32_t *order;               /* operations as they are asked for */
    uint32_t lane_count;
};

CTS_MUST_CHECK enum cts_status cts_try_draft_make(const struct cts_try_plan_options *options,
                                                  struct cts_try_draft *draft,
                                                  struct cts_error *error);
void cts_try_draft_release(struct cts_try_draft *draft);
CTS_MUST_CHECK enum cts_status cts_try_draft_add_after(struct cts_try_entry *entry, uint32_t op,
                                                       struct cts_error *error);
/* The operation before one in its lane; CTS_TRIAL_NONE: it is the first. */
uint32_t cts_try_draft_before(const struct cts_try_draft *draft, uint32_t op);
/* Steps, lanes and waits. */
CTS_MUST_CHECK enum cts_status cts_try_draft_write(const struct cts_try_draft *draft,
                                                   struct cts_trial_plan *plan,
                                                   struct cts_error *error);
/* try-lanes.c: orders the operations by data alone, in at most `lane_count` lanes; 0: as many as
 * that takes. */
CTS_MUST_CHECK enum cts_status cts_try_draft_schedule(struct cts_try_draft *draft,
                                                      uint32_t lane_count, struct cts_error *error);

#endif
