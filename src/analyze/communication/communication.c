/* The communication analysis as a whole: numbering, the walk over the order of supersteps, and the
 * sums that are made of launches at the end.
 *
 * Nodes are numbered launch after launch in the order in which launches run, so that the nodes of
 * the current launch are those from its first on, and a higher number of the same launch is a
 * higher CTA. Ranks have address spaces, and so shadow memories, of their own.
 *
 * Time: every record is looked up once when it comes and once, as part of its CTA's set, when the
 * CTA is complete; sets of written bytes are applied once. Memory: 4 bytes per touched word, the
 * sets of one launch, a few bytes per node. */
#include "analyze/communication/communication.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/communication/comm-model.h"
#include "common/parallel.h"

/* ---- setting up ---- */

/* Launches in their order, and their nodes. */
static enum cts_status number_launches(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    const struct cts_summary_plan *const plan = &model->plan;
    result->launches = cts_array_zeroed(plan->launch_count, sizeof *result->launches, error);
    if (!result->launches) return CTS_MEMORY;
    for (size_t i = 0; i < plan->launch_count; i++) {
        const struct cts_summary_launch *const from = &plan->launches[i];
        result->launches[i] = (struct cts_comm_launch){.index = from->index,
                                                       .superstep = from->superstep,
                                                       .ordinal = from->ordinal,
                                                       .cta_count = from->cta_count,
                                                       .first_node = from->first_node,
                                                       .counted = from->counted,
                                                       .incomplete = from->incomplete};
    }
    result->launch_count = plan->launch_count;
    result->node_count = plan->node_count;
    model->out_degrees = cts_array_zeroed(result->node_count, sizeof *model->out_degrees, error);
    model->launch_out_degrees =
        cts_array_zeroed(result->node_count, sizeof *model->launch_out_degrees, error);
    return model->out_degrees && model->launch_out_degrees ? CTS_OK : CTS_MEMORY;
}

static uint64_t largest_grid(const struct cts_comm *result)
{
    uint64_t most = 0;
    for (size_t i = 0; i < result->launch_count; i++)
        if (result->launches[i].cta_count > most) most = result->launches[i].cta_count;
    return most;
}

static enum cts_status set_up_stores(struct cts_comm_model *model, struct cts_error *error)
{
    const struct cts_comm *const result = model->result;
    for (size_t i = 0; i < result->launch_count; i++) {
        const size_t kernel = model->catalogue->launches[result->launches[i].index].kernel;
        if (kernel >= model->kernel_limit) model->kernel_limit = kernel + 1;
    }
    model->stores = cts_array_zeroed(result->launch_count, sizeof *model->stores, error);
    model->kernel_strides =
        cts_array_zeroed(model->kernel_limit, sizeof *model->kernel_strides, error);
    return model->stores && model->kernel_strides ? CTS_OK : CTS_MEMORY;
}

/* A thread's sums by launch, site and allocation. */
static enum cts_status set_up_sums(struct cts_comm_worker *worker, struct cts_error *error)
{
    const struct cts_comm_model *const model = worker->model;
    const struct cts_catalogue *const catalogue = model->catalogue;
    const size_t launch_count = model->result->launch_count;
    worker->pairs.by_writer =
        cts_array_zeroed(launch_count, sizeof *worker->pairs.by_writer, error);
    worker->pairs.used = cts_array_zeroed(launch_count, sizeof *worker->pairs.used, error);
    worker->pairs.of_cta = cts_array_zeroed(launch_count, sizeof *worker->pairs.of_cta, error);
    worker->transfers.top =
        cts_array_zeroed(model->options.top_count, sizeof *worker->transfers.top, error);
    worker->site_sums = cts_array_zeroed(catalogue->site_count, sizeof *worker->site_sums, error);
    worker->written = cts_array_zeroed(catalogue->site_count, sizeof *worker->written, error);
    worker->written_sites =
        cts_array_zeroed(catalogue->site_count, sizeof *worker->written_sites, error);
    worker->places.sums =
        cts_array_zeroed(catalogue->allocation_count + 1, sizeof *worker->places.sums, error);
    return worker->pairs.by_writer && worker->pairs.used && worker->pairs.of_cta &&
                   worker->transfers.top && worker->site_sums && worker->written &&
                   worker->written_sites && worker->places.sums
               ? CTS_OK
               : CTS_MEMORY;
}

