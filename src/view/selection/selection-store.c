/* Opening a launch reads all its chunks once, on all threads: what each holds is noted for good,
 * and its block is kept if there is room. Blocks of the launch used longest ago give way to those
 * of another; those of the launch itself never do, since a question goes through all of them, and
 * would find each gone just before it comes to it. */
#include "view/selection/selection-store.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/map.h"
#include "common/parallel.h"
#include "common/search.h"

enum { MEMORY_DEFAULT_BYTES = 256 << 20, TALLY_PART = 8 };

enum cts_status cts_selection_open(const struct cts_catalogue *catalogue,
                                   const struct cts_access_source *source,
                                   const struct cts_selection_options *options,
                                   struct cts_selection **out, struct cts_error *error)
{
    struct cts_selection *const selection = cts_array_zeroed(1, sizeof *selection, error);
    *out = selection;
    if (!selection) return CTS_MEMORY;
    selection->catalogue = catalogue;
    selection->source = source;
    selection->options = *options;
    if (!selection->options.memory_bytes) selection->options.memory_bytes = MEMORY_DEFAULT_BYTES;
    if (!selection->options.bank_bytes) selection->options.bank_bytes = 4;
    selection->options.threads = cts_thread_count(options->threads);
    pthread_mutex_init(&selection->lock, NULL);
    for (unsigned space = 0; space < VIEW_SPACES; space++)
        pthread_mutex_init(&selection->conflicts[space].lock, NULL);
    return CTS_OK;
}

static void view_free(struct view *view)
{
    for (size_t k = 0; view->blocks && k < view->chunk_count; k++) cts_block_free(view->blocks[k]);
    for (size_t k = 0; view->summaries && k < view->chunk_count; k++) {
        free(view->summaries[k].pages);
        cts_tally_release(&view->summaries[k].tally);
    }
    free(view->first_index);
    free(view->summaries);
    free(view->blocks);
    free(view->split.items);
    free(view->runs.items);
    free(view->allocations.items);
    free(view->conflict_pages.items);
    pthread_mutex_destroy(&view->loading);
    free(view);
}

void cts_selection_close(struct cts_selection *selection)
{
    if (!selection) return;
    while (selection->views) {
        struct view *const view = selection->views;
        selection->views = view->next;
        view_free(view);
    }
    for (unsigned space = 0; space < VIEW_SPACES; space++) {
        cts_selection_conflicts_release(&selection->conflicts[space].answer);
        pthread_mutex_destroy(&selection->conflicts[space].lock);
    }
    pthread_mutex_destroy(&selection->lock);
    free(selection);
}

size_t cts_selection_damage(struct cts_selection *selection, struct cts_error *first)
{
    pthread_mutex_lock(&selection->lock);
    const size_t count = selection->damaged_count;
    if (first && count) *first = selection->damage;
    pthread_mutex_unlock(&selection->lock);
    return count;
}

uint64_t cts_selection_memory(struct cts_selection *selection)
{
    pthread_mutex_lock(&selection->lock);
    const uint64_t bytes = selection->kept_bytes;
    pthread_mutex_unlock(&selection->lock);
    return bytes;
}

/* ---- blocks ---- */

/* Frees what no question reads of the launch used longest ago; false: there is none. */
static bool make_room(struct cts_selection *selection, const struct view *except)
{
    struct view *oldest = NULL;
    for (struct view *view = selection->views; view; view = view->next) {
        bool has_blocks = false;
        for (size_t k = 0; view != except && k < view->chunk_count && !has_blocks; k++)
            has_blocks = view->blocks[k] && !view->blocks[k]->users;
        if (has_blocks && (!oldest || view->used < oldest->used)) oldest = view;
    }
    for (size_t k = 0; oldest && k < oldest->chunk_count; k++) {
        struct block *const block = oldest->blocks[k];
        if (!block || block->users) continue;
        selection->kept_bytes -= block->size_bytes;
        oldest->blocks[k] = NULL;
        cts_block_free(block);
    }
    return oldest != NULL;
}

