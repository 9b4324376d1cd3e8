/* A chunk's index has the least and greatest lane address; an access reaches up to its width
 * beyond, so that the widest site says how far below the range a chunk may end. Rows of a chunk are
 * summed in a hash and then added to the list; a CTA that goes on in the next chunk makes rows that
 * are joined at the end. */
#include "analyze/communication/comm-query.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/walk.h"
#include "common/array.h"
#include "common/map.h"

struct asking {
    const struct cts_catalogue *catalogue;
    struct cts_interval range;
    struct cts_query *query;
    size_t capacity;
    struct cts_walk_sites sites;
    struct cts_map map; /* (CTA, site) of the chunk -> row + 1 */
};

static bool writes(const struct cts_site *site)
{
    return site->operation != CTS_LOAD;
}

static void count(struct cts_query *query, const struct cts_site *site, uint64_t accesses,
                  uint64_t bytes)
{
    if (site->operation != CTS_STORE) {
        query->reads += accesses;
        query->read_bytes += bytes;
    }
    if (writes(site)) {
        query->writes += accesses;
        query->written_bytes += bytes;
    }
}

static enum cts_status add(struct asking *a, const struct cts_query_row *row,
                           struct cts_error *error)
{
    struct cts_query *const query = a->query;
    count(query, &a->catalogue->sites[row->site], row->accesses, row->bytes);
    uint64_t *const place = cts_map_at(&a->map, (uint64_t)row->cta << 32 | row->site, error);
    if (!place) return CTS_MEMORY;
    if (!*place) {
        if (query->row_count == CTS_QUERY_ROWS_MAX) {
            query->rows_left_out++;
            return CTS_OK;
        }
        if (query->row_count == a->capacity &&
            cts_array_grow((void **)&query->rows, &a->capacity, query->row_count + 1,
                           sizeof *query->rows, error))
            return CTS_MEMORY;
        query->rows[query->row_count] =
            (struct cts_query_row){.launch = row->launch, .cta = row->cta, .site = row->site};
        *place = ++query->row_count;
    }
    query->rows[*place - 1].accesses += row->accesses;
    query->rows[*place - 1].bytes += row->bytes;
    return CTS_OK;
}

static enum cts_status look_at(struct asking *a, const struct cts_acc_batch *batch, size_t i,
                               struct cts_error *error)
{
    const struct cts_access access = cts_acc_record(batch, i);
    if (access.space != CTS_SPACE_GLOBAL) return CTS_OK;
    if (access.pattern == CTS_PATTERN_TWO_LEVEL && !access.row_lanes)
        return cts_fail(error, CTS_FORMAT, "a two-level record has rows of 0 lanes");
    const uint64_t width = a->catalogue->sites[access.site].width_bytes;
    uint64_t addresses[CTS_WARP_LANES], accesses = 0, bytes = 0;
    cts_access_addresses(&access, addresses);
    for (uint32_t mask = access.mask; mask; mask &= mask - 1) {
        const uint64_t first = addresses[__builtin_ctz(mask)];
        const uint64_t last = first + width - 1; /* inclusive: it may be the end of memory */
        if (!width || last < first || last < a->range.start || first >= a->range.end) continue;
        const uint64_t from = first > a->range.start ? first : a->range.start;
        const uint64_t to = last < a->range.end - 1 ? last : a->range.end - 1;
        accesses++;
        bytes += to - from + 1;
    }
    if (!accesses) return CTS_OK;
    return add(a,
               &(struct cts_query_row){.launch = access.launch,
                                       .cta = access.cta,
                                       .site = access.site,
                                       .accesses = accesses,
                                       .bytes = bytes},
               error);
}

static int by_place(const void *left, const void *right)
{
    const struct cts_query_row *const a = left, *const b = right;
    if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
    if (a->cta != b->cta) return a->cta < b->cta ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

static void join(struct cts_query *query)
{
    size_t kept = 0;
    if (query->row_count) qsort(query->rows, query->row_count, sizeof *query->rows, by_place);
    for (size_t i = 0; i < query->row_count; i++) {
        if (kept && !by_place(&query->rows[kept - 1], &query->rows[i])) {
            query->rows[kept - 1].accesses += query->rows[i].accesses;
            query->rows[kept - 1].bytes += query->rows[i].bytes;
        } else {
            query->rows[kept++] = query->rows[i];
        }
    }
    query->row_count = kept;
}

/* Whether an access of the chunk can touch the range. */
static bool may_meet(const struct cts_acc_chunk *chunk, const struct asking *a, uint64_t widest)
{
    if (chunk->first_address > chunk->last_address) return false;
    const uint64_t reach =
        chunk->last_address > UINT64_MAX - widest ? UINT64_MAX : chunk->last_address + widest;
    return chunk->first_address < a->range.end && reach > a->range.start;
}

static enum cts_status read_chunk(const struct asking *a, const struct cts_access_source *source,
                                  const struct cts_acc_chunk *chunk, struct cts_acc_batch *batch,
                                  struct cts_error *error)
{
    const struct cts_launch *const launch = cts_catalogue_launch(a->catalogue, chunk->launch);
    uint64_t cta_count = UINT64_C(1) << 32; /* a launch that the catalogue does not have */
    if (launch && cts_walk_count_ctas(launch, &cta_count, error)) return CTS_FORMAT;
    const struct cts_walk_bounds bounds = {&a->sites, cta_count};
    return cts_walk_read_chunk(source, bounds, chunk, batch, error);
}

enum cts_status cts_comm_query(const struct cts_catalogue *catalogue,
                               const struct cts_access_source *source, struct cts_interval range,
                               struct cts_query *query, struct cts_error *error)
{
    *query = (struct cts_query){.chunk_count = source->chunk_count};
    struct asking asking = {.catalogue = catalogue, .range = range, .query = query};
    struct cts_acc_batch batch = {0};
    enum cts_status status = cts_walk_sites_make(catalogue, &asking.sites, error);
    uint64_t widest = 0;
    for (size_t i = 0; i < catalogue->site_count; i++)
        if (catalogue->sites[i].width_bytes > widest) widest = catalogue->sites[i].width_bytes;
    for (size_t i = 0; !status && i < source->chunk_count; i++) {
        const struct cts_acc_chunk *const chunk = &source->chunks[i];
        if (!may_meet(chunk, &asking, widest)) continue;
        query->chunks_read++;
        cts_map_release(&asking.map);
        status = read_chunk(&asking, source, chunk, &batch, error);
        for (size_t k = 0; !status && k < batch.record_count; k++) {
            status = look_at(&asking, &batch, k, error);
            if (status && source->path)
                status = cts_context(error, "'%s': chunk at byte %llu",
                                     source->path(source->state, chunk->file),
                                     (unsigned long long)chunk->offset_bytes);
        }
    }
    source->release(&batch);
    cts_map_release(&asking.map);
    cts_walk_sites_release(&asking.sites);
    join(query);
    if (status) cts_query_release(query);
    return status;
}

void cts_query_release(struct cts_query *query)
{
    free(query->rows);
    *query = (struct cts_query){0};
}
