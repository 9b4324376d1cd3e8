/* From warp records to spans.
 *
 * Each dense span (analyze/dense.h) is kept for the CTA's sets; those of global reads are looked up
 * in the shadow memory at once, since every thread access counts. */
#include "analyze/communication/comm-model.h"
#include "analyze/dense.h"

/* Spans of a CTA beyond this are folded into its sets. */
enum { SETTLE_SPANS = 1 << 20 };

/* The record at hand. */
struct reading {
    struct cts_comm_worker *worker;
    struct cts_comm_state *state;
    const struct cts_walk_site *site;
    struct cts_spans *spans;
    uint32_t since; /* spans from this moment on are as good as the record's own moment */
    uint64_t lane_serial;
    bool looks_up;               /* what it touches is looked up: global memory */
    bool is_written;             /* retracing: ... for whether it is read later */
    struct cts_grain *grains[2]; /* global memory: of reads, of writes; or NULL */
    /* of the record's accesses: that read from a node, or that are read later */
    uint64_t lanes_met, bytes_met;
};

static inline uint64_t lane_of(const struct cts_walk_site *site, uint64_t distance_bytes)
{
    return site->shift < 64 ? distance_bytes >> site->shift : distance_bytes / site->width_bytes;
}

/* Books the reads of a dense span on the writers of its bytes. Thread accesses are numbered, so
 * that one whose bytes alternate between writers counts once for each. */
static enum cts_status look_up(struct reading *r, uint64_t start, uint32_t lane_count,
                               uint32_t multiplicity)
{
    struct cts_comm_links *const links = &r->state->links;
    uint64_t lanes_done = 0; /* lanes below are in lanes_met */
    const uint64_t stop = start + (uint64_t)lane_count * r->site->width_bytes;
    for (uint64_t at = start; at < stop;) {
        uint32_t writer;
        const uint64_t end = cts_shadow_run(&r->worker->view, at, stop, &writer);
        struct cts_comm_link *const link =
            cts_comm_link_of(links, writer & CTS_WRITER_MASK, &r->worker->error);
        if (!link) return CTS_MEMORY;
        link->access_bytes += (end - at) * multiplicity;
        uint64_t accesses = lane_count;
        uint64_t last_lane = r->lane_serial + lane_count - 1;
        if (at != start || end != stop) {
            const uint64_t first = lane_of(r->site, at - start);
            const uint64_t last = lane_of(r->site, end - 1 - start);
            accesses = last - first + 1 - (link->last_lane == r->lane_serial + first);
            last_lane = r->lane_serial + last;
        }
        link->accesses += accesses * multiplicity;
        link->last_lane = last_lane;
        if ((writer & CTS_WRITER_MASK) >= CTS_WRITER_FIRST_NODE) {
            const uint64_t lanes_end = last_lane - r->lane_serial + 1;
            const uint64_t first = at == start ? 0 : lane_of(r->site, at - start);
            r->bytes_met += (end - at) * multiplicity;
            r->lanes_met += (lanes_end - (first > lanes_done ? first : lanes_done)) * multiplicity;
            lanes_done = lanes_end;
        }
        at = end;
    }
    r->lane_serial += lane_count;
    return CTS_OK;
}

/* The same for what a launch that is retraced wrote: which bytes are read later. */
static enum cts_status look_ahead(struct reading *r, uint64_t start, uint32_t lane_count,
                                  uint32_t multiplicity)
{
    const struct cts_address_filter filter = cts_comm_live_filter(r->worker);
    const uint64_t stop = start + (uint64_t)lane_count * r->site->width_bytes;
    uint64_t lanes_done = 0;
    for (uint64_t at = start; at < stop;) {
        bool matters;
        const uint64_t end = filter.run(filter.state, at, stop, &matters);
        if (matters) {
            const uint64_t first = lane_of(r->site, at - start);
            const uint64_t lanes_end = lane_of(r->site, end - 1 - start) + 1;
            r->bytes_met += (end - at) * multiplicity;
            r->lanes_met += (lanes_end - (first > lanes_done ? first : lanes_done)) * multiplicity;
            lanes_done = lanes_end;
        }
        at = end;
    }
    return CTS_OK;
}