/* Keeps a block that was just built, if there is room; the caller uses it. */
static void keep(struct cts_selection *selection, struct view *view, size_t k, struct block *block)
{
    const uint64_t bound = selection->options.memory_bytes;
    pthread_mutex_lock(&selection->lock);
    if (!view->blocks[k] && block->size_bytes <= bound) {
        while (selection->kept_bytes > bound - block->size_bytes && make_room(selection, view)) {
        }
        if (selection->kept_bytes <= bound - block->size_bytes) {
            selection->kept_bytes += block->size_bytes;
            view->blocks[k] = block;
            block->users = 1;
        }
    }
    pthread_mutex_unlock(&selection->lock);
}

static void note_damage(struct cts_selection *selection, const struct cts_error *error)
{
    pthread_mutex_lock(&selection->lock);
    if (!selection->damaged_count++) selection->damage = *error;
    pthread_mutex_unlock(&selection->lock);
}

enum cts_status cts_block_take(struct view *view, size_t k, struct block_builder *builder,
                               struct block **out, struct cts_error *error)
{
    struct cts_selection *const selection = view->selection;
    *out = NULL;
    if (view->summaries[k].is_damaged) return CTS_OK;
    pthread_mutex_lock(&selection->lock);
    struct block *block = view->blocks[k];
    if (block) block->users++;
    pthread_mutex_unlock(&selection->lock);
    *out = block;
    if (block) return CTS_OK;
    const struct cts_walk_bounds bounds = {.cta_count = view->cta_count};
    enum cts_status status =
        cts_walk_read_chunk(selection->source, bounds, &view->chunks[k], &builder->batch, error);
    if (!status)
        status = cts_block_build(builder, selection->catalogue, selection->options.bank_bytes,
                                 &block, error);
    if (status) return status;
    keep(selection, view, k, block);
    *out = block;
    return CTS_OK;
}

void cts_block_give_back(struct view *view, size_t k, struct block *block)
{
    struct cts_selection *const selection = view->selection;
    if (!block) return;
    pthread_mutex_lock(&selection->lock);
    const bool is_kept = view->blocks[k] == block;
    if (is_kept) block->users--;
    pthread_mutex_unlock(&selection->lock);
    if (!is_kept) cts_block_free(block);
}

/* ---- a chunk for the first time ---- */

struct loader {
    struct cts_selection *selection;
    const struct cts_selection_question *question;
    struct view *view;
    struct block_builder *builders; /* per thread */
    pthread_mutex_t lock;           /* of the view's warp_end and runs */
};

enum { RECENT_PAGES = 64 };

struct pages {
    struct cts_map map;
    uint64_t recent[RECENT_PAGES]; /* page + 1 */
};

static enum cts_status note_pages(struct pages *pages, uint64_t first, uint64_t last,
                                  struct cts_error *error)
{
    for (uint64_t page = first >> PAGE_BITS; page <= last >> PAGE_BITS; page++) {
        if (pages->recent[page % RECENT_PAGES] == page + 1) continue;
        pages->recent[page % RECENT_PAGES] = page + 1;
        if (!cts_map_at(&pages->map, page, error)) return CTS_MEMORY;
    }
    return CTS_OK;
}

/* The pages that a record's lanes touch; those of its hull when they are few. */
static enum cts_status add_pages(struct pages *pages, const struct block *block, size_t i,
                                 const struct block_hull *hull, struct cts_error *error)
{
    const struct block_shape *const shape = block_shape_of(block, i);
    if (hull->first <= hull->last && hull->last - hull->first < UINT64_C(1) << PAGE_BITS)
        return note_pages(pages, hull->first, hull->last, error);
    uint64_t addresses[CTS_WARP_LANES];
    block_addresses(block, shape, i, addresses);
    enum cts_status status = CTS_OK;
    for (unsigned k = 0; k < shape->lanes && !status; k++) {
        const uint64_t last = addresses[k] + shape->width_bytes - 1u;
        status = note_pages(pages, addresses[k], last < addresses[k] ? UINT64_MAX : last, error);
    }
    return status;
}

