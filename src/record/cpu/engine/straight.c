/* CTAs whose threads never wait: untouched as one call of K.cta, recorded through K.row_rec.
 *
 * All of it runs on one large fiber stack of the worker, also the handing over of records. A CTA is
 * recorded warp by warp: K.row_rec fills rows of addresses for the threads of the warp (32 of one
 * row of the block, or several shorter segments), and the collector takes the rows and clears them.
 *
 * When a CTA faults nobody knows which thread did it, since the threads of K.cta are iterations of
 * a loop. The CTA is run once more thread by thread to find out; what it stores it has mostly
 * stored already, and the launch has failed anyway. */
#include "record/cpu/engine/worker.h"

#include <string.h>

/* ---- Recording ---- */

static const struct cts_stack *stack_of(const struct cts_worker *worker)
{
    return worker->straight_stack;
}

static const uint64_t *value_rows(const struct cts_worker *worker)
{
    return worker->rows + (size_t)CTS_ROW_SLOTS_MAX * CTS_WARP_LANES;
}

/* A record of some lanes of slot `i`, whose value words begin at row `first_value`. */
static void add_lanes(struct cts_worker *worker, const struct cts_grid *launch, uint32_t i,
                      uint32_t first_value, const struct cts_stream_row *row)
{
    const uint32_t words = launch->row_value_words[i];
    uint64_t values[CTS_WARP_LANES * CTS_LOG_VALUE_WORDS_MAX];
    if (!row->mask) return;
    cts_stream_pack_values(values, value_rows(worker), first_value, words, row->mask);
    cts_stream_add(worker->stream, &(struct cts_stream_row){.site = launch->row_sites[i],
                                                            .space = row->space,
                                                            .warp = row->warp,
                                                            .mask = row->mask,
                                                            .addresses = row->addresses,
                                                            .value_words = words,
                                                            .values = values});
}

/* Local rows become offsets; the local and constant lanes of generic rows become records of their
 * own, which leaves what the collector can tell apart: shared and global. */
static void prepare_rows(struct cts_worker *worker, const struct cts_grid *launch, uint16_t warp)
{
    const struct cts_stack *const stack = stack_of(worker);
    const uint64_t base = cts_stack_local_base(stack);
    uint32_t next_value = 0;
    for (uint32_t i = 0; i < launch->request->kernel->row_site_count; i++) {
        const uint32_t first_value = next_value;
        next_value += launch->row_value_words[i];
        uint64_t *const row = worker->rows + (size_t)i * CTS_WARP_LANES;
        uint64_t addresses[CTS_WARP_LANES];
        uint32_t local = 0, constant = 0;
        if (launch->row_spaces[i] != CTS_SPACE_LOCAL && launch->row_spaces[i] != CTS_SPACE_GENERIC)
            continue;
        for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
            if (row[lane] == 0) continue;
            addresses[lane] = row[lane];
            if (cts_stack_contains(stack, row[lane])) {
                local |= 1u << lane;
                addresses[lane] -= base;
            } else if (cts_slots_is_constant(row[lane])) {
                constant |= 1u << lane;
            } else {
                continue;
            }
            row[lane] = 0;
        }
        add_lanes(
            worker, launch, i, first_value,
            &(struct cts_stream_row){
                .space = CTS_SPACE_LOCAL, .warp = warp, .mask = local, .addresses = addresses});
        add_lanes(worker, launch, i, first_value,
                  &(struct cts_stream_row){.space = CTS_SPACE_CONSTANT,
                                           .warp = warp,
                                           .mask = constant,
                                           .addresses = addresses});
    }
}

static void clear_rows(struct cts_worker *worker)
{
    memset(worker->rows, 0, (size_t)CTS_ROW_SLOTS_MAX * CTS_WARP_LANES * sizeof *worker->rows);
}

static void record_warp(struct cts_worker *worker, const struct cts_grid *launch, uint32_t warp,
                        bool records)
{
    const struct cts_launch_request *const request = launch->request;
    struct cts_thread_context *const context = &worker->straight_cta->context;
    const uint32_t first = warp * CTS_WARP_LANES;
    uint32_t left = launch->thread_count - first;
    if (left > CTS_WARP_LANES) left = CTS_WARP_LANES;
    worker->in_device = true;
    for (uint32_t lane = 0; lane < left;) {
        const uint64_t position = worker->threads[first + lane];
        const uint32_t x = (uint16_t)position;
        uint32_t n = request->block[0] - x;
        if (n > left - lane) n = left - lane;
        request->kernel->row_rec(request->args, context, x, (uint16_t)(position >> 16),
                                 (uint32_t)(position >> 32), n, worker->rows + lane);
        lane += n;
    }
    worker->in_device = false;
    if (!records) {
        clear_rows(worker);
        return;
    }
    if (launch->rows_need_care) prepare_rows(worker, launch, (uint16_t)warp);
    const struct cts_row_batch batch = {
        .lanes = worker->rows,
        .sites = launch->row_sites,
        .spaces = launch->row_spaces,
        .slot_count = request->kernel->row_site_count,
        .warp = (uint16_t)warp,
        .values = worker->launch->request->file->desc->flags & CTS_FILE_VALUES ? value_rows(worker)
                                                                               : NULL,
        .value_words = launch->row_value_words,
        .shared_base = (uint64_t)(uintptr_t)context->shared,
        .shared_bytes = launch->shared_bytes,
    };
    cts_stream_add_rows(worker->stream, &batch);
}