static enum cts_status mix_grain(struct reading *r, struct cts_grain *grain, uint64_t start,
                                 uint32_t lane_count)
{
    const struct cts_comm_state *const state = r->state;
    const struct cts_spans *const spans = state->spans[CTS_COMM_GLOBAL];
    const struct cts_intervals *const sets = state->sets[CTS_COMM_GLOBAL];
    const unsigned class = grain == &state->read_grain ? CTS_COMM_READ : CTS_COMM_STORE;
    const struct cts_grain_past past = {.spans = {&spans[class], &spans[CTS_COMM_ATOMIC]},
                                        .sets = {&sets[class], &sets[CTS_COMM_ATOMIC]}};
    const struct cts_address_run run = {start, r->site->width_bytes, lane_count};
    return cts_grain_add(grain, run, &past, &r->worker->error);
}

/* A dense span becomes one of the CTA's. */
static inline enum cts_status add_span(struct reading *r, uint64_t start, uint32_t lane_count)
{
    const uint64_t length_bytes = (uint64_t)lane_count * r->site->width_bytes;
    if (__builtin_expect(start > UINT64_MAX - length_bytes, 0))
        return cts_fail(&r->worker->error, CTS_FORMAT, "an access extends past the address space");
    for (unsigned k = 0; k < 2; k++) {
        struct cts_grain *const grain = r->grains[k];
        if (!grain || cts_grain_fits(grain, start, r->site->width_bytes)) continue;
        const enum cts_status status = mix_grain(r, grain, start, lane_count);
        if (status) return status;
    }
    const struct cts_span span = {start, (uint32_t)length_bytes, r->state->moment};
    return cts_spans_add(r->spans, span, r->since, &r->worker->error);
}

static inline enum cts_status add_dense(void *state, uint64_t start, uint32_t lane_count,
                                        uint32_t multiplicity)
{
    struct reading *const r = state;
    const enum cts_status status = add_span(r, start, lane_count);
    if (status || !r->looks_up) return status;
    return r->is_written ? look_ahead(r, start, lane_count, multiplicity)
                         : look_up(r, start, lane_count, multiplicity);
}

/* A list's addresses, wanted soon. */
static void expect_list(struct reading *r, const struct cts_acc_batch *batch, size_t i)
{
    const uint32_t *const offsets = batch->offsets + batch->offset_start[i];
    const unsigned count = (unsigned)__builtin_popcount(batch->mask[i]);
    for (unsigned k = 0; k < count; k++)
        cts_shadow_prefetch(&r->worker->view, batch->base[i] + offsets[k]);
}

/* Books reads of whole accesses, each with the one writer `writers` names; single ones that may
 * have several are looked up byte by byte. */
static enum cts_status book_list(struct reading *r, const struct cts_shadow_accesses *accesses,
                                 const uint32_t *writers)
{
    const uint32_t width = accesses->width_bytes;
    for (unsigned k = 0, end; k < accesses->count; k = end) {
        end = k + 1;
        if (writers[k] == CTS_WRITER_SEVERAL) {
            const enum cts_status status = look_up(r, accesses->base + accesses->offsets[k], 1, 1);
            if (status) return status;
            continue;
        }
        const uint32_t writer = writers[k] & CTS_WRITER_MASK;
        while (end < accesses->count && writers[end] == writers[k]) end++;
        struct cts_comm_link *const link =
            cts_comm_link_of(&r->state->links, writer, &r->worker->error);
        if (!link) return CTS_MEMORY;
        link->access_bytes += (uint64_t)(end - k) * width;
        link->accesses += end - k;
        if (writer < CTS_WRITER_FIRST_NODE) continue;
        r->bytes_met += (uint64_t)(end - k) * width;
        r->lanes_met += end - k;
    }
    return CTS_OK;
}

