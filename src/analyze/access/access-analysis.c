/* The access analysis as a whole: which launches are read, in which order, and what is made of the
 * sums at the end.
 *
 * With all launches, or a history, they are walked in the order in which they ran, with the copies,
 * memsets and frees between them, so that it is known what was written before each. Otherwise only
 * the chunks of the wanted launches are read, and nothing else is looked at. */
#include "analyze/access/access-analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/access/access-model.h"
#include "common/memory-limit.h"
#include "common/parallel.h"

/* ---- setting up ---- */

static enum cts_status set_up_worker(struct cts_access_worker *worker,
                                     struct cts_access_model *model, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    worker->model = model;
    worker->slot_of =
        cts_array_zeroed(catalogue->site_count * CTS_ACCESS_SPACES, sizeof *worker->slot_of, error);
    worker->places =
        cts_array_zeroed(catalogue->allocation_count + 1, sizeof *worker->places, error);
    worker->warp_ends = cts_array_zeroed((size_t)UINT16_MAX + 1, sizeof *worker->warp_ends, error);
    return worker->slot_of && worker->places && worker->warp_ends ? CTS_OK : CTS_MEMORY;
}

/* So many ranges of a worker wait, together in at most a quarter of the memory that there may be.
 */
static size_t most_scattered(const struct cts_access_model *model)
{
    enum { SCATTERED_MAX = 1 << 22, LATE_MAX = 64 };
    const uint64_t limit = cts_memory_limit_bytes() / 4;
    const uint64_t most = limit / sizeof(struct cts_set_item) / model->worker_count;
    if (model->options.late_ranges) return LATE_MAX;
    return limit && most < SCATTERED_MAX ? (size_t)most : SCATTERED_MAX;
}

static enum cts_status set_up(struct cts_access_model *model, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    if (catalogue->site_count >= UINT32_C(1) << 29)
        return cts_fail(error, CTS_LIMIT, "%zu sites are more than 2^29", catalogue->site_count);
    if (!model->options.bank_bytes) model->options.bank_bytes = 4;
    cts_bits_pool_init(&model->pool);
    pthread_mutex_init(&model->faults_lock, NULL);
    cts_bits_init(&model->touched, &model->pool, CTS_PLANE_COUNT);
    cts_bits_init(&model->suspects, &model->pool, CTS_SUSPECT_COUNT);
    cts_bits_init(&model->races.suspects, &model->pool, 1);
    model->races.suspects.is_shared = true;
    model->site_bits = cts_array_zeroed(catalogue->site_count * 2, sizeof *model->site_bits, error);
    model->is_unknown = cts_array_zeroed(catalogue->allocation_count, sizeof(bool), error);
    model->stored_of = cts_array_zeroed(catalogue->site_count, sizeof *model->stored_of, error);
    if (!model->site_bits || !model->is_unknown || !model->stored_of) return CTS_MEMORY;
    if (cts_access_reach_init(&model->reach, catalogue, error) ||
        cts_tensor_maps_init(&model->tensors, catalogue, error))
        return CTS_MEMORY;
    for (size_t i = 0; i < catalogue->site_count * 2; i++)
        cts_bits_init(&model->site_bits[i], &model->pool, 1);
    model->worker_count = cts_thread_count(model->options.threads);
    model->scattered_max = most_scattered(model);
    model->workers = cts_array_zeroed(model->worker_count, sizeof *model->workers, error);
    enum cts_status status = model->workers ? CTS_OK : CTS_MEMORY;
    for (unsigned i = 0; i < model->worker_count && !status; i++)
        status = set_up_worker(&model->workers[i], model, error);
    if (!status) status = cts_access_padding_init(&model->padding, catalogue, error);
    if (!status) status = cts_walk_sites_make(catalogue, &model->sites, error);
    if (!status) status = cts_access_walk_set_up(model, error);
    return status;
}

