/* Pages of records. How many records of each chunk pass is counted first, on all threads; then only
 * the chunks that a page lies in are gone through, in order. Without a filter the index knows the
 * counts. */
#include <stdlib.h>
#include <string.h>

#include "view/selection/selection-scan.h"
#include "common/array.h"

/* ---- counting ---- */

struct counting {
    uint64_t *counts; /* by chunk */
};

static enum cts_status count_block(void *state, const struct scan_block *it,
                                   struct cts_error *error)
{
    uint64_t count = 0;
    (void)error;
    SCAN_SEGMENTS(it, segment)
    {
        SCAN_RECORDS(it, segment, i) count++;
    }
    (*(struct counting *)state).counts[it->chunk] = count;
    return CTS_OK;
}

static enum cts_status add_cell(void *state, const struct scan_cell *it, struct cts_error *error)
{
    (void)error;
    (*(struct counting *)state).counts[it->chunk] += it->sums->record_count;
    return CTS_OK;
}

/* How many records of each chunk pass, in an array that the caller frees. */
static enum cts_status count_passing(struct scan *scan, uint64_t **out, struct cts_error *error)
{
    uint64_t *const counts = cts_array_zeroed(scan->view->chunk_count, sizeof *counts, error);
    struct counting state = {counts};
    if (!counts) return CTS_MEMORY;
    scan->states = &state;
    scan->state_bytes = 0; /* all threads have the same */
    scan->visit = count_block;
    scan->add = add_cell;
    const enum cts_status status = cts_selection_scan_run(scan, error);
    if (status)
        free(counts);
    else
        *out = counts;
    return status;
}

/* ---- a page ---- */

struct page {
    struct cts_selection_records *records;
    uint64_t skip; /* records of this chunk that stand before the page */
    size_t room;
};

static struct cts_selection_record record_of(const struct scan_block *it, uint32_t cta, size_t i)
{
    const struct block *const block = it->block;
    const struct block_shape *const shape = &block->shapes[block->shape[i]];
    struct cts_selection_record record = {
        .index = it->first_index + i,
        .cta = cta,
        .site = shape->site,
        .mask = shape->mask,
        .warp = block->warp[i],
        .space = space_of_view(shape->view),
        .width_bytes = shape->width_bytes,
    };
    const bool is_shared = shape->view == VIEW_SHARED;
    *(is_shared ? &record.wavefronts : &record.sectors) = block->cost[i];
    *(is_shared ? &record.ideal_wavefronts : &record.ideal_sectors) = block->ideal[i];
    const struct cts_access access = block_access(block, i);
    cts_access_addresses(&access, record.addresses);
    for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++)
        if (!(record.mask >> lane & 1)) record.addresses[lane] = 0;
    return record;
}

static enum cts_status fill_page(void *state, const struct scan_block *it, struct cts_error *error)
{
    struct page *const page = state;
    struct cts_selection_records *const records = page->records;
    (void)error;
    SCAN_SEGMENTS(it, segment)
    {
        const uint32_t cta = it->block->segments[segment].cta;
        SCAN_RECORDS(it, segment, i)
        {
            if (page->skip) {
                page->skip--;
                continue;
            }
            if (records->count == page->room) return CTS_OK;
            records->items[records->count++] = record_of(it, cta, i);
        }
    }
    return CTS_OK;
}

/* ---- values ---- */

/* The values of the page's records of a chunk, from *next on, which is then the first one after it.
 * The chunk is read again: values are too many to be kept. */
static enum cts_status add_values(struct scan *scan, size_t chunk, size_t *next,
                                  struct cts_selection_records *records, struct cts_error *error)
{
    const uint64_t end_index = scan->view->first_index[chunk + 1];
    const struct cts_access_source *const source = scan->selection->source;
    struct cts_acc_batch batch = {0};
    const struct cts_walk_bounds bounds = {.cta_count = scan->view->cta_count};
    const enum cts_status status =
        cts_walk_read_chunk(source, bounds, &scan->view->chunks[chunk], &batch, error);
    for (size_t r = *next; r < records->count && records->items[r].index < end_index && !status;
         r++) {
        *next = r + 1;
        struct cts_selection_record *const record = &records->items[r];
        const size_t i = (size_t)(record->index - scan->view->first_index[chunk]);
        if (i >= batch.record_count || batch.value_start[i] == UINT32_MAX) continue;
        const unsigned words = batch.value_words[i];
        if (words * 8u < record->width_bytes) continue; /* not all of it is there */
        record->has_values = true;
        const uint64_t *from = batch.values + batch.value_start[i];
        for (uint32_t mask = record->mask; mask; mask &= mask - 1, from += words)
            memcpy(records->values +
                       (r * CTS_WARP_LANES + (unsigned)__builtin_ctz(mask)) * records->value_bytes,
                   from, record->width_bytes);
    }
    source->release(&batch);
    return status;
}

