/* The words of a memory access: what recorders produce and analyses read.
 *
 * A *warp record* (struct cts_access) is one execution of one site by one warp: a site, a CTA, a
 * warp of it, the mask of lanes that took part and the address of each such lane, as a pattern:
 *
 *     uniform      every active lane:  base
 *     affine       lane l:             base + s0 * l
 *     two-level    lane l:             base + s0 * (l mod w) + s1 * (l div w)
 *     list         k-th active lane:   base + offset[k]        (offset[] ascends with the lane)
 *
 * base may be the address of a lane that is not active (affine: lane 0's by extrapolation).
 * Addresses of global memory are the device's virtual addresses; of shared memory, offsets in the
 * CTA's shared window; of local memory, offsets in the thread's frame. Bytes touched by a lane:
 * [address, address + width_bytes). */
#ifndef CTS_TRACE_ACCESS_H
#define CTS_TRACE_ACCESS_H

#include <stdint.h>

enum { CTS_WARP_LANES = 32 };

/* Operations (paper 003, table 5.1, and what came after it). The numbers are part of the format. */
#define CTS_OPERATION_MAP(X)                                                                       \
    X(LOAD, 1, "load")                                                                             \
    X(STORE, 2, "store")                                                                           \
    X(ATOMIC_ADD, 3, "atomic add")                                                                 \
    X(ATOMIC_SUB, 4, "atomic sub")                                                                 \
    X(ATOMIC_EXCH, 5, "atomic exch")                                                               \
    X(ATOMIC_MIN, 6, "atomic min")                                                                 \
    X(ATOMIC_MAX, 7, "atomic max")                                                                 \
    X(ATOMIC_INC, 8, "atomic inc")                                                                 \
    X(ATOMIC_DEC, 9, "atomic dec")                                                                 \
    X(ATOMIC_CAS, 10, "atomic cas")                                                                \
    X(ATOMIC_AND, 11, "atomic and")                                                                \
    X(ATOMIC_OR, 12, "atomic or")                                                                  \
    X(ATOMIC_XOR, 13, "atomic xor")                                                                \
    X(ATOMIC_OTHER, 14, "atomic")

enum cts_operation {
#define X(name, number, text) CTS_##name = number,
    CTS_OPERATION_MAP(X)
#undef X
        CTS_OPERATION_LAST = 14
};

/* What a warp does to wait for others or to order its accesses. A site of such an operation is in
 * space CTS_SPACE_BARRIER and has no width; its records are no accesses. Each has one argument. The
 * numbers are part of the format. */
#define CTS_BARRIER_MAP(X)                                                                         \
    X(CTA_SYNC, 32, "barrier")              /* waits; 1 + number + threads << 8, 0: all of them */ \
    X(CTA_ARRIVE, 33, "barrier arrive")     /* does not wait; the same */                          \
    X(WARP_SYNC, 34, "warp barrier")        /* mask of the lanes */                                \
    X(GRID_SYNC, 35, "grid barrier")        /* 1 */                                                \
    X(CLUSTER_ARRIVE, 36, "cluster arrive") /* 1 */                                                \
    X(CLUSTER_WAIT, 37, "cluster wait")     /* 1 */                                                \
    X(MBARRIER_ARRIVE, 38, "mbarrier arrive") /* 1 + offset of the mbarrier in shared memory       \
                                                 (else its address) + CTS_MBARRIER_ODD or 0 */     \
    X(MBARRIER_WAIT, 39, "mbarrier wait")     /* the same, when the phase has been waited for */   \
    X(FENCE, 40, "fence")                     /* enum cts_fence_scope */                           \
    X(ASYNC_COPY, 41, "asynchronous copy") /* 1: the lane's next store to shared memory is one */  \
    X(ASYNC_COMMIT, 42, "commit of asynchronous copies") /* 1 */                                   \
    X(ASYNC_WAIT, 43, "wait for asynchronous copies")    /* 1 + groups that may go on */           \
    X(SYNC_OTHER, 44, "other synchronisation") /* 1: threads may have waited for others */         \
    X(ORDER, 45, "order") /* 2 * position of a volatile access or atomic among all of the process, \
                             + CTS_ORDER_AFTER behind it: a load or atomic that has taken place */