static void tear_down(struct cts_access_model *model)
{
    cts_walk_free(model->walk);
    cts_walk_sites_release(&model->sites);
    cts_access_races_release(&model->races);
    for (unsigned i = 0; model->workers && i < model->worker_count; i++) {
        struct cts_access_worker *const worker = &model->workers[i];
        cts_race_free(worker->race);
        cts_access_rows_release(&worker->rows);
        for (size_t k = 0; k < worker->slot_count; k++)
            cts_intervals_release(&worker->slots[k].set);
        for (size_t k = 0; k < sizeof worker->parts / sizeof *worker->parts; k++)
            cts_intervals_release(&worker->parts[k]);
        cts_spans_release(&worker->spans);
        cts_spans_release(&worker->sorting);
        cts_sets_release(&worker->scattered);
        cts_spans_release(&worker->crowd);
        free(worker->repeats.items);
        free(worker->late.items);
        free(worker->groups.items);
        free(worker->slot_of);
        free(worker->slots);
        free(worker->places);
        free(worker->warp_ends);
    }
    free(model->workers);
    free(model->is_unknown);
    free(model->stored_of);
    free(model->stored.items);
    free(model->witnesses.items);
    cts_access_reach_release(&model->reach);
    cts_tensor_maps_release(&model->tensors);
    cts_access_padding_release(&model->padding);
    free(model->uses.items);
    free(model->signals.items);
    cts_access_logged_release(&model->logged);
    for (size_t i = 0; model->site_bits && i < model->catalogue->site_count * 2; i++)
        cts_bits_clear(&model->site_bits[i]);
    free(model->site_bits);
    cts_bits_clear(&model->touched);
    cts_bits_clear(&model->suspects);
    for (size_t i = 0; i < model->faults.count; i++) cts_bits_clear(&model->faults.items[i].bytes);
    free(model->faults.items);
    free(model->allocations.items);
    cts_places_release(&model->places);
    cts_shadow_free(model->written);
    if (model->is_planned) cts_summary_plan_release(&model->plan);
    cts_bits_pool_release(&model->pool);
    pthread_mutex_destroy(&model->faults_lock);
}

/* Whether a launch ended in an error of the device: what it did is no sample of anything. */
static bool is_faulted(const struct cts_access_model *model, size_t launch)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    return catalogue->fault_count &&
           cts_catalogue_fault_of(catalogue, catalogue->launches[launch].launch);
}

static void note_soundness(struct cts_access_model *model)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    struct cts_access_result *const result = model->result;
    const char *const lanes =
        catalogue->private_data ? cts_catalogue_get(catalogue, "lanes") : NULL;
    const char *const key =
        catalogue->private_data ? cts_catalogue_get(catalogue, "host_accesses") : NULL;
    result->packed_lanes = lanes && strcmp(lanes, "packed") == 0;
    result->incomplete_files = model->source->incomplete_count;
    result->no_allocations = !catalogue->allocation_count ||
                             (catalogue->private_data && !cts_catalogue_knows_host(catalogue));
    for (size_t i = 0; i < catalogue->rank_count; i++)
        result->dropped_accesses += catalogue->ranks[i].dropped_accesses;
    for (size_t i = 0; i < catalogue->launch_count; i++) {
        if (model->options.wanted && !model->options.wanted[i]) continue;
        result->faulted_launches += is_faulted(model, i);
        result->unrecorded_launches +=
            cts_summary_is_incomplete(catalogue, &catalogue->launches[i]);
    }
    result->lower_bound = result->unrecorded_launches || result->dropped_accesses ||
                          result->incomplete_files || cts_gaps_any(&catalogue->gaps);
    model->host_seen = catalogue->host_access_count > 0 || (key && !strcmp(key, "1"));
    for (size_t i = 0; i < catalogue->allocation_count; i++)
        result->imported_allocations += cts_access_is_imported(&catalogue->allocations[i]);
    for (size_t i = 0; i < catalogue->allocation_count && !model->host_seen; i++) {
        const char *const kind = catalogue->allocations[i].kind;
        result->unseen_allocations += kind && (!strcmp(kind, "managed") ||
                                               !strcmp(kind, "pinned") || !strcmp(kind, "mapped"));
    }
}

/* ---- the walk ---- */

