/* Bytes that several warps touch: windows of addresses are handed to threads, what each finds is
 * put together in the order of the addresses, and then the lanes that touch the conflicts that are
 * listed are looked up.
 *
 * A piece that ends with its window goes on in the next one if that begins with the same warps.
 * Pieces of a CTA of shared memory stand for those of all that do the same. */
#include <stdlib.h>
#include <string.h>

#include "view/selection/conflict.h"
#include "view/selection/selection-scan.h"
#include "common/array.h"
#include "common/parallel.h"
#include "common/search.h"

/* ---- windows on threads ---- */

struct finder {
    size_t begin;
    struct conflict_worker *workers; /* per thread */
};

static enum cts_status find_window(void *state, unsigned thread, size_t item,
                                   struct cts_error *error)
{
    const struct finder *const finder = state;
    return cts_conflict_find(&finder->workers[thread], finder->begin + item, error);
}

static enum cts_status find_between(struct conflict_plan *plan, size_t begin, size_t end,
                                    struct cts_error *error)
{
    const unsigned threads = plan->scan->selection->options.threads;
    struct finder finder = {.begin = begin};
    finder.workers = cts_array_zeroed(threads, sizeof *finder.workers, error);
    if (!finder.workers) return CTS_MEMORY;
    for (unsigned i = 0; i < threads; i++) finder.workers[i].plan = plan;
    const enum cts_status status = cts_for_each(end - begin, threads, find_window, &finder, error);
    for (unsigned i = 0; i < threads; i++) cts_conflict_worker_release(&finder.workers[i]);
    free(finder.workers);
    return status;
}

/* As many windows at a time as there is room for their entries. */
static enum cts_status find_all(struct conflict_plan *plan, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (plan->view == VIEW_SHARED) return find_between(plan, 0, plan->window_count, error);
    for (size_t begin = 0, end; begin < plan->window_count && !status; begin = end) {
        struct conflict_entries entries;
        status = cts_conflict_entries_make(&entries, plan, begin, error);
        end = entries.is_too_large ? begin + 1 : atomic_load(&entries.end);
        if (!entries.is_too_large) plan->entries = &entries;
        if (!status) status = find_between(plan, begin, end, error);
        plan->entries = NULL;
        cts_conflict_entries_release(&entries);
    }
    return status;
}

/* The pages with a conflict, of all that there are. */
static void remember_pages(const struct conflict_plan *plan)
{
    struct view *const view = plan->scan->view;
    pthread_mutex_lock(&view->loading);
    view->conflict_pages.count = 0;
    enum cts_status status = CTS_OK;
    for (size_t w = 0; w < plan->window_count && !status; w++) {
        const uint64_t page = plan->windows[w].first >> PAGE_BITS;
        const size_t count = view->conflict_pages.count;
        if (!plan->pieces[w].total || (count && view->conflict_pages.items[count - 1] == page))
            continue;
        status = CTS_ARRAY_RESERVE(&view->conflict_pages, count + 1, NULL);
        if (!status) view->conflict_pages.items[view->conflict_pages.count++] = page;
    }
    view->has_conflict_pages = !status;
    pthread_mutex_unlock(&view->loading);
}

/* ---- putting together ---- */

struct list {
    struct conflict_piece *items;
    size_t count, capacity;
};

/* The last piece so far, and where it is listed. */
struct seam {
    struct conflict_piece piece;
    bool is_there;
    size_t place; /* in lists[piece.kind]; SIZE_MAX: it is not */
};

/* What is put together from the windows and spans of a plan. */
struct together {
    struct list lists[CONFLICT_KINDS];
    struct seam seam;
    uint64_t total;
};

static bool goes_on(const struct seam *seam, const struct conflict_piece *next)
{
    return seam->is_there && seam->piece.last + 1 == next->first && seam->piece.cta == next->cta &&
           seam->piece.hash == next->hash && seam->piece.warp_count == next->warp_count &&
           seam->piece.writer_count == next->writer_count && next->cta == CTS_NONE;
}

