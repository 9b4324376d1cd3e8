/* The engine's shared structs: a launch, the workers that run it, and a CTA with its warps and
 * lanes. Who uses what:
 *
 *     pool.c        threads, launches, who gets which CTAs
 *     straight.c    CTAs whose threads never wait: K.cta and K.row_rec
 *     cta.c         CTAs whose threads are fibers: the scheduler
 *     barrier-state.c, collective-state.c    who waits for whom within a CTA or a warp
 *     barrier.c, collective.c, matrix.c, system.c, print.c    what device code calls
 *     grid-share.c        which CTAs of a launch are next
 *     fault.c       signals, and how a launch that went wrong is described
 *
 * A *worker* is an execution context: stacks, buffers, streams of records. One thread uses it at a
 * time. Device code runs on fibers of the worker only, never on the thread's own stack (home), so
 * that a fault is left by switching home. */
#ifndef CTS_ENGINE_WORKER_H
#define CTS_ENGINE_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/cpu/engine.h"
#include "record/cpu/engine/fiber.h"
#include "record/cpu/engine/log.h"

#define CTS_EXPORT __attribute__((visibility("default")))

enum {
    CTS_CTA_THREADS_MAX = 1024,
    CTS_CTA_WARPS_MAX = CTS_CTA_THREADS_MAX / CTS_WARP_LANES,
    CTS_CTA_BARRIERS = 16,
    CTS_ROW_ROWS_ALL = CTS_ROW_SLOTS_MAX + CTS_ROW_VALUES_MAX,
};

struct cts_engine_limits {
    bool deterministic;
    uint64_t spin_limit_ns;
    bool (*allow_read)(uint64_t address); /* NULL: never */
};
extern struct cts_engine_limits cts_engine_limits;

/* ---- Faults ---- */

struct cts_fault {
    enum cts_fault_kind kind;
    bool has_thread; /* thread[] is the one at fault */
    uint32_t cta[3], thread[3];
    uint64_t address;
    bool has_address;
    uint32_t align_bytes; /* CTS_FAULT_MISALIGNED: what the access needs */
    const void *code;     /* near the instruction; NULL: unknown */
    uint64_t shared_base; /* the CTA's window */
    char text[256];       /* what happened, when the address does not say it */
};

/* ---- A launch ---- */

struct cts_grid {
    const struct cts_launch_request *request;
    uint64_t cta_count, chunk_ctas;
    uint32_t thread_count; /* of a CTA */
    uint32_t warp_count;
    uint32_t worker_count; /* of the engine: who may take part */
    uint32_t shared_align_bytes;
    uint32_t static_shared_bytes, shared_bytes; /* of the window: the file's part, all of it */
    bool straight;                              /* no fibers needed */
    bool rows;                                  /* record through K.row_rec */
    bool log;                                   /* record through K.thread_rec */
    bool tests_alignment;                       /* some parameter is not as accesses assume */
    bool rows_need_care;                        /* some are local or generic */
    uint32_t row_sites[CTS_ROW_SLOTS_MAX];
    uint8_t row_spaces[CTS_ROW_SLOTS_MAX];
    uint8_t row_value_words[CTS_ROW_SLOTS_MAX]; /* of files with values; else 0 */

    _Atomic uint64_t next_cta;
    _Atomic bool stop; /* a fault; everybody leaves */
    _Atomic uint64_t hosted_threads;
    _Atomic uint64_t progress;     /* changes when somebody gets on; see host.c */
    _Atomic uint32_t idle;         /* participants that can only wait */
    _Atomic uint32_t participants; /* changes under the pool's lock */
    struct cts_grid *next;         /* in the pool's list; under the pool's lock */
    pthread_cond_t left;           /* a participant has left */

    pthread_mutex_t lock; /* what follows */
    pthread_cond_t grid_changed;
    uint64_t grid_arrived, finished;
    _Atomic uint64_t grid_generation;
    struct cts_fault fault; /* the first */
    uint64_t records, accesses, dropped_accesses;
    struct cts_value_hash hash;
};