/* The wanted launches alone, by id as the chunks are: chunks of others are not touched. */
static enum cts_status run_wanted(struct cts_access_model *model, struct cts_error *error)
{
    const struct cts_acc_chunk *const chunks = model->source->chunks;
    const size_t chunk_count = model->source->chunk_count;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < model->catalogue->launch_count && !status; i++) {
        if (model->options.wanted && !model->options.wanted[i]) continue;
        if (is_faulted(model, i)) continue;
        const uint32_t launch = model->catalogue->launches[i].launch;
        const size_t low = cts_acc_first_chunk(chunks, chunk_count, launch);
        size_t high;
        for (high = low; high < chunk_count && chunks[high].launch == launch;) high++;
        model->result->unwatched_launches++;
        status = cts_access_run_launch(model, &(struct cts_access_turn){i, low, high, true}, error);
    }
    return status;
}

static enum cts_status change_rank(struct cts_access_model *model, uint32_t rank,
                                   struct cts_error *error)
{
    cts_shadow_free(model->written);
    model->written = cts_shadow_new(error);
    model->written_view = (struct cts_shadow_view){.shadow = model->written};
    model->reach.is_anywhere = false;
    model->rank = rank;
    return model->written ? CTS_OK : CTS_MEMORY;
}

/* What a launch may have stored unseen counts as written from here on. Loads that are not known
 * hide nothing. */
static enum cts_status forget_contents(struct cts_access_model *model,
                                       const struct cts_launch *launch, struct cts_error *error)
{
    enum cts_status status = cts_places_at(model->catalogue, launch, &model->places, error);
    for (size_t i = 0; i < model->places.count && !status; i++) {
        const struct cts_place *const place = &model->places.items[i];
        if (!cts_access_reaches(&model->reach, place->allocation)) continue;
        model->result->unknown_allocations += !model->is_unknown[place->allocation];
        model->is_unknown[place->allocation] = true;
        status = cts_shadow_fill(model->written, place->start, place->end, CTS_WRITER_HOST, error);
    }
    return status;
}

static enum cts_status forget_tensor(struct cts_access_model *model,
                                     const struct cts_tensor_map *map, struct cts_error *error)
{
    const uint64_t map_end = cts_tensor_map_end(map);
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < model->places.count && !status; i++) {
        const struct cts_place *const place = &model->places.items[i];
        const uint64_t start = map->address > place->start ? map->address : place->start;
        const uint64_t end = map_end < place->end ? map_end : place->end;
        if (start >= end) continue;
        model->result->unknown_allocations += !model->is_unknown[place->allocation];
        model->is_unknown[place->allocation] = true;
        status = cts_shadow_fill(model->written, start, end, CTS_WRITER_HOST, error);
    }
    return status;
}

/* Tensor copies of a launch may store into its tensors alone: these count as written before it
 * begins, since its own reads of them cannot be judged either. */
static enum cts_status forget_tensors(struct cts_access_model *model,
                                      const struct cts_launch *launch, struct cts_error *error)
{
    size_t count;
    const struct cts_tensor_map *const maps =
        cts_tensor_maps_of(&model->tensors, launch->launch, &count);
    enum cts_status status = cts_places_at(model->catalogue, launch, &model->places, error);
    for (size_t i = 0; i < count && !status; i++) status = forget_tensor(model, &maps[i], error);
    return status;
}

static bool has_tensors(const struct cts_access_model *model, const struct cts_launch *launch)
{
    size_t count;
    (void)cts_tensor_maps_of(&model->tensors, launch->launch, &count);
    return count != 0;
}

