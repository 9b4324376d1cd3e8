/* A filter is taken apart into what it says of sites (a byte for each, looked up once per shape),
 * of CTAs (once per run of records of one CTA, by binary search), of warps (a bit for each) and of
 * records. Chunks that cannot hold a record that passes are not looked at: the index of the access
 * files knows their CTAs, and their summaries the addresses in each space. */
#include "view/selection/selection-scan.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/parallel.h"
#include "common/search.h"

/* ---- the filter ---- */

static int by_first(const void *a, const void *b)
{
    const struct cts_selection_range *const x = a, *const y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static enum cts_status sort_ctas(struct scan *scan, struct cts_error *error)
{
    struct cts_selection_filter *const filter = &scan->filter;
    if (!filter->cta_count) return CTS_OK;
    scan->ctas = cts_array_zeroed(filter->cta_count, sizeof *scan->ctas, error);
    if (!scan->ctas) return CTS_MEMORY;
    memcpy(scan->ctas, filter->ctas, filter->cta_count * sizeof *scan->ctas);
    qsort(scan->ctas, filter->cta_count, sizeof *scan->ctas, by_first);
    size_t count = 0;
    for (size_t i = 0; i < filter->cta_count; i++) {
        const struct cts_selection_range range = scan->ctas[i];
        if (range.first > range.last) continue;
        if (count && range.first <= scan->ctas[count - 1].last) {
            if (range.last > scan->ctas[count - 1].last) scan->ctas[count - 1].last = range.last;
        } else {
            scan->ctas[count++] = range;
        }
    }
    /* All of them empty: one that is, since none would mean all. */
    if (!count) scan->ctas[count++] = (struct cts_selection_range){1, 0};
    filter->ctas = scan->ctas;
    filter->cta_count = count;
    return CTS_OK;
}

static enum cts_status spread_warps(struct scan *scan, struct cts_error *error)
{
    const struct cts_selection_filter *const filter = &scan->filter;
    if (!filter->warp_count) return CTS_OK;
    scan->warps = cts_array_zeroed(WARP_WORDS, sizeof *scan->warps, error);
    if (!scan->warps) return CTS_MEMORY;
    for (size_t i = 0; i < filter->warp_count; i++)
        for (uint32_t w = filter->warps[i].first; w <= filter->warps[i].last && w <= UINT16_MAX;
             w++)
            scan->warps[w / 64] |= UINT64_C(1) << w % 64;
    return CTS_OK;
}

static bool passes_lines(const struct cts_selection_filter *filter, const struct cts_site *site)
{
    for (size_t i = 0; i < filter->line_count; i++)
        if (filter->lines[i].source == site->source && filter->lines[i].line == site->line)
            return true;
    return !filter->line_count;
}

static enum cts_status spread_sites(struct scan *scan, struct cts_error *error)
{
    const struct cts_selection_filter *const filter = &scan->filter;
    const struct cts_catalogue *const catalogue = scan->selection->catalogue;
    scan->site_passes = cts_array_zeroed(catalogue->site_count, 1, error);
    if (!scan->site_passes) return CTS_MEMORY;
    for (size_t i = 0; i < filter->site_count; i++)
        if (filter->sites[i] < catalogue->site_count) scan->site_passes[filter->sites[i]] = 1;
    for (size_t s = 0; s < catalogue->site_count; s++)
        scan->site_passes[s] = (!filter->site_count || scan->site_passes[s]) &&
                               passes_lines(filter, &catalogue->sites[s]);
    return CTS_OK;
}

enum cts_status cts_selection_scan_begin(struct scan *scan, struct cts_selection *selection,
                                         const struct cts_selection_question *question,
                                         struct cts_error *error)
{
    memset(scan, 0, sizeof *scan);
    scan->selection = selection;
    scan->question = question;
    if (question->filter) scan->filter = *question->filter;
    scan->threads = selection->options.threads;
    enum cts_status status = cts_view_of(selection, question, &scan->view, error);
    if (!status) status = sort_ctas(scan, error);
    if (!status) status = spread_warps(scan, error);
    if (!status) status = spread_sites(scan, error);
    if (scan->view && scan->threads > scan->view->chunk_count)
        scan->threads = scan->view->chunk_count ? (unsigned)scan->view->chunk_count : 1;
    if (status) cts_selection_scan_end(scan);
    return status;
}

void cts_selection_scan_end(struct scan *scan)
{
    free(scan->ctas);
    free(scan->warps);
    free(scan->site_passes);
}

bool cts_selection_scan_passes_cta(const struct scan *scan, uint32_t cta)
{
    /* the first range that ends at the CTA or behind it */
    if (!scan->filter.cta_count) return true;
    const size_t low = CTS_SEARCH(scan->filter.cta_count, i, scan->ctas[i].last < cta);
    return low < scan->filter.cta_count && scan->ctas[low].first <= cta &&
           cta <= scan->ctas[low].last;
}

static bool may_pass_ctas(const struct scan *scan, const struct cts_acc_chunk *chunk)
{
    for (size_t i = 0; i < scan->filter.cta_count; i++)
        if (scan->ctas[i].first <= chunk->last_cta && scan->ctas[i].last >= chunk->first_cta)
            return true;
    return !scan->filter.cta_count;
}

static bool has_all_ctas(const struct scan *scan, uint32_t first, uint32_t last)
{
    for (size_t i = 0; i < scan->filter.cta_count; i++)
        if (scan->ctas[i].first <= first && scan->ctas[i].last >= last) return true;
    return !scan->filter.cta_count;
}

bool cts_selection_scan_may_pass(const struct scan *scan, size_t chunk)
{
    const struct cts_selection_filter *const filter = &scan->filter;
    const struct chunk_summary *const summary = &scan->view->summaries[chunk];
    if (summary->is_damaged || !may_pass_ctas(scan, &scan->view->chunks[chunk])) return false;
    if (filter->space && !summary->spaces[view_space(filter->space)].access_count) return false;
    return !filter->range_space ||
           cts_selection_scan_may_touch(scan, chunk, view_space(filter->range_space),
                                        filter->range_first, filter->range_last);
}

bool cts_selection_scan_may_touch(const struct scan *scan, size_t chunk, unsigned view_space,
                                  uint64_t first, uint64_t last)
{
    const struct chunk_summary *const summary = &scan->view->summaries[chunk];
    if (!summary->spaces[view_space].access_count || summary->spaces[view_space].first > last ||
        summary->spaces[view_space].last < first)
        return false;
    if (view_space != VIEW_GLOBAL) return true;
    const size_t page = cts_search_u64(summary->pages, summary->page_count, first >> PAGE_BITS);
    return page < summary->page_count && summary->pages[page] <= last >> PAGE_BITS;
}

/* Whether any lane of a record touches a byte of first..last. */
bool cts_selection_scan_touches(const struct block *block, const struct block_shape *shape,
                                size_t i, uint64_t first, uint64_t last)
{
    if (shape->pattern == CTS_PATTERN_LIST) return block_list_touches(block, shape, i, first, last);
    const struct block_hull hull = block_hull(block, shape, i);
    if (hull.first <= hull.last) {
        if (hull.first > last || hull.last < first) return false;
        if (hull.first >= first && hull.last <= last) return true;
    }
    uint64_t addresses[CTS_WARP_LANES];
    block_addresses(block, shape, i, addresses);
    for (unsigned k = 0; k < shape->lanes; k++) {
        const uint64_t end = addresses[k] + shape->width_bytes - 1u;
        if (addresses[k] <= last && (end >= first || end < addresses[k])) return true;
    }
    return false;
}

/* How the range of the filter lies to some bytes of a space. */
enum overlap { APART, PARTLY, INSIDE };

static enum overlap overlap_of(const struct scan *scan, unsigned view, uint64_t first,
                               uint64_t last)
{
    const struct cts_selection_filter *const filter = &scan->filter;
    if (!filter->range_space) return INSIDE;
    if (view_space(filter->range_space) != view || last < filter->range_first ||
        first > filter->range_last)
        return APART;
    return first >= filter->range_first && last <= filter->range_last ? INSIDE : PARTLY;
}

/* ---- the blocks ---- */

static bool passes_site(const struct scan *scan, uint32_t site, unsigned kind, unsigned view)
{
    const struct cts_selection_filter *const filter = &scan->filter;
    return scan->site_passes[site] && (!filter->kinds || filter->kinds & kind) &&
           (!filter->space || view_space(filter->space) == view);
}

static uint8_t passes_shape(const struct scan *scan, const struct block_shape *shape)
{
    if (!shape->width_bytes || !passes_site(scan, shape->site, shape->kind, shape->view)) return 0;
    const enum overlap overlap = overlap_of(scan, shape->view, shape->first, shape->last);
    if (overlap == APART) return 0;
    const bool by_warp = scan->warps || scan->filter.partial;
    return (uint8_t)(PASSES | by_warp * PASSES_BY_WARP | (overlap == PARTLY) * PASSES_BY_RANGE);
}

struct passes {
    uint8_t *items; /* bits of PASSES_... */
    size_t count, capacity;
};

static enum cts_status visit(const struct scan *scan, size_t chunk,
                             const struct scan_visitor *visitor, struct passes *passes,
                             struct cts_error *error)
{
    struct block *block;
    enum cts_status status = cts_block_take(scan->view, chunk, visitor->builder, &block, error);
    if (status || !block) return status;
    status = CTS_ARRAY_RESERVE(passes, block->shape_count + 1, error);
    bool any = false;
    for (size_t s = 0; s < block->shape_count && !status; s++) {
        passes->items[s] = passes_shape(scan, &block->shapes[s]);
        any |= passes->items[s] != 0;
    }
    const struct scan_block it = {
        .scan = scan,
        .block = block,
        .chunk = chunk,
        .first_index = scan->view->first_index[chunk],
        .passes = passes->items,
    };
    if (!status && any) status = visitor->visit(visitor->state, &it, error);
    cts_block_give_back(scan->view, chunk, block);
    return status;
}

/* Whether the tally of a chunk says which of its records pass. */
static bool is_decided(const struct scan *scan, size_t chunk)
{
    const struct tally *const tally = &scan->view->summaries[chunk].tally;
    const struct cts_acc_chunk *const index = &scan->view->chunks[chunk];
    if (!tally->classes || !has_all_ctas(scan, index->first_cta, index->last_cta)) return false;
    for (const struct tally_class *of = tally->classes; of < tally->classes + tally->class_count;
         of++) {
        if (!passes_site(scan, of->site, of->kind, of->view)) continue;
        const enum overlap overlap = overlap_of(scan, of->view, of->first, of->last);
        if (overlap == PARTLY) return false;
        if (overlap == INSIDE && scan->is_summed && !scan->is_summed(scan, of)) return false;
    }
    return true;
}

static enum cts_status add_cells(const struct scan *scan, size_t chunk, void *state,
                                 struct cts_error *error)
{
    const struct tally *const tally = &scan->view->summaries[chunk].tally;
    struct scan_cell it = {.scan = scan, .chunk = chunk};
    enum cts_status status = CTS_OK;
    for (size_t c = 0; c < tally->class_count; c++) {
        it.of = &tally->classes[c];
        if (!passes_site(scan, it.of->site, it.of->kind, it.of->view) ||
            overlap_of(scan, it.of->view, it.of->first, it.of->last) == APART)
            continue;
        for (it.warp = 0; it.warp < tally->warp_end && !status; it.warp++) {
            it.sums = &tally->cells[c * tally->warp_end + it.warp];
            if (it.sums->record_count && scan_passes_warp(scan, it.of->lanes, it.warp))
                status = scan->add(state, &it, error);
        }
    }
    return status;
}

struct worker {
    struct block_builder builder;
    struct passes passes;
};

static void worker_release(const struct scan *scan, struct worker *worker)
{
    scan->selection->source->release(&worker->builder.batch);
    cts_block_builder_release(&worker->builder);
    free(worker->passes.items);
}

struct working {
    struct scan *scan;
    struct worker *workers; /* per thread */
};

static enum cts_status work(void *state, unsigned thread, size_t chunk, struct cts_error *error)
{
    const struct working *const working = state;
    struct scan *const scan = working->scan;
    struct worker *const worker = &working->workers[thread];
    void *const own = (char *)scan->states + thread * scan->state_bytes;
    if (!cts_selection_scan_may_pass(scan, chunk) || (scan->wants && !scan->wants(scan, chunk)))
        return CTS_OK;
    if (is_given_up(scan->question)) return cts_fail(error, CTS_IO, "the request was cancelled");
    if (scan->add && is_decided(scan, chunk)) return add_cells(scan, chunk, own, error);
    const struct scan_visitor visitor = {&worker->builder, scan->visit, own};
    return visit(scan, chunk, &visitor, &worker->passes, error);
}

enum cts_status cts_selection_scan_run(struct scan *scan, struct cts_error *error)
{
    struct working working = {.scan = scan};
    working.workers = cts_array_zeroed(scan->threads, sizeof *working.workers, error);
    if (!working.workers) return CTS_MEMORY;
    const enum cts_status status =
        cts_for_each(scan->view->chunk_count, scan->threads, work, &working, error);
    for (unsigned i = 0; i < scan->threads; i++) worker_release(scan, &working.workers[i]);
    free(working.workers);
    return status;
}

enum cts_status cts_selection_scan_with(const struct scan *scan, size_t chunk,
                                        const struct scan_visitor *visitor, struct cts_error *error)
{
    struct passes passes = {0};
    const enum cts_status status = visit(scan, chunk, visitor, &passes, error);
    free(passes.items);
    return status;
}

enum cts_status cts_selection_scan_one(const struct scan *scan, size_t chunk, void *state,
                                       struct cts_error *error)
{
    struct worker *const worker = cts_array_zeroed(1, sizeof *worker, error);
    if (!worker) return CTS_MEMORY;
    const struct scan_visitor visitor = {&worker->builder, scan->visit, state};
    const enum cts_status status = visit(scan, chunk, &visitor, &worker->passes, error);
    worker_release(scan, worker);
    free(worker);
    return status;
}

bool cts_selection_filter_is_empty(const struct cts_selection_filter *filter)
{
    return !filter || (!filter->cta_count && !filter->warp_count && !filter->site_count &&
                       !filter->line_count && !filter->kinds && !filter->space &&
                       !filter->range_space && !filter->partial);
}
