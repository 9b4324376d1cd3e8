/* The pattern of a launch in a region: its groups, as they were made or as an earlier launch had
 * them already.
 *
 * Two patterns are equal when the sums of their groups' hashes are (128 bits, over what the groups
 * mean and not over numbers that change from launch to launch), so that a launch that repeats
 * another costs one pass over its groups. Distances count only where a cache is asked for. */
#include <stdlib.h>

#include "analyze/partition/partition-model.h"

void cts_pattern_free(struct cts_launch_pattern *pattern)
{
    if (!pattern) return;
    free(pattern->set_begin);
    free(pattern->members);
    free(pattern->reads);
    free(pattern->refetches);
    free(pattern->home_reads);
    free(pattern->home_writes);
    free(pattern->history_begin);
    free(pattern->readings);
    free(pattern->distances);
    free(pattern->cells);
    free(pattern->fetches);
    free(pattern);
}

/* ---- telling patterns apart ---- */

struct hash {
    uint64_t one, two;
};

static uint64_t distance_of(const struct cts_partition_region *region, uint32_t launch)
{
    return region->model->options.l2_bytes ? region->model->launch - launch : 0;
}

/* What a history means, seen from the current launch. */
static uint64_t history_hash(const struct cts_partition_region *region, uint32_t history)
{
    uint64_t hash = 0;
    for (; history; history = region->history.items[history].older) {
        const struct cts_history *const entry = &region->history.items[history];
        const struct cts_set_key *const key = &region->sets.sets.items[entry->set].key;
        hash += cts_hash_draw(key->sum1 ^
                              cts_hash_draw(key->sum2 + distance_of(region, entry->launch)));
    }
    return hash;
}

static void add_hash(struct hash *hash, const struct cts_partition_region *region,
                     const struct cts_groups *groups, uint64_t kind)
{
    for (size_t i = 0; i < groups->count; i++) {
        const struct cts_byte_group *const group = &groups->items[i];
        const struct cts_set_key *const key =
            &region->sets.sets.items[region->local_sets[group->set]].key;
        const uint64_t third = kind == 1 ? history_hash(region, group->third) : group->third;
        const uint64_t what =
            cts_hash_draw(((uint64_t)group->place << 2 | kind) ^ cts_hash_draw(third));
        hash->one += cts_hash_draw(what ^ key->sum1 ^ cts_hash_draw(group->bytes));
        hash->two += cts_hash_draw(cts_hash_draw(what + key->sum2) ^ group->bytes);
    }
}

static struct hash hash_launch(const struct cts_partition_region *region)
{
    struct hash hash = {0};
    add_hash(&hash, region, &region->group_reads, 0);
    add_hash(&hash, region, &region->group_refetches, 1);
    add_hash(&hash, region, &region->group_home_reads, 2);
    add_hash(&hash, region, &region->group_home_writes, 3);
    return hash;
}

/* ---- making one ---- */

static void *copy_of(const void *items, size_t count, size_t item_bytes,
                     struct cts_launch_pattern *p, struct cts_error *error)
{
    void *const copy = cts_array_zeroed(count, item_bytes, error);
    if (copy && count) memcpy(copy, items, count * item_bytes);
    p->size_bytes += count * item_bytes;
    return copy;
}

static enum cts_status take_sets(struct cts_partition_region *region, struct cts_launch_pattern *p)
{
    const struct cts_place_sets *const sets = &region->sets;
    size_t member_count = 0;
    for (size_t i = 0; i < region->local_count; i++)
        member_count += sets->sets.items[region->local_sets[i]].key.count;
    if (member_count > UINT32_MAX)
        return cts_fail(&region->error, CTS_LIMIT, "a launch has too many different sets of CTAs");
    p->set_begin = cts_array_zeroed(region->local_count + 1, sizeof *p->set_begin, &region->error);
    p->members = cts_array_zeroed(member_count, sizeof *p->members, &region->error);
    if (!p->set_begin || !p->members) return CTS_MEMORY;
    p->size_bytes += (member_count + region->local_count) * sizeof *p->members;
    p->set_count = (uint32_t)region->local_count;
    for (size_t i = 0; i < region->local_count; i++) {
        const struct cts_place_set *const set = &sets->sets.items[region->local_sets[i]];
        memcpy(p->members + p->set_begin[i], sets->members.items + set->first,
               set->key.count * sizeof *p->members);
        p->set_begin[i + 1] = p->set_begin[i] + set->key.count;
    }
    return CTS_OK;
}

