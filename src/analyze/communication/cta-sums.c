/* A CTA's records are complete: its sets and links become counts of its launch, transfers, and
 * marks and claims that are applied when the launch has ended. */
#include "analyze/communication/comm-model.h"

enum { AHEAD = 8 }; /* intervals whose shadow is fetched in advance */

/* Adds to a set what comes in ascending order; grows while ranges touch. */
struct growing {
    struct cts_sets *sets;
    uint64_t start, end;
};

static enum cts_status grow(struct growing *growing, uint64_t start, uint64_t end,
                            struct cts_error *error)
{
    if (growing->end == start && growing->start < growing->end) {
        growing->end = end;
        return CTS_OK;
    }
    const enum cts_status status =
        cts_sets_add(growing->sets, growing->start, growing->end, 0, error);
    growing->start = start;
    growing->end = end;
    return status;
}

static uint64_t node_run(void *state, uint64_t start, uint64_t end, bool *matters)
{
    struct cts_comm_worker *const worker = state;
    uint32_t writer;
    end = cts_shadow_run(&worker->view, start, end, &writer);
    *matters = (writer & CTS_WRITER_MASK) >= CTS_WRITER_FIRST_NODE;
    return end;
}

/* Whether a reading counts as one for what the writer's launch sent. */
static bool counts_as_read(struct cts_comm_worker *worker, uint32_t writer)
{
    const struct cts_comm_model *const model = worker->model;
    if (!model->restricted) return true;
    const struct cts_comm_launch *const launches = model->result->launches;
    const size_t launch = cts_comm_launch_of(model->result, writer, &worker->last_launch);
    return model->catalogue->launches[launches[launch].index].stream ==
           model->catalogue->launches[launches[model->launch].index].stream;
}

/* A node's bytes of its read set: on the writers' links and by allocation; what is read for the
 * first time, and what again, is marked when the launch has ended. */
static enum cts_status link_set(struct cts_comm_worker *worker, struct cts_comm_state *state,
                                const struct cts_intervals *set)
{
    struct cts_error *const error = &worker->error;
    struct growing marks = {.sets = &worker->sets[CTS_COMM_MARKS]},
                   rereads = {.sets = &worker->sets[CTS_COMM_REREADS]};
    struct cts_addresses addresses = {.strides = &worker->strides[CTS_STRIDE_LOAD_ADDRESS]};
    const uint32_t width = state->read_grain.mixed ? 0 : state->read_grain.width;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < set->count; i++) {
        if (i + AHEAD < set->count) cts_shadow_prefetch(&worker->view, set->items[i + AHEAD].start);
        const uint64_t start = set->items[i].start, stop = set->items[i].end;
        for (uint64_t at = start; at < stop;) {
            uint32_t writer;
            const uint64_t end = cts_shadow_run(&worker->view, at, stop, &writer);
            struct cts_comm_link *const link =
                cts_comm_link_of(&state->links, writer & CTS_WRITER_MASK, error);
            if (!link) return CTS_MEMORY;
            link->bytes += end - at;
            status = cts_comm_place_read(worker, at, end, writer & CTS_WRITER_MASK);
            if (!status && link->writer >= CTS_WRITER_FIRST_NODE) {
                if (width)
                    status =
                        cts_addresses_add(&addresses, start + (at - start) / width * width,
                                          start + (end - 1 - start) / width * width, width, error);
                if (!status && counts_as_read(worker, link->writer))
                    status = grow(writer & CTS_WRITER_READ ? &rereads : &marks, at, end, error);
            }
            if (status) return status;
            at = end;
        }
    }
    status = cts_sets_add(&worker->sets[CTS_COMM_MARKS], marks.start, marks.end, 0, error);
    if (!status)
        status =
            cts_sets_add(&worker->sets[CTS_COMM_REREADS], rereads.start, rereads.end, 0, error);
    if (status || width) return status;
    const struct cts_address_filter filter = {.state = worker, .run = node_run};
    return cts_grain_strides(&state->read_grain, set, &filter, addresses.strides, error);
}

/* Bytes of a set whose last writer is a node. */
static uint64_t node_bytes(struct cts_comm_worker *worker, const struct cts_intervals *set)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < set->count; i++) {
        for (uint64_t at = set->items[i].start; at < set->items[i].end;) {
            uint32_t writer;
            const uint64_t end = cts_shadow_run(&worker->view, at, set->items[i].end, &writer);
            if ((writer & CTS_WRITER_MASK) >= CTS_WRITER_FIRST_NODE) bytes += end - at;
            at = end;
        }
    }
    return bytes;
}

