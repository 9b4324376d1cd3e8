/* CTAs of a regular kernel do the same in shared memory, one as the other: what the warps of one
 * have in common, those of all have. CTAs whose requests are equal, warp by warp and in the order
 * in which each warp made them, are a *group*; one of it is looked at, its *example*.
 *
 *     key      the requests of a CTA that pass the filter, as words; equal keys, equal requests
 *     span     CTAs that follow each other, of one group
 *
 * CTAs whose records come in several pieces are in no group. Where groups are nearly as many as
 * CTAs, or their keys too long, there are none at all: then it is quicker to look at each CTA. */
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "view/selection/conflict.h"
#include "common/array.h"
#include "common/map.h"

enum {
    GROUPS_FREE = 64, /* groups that may be, and one more for each so many CTAs: */
    CTAS_PER_GROUP = 16,
    MEMORY_PART = 64, /* of what blocks may take up: the keys of a thread (4 MiB of 256) */
};

struct group {
    uint64_t hash;
    size_t start, count; /* of its key, in words */
    size_t next;         /* 1 + the next one with the hash */
    uint32_t cta;        /* its example */
    size_t chunk;        /* where that is */
    size_t place;        /* among the groups of all threads */
};

/* What a thread has found. */
struct part {
    atomic_bool *is_over;
    size_t words_max;
    struct {
        uint64_t *items;
        size_t count, capacity;
    } words, key; /* of all groups; of the CTA at hand */
    struct {
        uint32_t *items;
        size_t count, capacity;
    } records; /* of the CTA at hand that pass */
    struct {
        struct group *items;
        size_t count, capacity;
    } groups;
    struct {
        struct conflict_span *items;
        size_t count, capacity;
    } spans;
    struct cts_map by_hash; /* 1 + the first group */
    size_t cta_count;
};

/* ---- keys ---- */

static int by_warp(const void *a, const void *b, void *state)
{
    const struct block *const block = state;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (block->warp[i] != block->warp[k]) return block->warp[i] < block->warp[k] ? -1 : 1;
    return (i > k) - (i < k);
}

static enum cts_status take_records(struct part *part, const struct scan_block *it, size_t segment,
                                    struct cts_error *error)
{
    const struct block *const block = it->block;
    bool is_sorted = true;
    part->records.count = 0;
    SCAN_RECORDS(it, segment, i)
    {
        const size_t count = part->records.count;
        if (block->shapes[block->shape[i]].view != VIEW_SHARED) continue;
        if (CTS_ARRAY_RESERVE(&part->records, count + 1, error)) return CTS_MEMORY;
        if (count && block->warp[i] < block->warp[part->records.items[count - 1]])
            is_sorted = false;
        part->records.items[part->records.count++] = (uint32_t)i;
    }
    if (!is_sorted)
        qsort_r(part->records.items, part->records.count, sizeof *part->records.items, by_warp,
                (void *)block);
    return CTS_OK;
}

static enum cts_status make_key(struct part *part, const struct block *block,
                                struct cts_error *error)
{
    enum { WORDS_MOST = 4 + CTS_WARP_LANES / 2 }; /* of a record */
    part->key.count = 0;
    for (size_t r = 0; r < part->records.count; r++) {
        const size_t i = part->records.items[r];
        const struct block_shape *const shape = &block->shapes[block->shape[i]];
        if (CTS_ARRAY_RESERVE(&part->key, part->key.count + WORDS_MOST, error)) return CTS_MEMORY;
        uint64_t *const words = part->key.items + part->key.count;
        words[0] = (uint64_t)shape->mask << 32 | (uint32_t)block->warp[i] << 8 | shape->pattern;
        words[1] = block->base[i];
        words[2] = (uint64_t)(uint32_t)shape->s0 << 32 | (uint32_t)shape->s1;
        words[3] =
            conflict_does(shape) << 16 | (uint32_t)shape->row_lanes << 8 | shape->width_bytes;
        part->key.count += 4;
        if (shape->pattern != CTS_PATTERN_LIST) continue;
        const size_t count = (shape->lanes + 1u) / 2;
        words[4 + count - 1] = 0;
        memcpy(words + 4, block->offsets + block->offset_start[i],
               shape->lanes * sizeof *block->offsets);
        part->key.count += count;
    }
    return CTS_OK;
}