static enum cts_status set_up_workers(struct cts_comm_model *model, struct cts_error *error)
{
    const size_t launch_count = model->result->launch_count;
    cts_bits_pool_init(&model->pool);
    model->worker_count = cts_thread_count(model->options.threads);
    if (model->worker_count > CTS_SHADOW_SHARDS) model->worker_count = CTS_SHADOW_SHARDS;
    model->workers = cts_array_zeroed(model->worker_count, sizeof *model->workers, error);
    if (!model->workers) return CTS_MEMORY;
    for (unsigned i = 0; i < model->worker_count; i++) {
        struct cts_comm_worker *const worker = &model->workers[i];
        worker->model = model;
        worker->index = i;
        cts_bits_init(&worker->contended, &model->pool, CTS_CONTENDED_COUNT);
        if (set_up_sums(worker, error)) return CTS_MEMORY;
        if (cts_comm_density_init(&worker->transfers.density, largest_grid(model->result),
                                  model->options.density_bins, error))
            return CTS_MEMORY;
    }
    if (cts_comm_devices_set_up(model, error)) return CTS_MEMORY;
    if (!model->options.keep_ctas) return CTS_OK;
    model->cta_counts = cts_array_zeroed(launch_count, sizeof *model->cta_counts, error);
    return model->cta_counts ? CTS_OK : CTS_MEMORY;
}

static void judge_soundness(struct cts_comm_model *model)
{
    struct cts_comm *const result = model->result;
    const struct cts_summary_plan *const plan = &model->plan;
    for (size_t i = 0; i < model->catalogue->skipped_count; i++)
        result->skipped_instructions += model->catalogue->skipped[i].count;
    model->host_seen = plan->host_seen;
    result->unrecorded_launches = plan->unrecorded_launches;
    result->dropped_accesses = plan->dropped_accesses;
    result->incomplete_files = plan->incomplete_files;
    result->unseen_allocations = model->options.paper_model ? 0 : plan->unseen_allocations;
    result->unordered_pairs = plan->order.unordered_pairs;
    result->superstep_count = plan->order.superstep_count;
    result->lower_bound = plan->lower_bound;
}

static enum cts_status set_up(struct cts_comm_model *model, struct cts_error *error)
{
    enum cts_status status =
        cts_summary_plan_make(model->catalogue, model->source, &model->plan, error);
    if (!status) status = number_launches(model, error);
    if (!status) status = set_up_stores(model, error);
    if (!status) status = set_up_workers(model, error);
    if (!status) status = cts_comm_sms_set_up(model, error);
    if (!status) status = cts_comm_walk_set_up(model, error);
    if (!status) judge_soundness(model);
    return status;
}

/* ---- the walk ---- */

static enum cts_status run_launch(struct cts_comm_model *model, enum cts_status status,
                                  struct cts_error *error)
{
    const struct cts_comm_launch *const launch = &model->result->launches[model->launch];
    if (!launch->counted) return status;
    if (!status && model->cta_counts) {
        model->cta_counts[model->launch] =
            cts_array_zeroed(launch->cta_count, sizeof(struct cts_comm_counts), error);
        if (!model->cta_counts[model->launch]) status = CTS_MEMORY;
    }
    return cts_comm_run_launch(model, status, error);
}

static enum cts_status take_step(struct cts_comm_model *model, const struct cts_step *step,
                                 struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    switch (step->kind) {
    case CTS_STEP_COPY:
        return cts_comm_copy(model, &catalogue->copies[step->index], error);
    case CTS_STEP_FREE:
        return cts_comm_free(model, &catalogue->allocations[step->index], error);
    case CTS_STEP_HOST_ACCESS:
        return cts_comm_host_access(model, &catalogue->host_accesses[step->index], error);
    case CTS_STEP_LAUNCH:
        break;
    }
    return CTS_OK;
}

static enum cts_status change_rank(struct cts_comm_model *model, struct cts_error *error)
{
    cts_shadow_free(model->shadow);
    for (unsigned k = 0; k < model->worker_count; k++) model->workers[k].view.shadow = NULL;
    model->shadow = cts_shadow_new(error);
    cts_comm_regions_clear(&model->regions);
    return model->shadow ? CTS_OK : CTS_MEMORY;
}

