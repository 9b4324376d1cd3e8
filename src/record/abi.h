/* What instrumented code and the runtime agree on: the tables that a compiled file registers, the
 * context that device code on the CPU receives, and the lane buffers and logs it writes.
 *
 * The plugin (instrument/) writes these structs as LLVM constants; the CPU device (cpu/) reads
 * them. Both include this header; the plugin takes offsets from offsetof, so there is one truth.
 *
 * A kernel K of a file becomes, on the CPU (all of them internal to the object):
 *
 *   K.cta      (args, ctx)            untouched; all threads of the CTA in plain loops over z, y,
 * x, which LLVM may vectorise. NULL when K needs fibers. K.thread   (args, ctx) untouched; the one
 * thread ctx->tid. May call the runtime to wait (barriers, warp collectives, volatile). K.row_rec
 * (args, ctx, x0, y, z, n, lanes) instrumented; threads (x0 .. x0+n-1, y, z), n in 1..32, in a
 *                                     plain loop. Stores at lanes[slot * 32 + i] the address that
 *                                     thread x0+i used at site row_sites[slot]; leaves it alone
 * when the thread did not get there. `lanes` is noalias. NULL unless every site runs at most once a
 * thread, there are at most CTS_ROW_SLOTS_MAX and K needs no fibers. With values (CTS_FILE_VALUES)
 * the words of slot s follow those of slot s - 1, ceil(width/8) each, in rows of their own behind
 * all slots': word v at lanes[(CTS_ROW_SLOTS_MAX + v) * 32 + i]. K.thread_rec (args, ctx)
 * instrumented; the one thread ctx->tid. Appends to the log.
 *
 * The log: lane l of the warp that runs appends 64-bit entries at log[k * 32 + l], k = 0, 1, ...
 * An entry is (slot << 48) | (address & (2^48 - 1)), slot = the site's program-wide number. Code
 * does: *ctx->log = entry; ctx->log += 32; if (ctx->log >= ctx->log_end) cts_log_full(ctx).
 * (It may keep ctx->log in a register between calls that can wait or log, and must write it back
 * before them.) There is room for CTS_LOG_VALUE_WORDS_MAX + 1 words from the last place before
 * log_end on, so the test may stand behind several entries; it must have been made, if there were
 * any, before a call of what logs. A barrier of the CTA empties the log. With values, each access
 * entry is followed by ceil(width/8) raw value words of the same lane; cts_log_full() is called
 * between accesses only.
 *
 * Shared memory: a static __shared__ variable has an offset in the file's layout; its address is
 * ctx->shared + offset. Dynamic shared memory starts at ctx->shared_dynamic (the same window,
 * behind the static part). A file's layout is at most 48 KiB unless configured. */
#ifndef CTS_RECORD_ABI_H
#define CTS_RECORD_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "trace/access.h"

enum {
    CTS_ABI_VERSION = 4,
    CTS_ROW_SLOTS_MAX = 64,
    CTS_ROW_VALUES_MAX = 128, /* value words of a thread in the lane buffers; kernels with more
                                 have no row_rec */
    CTS_SLOT_SHIFT = 48,
    CTS_SLOT_LIMIT = 0xFFFF, /* slots 0 .. 0xFFFD; files beyond have that as their base, and
                                 their entries (at CTS_SLOT_LIMIT, saturated) are dropped */
    CTS_LOG_VALUE_WORDS_MAX =
        16, /* an access of more bytes than 128 logs values of the first 128 */
};

/* The context of the thread that runs, one per worker; device functions that are not inlined find
 * it in the thread-local __cts_current. Only these leading members are known to generated code. */
struct cts_thread_context {
    uint32_t tid[3];
    uint32_t ntid[3];
    uint32_t ctaid[3];
    uint32_t nctaid[3];
    char *shared;
    char *shared_dynamic;
    uint64_t *log;
    uint64_t *log_end;
    uint32_t dynamic_shared_bytes;
    uint32_t recording; /* 1: indirect calls go to the instrumented version of their target */
};

