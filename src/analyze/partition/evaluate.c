/* What a pattern costs under every task: a mapping with a number of partitions.
 *
 * The CTAs of a set become a mask of partitions; a group's traffic is its bytes for each bit of the
 * readers' mask but the writer's. With up to 64 partitions a mask is one word and the masks of all
 * sets are made once; with more they are made group by group. Threads take tasks one after the
 * other; results of patterns that came before are only added up. */
#include <stdatomic.h>

#include "analyze/partition/partition-model.h"
#include "common/parallel.h"

enum { WORDS_MAX = CTS_PARTITIONS_MAX / 64 + 1 };

void cts_partition_assign(const struct cts_partition_model *model,
                          const struct cts_partition_task *task, uint16_t *parts)
{
    if (!task->mapping) {
        memcpy(parts, task->assigned, model->place_count * sizeof *parts);
        return;
    }
    const struct cts_partition_line *const line = &model->lines[task->line];
    for (size_t s = 0; s < model->shape_count; s++) {
        const struct cts_partition_shape *const shape = &model->shapes[s];
        for (uint32_t i = 0; i < shape->grid.cta_count; i++) {
            const uint32_t place = shape->first_place + i;
            parts[place] = (uint16_t)cts_mapping_partition(task->mapping, line->positions[place],
                                                           line->lengths[s], task->p,
                                                           model->options.block_ctas);
        }
    }
}

/* A pattern under a task. */
struct view {
    const struct cts_partition_model *model;
    const struct cts_launch_pattern *pattern;
    const struct cts_partition_task *task;
    const uint16_t *parts;
    unsigned words;
    uint64_t *masks;       /* one word: of all sets; else one mask after the other: */
    uint32_t mask_sets[2]; /*   of these sets */
    uint64_t *cells, *fetches;
};

static void make_mask(const struct view *v, uint32_t set, uint64_t *mask)
{
    const struct cts_launch_pattern *const p = v->pattern;
    memset(mask, 0, v->words * sizeof *mask);
    for (uint32_t i = p->set_begin[set]; i < p->set_begin[set + 1]; i++) {
        const uint16_t part = v->parts[p->members[i]];
        mask[part / 64] |= UINT64_C(1) << (part % 64);
    }
}

/* The mask of a set; `which` (0 or 1) tells apart two that are needed at a time. */
static inline const uint64_t *mask_of(struct view *v, uint32_t set, unsigned which)
{
    if (v->words == 1) return &v->masks[set];
    uint64_t *const mask = v->masks + (size_t)which * v->words;
    if (v->mask_sets[which] != set) make_mask(v, set, mask);
    v->mask_sets[which] = set;
    return mask;
}

static inline void add_to_parts(uint64_t *cells, uint64_t bits, unsigned first, uint64_t bytes)
{
    for (; bits; bits &= bits - 1)
        cells[(first + (unsigned)__builtin_ctzll(bits)) * CTS_CELLS_PER_PART] += bytes;
}

/* Bits of word `w` of a mask without `part` (CTS_NO_PLACE: whole). */
static inline uint64_t without(uint64_t bits, unsigned w, uint32_t part)
{
    return part / 64 == w ? bits & ~(UINT64_C(1) << (part % 64)) : bits;
}

static inline uint32_t part_of(const struct view *v, uint32_t place)
{
    return place == CTS_NO_PLACE ? CTS_NO_PLACE : v->parts[place];
}

static uint64_t *scalars_of(const struct view *v)
{
    return v->cells + (size_t)v->task->p * CTS_CELLS_PER_PART;
}