/* What was known of the chunk, if a question that was given up had come as far as that. */
static void forget(struct cts_selection *selection, struct chunk_summary *summary)
{
    pthread_mutex_lock(&selection->lock);
    selection->tally_bytes -= summary->tally.size_bytes;
    pthread_mutex_unlock(&selection->lock);
    free(summary->pages);
    cts_tally_release(&summary->tally);
    *summary = (struct chunk_summary){0};
}

static enum cts_status keep_pages(struct chunk_summary *summary, const struct cts_map *map,
                                  struct cts_error *error)
{
    struct cts_map_entry *const entries = cts_map_sorted(map, error);
    summary->pages = cts_array_zeroed(map->count, sizeof *summary->pages, error);
    if (entries && summary->pages)
        for (size_t i = 0; i < map->count; i++) summary->pages[i] = entries[i].key;
    if (entries && summary->pages) summary->page_count = map->count;
    const bool is_done = entries && summary->pages;
    free(entries);
    return is_done ? CTS_OK : CTS_MEMORY;
}

static void add_shape(struct chunk_summary *summary, const struct block_shape *shape)
{
    if (!shape->width_bytes) {
        summary->unknown_count += shape->record_count;
        return;
    }
    summary->alignment[shape->view] |= shape->alignment;
    summary->spaces[shape->view].access_count += shape->record_count * shape->lanes;
    if (shape->first < summary->spaces[shape->view].first)
        summary->spaces[shape->view].first = shape->first;
    if (shape->last > summary->spaces[shape->view].last)
        summary->spaces[shape->view].last = shape->last;
}

/* Tallies may take up a part of the bound, beside the blocks that are kept. */
static void add_tally(struct cts_selection *selection, struct chunk_summary *summary,
                      const struct block *block)
{
    cts_tally_make(&summary->tally, block);
    pthread_mutex_lock(&selection->lock);
    const bool fits = selection->tally_bytes + summary->tally.size_bytes <=
                      selection->options.memory_bytes / TALLY_PART;
    if (fits) selection->tally_bytes += summary->tally.size_bytes;
    pthread_mutex_unlock(&selection->lock);
    if (!fits) cts_tally_release(&summary->tally);
}

static enum cts_status summarise(struct cts_selection *selection, const struct block *block,
                                 struct chunk_summary *summary, struct cts_error *error)
{
    struct pages pages = {0};
    enum cts_status status = CTS_OK;
    forget(selection, summary);
    for (unsigned view = 0; view < VIEW_SPACES; view++) summary->spaces[view].first = UINT64_MAX;
    for (size_t s = 0; s < block->shape_count; s++) add_shape(summary, &block->shapes[s]);
    for (size_t i = 0; i < block->record_count && !status; i++) {
        const struct block_shape *const shape = &block->shapes[block->shape[i]];
        if (!shape->width_bytes || shape->view != VIEW_GLOBAL) continue;
        const struct block_hull hull = block_hull(block, shape, i);
        status = add_pages(&pages, block, i, &hull, error);
    }
    if (!status) status = keep_pages(summary, &pages.map, error);
    if (!status) add_tally(selection, summary, block);
    cts_map_release(&pages.map);
    return status;
}

/* The block's CTAs, as runs of ascending numbers. */
static enum cts_status add_runs(struct loader *loader, const struct block *block,
                                struct cts_error *error)
{
    struct view *const view = loader->view;
    uint32_t warp_end = 0;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < block->record_count; i++)
        if (block->warp[i] + 1u > warp_end) warp_end = block->warp[i] + 1u;
    pthread_mutex_lock(&loader->lock);
    if (warp_end > view->warp_end) view->warp_end = warp_end;
    for (size_t s = 0; s < block->segment_count && !status; s++) {
        const uint32_t cta = block->segments[s].cta;
        struct cta_run *const last =
            s && view->runs.count ? &view->runs.items[view->runs.count - 1] : NULL;
        if (last && last->last != UINT32_MAX && last->last + 1 == cta) {
            last->last = cta;
            continue;
        }
        status = CTS_ARRAY_RESERVE(&view->runs, view->runs.count + 1, error);
        if (!status) view->runs.items[view->runs.count++] = (struct cta_run){cta, cta};
    }
    pthread_mutex_unlock(&loader->lock);
    return status;
}

