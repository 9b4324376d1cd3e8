/* A launch in one region of the address space.
 *
 * What was read is looked up in the shadow memory as it was before the launch; then what was
 * written gets its new writer, the highest CTA of those that wrote it. A segment is a run of bytes
 * with the same readers, last writer and history, in one allocation. */
#include <stdlib.h>

#include "analyze/partition/partition-model.h"
#include "common/promise.h"

enum { TIDY_FIRST = 1 << 20 };

enum cts_status cts_region_open(struct cts_partition_region *region,
                                struct cts_partition_model *model, unsigned index,
                                struct cts_error *error)
{
    region->model = model;
    region->index = index;
    region->tidy_at = TIDY_FIRST;
    region->writers = cts_shadow_new(error);
    region->histories = cts_shadow_new(error);
    if (!region->writers || !region->histories) return CTS_MEMORY;
    region->writer_view = (struct cts_shadow_view){.shadow = region->writers};
    region->history_view = (struct cts_shadow_view){.shadow = region->histories};
    if (!region->history.count) {
        if (CTS_ARRAY_RESERVE(&region->history, 1, error)) return CTS_MEMORY;
        region->history.items[region->history.count++] = (struct cts_history){0};
    }
    if (!region->launch_patterns)
        region->launch_patterns =
            cts_array_zeroed(model->plan.launch_count, sizeof *region->launch_patterns, error);
    return region->launch_patterns ? CTS_OK : CTS_MEMORY;
}

void cts_region_release(struct cts_partition_region *region)
{
    cts_shadow_free(region->writers);
    cts_shadow_free(region->histories);
    cts_map_release(&region->homes);
    cts_place_sets_release(&region->sets);
    free(region->history.items);
    cts_intervals_release(&region->gpu_set);
    cts_intervals_release(&region->host_set);
    cts_intervals_release(&region->gpu_fresh);
    cts_intervals_release(&region->host_fresh);
    cts_intervals_release(&region->launch_gpu);
    cts_intervals_release(&region->launch_host);
    free(region->reads.items);
    free(region->writes.items);
    free(region->sorted.items);
    free(region->scratch.items);
    free(region->local_sets);
    cts_groups_release(&region->group_reads);
    cts_groups_release(&region->group_refetches);
    cts_groups_release(&region->group_home_reads);
    cts_groups_release(&region->group_home_writes);
    cts_groups_release(&region->memo);
    free(region->active);
    free(region->active_at);
    free(region->active_count);
    cts_map_release(&region->pattern_index);
    for (size_t i = 0; i < region->patterns.count; i++) cts_pattern_free(region->patterns.items[i]);
    free(region->patterns.items);
    free(region->launch_patterns);
    cts_map_release(&region->edges);
}

/* ---- small questions ---- */

static uint32_t place_of(const struct cts_partition_model *model, size_t launch, uint32_t cta)
{
    assert(launch < model->plan.launch_count);
    return model->shapes[model->shape_of[launch]].first_place + cta;
}

/* Who has to do with some bytes: the group that they are booked on. */
struct account {
    uint32_t place; /* who wrote them, or has their page */
    uint32_t set;   /* who reads or writes them */
    uint32_t third; /* as the groups have it; 0 */
};

static enum cts_status add_bytes(struct cts_partition_region *region, struct cts_groups *groups,
                                 struct account account, uint64_t bytes)
{
    const uint32_t local = cts_region_local_set(region, account.set);
    if (local == UINT32_MAX) return CTS_MEMORY;
    struct cts_byte_group *const group =
        cts_groups_at(groups, account.place, local, account.third, &region->error);
    if (!group) return CTS_MEMORY;
    group->bytes += bytes;
    return CTS_OK;
}

/* Adds to intervals that ascend. */
static enum cts_status append(struct cts_partition_region *region, struct cts_intervals *set,
                              uint64_t start, uint64_t end)
{
    assert(start < end && (!set->count || set->items[set->count - 1].end <= start)); /* ascending */
    if (set->count && set->items[set->count - 1].end == start) {
        set->items[set->count - 1].end = end;
        return CTS_OK;
    }
    return cts_intervals_add(set, start, end, &region->error);
}