static uint64_t hash_of(const uint64_t *words, size_t count)
{
    uint64_t hash = count;
    for (size_t w = 0; w < count; w++) {
        hash = cts_hash_add(hash, words[w]);
        hash ^= hash >> 32;
    }
    return hash;
}

/* ---- groups ---- */

/* The place of the group with such a key, or SIZE_MAX. */
static size_t find_group(const struct part *part, uint64_t hash, const uint64_t *key, size_t count)
{
    const uint64_t *const first = cts_map_find(&part->by_hash, hash);
    for (size_t next = first ? *first : 0; next; next = part->groups.items[next - 1].next) {
        const struct group *const it = &part->groups.items[next - 1];
        if (it->count == count && !memcmp(part->words.items + it->start, key, count * sizeof *key))
            return next - 1;
    }
    return SIZE_MAX;
}

static enum cts_status add_group(struct part *part, uint64_t hash, uint32_t cta, size_t chunk,
                                 struct cts_error *error)
{
    const size_t count = part->key.count, start = part->words.count;
    if (CTS_ARRAY_RESERVE(&part->words, start + count, error) ||
        CTS_ARRAY_RESERVE(&part->groups, part->groups.count + 1, error))
        return CTS_MEMORY;
    uint64_t *const first = cts_map_at(&part->by_hash, hash, error);
    if (!first) return CTS_MEMORY;
    memcpy(part->words.items + start, part->key.items, count * sizeof *part->key.items);
    part->words.count += count;
    part->groups.items[part->groups.count++] = (struct group){
        .hash = hash, .start = start, .count = count, .next = *first, .cta = cta, .chunk = chunk};
    *first = part->groups.count;
    return CTS_OK;
}

static enum cts_status add_cta(struct part *part, uint32_t cta, size_t chunk,
                               struct cts_error *error)
{
    const uint64_t hash = hash_of(part->key.items, part->key.count);
    struct conflict_span *last =
        part->spans.count ? &part->spans.items[part->spans.count - 1] : NULL;
    size_t group = find_group(part, hash, part->key.items, part->key.count);
    part->cta_count++;
    if (group == SIZE_MAX) {
        if (part->groups.count >= GROUPS_FREE + part->cta_count / CTAS_PER_GROUP ||
            part->words.count + part->key.count > part->words_max) {
            atomic_store(part->is_over, true);
            return CTS_OK;
        }
        group = part->groups.count;
        if (add_group(part, hash, cta, chunk, error)) return CTS_MEMORY;
    }
    if (last && last->window == group && last->last != UINT32_MAX && last->last + 1 == cta) {
        last->last = cta;
        return CTS_OK;
    }
    if (CTS_ARRAY_RESERVE(&part->spans, part->spans.count + 1, error)) return CTS_MEMORY;
    part->spans.items[part->spans.count++] =
        (struct conflict_span){.first = cta, .last = cta, .window = group};
    return CTS_OK;
}

static enum cts_status visit(void *state, const struct scan_block *it, struct cts_error *error)
{
    struct part *const part = state;
    enum cts_status status = CTS_OK;
    SCAN_SEGMENTS(it, segment)
    {
        const uint32_t cta = it->block->segments[segment].cta;
        if (atomic_load_explicit(part->is_over, memory_order_relaxed)) return CTS_OK;
        if (cts_view_split_place(it->scan->view, cta) != UINT32_MAX) continue;
        status = take_records(part, it, segment, error);
        if (!status && !part->records.count) continue;
        if (!status) status = make_key(part, it->block, error);
        if (!status) status = add_cta(part, cta, it->chunk, error);
        if (status) return status;
    }
    return CTS_OK;
}