/* grid-share.c. The next run of CTAs: first .. first + result - 1; 0 when none is left. */
uint64_t cts_grid_take(struct cts_grid *launch, uint64_t most, uint64_t *first);
void cts_grid_cta_position(const struct cts_grid *launch, uint64_t cta, uint32_t position[3]);
/* The CTA that begins at a place: that of the same index, unless the launch has another order. */
static inline uint64_t cts_grid_cta_at(const struct cts_grid *launch, uint64_t place)
{
    return launch->request->cta_order ? launch->request->cta_order[place] : place;
}

static inline bool cts_grid_stopped(const struct cts_grid *launch)
{
    return atomic_load_explicit(&launch->stop, memory_order_relaxed);
}

static inline bool cts_grid_records_cta(const struct cts_grid *launch, uint64_t cta)
{
    return launch->request->record &&
           (launch->request->cta_sample <= 1 || cta % launch->request->cta_sample == 0);
}

/* Whether a CTA runs an instrumented version; see plan() in pool.c. */
static inline bool cts_grid_instruments_cta(const struct cts_grid *launch, uint64_t cta)
{
    return cts_engine_limits.deterministic || launch->tests_alignment ||
           cts_grid_records_cta(launch, cta);
}

/* ---- Shared windows ---- */

/* Memory for a CTA's shared window. Its start and its end are multiples of the alignment that is
 * asked for; what follows its end is inaccessible, and what is before the page of its start. Zero
 * at first, then what the CTA before left. */
struct cts_shared_window {
    char *memory;
    size_t memory_bytes; /* without the guards */
    size_t open_bytes;   /* accessible, at the end */
};
/* The window's start for `size_bytes`; NULL: out of memory. */
char *cts_window_get(struct cts_shared_window *window, size_t size_bytes, size_t align_bytes);
void cts_window_release(struct cts_shared_window *window);
/* Whether a window lies where nothing but windows does. */
bool cts_window_is_apart(uint64_t address);

/* ---- A CTA ---- */

/* Masks of lanes; a live lane that is not running is in exactly one of those marked *. */
struct cts_warp {
    uint32_t live;     /* has not ended */
    uint32_t ready;    /* * can run */
    uint32_t yielded;  /* * can run, after the others had their turn */
    uint32_t full;     /* * its log is full */
    uint32_t blocked;  /* * waits at a barrier of the CTA or the grid */
    uint32_t woken;    /* * its barrier is complete; ready in the next sweep */
    uint32_t catching; /* * lets others catch up; the last of them are ready in the next sweep */
    uint32_t meeting;  /* * waits in a collective of the warp */
    uint32_t loose;    /* of `meeting`: in one without a mask, see collective.c */
    bool met_loosely;  /* once: lanes of different iterations may have been together */
    struct cts_log_state log_state;
};

struct cts_barrier {
    uint32_t arrived;    /* threads */
    uint32_t expected;   /* threads; 0: all that are live */
    uint32_t credit;     /* expected != 0: lanes of the warps in `warps` that have ended */
    uint32_t warps;      /* that have arrived, at least in part */
    uint32_t true_count; /* predicates */
    uint32_t result_arrived, result_true_count;
    uint32_t waiting[CTS_CTA_WARPS_MAX];
    uint32_t counted[CTS_CTA_WARPS_MAX]; /* lanes in `arrived`, which may have gone on and ended */
};

