/* From a decoded batch to a block. Shapes are found through a hash table as large as twice the
 * records, since a hostile chunk may have a shape for each record. Costs are counted here, once:
 * those of lists are what takes longest of all that a question about groups needs. */
#include "view/selection/block.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "view/selection/selection.h"
#include "common/array.h"

void cts_block_builder_release(struct block_builder *builder)
{
    free(builder->slots);
    free(builder->shape);
    free(builder->shapes.items);
    free(builder->segments.items);
    builder->slots = NULL;
    builder->shape = NULL;
    builder->shapes.items = NULL;
    builder->segments.items = NULL;
}

void cts_block_free(struct block *block)
{
    if (!block) return;
    free(block->shapes);
    free(block->segments);
    free(block->shape);
    free(block->base);
    free(block->offset_start);
    free(block->warp);
    free(block->cost);
    free(block->ideal);
    free(block->offsets);
    free(block);
}

static unsigned kind_of(enum cts_operation operation)
{
    if (cts_operation_is_atomic(operation)) return CTS_SELECTION_ATOMICS;
    return operation == CTS_STORE ? CTS_SELECTION_STORES : CTS_SELECTION_LOADS;
}

/* What the lanes' addresses reach from the base. */
static void find_reach(struct block_shape *shape)
{
    const unsigned row_lanes = shape->pattern == CTS_PATTERN_TWO_LEVEL ? shape->row_lanes : 32;
    if (shape->pattern == CTS_PATTERN_LIST) return;
    shape->low = INT64_MAX;
    shape->high = INT64_MIN;
    for (uint32_t mask = shape->mask; mask; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        const int64_t at =
            (int64_t)shape->s0 * (lane % row_lanes) + (int64_t)shape->s1 * (lane / row_lanes);
        if (at < shape->low) shape->low = at;
        if (at > shape->high) shape->high = at;
    }
}

static struct block_shape shape_of(const struct cts_catalogue *catalogue,
                                   const struct cts_acc_batch *batch, size_t i)
{
    struct block_shape shape = {
        .site = batch->site[i],
        .mask = batch->mask[i],
        .s0 = batch->s0[i],
        .s1 = batch->s1[i],
        .space = batch->space[i],
        .pattern = batch->pattern[i],
        .row_lanes = batch->row_lanes[i],
        .view = (uint8_t)view_space(batch->space[i]),
        .lanes = (uint8_t)__builtin_popcount(batch->mask[i]),
    };
    if (shape.site < catalogue->site_count) {
        const struct cts_site *const site = &catalogue->sites[shape.site];
        const enum cts_operation operation = site->operation;
        if (site->width_bytes <= CTS_WIDTH_MAX && operation)
            shape.width_bytes = (uint8_t)site->width_bytes;
        shape.kind = (uint8_t)kind_of(operation);
        shape.reads = cts_operation_reads(operation);
        shape.writes = cts_operation_writes(operation);
    }
    find_reach(&shape);
    return shape;
}

static uint64_t hash_of(const struct cts_acc_batch *batch, size_t i)
{
    const uint64_t rest =
        (uint64_t)batch->space[i] << 16 | (uint64_t)batch->pattern[i] << 8 | batch->row_lanes[i];
    uint64_t hash = cts_hash_fold(0, (uint64_t)batch->site[i] << 32 | batch->mask[i]);
    hash = cts_hash_fold(hash, (uint64_t)(uint32_t)batch->s0[i] << 32 | (uint32_t)batch->s1[i]);
    hash = cts_hash_add(hash, rest);
    return hash ^ hash >> 32;
}

static bool has_shape(const struct block_shape *shape, const struct cts_acc_batch *batch, size_t i)
{
    return shape->site == batch->site[i] && shape->mask == batch->mask[i] &&
           shape->s0 == batch->s0[i] && shape->s1 == batch->s1[i] &&
           shape->space == batch->space[i] && shape->pattern == batch->pattern[i] &&
           shape->row_lanes == batch->row_lanes[i];
}

static enum cts_status find_shape(struct block_builder *builder,
                                  const struct cts_catalogue *catalogue, size_t i,
                                  struct cts_error *error)
{
    const struct cts_acc_batch *const batch = &builder->batch;
    const size_t mask = builder->slot_count - 1;
    for (size_t slot = hash_of(batch, i) & mask;; slot = (slot + 1) & mask) {
        const uint32_t found = builder->slots[slot];
        if (found && !has_shape(&builder->shapes.items[found - 1], batch, i)) continue;
        if (!found) {
            if (CTS_ARRAY_RESERVE(&builder->shapes, builder->shapes.count + 1, error))
                return CTS_MEMORY;
            builder->shapes.items[builder->shapes.count++] = shape_of(catalogue, batch, i);
            builder->slots[slot] = (uint32_t)builder->shapes.count;
        }
        builder->shape[i] = builder->slots[slot] - 1;
        return CTS_OK;
    }
}

/* Shapes and segments of the batch, in the builder. */
static enum cts_status sort_out(struct block_builder *builder,
                                const struct cts_catalogue *catalogue, struct cts_error *error)
{
    const struct cts_acc_batch *const batch = &builder->batch;
    const size_t count = batch->record_count;
    size_t slots = 64;
    while (slots < 2 * count) slots *= 2;
    if (slots > builder->slot_count || count > builder->shape_room) {
        free(builder->slots);
        free(builder->shape);
        builder->slot_count = builder->shape_room = 0;
        builder->slots = malloc(slots * sizeof *builder->slots);
        builder->shape = malloc((count ? count : 1) * sizeof *builder->shape);
        if (!builder->slots || !builder->shape)
            return cts_fail(error, CTS_MEMORY, "no memory for %zu records", count);
        builder->slot_count = slots;
        builder->shape_room = count;
    }
    memset(builder->slots, 0, builder->slot_count * sizeof *builder->slots);
    builder->shapes.count = builder->segments.count = 0;
    for (size_t i = 0; i < count; i++) {
        if (find_shape(builder, catalogue, i, error)) return CTS_MEMORY;
        builder->shapes.items[builder->shape[i]].record_count++;
        if (i && batch->cta[i] == batch->cta[i - 1]) continue;
        if (CTS_ARRAY_RESERVE(&builder->segments, builder->segments.count + 2, error))
            return CTS_MEMORY;
        builder->segments.items[builder->segments.count++] =
            (struct block_segment){.cta = batch->cta[i], .first = (uint32_t)i};
    }
    return CTS_OK;
}

