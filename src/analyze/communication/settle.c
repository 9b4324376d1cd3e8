/* From spans to sets.
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

enum cts_status cts_comm_find_own_first(struct cts_comm_worker *worker,
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
    if (!status) status = cts_comm_find_own_first(worker, state, &both, &own);
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

enum cts_status cts_comm_settle_space(struct cts_comm_worker *worker, struct cts_comm_state *state,
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

bool cts_comm_has_spans(const struct cts_comm_state *state, unsigned space)
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
        if (cts_comm_has_spans(state, space))
            status = cts_comm_settle_space(worker, state, space, true);
    clear_spans(state);
    state->settled = true;
    state->moment = 0;
    return status;
}

/* ---- the sums of a CTA ---- */

void cts_comm_state_clear(struct cts_comm_state *state)
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