static enum cts_status append(struct together *together, const struct conflict_plan *plan,
                              const struct conflict_pieces *pieces, struct cts_error *error)
{
    struct list *const lists = together->lists;
    struct seam *const seam = &together->seam;
    if (!pieces->total) return CTS_OK;
    const bool is_continued = goes_on(seam, &pieces->first);
    together->total += pieces->total - is_continued;
    if (is_continued) {
        seam->piece.last = pieces->first.last;
        if (seam->place != SIZE_MAX)
            lists[seam->piece.kind].items[seam->place].last = pieces->first.last;
    }
    for (unsigned kind = 0; kind < CONFLICT_KINDS; kind++) {
        const size_t count = pieces->kinds[kind].count;
        for (size_t i = is_continued && kind == pieces->first.kind; i < count; i++) {
            if (lists[kind].count >= plan->limit) break;
            if (CTS_ARRAY_RESERVE(&lists[kind], lists[kind].count + 1, error)) return CTS_MEMORY;
            lists[kind].items[lists[kind].count++] = pieces->kinds[kind].items[i];
        }
    }
    if (is_continued && pieces->total == 1) return CTS_OK;
    const struct list *const list = &lists[pieces->last.kind];
    seam->piece = pieces->last;
    seam->is_there = true;
    seam->place = SIZE_MAX;
    if (list->count && list->items[list->count - 1].first == pieces->last.first &&
        list->items[list->count - 1].cta == pieces->last.cta)
        seam->place = list->count - 1;
    return CTS_OK;
}

/* The pieces of each CTA of a span. */
static enum cts_status append_span(struct together *together, const struct conflict_plan *plan,
                                   const struct conflict_span *span, struct cts_error *error)
{
    const struct conflict_pieces *const pieces = &plan->pieces[span->window];
    const uint64_t copies = span->is_own ? 1 : (uint64_t)span->last - span->first + 1;
    together->total += copies * pieces->total;
    for (unsigned kind = 0; kind < CONFLICT_KINDS; kind++) {
        struct list *const list = &together->lists[kind];
        const size_t count = pieces->kinds[kind].count;
        for (uint64_t c = 0; count && c < copies && list->count < plan->limit; c++)
            for (size_t i = 0; i < count && list->count < plan->limit; i++) {
                if (CTS_ARRAY_RESERVE(list, list->count + 1, error)) return CTS_MEMORY;
                struct conflict_piece *const piece = &list->items[list->count++];
                *piece = pieces->kinds[kind].items[i];
                if (!span->is_own) piece->cta = span->first + (uint32_t)c;
            }
    }
    return CTS_OK;
}

static enum cts_status put_together(const struct conflict_plan *plan,
                                    struct cts_selection_conflicts *conflicts,
                                    struct cts_error *error)
{
    struct together together = {0};
    const struct list *const lists = together.lists;
    enum cts_status status = CTS_OK;
    for (size_t w = 0; plan->view == VIEW_GLOBAL && w < plan->window_count && !status; w++)
        status = append(&together, plan, &plan->pieces[w], error);
    for (size_t s = 0; s < plan->span_count && !status; s++)
        status = append_span(&together, plan, &plan->spans[s], error);
    conflicts->total = together.total;
    size_t count = lists[0].count + lists[1].count + lists[2].count;
    if (count > plan->limit) count = plan->limit;
    conflicts->items = cts_array_zeroed(count, sizeof *conflicts->items, error);
    if (!conflicts->items) status = CTS_MEMORY;
    for (unsigned kind = 0; kind < CONFLICT_KINDS && !status; kind++)
        for (size_t i = 0; i < lists[kind].count && conflicts->count < count; i++) {
            const struct conflict_piece *const piece = &lists[kind].items[i];
            conflicts->items[conflicts->count++] = (struct cts_selection_conflict){
                .first = piece->first,
                .last = piece->last,
                .cta = piece->cta,
                .warp_count = piece->warp_count,
                .writer_count = piece->writer_count,
                .is_atomic = piece->kind == CONFLICT_ATOMIC,
            };
        }
    for (unsigned kind = 0; kind < CONFLICT_KINDS; kind++) free(lists[kind].items);
    return status;
}

/* ---- who touches them ---- */

/* A conflict among others, by CTA and address. */
struct target {
    uint64_t first, last;
    uint32_t cta;
    size_t place; /* in the answer */
};

struct toucher {
    const struct conflict_plan *plan;
    const struct target *targets; /* ascending; none overlaps another */
    size_t target_count;
    struct found {
        struct cts_selection_touch touches[CTS_SELECTION_TOUCHES_PER_CONFLICT];
        size_t count;
        uint64_t total;
    } *found; /* by place in the answer */
};