static void *copy_of(const void *from, size_t count, size_t item_bytes, struct block *block)
{
    void *const to = malloc(count ? count * item_bytes : 1);
    if (to && count) memcpy(to, from, count * item_bytes);
    block->size_bytes += count * item_bytes;
    return to;
}

static bool has_lists(const struct block_builder *builder)
{
    for (size_t k = 0; k < builder->shapes.count; k++)
        if (builder->shapes.items[k].pattern == CTS_PATTERN_LIST) return true;
    return false;
}

static bool copy_columns(struct block *block, const struct block_builder *builder)
{
    const struct cts_acc_batch *const batch = &builder->batch;
    const size_t count = block->record_count;
    block->shapes =
        copy_of(builder->shapes.items, block->shape_count, sizeof *block->shapes, block);
    block->segments = copy_of(builder->segments.items, block->segment_count + (count > 0),
                              sizeof *block->segments, block);
    block->shape = copy_of(builder->shape, count, sizeof *block->shape, block);
    block->base = copy_of(batch->base, count, sizeof *block->base, block);
    block->warp = copy_of(batch->warp, count, sizeof *block->warp, block);
    block->cost = malloc((count ? count : 1) * sizeof *block->cost);
    block->ideal = malloc((count ? count : 1) * sizeof *block->ideal);
    block->size_bytes += count * (sizeof *block->cost + sizeof *block->ideal);
    if (!block->shapes || !block->segments || !block->shape || !block->base || !block->warp ||
        !block->cost || !block->ideal)
        return false;
    if (count) block->segments[block->segment_count].first = (uint32_t)count;
    if (!has_lists(builder)) return true;
    block->offset_start = copy_of(batch->offset_start, count, sizeof *block->offset_start, block);
    block->offsets = copy_of(batch->offsets, batch->offset_count, sizeof *block->offsets, block);
    return block->offset_start && block->offsets;
}

/* Where the records of each shape go. */
static void find_bounds(struct block *block)
{
    for (size_t s = 0; s < block->shape_count; s++) {
        struct block_shape *const shape = &block->shapes[s];
        shape->first = UINT64_MAX;
        shape->alignment = shape->width_bytes | (uint64_t)shape->s0 | (uint64_t)shape->s1;
    }
    for (size_t i = 0; i < block->record_count; i++) {
        struct block_shape *const shape = &block->shapes[block->shape[i]];
        struct block_hull hull = block_hull(block, shape, i);
        if (hull.first > hull.last) hull = (struct block_hull){0, UINT64_MAX};
        if (hull.first < shape->first) shape->first = hull.first;
        if (hull.last > shape->last) shape->last = hull.last;
        shape->alignment |= block->base[i];
        if (shape->pattern != CTS_PATTERN_LIST) continue;
        const uint32_t *const offsets = block->offsets + block->offset_start[i];
        for (unsigned k = 0; k < shape->lanes; k++) shape->alignment |= offsets[k];
    }
}

static void count_costs(struct block *block, struct block_builder *builder, unsigned bank_bytes)
{
    for (size_t i = 0; i < block->record_count; i++) {
        const struct block_shape *const shape = &block->shapes[block->shape[i]];
        block->cost[i] = block->ideal[i] = 0;
        if (!shape->width_bytes) continue;
        const struct cts_access access = block_access(block, i);
        const struct cts_request_cost cost =
            cts_request_cost_remembered(&builder->costs, &access, shape->width_bytes, bank_bytes,
                                        shape->kind == CTS_SELECTION_LOADS);
        const bool is_shared = shape->view == VIEW_SHARED;
        const unsigned ideal_sectors =
            (cost.distinct_bytes + CTS_SECTOR_BYTES - 1u) / CTS_SECTOR_BYTES;
        block->cost[i] = (uint16_t)(is_shared ? cost.wavefronts : cost.sectors);
        block->ideal[i] = (uint16_t)(is_shared ? cost.ideal_wavefronts : ideal_sectors);
    }
}

enum cts_status cts_block_build(struct block_builder *builder,
                                const struct cts_catalogue *catalogue, unsigned bank_bytes,
                                struct block **out, struct cts_error *error)
{
    *out = NULL;
    if (sort_out(builder, catalogue, error)) return CTS_MEMORY;
    struct block *const block = calloc(1, sizeof *block);
    if (!block) return cts_fail(error, CTS_MEMORY, "no memory for records");
    block->record_count = (uint32_t)builder->batch.record_count;
    block->shape_count = (uint32_t)builder->shapes.count;
    block->segment_count = (uint32_t)builder->segments.count;
    block->size_bytes = sizeof *block;
    if (!copy_columns(block, builder)) {
        cts_block_free(block);
        return cts_fail(error, CTS_MEMORY, "no memory for %zu records",
                        builder->batch.record_count);
    }
    find_bounds(block);
    count_costs(block, builder, bank_bytes);
    *out = block;
    return CTS_OK;
}