static void record_cta(struct cts_worker *worker, const struct cts_grid *launch, uint64_t cta)
{
    const bool records = cts_grid_records_cta(launch, cta);
    if (records) cts_worker_begin_records(worker, cta);
    for (uint32_t warp = 0; warp < launch->warp_count; warp++)
        record_warp(worker, launch, warp, records);
    cts_worker_end_records(worker);
}

/* ---- Running ---- */

struct chunk {
    struct cts_worker *worker;
    uint64_t first, count;
};

static void next_position(struct cts_thread_context *context)
{
    if (++context->ctaid[0] < context->nctaid[0]) return;
    context->ctaid[0] = 0;
    if (++context->ctaid[1] < context->nctaid[1]) return;
    context->ctaid[1] = 0;
    context->ctaid[2]++;
}

static void run_chunk(void *argument)
{
    const struct chunk *const chunk = argument;
    struct cts_worker *const worker = chunk->worker;
    struct cts_grid *const launch = worker->launch;
    const struct cts_launch_request *const request = launch->request;
    struct cts_cta *const cta = worker->straight_cta;
    cts_fiber_entered();
    cts_grid_cta_position(launch, chunk->first, cta->context.ctaid);
    for (uint64_t i = 0; i < chunk->count && !cts_grid_stopped(launch); i++) {
        cta->index = cts_grid_cta_at(launch, chunk->first + i);
        if (request->cta_order) cts_grid_cta_position(launch, cta->index, cta->context.ctaid);
        if (launch->rows && cts_grid_instruments_cta(launch, cta->index)) {
            record_cta(worker, launch, cta->index);
        } else {
            worker->in_device = true;
            request->kernel->cta(request->args, &cta->context);
            worker->in_device = false;
        }
        next_position(&cta->context);
    }
    cts_fiber_leave(worker->home_sp, &worker->home);
}

static void run_threads(void *argument)
{
    struct cts_worker *const worker = argument;
    struct cts_cta *const cta = worker->straight_cta;
    const struct cts_grid *const launch = worker->launch;
    cts_fiber_entered();
    for (uint32_t i = 0; i < launch->thread_count; i++) {
        const uint64_t position = worker->threads[i];
        cta->context.tid[0] = (uint16_t)position;
        cta->context.tid[1] = (uint16_t)(position >> 16);
        cta->context.tid[2] = (uint32_t)(position >> 32);
        worker->in_device = true;
        launch->request->kernel->thread(launch->request->args, &cta->context);
        worker->in_device = false;
    }
    cts_fiber_leave(worker->home_sp, &worker->home);
}

static void run_on_stack(struct cts_worker *worker, void (*entry)(void *), void *argument)
{
    void *const fiber = cts_fiber_new(worker->straight_stack, entry, argument);
    cts_fiber_switch(&worker->home_sp, fiber, worker->straight_stack);
}

/* Finds the thread at fault; keeps the first fault when the second run goes well. */
static void name_thread(struct cts_worker *worker, const struct cts_grid *launch)
{
    const struct cts_fault first = worker->fault;
    if (!launch->request->kernel->thread || first.has_thread) return;
    worker->fault.kind = CTS_FAULT_NONE;
    worker->naming = true;
    run_on_stack(worker, run_threads, worker);
    worker->naming = false;
    if (worker->fault.kind != first.kind) worker->fault = first;
}

static bool prepare(struct cts_worker *worker, struct cts_grid *launch)
{
    if (!worker->straight_stack) worker->straight_stack = cts_stacks_take(&worker->straight_stacks);
    struct cts_cta *const cta = worker->straight_cta;
    char *const window =
        cts_window_get(&cta->window, launch->shared_bytes, launch->shared_align_bytes);
    cta->worker = worker;
    cta->launch = launch;
    cta->fibers = false;
    __cts_current = &cta->context;
    if (worker->straight_stack && window) {
        cts_cta_fill_context(cta, launch, window);
        return true;
    }
    cts_fault_set(cta, UINT32_MAX, CTS_FAULT_MEMORY, "no memory for a stack or a shared window");
    return false;
}

void cts_straight_run(struct cts_worker *worker, struct cts_grid *launch)
{
    struct chunk chunk = {.worker = worker};
    if (!prepare(worker, launch)) return;
    while (worker->fault.kind == CTS_FAULT_NONE && !cts_grid_stopped(launch) &&
           (chunk.count = cts_grid_take(launch, UINT64_MAX, &chunk.first)) > 0)
        run_on_stack(worker, run_chunk, &chunk);
    if (worker->fault.kind == CTS_FAULT_NONE) return;
    if (worker->rows) clear_rows(worker); /* the collector leaves them 0, a fault does not */
    cts_worker_end_records(worker);
    name_thread(worker, launch);
}
