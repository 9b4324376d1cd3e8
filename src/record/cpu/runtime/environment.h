/* The CTASCOPE_* variables, read once when the runtime starts. docs/environment.md says them for
 * users. */
#ifndef CTS_CPU_ENVIRONMENT_H
#define CTS_CPU_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct cts_environment {
    /* the device */
    uint32_t device_count;
    uint32_t sm_count;     /* 0: the engine's choice */
    uint64_t memory_bytes; /* per device; 0: the machine's, at most 16 GiB */
    uint32_t shared_bytes; /* per CTA, after opting in */
    uint32_t worker_count; /* 0: one per core */
    uint64_t stack_bytes;  /* per thread of a kernel that needs one; 0: the engine's choice */
    bool deterministic;
    bool strict;             /* device code's reads outside of allocations are faults */
    const char *memory_sums; /* file for checksums of the memory (memory-sums.h); NULL: none */
    uint64_t spin_limit_s;   /* a launch that only spins for so long is a deadlock; 0: engine's */
    /* recording */
    const char *run_path;     /* NULL: not recording */
    const char *kernel_name;  /* exact, or "regex:" and an expression; NULL: all */
    const char *nvtx_include; /* ranges, a line each; NULL: launches outside of ranges, too */
    uint64_t launch_skip;
    uint64_t launch_count; /* UINT64_MAX: all */
    uint32_t cta_sample;   /* record every n-th CTA */
    uint64_t max_size_bytes;
    bool values;
    bool hash;
    bool host_accesses;
    bool profile_from_start;
    bool accesses; /* false: rows and accesses are not recorded even with a run path */
    bool timeline;
    /* of `ctascope try` */
    const char *try_socket;  /* NULL: nothing is tried */
    const char *try_stretch; /* which stretch of the program */
    /* of programs on a GPU (record/inject/memory) */
    uint64_t ring_bytes;   /* 0: the recorder's choice */
    const char *spaces;    /* a list; NULL: the recorder's choice */
    const char *sanitizer; /* path of the Sanitizer's library; NULL: it is looked for */
};

/* Fills all fields: defaults where a variable is unset or bad. The first bad one is described. */
enum cts_status cts_environment_read(struct cts_environment *environment, struct cts_error *error);

#endif
