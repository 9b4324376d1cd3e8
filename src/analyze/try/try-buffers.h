/* Second buffers of allocations, and order by true dependences alone. */
#ifndef CTS_ANALYZE_TRY_BUFFERS_H
#define CTS_ANALYZE_TRY_BUFFERS_H

#include "analyze/try/try-plan.h"

struct cts_try_second_buffer {
    uint32_t region;
    uint32_t extra;        /* how many buffers are added */
    uint32_t first_buffer; /* number of the first of them in the plan */
};

/* An operation finds a region in a buffer of the plan instead. CTS_TRIAL_NONE: it is there at the
 * end. */
struct cts_try_placing {
    uint32_t op, region, buffer;
};
struct cts_try_placings {
    struct cts_try_placing *items;
    size_t count, capacity;
};

/* What second buffers make of a stretch. */
struct cts_try_renamed {
    struct cts_try_needs needs; /* the order that data then requires */
    struct cts_try_placings placings;
};
void cts_try_renamed_release(struct cts_try_renamed *renamed);

/* Gives a region more buffers: replaces renamed->needs by what follows from `needs`, which may be
 * they, and adds to renamed->placings. CTS_USAGE: it cannot be proved that the result stays the
 * same. */
CTS_MUST_CHECK enum cts_status cts_try_rename(const struct cts_stretch *stretch,
                                              const struct cts_try_needs *needs,
                                              const struct cts_try_second_buffer *wish,
                                              struct cts_try_renamed *renamed,
                                              struct cts_error *error);

/* CTS_USAGE where WAR or WAW order two operations that RAW does not order. */
CTS_MUST_CHECK enum cts_status cts_try_check_true_order(const struct cts_stretch *stretch,
                                                        const struct cts_try_needs *needs,
                                                        struct cts_error *error);

#endif
