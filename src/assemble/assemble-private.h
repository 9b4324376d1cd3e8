/* What the parts of assembling share: the processes as their logs tell, and the archive's
 * definitions made of them. */
#ifndef CTS_ASSEMBLE_ASSEMBLE_PRIVATE_H
#define CTS_ASSEMBLE_ASSEMBLE_PRIVATE_H

#include <stdatomic.h>

#include "common/array.h"
#include "common/map.h"
#include "assemble/assemble.h"
#include "assemble/log-read.h"
#include "trace/timeline/timeline.h"

struct cts_clock_reading {
    uint64_t local_ns;
    int64_t offset_ns;
};

/* A log of a location: K.log. */
struct cts_location_log {
    struct cts_log_header header;
    char *path;
    char *name;         /* of a thread, when it was given one */
    uint32_t location;  /* index in the archive's locations */
    uint32_t cuda_rank; /* of a stream: its rank in the process's CUDA communicator */
};

struct cts_local_communicator {
    uint32_t creator, number, parent_creator, parent_number;
    char *name;
    uint32_t *members; /* world ranks */
    uint32_t member_count;
    bool group;
    uint32_t global; /* index in the archive's communicators */
};

struct cts_local_window {
    uint32_t communicator; /* local number */
    char *name;
    uint32_t global;
};

#define CTS_LIST(type)                                                                             \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

struct cts_process_message {
    uint32_t level; /* 0 note, 1 warning, 2 error */
    char *text;
};
struct cts_process_device {
    uint32_t device;
    char *name;
    bool is_cpu; /* the CPU device, else a GPU */
};

struct cts_log_process {
    char *directory; /* rank-N/timeline */
    uint32_t catalogue_rank;
    uint32_t pid;
    uint64_t start_ns, unix_start_ns, finish_ns; /* finish 0: ended early */
    char *host, *boot, *program, *arguments;
    bool is_mpi;
    uint32_t mpi_rank, mpi_count;
    uint32_t group;  /* index in the archive's groups */
    uint32_t number; /* in its locations' references: the MPI rank, or one behind them */
    bool same_clock; /* as rank 0 */
    uint64_t lost_count;
    uint32_t number_limit; /* numbers of definitions are below: each takes a record */
    CTS_LIST(struct cts_clock_reading) clock;
    CTS_LIST(struct cts_timeline_region) regions; /* by local number; name NULL: not defined */
    CTS_LIST(uint32_t) region_map;
    CTS_LIST(struct cts_local_communicator) communicators;
    CTS_LIST(struct cts_local_window) windows;
    CTS_LIST(struct cts_location_log) logs;
    struct cts_map log_of_index; /* K -> index in logs + 1 */
    uint32_t cuda_window;        /* index in the archive's windows; NONE: no streams */
    CTS_LIST(struct cts_process_message) messages;
    CTS_LIST(struct cts_process_device) devices;
};

struct cts_assembler {
    const char *run_path;
    const struct cts_process_end *ends; /* what is known of how processes ended */
    size_t end_count;
    CTS_LIST(struct cts_log_process) processes;
    struct cts_timeline timeline; /* what is written */
    CTS_LIST(char *) texts;       /* that the timeline points to and nobody else owns */
    struct cts_location_source {  /* per location of the timeline */
        uint32_t process;         /* index in processes; NONE: a rank that left no log */
        uint32_t log;             /* index in its logs; NONE: no events */
    } *sources;
    size_t location_room; /* of `sources` and of the timeline's locations */
    struct cts_timeline_writer *writer;
    struct cts_clock_alignment clocks;
    _Atomic uint64_t event_count, moved_count, overlap_count, unmatched_count, unknown_count,
        damaged_count;
};

/* The process of `directory` (rank-N/timeline). */
CTS_MUST_CHECK enum cts_status cts_read_process(const char *directory, uint32_t rank,
                                                struct cts_log_process *process,
                                                struct cts_error *error);
void cts_log_process_release(struct cts_log_process *process);

/* Makes the archive's definitions of all processes. */
CTS_MUST_CHECK enum cts_status cts_unify(struct cts_assembler *assembler, struct cts_error *error);

/* Of an activity's record, zeros where it says none. */
void cts_activity_shape(const uint64_t *words, struct cts_timeline_shape *shape);
/* Aligns clocks that nothing else ties by the ends of collectives, behind their first settling. */
CTS_MUST_CHECK enum cts_status cts_align_clocks(struct cts_assembler *assembler,
                                                struct cts_error *error);

/* Finds the shapes of kernels: their first launches'. */
CTS_MUST_CHECK enum cts_status cts_find_shapes(struct cts_assembler *assembler,
                                               struct cts_error *error);

/* Names in the timeline's gaps what recorders failed to record and processes did not live to tell;
 * gives those that lack nothing their end. */
CTS_MUST_CHECK enum cts_status cts_assemble_judge(struct cts_assembler *assembler,
                                                  struct cts_error *error);
/* Likewise what the events showed, when all are written. */
void cts_assemble_judge_events(struct cts_assembler *assembler);

/* Local time to rank 0's, by the readings of the clocks. */
uint64_t cts_correct_time(const struct cts_log_process *process, uint64_t local_ns);

/* Writes all events of a location. */
CTS_MUST_CHECK enum cts_status cts_assemble_location(struct cts_assembler *assembler,
                                                     uint32_t location, struct cts_error *error);

/* ---- what a device did, in order of time ---- */

/* An activity or a copy as its record says it. */
struct cts_stream_item {
    uint64_t words[CTS_ACTIVITY_OF_COLLECTIVE];
    uint64_t ordinal; /* place in the log */
};
static inline uint64_t cts_item_start_ns(const struct cts_stream_item *item)
{
    return item->words[1];
}

struct cts_stream_visitor {
    enum cts_status (*visit)(void *state, const struct cts_stream_item *item,
                             struct cts_error *error);
    void *state;
};

/* Gives the items of a stream's log by start (then place in the log). Memory is bounded: a long log
 * that is not in order is sorted in parts, by way of a file that is deleted at once.
 * `items_in_memory` 0: the default. `*damage` is set when the log is cut short by damage. */
CTS_MUST_CHECK enum cts_status cts_sort_stream(const char *path, size_t items_in_memory,
                                               const struct cts_stream_visitor *visitor,
                                               bool *damage, struct cts_error *error);

#endif
