/* One rank's events become the logs of a recorded process (trace/log/log-format.h), of which
 * src/assemble makes the archive as it does of recordings. Private to import/.
 *
 *   take:   events in the order of the file become items of fixed size, sorted on the disk; names
 *           become regions; correlation ids tell which stream a call works on
 *   write:  items in order become ENTER and LEAVE of threads, activities and copies of streams */
#ifndef CTS_IMPORT_KINETO_RANK_H
#define CTS_IMPORT_KINETO_RANK_H

#include "common/map.h"
#include "common/spill-sort.h"
#include "import/kineto-read.h"
#include "trace/log/log-format.h"

#define CTS_KINETO_LIST(type)                                                                      \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

/* What an event is, by its category. Of two on a thread with the same times the first in this list
 * is the outer one. */
enum cts_kineto_class {
    CTS_KINETO_PYTHON,
    CTS_KINETO_ANNOTATION,
    CTS_KINETO_OPERATOR,
    CTS_KINETO_RUNTIME,
    CTS_KINETO_DRIVER,
    CTS_KINETO_KERNEL, /* from here on of devices */
    CTS_KINETO_COPY,
    CTS_KINETO_MEMSET,
    CTS_KINETO_SYNC,
    CTS_KINETO_GPU_ANNOTATION,
    CTS_KINETO_SPAN, /* the profiler's own: Trace, overhead */
    CTS_KINETO_UNKNOWN,
    CTS_KINETO_CLASS_COUNT
};

struct cts_kineto_track { /* a thread of the host */
    char *key;            /* "pid/tid" */
    uint64_t pid, tid;
    uint64_t items, calls; /* calls: of the runtime and the driver */
};

struct cts_kineto_stream {
    uint32_t device, number;
};

struct cts_kineto_region {
    char *key;                          /* class, name and canonical name: how it is found */
    char *name, *canonical_name, *file; /* the last two may be NULL */
    uint32_t line;
    enum cts_kineto_class class;
};

struct cts_kineto_collective {
    uint64_t communicator, bytes;
};

/* A call with the correlation is there. */
#define CTS_KINETO_LAUNCHED (UINT64_C(1) << 63)

struct cts_kineto_rank {
    struct cts_spill_sort host, device;
    uint64_t ordinal;
    struct cts_text_map track_of_key, region_of_key, name_of_key, count_of_category;
    CTS_KINETO_LIST(struct cts_kineto_track) tracks;
    CTS_KINETO_LIST(struct cts_kineto_stream) streams;
    CTS_KINETO_LIST(struct cts_kineto_region) regions;
    CTS_KINETO_LIST(struct cts_kineto_collective) collectives;
    CTS_KINETO_LIST(char *) names; /* texts that maps point to */
    CTS_KINETO_LIST(char) scratch;
    struct cts_map stream_of_number; /* device and stream -> index + 1 */
    struct cts_map work;             /* correlation -> stream's index + 1, and LAUNCHED */
    struct cts_map waited;           /* correlation of a call -> that of its event's record */
    uint64_t first_ns, last_ns;      /* of the items; first > last: there are none */
    uint64_t event_count;            /* in the file */
    uint64_t counts[CTS_KINETO_CLASS_COUNT];
    uint64_t flows, memory_events;
    uint64_t waits_without_record; /* for an event, whose record is not said */
    uint64_t waits_unplaced;       /* calls that wait for a stream or an event that is not said */
    uint64_t launched;             /* device work whose call is there: known after writing */
    uint64_t untimed, unknown_phases, unplaced; /* left out */
    uint64_t clipped, clipped_most_ns;          /* nesting that was mended */
    char *program;
    uint32_t pid;
};

/* `spill_paths`: of the files for items of threads and of devices; borrowed until release. */
void cts_kineto_rank_begin(struct cts_kineto_rank *rank, const char *const spill_paths[2]);
/* A cts_kineto_take; `state` is the rank. */
enum cts_status cts_kineto_rank_take(void *state, const struct cts_kineto_event *event,
                                     struct cts_error *error);
void cts_kineto_rank_release(struct cts_kineto_rank *rank);

/* A text for the run's messages: severity 0 note, 1 warning, 2 error (what is lost makes results
 * lower bounds). */
struct cts_kineto_message {
    unsigned severity;
    char *text;
};

struct cts_kineto_destination {
    const char *directory; /* of logs; exists */
    const struct cts_kineto_file *file;
    const struct cts_kineto_message *messages;
    size_t message_count;
};
/* Writes the logs of threads and streams; once. Then the rank knows what did not fit together. */
CTS_MUST_CHECK enum cts_status cts_kineto_rank_write(struct cts_kineto_rank *rank,
                                                     const struct cts_kineto_destination *to,
                                                     struct cts_error *error);
/* Writes the log of definitions, after that. */
CTS_MUST_CHECK enum cts_status cts_kineto_rank_define(struct cts_kineto_rank *rank,
                                                      const struct cts_kineto_destination *to,
                                                      struct cts_error *error);

/* ---- shared by both halves ---- */

struct cts_kineto_host_item {
    uint64_t start_ns, end_ns;
    uint64_t order; /* class in the upper byte, place in the file */
    uint64_t correlation;
    uint32_t track, region;
    uint32_t collective; /* index + 1; 0: none */
    uint32_t lost_ns;    /* of its beginning, to an event that it overlaps (kineto-write.c) */
};

/* The order of two such items, for sorting: by thread and start; of two that begin together the
 * longer one is the outer. */
int cts_kineto_by_nesting(const void *left, const void *right);

struct cts_kineto_device_item {
    uint64_t start_ns, end_ns, order, correlation, bytes;
    uint32_t stream, region; /* region: of a copy enum cts_recorder_copy_kind */
    uint32_t is_copy, has_shape;
    uint32_t grid[3], block[3], registers, shared_bytes;
};

#endif
