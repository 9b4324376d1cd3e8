/* A chunk of records in the form in which a selection keeps it: small, and quick to go through.
 *
 *     segments     runs of records of one CTA
 *     shapes       what many records have alike: site, mask, strides, space
 *     per record   shape, warp, base, where its offsets start (lists), cost and ideal cost
 *
 * What a filter says of sites, lines, kinds and masks it says of shapes, once for a block.
 * Private to selection/. */
#ifndef CTS_SELECTION_BLOCK_H
#define CTS_SELECTION_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/access/request.h"
#include "trace/acc.h"
#include "trace/catalogue.h"

/* Spaces as the view knows them, in the order of struct chunk_summary. */
enum { VIEW_GLOBAL, VIEW_SHARED, VIEW_LOCAL, VIEW_SPACES };
static inline unsigned view_space(uint8_t space)
{
    return space == CTS_SPACE_SHARED  ? VIEW_SHARED
           : space == CTS_SPACE_LOCAL ? VIEW_LOCAL
                                      : VIEW_GLOBAL;
}
static inline uint8_t space_of_view(unsigned view)
{
    return view == VIEW_SHARED  ? CTS_SPACE_SHARED
           : view == VIEW_LOCAL ? CTS_SPACE_LOCAL
                                : CTS_SPACE_GLOBAL;
}

struct block_shape {
    uint32_t site, mask;
    int32_t s0, s1;
    uint8_t space, pattern, row_lanes;
    uint8_t view;        /* VIEW_... */
    uint8_t lanes;       /* active */
    uint8_t width_bytes; /* 0: of a site that is not known */
    uint8_t kind;        /* CTS_SELECTION_LOADS ... */
    bool reads, writes;
    int64_t low, high; /* of its lanes' addresses, from the base; lists: not known */
    uint64_t record_count;
    uint64_t first, last; /* the bytes that its records touch lie there */
    uint64_t alignment;   /* OR of their addresses and widths */
};

struct block_segment {
    uint32_t cta, first; /* its first record; it ends where the next one starts */
};

struct block {
    uint32_t record_count, shape_count, segment_count;
    struct block_shape *shapes;
    struct block_segment *segments; /* one more than there are, whose `first` is record_count */
    uint32_t *shape;
    uint64_t *base;
    uint32_t *offset_start; /* NULL: no lists */
    uint16_t *warp;
    uint16_t *cost, *ideal; /* sectors, or wavefronts of shared memory */
    uint32_t *offsets;
    uint64_t size_bytes;
    unsigned users; /* of selection-store.c: questions that read it now */
};

/* What a thread needs to build blocks. Zero-initialise. */
struct block_builder {
    struct cts_acc_batch batch;
    struct cts_cost_memory costs;
    uint32_t *slots; /* hash of shapes: index + 1 */
    size_t slot_count;
    uint32_t *shape;
    size_t shape_room;
    struct {
        struct block_shape *items;
        size_t count, capacity;
    } shapes;
    struct {
        struct block_segment *items;
        size_t count, capacity;
    } segments;
};
void cts_block_builder_release(struct block_builder *builder);

/* The batch that stands in the builder as a block. */
CTS_MUST_CHECK enum cts_status cts_block_build(struct block_builder *builder,
                                               const struct cts_catalogue *catalogue,
                                               unsigned bank_bytes, struct block **block,
                                               struct cts_error *error);
void cts_block_free(struct block *block);

/* Record i as an access; cta is 0. */
static inline struct cts_access block_access(const struct block *block, size_t i)
{
    const struct block_shape *const shape = &block->shapes[block->shape[i]];
    return (struct cts_access){
        .site = shape->site,
        .mask = shape->mask,
        .warp = block->warp[i],
        .space = shape->space,
        .pattern = shape->pattern,
        .row_lanes = shape->row_lanes,
        .s0 = shape->s0,
        .s1 = shape->s1,
        .base = block->base[i],
        .offsets =
            shape->pattern == CTS_PATTERN_LIST ? block->offsets + block->offset_start[i] : NULL,
    };
}