/* Views set ranges inside one block of the shadow memory. */
static enum cts_status set_bytes(struct cts_partition_region *region, struct cts_shadow_view *view,
                                 uint64_t start, uint64_t end, uint32_t value)
{
    assert(start < end);
    enum cts_status status = CTS_OK;
    while (!status && start < end) {
        const uint64_t block_end = (cts_partition_block(start) + 1) << CTS_SHADOW_BLOCK_BITS;
        const uint64_t stop = block_end && block_end < end ? block_end : end;
        status = cts_shadow_set(view, start, stop, value, &region->error);
        start = stop;
    }
    return status;
}

/* ---- first touch ---- */

static enum cts_status touch_pages(struct cts_partition_region *region,
                                   const struct cts_touches *touches)
{
    const struct cts_partition_model *const model = region->model;
    const uint64_t stamp = (uint64_t)(model->launch + 1) << 32;
    uint64_t known_page = UINT64_MAX, known_home = 0;
    for (size_t i = 0; i < touches->count; i++) {
        if (cts_access_source_pause(model->plan.source, i, &region->error))
            return region->error.status;
        const struct cts_touch touch = touches->items[i];
        const uint64_t last = (touch.start + touch.length_bytes - 1) >> model->page_bits;
        for (uint64_t page = touch.start >> model->page_bits; page <= last; page++) {
            const uint64_t home = stamp | touch.cta;
            if (page == known_page && (known_home < stamp || known_home <= home)) continue;
            uint64_t *const at = cts_map_at(&region->homes, page, &region->error);
            if (!at) return CTS_MEMORY;
            if (!*at || (*at >= stamp && *at > home)) *at = home;
            known_page = page;
            known_home = *at;
        }
    }
    return CTS_OK;
}

/* Books a segment on the homes of its pages. */
static enum cts_status add_homes(struct cts_partition_region *region, struct cts_groups *groups,
                                 uint64_t start, uint64_t end, uint32_t set)
{
    const struct cts_partition_model *const model = region->model;
    while (start < end) {
        const uint64_t page = start >> model->page_bits;
        const uint64_t page_end = (page + 1) << model->page_bits; /* 0: the last page */
        const uint64_t stop = page_end && page_end < end ? page_end : end;
        const uint64_t *const home = cts_map_find(&region->homes, page);
        const uint32_t place = home && *home
                                   ? place_of(model, (size_t)(*home >> 32) - 1, (uint32_t)*home)
                                   : CTS_NO_PLACE;
        const enum cts_status status =
            add_bytes(region, groups, (struct account){place, set, 0}, stop - start);
        if (status) return status;
        start = stop;
    }
    return CTS_OK;
}

/* ---- reads ---- */

/* What is true of a segment's bytes but their history. */
struct segment {
    uint32_t set, writer_place;
};

/* The history of [start, end), which a node wrote, and who reads it now. */
static enum cts_status add_history(struct cts_partition_region *region, uint64_t start,
                                   uint64_t end, const struct segment *segment)
{
    for (uint64_t at = start; at < end;) {
        uint32_t history, next = 0;
        uint64_t stop = cts_shadow_run(&region->history_view, at, end, &history);
        for (uint64_t more = stop; more < end; stop = more) {
            more = cts_shadow_run(&region->history_view, stop, end, &next);
            if (next != history) break;
        }
        enum cts_status status = CTS_OK;
        if (history)
            status = add_bytes(region, &region->group_refetches,
                               (struct account){segment->writer_place, segment->set, history},
                               stop - at);
        if (status) return status;
        const uint32_t after = cts_history_after(region, history, segment->set);
        if (after == UINT32_MAX) return region->error.status;
        if (after != history) status = set_bytes(region, &region->history_view, at, stop, after);
        if (status) return status;
        at = stop;
    }
    return CTS_OK;
}