static void evaluate_reads(struct view *v)
{
    uint64_t *const shared = scalars_of(v) + CTS_SCALAR_SHARED;
    uint64_t *const by_kernel = scalars_of(v) + CTS_SCALAR_COUNT;
    uint64_t *const by_place = by_kernel + v->model->result->kernel_count;
    for (size_t i = 0; i < v->pattern->read_count; i++) {
        const struct cts_byte_group g = v->pattern->reads[i];
        const uint64_t *const mask = mask_of(v, g.set, 0);
        const uint32_t writer = part_of(v, g.place);
        uint64_t remote = 0;
        for (unsigned w = 0; w < v->words; w++) {
            add_to_parts(v->cells + CTS_CELL_READ, mask[w], w * 64, g.bytes);
            if (writer == CTS_NO_PLACE) continue;
            const uint64_t others = without(mask[w], w, writer);
            add_to_parts(v->cells + CTS_CELL_IN, others, w * 64, g.bytes);
            remote += (uint64_t)__builtin_popcountll(others);
        }
        if (!remote) continue;
        *shared += g.bytes;
        v->cells[writer * CTS_CELLS_PER_PART + CTS_CELL_OUT] += remote * g.bytes;
        by_kernel[g.third >> 16] += remote * g.bytes;
        by_place[g.third & 0xffff] += remote * g.bytes;
    }
}

/* Whether a partition other than `writer`'s is in the set. */
static bool is_remote(struct view *v, uint32_t set, unsigned which, uint32_t writer)
{
    const uint64_t *const mask = mask_of(v, set, which);
    for (unsigned w = 0; w < v->words; w++)
        if (without(mask[w], w, writer)) return true;
    return false;
}

/* Whether another partition than the writer's reads a group's bytes now and had read them before.
 */
static bool was_shared(struct view *v, const struct cts_byte_group *group)
{
    const struct cts_launch_pattern *const p = v->pattern;
    const uint32_t writer = part_of(v, group->place);
    if (!is_remote(v, group->set, 0, writer)) return false;
    for (uint32_t k = p->history_begin[group->third]; k < p->history_begin[group->third + 1]; k++)
        if (is_remote(v, p->readings[k].set, 1, writer)) return true;
    return false;
}

/* Bytes that a partition reads again: in the last launch in which it had read them. */
static void evaluate_refetches(struct view *v)
{
    const struct cts_launch_pattern *const p = v->pattern;
    uint64_t *const again = scalars_of(v) + CTS_SCALAR_REFETCH;
    for (size_t i = 0; i < p->refetch_count; i++) {
        const struct cts_byte_group g = p->refetches[i];
        uint64_t left[WORDS_MAX];
        if (was_shared(v, &g)) scalars_of(v)[CTS_SCALAR_SHARED] -= g.bytes;
        const uint64_t *const mask = mask_of(v, g.set, 0);
        for (unsigned w = 0; w < v->words; w++) left[w] = without(mask[w], w, part_of(v, g.place));
        for (uint32_t k = p->history_begin[g.third]; k < p->history_begin[g.third + 1]; k++) {
            const struct cts_pattern_reading reading = p->readings[k];
            const uint64_t *const before = mask_of(v, reading.set, 1);
            for (unsigned w = 0; w < v->words; w++) {
                uint64_t hit = left[w] & before[w];
                left[w] &= ~hit;
                *again += (uint64_t)__builtin_popcountll(hit) * g.bytes;
                if (!v->fetches || reading.distance == UINT32_MAX) continue;
                uint64_t *const fetches = v->fetches + (size_t)reading.distance * v->task->p;
                for (; hit; hit &= hit - 1)
                    fetches[w * 64 + (unsigned)__builtin_ctzll(hit)] += g.bytes;
            }
        }
    }
}

static void evaluate_homes(struct view *v)
{
    uint64_t *const scalars = scalars_of(v);
    for (size_t i = 0; i < v->pattern->home_read_count; i++) {
        const struct cts_byte_group g = v->pattern->home_reads[i];
        const uint64_t *const mask = mask_of(v, g.set, 0);
        for (unsigned w = 0; w < v->words; w++)
            scalars[CTS_SCALAR_TOUCH_READ] +=
                (uint64_t)__builtin_popcountll(without(mask[w], w, part_of(v, g.place))) * g.bytes;
    }
    for (size_t i = 0; i < v->pattern->home_write_count; i++) {
        const struct cts_byte_group g = v->pattern->home_writes[i];
        const uint64_t *const mask = mask_of(v, g.set, 0);
        uint64_t parts = 0;
        for (unsigned w = 0; w < v->words; w++) {
            add_to_parts(v->cells + CTS_CELL_WRITTEN, mask[w], w * 64, g.bytes);
            parts += (uint64_t)__builtin_popcountll(mask[w]);
            scalars[CTS_SCALAR_TOUCH_WRITE] +=
                (uint64_t)__builtin_popcountll(without(mask[w], w, part_of(v, g.place))) * g.bytes;
        }
        scalars[CTS_SCALAR_OWNER_WRITE] += (parts - 1) * g.bytes;
    }
}

