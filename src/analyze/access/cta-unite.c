/* A CTA's records are all read: its pieces become sets.
 *
 * Distinct bytes come from one sweep over the pieces by start: a byte is new to the CTA beyond the
 * furthest end so far, and new to its warp beyond the furthest end of that warp. Pieces that repeat
 * with one stride are swept as rectangles of (row, place in the row) where they are alike: all the
 * same rows (a column of a tile by each warp), or the same places (a field of structs). All others
 * are spread out.
 *
 * Spans that share bytes with another one are few in what is scattered. Of sets that are stored
 * they are kept aside as the *crowd*: it is all that is needed to know which bytes several warps
 * touch (cta-races.c), and how many accesses a byte has (race-counts.c). */
#include <stdlib.h>
#include <string.h>

#include "analyze/access/access-model.h"

/* ---- from pieces to sets ---- */

static enum cts_status add_span(struct cts_spans *spans, uint64_t start, uint64_t length,
                                uint16_t warp, struct cts_error *error)
{
    if (spans->count == spans->capacity && CTS_ARRAY_RESERVE(spans, spans->count + 1, error))
        return CTS_MEMORY;
    spans->descending |= spans->count && start < spans->items[spans->count - 1].start;
    spans->items[spans->count++] = (struct cts_span){start, (uint32_t)length, warp};
    return CTS_OK;
}

/* The crowd, while spans are swept: spans [begin, ...) share bytes with one another as far as is
 * known; those before `kept` have been kept. */
struct crowd {
    bool is_wanted;
    uint64_t end; /* how far the spans so far reach */
    size_t begin, kept;
};

static enum cts_status keep_crowd(struct cts_access_worker *worker, struct crowd *crowd, size_t at)
{
    const struct cts_span *const span = &worker->spans.items[at];
    const uint64_t end = span->start + span->length_bytes;
    const bool is_alone = span->start >= crowd->end;
    if (is_alone) crowd->begin = at;
    if (end > crowd->end) crowd->end = end;
    if (is_alone) return CTS_OK;
    if (crowd->kept < crowd->begin) crowd->kept = crowd->begin;
    const size_t more = at + 1 - crowd->kept;
    if (CTS_ARRAY_RESERVE(&worker->crowd, worker->crowd.count + more, &worker->error))
        return CTS_MEMORY;
    for (; crowd->kept <= at; crowd->kept++) {
        const struct cts_span *const from = &worker->spans.items[crowd->kept];
        worker->crowd.items[worker->crowd.count++] = (struct cts_span){
            from->start, from->length_bytes, cts_access_moment_of((uint16_t)from->moment, true)};
    }
    return CTS_OK;
}

/* The spans by start; how much of them is new to its warp; their union goes to `set`. */
static enum cts_status sweep(struct cts_access_worker *worker, struct crowd crowd,
                             uint64_t *warp_distinct, struct cts_intervals *set)
{
    struct cts_spans *const spans = &worker->spans;
    uint64_t *const ends = worker->warp_ends;
    uint64_t distinct = 0;
    enum cts_status status = cts_spans_sort(spans, &worker->sorting, &worker->error);
    if (status) return status;
    for (size_t i = 0; i < spans->count && !status; i++) {
        const struct cts_span *const span = &spans->items[i];
        const uint64_t end = span->start + span->length_bytes, past = ends[span->moment];
        status = cts_access_append(set, span->start, end, &worker->error);
        if (crowd.is_wanted && !status) status = keep_crowd(worker, &crowd, i);
        if (end <= past) continue;
        distinct += end - (span->start > past ? span->start : past);
        ends[span->moment] = end;
    }
    for (size_t i = 0; i < spans->count; i++) ends[spans->items[i].moment] = 0;
    *warp_distinct = distinct;
    cts_spans_clear(spans);
    return status;
}

enum shape { PLAIN, SAME_ROWS, SAME_PLACES, MIXED };