/* The allocation around `start` (index of its name) and up to where, at most `end`. */
static uint32_t allocation_at(struct cts_partition_region *region, uint64_t start, uint64_t *end)
{
    const struct cts_partition_model *const model = region->model;
    const struct cts_partition_extent *const extents = model->extents.items;
    size_t at = region->allocation_hint;
    while (at > 0 && extents[at - 1].end > start) at--;
    while (at < model->extents.count && extents[at].end <= start) at++;
    region->allocation_hint = at;
    if (at == model->extents.count) return 0;
    if (extents[at].start > start) {
        if (extents[at].start < *end) *end = extents[at].start;
        return 0;
    }
    if (extents[at].end < *end) *end = extents[at].end;
    return extents[at].place;
}

/* Bytes with one last writer. */
static enum cts_status read_written(struct cts_partition_region *region, uint64_t start,
                                    uint64_t end, uint32_t set, uint32_t writer)
{
    const struct cts_partition_model *const model = region->model;
    const uint64_t bytes = end - start;
    struct cts_partition_launch_sums *const sums = &region->sums;
    const bool by_kernel = writer >= CTS_WRITER_FIRST_NODE;
    struct segment segment = {.set = set, .writer_place = CTS_NO_PLACE};
    uint32_t kernel = 0;
    if (by_kernel) {
        const size_t launch = cts_summary_launch_of(&model->plan, writer, &region->launch_hint);
        const uint32_t cta = writer - (uint32_t)model->plan.launches[launch].first_node;
        segment.writer_place = place_of(model, launch, cta);
        kernel = model->shapes[model->shape_of[launch]].kernel;
        sums->gpu_set_bytes += bytes;
        sums->received_bytes += bytes * region->sets.sets.items[set].key.count;
        if (model->previous[model->launch] == launch + 1) sums->critical_bytes += bytes;
        const struct cts_launch *const rows = model->catalogue->launches;
        if (!model->options.per_stream ||
            rows[model->plan.launches[launch].index].stream ==
                rows[model->plan.launches[model->launch].index].stream)
            sums->critical_base_bytes += bytes;
        const enum cts_status status = add_history(region, start, end, &segment);
        if (status) return status;
    } else {
        sums->host_set_bytes += bytes;
    }
    enum cts_status status =
        append(region, by_kernel ? &region->launch_gpu : &region->launch_host, start, end);
    while (!status && start < end) {
        uint64_t stop = end;
        const uint32_t place = allocation_at(region, start, &stop);
        const struct account account = {segment.writer_place, set,
                                        by_kernel ? kernel << 16 | place : 0};
        status = add_bytes(region, &region->group_reads, account, stop - start);
        start = stop;
    }
    return status;
}

static enum cts_status read_run(struct cts_partition_region *region, uint64_t start, uint64_t end,
                                uint32_t set)
{
    struct cts_partition_launch_sums *const sums = &region->sums;
    sums->read_bytes += end - start;
    sums->read_unique_bytes += (end - start) * region->sets.sets.items[set].key.count;
    enum cts_status status = add_homes(region, &region->group_home_reads, start, end, set);
    for (uint64_t at = start; !status && at < end;) {
        uint32_t writer, next;
        uint64_t stop = cts_shadow_run(&region->writer_view, at, end, &writer);
        for (uint64_t more = stop; more < end; stop = more) { /* runs end with pages */
            more = cts_shadow_run(&region->writer_view, stop, end, &next);
            if (next != writer) break;
        }
        status = read_written(region, at, stop, set, writer & CTS_WRITER_MASK);
        at = stop;
    }
    return status;
}

/* ---- writes ---- */

static enum cts_status write_run(struct cts_partition_region *region, uint64_t start, uint64_t end,
                                 uint32_t set)
{
    const struct cts_partition_model *const model = region->model;
    const struct cts_place_set *const writers = &region->sets.sets.items[set];
    struct cts_partition_launch_sums *const sums = &region->sums;
    const uint32_t highest = region->sets.members.items[writers->first + writers->key.count - 1] -
                             place_of(model, model->launch, 0);
    const uint32_t node = (uint32_t)model->plan.launches[model->launch].first_node + highest;
    sums->written_bytes += end - start;
    sums->written_unique_bytes += (end - start) * writers->key.count;
    if (writers->key.count > 1) sums->conflict_bytes += end - start;
    enum cts_status status = add_homes(region, &region->group_home_writes, start, end, set);
    if (!status) status = set_bytes(region, &region->writer_view, start, end, node);
    if (!status) status = set_bytes(region, &region->history_view, start, end, 0);
    return status;
}