/* What a waiting lane waits for, for collectives and the text of a deadlock. */
enum cts_wait_kind {
    CTS_WAIT_NONE,
    CTS_WAIT_BARRIER,
    CTS_WAIT_GRID,
    CTS_WAIT_YIELD,
    CTS_WAIT_CATCH_UP,
    CTS_WAIT_SYNC,
    CTS_WAIT_SHUFFLE,
    CTS_WAIT_ALL,
    CTS_WAIT_ANY,
    CTS_WAIT_UNI,
    CTS_WAIT_BALLOT,
    CTS_WAIT_ACTIVE,
    CTS_WAIT_MATCH_ANY,
    CTS_WAIT_MATCH_ALL,
    CTS_WAIT_ADD,
    CTS_WAIT_UMIN,
    CTS_WAIT_UMAX,
    CTS_WAIT_MIN,
    CTS_WAIT_MAX,
    CTS_WAIT_AND,
    CTS_WAIT_OR,
    CTS_WAIT_XOR,
};

struct cts_cta {
    struct cts_thread_context context; /* first: __cts_current points to it */
    struct cts_worker *worker;
    struct cts_grid *launch;
    struct cts_cta *next; /* in a list */
    void (*entry)(void **args, struct cts_thread_context *context);
    uint64_t index; /* x + y*nx + z*nx*ny */
    bool fibers, logs;
    bool records;          /* what it logs; else it is dropped */
    struct cts_warp *warp; /* that runs */
    uint32_t lane;         /* that runs: linear thread index */
    uint32_t live_count, woken_count, grid_count, catching_count; /* lanes */
    uint32_t catching_sweeps;                                     /* since a barrier */
    uint32_t barriers;                                            /* mask of those with arrivals */
    uint64_t progress;        /* changes when lanes end or are released */
    uint64_t grid_generation; /* that it waits for, while grid_arrived */
    bool grid_arrived;
    bool patient; /* has been found to spin: others come first */
    uint32_t idle_sweeps;
    struct cts_shared_window window;
    struct cts_warp warps[CTS_CTA_WARPS_MAX];
    struct cts_barrier barrier[CTS_CTA_BARRIERS];
    /* Of each lane. */
    void *sp[CTS_CTA_THREADS_MAX]; /* NULL: not started */
    struct cts_stack *stack[CTS_CTA_THREADS_MAX];
    uint8_t wait[CTS_CTA_THREADS_MAX];        /* enum cts_wait_kind */
    uint32_t wait_mask[CTS_CTA_THREADS_MAX];  /* collective: lanes that it is among; barrier: id;
                                                 catching up: place */
    uint32_t wait_extra[CTS_CTA_THREADS_MAX]; /* source lane of a shuffle; out: predicate */
    uint64_t wait_value[CTS_CTA_THREADS_MAX]; /* in: this lane's; out: the result */
    const void *wait_place[CTS_CTA_THREADS_MAX];
    const uint32_t *registers[CTS_CTA_THREADS_MAX]; /* that a lane shows to its warp; matrix.c */
};

/* The library is loaded with the program: no call is needed to find the thread's own variables. */
extern __thread struct cts_thread_context *__cts_current __attribute__((tls_model("initial-exec")));

static inline struct cts_cta *cts_cta_current(void)
{
    return (struct cts_cta *)__cts_current;
}

/* ---- A worker ---- */

struct cts_worker {
    void *home_sp; /* of the thread's own stack, while a fiber runs */
    struct cts_stack home;
    volatile bool in_device; /* a fault now is the device code's */
    struct cts_fault fault;  /* kind NONE: none */
    struct cts_grid *launch;
    struct cts_stacks stacks, straight_stacks;
    struct cts_stack *straight_stack;
    struct cts_cta *straight_cta; /* the context of CTAs without fibers */
    struct cts_cta *free_ctas;
    bool naming;    /* running threads one by one to find the one at fault */
    uint64_t clock; /* deterministic: counts calls */
    /* Thread positions of the block shape that ran last: x | y << 16 | z << 32, by linear index. */
    uint32_t shape[3];
    uint64_t threads[CTS_CTA_THREADS_MAX];
    /* Recording */
    struct cts_collector *collector;
    struct cts_stream *stream; /* of `collector` */
    uint64_t stream_cta;       /* begun in the stream; UINT64_MAX: none */
    uint64_t invalid_count;
    uint64_t *log;                    /* [CTS_LOG_ROWS_ALL][32] */
    uint64_t *log_at[CTS_WARP_LANES]; /* where each lane of the running warp goes on */
    uint64_t *rows;                   /* [CTS_ROW_ROWS_ALL][32] for K.row_rec; the slots' are 0
                                         between uses */
    struct cts_worker *next;          /* in the pool's list of free or all workers */
    struct cts_worker *next_of_all;
};

