/* What the activities of one graph launch follow, on several streams. */
#ifndef CTS_ANALYZE_PATH_GRAPH_BRANCHES_H
#define CTS_ANALYZE_PATH_GRAPH_BRANCHES_H

#include "analyze/path/streams.h"

struct cts_path_part { /* an activity of the launch */
    uint64_t begin_ns, end_ns;
    uint32_t stream, activity; /* stream: index in device->streams */
};

struct cts_path_parts {
    struct cts_path_part *items; /* by begin */
    size_t count, capacity;
    uint32_t stream_count;        /* on how many streams they run */
    struct cts_path_marks before; /* what the launch itself follows: the caller's */
};

/* Lists the activities of a graph launch. Calls must come in the order of time. */
CTS_MUST_CHECK enum cts_status cts_path_graph_parts(struct cts_path_device *device,
                                                    const struct cts_path_call *call,
                                                    struct cts_path_parts *parts,
                                                    struct cts_error *error);
/* Adds what a part follows on other streams, if it waited for that; nothing if the part before it
 * on its own stream, or its launch, explains when it began. */
CTS_MUST_CHECK enum cts_status cts_path_part_follows(struct cts_path_device *device,
                                                     const struct cts_path_parts *parts,
                                                     size_t index, struct cts_path_marks *marks,
                                                     struct cts_error *error);

#endif