static enum cts_status own_first_bytes(struct cts_comm_worker *worker, struct cts_comm_state *state,
                                       uint64_t *bytes)
{
    struct cts_error *const error = &worker->error;
    const struct cts_intervals *const sets = state->sets[CTS_COMM_GLOBAL];
    struct cts_intervals *const both = &worker->scratch[0], *const own = &worker->scratch[1];
    enum cts_status status = CTS_OK;
    if (state->settled) {
        status = cts_intervals_intersect(&state->own_first, &sets[CTS_COMM_READ], own, error);
    } else {
        status = cts_intervals_intersect(&sets[CTS_COMM_READ], &sets[CTS_COMM_STORE], both, error);
        if (!status) status = cts_comm_find_own_first(worker, state, both, own);
    }
    *bytes = status ? 0 : node_bytes(worker, own);
    return status;
}

static uint64_t unseen_bytes(const struct cts_comm_model *model, const struct cts_intervals *set)
{
    uint64_t bytes = 0;
    for (size_t i = 0; model->unseen.count && i < set->count; i++)
        bytes += cts_intervals_overlap(&model->unseen, set->items[i].start, set->items[i].end);
    return bytes;
}

/* A link to a node is a transfer. */
static enum cts_status add_transfer(struct cts_comm_worker *worker, uint32_t cta,
                                    const struct cts_comm_link *link)
{
    struct cts_comm_model *const model = worker->model;
    const size_t writer = cts_comm_launch_of(model->result, link->writer, &worker->last_launch);
    const uint32_t before = __atomic_fetch_add(
        &model->launch_out_degrees[link->writer - CTS_WRITER_FIRST_NODE], 1, __ATOMIC_RELAXED);
    if (!before) {
        if (CTS_ARRAY_RESERVE(&worker->senders, worker->senders.count + 1, &worker->error))
            return CTS_MEMORY;
        worker->senders.items[worker->senders.count++] = link->writer;
    }
    CTS_COMM_CTA_ADD(model, writer, link->writer, sent_transfers, 1);
    CTS_COMM_CTA_ADD(model, writer, link->writer, sent_bytes, link->bytes);
    const struct cts_comm_transfer transfer = {
        .writer_launch = (uint32_t)writer,
        .writer_cta = (uint32_t)(link->writer - model->result->launches[writer].first_node),
        .reader_launch = (uint32_t)model->launch,
        .reader_cta = cta,
        .bytes = link->bytes,
        .access_bytes = link->access_bytes,
        .accesses = link->accesses};
    cts_comm_pair_add(worker, writer, &transfer);
    return cts_comm_keep_transfer(worker, &transfer);
}

static enum cts_status add_links(struct cts_comm_worker *worker, const struct cts_comm_state *state,
                                 struct cts_comm_counts *counts)
{
    const bool nobody_is_host =
        worker->model->options.paper_model || worker->model->options.ignore_copies;
    for (size_t i = 0; i < state->links.count; i++) {
        const struct cts_comm_link *const link = &state->links.items[i];
        if (link->writer >= CTS_WRITER_FIRST_NODE) {
            counts->received_transfers++;
            counts->received_bytes += link->bytes;
            counts->received_access_bytes += link->access_bytes;
            counts->received_accesses += link->accesses;
            const enum cts_status status = add_transfer(worker, state->cta, link);
            if (status) return status;
        } else if (link->writer == CTS_WRITER_HOST || nobody_is_host) {
            counts->from_host_bytes += link->bytes;
            counts->from_host_access_bytes += link->access_bytes;
        } else {
            counts->from_nobody_bytes += link->bytes;
            counts->from_nobody_access_bytes += link->access_bytes;
        }
    }
    cts_comm_pairs_end_cta(worker);
    return CTS_OK;
}

static void add_degree(struct cts_comm_degree *sum, uint64_t degree)
{
    if (!sum->cta_count || degree < sum->smallest) sum->smallest = degree;
    if (degree > sum->largest) sum->largest = degree;
    sum->cta_count++;
    sum->sum += degree;
    sum->sum_of_squares += (unsigned __int128)degree * degree;
}

