/* What is looked at for conflicts: global memory is cut into windows along the pages that are
 * touched, shared memory into groups of CTAs, or one CTA of each group that does the same. Once the
 * whole launch has been looked at, the pages without any conflict are known, and no filter brings
 * one about. */
#include <stdlib.h>
#include <string.h>

#include "view/selection/conflict.h"
#include "common/array.h"
#include "common/search.h"

enum { SHARED_MAX_BYTES = 16 << 20 };

static bool is_wanted(const struct scan *scan, size_t chunk)
{
    return cts_selection_scan_may_pass(scan, chunk);
}

/* The greatest power of two that all addresses, widths and ends are multiples of, at most 16. */
static unsigned find_shift(const struct conflict_plan *plan)
{
    const struct view *const view = plan->scan->view;
    uint64_t bits = 16 | plan->clip_first | (plan->clip_last + 1);
    for (size_t k = 0; k < view->chunk_count; k++) bits |= view->summaries[k].alignment[plan->view];
    return (unsigned)__builtin_ctzll(bits);
}

struct windows {
    struct conflict_window *items;
    size_t count, capacity;
};

static enum cts_status add_window(struct windows *windows, const struct conflict_window *window,
                                  struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(windows, windows->count + 1, error)) return CTS_MEMORY;
    windows->items[windows->count++] = *window;
    return CTS_OK;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool is_among(const uint64_t *pages, size_t count, uint64_t page)
{
    const size_t place = cts_search_u64(pages, count, page);
    return place < count && pages[place] == page;
}

/* Leaves the pages that can hold a conflict, each once. */
static size_t choose_pages(const struct conflict_plan *plan, uint64_t *pages, size_t count)
{
    struct view *const view = plan->scan->view;
    size_t end = 0;
    pthread_mutex_lock(&view->loading);
    for (size_t i = 0; i < count; i++) {
        const uint64_t first = pages[i] << PAGE_BITS;
        const uint64_t last = first + ((UINT64_C(1) << PAGE_BITS) - 1);
        if (last < plan->clip_first || first > plan->clip_last) continue;
        if (end && pages[end - 1] == pages[i]) continue;
        if (!view->has_conflict_pages ||
            is_among(view->conflict_pages.items, view->conflict_pages.count, pages[i]))
            pages[end++] = pages[i];
    }
    pthread_mutex_unlock(&view->loading);
    return end;
}

enum { PAGES_SPAN_MAX = 1 << 22 };

/* The pages of all chunks that may pass. */
static enum cts_status gather_pages(struct conflict_plan *plan, struct cts_error *error)
{
    const struct scan *const scan = plan->scan;
    struct conflict_pages *const pages = &plan->pages;
    size_t room = 0;
    for (size_t k = 0; k < scan->view->chunk_count; k++)
        room += scan->view->summaries[k].page_count;
    pages->items = cts_array_zeroed(room, sizeof *pages->items, error);
    if (!pages->items) return CTS_MEMORY;
    room = 0;
    for (size_t k = 0; k < scan->view->chunk_count; k++) {
        const struct chunk_summary *const summary = &scan->view->summaries[k];
        if (!is_wanted(scan, k) || !summary->page_count) continue;
        memcpy(pages->items + room, summary->pages, summary->page_count * sizeof *pages->items);
        room += summary->page_count;
    }
    if (room > 1) qsort(pages->items, room, sizeof *pages->items, by_number);
    pages->count = choose_pages(plan, pages->items, room);
    if (!pages->count || pages->items[pages->count - 1] - pages->items[0] >= PAGES_SPAN_MAX)
        return CTS_OK;
    pages->span = (size_t)(pages->items[pages->count - 1] - pages->items[0]) + 1;
    pages->places = cts_array_zeroed(pages->span, sizeof *pages->places, error);
    if (!pages->places) return CTS_MEMORY;
    for (size_t i = 0; i < pages->count; i++)
        pages->places[pages->items[i] - pages->items[0]] = (uint32_t)i + 1;
    return CTS_OK;
}

static enum cts_status cut_global(struct conflict_plan *plan, struct windows *windows,
                                  struct cts_error *error)
{
    enum cts_status status = gather_pages(plan, error);
    const size_t per_page = (size_t)1 << (PAGE_BITS - plan->shift);
    while (per_page >> plan->page_shift > CONFLICT_BUCKET_GRANULES) plan->page_shift++;
    for (size_t i = 0; i < plan->pages.count && !status; i++)
        for (size_t part = 0; part < (size_t)1 << plan->page_shift && !status; part++) {
            const size_t granules = per_page >> plan->page_shift;
            const struct conflict_window window = {.first =
                                                       (plan->pages.items[i] << PAGE_BITS) +
                                                       ((uint64_t)(part * granules) << plan->shift),
                                                   .granule_count = granules,
                                                   .chunk = SIZE_MAX};
            status = add_window(windows, &window, error);
        }
    return status;
}

struct spans {
    struct conflict_span *items;
    size_t count, capacity;
};

struct ctas {
    uint64_t first, last; /* first > last: none */
};

