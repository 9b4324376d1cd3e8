/* The partition analysis as a whole: options, the first walk over launches (partition-steps.c),
 * what is made of it, and the result. */
#include "analyze/partition/partition.h"

#include "analyze/partition/partition-model.h"

static enum cts_status make_tasks(struct cts_partition_model *model, struct cts_error *error)
{
    const struct cts_partition_options *const options = &model->options;
    const size_t count = 1 + options->mapping_count * options->count_count;
    model->tasks = cts_array_zeroed(count, sizeof *model->tasks, error);
    if (!model->tasks) return CTS_MEMORY;
    model->task_count = count;
    model->tasks[0] = (struct cts_partition_task){.p = 1, .mapping = model->lines[0].mapping};
    struct cts_partition_task *task = &model->tasks[1];
    for (size_t m = 0; m < options->mapping_count; m++)
        for (size_t i = 0; i < options->count_count; i++)
            *task++ = (struct cts_partition_task){.p = options->counts[i],
                                                  .mapping = options->mappings[m],
                                                  .line = m,
                                                  .scale.mapping = m};
    return cts_partition_prepare_tasks(model, error);
}

/* The tasks' scales are the result's from now on. */
static enum cts_status take_scales(struct cts_partition_model *model, struct cts_error *error)
{
    struct cts_partition *const result = model->result;
    const size_t best = model->options.best_found ? model->options.count_count : 0;
    result->scales = cts_array_zeroed(model->task_count + best, sizeof *result->scales, error);
    if (!result->scales) return CTS_MEMORY;
    result->whole = model->tasks[0].scale;
    for (size_t i = 1; i < model->task_count; i++)
        result->scales[result->scale_count++] = model->tasks[i].scale;
    for (size_t i = 0; i < model->task_count; i++)
        model->tasks[i].scale = (struct cts_partition_scale){0};
    cts_partition_release_tasks(model);
    return CTS_OK;
}

static void judge_speed(const struct cts_partition *result, struct cts_partition_scale *scale)
{
    struct cts_partition_time *const time = &scale->time;
    const struct cts_partition_time *const whole = &result->whole.time;
    time->no_overlap_speedup =
        time->no_overlap_s > 0 ? whole->no_overlap_s / time->no_overlap_s : 1;
    time->full_overlap_speedup =
        time->full_overlap_s > 0 ? whole->full_overlap_s / time->full_overlap_s : 1;
}

static enum cts_status fit_scales(struct cts_partition *result, struct cts_error *error)
{
    result->fits = cts_array_zeroed(result->mapping_count, sizeof *result->fits, error);
    double *const p = cts_array_zeroed(result->scale_count, sizeof *p, error);
    double *const y = cts_array_zeroed(result->scale_count, sizeof *y, error);
    for (size_t m = 0; result->fits && p && y && m < result->mapping_count; m++) {
        size_t count = 0;
        for (size_t i = 0; i < result->scale_count; i++) {
            const struct cts_partition_scale *const scale = &result->scales[i];
            if (scale->mapping != m || scale->partition_count < 2) continue;
            p[count] = scale->partition_count;
            y[count++] = (double)scale->traffic_bytes;
        }
        result->fits[m].mapping = m;
        cts_partition_fit_points(p, y, count, &result->fits[m]);
    }
    const bool fine = result->fits && p && y;
    free(p);
    free(y);
    return fine ? CTS_OK : CTS_MEMORY;
}

static void sum_launches(struct cts_partition_model *model)
{
    struct cts_partition *const result = model->result;
    for (size_t i = 0; i < result->launch_count; i++) {
        const struct cts_partition_launch *const launch = &result->launches[i];
        cts_partition_launch_sums_add(&result->total, &launch->sums);
        result->empty_gpu_sets += launch->counted && !launch->has_critical;
    }
}

/* What the first walk left in the regions, over all processes. */
static void gather(struct cts_partition_model *model)
{
    struct cts_partition *const result = model->result;
    uint64_t values[6] = {0};
    for (unsigned r = 0; r < model->thread_count; r++) {
        const struct cts_partition_region *const region = &model->regions[r];
        values[0] += region->run_sets.gpu_bytes;
        values[1] += region->run_sets.host_bytes;
        values[2] += region->run_sets.both_bytes;
        values[3] += region->run_sets.working_bytes;
        values[5] += region->pattern_bytes;
    }
    cts_processes_reduce_u64(model->processes, values, 6, CTS_REDUCE_SUM);
    cts_processes_reduce_u64(model->processes, model->place_accesses, model->place_count,
                             CTS_REDUCE_SUM);
    result->sets = (struct cts_partition_sets){values[0], values[1], values[2], values[3]};
    result->peak_pattern_bytes = values[5];
    for (unsigned r = 0; r < model->thread_count; r++)
        if (model->regions[r].fresh_patterns > result->pattern_count)
            result->pattern_count = model->regions[r].fresh_patterns;
    cts_processes_reduce_u64(model->processes, &result->pattern_count, 1, CTS_REDUCE_MAX);
    sum_launches(model);
}