/* Distances of readings (as launches back, so far) get their places in a list. */
static enum cts_status number_distances(struct cts_partition_region *region,
                                        struct cts_launch_pattern *p, size_t reading_count)
{
    bool seen[CTS_PARTITION_DISTANCES + 1] = {false};
    uint32_t number[CTS_PARTITION_DISTANCES + 1] = {0};
    p->distances =
        cts_array_zeroed(CTS_PARTITION_DISTANCES + 1, sizeof *p->distances, &region->error);
    if (!p->distances) return CTS_MEMORY;
    for (size_t i = 0; i < reading_count; i++)
        if (p->readings[i].distance <= CTS_PARTITION_DISTANCES)
            seen[p->readings[i].distance] = true;
    for (uint32_t d = 0; d <= CTS_PARTITION_DISTANCES; d++) {
        if (!seen[d]) continue;
        number[d] = p->distance_count;
        p->distances[p->distance_count++] = d;
    }
    for (size_t i = 0; i < reading_count; i++) {
        uint32_t *const distance = &p->readings[i].distance;
        *distance = *distance <= CTS_PARTITION_DISTANCES ? number[*distance] : UINT32_MAX;
    }
    return CTS_OK;
}

uint32_t cts_region_local_set(struct cts_partition_region *region, uint32_t set)
{
    struct cts_place_set *const s = &region->sets.sets.items[set];
    if (s->serial == region->serial) return s->local;
    if (region->local_count == region->local_capacity &&
        cts_array_grow((void **)&region->local_sets, &region->local_capacity,
                       region->local_count + 1, sizeof *region->local_sets, &region->error))
        return UINT32_MAX;
    s->serial = region->serial;
    s->local = (uint32_t)region->local_count;
    region->local_sets[region->local_count++] = set;
    return s->local;
}

struct history_list {
    struct {
        struct cts_pattern_reading *items;
        size_t count, capacity;
    } readings;
    struct {
        uint32_t *items;
        size_t count, capacity;
    } begin;
};

static enum cts_status add_history(struct cts_partition_region *region, struct history_list *list,
                                   uint32_t history)
{
    struct cts_error *const error = &region->error;
    for (uint32_t at = history; at; at = region->history.items[at].older) {
        const struct cts_history *const entry = &region->history.items[at];
        const uint32_t set = cts_region_local_set(region, entry->set);
        if (set == UINT32_MAX ||
            CTS_ARRAY_RESERVE(&list->readings, list->readings.count + 1, error))
            return CTS_MEMORY;
        list->readings.items[list->readings.count++] =
            (struct cts_pattern_reading){(uint32_t)distance_of(region, entry->launch), set};
    }
    if (CTS_ARRAY_RESERVE(&list->begin, list->begin.count + 1, error)) return CTS_MEMORY;
    list->begin.items[list->begin.count++] = (uint32_t)list->readings.count;
    return CTS_OK;
}

/* Histories of the refetches get numbers, which then stand in the groups' third field. */
static enum cts_status take_histories(struct cts_partition_region *region,
                                      struct cts_launch_pattern *p)
{
    struct history_list list = {0};
    enum cts_status status = add_history(region, &list, 0); /* where the first begins */
    for (size_t i = 0; !status && i < p->refetch_count; i++) {
        const uint32_t history = p->refetches[i].third;
        struct cts_byte_group *const known =
            cts_groups_at(&region->memo, history, UINT32_MAX, 1, &region->error);
        if (!known) status = CTS_MEMORY;
        if (!status && !known->bytes) {
            known->bytes = list.begin.count; /* its number + 1 */
            status = add_history(region, &list, history);
        }
        if (!status) p->refetches[i].third = (uint32_t)known->bytes - 1;
    }
    p->history_begin = list.begin.items;
    p->readings = list.readings.items;
    p->history_count = list.begin.count ? (uint32_t)list.begin.count - 1 : 0;
    p->size_bytes +=
        list.readings.count * sizeof *p->readings + list.begin.count * sizeof *p->history_begin;
    return status ? status : number_distances(region, p, list.readings.count);
}

