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
#include "import/profile-event.h"
#include "trace/log/log-format.h"

#define CTS_PROFILE_LIST(type)                                                                     \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

/* What an event is, by its category. Of two on a thread with the same times the first in this list
 * is the outer one. */
enum cts_profile_class {
    CTS_PROFILE_PYTHON,
    CTS_PROFILE_ANNOTATION,
    CTS_PROFILE_OPERATOR,
    CTS_PROFILE_RUNTIME,
    CTS_PROFILE_DRIVER,
    CTS_PROFILE_SYSTEM, /* calls of the operating system's libraries */
    CTS_PROFILE_KERNEL, /* from here on of devices */
    CTS_PROFILE_COPY,
    CTS_PROFILE_MEMSET,
    CTS_PROFILE_SYNC,
    CTS_PROFILE_GPU_ANNOTATION,
    CTS_PROFILE_SPAN, /* the profiler's own: Trace, overhead */
    CTS_PROFILE_UNKNOWN,
    CTS_PROFILE_CLASS_COUNT
};

struct cts_profile_track { /* a thread of the host */
    char *key;             /* "pid/tid" */
    uint64_t pid, tid;
    uint64_t items, calls; /* calls: of the runtime and the driver */
};

struct cts_profile_stream {
    uint32_t device, number;
    bool has_flags; /* otherwise stream 7 is the null stream, and the others are non-blocking */
    uint32_t flags; /* CTS_LOG_NULL_STREAM, CTS_LOG_NON_BLOCKING */
};

struct cts_profile_region {
    char *key;                          /* class, name and canonical name: how it is found */
    char *name, *canonical_name, *file; /* the last two may be NULL */
    uint32_t line;
    enum cts_profile_class class;
};

/* What an operator or a kernel says of its collective. */
struct cts_profile_collective {
    uint64_t group; /* a number of the process group, alike on all ranks; 0: not of all members */
    uint64_t bytes;
    int64_t sequence; /* negative: not said */
    int64_t peer;     /* of a send or receive: the other rank; negative: not said */
    uint32_t members; /* of the group; 0: not said */
    bool is_send, is_receive;
};

/* A call with the correlation is there. */
#define CTS_PROFILE_LAUNCHED (UINT64_C(1) << 63)

struct cts_profile_rank {
    struct cts_spill_sort host, device;
    uint64_t ordinal;
    struct cts_text_map track_of_key, region_of_key, name_of_key, count_of_category;
    CTS_PROFILE_LIST(struct cts_profile_track) tracks;
    CTS_PROFILE_LIST(struct cts_profile_stream) streams;
    CTS_PROFILE_LIST(struct cts_profile_region) regions;
    CTS_PROFILE_LIST(struct cts_profile_collective) collectives;
    CTS_PROFILE_LIST(char *) names; /* texts that maps point to */
    CTS_PROFILE_LIST(char) scratch;
    struct cts_map stream_of_number; /* device and stream -> index + 1 */
    struct cts_map work;             /* correlation -> stream's index + 1, and LAUNCHED */
    struct cts_map waited;           /* correlation of a call -> that of its event's record */
    uint64_t first_ns, last_ns;      /* of the items; first > last: there are none */
    uint64_t event_count;            /* in the file */
    uint64_t counts[CTS_PROFILE_CLASS_COUNT];
    uint64_t flows, memory_events;
    uint64_t waits_without_record; /* for an event, whose record is not said */
    uint64_t waits_unplaced;       /* calls that wait for a stream or an event that is not said */
    uint64_t launched;             /* device work whose call is there: known after writing */
    uint64_t untimed, unknown_phases, unplaced; /* left out */
    uint64_t clipped, clipped_most_ns;          /* nesting that was mended */
    uint32_t pid;
};

/* `spill_paths`: of the files for items of threads and of devices; borrowed until release. */
void cts_profile_rank_begin(struct cts_profile_rank *rank, const char *const spill_paths[2]);
/* A cts_profile_take; `state` is the rank. */
enum cts_status cts_profile_rank_take(void *state, const struct cts_profile_event *event,
                                      struct cts_error *error);
void cts_profile_rank_release(struct cts_profile_rank *rank);

/* A text for the run's messages: severity 0 note, 1 warning, 2 error (what is lost makes results
 * lower bounds). */
struct cts_profile_message {
    unsigned severity;
    char *text;
};

struct cts_profile_destination {
    const char *directory; /* of logs; exists */
    const struct cts_profile_file *file;
    const struct cts_profile_message *messages;
    size_t message_count;
};
/* Writes the logs of threads and streams; once. Then the rank knows what did not fit together. */
CTS_MUST_CHECK enum cts_status cts_profile_rank_write(struct cts_profile_rank *rank,
                                                      const struct cts_profile_destination *to,
                                                      struct cts_error *error);
/* Writes the log of definitions, after that. */
CTS_MUST_CHECK enum cts_status cts_profile_rank_define(struct cts_profile_rank *rank,
                                                       const struct cts_profile_destination *to,
                                                       struct cts_error *error);

/* ---- shared by both halves ---- */

struct cts_profile_host_item {
    uint64_t start_ns, end_ns;
    uint64_t order; /* class in the upper byte, place in the file */
    uint64_t correlation;
    uint32_t track, region;
    uint32_t collective; /* index + 1; 0: none */
    uint32_t lost_ns;    /* of its beginning, to an event that it overlaps (profile-write.c) */
};

/* The order of two such items, for sorting: by thread and start; of two that begin together the
 * longer one is the outer. */
int cts_profile_by_nesting(const void *left, const void *right);

struct cts_profile_device_item {
    uint64_t start_ns, end_ns, order, correlation, bytes;
    uint32_t stream, region; /* region: of a copy enum cts_recorder_copy_kind */
    uint32_t is_copy, has_shape;
    uint32_t grid[3], block[3], registers, shared_bytes;
    uint32_t collective; /* index + 1; 0: none */
};

#endif
