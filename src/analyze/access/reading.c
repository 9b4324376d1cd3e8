/* The records of a launch, CTA by CTA, as model->look says. */
#include <string.h>

#include "analyze/access/access-model.h"

static void begin(void *state, unsigned thread_count)
{
    struct cts_access_model *const model = state;
    model->is_shared = thread_count > 1;
}

static enum cts_status open_cta(void *state, unsigned thread, void *cta_state, uint32_t number,
                                struct cts_error *error)
{
    struct cts_access_model *const model = state;
    struct cts_access_cta *const cta = cta_state;
    (void)thread;
    (void)error;
    if (!cta->seen.pool) cts_bits_init(&cta->seen, &model->pool, 1);
    cta->cta = number;
    cta->moment = cta->fence = 0;
    memset(cta->epochs, 0, sizeof cta->epochs);
    return CTS_OK;
}

static enum cts_status look_again(struct cts_access_worker *worker, struct cts_access_cta *cta,
                                  const struct cts_walk_run *run)
{
    const struct cts_acc_barrier *const barriers = run->batch->barriers;
    enum cts_status status = CTS_OK;
    size_t b = run->barrier_begin;
    for (size_t i = run->begin; i <= run->end && !status; i++) {
        for (; b < run->barrier_end && barriers[b].before <= i && !status; b++) {
            cts_access_note_barrier(worker->model, cta, &barriers[b]);
            if (worker->model->look == CTS_LOOK_SIGNAL && worker->model->knows_order)
                status = cts_access_log_barrier(worker, cta, &barriers[b]);
        }
        if (i < run->end && !status) status = cts_access_look_again(worker, cta, i);
    }
    return status;
}

static enum cts_status read_run(void *state, unsigned thread, void *cta_state,
                                const struct cts_walk_run *run, struct cts_error *error)
{
    struct cts_access_model *const model = state;
    struct cts_access_worker *const worker = &model->workers[thread];
    const bool again = model->look >= CTS_LOOK_ORDER;
    enum cts_status status = CTS_OK;
    worker->batch = run->batch;
    if (model->look == CTS_LOOK_RACES || model->look == CTS_LOOK_OTHER)
        status = cts_access_look_for_witnesses(worker, cta_state, run);
    if (model->look == CTS_LOOK_RACES && !status)
        status = cts_access_take_race_run(worker, cta_state, run);
    else if (again && model->look != CTS_LOOK_OTHER && !status)
        status = look_again(worker, cta_state, run);
    worker->paired = SIZE_MAX;
    if (!again)
        for (size_t i = run->begin; i < run->end && !status; i++)
            status = cts_access_add_record(worker, cta_state, i, run->end);
    if (status) *error = worker->error;
    return status;
}

static enum cts_status close_cta(void *state, unsigned thread, void *cta_state,
                                 struct cts_error *error)
{
    struct cts_access_model *const model = state;
    struct cts_access_worker *const worker = &model->workers[thread];
    enum cts_status status = model->look == CTS_LOOK_SIGNAL && model->knows_order
                                 ? cts_access_end_log(worker, cta_state)
                                 : CTS_OK;
    if (!status)
        status = model->look == CTS_LOOK_RACES ? cts_access_end_race_cta(worker, cta_state)
                                               : cts_access_settle_cta(worker, cta_state);
    if (status) *error = worker->error;
    return status;
}

/* Where the catalogue may be behind the access files, records of sites that it does not have are
 * passed over. */
enum cts_status cts_access_walk_set_up(struct cts_access_model *model, struct cts_error *error)
{
    static const struct cts_walk_ops ops = {.cta_bytes = sizeof(struct cts_access_cta),
                                            .takes_barriers = true,
                                            .begin = begin,
                                            .open = open_cta,
                                            .record = read_run,
                                            .close = close_cta,
                                            .release = cts_access_cta_release};
    const struct cts_walk_options options = {
        .source = model->source,
        .sites = cts_catalogue_may_be_behind(model->catalogue) ? NULL : &model->sites,
        .ops = &ops,
        .threads = model->worker_count};
    return cts_walk_new(&options, &model->walk, error);
}

/* The bits of stores are needed until races are counted; a site's other spaces but constant memory
 * have the same ones. */
static bool is_kept(const struct cts_access_model *model, const struct cts_access_slot *slot)
{
    return model->look == CTS_LOOK_COUNT && slot->space != CTS_SPACE_CONSTANT &&
           model->stored_of[slot->site];
}

static void forget_slots(struct cts_access_worker *worker)
{
    for (size_t i = 0; i < worker->slot_count; i++) {
        struct cts_access_slot *const slot = &worker->slots[i];
        worker->slot_of[(size_t)slot->site * CTS_ACCESS_SPACES + slot->space] = 0;
        if (!is_kept(worker->model, slot)) cts_bits_clear(slot->bits);
        cts_intervals_release(&slot->set);
    }
    memset(worker->pages, 0, sizeof worker->pages);
    worker->slot_count = 0;
}

enum cts_status cts_access_read_launch(struct cts_access_model *model, struct cts_error *error)
{
    struct cts_walk_scope scope = model->scope;
    if (model->look >= CTS_LOOK_ORDER) scope.progress = NULL;
    enum cts_status status = cts_walk_launch(model->walk, &scope, model, error);
    for (unsigned i = 0; i < model->worker_count && !status; i++) {
        struct cts_access_worker *const worker = &model->workers[i];
        status = model->look == CTS_LOOK_NAME ? cts_access_name_scattered(worker)
                                              : cts_access_paint_scattered(worker);
        if (status) *error = model->workers[i].error;
    }
    if (!status) status = cts_access_gather_stores(model, error);
    /* Only now: sites' bits are of all workers. */
    for (unsigned i = 0; i < model->worker_count; i++) {
        struct cts_access_worker *const worker = &model->workers[i];
        cts_sets_clear(&worker->scattered);
        worker->late.count = worker->groups.count = 0;
        forget_slots(worker);
    }
    return status;
}
