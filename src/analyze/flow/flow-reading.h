/* Reading the records of launches of the catalogue, one launch after the other. */
#ifndef CTS_FLOW_READING_H
#define CTS_FLOW_READING_H

#include <stddef.h>

#include "analyze/access-source.h"
#include "analyze/walk.h"
#include "common/error.h"
#include "common/progress.h"
#include "trace/catalogue.h"

struct cts_flow_touch_options {
    const struct cts_catalogue *catalogue; /* borrowed, as the source */
    const struct cts_access_source *source;
    unsigned threads;              /* 0: one for each processor */
    size_t runs_at_a_time;         /* of bytes, to map a pair: flow-map.h */
    struct cts_progress *progress; /* NULL: none */
};

struct cts_flow_reading {
    struct cts_flow_touch_options options;
    struct cts_walk_sites sites;
    struct cts_walk *walk; /* memory and threads, kept from launch to launch */
};

/* The caller releases the reading, also after a failure. */
CTS_MUST_CHECK enum cts_status cts_flow_reading_begin(struct cts_flow_reading *reading,
                                                      const struct cts_flow_touch_options *options,
                                                      const struct cts_walk_ops *ops,
                                                      struct cts_error *error);
void cts_flow_reading_release(struct cts_flow_reading *reading);

/* Walks the records of a launch (index in the catalogue), if it has any; `state` is for the ops. */
CTS_MUST_CHECK enum cts_status cts_flow_read(struct cts_flow_reading *reading, size_t launch,
                                             void *state, struct cts_error *error);

#endif