/* Where a kernel's parameter lies in the void** of cudaLaunchKernel: each is copied at launch. */
struct cts_parameter_desc {
    uint32_t size_bytes;
    uint32_t align_bytes;
};

/* A pointer among a kernel's parameters that accesses assume to be a multiple of align_bytes. A
 * launch for which it is none runs K.thread_rec, recorded or not: it tests these accesses one by
 * one, and ends in a fault if one is made. */
struct cts_alignment_desc {
    uint32_t parameter;
    uint32_t offset_bytes; /* 0: the parameter itself; n + 1: what lies n bytes into it, a struct */
    uint32_t align_bytes;  /* a power of two */
};

enum cts_kernel_flags {
    CTS_KERNEL_FIBERS = 1,    /* barriers, warp collectives, volatile, spinning, unknown callees */
    CTS_KERNEL_GRID_SYNC = 2, /* uses a grid-wide barrier */
    CTS_KERNEL_UNINSTRUMENTED = 4, /* left out by a filter: thread_rec is NULL */
};

struct cts_kernel_desc {
    const char *name;         /* mangled, as the host registers it */
    const char *display_name; /* demangled, as in the source: "reduce<float, 256>(float *, int)" */
    void (*cta)(void **args, struct cts_thread_context *context);
    void (*thread)(void **args, struct cts_thread_context *context);
    void (*row_rec)(void **args, struct cts_thread_context *context, uint32_t x0, uint32_t y,
                    uint32_t z, uint32_t n, uint64_t *lanes);
    void (*thread_rec)(void **args, struct cts_thread_context *context);
    const struct cts_parameter_desc *parameters;
    const uint32_t *row_sites; /* index into the file's sites, per slot */
    uint32_t parameter_count;
    uint32_t row_site_count;
    uint32_t flags;
    uint32_t
        static_shared_bytes; /* what this kernel's own variables need; the window is the file's */
    uint32_t max_threads;    /* __launch_bounds__, or 0 */
    uint32_t min_ctas;
    uint32_t file, line; /* index into the file's sources; 0-based line unknown = 0 */
    const struct cts_alignment_desc *alignments;
    uint32_t alignment_count, reserved;
};

/* One static memory instruction. */
struct cts_site_desc {
    uint32_t source; /* index into sources; UINT32_MAX: unknown */
    uint32_t line, column;
    uint32_t width_bytes;
    uint8_t operation; /* enum cts_operation */
    uint8_t space;     /* enum cts_space; GENERIC: found at run time */
    uint8_t is_volatile;
    uint8_t loop_depth;     /* 0: not in a loop */
    uint32_t loop;          /* innermost loop around it: index into loops, or UINT32_MAX */
    const char *function;   /* demangled enclosing function after inlining (the kernel, mostly) */
    const char *type_name;  /* element type, "float", "struct particle"; "" when unknown */
    const char *variable;   /* the pointer's or array's name in the source; "" when unknown */
    const char *inlined_at; /* "file:line:column function <- ..." outermost last; "" when none */
};

/* Loops, for aligning the logs of diverged lanes: index of the enclosing loop or UINT32_MAX. */
struct cts_loop_desc {
    uint32_t parent;
};

struct cts_source_desc {
    const char *path; /* absolute, as compiled */
    const char *text; /* the file's content; NULL when it is not the user's */
    uint64_t text_bytes;
};

enum cts_variable_kind {
    CTS_VARIABLE_DEVICE = 0,
    CTS_VARIABLE_CONSTANT = 1,
    CTS_VARIABLE_MANAGED = 2,
    CTS_VARIABLE_SHARED = 3,         /* static; address is an offset in the window */
    CTS_VARIABLE_SHARED_DYNAMIC = 4, /* extern __shared__ */
    CTS_VARIABLE_TEXTURE = 5,
    CTS_VARIABLE_SURFACE = 6,
};

struct cts_variable_desc {
    const char *name;         /* mangled, as the host registers it */
    const char *display_name; /* as in the source */
    const char *type_name;    /* element type */
    void *address;            /* device, constant, managed, texture; NULL for shared */
    uint64_t size_bytes;
    uint64_t shared_offset; /* shared */
    const char *function;   /* shared: the kernel or function it belongs to */
    uint32_t kind;          /* enum cts_variable_kind */
    uint32_t source, line;
};