/* Launches from `first` on were of a rank in which copies carried writers. */
static void note_carried(struct cts_comm_model *model, size_t first)
{
    for (size_t i = first; i < model->launch; i++) model->stores[i].carried = true;
}

/* Processes that fail go on to the next launch, where all of them learn of it. */
static enum cts_status walk(struct cts_comm_model *model, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    uint64_t carried_bytes = 0;
    size_t first_launch = 0;
    for (size_t i = 0; i < model->plan.order.step_count; i++) {
        const struct cts_step *const step = &model->plan.order.steps[i];
        const bool is_new_rank = i == 0 || step->rank != model->plan.order.steps[i - 1].rank;
        if (is_new_rank && model->result->carried_bytes > carried_bytes)
            note_carried(model, first_launch);
        if (is_new_rank) {
            carried_bytes = model->result->carried_bytes;
            first_launch = model->launch;
            if (!status) status = change_rank(model, error);
        }
        if (step->kind == CTS_STEP_LAUNCH) {
            status = run_launch(model, status, error);
            model->launch++;
        } else {
            if (step->kind == CTS_STEP_COPY)
                status = cts_comm_follow_source(model, &model->catalogue->copies[step->index],
                                                status, error);
            if (!status) status = take_step(model, step, error);
        }
        if (status && !model->options.processes) return status;
    }
    if (model->result->carried_bytes > carried_bytes) note_carried(model, first_launch);
    return status;
}

/* ---- what is made of it ---- */

/* CTAs whose degrees count: of a launch of which only some CTAs were recorded, those that have
 * records. */
static uint64_t degree_count(const struct cts_comm_model *model, size_t launch)
{
    const struct cts_comm_launch *const row = &model->result->launches[launch];
    const char *const recorded = model->catalogue->launches[row->index].recorded;
    const bool is_sample = recorded && !strcmp(recorded, "sample");
    return is_sample ? row->in_degree.cta_count : row->cta_count;
}

static enum cts_status finish_degrees(struct cts_comm_model *model, struct cts_map *out_degrees,
                                      struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    for (size_t i = 0; i < result->launch_count; i++) {
        struct cts_comm_launch *const launch = &result->launches[i];
        if (!launch->counted) continue;
        struct cts_comm_degree *const in = &launch->in_degree;
        const uint64_t counted = degree_count(model, i);
        const uint64_t silent = counted - in->cta_count; /* touched nothing */
        uint64_t left_out = launch->cta_count - counted; /* they sent nothing */
        if (silent) {
            uint64_t *const none = cts_map_at(&model->workers[0].in_degrees, 0, error);
            if (!none) return CTS_MEMORY;
            *none += silent;
            in->smallest = 0;
            in->cta_count = counted;
        }
        const uint32_t *const degrees =
            model->out_degrees + (launch->first_node - CTS_WRITER_FIRST_NODE);
        for (uint64_t cta = 0, end; cta < launch->cta_count; cta = end) {
            const uint64_t degree = degrees[cta];
            for (end = cta + 1; end < launch->cta_count && degrees[end] == degree;) end++;
            uint64_t same_count = end - cta;
            const uint64_t out = degree ? 0 : same_count < left_out ? same_count : left_out;
            left_out -= out;
            same_count -= out;
            if (!same_count) continue;
            const struct cts_comm_degree equal = {.cta_count = same_count,
                                                  .sum = degree * same_count,
                                                  .smallest = degree,
                                                  .largest = degree,
                                                  .sum_of_squares = (unsigned __int128)degree *
                                                                    degree * same_count};
            cts_comm_degree_add(&launch->out_degree, &equal);
            uint64_t *const same = cts_map_at(out_degrees, degree, error);
            if (!same) return CTS_MEMORY;
            *same += same_count;
        }
    }
    return CTS_OK;
}