static int by_target(const void *a, const void *b)
{
    const struct target *const x = a, *const y = b;
    if (x->cta != y->cta) return x->cta < y->cta ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* The first target of the CTA that ends at `first` or behind it. */
static size_t first_target(const struct toucher *toucher, uint32_t cta, uint64_t first)
{
    return CTS_SEARCH(toucher->target_count, i,
                      toucher->targets[i].cta < cta ||
                          (toucher->targets[i].cta == cta && toucher->targets[i].last < first));
}

static bool is_touched(const struct toucher *toucher, size_t t, uint32_t cta, uint64_t last)
{
    return t < toucher->target_count && toucher->targets[t].cta == cta &&
           toucher->targets[t].first <= last;
}

static void note_lane(const struct toucher *toucher, uint32_t group, uint64_t last,
                      const struct cts_selection_touch *touch)
{
    if (last < touch->address) last = UINT64_MAX;
    for (size_t t = first_target(toucher, group, touch->address);
         is_touched(toucher, t, group, last); t++) {
        struct found *const found = &toucher->found[toucher->targets[t].place];
        found->total++;
        if (found->count < CTS_SELECTION_TOUCHES_PER_CONFLICT)
            found->touches[found->count++] = *touch;
    }
}

static enum cts_status look_up(void *state, const struct scan_block *it, struct cts_error *error)
{
    const struct toucher *const toucher = state;
    const struct block *const block = it->block;
    (void)error;
    SCAN_SEGMENTS(it, segment)
    {
        const uint32_t cta = block->segments[segment].cta;
        const uint32_t group = toucher->plan->view == VIEW_SHARED ? cta : CTS_NONE;
        if (!is_touched(toucher, first_target(toucher, group, 0), group, UINT64_MAX)) continue;
        SCAN_RECORDS(it, segment, i)
        {
            const struct block_shape *const shape = &block->shapes[block->shape[i]];
            if (shape->view != toucher->plan->view) continue;
            const struct block_hull hull = block_hull(block, shape, i);
            if (hull.first <= hull.last &&
                !is_touched(toucher, first_target(toucher, group, hull.first), group, hull.last))
                continue;
            uint64_t addresses[CTS_WARP_LANES];
            block_addresses(block, shape, i, addresses);
            uint32_t mask = shape->mask;
            for (unsigned k = 0; k < shape->lanes; k++, mask &= mask - 1) {
                const struct cts_selection_touch touch = {.index = it->first_index + i,
                                                          .address = addresses[k],
                                                          .cta = cta,
                                                          .site = shape->site,
                                                          .warp = block->warp[i],
                                                          .lane = (uint8_t)__builtin_ctz(mask)};
                note_lane(toucher, group, addresses[k] + shape->width_bytes - 1u, &touch);
            }
        }
    }
    return CTS_OK;
}

/* Whether a chunk may have lanes that touch a target. */
static bool wants_touches(const struct scan *scan, size_t chunk)
{
    const struct toucher *const toucher = scan->wants_state;
    const struct cts_acc_chunk *const index = &scan->view->chunks[chunk];
    const struct target *const targets = toucher->targets;
    if (toucher->plan->view == VIEW_GLOBAL)
        return cts_selection_scan_may_touch(scan, chunk, VIEW_GLOBAL, targets[0].first,
                                            targets[toucher->target_count - 1].last);
    const size_t t = first_target(toucher, index->first_cta, 0);
    return t < toucher->target_count && targets[t].cta <= index->last_cta;
}

static int by_index(const void *a, const void *b)
{
    const struct cts_selection_touch *const x = a, *const y = b;
    if (x->index != y->index) return x->index < y->index ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

/* The first ones of what all threads have found: each has its own first ones, since it took chunks
 * in their order. */
static enum cts_status join_touches(const struct toucher *touchers, unsigned threads, size_t place,
                                    struct cts_selection_conflict *conflict,
                                    struct cts_error *error)
{
    size_t count = 0;
    for (unsigned t = 0; t < threads; t++) count += touchers[t].found[place].count;
    conflict->touches = cts_array_zeroed(count, sizeof *conflict->touches, error);
    if (!conflict->touches) return CTS_MEMORY;
    for (unsigned t = 0; t < threads; t++) {
        const struct found *const found = &touchers[t].found[place];
        if (found->count)
            memcpy(conflict->touches + conflict->touch_count, found->touches,
                   found->count * sizeof *found->touches);
        conflict->touch_count += found->count;
        conflict->touch_total += found->total;
    }
    if (count > 1) qsort(conflict->touches, count, sizeof *conflict->touches, by_index);
    if (count > CTS_SELECTION_TOUCHES_PER_CONFLICT)
        conflict->touch_count = CTS_SELECTION_TOUCHES_PER_CONFLICT;
    return CTS_OK;
}

static enum cts_status look_up_all(struct conflict_plan *plan, struct toucher *touchers,
                                   struct cts_selection_conflicts *conflicts,
                                   struct cts_error *error)
{
    struct scan *const scan = plan->scan;
    scan->states = touchers;
    scan->state_bytes = sizeof *touchers;
    scan->visit = look_up;
    scan->wants = wants_touches;
    scan->wants_state = touchers;
    enum cts_status status = cts_selection_scan_run(scan, error);
    scan->wants = NULL;
    for (size_t c = 0; c < conflicts->count && !status; c++)
        status = join_touches(touchers, scan->threads, c, &conflicts->items[c], error);
    return status;
}

static enum cts_status add_touches(struct conflict_plan *plan,
                                   struct cts_selection_conflicts *conflicts,
                                   struct cts_error *error)
{
    const unsigned threads = plan->scan->threads;
    const size_t count = conflicts->count;
    enum cts_status status = CTS_OK;
    if (!count) return CTS_OK;
    struct target *const targets = cts_array_zeroed(count, sizeof *targets, error);
    struct toucher *const touchers = cts_array_zeroed(threads, sizeof *touchers, error);
    if (!targets || !touchers) status = CTS_MEMORY;
    for (size_t c = 0; c < count && !status; c++)
        targets[c] = (struct target){conflicts->items[c].first, conflicts->items[c].last,
                                     conflicts->items[c].cta, c};
    if (!status && count > 1) qsort(targets, count, sizeof *targets, by_target);
    for (unsigned t = 0; t < threads && !status; t++) {
        touchers[t] = (struct toucher){.plan = plan, .targets = targets, .target_count = count};
        touchers[t].found = cts_array_zeroed(count, sizeof *touchers[t].found, error);
        if (!touchers[t].found) status = CTS_MEMORY;
    }
    if (!status) status = look_up_all(plan, touchers, conflicts, error);
    for (unsigned t = 0; touchers && t < threads; t++) free(touchers[t].found);
    free(touchers);
    free(targets);
    return status;
}

/* ---- the question ---- */

static enum cts_status find(struct conflict_plan *plan, struct cts_selection_conflicts *conflicts,
                            struct cts_error *error)
{
    enum cts_status status = cts_conflict_plan_cut(plan, error);
    if (!status) {
        plan->pieces = cts_array_zeroed(plan->window_count, sizeof *plan->pieces, error);
        status = plan->pieces ? find_all(plan, error) : CTS_MEMORY;
    }
    if (!status && plan->view == VIEW_GLOBAL && plan->is_everything) remember_pages(plan);
    if (!status) status = put_together(plan, conflicts, error);
    for (size_t w = 0; plan->pieces && w < plan->window_count; w++)
        for (unsigned kind = 0; kind < CONFLICT_KINDS; kind++)
            free(plan->pieces[w].kinds[kind].items);
    free(plan->pieces);
    cts_conflict_plan_release(plan);
    return status ? status : add_touches(plan, conflicts, error);
}

enum cts_status cts_conflict_answer(struct cts_selection *selection,
                                    const struct cts_selection_question *question,
                                    struct cts_selection_ranges ranges,
                                    struct cts_selection_conflicts *conflicts,
                                    struct cts_error *error)
{
    struct scan scan;
    *conflicts = (struct cts_selection_conflicts){0};
    enum cts_status status = cts_selection_scan_begin(&scan, selection, question, error);
    if (status) return status;
    struct conflict_plan plan = {.scan = &scan,
                                 .view = view_space(ranges.space),
                                 .clip_last = UINT64_MAX,
                                 .limit = ranges.count};
    const bool is_clipped =
        scan.filter.range_space && view_space(scan.filter.range_space) == plan.view;
    if (is_clipped) {
        plan.clip_first = scan.filter.range_first;
        plan.clip_last = scan.filter.range_last;
    }
    plan.is_whole = !is_clipped;
    plan.is_everything = cts_selection_filter_is_empty(question->filter);
    const bool is_none = plan.view == VIEW_LOCAL || plan.clip_first > plan.clip_last ||
                         (scan.filter.range_space && !is_clipped);
    if (!is_none) status = find(&plan, conflicts, error);
    cts_selection_scan_end(&scan);
    if (status) cts_selection_conflicts_release(conflicts);
    return status;
}
