/* The timeline recorder of one process: what libctascope_timeline.so exports to the recorders that
 * see activities (the CPU device's runtime, CUPTI, the wrappers of MPI and NCCL, NVTX, user code).
 *
 * All of them write through this one library, so that a thread is one location, whoever saw what it
 * did. An event is a few words stored into the location's own log, a file that is mapped
 * (rank-N/timeline/K.log in the run directory): no lock, no system call but one per segment, and
 * nothing is lost when the process is killed. Room is allocated on the disk before it is written
 * to: a full disk ends the recording with one message, not the program. `ctascope record` makes the
 * OTF2 archive from the logs when the program has ended (assemble.h) and removes them.
 *
 * Recorders that cannot link this library (libctascope_cpu.so) load it when CTASCOPE_TIMELINE says
 * so, and take the table by the symbol `cts_recorder_get`. Strings are copied. Every function
 * returns at once, harmlessly, while the recorder is off; none prints, exits or sets errno. */
#ifndef CTS_RECORD_TIMELINE_RECORDER_H
#define CTS_RECORD_TIMELINE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/log/log-format.h"
#include "trace/timeline/timeline.h"

struct cts_log; /* of one location */

/* What a stream is known by: `context` and `stream` are any numbers that are unique in the process
 * while the stream lives (CUPTI's context id and stream id; the CPU device's own). */
struct cts_recorder_stream {
    uint32_t device;
    uint64_t context, stream;
    uint32_t ordinal; /* shown in its name, CUDA[device:ordinal]; NONE: the recorder counts */
    bool null_stream, non_blocking;
};

/* A communicator is known in all processes by (creator, number): the world rank of its rank 0 and a
 * count kept there. World is (0, 0), self (rank, 1). `members`: world ranks; needed from one
 * process at least. */
struct cts_recorder_communicator {
    uint32_t creator, number;
    uint32_t parent_creator, parent_number; /* NONE, 0: no parent */
    const char *name;                       /* NULL: none */
    const uint32_t *members;
    uint32_t member_count;
    bool group; /* only a group, which posts and starts of windows name: `number` is any that the
                   process gives its groups; the same members are the same group everywhere */
};

/* Something that a device did: becomes ENTER and LEAVE on the stream. Given when it is known, in
 * any order; the archive is in order. */
struct cts_recorder_activity {
    uint64_t start_ns, end_ns; /* host time */
    uint32_t region;
    uint32_t present; /* bits of enum cts_attribute; the values are below */
    uint64_t correlation;
    uint32_t grid[3], block[3], registers, static_shared, dynamic_shared;
};

/* A copy on a stream: RMA_GET (to the device) or RMA_PUT (to the host) and its completion. */
struct cts_recorder_copy {
    uint64_t start_ns, end_ns, bytes, correlation;
    enum cts_recorder_copy_kind kind;
    struct cts_log *source; /* of peer copies: a stream of the source's device; else NULL */
};

struct cts_recorder {
    uint32_t version; /* CTS_RECORDER_VERSION */

    /* Whether a timeline is recorded; the first call of a process opens it. After fork() the child
     * records as a process of its own. */
    bool (*is_on)(void);
    /* Whether it has been opened, and is on: asking opens nothing. */
    bool (*is_open)(void);
    uint64_t (*now_ns)(void); /* CLOCK_MONOTONIC */

    /* Definitions. Regions are interned: the same one gives the same number. Keep it. */
    uint32_t (*region)(const struct cts_timeline_region *region);
    struct cts_log *(*this_thread)(void); /* NULL while off */
    void (*name_thread)(const char *name);
    /* Calls `begun` in each thread from now on, before the first event in its log. One at a time.
     */
    void (*on_thread)(void (*begun)(struct cts_log *thread));
    struct cts_log *(*stream)(const struct cts_recorder_stream *stream);
    void (*stream_destroyed)(struct cts_log *stream); /* its numbers may be used again */
    void (*device)(uint32_t device, const char *name, const char *kind); /* "cpu" or "gpu" */
    /* Returns the number by which this process's events name the communicator; defining it again
     * (with members, when they are known) gives the same one. Likewise a window. */
    uint32_t (*communicator)(const struct cts_recorder_communicator *communicator);
    uint32_t (*window)(uint32_t communicator, const char *name);

    /* Events of this thread. `event->time_ns` 0: now. Region of ENTER and LEAVE: as region() gave
     * it; communicators and windows by the numbers that communicator() and window() gave. Attribute
     * STREAM_REF: the value is the stream's `struct cts_log *`. */
    void (*enter)(struct cts_log *thread, uint32_t region);
    void (*leave)(struct cts_log *thread, uint32_t region);
    void (*event)(struct cts_log *thread, const struct cts_timeline_event *event,
                  const struct cts_event_attributes *attributes);

    /* Events of a device, from any thread, in any order. */
    void (*activity)(struct cts_log *stream, const struct cts_recorder_activity *activity);
    void (*copy)(struct cts_log *stream, const struct cts_recorder_copy *copy);

    /* MPI. The process is rank `rank` of `count`. A reading of the clocks: at local time `local_ns`
     * rank 0's clock stood at local_ns + offset_ns. Readings of processes on rank 0's machine (same
     * boot) are not needed: their clock is the same. */
    void (*mpi)(uint32_t rank, uint32_t count);
    void (*clock_reading)(uint64_t local_ns, int64_t offset_ns);

    /* Something was lost (records that CUPTI dropped, ...): counted under its name and told. */
    void (*lost)(const char *what, uint64_t count);
    /* One line for the run's messages; severity "note", "warning" or "error". */
    void (*message)(const char *severity, const char *text);

    /* The process ends in an orderly way: logs are cut to their length. Later calls do nothing. */
    void (*finish)(void);
};
enum { CTS_RECORDER_VERSION = 4 };

/* The process's recorder; never NULL. */
const struct cts_recorder *cts_recorder_get(void);

#endif
