/* Shadow memory: the last writer of every byte of one address space.
 *
 * A writer is a number up to CTS_WRITER_MASK: nobody, the host, or a node = an instance (launch,
 * CTA) numbered in the order in which launches run. CTS_WRITER_READ beside it says that a later
 * node has read the byte since it was written. Ranges are half-open and end below 2^64.
 *
 * Threads: several may read at a time, each through a view of its own, while none writes. Several
 * may update at a time if each keeps to its own blocks: all bytes whose cts_shadow_shard() leaves
 * the same remainder by the number of threads belong to one thread. cts_shadow_fill() wants the
 * shadow to itself. */
#ifndef CTS_ANALYZE_SHADOW_H
#define CTS_ANALYZE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum cts_writer {
    CTS_WRITER_NOBODY = 0,
    CTS_WRITER_HOST = 1,
    CTS_WRITER_FIRST_NODE = 2,
    CTS_WRITER_READ = 1 << 30,
};
#define CTS_WRITER_MASK (CTS_WRITER_READ - 1)

enum { CTS_SHADOW_BLOCK_BITS = 21, CTS_SHADOW_SHARDS = 16, CTS_SHADOW_VIEW_BITS = 8 };

static inline unsigned cts_shadow_shard(uint64_t address)
{
    return (address >> CTS_SHADOW_BLOCK_BITS) % CTS_SHADOW_SHARDS;
}

struct cts_shadow;

/* A thread's window on a shadow: remembers where the last blocks were. Zero-initialise, with
 * `shadow` set; the shadow must outlive it. */
struct cts_shadow_view {
    struct cts_shadow *shadow;
    uint64_t generation;
    struct {
        uint64_t key;
        struct cts_shadow_block *block;
    } cache[1 << CTS_SHADOW_VIEW_BITS];
};

struct cts_shadow *cts_shadow_new(struct cts_error *error);
void cts_shadow_free(struct cts_shadow *shadow);

/* The writer (with its CTS_WRITER_READ) of the byte at `start`; returns up to where, at most `end`,
 * it is known to hold: the byte there may have the same. */
uint64_t cts_shadow_run(struct cts_shadow_view *view, uint64_t start, uint64_t end,
                        uint32_t *writer);

/* Fetches the shadow of a byte into the cache. */
void cts_shadow_prefetch(struct cts_shadow_view *view, uint64_t address);

/* Accesses of one width, at base + offsets[0], base + offsets[1], ... */
struct cts_shadow_accesses {
    uint64_t base;
    const uint32_t *offsets;
    unsigned count;
    uint32_t width_bytes;
};

/* For each access the one writer of all of its bytes, or CTS_WRITER_SEVERAL where there may be
 * more: cts_shadow_run() tells. Scattered accesses do not wait for each other's memory. */
#define CTS_WRITER_SEVERAL UINT32_MAX
void cts_shadow_writers(struct cts_shadow_view *view, const struct cts_shadow_accesses *accesses,
                        uint32_t *writers);

/* Sets the writer of a range of any size. */
CTS_MUST_CHECK enum cts_status cts_shadow_fill(struct cts_shadow *shadow, uint64_t start,
                                               uint64_t end, uint32_t writer,
                                               struct cts_error *error);

/* The same for a range inside one block of 2^CTS_SHADOW_BLOCK_BITS bytes; see Threads. */
CTS_MUST_CHECK enum cts_status cts_shadow_set(struct cts_shadow_view *view, uint64_t start,
                                              uint64_t end, uint32_t writer,
                                              struct cts_error *error);

/* Sets the writer of a range inside one page of 4 KiB when no byte of it has one from `first_node`
 * on and writing whole words does it; else does nothing and returns false. See Threads. */
bool cts_shadow_set_fresh(struct cts_shadow_view *view, uint64_t start, uint64_t end,
                          uint32_t writer, uint32_t first_node);

/* Memory that it holds. */
uint64_t cts_shadow_size_bytes(const struct cts_shadow *shadow);

#endif