static enum cts_status fill(struct cts_partition_region *region, struct cts_launch_pattern *p)
{
    struct cts_error *const error = &region->error;
    const struct {
        const struct cts_groups *from;
        struct cts_byte_group **to;
        size_t *count;
    } lists[] = {{&region->group_reads, &p->reads, &p->read_count},
                 {&region->group_refetches, &p->refetches, &p->refetch_count},
                 {&region->group_home_reads, &p->home_reads, &p->home_read_count},
                 {&region->group_home_writes, &p->home_writes, &p->home_write_count}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        *lists[i].count = lists[i].from->count;
        *lists[i].to = copy_of(lists[i].from->items, lists[i].from->count,
                               sizeof(struct cts_byte_group), p, error);
        if (!*lists[i].to) return CTS_MEMORY;
    }
    const enum cts_status status = take_histories(region, p); /* may number more sets */
    return status ? status : take_sets(region, p);
}

/* ---- keeping them ---- */

/* Patterns beyond the limit are dropped, all of them: most launches repeat the last few. */
static enum cts_status drop_patterns(struct cts_partition_region *region)
{
    struct cts_partition_model *const model = region->model;
    enum cts_status status = CTS_OK;
    __atomic_store_n(&model->keeps_patterns, false, __ATOMIC_RELAXED);
    for (size_t i = 0; i < region->patterns.count; i++) {
        if (!status && model->wants_edges)
            status = cts_partition_add_edges(region, region->patterns.items[i]);
        cts_pattern_free(region->patterns.items[i]);
    }
    region->patterns.count = 0;
    region->pattern_bytes = 0;
    cts_map_release(&region->pattern_index);
    return status;
}

static enum cts_status keep(struct cts_partition_region *region, struct cts_launch_pattern *p)
{
    const uint64_t most = region->model->options.pattern_bytes / region->model->thread_count;
    if (region->pattern_bytes + p->size_bytes > most) {
        const enum cts_status status = drop_patterns(region);
        if (status) return status;
    }
    if (CTS_ARRAY_RESERVE(&region->patterns, region->patterns.count + 1, &region->error))
        return CTS_MEMORY;
    region->patterns.items[region->patterns.count++] = p;
    region->pattern_bytes += p->size_bytes;
    region->pattern = p;
    region->fresh_patterns++;
    uint64_t *const index = cts_map_at(&region->pattern_index, p->hash1, &region->error);
    if (!index) return CTS_MEMORY;
    *index = region->patterns.count;
    return CTS_OK;
}

enum cts_status cts_pattern_take(struct cts_partition_region *region)
{
    const struct hash hash = hash_launch(region);
    const uint64_t *const index = cts_map_find(&region->pattern_index, hash.one);
    struct cts_launch_pattern *p = index && *index ? region->patterns.items[*index - 1] : NULL;
    enum cts_status status = CTS_OK;
    if (!p || p->hash2 != hash.two) {
        p = cts_array_zeroed(1, sizeof *p, &region->error);
        if (!p) return CTS_MEMORY;
        p->hash1 = hash.one;
        p->hash2 = hash.two;
        status = fill(region, p);
        if (!status) status = keep(region, p);
        if (status && region->pattern != p) cts_pattern_free(p);
    }
    if (status) return status;
    p->launches++;
    region->pattern = p;
    region->launch_patterns[region->model->launch] = p;
    return CTS_OK;
}

enum cts_status cts_pattern_prepare(struct cts_partition_region *region, bool *has_results)
{
    const struct cts_partition_model *const model = region->model;
    struct cts_launch_pattern *const p = region->pattern;
    struct cts_launch_pattern *oldest = NULL;
    unsigned kept = 0;
    *has_results = p->cells != NULL;
    p->used = ++region->clock;
    if (*has_results) return CTS_OK;
    for (size_t i = 0; i < region->patterns.count; i++) {
        struct cts_launch_pattern *const other = region->patterns.items[i];
        if (!other->cells) continue;
        kept++;
        if (!oldest || other->used < oldest->used) oldest = other;
    }
    if (kept >= CTS_PARTITION_KEPT_CELLS) {
        free(oldest->cells);
        free(oldest->fetches);
        oldest->cells = oldest->fetches = NULL;
    }
    p->cells = cts_array_zeroed(model->cell_count, sizeof *p->cells, &region->error);
    if (p->cells && model->options.l2_bytes)
        p->fetches = cts_array_zeroed(model->part_count * p->distance_count, sizeof *p->fetches,
                                      &region->error);
    return p->cells && (p->fetches || !model->options.l2_bytes) ? CTS_OK : CTS_MEMORY;
}