static inline enum cts_status add_span_only(void *state, uint64_t start, uint32_t lane_count,
                                            uint32_t multiplicity)
{
    (void)multiplicity;
    return add_span(state, start, lane_count);
}

/* A list of addresses: scattered ones seldom touch the last few spans, and nearly each lane has a
 * writer of its own. */
static enum cts_status read_list(struct reading *r, const struct cts_acc_batch *batch, size_t i)
{
    uint32_t writers[CTS_WARP_LANES];
    const uint32_t width = r->site->width_bytes;
    r->since = UINT32_MAX;
    if (r->looks_up && r->is_written) {
        expect_list(r, batch, i);
        return cts_dense_list(batch, i, width, (struct cts_dense_sink){add_dense, r});
    }
    const enum cts_status status =
        cts_dense_list(batch, i, width, (struct cts_dense_sink){add_span_only, r});
    if (status || !r->looks_up) return status;
    const struct cts_shadow_accesses accesses = {
        batch->base[i], batch->offsets + batch->offset_start[i],
        (unsigned)__builtin_popcount(batch->mask[i]), width};
    cts_shadow_writers(&r->worker->view, &accesses, writers);
    return book_list(r, &accesses, writers);
}

/* Local memory is each thread's own: the thread stands above the offset in its frame. */
static enum cts_status add_local(struct reading *r, const struct cts_acc_batch *batch,
                                 size_t record)
{
    const struct cts_access access = cts_acc_record(batch, record);
    uint64_t addresses[CTS_WARP_LANES];
    cts_access_addresses(&access, addresses);
    for (uint32_t mask = access.mask; mask; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        const uint64_t thread = (uint64_t)access.warp * CTS_WARP_LANES + lane;
        const enum cts_status status =
            add_dense(r, thread << 40 | (addresses[lane] & ((UINT64_C(1) << 40) - 1)), 1, 1);
        if (status) return status;
    }
    return CTS_OK;
}

/* The walk hands over records of these spaces only. */
static unsigned space_index(unsigned space)
{
    switch (space) {
    case CTS_SPACE_SHARED:
        return CTS_COMM_SHARED;
    case CTS_SPACE_CONSTANT:
        return CTS_COMM_CONSTANT;
    case CTS_SPACE_LOCAL:
        return CTS_COMM_LOCAL;
    default:
        return CTS_COMM_GLOBAL;
    }
}

static enum cts_status read_lanes(struct reading *r, const struct cts_acc_batch *batch, size_t i)
{
    if (batch->pattern[i] == CTS_PATTERN_LIST) return read_list(r, batch, i);
    return cts_dense_record(batch, i, r->site->width_bytes, (struct cts_dense_sink){add_dense, r},
                            &r->worker->error);
}

/* What waits for the launch's later readers. */
static enum cts_status note_store(struct reading *r, const struct cts_acc_batch *batch, size_t i,
                                  uint64_t lane_count)
{
    struct cts_comm_worker *const worker = r->worker;
    struct cts_comm_written *const written = &worker->written[batch->site[i]];
    if (!written->accesses) worker->written_sites[worker->written_site_count++] = batch->site[i];
    written->accesses += lane_count;
    written->access_bytes += lane_count * r->site->width_bytes;
    worker->node_written_access_bytes += lane_count * r->site->width_bytes;
    return cts_strides_add_record(&worker->strides[CTS_STRIDE_STORE_LANE], batch, i,
                                  &worker->error);
}

/* A record of global memory, in the analysis itself. */
static enum cts_status read_global(struct reading *r, const struct cts_acc_batch *batch, size_t i)
{
    struct cts_comm_worker *const worker = r->worker;
    struct cts_comm_site_sum *const sum = &worker->site_sums[batch->site[i]];
    const unsigned class = r->site->class;
    const uint64_t lane_count = (uint64_t)__builtin_popcount(batch->mask[i]);
    r->looks_up = class != CTS_COMM_STORE;
    r->grains[0] = class != CTS_COMM_STORE ? &r->state->read_grain : NULL;
    r->grains[1] = class != CTS_COMM_READ ? &r->state->write_grain : NULL;
    sum->accesses += lane_count;
    sum->access_bytes += lane_count * r->site->width_bytes;
    enum cts_status status = read_lanes(r, batch, i);
    if (!status && class != CTS_COMM_READ) status = note_store(r, batch, i, lane_count);
    if (status || !r->bytes_met) return status;
    sum->received_accesses += r->lanes_met;
    sum->received_access_bytes += r->bytes_met;
    return cts_strides_add_record(&worker->strides[CTS_STRIDE_LOAD_LANE], batch, i, &worker->error);
}