static enum cts_status load_chunk(struct loader *loader, size_t k, struct block_builder *builder,
                                  struct cts_error *error)
{
    struct cts_selection *const selection = loader->selection;
    struct view *const view = loader->view;
    struct block *block;
    enum cts_status status = cts_block_take(view, k, builder, &block, error);
    if (status == CTS_MEMORY) return status;
    if (status) {
        cts_context(error, "launch %u", view->launch);
        note_damage(selection, error);
        view->summaries[k].is_damaged = true;
        for (unsigned space = 0; space < VIEW_SPACES; space++)
            view->summaries[k].spaces[space].first = UINT64_MAX;
        return CTS_OK;
    }
    status = summarise(selection, block, &view->summaries[k], error);
    if (!status) status = add_runs(loader, block, error);
    cts_block_give_back(view, k, block);
    return status;
}

static enum cts_status load_item(void *state, unsigned thread, size_t k, struct cts_error *error)
{
    struct loader *const loader = state;
    if (is_given_up(loader->question)) return cts_fail(error, CTS_IO, "the request was cancelled");
    return load_chunk(loader, k, &loader->builders[thread], error);
}

/* ---- a launch for the first time ---- */

static int by_first(const void *a, const void *b)
{
    const struct cta_run *const x = a, *const y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static enum cts_status add_split(struct view *view, uint32_t first, uint32_t last,
                                 struct cts_error *error)
{
    for (uint32_t cta = first;; cta++) {
        const size_t count = view->split.count;
        if (!count || view->split.items[count - 1] < cta) {
            if (CTS_ARRAY_RESERVE(&view->split, count + 1, error)) return CTS_MEMORY;
            view->split.items[view->split.count++] = cta;
        }
        if (cta == last) return CTS_OK;
    }
}

/* Which CTAs are in two runs. */
static enum cts_status find_split(struct view *view, struct cts_error *error)
{
    if (view->runs.count > 1)
        qsort(view->runs.items, view->runs.count, sizeof *view->runs.items, by_first);
    uint32_t reached = 0; /* the greatest CTA of the runs before */
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < view->runs.count && !status; i++) {
        const struct cta_run run = view->runs.items[i];
        if (i && run.first <= reached)
            status = add_split(view, run.first, run.last < reached ? run.last : reached, error);
        if (!i || run.last > reached) reached = run.last;
    }
    return status;
}

static int by_address(const void *a, const void *b, void *state)
{
    const struct cts_catalogue *const catalogue = state;
    const struct cts_allocation *const x =
        &catalogue->allocations[((const struct cts_selection_allocation *)a)->index];
    const struct cts_allocation *const y =
        &catalogue->allocations[((const struct cts_selection_allocation *)b)->index];
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return (x > y) - (x < y);
}

static enum cts_status find_allocations(const struct cts_catalogue *catalogue, struct view *view,
                                        struct cts_error *error)
{
    for (size_t i = 0; i < catalogue->allocation_count; i++) {
        const struct cts_allocation *const it = &catalogue->allocations[i];
        if (it->rank != view->row->rank || it->op > view->row->op || it->freed_op < view->row->op ||
            !it->size_bytes)
            continue;
        if (CTS_ARRAY_RESERVE(&view->allocations, view->allocations.count + 1, error))
            return CTS_MEMORY;
        view->allocations.items[view->allocations.count++] =
            (struct cts_selection_allocation){.index = i};
    }
    if (view->allocations.count > 1)
        qsort_r(view->allocations.items, view->allocations.count, sizeof *view->allocations.items,
                by_address, (void *)catalogue);
    return CTS_OK;
}