enum cts_barrier_operation {
#define X(name, number, text) CTS_BARRIER_##name = number,
    CTS_BARRIER_MAP(X)
#undef X
        CTS_BARRIER_FIRST = 32,
    CTS_BARRIER_LAST = 45
};
/* The phase of an mbarrier alternates between even and odd ones. */
#define CTS_MBARRIER_ODD ((uint64_t)1 << 47)
enum { CTS_ORDER_AFTER = 1 };
/* Of modules.flags: which of these are recorded. */
enum cts_module_flags { CTS_MODULE_BARRIERS = 8, CTS_MODULE_FENCES = 16, CTS_MODULE_ORDER = 32 };
enum cts_fence_scope { CTS_FENCE_CTA = 1, CTS_FENCE_GPU = 2, CTS_FENCE_SYSTEM = 3 };

static inline int cts_operation_is_barrier(unsigned op)
{
    return op >= CTS_BARRIER_FIRST && op <= CTS_BARRIER_LAST;
}
static inline int cts_operation_is_atomic(enum cts_operation op)
{
    return op >= CTS_ATOMIC_ADD && op <= CTS_OPERATION_LAST;
}
static inline int cts_operation_reads(enum cts_operation op)
{
    return op != CTS_STORE && op <= CTS_OPERATION_LAST;
}
static inline int cts_operation_writes(enum cts_operation op)
{
    return op != CTS_LOAD && op <= CTS_OPERATION_LAST;
}

/* Address spaces. The numbers are NVPTX's and part of the format. A site in GENERIC space was
 * ambiguous at compile time; its records carry the space found at run time. */
#define CTS_SPACE_MAP(X)                                                                           \
    X(GENERIC, 0, "generic")                                                                       \
    X(GLOBAL, 1, "global")                                                                         \
    X(SHARED, 3, "shared")                                                                         \
    X(CONSTANT, 4, "constant")                                                                     \
    X(LOCAL, 5, "local")

enum cts_space {
#define X(name, number, text) CTS_SPACE_##name = number,
    CTS_SPACE_MAP(X)
#undef X
        CTS_SPACE_LAST = 5,
    CTS_SPACE_BARRIER = 6 /* no address space: what barriers are in instead of one */
};

/* Static text of an operation or space; "?" for a number that is none. */
const char *cts_operation_text(unsigned operation);
const char *cts_space_text(unsigned space);

enum cts_pattern {
    CTS_PATTERN_UNIFORM = 0,
    CTS_PATTERN_AFFINE = 1,
    CTS_PATTERN_TWO_LEVEL = 2,
    CTS_PATTERN_LIST = 3,
};

/* Of a record: no part of a box, its first record, or one that continues it. */
enum cts_box_place { CTS_BOX_NONE, CTS_BOX_BEGINS, CTS_BOX_CONTINUES };

/* One warp record, decoded. */
struct cts_access {
    uint32_t launch;   /* catalogue id, see launches.launch */
    uint32_t cta;      /* x + y*nx + z*nx*ny in the launch's grid */
    uint32_t site;     /* catalogue id, see sites.site; its row has operation and width */
    uint32_t mask;     /* bit l: lane l took part; never 0 */
    uint16_t warp;     /* linear thread index in the CTA / 32 */
    uint8_t space;     /* enum cts_space, never GENERIC */
    uint8_t pattern;   /* enum cts_pattern */
    uint8_t row_lanes; /* two-level: w, 2..31; else 0 */
    int32_t s0, s1;    /* bytes; see above; 0 where the pattern has none */
    uint64_t base;
    const uint32_t *offsets; /* list: one per active lane, bytes; else NULL. Borrowed */
    const uint64_t *values;  /* with --values: value_words words per active lane, else NULL */
    uint8_t value_words;     /* ceil(width/8), at most 16: of wider accesses the first 128 bytes */
    uint8_t box;             /* enum cts_box_place: a record of a tensor copy's box (trace/box.h) */
    uint8_t box_lane;        /* of such a record: the lane that executed the copy */
    const uint32_t *box_words; /* of such a record: the box, for cts_box_get(); else NULL */
};

/* The address of each active lane, in addresses[lane]; other elements stay untouched. */
void cts_access_addresses(const struct cts_access *access, uint64_t addresses[CTS_WARP_LANES]);

#endif
