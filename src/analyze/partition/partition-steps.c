/* The walk over launches and what lies between them, on threads and processes.
 *
 * Every process walks all launches. Of a launch it reads its share of the chunks; what CTAs touched
 * is sent to the process whose regions it lies in; each region makes its pattern; the results of
 * patterns are added over regions, threads and processes. All are sums of integers, so that they do
 * not depend on how many there are; what is no sum comes after. */
#include "analyze/partition/partition-model.h"
#include "common/parallel.h"

/* ---- reading a launch ---- */

static enum cts_status split(const struct cts_partition_model *model, struct cts_touches *lists,
                             const struct cts_intervals *set, uint32_t cta, struct cts_error *error)
{
    for (size_t i = 0; i < set->count; i++) {
        for (uint64_t at = set->items[i].start; at < set->items[i].end;) {
            const uint64_t block_last = at | ((UINT64_C(1) << CTS_SHADOW_BLOCK_BITS) - 1);
            const uint64_t end =
                block_last < set->items[i].end - 1 ? block_last + 1 : set->items[i].end;
            struct cts_touches *const list = &lists[cts_partition_region_of(model, at)];
            if (CTS_ARRAY_RESERVE(list, list->count + 1, error)) return CTS_MEMORY;
            list->items[list->count++] = (struct cts_touch){at, (uint32_t)(end - at), cta};
            at = end;
        }
    }
    return CTS_OK;
}

static enum cts_status take_part(void *state, unsigned index, const struct cts_summary_part *part,
                                 struct cts_error *error)
{
    struct cts_partition_model *const model = state;
    struct cts_partition_thread *const thread = &model->threads[index];
    const uint32_t place = model->shapes[model->shape_of[model->launch]].first_place + part->cta;
    __atomic_fetch_add(&model->place_accesses[place], part->accesses, __ATOMIC_RELAXED);
    __atomic_fetch_add(&model->result->launches[model->launch].sums.accesses, part->accesses,
                       __ATOMIC_RELAXED);
    const enum cts_status status = split(model, thread->reads, part->reads, part->cta, error);
    return status ? status : split(model, thread->writes, part->writes, part->cta, error);
}

static enum cts_status read_launch(struct cts_partition_model *model, struct cts_error *error)
{
    for (unsigned i = 0; i < model->thread_count; i++)
        for (unsigned r = 0; r < model->region_count; r++)
            model->threads[i].reads[r].count = model->threads[i].writes[r].count = 0;
    const struct cts_summary_reading reading = {.share = model->process_rank,
                                                .share_count = model->process_count,
                                                .take = take_part,
                                                .state = model,
                                                .progress = model->options.progress};
    return cts_summary_read(model->reader, model->launch, &reading, error);
}

/* ---- to whom it belongs ---- */

static struct cts_touches *list_of(const struct cts_partition_model *model, unsigned thread,
                                   unsigned region, bool writes)
{
    struct cts_partition_thread *const t = &model->threads[thread];
    return writes ? &t->writes[region] : &t->reads[region];
}

static enum cts_status append(struct cts_touches *to, const struct cts_touch *items, size_t count,
                              struct cts_error *error)
{
    if (!count) return CTS_OK;
    if (CTS_ARRAY_RESERVE(to, to->count + count, error)) return CTS_MEMORY;
    memcpy(to->items + to->count, items, count * sizeof *items);
    to->count += count;
    return CTS_OK;
}

/* The lists of one region from all threads of this process. */
static void collect(void *state, unsigned index)
{
    struct cts_partition_model *const model = state;
    struct cts_partition_region *const region = &model->regions[index];
    region->status = CTS_OK;
    for (unsigned i = 0; !region->status && i < model->thread_count; i++) {
        const struct cts_touches *const reads = list_of(model, i, region->index, false);
        const struct cts_touches *const writes = list_of(model, i, region->index, true);
        region->status = append(&region->reads, reads->items, reads->count, &region->error);
        if (!region->status)
            region->status = append(&region->writes, writes->items, writes->count, &region->error);
    }
}

/* Sends what lies in others' regions, and takes what others read of this process's. */
static enum cts_status exchange(struct cts_partition_model *model, bool writes,
                                struct cts_error *error)
{
    struct cts_touches out = {0};
    size_t *const sizes = cts_array_zeroed(model->process_count, sizeof *sizes, error);
    enum cts_status status = sizes ? CTS_OK : CTS_MEMORY;
    for (unsigned r = 0; !status && r < model->region_count; r++) {
        const unsigned process = r / model->thread_count;
        for (unsigned i = 0; !status && process != model->process_rank && i < model->thread_count;
             i++) {
            const struct cts_touches *const list = list_of(model, i, r, writes);
            status = append(&out, list->items, list->count, error);
            sizes[process] += list->count * sizeof *list->items;
        }
    }
    void *received = NULL;
    size_t *offsets = NULL;
    if (cts_processes_agree(model->processes, &status, error))
        status =
            cts_processes_all_to_all(model->processes, (struct cts_sent_blocks){out.items, sizes},
                                     &received, &offsets, error);
    const struct cts_touch *const touches = received;
    const size_t count = offsets && !status ? offsets[model->process_count] / sizeof *touches : 0;
    for (size_t i = 0; !status && i < count; i++) {
        struct cts_partition_region *const region =
            cts_partition_own_region(model, touches[i].start);
        status = append(writes ? &region->writes : &region->reads, &touches[i], 1, error);
    }
    free(received);
    free(offsets);
    free(out.items);
    free(sizes);
    return status;
}

