/* One launch: its records are walked by all threads, then its sets are applied by all threads. */
#include <stdlib.h>
#include <string.h>

#include "analyze/communication/comm-model.h"
#include "common/parallel.h"

/* ---- reading ---- */

static enum cts_status open_state(void *state, unsigned thread, void *cta_state, uint32_t cta,
                                  struct cts_error *error)
{
    struct cts_comm_state *const opened = cta_state;
    (void)state;
    (void)thread;
    (void)error;
    opened->cta = cta;
    opened->moment = 0;
    opened->lane_serial = 1;
    return CTS_OK;
}

static enum cts_status read_run(void *state, unsigned thread, void *cta_state,
                                const struct cts_walk_run *run, struct cts_error *error)
{
    struct cts_comm_model *const model = state;
    struct cts_comm_worker *const worker = &model->workers[thread];
    const enum cts_status status = cts_comm_read_records(worker, cta_state, run);
    if (status) *error = worker->error;
    if (model->mode == CTS_COMM_FORWARD) worker->record_count += run->end - run->begin;
    return status;
}

static enum cts_status close_state(void *state, unsigned thread, void *cta_state,
                                   struct cts_error *error)
{
    struct cts_comm_model *const model = state;
    struct cts_comm_worker *const worker = &model->workers[thread];
    const enum cts_status status = cts_comm_finish_cta(worker, cta_state);
    if (status) *error = worker->error;
    return status;
}

enum cts_status cts_comm_walk_set_up(struct cts_comm_model *model, struct cts_error *error)
{
    static const struct cts_walk_ops ops = {.cta_bytes = sizeof(struct cts_comm_state),
                                            .open = open_state,
                                            .record = read_run,
                                            .close = close_state,
                                            .release = cts_comm_state_release};
    const struct cts_walk_options options = {.source = model->source,
                                             .sites = &model->plan.sites,
                                             .ops = &ops,
                                             .threads = model->worker_count};
    return cts_walk_new(&options, &model->walk, error);
}

/* ---- the whole launch ---- */

/* Memory that the CPU could write during this launch without being seen. */
static enum cts_status find_unseen(struct cts_comm_model *model, const struct cts_launch *row,
                                   struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    model->unseen.count = 0;
    if (model->host_seen || model->options.paper_model || model->options.ignore_copies)
        return CTS_OK;
    for (size_t i = 0; i < catalogue->allocation_count; i++) {
        const struct cts_allocation *const a = &catalogue->allocations[i];
        if (a->rank != row->rank || a->op >= row->op || a->freed_op <= row->op) continue;
        if (!cts_comm_is_host_visible(a) || a->size_bytes > UINT64_MAX - a->address) continue;
        const enum cts_status status =
            cts_intervals_add(&model->unseen, a->address, a->address + a->size_bytes, error);
        if (status) return status;
    }
    return cts_intervals_normalise(&model->unseen, error);
}

enum cts_status cts_comm_first_failure(const struct cts_comm_model *model, struct cts_error *error)
{
    for (unsigned i = 0; i < model->worker_count; i++) {
        if (!model->workers[i].status) continue;
        if (error) *error = model->workers[i].error;
        return model->workers[i].status;
    }
    return CTS_OK;
}

/* The threads' sums of the launch become the launch's. */
static void gather(struct cts_comm_model *model)
{
    struct cts_comm_launch *const launch = &model->result->launches[model->launch];
    for (unsigned i = 0; i < model->worker_count; i++) {
        const struct cts_comm_worker *const worker = &model->workers[i];
        cts_comm_counts_add(&launch->counts, &worker->counts);
        cts_comm_degree_add(&launch->in_degree, &worker->in_degree);
    }
}

/* The launch's transfers, in order, as far as there is room. */
static enum cts_status gather_transfers(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm_transfers all = {0};
    struct cts_comm_transfers *const kept = &model->transfers;
    size_t more = 0;
    for (unsigned i = 0; i < model->worker_count; i++)
        more += model->workers[i].transfers.kept.count;
    if (CTS_ARRAY_RESERVE(kept, kept->count + more, error)) return CTS_MEMORY;
    all.items = kept->items ? kept->items + kept->count : NULL;
    for (unsigned i = 0; i < model->worker_count; i++) {
        struct cts_comm_transfers *const list = &model->workers[i].transfers.kept;
        if (list->count)
            memcpy(all.items + all.count, list->items, list->count * sizeof *list->items);
        all.count += list->count;
        list->count = 0;
        model->result->transfers_left_out += model->workers[i].transfers.left_out;
        model->workers[i].transfers.left_out = 0;
    }
    if (!all.count) return CTS_OK;
    cts_comm_transfers_cut(&all, model->transfer_room, &model->result->transfers_left_out);
    kept->count += all.count;
    model->transfer_room -= all.count;
    return CTS_OK;
}

