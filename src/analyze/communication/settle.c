/* From spans to sets, and from sets to sums.
 *
 * *Settling* folds the spans of a CTA into three sets per space (read, stored, atomic) and, for
 * global memory, finds the bytes whose first access was a plain store: a CTA that stores a byte and
 * reads it afterwards got its own value, though by the model it reads the older writer's.
 *
 * Finding them: a byte that is in both sets belongs to the access with the smallest moment. In most
 * kernels every store is covered by one earlier read (y = f(y)), which a walk over both sorted
 * lists shows; else the spans in question are painted in the order of their moments, each byte by
 * the first that touches it (union-find over the cut points, O(n log n)). */
#include <stdlib.h>

#include "analyze/communication/comm-model.h"
#include "common/search.h"

enum { AHEAD = 8 }; /* intervals whose shadow is fetched in advance */

static enum cts_status sort_all(struct cts_comm_worker *worker, struct cts_comm_state *state,
                                unsigned space)
{
    for (unsigned class = 0; class < CTS_COMM_CLASS_COUNT; class ++) {
        const enum cts_status status =
            cts_spans_sort(&state->spans[space][class], &worker->sorting, &worker->error);
        if (status) return status;
    }
    return CTS_OK;
}

/* ---- bytes that the CTA stored before it read them ---- */

/* Whether every store that meets `both` is inside one earlier read with the same start; a walk over
 * sorted lists. Then no byte was stored first. */
static bool all_read_first(const struct cts_spans *reads, const struct cts_spans *stores,
                           const struct cts_intervals *both)
{
    size_t k = 0, b = 0;
    for (size_t i = 0; i < stores->count; i++) {
        const struct cts_span store = stores->items[i];
        while (b < both->count && both->items[b].end <= store.start) b++;
        if (b == both->count) return true;
        if (both->items[b].start >= store.start + store.length_bytes) continue;
        while (k < reads->count && reads->items[k].start < store.start) k++;
        bool covered = false;
        for (size_t r = k; r < reads->count && reads->items[r].start == store.start && !covered;
             r++)
            covered = reads->items[r].length_bytes >= store.length_bytes &&
                      reads->items[r].moment < store.moment;
        if (!covered) return false;
    }
    return true;
}

/* A span cut to `both`, ready for painting. */
struct stroke {
    uint64_t start, end;
    uint32_t moment;
    bool is_store;
};

struct strokes {
    struct stroke *items;
    size_t count, capacity;
};

static enum cts_status cut_strokes(const struct cts_spans *spans, const struct cts_intervals *both,
                                   bool is_store, struct strokes *strokes, struct cts_error *error)
{
    size_t k = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const uint64_t start = spans->items[i].start;
        const uint64_t end = start + spans->items[i].length_bytes;
        while (k < both->count && both->items[k].end <= start) k++;
        for (size_t b = k; b < both->count && both->items[b].start < end; b++) {
            if (CTS_ARRAY_RESERVE(strokes, strokes->count + 1, error)) return CTS_MEMORY;
            strokes->items[strokes->count++] = (struct stroke){
                .start = start > both->items[b].start ? start : both->items[b].start,
                .end = end < both->items[b].end ? end : both->items[b].end,
                .moment = spans->items[i].moment,
                .is_store = is_store};
        }
    }
    return CTS_OK;
}

static int by_moment(const void *left, const void *right)
{
    const struct stroke *const a = left, *const b = right;
    return (a->moment > b->moment) - (a->moment < b->moment);
}

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The first unpainted cell from `cell` on. */
static size_t unpainted(size_t *next, size_t cell)
{
    while (next[cell] != cell) {
        next[cell] = next[next[cell]];
        cell = next[cell];
    }
    return cell;
}

