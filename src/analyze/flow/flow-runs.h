/* The runs of bytes that the CTAs of two launches load and store, in windows of addresses: as many
 * runs as fit into memory at a time. */
#ifndef CTS_FLOW_RUNS_H
#define CTS_FLOW_RUNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "analyze/flow/flow-touch.h"

struct cts_flow_runs {
    struct cts_flow_cta_run *items; /* by start, then CTA */
    size_t count, capacity;
};

/* What a launch's CTAs touch in the window. */
struct cts_flow_side {
    struct cts_flow_runs loads, stores;
};

/* Gets both launches' runs of a window. *done: no more windows are wanted. */
typedef enum cts_status (*cts_flow_take_window)(void *state, const struct cts_flow_side sides[2],
                                                bool *done, struct cts_error *error);

struct cts_flow_windows {
    struct cts_flow_toucher *toucher;
    size_t launches[2]; /* indices in the catalogue */
    size_t at_a_time;   /* of about how many runs a window may consist */
    bool is_too_much;   /* result: there are more than 64 windows; nothing was handed out */
};

/* Reads two launches and hands out their runs window by window, in ascending order; a page of 4 KiB
 * lies in one window. */
CTS_MUST_CHECK enum cts_status cts_flow_each_window(struct cts_flow_windows *windows,
                                                    cts_flow_take_window take, void *state,
                                                    struct cts_error *error);

#endif