static bool has_values(const struct cts_catalogue *catalogue)
{
    const char *const values = cts_catalogue_get(catalogue, "values");
    return values && strcmp(values, "0") != 0;
}

static enum cts_status find_values(struct scan *scan, struct cts_selection_records *records,
                                   struct cts_error *error)
{
    unsigned width = 0;
    for (size_t r = 0; r < records->count; r++)
        if (records->items[r].width_bytes > width) width = records->items[r].width_bytes;
    if (!width || !has_values(scan->selection->catalogue)) return CTS_OK;
    records->values = cts_array_zeroed(records->count * CTS_WARP_LANES, width, error);
    if (!records->values) return CTS_MEMORY;
    records->value_bytes = width;
    enum cts_status status = CTS_OK;
    for (size_t r = 0, chunk = 0; r < records->count && !status;) {
        while (records->items[r].index >= scan->view->first_index[chunk + 1]) chunk++;
        status = add_values(scan, chunk, &r, records, error);
    }
    return status;
}

/* ---- questions ---- */

void cts_selection_records_release(struct cts_selection_records *records)
{
    free(records->items);
    free(records->values);
    *records = (struct cts_selection_records){0};
}

static enum cts_status take_page(struct scan *scan, const uint64_t *counts,
                                 struct cts_selection_page wanted,
                                 struct cts_selection_records *records, struct cts_error *error)
{
    uint64_t from = wanted.from;
    size_t count = wanted.count;
    for (size_t k = 0; k < scan->view->chunk_count; k++) records->total += counts[k];
    if (from >= records->total)
        count = 0;
    else if (count > records->total - from)
        count = (size_t)(records->total - from);
    records->items = cts_array_zeroed(count, sizeof *records->items, error);
    if (!records->items) return CTS_MEMORY;
    scan->visit = fill_page;
    enum cts_status status = CTS_OK;
    for (size_t k = 0; k < scan->view->chunk_count && records->count < count && !status; k++) {
        if (from >= counts[k]) {
            from -= counts[k];
            continue;
        }
        struct page page = {.records = records, .skip = from, .room = count};
        status = cts_selection_scan_one(scan, k, &page, error);
        from = 0;
    }
    return status ? status : find_values(scan, records, error);
}

enum cts_status cts_selection_records(struct cts_selection *selection,
                                      const struct cts_selection_question *question,
                                      struct cts_selection_page page,
                                      struct cts_selection_records *records,
                                      struct cts_error *error)
{
    struct scan scan;
    uint64_t *counts = NULL;
    *records = (struct cts_selection_records){0};
    enum cts_status status = cts_selection_scan_begin(&scan, selection, question, error);
    if (status) return status;
    status = count_passing(&scan, &counts, error);
    if (!status) status = take_page(&scan, counts, page, records, error);
    free(counts);
    cts_selection_scan_end(&scan);
    if (status) cts_selection_records_release(records);
    return status;
}

struct finding {
    uint64_t index;
    uint64_t before;
    bool passes;
};

static enum cts_status find_position(void *state, const struct scan_block *it,
                                     struct cts_error *error)
{
    struct finding *const finding = state;
    (void)error;
    SCAN_SEGMENTS(it, segment)
    {
        SCAN_RECORDS(it, segment, i)
        {
            if (it->first_index + i == finding->index) finding->passes = true;
            if (it->first_index + i >= finding->index) return CTS_OK;
            finding->before++;
        }
    }
    return CTS_OK;
}

enum cts_status cts_selection_position(struct cts_selection *selection,
                                       const struct cts_selection_question *question,
                                       uint64_t index, int64_t *position, struct cts_error *error)
{
    struct scan scan;
    uint64_t *counts = NULL;
    *position = -1;
    enum cts_status status = cts_selection_scan_begin(&scan, selection, question, error);
    if (status) return status;
    const struct view *const view = scan.view;
    if (index >= view->first_index[view->chunk_count]) goto out;
    status = count_passing(&scan, &counts, error);
    if (status) goto out;
    struct finding finding = {.index = index};
    size_t chunk = 0;
    for (; index >= view->first_index[chunk + 1]; chunk++) finding.before += counts[chunk];
    scan.visit = find_position;
    if (counts[chunk]) status = cts_selection_scan_one(&scan, chunk, &finding, error);
    if (!status && finding.passes) *position = (int64_t)finding.before;
out:
    free(counts);
    cts_selection_scan_end(&scan);
    return status;
}