/* Paints the strokes by moment; cells that a store painted go into `own`. */
static enum cts_status paint(struct strokes *strokes, struct cts_intervals *own,
                             struct cts_error *error)
{
    const size_t most = strokes->count * 2;
    uint64_t *const cuts = cts_array_zeroed(most, sizeof *cuts, error);
    size_t *const next = cts_array_zeroed(most + 1, sizeof *next, error);
    enum cts_status status = cuts && next ? CTS_OK : CTS_MEMORY;
    size_t cut_count = 0;
    for (size_t i = 0; !status && i < strokes->count; i++) {
        cuts[2 * i] = strokes->items[i].start;
        cuts[2 * i + 1] = strokes->items[i].end;
    }
    if (!status) {
        qsort(cuts, most, sizeof *cuts, by_value);
        for (size_t i = 0; i < most; i++)
            if (i == 0 || cuts[i] != cuts[i - 1]) cuts[cut_count++] = cuts[i];
        for (size_t i = 0; i <= cut_count; i++) next[i] = i;
        qsort(strokes->items, strokes->count, sizeof *strokes->items, by_moment);
    }
    for (size_t i = 0; !status && i < strokes->count; i++) {
        const struct stroke *const stroke = &strokes->items[i];
        const size_t end = cts_search_u64(cuts, cut_count, stroke->end);
        size_t cell = unpainted(next, cts_search_u64(cuts, cut_count, stroke->start));
        for (; !status && cell < end; cell = unpainted(next, cell)) {
            next[cell] = cell + 1;
            if (stroke->is_store)
                status = cts_intervals_add(own, cuts[cell], cuts[cell + 1], error);
        }
    }
    free(cuts);
    free(next);
    return status ? status : cts_intervals_normalise(own, error);
}

/* own = the bytes of `both` that a store touched before any load or atomic. */
static enum cts_status find_own_first(struct cts_comm_worker *worker,
                                      const struct cts_comm_state *state,
                                      const struct cts_intervals *both, struct cts_intervals *own)
{
    const struct cts_spans *const spans = state->spans[CTS_COMM_GLOBAL];
    struct cts_error *const error = &worker->error;
    own->count = 0;
    if (!both->count) return CTS_OK;
    if (all_read_first(&spans[CTS_COMM_READ], &spans[CTS_COMM_STORE], both)) return CTS_OK;
    struct strokes strokes = {0};
    enum cts_status status = cut_strokes(&spans[CTS_COMM_READ], both, false, &strokes, error);
    if (!status) status = cut_strokes(&spans[CTS_COMM_ATOMIC], both, false, &strokes, error);
    if (!status) status = cut_strokes(&spans[CTS_COMM_STORE], both, true, &strokes, error);
    if (!status) status = paint(&strokes, own, error);
    free(strokes.items);
    return status;
}

/* ---- settling ---- */

static void swap(struct cts_intervals *a, struct cts_intervals *b)
{
    const struct cts_intervals kept = *a;
    *a = *b;
    *b = kept;
}

/* set = set united with more; `scratch` lends memory. */
static enum cts_status merge_into(struct cts_intervals *set, const struct cts_intervals *more,
                                  struct cts_intervals *scratch, struct cts_error *error)
{
    if (!more->count) return CTS_OK;
    if (cts_intervals_unite(set, more, scratch, error)) return CTS_MEMORY;
    swap(set, scratch);
    return CTS_OK;
}

/* The spans' bytes that the CTA stored first go into own_first: those stored and not read in these
 * spans, or stored earlier than read, unless they were read in spans that are settled already. */
static enum cts_status settle_own_first(struct cts_comm_worker *worker,
                                        struct cts_comm_state *state,
                                        const struct cts_intervals *reads,
                                        const struct cts_intervals *stores)
{
    struct cts_error *const error = &worker->error;
    struct cts_intervals *const sets = state->sets[CTS_COMM_GLOBAL];
    struct cts_intervals both = {0}, own = {0}, rest = {0}, added = {0};
    enum cts_status status = cts_intervals_intersect(reads, stores, &both, error);
    if (!status) status = find_own_first(worker, state, &both, &own);
    if (!status) status = cts_intervals_subtract(stores, reads, &rest, error);
    if (!status) status = merge_into(&own, &rest, &added, error);
    if (!status) status = cts_intervals_subtract(&own, &sets[CTS_COMM_READ], &added, error);
    if (!status) status = merge_into(&state->own_first, &added, &rest, error);
    cts_intervals_release(&both);
    cts_intervals_release(&own);
    cts_intervals_release(&rest);
    cts_intervals_release(&added);
    return status;
}