static enum cts_status evaluate(struct cts_partition_model *model,
                                struct cts_partition_thread *thread,
                                const struct cts_partition_task *task, const uint16_t *parts,
                                struct cts_launch_pattern *pattern)
{
    struct view v = {.model = model,
                     .pattern = pattern,
                     .task = task,
                     .parts = parts,
                     .words = (task->p + 63) / 64,
                     .mask_sets = {UINT32_MAX, UINT32_MAX},
                     .cells = pattern->cells + task->cell_offset};
    if (pattern->fetches)
        v.fetches = pattern->fetches + task->part_offset * pattern->distance_count;
    const size_t needed = v.words == 1 ? pattern->set_count : 2 * (size_t)v.words;
    if (needed > thread->mask_words &&
        cts_array_grow((void **)&thread->masks, &thread->mask_words, needed, sizeof *thread->masks,
                       &thread->error))
        return CTS_MEMORY;
    v.masks = thread->masks;
    for (uint32_t i = 0; v.words == 1 && i < pattern->set_count; i++) make_mask(&v, i, &v.masks[i]);
    evaluate_reads(&v);
    evaluate_refetches(&v);
    evaluate_homes(&v);
    return CTS_OK;
}

struct evaluation {
    struct cts_partition_model *model;
    const bool *has_results; /* by region */
};

static enum cts_status run_task(const struct evaluation *e, struct cts_partition_thread *thread,
                                const struct cts_partition_task *task)
{
    struct cts_partition_model *const model = e->model;
    const uint16_t *parts = task->parts;
    uint64_t *const sum = model->cells + task->cell_offset;
    const size_t count = (size_t)task->p * CTS_CELLS_PER_PART + CTS_SCALAR_COUNT +
                         model->result->kernel_count + model->result->place_count;
    memset(sum, 0, count * sizeof *sum);
    for (unsigned r = 0; r < model->thread_count; r++) {
        if (cts_access_source_go_on(model->plan.source, &thread->error))
            return thread->error.status;
        struct cts_launch_pattern *const pattern = model->regions[r].pattern;
        if (!e->has_results[r]) {
            if (!parts) {
                cts_partition_assign(model, task, thread->parts);
                parts = thread->parts;
            }
            const enum cts_status status = evaluate(model, thread, task, parts, pattern);
            if (status) return status;
        }
        const uint64_t *const cells = pattern->cells + task->cell_offset;
        for (size_t i = 0; i < count; i++) sum[i] += cells[i];
    }
    return CTS_OK;
}

static enum cts_status run_one(void *state, unsigned index, size_t item, struct cts_error *error)
{
    const struct evaluation *const e = state;
    struct cts_partition_thread *const thread = &e->model->threads[index];
    const enum cts_status status = run_task(e, thread, &e->model->tasks[item]);
    if (status) *error = thread->error;
    return status;
}

enum cts_status cts_partition_evaluate(struct cts_partition_model *model, struct cts_error *error)
{
    bool has_results[256] = {false};
    bool all_have = true;
    for (unsigned r = 0; r < model->thread_count; r++) {
        const enum cts_status status = cts_pattern_prepare(&model->regions[r], &has_results[r]);
        if (status) {
            if (error) *error = model->regions[r].error;
            return status;
        }
        all_have &= has_results[r];
    }
    struct evaluation e = {.model = model, .has_results = has_results};
    return cts_for_each(model->task_count, all_have ? 1 : model->thread_count, run_one, &e, error);
}
