/* Plans of a stretch (trace/trial/trial.h): unchanged, and with changes. docs/try.md defines what
 * each change does. */
#ifndef CTS_ANALYZE_TRY_PLAN_H
#define CTS_ANALYZE_TRY_PLAN_H

#include "trace/trial/trial.h"

/* Name of the option, what it takes, and what it does. */
#define CTS_TRY_CHANGES(X)                                                                         \
    X(DROP, "drop", "leaves an operation out")                                                     \
    X(REPEAT, "repeat", "executes an operation twice")                                             \
    X(DELAY, "delay", "lets an operation begin later")                                             \
    X(SWAP, "swap", "executes two operations in each other's place")                               \
    X(OVERLAP, "overlap", "lets the second operation begin before the first has ended")            \
    X(COPY_AWAY, "copy-away", "leaves a copy out; who reads its copy reads the source")            \
    X(NO_SYNC, "no-sync", "leaves out every wait of the host in a call that synchronises")         \
    X(ORDER_NEEDED, "order", "keeps the order that data requires, and no other")                   \
    X(STREAMS, "streams", "executes that in N streams")                                            \
    X(SERIAL, "serial", "executes one operation at a time")

enum cts_try_change_kind {
#define X(name, word, does) CTS_TRY_##name,
    CTS_TRY_CHANGES(X)
#undef X
        CTS_TRY_CHANGE_KINDS
};

struct cts_try_change {
    enum cts_try_change_kind kind;
    uint32_t op, other; /* indices in the stretch; CTS_TRIAL_NONE: none */
    uint64_t delay_ns;  /* DELAY */
    uint32_t streams;   /* STREAMS */
};

/* What data requires, of operations of the stretch. */
struct cts_try_need {
    uint32_t from, to;
    uint64_t raw_bytes, war_bytes, waw_bytes;
};
struct cts_try_needs {
    struct cts_try_need *items; /* by `to` */
    size_t count, capacity;
    bool are_known;      /* false: no recording */
    const char *unknown; /* why data's order is not known; NULL: it is */
};

/* Operations. */
struct cts_try_list {
    uint32_t *items;
    size_t count, capacity;
};

struct cts_try_plan_options {
    const struct cts_stretch *stretch;
    const struct cts_try_needs *needs;
    const struct cts_trial_range *dead; /* ascending, apart: nobody reads it after the stretch */
    size_t dead_count;
    const uint64_t *duration_ns; /* by operation; NULL: all alike */
    bool keeps_gaps;             /* --pace recorded */
    uint32_t repeats;
};

/* The plan of the stretch with the changes. CTS_USAGE: the changes make no sense for it, and why.
 */
CTS_MUST_CHECK enum cts_status cts_try_plan(const struct cts_try_plan_options *options,
                                            const struct cts_try_change *changes, size_t count,
                                            struct cts_trial_plan *plan, struct cts_error *error);

#endif