/* Folds the spans of one space into its sets; they stay for who wants to see their moments. */
static enum cts_status settle_space(struct cts_comm_worker *worker, struct cts_comm_state *state,
                                    unsigned space, bool more_comes)
{
    struct cts_error *const error = &worker->error;
    const struct cts_spans *const spans = state->spans[space];
    struct cts_intervals *const sets = state->sets[space];
    struct cts_intervals *const fresh = worker->scratch; /* one per class; [3] lends memory */
    enum cts_status status = sort_all(worker, state, space);
    for (unsigned class = 0; !status && class < CTS_COMM_CLASS_COUNT; class ++) {
        fresh[class].count = 0;
        status = cts_spans_unite(&spans[class], &fresh[class], error);
    }
    if (!status) /* atomics read */
        status = merge_into(&fresh[CTS_COMM_READ], &fresh[CTS_COMM_ATOMIC], &fresh[3], error);
    if (!status && space == CTS_COMM_GLOBAL && (more_comes || state->settled))
        status = settle_own_first(worker, state, &fresh[CTS_COMM_READ], &fresh[CTS_COMM_STORE]);
    for (unsigned class = 0; !status && class < CTS_COMM_CLASS_COUNT; class ++) {
        if (sets[class].count)
            status = merge_into(&sets[class], &fresh[class], &fresh[3], error);
        else
            swap(&sets[class], &fresh[class]);
    }
    return status;
}

static bool has_spans(const struct cts_comm_state *state, unsigned space)
{
    const struct cts_spans *const spans = state->spans[space];
    return spans[CTS_COMM_READ].count || spans[CTS_COMM_STORE].count ||
           spans[CTS_COMM_ATOMIC].count;
}

static void clear_spans(struct cts_comm_state *state)
{
    for (unsigned space = 0; space < CTS_COMM_SPACE_COUNT; space++)
        for (unsigned class = 0; class < CTS_COMM_CLASS_COUNT; class ++)
            cts_spans_clear(&state->spans[space][class]);
    state->last_read = state->last_store = 0;
}

enum cts_status cts_comm_settle(struct cts_comm_worker *worker, struct cts_comm_state *state)
{
    enum cts_status status = CTS_OK;
    for (unsigned space = 0; !status && space < CTS_COMM_SPACE_COUNT; space++)
        if (has_spans(state, space)) status = settle_space(worker, state, space, true);
    clear_spans(state);
    state->settled = true;
    state->moment = 0;
    return status;
}

/* ---- the sums of a CTA ---- */

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
    struct growing marks = {.sets = &worker->marks}, rereads = {.sets = &worker->rereads};
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
    status = cts_sets_add(&worker->marks, marks.start, marks.end, 0, error);
    if (!status) status = cts_sets_add(&worker->rereads, rereads.start, rereads.end, 0, error);
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
        if (!status) status = find_own_first(worker, state, both, own);
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

/* The largest transfers are kept in a heap whose top is the least of them. */
bool cts_comm_is_less(const struct cts_comm_transfer *a, const struct cts_comm_transfer *b)
{
    if (a->bytes != b->bytes) return a->bytes < b->bytes;
    if (a->reader_launch != b->reader_launch) return a->reader_launch > b->reader_launch;
    if (a->reader_cta != b->reader_cta) return a->reader_cta > b->reader_cta;
    if (a->writer_launch != b->writer_launch) return a->writer_launch > b->writer_launch;
    return a->writer_cta > b->writer_cta;
}

static void keep_top(struct cts_comm_worker *worker, const struct cts_comm_transfer *transfer)
{
    struct cts_comm_transfer *const heap = worker->top;
    const size_t most = worker->model->options.top_count;
    if (worker->top_count < most) {
        size_t i = worker->top_count++;
        for (; i > 0 && cts_comm_is_less(transfer, &heap[(i - 1) / 2]); i = (i - 1) / 2)
            heap[i] = heap[(i - 1) / 2];
        heap[i] = *transfer;
        return;
    }
    if (!most || !cts_comm_is_less(&heap[0], transfer)) return;
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < most; i = child) {
        if (child + 1 < most && cts_comm_is_less(&heap[child + 1], &heap[child])) child++;
        if (!cts_comm_is_less(&heap[child], transfer)) break;
        heap[i] = heap[child];
    }
    heap[i] = *transfer;
}

