/* The stretch that is being captured, for the files of `try` on the CPU device. */
#ifndef CTS_CPU_TRY_CAPTURE_H
#define CTS_CPU_TRY_CAPTURE_H

#include "record/try/try-memory.h"
#include "try-watch.h"

/* An operation as it can be executed again. */
struct cts_try_operation {
    struct cts_work work; /* owned clone, without staging */
    void *payload;        /* owned: what a copy from the host reads, packed */
    void *brought;        /* owned: what a copy to the host brought, packed */
    uint64_t payload_bytes;
    bool changed_late; /* the source changed between the call and the copy */
    struct cts_try_span span;
    struct cts_try_mark mark;
};

struct cts_try_capture {
    struct cts_stretch stretch; /* the operations at the same indices */
    struct cts_try_operation **operations;
    size_t operation_count, operation_capacity;
    struct cts_try_memory memory;
    uint64_t start_ns, last_return_ns;
    bool is_open;
    char refusal[400]; /* why it cannot be replayed; "": it can */
};

/* Launches, copies and memsets, waits of the process so far; names of all launches' kernels if they
 * are to be listed. */
struct cts_try_counts {
    uint32_t launches, copies, waits;
    bool lists_kernels;
    const char **kernels;
    size_t kernel_count, kernel_capacity;
};
extern struct cts_try_counts cts_try_counts; /* under the streams' lock */

/* All streams are idle. The memory is saved; what is asked for from now on belongs to the stretch.
 */
void cts_try_capture_open(uint64_t limit_bytes, const struct cts_try_device *device);
/* All streams are idle. The stretch is complete: regions, what is live, what was freed. */
struct cts_try_capture *cts_try_capture_close(void);
/* Frees it, and the memory that the program freed meanwhile. */
void cts_try_capture_release(void);

/* When the present call of the program began. */
void cts_try_note_call(uint64_t now_ns);

/* What is queued from now on belongs to a replay; NULL: to the program. With the streams' lock. */
void cts_try_set_replay_mark(struct cts_try_mark *mark);

/* For the watcher (try-watch.h). */
void cts_try_take(const struct cts_try_queued *queued, struct cts_trace *trace);
void cts_try_note_return(void);
void cts_try_waited_stream(const struct CUstream_st *stream);
void cts_try_waited_point(const struct cts_point *point);
void cts_try_waited_device(int device);
void cts_try_runs(const struct cts_work *work, const struct cts_try_mark *mark);
void cts_try_ran(const struct cts_work *work, const struct cts_trace *trace);
void cts_try_allocated(const struct cts_range *range);
bool cts_try_defers(const struct cts_range *range);

/* ---- try-replayer.c ---- */

extern const struct cts_try_device cts_try_cpu_device;
/* The operations that replays execute. */
void cts_try_replayer_use(struct cts_try_capture *capture);
void cts_try_replayer_release(void);
bool cts_try_takes_fault(const char *text);

#endif
