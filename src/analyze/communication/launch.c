/* One launch: its chunks are read by all threads, then its sets are applied by all threads.
 *
 * A *group* is a run of chunks of one access file that may share CTAs; no CTA is in two groups,
 * since its records lie in one file. Threads take groups one after the other. Within a group a CTA
 * is finished when no later chunk of the group can have it: at once in files that go through their
 * CTAs in order. */
#include <stdlib.h>
#include <string.h>

#include "analyze/communication/model.h"
#include "common/parallel.h"

#define NO_CTA UINT64_MAX

/* ---- groups ---- */

static int by_place(const void *left, const void *right)
{
    const struct cts_acc_chunk *const a = *(const struct cts_acc_chunk *const *)left;
    const struct cts_acc_chunk *const b = *(const struct cts_acc_chunk *const *)right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return (a->offset_bytes > b->offset_bytes) - (a->offset_bytes < b->offset_bytes);
}

static enum cts_status add_group(struct cts_comm_model *model, const struct cts_comm_group *group,
                                 struct cts_error *error)
{
    if (model->group_count == model->group_capacity &&
        cts_array_grow((void **)&model->groups, &model->group_capacity, model->group_count + 1,
                       sizeof *model->groups, error))
        return CTS_MEMORY;
    model->groups[model->group_count++] = *group;
    return CTS_OK;
}

/* Which CTAs come after each chunk in its file. */
static void look_ahead(struct cts_comm_model *model, size_t chunk_count)
{
    const struct cts_acc_chunk *const *const chunks = model->chunks;
    for (size_t i = chunk_count; i-- > 0;) {
        struct cts_comm_range after = {UINT32_MAX, 0};
        if (i + 1 < chunk_count && chunks[i + 1]->file == chunks[i]->file) {
            after = model->after[i + 1];
            if (chunks[i + 1]->first_cta < after.first) after.first = chunks[i + 1]->first_cta;
            if (chunks[i + 1]->last_cta > after.last) after.last = chunks[i + 1]->last_cta;
        }
        model->after[i] = after;
    }
}

/* Cuts the launch's chunks, by file and offset, wherever all CTAs before are below all after, and,
 * with several threads, also where one CTA goes on in the next chunk: it belongs to the group in
 * which it begins, whose thread then reads on for it alone. */
static enum cts_status make_groups(struct cts_comm_model *model, size_t chunk_count,
                                   struct cts_error *error)
{
    const struct cts_acc_chunk *const *const chunks = model->chunks;
    struct cts_comm_group group = {.skipped = NO_CTA};
    uint32_t most_before = 0;
    const bool splits = model->worker_count > 1;
    model->group_count = model->next_group = 0;
    look_ahead(model, chunk_count);
    for (size_t i = 0; i < chunk_count; i++) {
        if (i == group.begin || chunks[i]->last_cta > most_before)
            most_before = chunks[i]->last_cta;
        const uint32_t first_after = model->after[i].first; /* above all when no chunk follows */
        const bool shares_one = first_after == most_before && splits &&
                                chunks[i + 1]->last_cta > most_before &&
                                chunks[i]->first_cta < most_before;
        if (first_after <= most_before && !shares_one) continue;
        group.end = i + 1;
        group.continued = shares_one ? most_before : NO_CTA;
        const enum cts_status status = add_group(model, &group, error);
        if (status) return status;
        group = (struct cts_comm_group){.begin = i + 1, .skipped = group.continued};
    }
    return CTS_OK;
}