/* Adds the maps of all workers to the first one's. */
static enum cts_status join_maps(struct cts_comm_model *model, size_t map_offset,
                                 struct cts_error *error)
{
    struct cts_map *const all = (struct cts_map *)((char *)&model->workers[0] + map_offset);
    for (unsigned i = 1; i < model->worker_count; i++) {
        const struct cts_map *const map =
            (const struct cts_map *)((const char *)&model->workers[i] + map_offset);
        for (size_t k = 0; k < map->capacity; k++) {
            if (!map->used[k]) continue;
            uint64_t *const value = cts_map_at(all, map->entries[k].key, error);
            if (!value) return CTS_MEMORY;
            *value += map->entries[k].value;
        }
    }
    return CTS_OK;
}

static void join_sums(struct cts_comm_model *model)
{
    struct cts_comm_worker *const first = &model->workers[0];
    for (unsigned i = 1; i < model->worker_count; i++) {
        const struct cts_comm_worker *const worker = &model->workers[i];
        for (size_t k = 0; k < model->catalogue->site_count; k++) {
            struct cts_comm_site_sum *const sum = &first->site_sums[k];
            const struct cts_comm_site_sum *const more = &worker->site_sums[k];
            sum->accesses += more->accesses;
            sum->access_bytes += more->access_bytes;
            sum->received_accesses += more->received_accesses;
            sum->received_access_bytes += more->received_access_bytes;
            sum->sent_accesses += more->sent_accesses;
            sum->sent_access_bytes += more->sent_access_bytes;
        }
        for (size_t k = 0; k <= model->catalogue->allocation_count; k++) {
            struct cts_comm_allocation *const sum = &first->places.sums[k];
            const struct cts_comm_allocation *const more = &worker->places.sums[k];
            sum->read_bytes += more->read_bytes;
            sum->written_bytes += more->written_bytes;
            sum->received_bytes += more->received_bytes;
            sum->communicated_out_bytes += more->communicated_out_bytes;
        }
        for (size_t k = 0; k < cts_comm_device_cells(model); k++) {
            first->device_sums[k].read_bytes += worker->device_sums[k].read_bytes;
            first->device_sums[k].written_bytes += worker->device_sums[k].written_bytes;
        }
    }
}

static int by_size(const void *left, const void *right)
{
    const struct cts_comm_transfer *const a = left, *const b = right;
    return cts_comm_is_less(a, b) - cts_comm_is_less(b, a);
}

static enum cts_status gather_top(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    const size_t most = model->options.top_count;
    result->top = cts_array_zeroed(most * model->worker_count, sizeof *result->top, error);
    if (!result->top) return CTS_MEMORY;
    for (unsigned i = 0; i < model->worker_count; i++) {
        const struct cts_comm_worker *const worker = &model->workers[i];
        if (worker->transfers.top_count)
            memcpy(result->top + result->top_count, worker->transfers.top,
                   worker->transfers.top_count * sizeof *worker->transfers.top);
        result->top_count += worker->transfers.top_count;
    }
    qsort(result->top, result->top_count, sizeof *result->top, by_size);
    if (result->top_count > most) result->top_count = most;
    return CTS_OK;
}

/* What the threads have, together; the first one then stands for this process. */
static enum cts_status join_workers(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    enum cts_status status = CTS_OK;
    for (unsigned i = 0; !status && i < model->worker_count; i++)
        status = cts_comm_places_flush(&model->workers[i].places, error);
    join_sums(model);
    if (!status)
        status = join_maps(model, offsetof(struct cts_comm_worker, transfers.sizes), error);
    if (!status) status = join_maps(model, offsetof(struct cts_comm_worker, in_degrees), error);
    if (!status) status = join_maps(model, offsetof(struct cts_comm_worker, places.pairs), error);
    if (!status) status = gather_top(model, error);
    if (!status)
        status = cts_comm_density_init(&result->density, largest_grid(result),
                                       model->options.density_bins, error);
    for (unsigned i = 0; !status && i < model->worker_count; i++)
        cts_comm_density_add(&result->density, &model->workers[i].transfers.density);
    for (unsigned i = 0; i < model->worker_count; i++)
        result->record_count += model->workers[i].record_count;
    return status;
}

static enum cts_status list_sites(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    const size_t count = model->catalogue->site_count;
    result->sites = cts_array_zeroed(count, sizeof *result->sites, error);
    if (!result->sites) return CTS_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (!model->workers[0].site_sums[i].accesses) continue;
        result->sites[result->site_count] = model->workers[0].site_sums[i];
        result->sites[result->site_count++].site = (uint32_t)i;
    }
    return CTS_OK;
}