static enum cts_status name_mappings(struct cts_partition_model *model, struct cts_error *error)
{
    struct cts_partition *const result = model->result;
    const struct cts_partition_options *const options = &model->options;
    result->mappings =
        cts_array_zeroed(options->mapping_count + 1, sizeof *result->mappings, error);
    if (!result->mappings) return CTS_MEMORY;
    for (size_t i = 0; i < options->mapping_count; i++)
        result->mappings[result->mapping_count++] = options->mappings[i]->name;
    if (options->best_found) result->mappings[result->mapping_count++] = "best-found";
    return CTS_OK;
}

static enum cts_status check_options(struct cts_partition_model *model, struct cts_error *error)
{
    struct cts_partition_options *const options = &model->options;
    if (!options->link_bytes_per_s) options->link_bytes_per_s = CTS_PARTITION_LINK_BYTES_PER_S;
    if (!options->local_bytes_per_s) options->local_bytes_per_s = CTS_PARTITION_LOCAL_BYTES_PER_S;
    if (!options->launch_s) options->launch_s = CTS_PARTITION_LAUNCH_S;
    if (options->launch_s < 0) options->launch_s = 0;
    if (!options->page_bytes) options->page_bytes = UINT64_C(1) << 16;
    if (!options->pattern_bytes) options->pattern_bytes = UINT64_C(256) << 20;
    if (!(options->link_bytes_per_s > 0) || !(options->local_bytes_per_s > 0))
        return cts_fail(error, CTS_USAGE, "a bandwidth must be above 0");
    if (options->page_bytes & (options->page_bytes - 1) || options->page_bytes < 4096 ||
        options->page_bytes > UINT64_C(1) << CTS_SHADOW_BLOCK_BITS)
        return cts_fail(error, CTS_USAGE,
                        "the page size must be a power of two from 4 KiB to 2 MiB");
    if (!options->mapping_count) return cts_fail(error, CTS_USAGE, "no mapping is named");
    for (size_t i = 0; i < options->count_count; i++)
        if (!options->counts[i] || options->counts[i] > CTS_PARTITIONS_MAX)
            return cts_fail(error, CTS_USAGE, "the number of partitions must be 1 to %d, not %u",
                            CTS_PARTITIONS_MAX, options->counts[i]);
    return CTS_OK;
}

static enum cts_status analyze(struct cts_partition_model *model, struct cts_error *error)
{
    struct cts_partition *const result = model->result;
    enum cts_status status = check_options(model, error);
    if (!status)
        status = cts_summary_plan_make(model->catalogue, model->plan.source, &model->plan, error);
    if (!status) status = cts_partition_set_up(model, error);
    if (!status) status = name_mappings(model, error);
    if (!status) status = make_tasks(model, error);
    if (!cts_processes_agree(model->processes, &status, error)) return status;
    model->keeps_patterns = true;
    model->wants_edges = model->options.best_found;
    status = cts_partition_walk(model, error);
    if (!cts_processes_agree(model->processes, &status, error)) return status;
    gather(model);
    status = cts_partition_finish_tasks(model, error);
    if (!status) status = take_scales(model, error);
    if (!status && model->options.best_found) status = cts_partition_find_best(model, error);
    if (status) return status;
    judge_speed(result, &result->whole);
    for (size_t i = 0; i < result->scale_count; i++) judge_speed(result, &result->scales[i]);
    return fit_scales(result, error);
}

enum cts_status cts_partition_analyze(const struct cts_catalogue *catalogue,
                                      const struct cts_access_source *source,
                                      const struct cts_partition_options *options,
                                      struct cts_partition *result, struct cts_error *error)
{
    *result = (struct cts_partition){0};
    struct cts_partition_model *const model = cts_array_zeroed(1, sizeof *model, error);
    if (!model) return CTS_MEMORY;
    *model = (struct cts_partition_model){.catalogue = catalogue,
                                          .options = *options,
                                          .processes = options->processes,
                                          .process_count = 1,
                                          .result = result,
                                          .plan.source = source};
    if (options->processes) {
        model->process_count = options->processes->count;
        model->process_rank = options->processes->rank;
    }
    const enum cts_status status = analyze(model, error);
    result->options = model->options;
    result->options.counts = NULL;
    result->options.mappings = NULL;
    result->options.processes = NULL;
    result->options.progress = NULL;
    cts_partition_release_tasks(model);
    cts_partition_tear_down(model);
    free(model);
    if (status) cts_partition_release(result);
    return status;
}

void cts_partition_release(struct cts_partition *result)
{
    free(result->mappings);
    free(result->launches);
    for (size_t i = 0; i < result->scale_count; i++)
        cts_partition_scale_release(&result->scales[i]);
    cts_partition_scale_release(&result->whole);
    free(result->scales);
    free(result->fits);
    free(result->kernels);
    free(result->places);
    *result = (struct cts_partition){0};
}