/* The order of cts_comm.transfers. */
static int by_reader(const void *left, const void *right)
{
    const struct cts_comm_transfer *const a = left, *const b = right;
    if (a->reader_launch != b->reader_launch) return a->reader_launch < b->reader_launch ? -1 : 1;
    if (a->reader_cta != b->reader_cta) return a->reader_cta < b->reader_cta ? -1 : 1;
    if (a->writer_launch != b->writer_launch) return a->writer_launch < b->writer_launch ? -1 : 1;
    return (a->writer_cta > b->writer_cta) - (a->writer_cta < b->writer_cta);
}

void cts_comm_transfers_cut(struct cts_comm_transfers *list, size_t most, uint64_t *left_out)
{
    qsort(list->items, list->count, sizeof *list->items, by_reader);
    if (list->count <= most) return;
    *left_out += list->count - most;
    list->count = most;
}

/* The list of a launch holds twice what the result has room for, then only the first of it. */
static enum cts_status list_transfer(struct cts_comm_worker *worker,
                                     const struct cts_comm_transfer *transfer)
{
    struct cts_comm_transfers *const list = &worker->transfers;
    const size_t room = worker->model->transfer_room;
    if (list->count >= 2 * room + 1024)
        cts_comm_transfers_cut(list, room, &worker->transfers_left_out);
    if (CTS_ARRAY_RESERVE(list, list->count + 1, &worker->error)) return CTS_MEMORY;
    list->items[list->count++] = *transfer;
    return CTS_OK;
}

static enum cts_status keep_transfer(struct cts_comm_worker *worker,
                                     const struct cts_comm_transfer *transfer)
{
    uint64_t *const same_size =
        cts_map_at(&worker->transfer_sizes, transfer->bytes, &worker->error);
    if (!same_size) return CTS_MEMORY;
    ++*same_size;
    cts_comm_density_count(&worker->density, transfer->writer_cta, transfer->reader_cta,
                           transfer->bytes);
    keep_top(worker, transfer);
    return worker->model->options.keep_transfers ? list_transfer(worker, transfer) : CTS_OK;
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
    return keep_transfer(worker, &transfer);
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
        struct cts_sets *const claims =
            class == CTS_COMM_STORE ? &worker->stores : &worker->atomics;
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

static void clear_state(struct cts_comm_state *state)
{
    clear_spans(state);
    for (unsigned space = 0; space < CTS_COMM_SPACE_COUNT; space++) {
        for (unsigned class = 0; class < CTS_COMM_CLASS_COUNT; class ++) {
            state->sets[space][class].count = 0;
            state->accesses[space][class] = state->access_bytes[space][class] = 0;
        }
    }
    state->own_first.count = 0;
    state->settled = false;
    cts_grain_clear(&state->read_grain);
    cts_grain_clear(&state->write_grain);
    cts_comm_links_clear(&state->links);
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
        if (has_spans(state, space)) status = settle_space(worker, state, space, false);
        if (!status && model->mode == CTS_COMM_FORWARD)
            status = count_space(worker, state, space, &counts);
    }
    if (model->mode != CTS_COMM_FORWARD) {
        if (!status) status = cts_comm_retrace_finish_cta(worker, state);
        clear_state(state);
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
    if (model->node_sms)
        cts_comm_sm_add(model, model->node_sms[worker->node - CTS_WRITER_FIRST_NODE], &counts);
    if (model->cta_counts) { /* sums as a writer come later and from other threads */
        struct cts_comm_counts *const kept = &model->cta_counts[model->launch][state->cta];
        cts_comm_counts_add(kept, &counts);
    }
    clear_state(state);
    return status;
}

void cts_comm_state_release(void *cta_state)
{
    struct cts_comm_state *const state = cta_state;
    for (unsigned space = 0; space < CTS_COMM_SPACE_COUNT; space++) {
        for (unsigned class = 0; class < CTS_COMM_CLASS_COUNT; class ++) {
            cts_spans_release(&state->spans[space][class]);
            cts_intervals_release(&state->sets[space][class]);
        }
    }
    cts_intervals_release(&state->own_first);
    cts_grain_release(&state->read_grain);
    cts_grain_release(&state->write_grain);
    cts_comm_links_release(&state->links);
}