/* Something that was not instrumented, and why: counted and named in every report's header. */
struct cts_skipped_desc {
    const char *what; /* "call through a function pointer in k(int *)", ... */
    const char *reason;
    uint32_t source, line;
};

/* A record type that code of the file accesses, with bytes that hold no value: padding, and
 * alternatives (covered by some members of a union only), as ranges "1-3,18-23". */
struct cts_padded_type_desc {
    const char *name, *padding, *alternatives; /* the last two "" when none */
    uint32_t size_bytes, reserved;
};

/* All of a file's device code. `id` ties it to the fat binary that the host side registers. */
struct cts_file_desc {
    uint32_t abi_version;
    uint32_t flags;
    const char *id;
    const char *path; /* of the main source */
    const struct cts_kernel_desc *kernels;
    const struct cts_site_desc *sites;
    const struct cts_loop_desc *loops;
    const struct cts_source_desc *sources;
    const struct cts_variable_desc *variables;
    const struct cts_skipped_desc *skipped;
    const struct cts_padded_type_desc *padded_types;
    uint32_t kernel_count, site_count, loop_count, source_count, variable_count, skipped_count;
    uint32_t shared_bytes;       /* of the file's static layout */
    uint32_t shared_align_bytes; /* of its most aligned __shared__ variable; 0: unknown */
    uint32_t padded_type_count, reserved;
    uint64_t *slot_base; /* the runtime writes (first program-wide slot << CTS_SLOT_SHIFT) here;
                            instrumented code adds (index << CTS_SLOT_SHIFT) */
};

enum cts_file_flags {
    CTS_FILE_VALUES = 1,
    CTS_FILE_LOCALS = 2,
    CTS_FILE_SEPARATE_UNITS = 4, /* -rdc=true: kernels of other files may run its code */
    CTS_FILE_BARRIERS = CTS_MODULE_BARRIERS,
    CTS_FILE_FENCES = CTS_MODULE_FENCES,
    CTS_FILE_ORDER = CTS_MODULE_ORDER,
};

/* What the host pass knows of an allocation: passed to __cts_allocation_hint() just before the
 * cudaMalloc-like call that it describes, in the same thread. Consumed by the next allocation. */
struct cts_allocation_desc {
    const char *variable;  /* "d_a", "field->next"; "" when unknown */
    const char *type_name; /* element type */
    const char *path;      /* of the source */
    const char *function;
    uint32_t line, column;
    uint32_t element_bytes; /* 0 when unknown */
};

#pragma GCC visibility push(default) /* exported by the CPU device */
/* Entry points that generated code calls; the CPU device exports them. */
void __cts_register_file(const struct cts_file_desc *file);
void __cts_unregister_file(const struct cts_file_desc *file); /* its library is unloaded */
void __cts_allocation_hint(const struct cts_allocation_desc *allocation);
void __cts_host_access(const void *address, uint64_t size_bytes, int is_store);
void __cts_log_full(struct cts_thread_context *context);
/* A memory intrinsic of run-time length in instrumented code: logs it as accesses of 16 bytes at
 * slot index `wide` and single bytes at `wide + 1` for the ends. Index: in the file's sites. */
void __cts_log_range(struct cts_thread_context *context, const uint64_t *slot_base, uint32_t wide,
                     const void *address, uint64_t size_bytes);
/* An access at an address that is no multiple of mask + 1: ends the launch with a fault. */
_Noreturn void __cts_misaligned(const void *address, uint64_t mask);
void __cts_yield(struct cts_thread_context *context); /* before a volatile access, in a spin loop */
/* Before an access of shared memory: all threads of the CTA get as far as they can first, those of
 * the warp that wait at a smaller `place` too. */
void __cts_catch_up(struct cts_thread_context *context, uint32_t place);
extern __thread struct cts_thread_context *__cts_current;
#pragma GCC visibility pop

#endif