static enum cts_status add_claims(struct cts_comm_worker *worker,
                                  const struct cts_comm_state *state, uint32_t node)
{
    const struct cts_intervals *const sets = state->sets[CTS_COMM_GLOBAL];
    for (unsigned class = CTS_COMM_STORE; class <= CTS_COMM_ATOMIC; class ++) {
        struct cts_sets *const claims = class == CTS_COMM_STORE ? &worker->sets[CTS_COMM_STORES]
                                                                : &worker->sets[CTS_COMM_ATOMICS];
        for (size_t i = 0; i < sets[class].count; i++) {
            const struct cts_interval item = sets[class].items[i];
            const enum cts_status status =
                cts_sets_add(claims, item.start, item.end, node, &worker->error);
            if (status) return status;
        }
    }
    return CTS_OK;
}

static uint64_t any_run(void *state, uint64_t start, uint64_t end, bool *matters)
{
    (void)state;
    (void)start;
    *matters = true;
    return end;
}

/* What a CTA wrote, until it is known what of it was read. */
static enum cts_status note_written(struct cts_comm_worker *worker, struct cts_comm_state *state,
                                    const struct cts_intervals *written)
{
    const struct cts_address_filter all = {.run = any_run};
    cts_comm_place_written(worker, written);
    worker->node_written_bytes += cts_intervals_bytes(written);
    return cts_grain_strides(&state->write_grain, written, &all,
                             &worker->strides[CTS_STRIDE_STORE_ADDRESS], &worker->error);
}

/* What all spaces have: accesses, their bytes, and unique bytes. */
static enum cts_status count_space(struct cts_comm_worker *worker, struct cts_comm_state *state,
                                   unsigned space, struct cts_comm_counts *counts)
{
    uint64_t *const field = (uint64_t *)counts + space * CTS_COMM_FIELDS_PER_SPACE;
    for (unsigned class = 0; class < CTS_COMM_CLASS_COUNT; class ++) {
        field[2 * class] = state->accesses[space][class];
        field[2 * class + 1] = state->access_bytes[space][class];
    }
    const struct cts_intervals *const sets = state->sets[space];
    struct cts_intervals *const written = &worker->scratch[2];
    enum cts_status status =
        cts_intervals_unite(&sets[CTS_COMM_STORE], &sets[CTS_COMM_ATOMIC], written, &worker->error);
    field[6] = cts_intervals_bytes(&sets[CTS_COMM_READ]);
    field[7] = status ? 0 : cts_intervals_bytes(written);
    if (status || space != CTS_COMM_GLOBAL) return status;
    counts->unseen_written_bytes = unseen_bytes(worker->model, written);
    return note_written(worker, state, written);
}

enum cts_status cts_comm_finish_cta(struct cts_comm_worker *worker, struct cts_comm_state *state)
{
    struct cts_comm_model *const model = worker->model;
    const struct cts_comm_launch *const launch = &model->result->launches[model->launch];
    const struct cts_intervals *const reads = &state->sets[CTS_COMM_GLOBAL][CTS_COMM_READ];
    struct cts_comm_counts counts = {0};
    enum cts_status status = CTS_OK;
    worker->node = (uint32_t)launch->first_node + state->cta;
    for (unsigned space = 0; !status && space < CTS_COMM_SPACE_COUNT; space++) {
        if (cts_comm_has_spans(state, space))
            status = cts_comm_settle_space(worker, state, space, false);
        if (!status && model->mode == CTS_COMM_FORWARD)
            status = count_space(worker, state, space, &counts);
    }
    if (model->mode != CTS_COMM_FORWARD) {
        if (!status) status = cts_comm_retrace_finish_cta(worker, state);
        cts_comm_state_clear(state);
        return status;
    }
    if (!status) status = link_set(worker, state, reads);
    if (!status) status = add_links(worker, state, &counts);
    if (!status) status = own_first_bytes(worker, state, &counts.own_write_first_bytes);
    if (!status) status = add_claims(worker, state, (uint32_t)launch->first_node + state->cta);
    counts.unseen_read_bytes = unseen_bytes(model, reads);
    cts_comm_counts_add(&worker->counts, &counts);
    add_degree(&worker->in_degree, counts.received_transfers);
    uint64_t *const same_degree =
        cts_map_at(&worker->in_degrees, counts.received_transfers, &worker->error);
    if (same_degree)
        ++*same_degree;
    else
        status = CTS_MEMORY;
    if (model->sms.of_nodes)
        cts_comm_sm_add(model, model->sms.of_nodes[worker->node - CTS_WRITER_FIRST_NODE], &counts);
    if (model->cta_counts) { /* sums as a writer come later and from other threads */
        struct cts_comm_counts *const kept = &model->cta_counts[model->launch][state->cta];
        cts_comm_counts_add(kept, &counts);
    }
    cts_comm_state_clear(state);
    return status;
}