/* ---- sets over the run ---- */

/* Adds a launch's set to the run's: first to a list that is merged when it has outgrown the set. */
static enum cts_status add_to_run(struct cts_partition_region *region, struct cts_intervals *all,
                                  struct cts_intervals *fresh, const struct cts_intervals *launch)
{
    struct cts_error *const error = &region->error;
    for (size_t i = 0; i < launch->count; i++) {
        const enum cts_status status =
            cts_intervals_add(fresh, launch->items[i].start, launch->items[i].end, error);
        if (status) return status;
    }
    if (launch->count && fresh->count <= all->count + 1024) return CTS_OK;
    struct cts_intervals united = {0};
    enum cts_status status = cts_intervals_normalise(fresh, error);
    if (!status) status = cts_intervals_unite(all, fresh, &united, error);
    fresh->count = 0;
    cts_intervals_release(all);
    *all = united;
    return status;
}

enum cts_status cts_region_end_rank(struct cts_partition_region *region)
{
    const struct cts_intervals none = {0};
    struct cts_intervals both = {0};
    enum cts_status status = add_to_run(region, &region->gpu_set, &region->gpu_fresh, &none);
    if (!status) status = add_to_run(region, &region->host_set, &region->host_fresh, &none);
    if (!status)
        status =
            cts_intervals_intersect(&region->gpu_set, &region->host_set, &both, &region->error);
    struct cts_partition_sets *const sets = &region->run_sets;
    const uint64_t gpu_bytes = cts_intervals_bytes(&region->gpu_set);
    const uint64_t host_bytes = cts_intervals_bytes(&region->host_set);
    const uint64_t both_bytes = cts_intervals_bytes(&both);
    sets->gpu_bytes += gpu_bytes;
    sets->host_bytes += host_bytes;
    sets->both_bytes += both_bytes;
    sets->working_bytes += gpu_bytes + host_bytes - both_bytes;
    region->gpu_set.count = region->host_set.count = 0;
    cts_intervals_release(&both);
    cts_map_release(&region->homes);
    cts_shadow_free(region->writers);
    cts_shadow_free(region->histories);
    region->writers = region->histories = NULL;
    if (status) return status;
    return cts_region_open(region, region->model, region->index, &region->error);
}

/* ---- the launch ---- */

static void clear_launch(struct cts_partition_region *region)
{
    region->sums = (struct cts_partition_launch_sums){0};
    region->local_count = 0;
    region->serial++;
    region->allocation_hint = 0;
    cts_groups_clear(&region->group_reads);
    cts_groups_clear(&region->group_refetches);
    cts_groups_clear(&region->group_home_reads);
    cts_groups_clear(&region->group_home_writes);
    cts_groups_clear(&region->memo);
    region->launch_gpu.count = region->launch_host.count = 0;
}

enum cts_status cts_region_run(struct cts_partition_region *region)
{
    const uint32_t first_place = place_of(region->model, region->model->launch, 0);
    clear_launch(region);
    enum cts_status status = cts_history_tidy(region);
    if (!status) status = touch_pages(region, &region->reads);
    if (!status) status = touch_pages(region, &region->writes);
    if (!status) status = cts_region_sweep(region, &region->reads, first_place, read_run);
    if (!status) status = cts_region_sweep(region, &region->writes, first_place, write_run);
    if (!status)
        status = add_to_run(region, &region->gpu_set, &region->gpu_fresh, &region->launch_gpu);
    if (!status)
        status = add_to_run(region, &region->host_set, &region->host_fresh, &region->launch_host);
    if (!status) status = cts_pattern_take(region);
    return status;
}