extern __thread struct cts_worker *cts_worker_current __attribute__((tls_model("initial-exec")));

/* ---- straight.c ---- */
void cts_straight_run(struct cts_worker *worker, struct cts_grid *launch);

/* ---- host.c: the CTAs with fibers that a worker has alive at a time ---- */
void cts_host_run(struct cts_worker *worker, struct cts_grid *launch);

/* ---- cta.c ---- */
enum cts_cta_outcome {
    CTS_CTA_DONE,
    CTS_CTA_GRID,     /* all threads wait for the grid */
    CTS_CTA_SPINNING, /* threads only give way to others, for long */
    CTS_CTA_FAULT,
    CTS_CTA_STOPPED,
};
struct cts_cta *cts_cta_new(struct cts_worker *worker, struct cts_grid *launch, uint64_t place);
void cts_cta_free(struct cts_cta *cta); /* also with fibers that have not ended */
enum cts_cta_outcome cts_cta_run(struct cts_cta *cta);
void cts_cta_fill_context(struct cts_cta *cta, struct cts_grid *launch, char *window);
/* For a lane that waits: the caller has put it into a mask of its warp. */
void cts_lane_wait(struct cts_cta *cta);
/* The same as the last thing that a function does which device code called. */
void cts_lane_wait_last(struct cts_cta *cta);
_Noreturn void cts_lane_exit(struct cts_cta *cta);

/* ---- worker-records.c ---- */
void cts_worker_begin_records(struct cts_worker *worker, uint64_t cta);
void cts_worker_end_records(struct cts_worker *worker);

/* ---- barrier-state.c ---- */
/* The running lane arrives; `waits`: the caller has it wait, unless the barrier is complete now. */
struct cts_barrier *cts_barrier_arrive(struct cts_cta *cta, uint32_t id, uint32_t threads,
                                       bool predicate, bool waits);
/* The same for __syncthreads(), which is what most kernels wait at: the checks of the others'
 * numbers would be a tenth of its time. */
void cts_barrier_arrive_at_0(struct cts_cta *cta);
void cts_barriers_lane_ended(struct cts_cta *cta, uint32_t warp_index);

/* ---- collective-state.c ---- */
/* Whether everybody that `lane` (linear index) meets is there; if so, they go on. */
bool cts_collective_try_to_meet(struct cts_cta *cta, struct cts_warp *warp, uint32_t lane);
void cts_collectives_lane_ended(struct cts_cta *cta, struct cts_warp *warp);
bool cts_collective_meet_loose(struct cts_cta *cta, struct cts_warp *warp);

/* ---- fault.c ---- */
void cts_faults_install(void);
void cts_faults_restore(void);
void cts_faults_attach_thread(void);
/* The instruction of device code that is about to be the cause of cts_raise(): to be used in what
 * device code calls. */
#define CTS_FAULT_HERE(cta)                                                                        \
    ((cta)->worker->fault.code = (const char *)__builtin_return_address(0) - 1)
/* Ends the running thread's launch with a fault; the place is filled in. */
_Noreturn void cts_raise(struct cts_cta *cta, enum cts_fault_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same from home, about a thread of a CTA or (UINT32_MAX) none. */
void cts_fault_set(struct cts_cta *cta, uint32_t lane, enum cts_fault_kind kind, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
/* Fills what `result` has of a fault, and its text. */
void cts_fault_describe(const struct cts_grid *launch, const struct cts_fault *fault,
                        struct cts_launch_result *result);
void cts_fault_stuck(struct cts_cta *cta);

#endif