/* The CTAs that have anything to say, of all launches. */
static enum cts_status gather_ctas(struct cts_comm_model *model, struct cts_error *error)
{
    static const struct cts_comm_counts nothing;
    struct cts_comm *const result = model->result;
    size_t capacity = 0;
    for (size_t i = 0; model->cta_counts && i < result->launch_count; i++) {
        const struct cts_comm_launch *const launch = &result->launches[i];
        for (uint64_t cta = 0; model->cta_counts[i] && cta < launch->cta_count; cta++) {
            const struct cts_comm_counts *const counts = &model->cta_counts[i][cta];
            if (!memcmp(counts, &nothing, sizeof nothing)) continue;
            if (result->cta_count == capacity &&
                cts_array_grow((void **)&result->ctas, &capacity, result->cta_count + 1,
                               sizeof *result->ctas, error))
                return CTS_MEMORY;
            result->ctas[result->cta_count++] =
                (struct cts_comm_cta){(uint32_t)i, (uint32_t)cta, *counts};
        }
        free(model->cta_counts[i]);
        model->cta_counts[i] = NULL;
    }
    return CTS_OK;
}

static enum cts_status list_map(const struct cts_map *map, struct cts_map_entry **entries,
                                size_t *count, struct cts_error *error)
{
    *entries = cts_map_sorted(map, error);
    *count = *entries ? map->count : 0;
    return *entries ? CTS_OK : CTS_MEMORY;
}

static enum cts_status list_distributions(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    struct cts_comm_worker *const first = &model->workers[0];
    struct cts_map out_degrees = {0};
    enum cts_status status = finish_degrees(model, &out_degrees, error);
    if (!status)
        status = list_map(&out_degrees, &result->out_degrees, &result->out_degree_count, error);
    cts_map_release(&out_degrees);
    if (!status)
        status = list_map(&first->in_degrees, &result->in_degrees, &result->in_degree_count, error);
    if (!status)
        status = list_map(&first->transfers.sizes, &result->transfer_sizes,
                          &result->transfer_size_count, error);
    return status;
}

static enum cts_status conclude(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    enum cts_status status = list_distributions(model, error);
    if (!status) status = cts_comm_pairs_conclude(model, error);
    if (!status) status = cts_comm_strides_conclude(model, error);
    if (!status) status = cts_comm_places_conclude(model, error);
    if (!status) status = cts_comm_devices_conclude(model, error);
    if (!status) status = list_sites(model, error);
    if (!status) status = gather_ctas(model, error);
    result->transfers = model->transfers.items;
    result->transfer_count = model->transfers.count;
    model->transfers.items = NULL;
    return status;
}

/* ---- the end ---- */

static void release_worker(struct cts_comm_worker *worker)
{
    for (size_t i = 0; i < sizeof worker->scratch / sizeof *worker->scratch; i++)
        cts_intervals_release(&worker->scratch[i]);
    cts_spans_release(&worker->sorting);
    free(worker->pairs.by_writer);
    free(worker->pairs.used);
    free(worker->pairs.of_cta);
    free(worker->senders.items);
    free(worker->site_sums);
    free(worker->written);
    free(worker->written_sites);
    free(worker->places.sums);
    free(worker->device_sums);
    cts_map_release(&worker->touched);
    cts_map_release(&worker->places.pairs);
    for (unsigned kind = 0; kind < CTS_STRIDE_KIND_COUNT; kind++)
        cts_strides_release(&worker->strides[kind]);
    for (int kind = 0; kind < CTS_COMM_SET_COUNT; kind++) cts_sets_release(&worker->sets[kind]);
    if (worker->contended.pool) cts_bits_clear(&worker->contended);
    cts_map_release(&worker->transfers.sizes);
    cts_map_release(&worker->in_degrees);
    cts_comm_density_release(&worker->transfers.density);
    free(worker->transfers.top);
    free(worker->transfers.kept.items);
}