/* What it takes to count a store's races from its bits (race-counts.c). */
static void sum_pieces(const struct cts_pieces *pieces, struct cts_access_slot *leader)
{
    leader->start_bits = leader->piece_bytes = 0;
    for (size_t i = 0; i < pieces->count && leader->has_stores; i++) {
        const struct cts_piece *const piece = &pieces->items[i];
        leader->start_bits |= piece->start | piece->stride_bytes;
        leader->piece_bytes += (uint64_t)piece->count * piece->length_bytes;
    }
}

/* What the pieces have in common, and their lowest start. */
static enum shape shape_of(const struct cts_pieces *pieces, uint64_t *lowest)
{
    const struct cts_piece *const first = &pieces->items[0];
    const uint32_t stride = first->stride_bytes;
    bool alike = true, same_count = true;
    *lowest = first->start;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct cts_piece *const piece = &pieces->items[i];
        alike &= piece->stride_bytes == stride;
        same_count &= piece->count == first->count;
        if (piece->start < *lowest) *lowest = piece->start;
    }
    if (!alike) return MIXED;
    if (!stride) return PLAIN;
    bool same_rows = same_count, same_places = true;
    for (size_t i = 0; i < pieces->count && (same_rows || same_places); i++) {
        const struct cts_piece *const piece = &pieces->items[i];
        const uint64_t distance = piece->start - *lowest;
        same_rows &= distance + piece->length_bytes <= stride;
        same_places &= piece->length_bytes == first->length_bytes &&
                       (distance < stride ? distance == 0 : distance % stride == 0) &&
                       distance / stride + piece->count <= UINT32_MAX;
    }
    return same_rows ? SAME_ROWS : same_places ? SAME_PLACES : MIXED;
}

static enum cts_status spread(struct cts_access_worker *worker, const struct cts_pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++) {
        const struct cts_piece *const piece = &pieces->items[i];
        for (uint32_t k = 0; k < piece->count; k++)
            if (add_span(&worker->spans, piece->start + (uint64_t)piece->stride_bytes * k,
                         piece->length_bytes, piece->warp, &worker->error))
                return CTS_MEMORY;
    }
    return CTS_OK;
}

/* Every piece has the same rows: the places in the row are swept, and repeated. */
static enum cts_status unite_same_rows(struct cts_access_worker *worker,
                                       const struct cts_pieces *pieces, uint64_t *warp_distinct,
                                       struct cts_intervals *set)
{
    struct cts_intervals *const row = &worker->parts[3];
    const struct cts_piece *const first = &pieces->items[0];
    enum cts_status status = CTS_OK;
    row->count = 0;
    for (size_t i = 0; i < pieces->count && !status; i++)
        status = add_span(&worker->spans, pieces->items[i].start, pieces->items[i].length_bytes,
                          pieces->items[i].warp, &worker->error);
    if (!status) status = sweep(worker, (struct crowd){0}, warp_distinct, row);
    *warp_distinct *= first->count;
    for (uint32_t k = 0; k < first->count; k++) {
        const uint64_t shift = (uint64_t)first->stride_bytes * k;
        for (size_t i = 0; i < row->count && !status; i++)
            status = cts_access_append(set, row->items[i].start + shift, row->items[i].end + shift,
                                       &worker->error);
    }
    return status;
}

/* Every piece has the same places in its rows: the rows are swept. */
static enum cts_status unite_same_places(struct cts_access_worker *worker,
                                         const struct cts_pieces *pieces, uint64_t lowest,
                                         uint64_t *warp_distinct, struct cts_intervals *set)
{
    struct cts_intervals *const rows = &worker->parts[3];
    const struct cts_piece *const first = &pieces->items[0];
    const uint64_t stride = first->stride_bytes;
    enum cts_status status = CTS_OK;
    rows->count = 0;
    for (size_t i = 0; i < pieces->count && !status; i++) {
        const struct cts_piece *const piece = &pieces->items[i];
        status = add_span(&worker->spans, (piece->start - lowest) / stride, piece->count,
                          piece->warp, &worker->error);
    }
    if (!status) status = sweep(worker, (struct crowd){0}, warp_distinct, rows);
    *warp_distinct *= first->length_bytes;
    for (size_t i = 0; i < rows->count; i++)
        for (uint64_t k = rows->items[i].start; k < rows->items[i].end && !status; k++)
            status = cts_access_append(set, lowest + k * stride,
                                       lowest + k * stride + first->length_bytes, &worker->error);
    return status;
}

