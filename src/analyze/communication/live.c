/* A CTA in a walk backwards (retrace.c): which bytes it stored are live, that is, read later. */
#include "analyze/communication/comm-model.h"

/* Bytes alike: live, and won by this node. */
static uint64_t live_run(void *state, uint64_t start, uint64_t end, bool *matters)
{
    struct cts_comm_worker *const worker = state;
    uint32_t writer;
    end = cts_shadow_run(&worker->view, start, end, &writer);
    *matters = writer == CTS_WRITER_HOST;
    if (*matters && worker->model->winners) {
        end = cts_shadow_run(&worker->winner_view, start, end, &writer);
        *matters = (writer & CTS_WRITER_MASK) == worker->node;
    }
    return end;
}

struct cts_address_filter cts_comm_live_filter(struct cts_comm_worker *worker)
{
    return (struct cts_address_filter){.state = worker, .run = live_run};
}

static enum cts_status add_items(struct cts_sets *to, const struct cts_intervals *set,
                                 uint32_t node, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; !status && i < set->count; i++)
        status = cts_sets_add(to, set->items[i].start, set->items[i].end, node, error);
    return status;
}

enum cts_status cts_comm_retrace_finish_cta(struct cts_comm_worker *worker,
                                            struct cts_comm_state *state)
{
    const struct cts_comm_model *const model = worker->model;
    const struct cts_intervals *const sets = state->sets[CTS_COMM_GLOBAL];
    struct cts_intervals *const written = &worker->scratch[2];
    struct cts_error *const error = &worker->error;
    enum cts_status status =
        add_items(&worker->sets[CTS_COMM_STORES], &sets[CTS_COMM_STORE], worker->node, error);
    if (!status)
        status =
            add_items(&worker->sets[CTS_COMM_ATOMICS], &sets[CTS_COMM_ATOMIC], worker->node, error);
    if (model->mode == CTS_COMM_WINNERS || status) return status;
    status = add_items(&worker->sets[CTS_COMM_MARKS], &sets[CTS_COMM_READ], 0, error);
    if (status || !model->retraces) return status;
    const struct cts_address_filter filter = cts_comm_live_filter(worker);
    status = cts_intervals_unite(&sets[CTS_COMM_STORE], &sets[CTS_COMM_ATOMIC], written, error);
    if (status) return status;
    return cts_grain_strides(&state->write_grain, written, &filter,
                             &worker->strides[CTS_STRIDE_STORE_ADDRESS], error);
}