static void release_model(struct cts_comm_model *model)
{
    for (unsigned i = 0; model->workers && i < model->worker_count; i++)
        release_worker(&model->workers[i]);
    for (size_t i = 0; model->cta_counts && i < model->result->launch_count; i++)
        free(model->cta_counts[i]);
    free(model->cta_counts);
    free(model->workers);
    cts_bits_pool_release(&model->pool);
    cts_comm_stores_release(model);
    free(model->launch_out_degrees);
    free(model->sms.of_nodes);
    free(model->place_memories);
    free(model->sms.order);
    cts_places_release(&model->places);
    cts_comm_exchange_release(model);
    cts_summary_plan_release(&model->plan);
    cts_shadow_free(model->shadow);
    free(model->out_degrees);
    free(model->pairs.items);
    free(model->transfers.items);
    cts_intervals_release(&model->unseen);
    cts_walk_free(model->walk);
    cts_walk_free(model->region_walk);
}

static enum cts_status resolve_stores(struct cts_comm_model *model, struct cts_error *error)
{
    bool *const wanted = cts_array_zeroed(model->result->launch_count, sizeof *wanted, error);
    enum cts_status status = wanted ? CTS_OK : CTS_MEMORY;
    if (cts_processes_agree(model->options.processes, &status, error))
        status = cts_comm_stores_resolve(model, wanted, error);
    if (!status && model->result->retraced_launches)
        status = cts_comm_retrace(model, wanted, error);
    free(wanted);
    return status;
}

static enum cts_status analyze(struct cts_comm_model *model, struct cts_error *error)
{
    const struct cts_processes *const processes = model->options.processes;
    enum cts_status status = set_up(model, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    status = walk(model, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    if (!model->restricted) status = resolve_stores(model, error);
    if (!status) status = join_workers(model, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    status = cts_comm_merge(model, error);
    if (!status) status = conclude(model, error);
    return status;
}

/* `model` has catalogue, source, options, result and whether it is restricted. */
static enum cts_status analyze_as(struct cts_comm_model model, struct cts_error *error)
{
    struct cts_comm *const result = model.result;
    const struct cts_comm_options *const options = &model.options;
    *result = (struct cts_comm){.paper_model = options->paper_model,
                                .ignore_copies = options->ignore_copies,
                                .per_stream = options->per_stream};
    if (model.options.processes && model.options.processes->count == 1)
        model.options.processes = NULL;
    model.regions.processes = model.options.processes;
    model.regions.bits = options->region_bits ? options->region_bits : CTS_COMM_REGION_BITS;
    model.transfer_room = options->transfer_max ? options->transfer_max : CTS_COMM_TRANSFER_MAX;
    const enum cts_status status = analyze(&model, error);
    release_model(&model);
    if (status) cts_comm_release(result);
    return status;
}

/* What each launch stored that was read within its stream: a byte has one mark for having been
 * read, so that this takes an analysis of its own. */
static enum cts_status restrict_evolution(const struct cts_catalogue *catalogue,
                                          const struct cts_access_source *source,
                                          const struct cts_comm_options *options,
                                          struct cts_comm *result, struct cts_error *error)
{
    struct cts_comm_options own = *options;
    struct cts_comm within;
    own.keep_ctas = own.keep_transfers = false;
    own.top_count = own.density_bins = 0;
    const enum cts_status status = analyze_as((struct cts_comm_model){.catalogue = catalogue,
                                                                      .source = source,
                                                                      .options = own,
                                                                      .result = &within,
                                                                      .restricted = true},
                                              error);
    if (status) return status;
    for (size_t i = 0; i < result->evolution_count; i++)
        result->evolution[i].store_bytes = within.launches[i].counts.communicated_out_bytes;
    cts_comm_release(&within);
    return CTS_OK;
}

enum cts_status cts_comm_analyze(const struct cts_catalogue *catalogue,
                                 const struct cts_access_source *source,
                                 const struct cts_comm_options *options, struct cts_comm *result,
                                 struct cts_error *error)
{
    enum cts_status status = analyze_as(
        (struct cts_comm_model){
            .catalogue = catalogue, .source = source, .options = *options, .result = result},
        error);
    if (status || !options->per_stream) return status;
    status = restrict_evolution(catalogue, source, options, result, error);
    if (status) cts_comm_release(result);
    return status;
}
