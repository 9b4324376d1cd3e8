/* `ctascope try` on the CPU device: what the runtime tells of its works, so that a stretch of the
 * program can be executed again. Off (CTASCOPE_TRY is not set), each call is one predicted branch.
 *
 * The stretch opens and closes inside calls of the program, where no lock is held. While it opens,
 * and while its replays run, other host threads wait at their next call. */
#ifndef CTS_CPU_TRY_WATCH_H
#define CTS_CPU_TRY_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "range.h"
#include "record/try/try-device.h"
#include "stream.h"
#include "work.h"

enum cts_try_phase {
    CTS_TRY_OFF,     /* not asked for, or over */
    CTS_TRY_WAITING, /* for the stretch's begin */
    CTS_TRY_OPEN,
    CTS_TRY_BUSY, /* one host thread opens, closes or replays; others wait */
};
extern _Atomic int cts_try_phase;

static inline bool cts_try_is_on(void)
{
    return __builtin_expect(
        atomic_load_explicit(&cts_try_phase, memory_order_relaxed) != CTS_TRY_OFF, 0);
}

/* What a work tells when it runs. */
struct cts_try_mark {
    struct cts_try_span *span; /* gets its times */
    uint32_t op;               /* of the stretch that is being captured; CTS_TRIAL_NONE: a replay */
};

/* A work is queued in a stream, behind `more` points of others. */
struct cts_try_queued {
    struct CUstream_st *stream;
    const struct cts_work *work;
    const struct cts_point *more;
    size_t more_count;
    uint64_t sequence;
    bool host_waits;
};

/* Who is told; only while cts_try_is_on(). */
struct cts_try_watcher {
    /* A call of the program begins: passes the gate. */
    void (*enter)(void);
    /* The call is about to queue a work, or to allocate or free memory (NULL). */
    void (*before)(const struct cts_work *work, cudaStream_t stream);
    void (*profiler)(bool starts);
    /* The device is reset: what a stretch needs goes. */
    void (*reset)(void);
    /* With the streams' lock. `queued` sets trace->mark. `waited_...`: the host has waited for a
     * stream, a point of one, or a device. Calls whose names end in Synchronize are numbered, as
     * rows of `syncs` are that wait for something to end. */
    void (*queued)(const struct cts_try_queued *queued, struct cts_trace *trace);
    void (*returns)(void); /* the call that queued a work returns to the program */
    void (*waited_stream)(const struct CUstream_st *stream);
    void (*waited_point)(const struct cts_point *point);
    void (*waited_device)(int device);
    /* In the thread that runs the work, without locks: before and after. */
    void (*runs)(const struct cts_work *work, const struct cts_try_mark *mark);
    void (*ran)(const struct cts_work *work, const struct cts_trace *trace);
    /* A launch failed in a replay: the text is the trial's result. False: it is the program's. */
    bool (*takes_fault)(const char *text);
    /* Without locks. `defers`: memory that was freed is to stay until the replays are over. */
    void (*allocated)(const struct cts_range *range);
    bool (*defers)(const struct cts_range *range);
    /* Whether what the program is about to destroy (texture objects, arrays) is to stay, for good.
     */
    bool (*keeps)(void);
};
extern const struct cts_try_watcher *cts_try_watcher; /* set before the phase is not off */

/* ---- try-hooks.c ---- */

void cts_try_start(void);
/* The program ends: closes an open stretch, or tells that there was none. */
void cts_try_finish(void);

#endif
