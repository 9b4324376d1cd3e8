/* The engine of the CPU device: runs the CTAs of one launch on the worker threads. It knows
 * kernels, CTAs, warps and fibers, and the collector's streams; nothing of the CUDA runtime API.
 * The runtime (streams, events, memory) calls it from the thread that executes a stream's work. */
#ifndef CTS_RECORD_CPU_ENGINE_H
#define CTS_RECORD_CPU_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "record/abi.h"
#include "trace/write/collector.h"

struct cts_engine_options {
    uint32_t worker_count;      /* 0: one per online core. CTASCOPE_WORKERS */
    bool deterministic;         /* one worker, CTAs in order. CTASCOPE_DETERMINISTIC */
    uint64_t fiber_stack_bytes; /* 0: 64 KiB; guard page below each. CTASCOPE_STACK */
    uint64_t spin_limit_ns;     /* a launch that only spins for so long is a deadlock; 0: 60 s */
    /* Device code reads where it has no right to: makes the place readable, if it is to be. Called
     * in a signal's handler. NULL: every such read is a fault. */
    bool (*allow_read)(uint64_t address);
};
enum cts_status cts_engine_start(const struct cts_engine_options *options, struct cts_error *error);
void cts_engine_stop(void);
uint32_t cts_engine_worker_count(void);

/* What the runtime knows of a registered file when a kernel of it is launched. */
struct cts_loaded_file {
    const struct cts_file_desc *desc;
    uint32_t first_site; /* catalogue id of the file's site 0 */
    uint32_t
        first_slot; /* program-wide slot of the file's site 0; CTS_SLOT_LIMIT: not in the log */
};

struct cts_launch_request {
    const struct cts_kernel_desc *kernel;
    const struct cts_loaded_file *file;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    void **args;                     /* one pointer per parameter; lives until the call returns */
    const uint32_t *cta_order;       /* by place: the CTA that begins there; NULL: by index */
    bool cooperative;                /* grid-wide barriers allowed */
    bool record;                     /* use the instrumented version */
    uint32_t launch;                 /* catalogue id */
    uint32_t cta_sample;             /* record every n-th CTA; 1: all */
    struct cts_collector *collector; /* NULL unless record */
};

/* How a launch ended. A fault (SIGSEGV and the like in device code, __trap, assert, a barrier that
 * not all threads reach, too deep recursion) stops the launch, not the process. */
enum cts_fault_kind {
    CTS_FAULT_NONE,
    CTS_FAULT_ADDRESS,
    CTS_FAULT_MISALIGNED,
    CTS_FAULT_TRAP,
    CTS_FAULT_ASSERT,
    CTS_FAULT_BARRIER,
    CTS_FAULT_STACK,
    CTS_FAULT_ARITHMETIC,
    CTS_FAULT_DEADLOCK,
    CTS_FAULT_MEMORY
};
struct cts_launch_result {
    enum cts_fault_kind fault;
    char text[1280]; /* "kernel 'k(int *)': CTA (3,0,0), thread (17,0,0): ..." */
    uint64_t records, accesses, dropped_accesses;
    struct cts_value_hash hash;
    uint64_t fault_address; /* of an access, where the processor tells it; else 0 */
    bool fault_is_shared;   /* it belongs to the CTA's shared window: `text` says where */
    bool fault_has_thread;  /* fault_thread[] is known */
    uint32_t fault_cta[3], fault_thread[3];
    char fault_path[256]; /* of the source, as the file's `sources` have it; empty: unknown */
    uint32_t fault_line;
    bool is_unrecorded; /* it was to be recorded, and could not be */
};

/* "address", ...: as the catalogue's table `faults` has it; NULL: no fault. */
const char *cts_fault_kind_text(enum cts_fault_kind kind);

/* Runs a launch to its end; returns when every CTA is done or a fault stopped it. Thread-safe:
 * launches of several streams share the workers. */
void cts_engine_run(const struct cts_launch_request *request, struct cts_launch_result *result);

/* Program-wide slots of the log: what the engine needs to turn an entry into a record. Called by
 * the runtime for each file before its first launch. Returns the first slot or CTS_SLOT_LIMIT. */
uint32_t cts_engine_slots_left(void);
uint32_t cts_engine_add_sites(const struct cts_file_desc *file, uint32_t first_site);

/* Before a collector is closed: the workers' streams of it are not used any more. No launch that
 * records into it may be running. */
void cts_engine_forget_collector(const struct cts_collector *collector);

/* While it is mute, printf() of device code prints nothing: a launch runs again. */
void cts_engine_mute(bool mute);

/* The heap of device-side malloc(): what may be allocated in total (8 MiB at first). */
uint64_t cts_engine_heap_limit(void);
void cts_engine_set_heap_limit(uint64_t limit_bytes);

/* SM count shown to programs and used for %smid; shared memory per CTA allowed at launch. */
uint32_t cts_engine_sm_count(void);
void cts_engine_set_sm_count(uint32_t count);

#endif
