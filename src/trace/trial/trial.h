/* A stretch of a program that is run again and again, and what is changed in it.
 *
 * A *stretch* is what the program asked of the device between two moments: its *operations*, in
 * call order. A *plan* says how to execute a stretch: which operations, in which *lanes* (streams
 * of the replay), behind which others. A *replay* executes a plan once, from the memory that the
 * program had when the stretch began. A *trial* is a plan that is replayed several times, each
 * replay next to an unchanged one, and compared with what the program itself computed.
 *
 * `ctascope try` makes plans and judges; the part of ctascope in the program executes them
 * (src/record/try). They talk over a socket with the messages of trial-message.h. */
#ifndef CTS_TRACE_TRIAL_H
#define CTS_TRACE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum { CTS_TRIAL_NONE = UINT32_MAX }; /* an index of nothing */

/* ---- the stretch ---- */

enum cts_trial_kind {
    CTS_TRIAL_LAUNCH,
    CTS_TRIAL_COPY,
    CTS_TRIAL_MEMSET,
    CTS_TRIAL_WAIT, /* the host waits for operations; executes nothing */
    CTS_TRIAL_KINDS
};

struct cts_trial_op {
    uint32_t kind;       /* enum cts_trial_kind */
    uint32_t number;     /* as `flow` has it: of the launch; of the copy or memset; wait: among the
                            calls of the program that synchronise; CTS_TRIAL_NONE: another call */
    uint32_t host_waits; /* a copy or memset whose call returns when it has ended */
    uint32_t is_linear;  /* copy, memset: its bytes are contiguous on both sides */
    uint32_t device, stream, thread; /* numbers, from 0, in the order of first use in the stretch */
    uint32_t ordinal;                /* launch: index in its stream, from the program's start */
    uint32_t grid[3], block[3], shared_bytes; /* launch */
    uint32_t resident_ctas;            /* launch: so many of its CTAs run at a time; 0: unknown */
    uint32_t after_first, after_count; /* in `afters`: what must have ended before this begins, or
                                          for a wait before the host goes on */
    uint64_t bytes;                    /* copy, memset: written */
    uint64_t destination, source;      /* copy, memset: addresses */
    uint64_t gap_ns;                   /* of the host, between its previous call and this one */
    uint64_t start_ns, end_ns; /* in the program's own pass, from the stretch's begin; wait: 0 */
    const char *name;          /* kernel; "HtoD", "DtoH", ...; "device sync", ... */
};

/* Memory that is compared: an allocation, a variable, or what a copy brought to the host. */
struct cts_trial_region {
    uint64_t address, size_bytes;
    uint32_t element_bytes; /* 0: unknown */
    uint32_t op;            /* what a copy brought: the operation; else CTS_TRIAL_NONE */
    uint32_t is_live;       /* the program still has it when the stretch ends */
    uint32_t number;        /* among the process's allocations of device memory; CTS_TRIAL_NONE:
                               unknown */
    const char *variable;   /* "": unknown */
    const char *kind;       /* "device", "managed", "pinned", "variable", "array", "payload" */
};

/* An argument of a launch points into a region. */
struct cts_trial_link {
    uint32_t op, region;
};

/* What a device can change in a replay, as bits. */
enum { CTS_TRIAL_CAN_PRIORITY = 1, CTS_TRIAL_CAN_PDL = 2, CTS_TRIAL_CAN_CTA_ORDER = 4 };

struct cts_stretch {
    struct cts_trial_op *ops;
    size_t op_count, op_capacity;
    uint32_t *afters;
    size_t after_count, after_capacity;
    struct cts_trial_region *regions;
    size_t region_count, region_capacity;
    struct cts_trial_link *links; /* by operation */
    size_t link_count, link_capacity;
    uint64_t elapsed_ns;          /* the program's own pass */
    uint64_t busy_ns;             /* in it; 0: by the times of the operations */
    uint32_t can;                 /* CTS_TRIAL_CAN_... */
    uint32_t thread_count;        /* host threads that asked for operations */
    uint32_t parallel_ctas;       /* CTAs that the device runs at a time */
    uint64_t memory_bytes_per_us; /* that its memory moves; 0: unknown */
    const char *device;           /* its name */
    const char *refusal;          /* why the stretch cannot be replayed; "": it can */
    void *storage;                /* owned: what the texts of a decoded stretch lie in */
};

