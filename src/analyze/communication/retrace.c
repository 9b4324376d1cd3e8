/* Backwards through the order: which bytes are *live*, that is, read by a later launch before they
 * are overwritten. A launch's stores are compared with what is live after it; then what it wrote is
 * dead, and what it read is live. A device-to-device copy makes its source live where its
 * destination was.
 *
 * Live bytes are a shadow memory with two writers: CTS_WRITER_HOST for live, CTS_WRITER_NOBODY for
 * dead. Of a byte that several CTAs of a launch wrote only the winner's stores communicate: such a
 * launch is read twice, first for a shadow memory of winners. */
#include <stdlib.h>

#include "analyze/communication/comm-model.h"
#include "common/parallel.h"

/* ---- a launch ---- */

static enum cts_status pass(struct cts_comm_model *model, enum cts_comm_mode mode,
                            struct cts_shadow *shadow, enum cts_status status,
                            struct cts_error *error)
{
    void (*const apply)(void *, unsigned) =
        mode == CTS_COMM_WINNERS ? cts_comm_apply_winners : cts_comm_apply_retrace;
    model->mode = mode;
    model->shadow = shadow;
    for (unsigned i = 0; i < model->worker_count; i++) model->workers[i].view.shadow = NULL;
    status = cts_comm_read_launch(model, status, error);
    if (!cts_processes_agree(model->options.processes, &status, error)) return status;
    status = cts_comm_exchange(model, error);
    if (status) return status;
    cts_parallel(model->worker_count, apply, model);
    return cts_comm_first_failure(model, error);
}

/* Strides of the launch become its kernel's. */
static enum cts_status gather(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm_launch *const launch = &model->result->launches[model->launch];
    const uint32_t kernel = model->catalogue->launches[launch->index].kernel;
    for (unsigned i = 0; i < model->worker_count; i++) {
        struct cts_comm_worker *const worker = &model->workers[i];
        launch->communicated_out_access_bytes += worker->live_access_bytes;
        worker->live_access_bytes = 0;
        for (unsigned kind = CTS_STRIDE_STORE_LANE; kind < CTS_STRIDE_KIND_COUNT; kind++) {
            struct cts_strides *const more = &worker->strides[kind];
            const enum cts_status status =
                cts_strides_merge(&model->kernel_strides[kernel][kind], more, error);
            cts_strides_clear(more);
            if (status) return status;
        }
    }
    return CTS_OK;
}

static enum cts_status retrace_launch(struct cts_comm_model *model, struct cts_shadow *live,
                                      bool wanted, enum cts_status status, struct cts_error *error)
{
    struct cts_shadow *winners = NULL;
    model->retraces = wanted;
    if (wanted && model->stores[model->launch].contended) {
        if (!status && !(winners = cts_shadow_new(error))) status = CTS_MEMORY;
        status = pass(model, CTS_COMM_WINNERS, winners, status, error);
    }
    for (unsigned i = 0; i < model->worker_count; i++)
        model->workers[i].winner_view = (struct cts_shadow_view){.shadow = winners};
    model->winners = winners;
    status = pass(model, CTS_COMM_RETRACE, live, status, error);
    model->winners = NULL;
    cts_shadow_free(winners);
    return status || !wanted ? status : gather(model, error);
}

/* ---- a rank ---- */

/* Steps of one rank; the last of its launches is the one before `launch_end`. */
struct rank_steps {
    size_t begin, end, launch_end;
};

/* Goes back to the first that is wanted. Every process goes through the same launches, even after a
 * failure: they all learn of it at the next. */
static enum cts_status retrace_rank(struct cts_comm_model *model, const struct rank_steps *steps,
                                    size_t first_wanted, const bool *wanted,
                                    struct cts_error *error)
{
    struct cts_shadow *const live = cts_shadow_new(error);
    enum cts_status status = live ? CTS_OK : CTS_MEMORY;
    size_t launch = steps->launch_end;
    for (size_t i = steps->end; i-- > steps->begin && launch > first_wanted;) {
        const struct cts_step *const step = &model->plan.order.steps[i];
        model->shadow = live;
        if (step->kind != CTS_STEP_LAUNCH) {
            if (!status) status = cts_comm_untake(model, step, error);
            continue;
        }
        model->launch = --launch;
        if (!model->result->launches[launch].counted) continue;
        status = retrace_launch(model, live, wanted[launch], status, error);
        const bool others_know = status && !model->options.processes;
        if (others_know) break;
    }
    model->shadow = NULL;
    for (unsigned i = 0; i < model->worker_count; i++) model->workers[i].view.shadow = NULL;
    cts_shadow_free(live);
    return status;
}

enum cts_status cts_comm_retrace(struct cts_comm_model *model, const bool *wanted,
                                 struct cts_error *error)
{
    const struct cts_step *const steps = model->plan.order.steps;
    const size_t step_count = model->plan.order.step_count;
    enum cts_status status = CTS_OK;
    cts_shadow_free(model->shadow);
    model->shadow = NULL;
    size_t launch = 0;
    for (size_t begin = 0, end; !status && begin < step_count; begin = end) {
        size_t first_wanted = SIZE_MAX;
        for (end = begin; end < step_count && steps[end].rank == steps[begin].rank; end++) {
            if (steps[end].kind != CTS_STEP_LAUNCH) continue;
            if (wanted[launch] && first_wanted == SIZE_MAX) first_wanted = launch;
            launch++;
        }
        if (first_wanted != SIZE_MAX)
            status = retrace_rank(model, &(struct rank_steps){begin, end, launch}, first_wanted,
                                  wanted, error);
        if (!cts_processes_agree(model->options.processes, &status, error)) break;
    }
    model->mode = CTS_COMM_FORWARD;
    return status;
}
