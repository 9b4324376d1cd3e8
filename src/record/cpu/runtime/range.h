/* Ranges: all memory that the runtime knows, by address. Thread-safe. */
#ifndef CTS_CPU_RANGE_H
#define CTS_CPU_RANGE_H

#include <stdbool.h>
#include <stdint.h>

enum cts_range_kind {
    CTS_RANGE_DEVICE,     /* cudaMalloc and its kin */
    CTS_RANGE_MANAGED,    /* cudaMallocManaged, __managed__ variables */
    CTS_RANGE_PINNED,     /* cudaHostAlloc, cudaMallocHost; always mapped */
    CTS_RANGE_REGISTERED, /* cudaHostRegister: the program's own memory */
    CTS_RANGE_ARRAY,      /* a CUDA array's texels */
    CTS_RANGE_VARIABLE,   /* __device__ and __constant__ variables */
};

struct cts_range {
    uint64_t address, size_bytes;
    enum cts_range_kind kind;
    int device;
    unsigned flags;         /* of cudaHostAlloc or cudaHostRegister */
    uint32_t allocation;    /* catalogue id, CTS_NONE when not recorded */
    void *pool;             /* the memory pool it came from, or NULL */
    char variable[40];      /* what the source assigns it to; empty: unknown */
    uint32_t element_bytes; /* of its type; 0: unknown */
    bool is_of_graph;       /* graph-memory.h: a free does not give it back */
};

void cts_ranges_start(void);

/* New memory of a kind that has a heap; false when there is no more. `*range` is filled;
 * `allocation` of it is CTS_NONE. */
bool cts_range_allocate(enum cts_range_kind kind, int device, uint64_t size_bytes, unsigned flags,
                        struct cts_range *range);

/* Notes memory that exists already; false when it overlaps a known range. */
bool cts_range_add(const struct cts_range *range);

/* For device code that reads outside of every range: where the 2 MiB around the address hold any of
 * a range, a GPU has them mapped as a whole, and the read passes. Makes the page readable then. For
 * a signal's handler, of threads that run device code. */
bool cts_range_allow_read(uint64_t address);

/* The range that holds an address. */
bool cts_range_find(const void *address, struct cts_range *range);

/* The range that is nearest to an address outside of all; false when there is none. */
bool cts_range_nearest(uint64_t address, struct cts_range *range);

/* Says what the source calls the range at an address. */
void cts_range_name(const void *address, const char *variable, uint32_t element_bytes);

/* Takes the range that begins at an address and is of a kind in `kinds` (bits 1 << kind) out of the
 * table, so that a second call fails. Its memory stays until cts_range_release(). */
bool cts_range_remove(const void *address, unsigned kinds, struct cts_range *range);
void cts_range_release(const struct cts_range *range);

/* Says that a range belongs to a graph, and is not recorded as allocated. */
void cts_range_set_of_graph(const void *address);
/* Sets a range's catalogue id and pool. */
void cts_range_set(const void *address, uint32_t allocation, void *pool);

/* Calls `visit` for each range, by ascending address; it must not come back here. */
void cts_ranges_each(void (*visit)(const struct cts_range *range));

/* Removes and releases every device and array range of a device, after `gone` has seen it; that
 * must not come back here. */
void cts_ranges_reset(int device, void (*gone)(const struct cts_range *range));

void cts_ranges_usage(int device, uint64_t *used_bytes, uint64_t *limit_bytes);

/* Whether the host's accesses of an address are worth noting: managed, pinned or registered. Fast
 * for all others. */
bool cts_range_is_shared_with_host(const void *address);

static inline bool cts_range_is_device(const struct cts_range *range)
{
    return range->kind == CTS_RANGE_DEVICE || range->kind == CTS_RANGE_ARRAY ||
           range->kind == CTS_RANGE_VARIABLE;
}

#endif