/* A record, seen from what comes after: only bytes count, and of a launch that is retraced what of
 * its writes is read later. */
static enum cts_status retrace_record(struct reading *r, const struct cts_acc_batch *batch,
                                      size_t i)
{
    struct cts_comm_worker *const worker = r->worker;
    const struct cts_comm_model *const model = worker->model;
    const unsigned class = r->site->class;
    if (batch->space[i] != CTS_SPACE_GLOBAL) return CTS_OK;
    if (model->mode == CTS_COMM_WINNERS && class == CTS_COMM_READ) return CTS_OK;
    r->since = 0; /* in which order does not matter */
    r->looks_up = r->is_written =
        model->retraces && model->mode == CTS_COMM_RETRACE && class != CTS_COMM_READ;
    r->grains[0] = NULL;
    r->grains[1] = r->looks_up ? &r->state->write_grain : NULL;
    const enum cts_status status = read_lanes(r, batch, i);
    if (status || !r->bytes_met) return status;
    worker->site_sums[batch->site[i]].sent_accesses += r->lanes_met;
    worker->site_sums[batch->site[i]].sent_access_bytes += r->bytes_met;
    worker->live_access_bytes += r->bytes_met;
    return cts_strides_add_record(&worker->strides[CTS_STRIDE_STORE_LANE], batch, i,
                                  &worker->error);
}

static enum cts_status read_record(struct reading *r, const struct cts_acc_batch *batch, size_t i)
{
    const unsigned space = space_index(batch->space[i]);
    struct cts_comm_state *const state = r->state;
    r->site = &r->worker->model->plan.sites.items[batch->site[i]];
    const unsigned class = r->site->class;
    const uint64_t lane_count = (uint64_t)__builtin_popcount(batch->mask[i]);
    r->spans = &state->spans[space][class];
    r->looks_up = r->is_written = false;
    r->grains[0] = r->grains[1] = NULL;
    r->lanes_met = r->bytes_met = 0;
    if (r->worker->model->mode != CTS_COMM_FORWARD) return retrace_record(r, batch, i);
    r->lane_serial = state->lane_serial;
    state->lane_serial += CTS_WARP_LANES;
    /* Only whether a store or a read came first is asked of moments: reads with no store between
     * them are one, and the other way round. */
    const bool is_store = class == CTS_COMM_STORE;
    r->since = is_store ? state->last_read : state->last_store;
    *(is_store ? &state->last_store : &state->last_read) = state->moment;
    state->accesses[space][class] += lane_count;
    state->access_bytes[space][class] += lane_count * r->site->width_bytes;
    if (space == CTS_COMM_LOCAL) return add_local(r, batch, i);
    return space == CTS_COMM_GLOBAL ? read_global(r, batch, i) : read_lanes(r, batch, i);
}

enum cts_status cts_comm_read_records(struct cts_comm_worker *worker, struct cts_comm_state *state,
                                      const struct cts_walk_run *run)
{
    struct reading reading = {.worker = worker, .state = state};
    const struct cts_comm_model *const model = worker->model;
    worker->node = (uint32_t)model->result->launches[model->launch].first_node + state->cta;
    enum cts_status status = CTS_OK;
    for (size_t i = run->begin; !status && i < run->end; i++) {
        status = read_record(&reading, run->batch, i);
        if (!status && (++state->moment == UINT32_MAX || reading.spans->count >= SETTLE_SPANS))
            status = cts_comm_settle(worker, state);
    }
    return status;
}