static void prepare(struct cts_comm_model *model)
{
    for (unsigned i = 0; i < model->worker_count; i++) {
        struct cts_comm_worker *const worker = &model->workers[i];
        worker->status = CTS_OK;
        if (model->mode == CTS_COMM_FORWARD) {
            worker->counts = (struct cts_comm_counts){0};
            worker->in_degree = (struct cts_comm_degree){0};
        }
        for (int kind = 0; kind < CTS_COMM_SET_COUNT; kind++) cts_sets_clear(&worker->sets[kind]);
        if (worker->view.shadow != model->shadow)
            worker->view = (struct cts_shadow_view){.shadow = model->shadow};
    }
}

/* The launch's records; where there are several processes, this one's share of them. */
static struct cts_walk_scope scope_of(const struct cts_comm_model *model)
{
    const struct cts_summary_launch *const planned = &model->plan.launches[model->launch];
    const struct cts_processes *const processes = model->options.processes;
    struct cts_walk_scope scope = {.chunk_begin = planned->chunk_begin,
                                   .chunk_end = planned->chunk_end,
                                   .cta_count = planned->cta_count,
                                   .end_cta = UINT64_MAX};
    if (model->mode == CTS_COMM_FORWARD) scope.progress = model->options.progress;
    if (processes && processes->count > 1)
        cts_walk_share(model->source, processes->rank, processes->count, &scope);
    return scope;
}

static void note_peaks(struct cts_comm_model *model)
{
    uint64_t set_bytes = 0;
    for (unsigned i = 0; i < model->worker_count; i++) {
        const struct cts_comm_worker *const worker = &model->workers[i];
        for (int kind = 0; kind < CTS_COMM_SET_COUNT; kind++)
            set_bytes += worker->sets[kind].count * sizeof(struct cts_set_item);
    }
    if (set_bytes > model->result->peak_set_bytes) model->result->peak_set_bytes = set_bytes;
    const uint64_t shadow_bytes = cts_shadow_size_bytes(model->shadow);
    if (shadow_bytes > model->result->peak_shadow_bytes)
        model->result->peak_shadow_bytes = shadow_bytes;
}

/* `status`: as in cts_comm_run_launch. */
enum cts_status cts_comm_read_launch(struct cts_comm_model *model, enum cts_status status,
                                     struct cts_error *error)
{
    if (!status) prepare(model);
    model->scope = scope_of(model);
    if (cts_comm_has_regions(model)) status = cts_comm_follow_launch(model, status, error);
    return status ? status : cts_walk_launch(model->walk, &model->scope, model, error);
}

static enum cts_status read_forward(struct cts_comm_model *model, enum cts_status status,
                                    struct cts_error *error)
{
    const size_t index = model->result->launches[model->launch].index;
    const struct cts_launch *const row = &model->catalogue->launches[index];
    if (!status) status = find_unseen(model, row, error);
    if (!status) status = cts_comm_find_places(model, row, error);
    if (!status) status = cts_comm_sms_find(model, error);
    return cts_comm_read_launch(model, status, error);
}

/* `status`: whether all went well so far; the processes learn of a failure here, where they meet.
 */
enum cts_status cts_comm_run_launch(struct cts_comm_model *model, enum cts_status status,
                                    struct cts_error *error)
{
    status = read_forward(model, status, error);
    if (!cts_processes_agree(model->options.processes, &status, error)) return status;
    status = cts_comm_exchange(model, error);
    if (!status) {
        const bool has_records = model->scope.chunk_begin < model->scope.chunk_end;
        cts_parallel(has_records ? model->worker_count : 0, cts_comm_apply, model);
        status = cts_comm_first_failure(model, error);
    }
    note_peaks(model);
    if (!status) gather(model);
    if (!status) status = cts_comm_pairs_gather(model, error);
    if (!status) status = cts_comm_stores_gather(model, error);
    if (!status) status = gather_transfers(model, error);
    return status;
}