/* Fewer spans are compared with all others, where it matters. */
enum { CROWD_PIECES_MIN = 64 };

static bool wants_crowd(const struct cts_access_worker *worker, const struct cts_pieces *pieces,
                        const struct cts_access_slot *leader)
{
    const struct cts_access_model *const model = worker->model;
    const size_t least = model->options.late_ranges ? model->options.late_ranges : CROWD_PIECES_MIN;
    return leader->has_stores && leader->space == CTS_SPACE_GLOBAL &&
           model->look == CTS_LOOK_COUNT && pieces->count >= least;
}

enum cts_status cts_access_unite(struct cts_access_worker *worker, const struct cts_pieces *pieces,
                                 struct cts_access_slot *leader)
{
    uint64_t *const warp_distinct = &leader->warp_distinct;
    struct cts_intervals *const set = &leader->set;
    uint64_t lowest;
    const enum shape shape = shape_of(pieces, &lowest);
    sum_pieces(pieces, leader);
    set->count = 0;
    *warp_distinct = 0;
    leader->has_crowd = false;
    if (shape == SAME_ROWS) return unite_same_rows(worker, pieces, warp_distinct, set);
    if (shape == SAME_PLACES) return unite_same_places(worker, pieces, lowest, warp_distinct, set);
    leader->has_crowd = wants_crowd(worker, pieces, leader);
    leader->crowd_begin = worker->crowd.count;
    enum cts_status status = spread(worker, pieces);
    if (!status)
        status = sweep(worker, (struct crowd){.is_wanted = leader->has_crowd}, warp_distinct, set);
    leader->crowd_end = worker->crowd.count;
    return status;
}

bool cts_access_is_apart(const struct cts_access_worker *worker, const struct cts_access_cta *cta,
                         size_t leader)
{
    const struct cts_intervals *const set = &worker->slots[leader].set;
    for (size_t i = 0; i < cta->piece_slots && i < worker->slot_count; i++) {
        const struct cts_access_slot *const other = &worker->slots[i];
        const struct cts_intervals *const more = &other->set;
        if (!cta->pieces[i].count || other->leader != i || i == leader ||
            other->space != CTS_SPACE_GLOBAL)
            continue;
        if (more->items[0].start < set->items[set->count - 1].end &&
            set->items[0].start < more->items[more->count - 1].end)
            return false;
    }
    return true;
}

static int by_warp(const void *left, const void *right)
{
    const struct cts_span *const a = left, *const b = right;
    if (a->moment != b->moment) return a->moment < b->moment ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

enum cts_status cts_access_compact(struct cts_access_worker *worker, struct cts_pieces *pieces)
{
    struct cts_spans *const spans = &worker->spans;
    const enum cts_status status = spread(worker, pieces);
    if (status) return status;
    qsort(spans->items, spans->count, sizeof *spans->items, by_warp);
    if (CTS_ARRAY_RESERVE(pieces, spans->count, &worker->error)) return CTS_MEMORY;
    pieces->count = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const struct cts_span *const span = &spans->items[i];
        struct cts_piece *const last = pieces->count ? &pieces->items[pieces->count - 1] : NULL;
        const uint64_t end = span->start + span->length_bytes;
        if (last && last->warp == span->moment && span->start <= last->start + last->length_bytes &&
            end - last->start <= UINT32_MAX) {
            if (end > last->start + last->length_bytes)
                last->length_bytes = (uint32_t)(end - last->start);
            continue;
        }
        pieces->items[pieces->count++] = (struct cts_piece){.start = span->start,
                                                            .length_bytes = span->length_bytes,
                                                            .count = 1,
                                                            .warp = (uint16_t)span->moment};
    }
    cts_spans_clear(spans);
    memset(pieces->last, 0, sizeof pieces->last);
    pieces->compact_at =
        pieces->count * 2 > CTS_ACCESS_PIECES_MAX ? pieces->count * 2 : CTS_ACCESS_PIECES_MAX;
    return CTS_OK;
}