static enum cts_status collect_chunks(struct cts_comm_model *model, struct cts_error *error)
{
    const struct cts_summary_launch *const planned = &model->plan.launches[model->launch];
    const size_t begin = planned->chunk_begin, end = planned->chunk_end;
    if (end - begin > model->chunk_capacity &&
        cts_array_grow((void **)&model->chunks, &model->chunk_capacity, end - begin,
                       sizeof *model->chunks, error))
        return CTS_MEMORY;
    if (end - begin > model->after_capacity &&
        cts_array_grow((void **)&model->after, &model->after_capacity, end - begin,
                       sizeof *model->after, error))
        return CTS_MEMORY;
    for (size_t i = begin; i < end; i++) model->chunks[i - begin] = &model->source->chunks[i];
    if (end > begin) qsort(model->chunks, end - begin, sizeof *model->chunks, by_place);
    model->chunk_count = end - begin;
    return make_groups(model, end - begin, error);
}

/* ---- reading ---- */

static struct cts_comm_state *take_state(struct cts_comm_worker *worker)
{
    if (worker->spare_count) return worker->spare[--worker->spare_count];
    return cts_array_zeroed(1, sizeof(struct cts_comm_state), &worker->error);
}

/* The state of a CTA, opened if it is new; open_index says where. */
static struct cts_comm_state *open_state(struct cts_comm_worker *worker, uint32_t cta)
{
    for (size_t i = worker->open_count; i-- > 0;) {
        if (worker->open[i]->cta != cta) continue;
        worker->open_index = i;
        return worker->open[i];
    }
    struct cts_comm_model *const model = worker->model;
    const uint8_t bit = (uint8_t)(1u << (cta & 7));
    if (__atomic_load_n(&model->done[cta / 8], __ATOMIC_RELAXED) & bit) {
        (void)cts_fail(&worker->error, CTS_FORMAT,
                       "the records of CTA %u are in several files or do not follow one another",
                       cta);
        return NULL;
    }
    if (worker->open_count == worker->open_capacity &&
        cts_array_grow((void **)&worker->open, &worker->open_capacity, worker->open_count + 1,
                       sizeof(void *), &worker->error))
        return NULL;
    struct cts_comm_state *const state = take_state(worker);
    if (!state) return NULL;
    state->cta = cta;
    state->moment = 0;
    state->lane_serial = 1;
    worker->open_index = worker->open_count;
    worker->open[worker->open_count++] = state;
    return state;
}

static enum cts_status close_state(struct cts_comm_worker *worker, size_t index)
{
    struct cts_comm_state *const state = worker->open[index];
    worker->open[index] = worker->open[--worker->open_count];
    const uint8_t bit = (uint8_t)(1u << (state->cta & 7));
    __atomic_fetch_or(&worker->model->done[state->cta / 8], bit, __ATOMIC_RELAXED);
    const enum cts_status status = cts_comm_finish_cta(worker, state);
    if (worker->spare_count == worker->spare_capacity &&
        cts_array_grow((void **)&worker->spare, &worker->spare_capacity, worker->spare_count + 1,
                       sizeof(void *), &worker->error)) {
        cts_comm_state_release(state);
        return CTS_MEMORY;
    }
    worker->spare[worker->spare_count++] = state;
    return status;
}

/* Finishes the open CTAs that later chunks cannot have. */
static enum cts_status close_others(struct cts_comm_worker *worker, struct cts_comm_range after)
{
    for (size_t i = worker->open_count; i-- > 0;) {
        const uint32_t cta = worker->open[i]->cta;
        const enum cts_status status =
            cta >= after.first && cta <= after.last ? CTS_OK : close_state(worker, i);
        if (status) return status;
    }
    return CTS_OK;
}

/* Which records of a chunk are wanted. */
struct wanted {
    uint64_t skipped, only;      /* a CTA or NO_CTA */
    struct cts_comm_range after; /* CTAs that may come again: they stay open */
};

/* Whether each CTA has one run of records. Not where CTAs take turns: at barriers of the grid, and
 * while one waits for memory that another writes. */
static bool is_in_order(const struct cts_acc_batch *batch)
{
    for (size_t i = 1; i < batch->record_count; i++)
        if (batch->cta[i] < batch->cta[i - 1]) return false;
    return true;
}

/* Reads the batch CTA by CTA; those that cannot come again are finished: here, or, if the batch may
 * have them again, by the caller. */
