/* Rows of sums by (kernel or launch, site, space): a table for each thread, added up at the end, so
 * that sums do not depend on who took what. The most frequent stride comes from a map of all of
 * them; equal counts go to the smaller stride. */
#include <stdlib.h>

#include "analyze/access/access-model.h"

static uint64_t row_key(const struct cts_access_row_name *name)
{
    return name->owner << 32 ^ (uint64_t)name->site << 3 ^ name->space; /* sites: < 2^29, checked */
}

enum cts_status cts_access_row_of(struct cts_access_rows *rows,
                                  const struct cts_access_row_name *name, size_t *row,
                                  struct cts_error *error)
{
    uint64_t *const place = cts_map_at(&rows->index, row_key(name), error);
    if (!place) return CTS_MEMORY;
    if (!*place) {
        if (CTS_ARRAY_RESERVE(rows, rows->count + 1, error)) return CTS_MEMORY;
        rows->items[rows->count++] = (struct cts_access_row){.name = *name};
        *place = rows->count;
    }
    *row = *place - 1;
    return CTS_OK;
}

void cts_access_rows_release(struct cts_access_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        cts_map_release(&rows->items[i].strides);
        cts_map_release(&rows->items[i].rows);
    }
    free(rows->items);
    cts_map_release(&rows->index);
    *rows = (struct cts_access_rows){0};
}

static enum cts_status merge_counts(struct cts_map *to, const struct cts_map *from,
                                    struct cts_error *error)
{
    for (size_t e = 0; e < from->capacity; e++) {
        if (!from->used[e]) continue;
        uint64_t *const count = cts_map_at(to, from->entries[e].key, error);
        if (!count) return CTS_MEMORY;
        *count += from->entries[e].value;
    }
    return CTS_OK;
}

static enum cts_status merge_row(struct cts_access_row *to, const struct cts_access_row *from,
                                 struct cts_error *error)
{
    cts_access_counts_add(&to->counts, &from->counts);
    if (from->worst_ways > to->worst_ways) to->worst_ways = from->worst_ways;
    const enum cts_status status = merge_counts(&to->strides, &from->strides, error);
    return status ? status : merge_counts(&to->rows, &from->rows, error);
}

enum cts_status cts_access_rows_merge(struct cts_access_rows *sum,
                                      const struct cts_access_rows *more, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < more->count && !status; i++) {
        const struct cts_access_row *const from = &more->items[i];
        size_t to;
        status = cts_access_row_of(sum, &from->name, &to, error);
        if (!status) status = merge_row(&sum->items[to], from, error);
    }
    return status;
}

/* The key with the greatest count, of equal counts the smaller key (as a signed number); returns
 * the count, 0: the map is empty. */
static uint64_t most_frequent(const struct cts_map *counts, int64_t *found)
{
    uint64_t most = 0;
    for (size_t e = 0; e < counts->capacity; e++) {
        if (!counts->used[e]) continue;
        const int64_t key = (int64_t)counts->entries[e].key;
        const uint64_t count = counts->entries[e].value;
        if (count < most || (count == most && key > *found)) continue;
        *found = key;
        most = count;
    }
    return most;
}

static void find_geometry(const struct cts_access_row *row, struct cts_access_site *site)
{
    int64_t rows = 0;
    site->stride_requests = most_frequent(&row->strides, &site->stride_bytes);
    site->row_requests = most_frequent(&row->rows, &rows);
    site->row_lanes = rows & (CTS_ROW_UNIFORM - 1);
    site->row_is_uniform = rows & CTS_ROW_UNIFORM;
    site->row_pitch_bytes = (int32_t)(uint32_t)((uint64_t)rows >> 8);
}

static int by_place(const void *a, const void *b)
{
    const struct cts_access_site *const x = a, *const y = b;
    if (x->kernel != y->kernel) return x->kernel < y->kernel ? -1 : 1;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    if (x->site != y->site) return x->site < y->site ? -1 : 1;
    return (x->space > y->space) - (x->space < y->space);
}

enum cts_status cts_access_rows_list(const struct cts_access_rows *rows, bool per_launch,
                                     struct cts_access_result *result, struct cts_error *error)
{
    result->sites = cts_array_zeroed(rows->count, sizeof *result->sites, error);
    if (!result->sites) return CTS_MEMORY;
    for (size_t i = 0; i < rows->count; i++) {
        const struct cts_access_row *const row = &rows->items[i];
        struct cts_access_site *const site = &result->sites[result->site_count++];
        *site = (struct cts_access_site){
            .kernel = row->name.kernel,
            .site = row->name.site,
            .launch = per_launch ? (size_t)row->name.owner : SIZE_MAX,
            .space = row->name.space,
            .counts = row->counts,
            .worst_ways = row->worst_ways,
        };
        find_geometry(row, site);
    }
    qsort(result->sites, result->site_count, sizeof *result->sites, by_place);
    return CTS_OK;
}