static inline const struct block_shape *block_shape_of(const struct block *block, size_t i)
{
    return &block->shapes[block->shape[i]];
}

/* The least and the greatest byte that record i touches. */
struct block_hull {
    uint64_t first, last;
};
static inline struct block_hull block_hull(const struct block *block,
                                           const struct block_shape *shape, size_t i)
{
    const uint64_t base = block->base[i];
    if (shape->pattern == CTS_PATTERN_LIST) {
        const uint32_t *const offsets = block->offsets + block->offset_start[i];
        uint32_t low = offsets[0], high = offsets[0];
        for (unsigned k = 1; k < shape->lanes; k++) {
            if (offsets[k] < low) low = offsets[k];
            if (offsets[k] > high) high = offsets[k];
        }
        return (struct block_hull){base + low, base + high + shape->width_bytes - 1u};
    }
    return (struct block_hull){base + (uint64_t)shape->low,
                               base + (uint64_t)shape->high + shape->width_bytes - 1u};
}

/* Whether a lane of record i, a list, touches a byte of first..last. Lanes are tested all together,
 * without a branch for each. */
static inline bool block_list_touches(const struct block *block, const struct block_shape *shape,
                                      size_t i, uint64_t first, uint64_t last)
{
    const uint32_t *const offsets = block->offsets + block->offset_start[i];
    const uint64_t base = block->base[i], reach = shape->width_bytes - 1u;
    const uint64_t from = first > reach ? first - reach : 0; /* lanes that begin there do */
    uint32_t any = 0;
    if (base > UINT64_MAX - UINT32_MAX - reach) { /* lanes may go round the end */
        for (unsigned k = 0; k < shape->lanes; k++) {
            const uint64_t at = base + offsets[k];
            any |= at <= last && (at + reach >= first || at + reach < at);
        }
        return any;
    }
    if (last < base || from > last || from > base + UINT32_MAX) return false;
    const uint32_t low = from > base ? (uint32_t)(from - base) : 0;
    const uint32_t span = (last - base < UINT32_MAX ? (uint32_t)(last - base) : UINT32_MAX) - low;
    if (shape->lanes == CTS_WARP_LANES)
        for (unsigned k = 0; k < CTS_WARP_LANES; k++) any |= offsets[k] - low <= span;
    else
        for (unsigned k = 0; k < shape->lanes; k++) any |= offsets[k] - low <= span;
    return any;
}

/* The bytes of a lane at `address`, as far as they are in [first, last]; false: none is. A lane
 * that would go beyond the last address ends there. */
static inline bool block_clip(const struct block_shape *shape, uint64_t address, uint64_t first,
                              uint64_t last, struct block_hull *lane)
{
    *lane = (struct block_hull){address, address + shape->width_bytes - 1u};
    if (lane->last < lane->first) lane->last = UINT64_MAX;
    if (lane->first > last || lane->last < first) return false;
    if (lane->first < first) lane->first = first;
    if (lane->last > last) lane->last = last;
    return true;
}

/* The addresses of the active lanes, one behind the other. */
static inline void block_addresses(const struct block *block, const struct block_shape *shape,
                                   size_t i, uint64_t addresses[CTS_WARP_LANES])
{
    const uint64_t base = block->base[i];
    unsigned count = 0;
    if (shape->pattern == CTS_PATTERN_LIST) {
        const uint32_t *const offsets = block->offsets + block->offset_start[i];
        for (unsigned k = 0; k < shape->lanes; k++) addresses[k] = base + offsets[k];
        return;
    }
    if (shape->pattern == CTS_PATTERN_AFFINE && shape->mask == UINT32_MAX) {
        for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++)
            addresses[lane] = base + (uint64_t)((int64_t)shape->s0 * lane);
        return;
    }
    const unsigned row_lanes = shape->pattern == CTS_PATTERN_TWO_LEVEL ? shape->row_lanes : 32;
    for (uint32_t mask = shape->mask; mask; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        addresses[count++] = base + (uint64_t)((int64_t)shape->s0 * (lane % row_lanes) +
                                               (int64_t)shape->s1 * (lane / row_lanes));
    }
}

#endif