/* Frees the arrays and the storage; texts that lie elsewhere are the caller's. */
void cts_stretch_release(struct cts_stretch *stretch);
CTS_MUST_CHECK enum cts_status cts_stretch_add_op(struct cts_stretch *stretch,
                                                  const struct cts_trial_op *op,
                                                  struct cts_error *error);
/* Adds to what the last operation comes after. */
CTS_MUST_CHECK enum cts_status cts_stretch_add_after(struct cts_stretch *stretch, uint32_t op,
                                                     struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_stretch_add_region(struct cts_stretch *stretch,
                                                      const struct cts_trial_region *region,
                                                      struct cts_error *error);
/* Adds a link for each region that an argument points into: every aligned word of 8 bytes counts.
 */
CTS_MUST_CHECK enum cts_status cts_stretch_add_links(struct cts_stretch *stretch, uint32_t op,
                                                     const void *argument, size_t size_bytes,
                                                     struct cts_error *error);

/* ---- the plan ---- */

struct cts_trial_step {
    uint32_t op;         /* CTS_TRIAL_NONE: the host waits for the steps in `afters` */
    uint32_t lane;       /* a step begins after the step before it in its lane */
    uint32_t host_waits; /* the host goes on when the step has ended */
    uint32_t after_first, after_count; /* in `afters`: steps before this one */
    uint64_t gap_ns;                   /* the host pauses before it asks for the step */
    uint64_t delay_ns;                 /* the lane pauses before the step */
    uint32_t is_urgent;                /* its lane has the device's highest priority */
    uint32_t is_programmatic;      /* a launch that may begin while the launch before it in its lane
                                      still runs: its kernel waits by itself */
    uint32_t cta_first, cta_count; /* in `ctas`: the CTAs of a launch in the order in which they
                                      begin, by their linear index in the grid; 0: as they are */
};

/* Pointers into [from, from + size) in a step's arguments, or where a copy reads, become pointers
 * into memory at `to`. */
struct cts_trial_pointer {
    uint32_t step;       /* CTS_TRIAL_NONE: when all have ended, the bytes at `to` are copied to
                            `from`, outside of the measured time */
    uint32_t buffer;     /* `to` is an offset in this buffer of the plan; CTS_TRIAL_NONE: address */
    uint32_t is_written; /* where a copy or memset writes, too */
    uint64_t from, size_bytes, to;
};

struct cts_trial_range {
    uint64_t address, size_bytes;
};

struct cts_trial_plan {
    struct cts_trial_step *steps;
    size_t step_count, step_capacity;
    uint32_t *afters; /* indices of earlier steps */
    size_t after_count, after_capacity;
    struct cts_trial_pointer *pointers;
    size_t pointer_count, pointer_capacity;
    struct cts_trial_range
        *unused; /* memory that the plan does not use: spoilt before each replay */
    size_t unused_count, unused_capacity;
    struct cts_trial_range *dead; /* ascending, apart: memory that nobody reads after the stretch */
    size_t dead_count, dead_capacity;
    uint64_t *buffers; /* sizes of memory that the device adds; spoilt before each replay */
    size_t buffer_count, buffer_capacity;
    uint32_t *ctas;
    size_t cta_count, cta_capacity;
    uint32_t lane_count;
    uint32_t repeats;
    uint32_t is_graph;    /* what the host asks for between two of its waits is one graph */
    uint32_t is_baseline; /* the plan is the unchanged one that later trials are measured against */
};

void cts_trial_plan_release(struct cts_trial_plan *plan);
CTS_MUST_CHECK enum cts_status cts_trial_plan_add_step(struct cts_trial_plan *plan,
                                                       const struct cts_trial_step *step,
                                                       struct cts_error *error);
/* Adds to what the last step comes after. */
CTS_MUST_CHECK enum cts_status cts_trial_plan_add_after(struct cts_trial_plan *plan, uint32_t step,
                                                        struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_trial_plan_add_pointer(struct cts_trial_plan *plan,
                                                          const struct cts_trial_pointer *pointer,
                                                          struct cts_error *error);
/* Adds memory; its number is the count of buffers before. */
CTS_MUST_CHECK enum cts_status cts_trial_plan_add_buffer(struct cts_trial_plan *plan,
                                                         uint64_t size_bytes,
                                                         struct cts_error *error);
/* The CTAs of a step that has no order yet. */
CTS_MUST_CHECK enum cts_status cts_trial_plan_set_ctas(struct cts_trial_plan *plan, uint32_t step,
                                                       const uint32_t *ctas, uint32_t count,
                                                       struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_trial_plan_add_unused(struct cts_trial_plan *plan,
                                                         const struct cts_trial_range *range,
                                                         struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_trial_plan_add_dead(struct cts_trial_plan *plan,
                                                       const struct cts_trial_range *range,
                                                       struct cts_error *error);
/* Whether every step names an operation that executes, lanes below the count and earlier steps:
 * CTS_FORMAT says which does not. */
CTS_MUST_CHECK enum cts_status cts_trial_plan_check(const struct cts_trial_plan *plan,
                                                    const struct cts_stretch *stretch,
                                                    struct cts_error *error);

/* ---- the result ---- */

enum { CTS_TRIAL_VALUE_BYTES = 8 };

/* What differs in a region from the program's own result, in any of the replays. */
struct cts_trial_difference {
    uint32_t region;
    uint32_t replays;      /* in how many replays any byte of it differs */
    uint32_t origin;       /* the operation after which it first differs; CTS_TRIAL_NONE: unknown */
    uint64_t first_offset; /* of the first byte that differs, dead only if all are */
    uint64_t byte_count;   /* that differ in any replay, without masked and dead ones */
    uint64_t dead_count;   /* that differ where the plan says that nobody reads them later */
    uint64_t masked_count; /* baseline: bytes that differ from replay to replay */
    uint8_t expected[CTS_TRIAL_VALUE_BYTES],
        found[CTS_TRIAL_VALUE_BYTES]; /* from first_offset on */
};

struct cts_trial_time {
    uint64_t elapsed_ns; /* from the host's first call until all has ended */
    uint64_t busy_ns;    /* in which at least one operation ran */
};

struct cts_trial_result {
    struct cts_trial_difference *differences;
    size_t difference_count, difference_capacity;
    struct cts_trial_time *plain, *changed; /* `repeats` of each; a baseline has `changed` alone */
    uint64_t *step_ns;                      /* by step: the median time that it ran */
    size_t repeats, step_count;
    uint64_t changed_bytes; /* baseline: bytes of regions that the stretch changes */
    uint64_t issue_ns;      /* that the host spends to ask for a step, on average */
    uint64_t edge_ns;       /* baseline: from the end of a step until one in another lane that comes
                               after it begins, more than in the same lane */
    uint64_t edge_issue_ns; /* baseline: that the host spends more to ask for that */
    uint32_t is_refused;    /* the device cannot make the change; `fault` says why */
    const char *fault;      /* why a replay failed; "": none did */
    void *storage;          /* owned: what `fault` lies in */
};

void cts_trial_result_release(struct cts_trial_result *result);
CTS_MUST_CHECK enum cts_status cts_trial_result_add(struct cts_trial_result *result,
                                                    const struct cts_trial_difference *difference,
                                                    struct cts_error *error);

#endif
