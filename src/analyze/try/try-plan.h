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
    X(ORDER, "order", "keeps the order that data requires, and no other")                          \
    X(STREAMS, "streams", "executes that in N streams")                                            \
    X(SERIAL, "serial", "executes one operation at a time")                                        \
    X(SECOND_BUFFER, "second-buffer", "writes an allocation's next content to memory of its own")  \
    X(GRAPH, "graph", "asks for what lies between two waits of the host as one graph")             \
    X(PRIORITY, "priority", "gives an operation's stream the highest priority")                    \
    X(PDL, "pdl", "lets a launch begin while the launch before it still runs")                     \
    X(CTA_ORDER, "cta-order", "begins the CTAs of launches in another order")

enum cts_try_change_kind {
#define X(name, word, does) CTS_TRY_##name,
    CTS_TRY_CHANGES(X)
#undef X
        CTS_TRY_CHANGE_KINDS
};

struct cts_try_change {
    enum cts_try_change_kind kind;
    uint32_t op, other;                        /* indices in the stretch; CTS_TRIAL_NONE: none */
    uint64_t delay_ns;                         /* DELAY */
    uint32_t streams;                          /* STREAMS */
    bool raw_only;                             /* ORDER */
    uint32_t region;                           /* SECOND_BUFFER: of the stretch */
    const struct cts_try_cta_order *cta_order; /* CTA_ORDER, of `op`, or of every launch */
};

/* What data requires, of operations of the stretch. */
struct cts_try_need {
    uint32_t from, to;
    uint32_t region; /* of the stretch; CTS_TRIAL_NONE: unknown */
    uint64_t raw_bytes, war_bytes, waw_bytes;
};
/* An operation uses a region. */
struct cts_try_touch {
    uint32_t op, region;
    bool writes;
};
/* What an operation finds in a region comes from an earlier one, or (CTS_TRIAL_NONE) from before
 * the stretch: RAW, possibly RAW, or atomics on the same bytes. */
struct cts_try_inflow {
    uint32_t from, to, region;
};
struct cts_try_needs {
    struct cts_try_need *items; /* by `to`, then `from`, then region */
    size_t count, capacity;
    struct cts_try_touches {
        struct cts_try_touch *items; /* by operation */
        size_t count, capacity;
    } touches;
    struct cts_try_inflows {
        struct cts_try_inflow *items;
        size_t count, capacity;
    } inflows;
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

void cts_try_needs_release(struct cts_try_needs *needs);

/* In which order the CTAs of a launch begin. */
enum cts_try_cta_order_kind {
    CTS_TRY_CTAS_ROW,     /* x first, then y, then z: as they are */
    CTS_TRY_CTAS_COLUMN,  /* y first */
    CTS_TRY_CTAS_ZORDER,  /* along a Z-order curve in x and y */
    CTS_TRY_CTAS_GROUPED, /* groups of rows; within a group y first */
    CTS_TRY_CTAS_LISTED,
};
struct cts_try_cta_order {
    enum cts_try_cta_order_kind kind;
    uint32_t group_rows; /* GROUPED */
    uint32_t *ctas;      /* LISTED: linear indices in the grid */
    uint32_t cta_count;
    const char *name; /* as the user wrote it */
};
/* try-cta-order.c: every CTA of the grid once; the caller frees *ctas. CTS_USAGE: the list does not
 * fit. */
CTS_MUST_CHECK enum cts_status cts_try_order_ctas(const struct cts_try_cta_order *order,
                                                  const uint32_t grid[3], uint32_t **ctas,
                                                  struct cts_error *error);

/* The plan of the stretch with the changes. CTS_USAGE: the changes make no sense for it, and why.
 */
CTS_MUST_CHECK enum cts_status cts_try_plan(const struct cts_try_plan_options *options,
                                            const struct cts_try_change *changes, size_t count,
                                            struct cts_trial_plan *plan, struct cts_error *error);

#endif