static enum cts_status load(struct cts_selection *selection, struct view *view,
                            const struct cts_selection_question *question, struct cts_error *error)
{
    struct loader loader = {.selection = selection, .question = question, .view = view};
    unsigned threads = selection->options.threads;
    if (threads > view->chunk_count) threads = (unsigned)view->chunk_count;
    loader.builders = cts_array_zeroed(threads, sizeof *loader.builders, error);
    if (!loader.builders) return CTS_MEMORY;
    pthread_mutex_init(&loader.lock, NULL);
    view->runs.count = view->split.count = 0;
    const enum cts_status status =
        cts_for_each(view->chunk_count, threads, load_item, &loader, error);
    pthread_mutex_destroy(&loader.lock);
    for (unsigned i = 0; i < threads; i++) {
        selection->source->release(&loader.builders[i].batch);
        cts_block_builder_release(&loader.builders[i]);
    }
    free(loader.builders);
    return status ? status : find_split(view, error);
}

static const struct cts_launch *find_launch(const struct cts_catalogue *catalogue, uint32_t launch)
{
    for (size_t i = 0; i < catalogue->launch_count; i++)
        if (catalogue->launches[i].launch == launch) return &catalogue->launches[i];
    return NULL;
}

static enum cts_status make_view(struct cts_selection *selection, uint32_t launch,
                                 struct view **out, struct cts_error *error)
{
    const struct cts_access_source *const source = selection->source;
    const struct cts_launch *const row = find_launch(selection->catalogue, launch);
    if (!row) return cts_fail(error, CTS_USAGE, "there is no launch %u", launch);
    struct view *const view = cts_array_zeroed(1, sizeof *view, error);
    if (!view) return CTS_MEMORY;
    pthread_mutex_init(&view->loading, NULL);
    view->selection = selection;
    view->launch = row->launch;
    view->row = row;
    const uint64_t threads = (uint64_t)row->block[0] * row->block[1] * row->block[2];
    view->live_full = (uint32_t)(threads / CTS_WARP_LANES);
    view->live_rest = (uint32_t)(threads % CTS_WARP_LANES);
    const enum cts_status status = cts_walk_count_ctas(row, &view->cta_count, error);
    if (status) {
        view_free(view);
        return status;
    }
    const struct cts_walk_scope scope = cts_walk_scope_of(source, row->launch, view->cta_count);
    if (source->chunk_count) view->chunks = source->chunks + scope.chunk_begin;
    view->chunk_count = scope.chunk_end - scope.chunk_begin;
    view->first_index = cts_array_zeroed(view->chunk_count + 1, sizeof *view->first_index, error);
    view->summaries = cts_array_zeroed(view->chunk_count, sizeof *view->summaries, error);
    view->blocks = cts_array_zeroed(view->chunk_count, sizeof *view->blocks, error);
    if (!view->first_index || !view->summaries || !view->blocks ||
        find_allocations(selection->catalogue, view, error)) {
        view_free(view);
        return CTS_MEMORY;
    }
    for (size_t k = 0; k < view->chunk_count; k++)
        view->first_index[k + 1] = view->first_index[k] + view->chunks[k].record_count;
    *out = view;
    return CTS_OK;
}

enum cts_status cts_view_of(struct cts_selection *selection,
                            const struct cts_selection_question *question, struct view **out,
                            struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    pthread_mutex_lock(&selection->lock);
    struct view *view = selection->views;
    while (view && view->launch != question->launch) view = view->next;
    if (!view && !(status = make_view(selection, question->launch, &view, error))) {
        view->next = selection->views;
        selection->views = view;
    }
    if (!status) view->used = ++selection->clock;
    pthread_mutex_unlock(&selection->lock);
    if (status) return status;

    pthread_mutex_lock(&view->loading);
    if (!view->is_loaded) status = load(selection, view, question, error);
    view->is_loaded = !status;
    pthread_mutex_unlock(&view->loading);
    *out = view;
    return status;
}

uint32_t cts_view_split_place(const struct view *view, uint32_t cta)
{
    const size_t low = CTS_SEARCH(view->split.count, i, view->split.items[i] < cta);
    const bool found = low < view->split.count && view->split.items[low] == cta;
    return found ? (uint32_t)low : UINT32_MAX;
}