static enum cts_status read_batch(struct cts_comm_worker *worker, const struct cts_acc_chunk *chunk,
                                  const struct wanted *wanted)
{
    const struct cts_acc_batch *const batch = &worker->batch;
    const struct cts_comm_model *const model = worker->model;
    const uint64_t cta_count = model->result->launches[model->launch].cta_count;
    const bool in_order = is_in_order(batch);
    for (size_t begin = 0, end; begin < batch->record_count; begin = end) {
        const uint32_t cta = batch->cta[begin];
        for (end = begin + 1; end < batch->record_count && batch->cta[end] == cta;) end++;
        if (cta >= cta_count || cta < chunk->first_cta || cta > chunk->last_cta)
            return cts_fail(&worker->error, CTS_FORMAT,
                            "a record names CTA %u of a launch with %llu CTAs, in a chunk for CTAs "
                            "%u to %u",
                            cta, (unsigned long long)cta_count, chunk->first_cta, chunk->last_cta);
        if (cta < model->first_cta || cta >= model->end_cta) continue;
        if (cta == wanted->skipped || (wanted->only != NO_CTA && cta != wanted->only)) continue;
        struct cts_comm_state *const state = open_state(worker, cta);
        if (!state) return worker->error.status;
        enum cts_status status = cts_comm_read_records(worker, state, begin, end);
        if (!status && in_order && (cta < wanted->after.first || cta > wanted->after.last))
            status = close_state(worker, worker->open_index);
        if (status) return status;
        if (model->mode == CTS_COMM_FORWARD) worker->record_count += end - begin;
    }
    return CTS_OK;
}

static enum cts_status read_chunk(struct cts_comm_worker *worker, const struct cts_acc_chunk *chunk,
                                  const struct wanted *wanted)
{
    const struct cts_access_source *const source = worker->model->source;
    struct cts_progress *const progress = worker->model->options.progress;
    if (chunk->last_cta < worker->model->first_cta || chunk->first_cta >= worker->model->end_cta)
        return CTS_OK; /* another process's */
    enum cts_status status = source->read(source->state, chunk, &worker->batch, &worker->error);
    if (!status) {
        status = read_batch(worker, chunk, wanted);
        const char *const path = source->path ? source->path(source->state, chunk->file) : "";
        if (status)
            status = cts_context(&worker->error, "'%s': chunk at byte %llu of launch %u", path,
                                 (unsigned long long)chunk->offset_bytes, chunk->launch);
    }
    if (progress && wanted->only == NO_CTA && worker->model->mode == CTS_COMM_FORWARD)
        cts_progress_add(progress, chunk->access_count);
    return status;
}

static enum cts_status read_group(struct cts_comm_worker *worker,
                                  const struct cts_comm_group *group)
{
    const struct cts_comm_model *const model = worker->model;
    const struct cts_acc_chunk *const *const chunks = model->chunks;
    const struct cts_comm_range none = {UINT32_MAX, 0};
    enum cts_status status = CTS_OK;
    for (size_t i = group->begin; !status && i < group->end; i++) {
        const struct wanted wanted = {group->skipped, NO_CTA, model->after[i]};
        status = read_chunk(worker, chunks[i], &wanted);
        if (!status) status = close_others(worker, wanted.after);
    }
    const struct wanted rest = {NO_CTA, group->continued, model->after[group->end - 1]};
    for (size_t i = group->end; !status && group->continued != NO_CTA; i++) {
        if (model->after[i - 1].first > group->continued) break; /* it does not come again */
        if (chunks[i]->first_cta <= group->continued) status = read_chunk(worker, chunks[i], &rest);
    }
    return status ? status : close_others(worker, none);
}

