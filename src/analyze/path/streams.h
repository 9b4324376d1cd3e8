/* The devices of one process of the trace while their dependencies are found. */
#ifndef CTS_ANALYZE_PATH_STREAMS_H
#define CTS_ANALYZE_PATH_STREAMS_H

#include "analyze/path/api.h"
#include "analyze/path/graph.h"

/* A call of the device's API, by time over all threads of the process. */
struct cts_path_call {
    const struct cts_path_op *op;
    uint64_t deadline_ns;
    uint32_t location;
    uint32_t stream, activity; /* location and index of what it launched (the last of several) */
    bool inferred;             /* a launch that the trace does not hold */
};

struct cts_path_mark { /* work up to here, on one stream */
    uint32_t stream;   /* index in device->streams */
    uint32_t launched;
};

struct cts_path_marks {
    struct cts_path_mark *items;
    size_t count, capacity;
};

struct cts_path_stream {
    uint32_t location;
    uint32_t device;
    bool non_blocking;
    struct cts_path_stream *null; /* the null stream of its device, or NULL */
    uint64_t deadline_ns;
    uint32_t launched;  /* activities launched so far, in the order of calls */
    uint32_t passed;    /* activities before it have no known launch, or one that has been seen */
    uint32_t synced;    /* of them: known to the host as done */
    uint32_t null_seen; /* work of the null stream that the last launch here already follows */
    uint32_t seen_by_null;
    struct cts_path_marks held;   /* stream waits since the last launch */
    struct cts_path_marks beside; /* ends of the last graph launched here, on other streams */
    uint32_t parted;              /* activities that are known not to be of later graphs */
    uint32_t part_next, part_end; /* of the graph at hand: those that may not have ended yet */
    uint32_t part_ended;          /* of the graph at hand: the last one that had, + 1 */
    uint32_t failed;              /* chain of failed queries: index + 1 */
};

struct cts_path_device {
    struct cts_path_graph *graph;
    uint32_t process;
    struct cts_path_call *calls;
    size_t call_count;
    struct cts_path_op *inferred; /* of calls that are inferred */
    struct cts_path_op *placed;   /* of calls whose stream or event is inferred */
    struct cts_path_stream *streams;
    uint32_t stream_count;
    uint32_t *stream_index; /* per location - lowest: index + 1 */
    uint32_t lowest, highest;
};

/* The stream at a location of this process; NULL: none. */
static inline struct cts_path_stream *cts_path_stream_of(const struct cts_path_device *device,
                                                         uint32_t location)
{
    if (location < device->lowest || location > device->highest) return NULL;
    const uint32_t index = device->stream_index[location - device->lowest];
    return index ? &device->streams[index - 1] : NULL;
}

#endif