static enum cts_status first_failure(const struct cts_partition_model *model,
                                     struct cts_error *error)
{
    for (unsigned r = 0; r < model->thread_count; r++) {
        if (!model->regions[r].status) continue;
        if (error) *error = model->regions[r].error;
        return model->regions[r].status;
    }
    return CTS_OK;
}

static enum cts_status distribute(struct cts_partition_model *model, struct cts_error *error)
{
    for (unsigned r = 0; r < model->thread_count; r++)
        model->regions[r].reads.count = model->regions[r].writes.count = 0;
    cts_parallel(model->thread_count, collect, model);
    enum cts_status status = first_failure(model, error);
    if (model->process_count == 1) return status;
    if (!cts_processes_agree(model->processes, &status, error)) return status;
    status = exchange(model, false, error);
    if (!cts_processes_agree(model->processes, &status, error)) return status;
    return exchange(model, true, error);
}

/* ---- a launch ---- */

static void run_region(void *state, unsigned index)
{
    struct cts_partition_model *const model = state;
    model->regions[index].status = cts_region_run(&model->regions[index]);
}

void cts_partition_launch_sums_add(struct cts_partition_launch_sums *sum,
                                   const struct cts_partition_launch_sums *more)
{
    uint64_t *const to = (uint64_t *)sum;
    const uint64_t *const from = (const uint64_t *)more;
    for (size_t i = 0; i < CTS_PARTITION_LAUNCH_FIELD_COUNT; i++) to[i] += from[i];
}

/* Patterns of the current launch in all regions, and the launch's own sums. */
static enum cts_status find_patterns(struct cts_partition_model *model, struct cts_error *error)
{
    struct cts_partition_launch *const launch = &model->result->launches[model->launch];
    launch->sums = (struct cts_partition_launch_sums){0};
    enum cts_status status = read_launch(model, error);
    if (!status) status = cts_partition_find_extents(model, error);
    if (!cts_processes_agree(model->processes, &status, error)) return status;
    status = distribute(model, error);
    if (!status) {
        cts_parallel(model->thread_count, run_region, model);
        status = first_failure(model, error);
    }
    if (!cts_processes_agree(model->processes, &status, error)) return status;
    for (unsigned r = 0; r < model->thread_count; r++)
        cts_partition_launch_sums_add(&launch->sums, &model->regions[r].sums);
    cts_processes_reduce_u64(model->processes, (uint64_t *)&launch->sums,
                             CTS_PARTITION_LAUNCH_FIELD_COUNT, CTS_REDUCE_SUM);
    launch->has_critical = launch->sums.critical_base_bytes > 0;
    return CTS_OK;
}

static enum cts_status run_launch(struct cts_partition_model *model, struct cts_error *error)
{
    if (!model->plan.launches[model->launch].counted) return cts_partition_book(model, error);
    enum cts_status status = CTS_OK;
    if (model->second_look)
        for (unsigned r = 0; r < model->thread_count; r++)
            model->regions[r].pattern = model->regions[r].launch_patterns[model->launch];
    else
        status = find_patterns(model, error);
    if (!status) status = cts_partition_evaluate(model, error);
    if (!cts_processes_agree(model->processes, &status, error)) return status;
    return cts_partition_book(model, error);
}

/* ---- the walk ---- */

static enum cts_status end_rank(struct cts_partition_model *model, struct cts_error *error)
{
    if (model->second_look) return CTS_OK;
    for (unsigned r = 0; r < model->thread_count; r++) {
        const enum cts_status status = cts_region_end_rank(&model->regions[r]);
        if (!status) continue;
        if (error) *error = model->regions[r].error;
        return status;
    }
    return CTS_OK;
}

static enum cts_status take_step(struct cts_partition_model *model, const struct cts_step *step,
                                 struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    if (step->kind == CTS_STEP_LAUNCH) {
        const enum cts_status status = run_launch(model, error);
        model->launch++;
        return status;
    }
    if (model->second_look) return CTS_OK;
    switch (step->kind) {
    case CTS_STEP_COPY:
        return cts_partition_copy(model, &catalogue->copies[step->index], error);
    case CTS_STEP_FREE:
        return cts_partition_free(model, &catalogue->allocations[step->index], error);
    case CTS_STEP_HOST_ACCESS:
        return cts_partition_host_access(model, &catalogue->host_accesses[step->index], error);
    case CTS_STEP_LAUNCH:
        break;
    }
    return CTS_OK;
}

enum cts_status cts_partition_walk(struct cts_partition_model *model, struct cts_error *error)
{
    const struct cts_order *const order = &model->plan.order;
    enum cts_status status = CTS_OK;
    model->launch = 0;
    for (size_t i = 0; !status && i < order->step_count; i++) {
        if (i && order->steps[i].rank != order->steps[i - 1].rank) status = end_rank(model, error);
        if (!status) status = take_step(model, &order->steps[i], error);
    }
    return status ? status : end_rank(model, error);
}