static void read_groups(void *state, unsigned worker_index)
{
    struct cts_comm_model *const model = state;
    struct cts_comm_worker *const worker = &model->workers[worker_index];
    enum cts_status status = CTS_OK;
    while (!status) {
        const size_t next = __atomic_fetch_add(&model->next_group, 1, __ATOMIC_RELAXED);
        if (next >= model->group_count) break;
        status = read_group(worker, &model->groups[next]);
    }
    if (status) /* the others need not go on */
        __atomic_store_n(&model->next_group, model->group_count, __ATOMIC_RELAXED);
    worker->status = status;
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
    for (unsigned i = 0; i < model->worker_count; i++) more += model->workers[i].transfers.count;
    if (CTS_ARRAY_RESERVE(kept, kept->count + more, error)) return CTS_MEMORY;
    all.items = kept->items ? kept->items + kept->count : NULL;
    for (unsigned i = 0; i < model->worker_count; i++) {
        struct cts_comm_transfers *const list = &model->workers[i].transfers;
        if (list->count)
            memcpy(all.items + all.count, list->items, list->count * sizeof *list->items);
        all.count += list->count;
        list->count = 0;
        model->result->transfers_left_out += model->workers[i].transfers_left_out;
        model->workers[i].transfers_left_out = 0;
    }
    if (!all.count) return CTS_OK;
    cts_comm_transfers_cut(&all, model->transfer_room, &model->result->transfers_left_out);
    kept->count += all.count;
    model->transfer_room -= all.count;
    return CTS_OK;
}

static enum cts_status prepare(struct cts_comm_model *model, struct cts_error *error)
{
    const struct cts_comm_launch *const launch = &model->result->launches[model->launch];
    const size_t done_bytes = (size_t)(launch->cta_count / 8 + 1);
    if (launch->cta_count > UINT32_MAX)
        return cts_fail(error, CTS_LIMIT, "a grid of %llu CTAs is too large",
                        (unsigned long long)launch->cta_count);
    if (model->done_bytes < done_bytes) {
        free(model->done);
        model->done = cts_array_zeroed(done_bytes, 1, error);
        model->done_bytes = model->done ? done_bytes : 0;
        if (!model->done) return CTS_MEMORY;
    }
    memset(model->done, 0, done_bytes);
    for (unsigned i = 0; i < model->worker_count; i++) {
        struct cts_comm_worker *const worker = &model->workers[i];
        worker->status = CTS_OK;
        if (model->mode == CTS_COMM_FORWARD) {
            worker->counts = (struct cts_comm_counts){0};
            worker->in_degree = (struct cts_comm_degree){0};
        }
        cts_sets_clear(&worker->marks);
        cts_sets_clear(&worker->rereads);
        cts_sets_clear(&worker->stores);
        cts_sets_clear(&worker->atomics);
        if (worker->view.shadow != model->shadow)
            worker->view = (struct cts_shadow_view){.shadow = model->shadow};
    }
    return CTS_OK;
}

static void note_peaks(struct cts_comm_model *model)
{
    uint64_t set_bytes = 0;
    for (unsigned i = 0; i < model->worker_count; i++) {
        const struct cts_comm_worker *const worker = &model->workers[i];
        set_bytes += (worker->marks.count + worker->rereads.count + worker->stores.count +
                      worker->atomics.count) *
                     sizeof(struct cts_set_item);
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
    if (!status) status = prepare(model, error);
    if (!status) status = collect_chunks(model, error);
    if (!status) cts_comm_share_out(model);
    if (cts_comm_has_regions(model)) status = cts_comm_follow_launch(model, status, error);
    if (status) return status;
    const size_t groups = model->group_count;
    cts_parallel(groups < model->worker_count ? (unsigned)groups : model->worker_count, read_groups,
                 model);
    return cts_comm_first_failure(model, error);
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
        cts_parallel(model->group_count ? model->worker_count : 0, cts_comm_apply, model);
        status = cts_comm_first_failure(model, error);
    }
    note_peaks(model);
    if (!status) gather(model);
    if (!status) status = cts_comm_pairs_gather(model, error);
    if (!status) status = cts_comm_stores_gather(model, error);
    if (!status) status = gather_transfers(model, error);
    return status;
}