static bool wants(const struct scan *scan, size_t chunk)
{
    const struct part *const part = scan->wants_state;
    return !atomic_load_explicit(part->is_over, memory_order_relaxed) &&
           scan->view->summaries[chunk].spaces[VIEW_SHARED].access_count;
}

/* ---- all threads ---- */

/* The groups of a part among those of the first one, where equal ones are one. */
static enum cts_status join_groups(struct part *all, struct part *part, struct cts_error *error)
{
    for (size_t g = 0; g < part->groups.count; g++) {
        struct group *const it = &part->groups.items[g];
        const uint64_t *const key = part->words.items + it->start;
        it->place = g;
        if (part == all) continue;
        it->place = find_group(all, it->hash, key, it->count);
        if (it->place != SIZE_MAX) continue;
        it->place = all->groups.count;
        if (CTS_ARRAY_RESERVE(&all->key, it->count, error)) return CTS_MEMORY;
        memcpy(all->key.items, key, it->count * sizeof *key);
        all->key.count = it->count;
        if (add_group(all, it->hash, it->cta, it->chunk, error)) return CTS_MEMORY;
    }
    return CTS_OK;
}

static enum cts_status join(struct part *parts, unsigned count, struct conflict_alike *alike,
                            struct cts_error *error)
{
    size_t span_count = 0;
    for (unsigned t = 0; t < count; t++) {
        if (join_groups(&parts[0], &parts[t], error)) return CTS_MEMORY;
        span_count += parts[t].spans.count;
    }
    const size_t group_count = parts[0].groups.count;
    alike->spans = cts_array_zeroed(span_count, sizeof *alike->spans, error);
    alike->examples = cts_array_zeroed(group_count, sizeof *alike->examples, error);
    if (!alike->spans || !alike->examples) return CTS_MEMORY;
    for (unsigned t = 0; t < count; t++)
        for (size_t s = 0; s < parts[t].spans.count; s++) {
            struct conflict_span *const span = &alike->spans[alike->span_count++];
            *span = parts[t].spans.items[s];
            span->window = parts[t].groups.items[span->window].place;
        }
    for (; alike->group_count < group_count; alike->group_count++)
        alike->examples[alike->group_count] =
            (struct conflict_example){.cta = parts[0].groups.items[alike->group_count].cta,
                                      .chunk = parts[0].groups.items[alike->group_count].chunk};
    alike->is_there = true;
    return CTS_OK;
}

enum cts_status cts_conflict_alike_find(struct conflict_alike *alike, struct conflict_plan *plan,
                                        struct cts_error *error)
{
    struct scan *const scan = plan->scan;
    atomic_bool is_over = false;
    const size_t words_max =
        (size_t)(scan->selection->options.memory_bytes / MEMORY_PART / sizeof(uint64_t));
    *alike = (struct conflict_alike){0};
    struct part *const parts = cts_array_zeroed(scan->threads, sizeof *parts, error);
    if (!parts) return CTS_MEMORY;
    for (unsigned t = 0; t < scan->threads; t++)
        parts[t] = (struct part){.is_over = &is_over, .words_max = words_max};
    scan->states = parts;
    scan->state_bytes = sizeof *parts;
    scan->visit = visit;
    scan->wants = wants;
    scan->wants_state = parts;
    enum cts_status status = cts_selection_scan_run(scan, error);
    scan->wants = NULL;
    if (!status && !atomic_load(&is_over)) status = join(parts, scan->threads, alike, error);
    for (unsigned t = 0; t < scan->threads; t++) {
        free(parts[t].words.items);
        free(parts[t].key.items);
        free(parts[t].records.items);
        free(parts[t].groups.items);
        free(parts[t].spans.items);
        cts_map_release(&parts[t].by_hash);
    }
    free(parts);
    return status;
}

void cts_conflict_alike_release(struct conflict_alike *alike)
{
    free(alike->spans);
    free(alike->examples);
    *alike = (struct conflict_alike){0};
}