/* CTAs in windows of at most `most`. */
static enum cts_status cut_ctas(struct conflict_plan *plan, struct windows *windows,
                                struct spans *spans, struct ctas ctas, struct cts_error *error)
{
    uint64_t first = ctas.first;
    const size_t most = CONFLICT_WINDOW_GRANULES / 4 / plan->per_cta + 1;
    enum cts_status status = CTS_OK;
    while (first <= ctas.last && !status) {
        const uint64_t left = ctas.last - first + 1;
        const uint64_t take = left < most ? left : most;
        const struct conflict_window window = {.first_cta = (uint32_t)first,
                                               .last_cta = (uint32_t)(first + take - 1),
                                               .granule_count = (size_t)take * plan->per_cta,
                                               .chunk = SIZE_MAX};
        if (CTS_ARRAY_RESERVE(spans, spans->count + 1, error)) return CTS_MEMORY;
        spans->items[spans->count++] = (struct conflict_span){window.first_cta, window.last_cta,
                                                              windows->count, .is_own = true};
        status = add_window(windows, &window, error);
        first += take;
    }
    return status;
}

/* All CTAs there are. */
static enum cts_status cut_all(struct conflict_plan *plan, struct windows *windows,
                               struct spans *spans, struct cts_error *error)
{
    const struct view *const view = plan->scan->view;
    uint64_t next = 0; /* the first CTA that is in no window */
    enum cts_status status = CTS_OK;
    for (size_t r = 0; r < view->runs.count && !status; r++) {
        const uint64_t last = view->runs.items[r].last;
        uint64_t first = view->runs.items[r].first;
        if (first < next) first = next;
        status = cut_ctas(plan, windows, spans, (struct ctas){first, last}, error);
        if (last + 1 > next) next = last + 1;
    }
    return status;
}

static int by_first_cta(const void *a, const void *b)
{
    const struct conflict_span *const x = a, *const y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* One CTA of each group, and those that come in pieces. */
static enum cts_status cut_examples(struct conflict_plan *plan, const struct conflict_alike *alike,
                                    struct windows *windows, struct spans *spans,
                                    struct cts_error *error)
{
    const struct view *const view = plan->scan->view;
    enum cts_status status = CTS_ARRAY_RESERVE(spans, alike->span_count + 1, error);
    for (size_t g = 0; g < alike->group_count && !status; g++) {
        const struct conflict_example *const it = &alike->examples[g];
        const struct conflict_window window = {.first_cta = it->cta,
                                               .last_cta = it->cta,
                                               .granule_count = plan->per_cta,
                                               .chunk = it->chunk};
        status = add_window(windows, &window, error);
    }
    for (size_t s = 0; s < alike->span_count && !status; s++)
        spans->items[spans->count++] = alike->spans[s];
    for (size_t s = 0, end; s < view->split.count && !status; s = end) {
        for (end = s + 1; end < view->split.count; end++)
            if (view->split.items[end] != view->split.items[end - 1] + 1) break;
        const struct ctas ctas = {view->split.items[s], view->split.items[end - 1]};
        status = cut_ctas(plan, windows, spans, ctas, error);
    }
    if (!status && spans->count > 1)
        qsort(spans->items, spans->count, sizeof *spans->items, by_first_cta);
    return status;
}

static enum cts_status cut_shared(struct conflict_plan *plan, struct windows *windows,
                                  struct cts_error *error)
{
    const struct view *const view = plan->scan->view;
    uint64_t last = 0;
    for (size_t k = 0; k < view->chunk_count; k++)
        if (view->summaries[k].spaces[VIEW_SHARED].access_count &&
            view->summaries[k].spaces[VIEW_SHARED].last > last)
            last = view->summaries[k].spaces[VIEW_SHARED].last;
    if (last >= SHARED_MAX_BYTES)
        return cts_fail(error, CTS_UNSUPPORTED, "shared memory beyond %d bytes", SHARED_MAX_BYTES);
    plan->per_cta = (size_t)(last >> plan->shift) + 1;
    if (plan->per_cta > CONFLICT_WINDOW_GRANULES)
        return cts_fail(error, CTS_UNSUPPORTED, "shared memory of %zu parts", plan->per_cta);
    struct conflict_alike alike;
    struct spans spans = {0};
    enum cts_status status = cts_conflict_alike_find(&alike, plan, error);
    if (!status)
        status = alike.is_there ? cut_examples(plan, &alike, windows, &spans, error)
                                : cut_all(plan, windows, &spans, error);
    cts_conflict_alike_release(&alike);
    plan->spans = spans.items;
    plan->span_count = spans.count;
    return status;
}
enum cts_status cts_conflict_plan_cut(struct conflict_plan *plan, struct cts_error *error)
{
    struct windows windows = {0};
    plan->shift = find_shift(plan);
    const enum cts_status status = plan->view == VIEW_SHARED ? cut_shared(plan, &windows, error)
                                                             : cut_global(plan, &windows, error);
    plan->windows = windows.items;
    plan->window_count = windows.count;
    return status;
}

void cts_conflict_plan_release(struct conflict_plan *plan)
{
    free(plan->pages.items);
    free(plan->pages.places);
    free(plan->spans);
    free(plan->windows);
}