static enum cts_status run_planned(struct cts_access_model *model,
                                   const struct cts_summary_launch *launch, struct cts_error *error)
{
    const struct cts_launch *const row = &model->catalogue->launches[launch->index];
    const bool *const wanted = model->options.wanted;
    const bool faulted = is_faulted(model, launch->index);
    const bool is_wanted = !faulted && (!wanted || wanted[launch->index]);
    const enum cts_access_hidden hidden = cts_access_hidden_stores(model->catalogue, row);
    const bool in_tensors = hidden == CTS_HIDDEN_IN_TENSORS && has_tensors(model, row);
    const bool hides_stores =
        faulted || launch->incomplete || (hidden != CTS_HIDDEN_NOWHERE && !in_tensors);
    cts_access_reach_clear(&model->reach);
    enum cts_status status = CTS_OK;
    if (in_tensors && !hides_stores) status = forget_tensors(model, row, error);
    if (status) return status;
    if (hides_stores) {
        status = cts_places_at(model->catalogue, row, &model->places, error);
        if (!status) cts_access_reach_find(&model->reach, model->catalogue, row, &model->places);
        if (status) return status;
    }
    model->result->unwatched_launches +=
        is_wanted && (model->result->no_allocations || hides_stores);
    const struct cts_access_turn turn = {launch->index, launch->chunk_begin, launch->chunk_end,
                                         is_wanted};
    status = cts_access_run_launch(model, &turn, error);
    return status || !hides_stores ? status : forget_contents(model, row, error);
}

static enum cts_status run_in_order(struct cts_access_model *model, struct cts_error *error)
{
    const struct cts_order *const order = &model->plan.order;
    enum cts_status status = CTS_OK;
    size_t launch = 0;
    for (size_t i = 0; i < order->step_count && !status; i++) {
        const struct cts_step *const step = &order->steps[i];
        if (!model->written || step->rank != model->rank)
            status = change_rank(model, step->rank, error);
        if (status) break;
        if (step->kind == CTS_STEP_LAUNCH)
            status = run_planned(model, &model->plan.launches[launch++], error);
        else
            status = cts_access_take_step(model, step, error);
        const uint64_t held = cts_shadow_size_bytes(model->written) + model->pool.held_bytes;
        if (held > model->result->peak_set_bytes) model->result->peak_set_bytes = held;
    }
    return status;
}

/* ---- the whole ---- */

static int by_allocation(const void *left, const void *right)
{
    const struct cts_access_allocation *const a = left, *const b = right;
    if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
    return (a->allocation > b->allocation) - (a->allocation < b->allocation);
}

static enum cts_status collect(struct cts_access_model *model, struct cts_error *error)
{
    struct cts_access_result *const result = model->result;
    struct cts_access_rows sum = {0};
    enum cts_status status = CTS_OK;
    for (unsigned i = 0; i < model->worker_count && !status; i++) {
        status = cts_access_rows_merge(&sum, &model->workers[i].rows, error);
        result->record_count += model->workers[i].record_count;
        result->access_count += model->workers[i].access_count;
    }
    if (!status) status = cts_access_rows_list(&sum, model->options.per_launch, result, error);
    cts_access_rows_release(&sum);
    result->allocations = model->allocations.items;
    result->allocation_count = model->allocations.count;
    model->allocations.items = NULL;
    if (result->allocation_count)
        qsort(result->allocations, result->allocation_count, sizeof *result->allocations,
              by_allocation);
    if (!status) status = cts_access_conclude_faults(model, error);
    if (!status && !model->options.per_launch) status = cts_access_faults_find(model, error);
    return status;
}

enum cts_status cts_access_analyze(const struct cts_catalogue *catalogue,
                                   const struct cts_access_source *source,
                                   const struct cts_access_options *options,
                                   struct cts_access_result *result, struct cts_error *error)
{
    *result = (struct cts_access_result){0};
    struct cts_access_model model = {
        .catalogue = catalogue, .source = source, .options = *options, .result = result};
    enum cts_status status = set_up(&model, error);
    note_soundness(&model);
    const bool in_order = !options->costs_only && (!options->wanted || options->history);
    if (!status && in_order) {
        status = cts_summary_plan_make(catalogue, source, &model.plan, error);
        model.is_planned = !status;
        if (!status) status = run_in_order(&model, error);
    } else if (!status) {
        status = run_wanted(&model, error);
    }
    if (!status) status = collect(&model, error);
    if (model.pool.peak_bytes > result->peak_set_bytes)
        result->peak_set_bytes = model.pool.peak_bytes;
    tear_down(&model);
    if (status) cts_access_release(result);
    return status;
}

void cts_access_release(struct cts_access_result *result)
{
    free(result->sites);
    free(result->findings);
    free(result->allocations);
    *result = (struct cts_access_result){0};
}
