/* Who wrote some bytes of global memory, and who read them: every launch, copy and memset of the
 * run. Chunks whose addresses do not reach the bytes are not read. */
#include <stdlib.h>
#include <string.h>

#include "analyze/copy.h"
#include "common/array.h"
#include "common/map.h"
#include "trace/access.h"
#include "view/answers.h"

/* An access reaches this far beyond its address, at most. */
enum { WIDTH_MAX = 1 << 16, ROWS_MAX = 1000 };

struct history {
    const struct cts_view_request *request;
    const struct cts_catalogue *catalogue;
    uint64_t first, last;
    struct cts_map lanes; /* by launch << 32 | site: lanes that touch a byte */
    struct history_row {
        uint32_t rank;
        uint64_t op;
        uint32_t launch, site; /* or CTS_NONE and: */
        const struct cts_copy *copy;
        bool reads, writes;
        uint64_t lanes; /* of a copy: 0 */
    } *items;
    size_t count, capacity;
};

/* ---- launches ---- */

static unsigned touching_lanes(const struct history *history, const struct cts_access *access,
                               uint32_t width)
{
    uint64_t addresses[CTS_WARP_LANES];
    unsigned count = 0;
    cts_access_addresses(access, addresses);
    for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++)
        if (access->mask >> lane & 1)
            count += addresses[lane] <= history->last &&
                     addresses[lane] + (width ? width - 1 : 0) >= history->first;
    return count;
}

static enum cts_status look_at_batch(struct history *history, const struct cts_acc_batch *batch,
                                     struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = history->catalogue;
    for (size_t i = 0; i < batch->record_count; i++) {
        const struct cts_access access = cts_acc_record(batch, i);
        if (access.space != CTS_SPACE_GLOBAL && access.space != CTS_SPACE_CONSTANT) continue;
        if (access.site >= catalogue->site_count) continue;
        const uint32_t width = catalogue->sites[access.site].width_bytes;
        const unsigned lanes = touching_lanes(history, &access, width);
        if (!lanes) continue;
        uint64_t *const sum =
            cts_map_at(&history->lanes, (uint64_t)access.launch << 32 | access.site, error);
        if (!sum) return CTS_MEMORY;
        *sum += lanes;
    }
    return CTS_OK;
}

static enum cts_status look_at_accesses(struct history *history, struct cts_error *error)
{
    const struct cts_access_source source = cts_view_source(history->request);
    struct cts_acc_batch batch = {0};
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < source.chunk_count && !status; i++) {
        const struct cts_acc_chunk *const chunk = &source.chunks[i];
        const bool is_below = chunk->last_address < history->first &&
                              history->first - chunk->last_address >= WIDTH_MAX;
        if (chunk->first_address > chunk->last_address || chunk->first_address > history->last ||
            is_below)
            continue;
        status = source.read(source.state, chunk, &batch, error);
        if (!status) status = look_at_batch(history, &batch, error);
    }
    source.release(&batch);
    return status;
}

static enum cts_status add(struct history *history, struct history_row row, struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(history, history->count + 1, error)) return CTS_MEMORY;
    history->items[history->count++] = row;
    return CTS_OK;
}

static enum cts_status add_launches(struct history *history, struct cts_error *error)
{
    struct cts_map_entry *const entries = cts_map_sorted(&history->lanes, error);
    enum cts_status status = entries ? CTS_OK : CTS_MEMORY;
    for (size_t i = 0; i < history->lanes.count && !status; i++) {
        const uint32_t launch = (uint32_t)(entries[i].key >> 32), site = (uint32_t)entries[i].key;
        const struct cts_launch *const row = cts_catalogue_launch(history->catalogue, launch);
        const enum cts_operation operation = history->catalogue->sites[site].operation;
        status = add(history,
                     (struct history_row){.rank = row ? row->rank : 0,
                                          .op = row ? row->op : 0,
                                          .launch = launch,
                                          .site = site,
                                          .reads = cts_operation_reads(operation),
                                          .writes = cts_operation_writes(operation),
                                          .lanes = entries[i].value},
                     error);
    }
    free(entries);
    return status;
}

/* ---- copies ---- */

/* Whether a row of a side has one of the bytes. */
static bool reaches(const struct history *history, const struct cts_copy_rows *rows,
                    const struct cts_copy_side *side)
{
    if (!rows->width || !rows->height || !rows->depth) return false;
    if (side->start > history->last || side->end <= history->first) return false;
    for (uint64_t z = 0; z < rows->depth; z++) {
        const uint64_t plane = cts_copy_row_start(side, z, 0);
        const uint64_t before =
            history->first >= plane + rows->width ? history->first - plane - rows->width + 1 : 0;
        uint64_t y = side->pitch ? (before + side->pitch - 1) / side->pitch : 0;
        if (y >= rows->height) continue;
        const uint64_t row = cts_copy_row_start(side, z, y);
        if (row <= history->last && row + rows->width > history->first) return true;
    }
    return false;
}

static enum cts_status add_copies(struct history *history, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < history->catalogue->copy_count && !status; i++) {
        const struct cts_copy *const copy = &history->catalogue->copies[i];
        const bool is_memset = copy->kind && !strcmp(copy->kind, "memset");
        struct cts_copy_rows rows;
        status = cts_copy_rows_of(copy, !is_memset, &rows, error);
        if (status) break;
        const bool reads = !is_memset && reaches(history, &rows, &rows.from);
        const bool writes = reaches(history, &rows, &rows.to);
        if (!reads && !writes) continue;
        status = add(history,
                     (struct history_row){.rank = copy->rank,
                                          .op = copy->op,
                                          .launch = CTS_NONE,
                                          .site = CTS_NONE,
                                          .copy = copy,
                                          .reads = reads,
                                          .writes = writes},
                     error);
    }
    return status;
}

/* ---- the answer ---- */

static int by_op(const void *left, const void *right)
{
    const struct history_row *const a = left, *const b = right;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->op != b->op) return a->op < b->op ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

/* The allocation that holds the first byte at that time. */
static const char *variable_at(const struct history *history, const struct history_row *row)
{
    for (size_t i = 0; i < history->catalogue->allocation_count; i++) {
        const struct cts_allocation *const it = &history->catalogue->allocations[i];
        if (it->rank == row->rank && it->op <= row->op && row->op < it->freed_op &&
            history->first >= it->address && history->first - it->address < it->size_bytes)
            return it->variable;
    }
    return NULL;
}

static void write_row(struct cts_json *json, const struct history *history,
                      const struct history_row *row)
{
    const struct cts_catalogue *const catalogue = history->catalogue;
    const struct cts_launch *const launch =
        row->launch == CTS_NONE ? NULL : cts_catalogue_launch(catalogue, row->launch);
    cts_json_open_object_row(json);
    cts_view_member_id(json, "launch", row->launch);
    cts_view_member_id(json, "copy", row->copy ? row->copy->copy : CTS_NONE);
    cts_json_member_string(json, "name",
                           row->copy ? row->copy->kind
                           : launch  ? cts_catalogue_kernel_name(catalogue, launch->kernel)
                                     : NULL);
    cts_json_member_u64(json, "rank", row->rank);
    cts_view_member_id(json, "site", row->site);
    cts_json_member_bool(json, "reads", row->reads);
    cts_json_member_bool(json, "writes", row->writes);
    cts_json_member_u64(json, "lanes", row->lanes);
    cts_json_member_string(json, "variable", variable_at(history, row));
    cts_json_close_object(json);
}

enum cts_status cts_view_write_history(const struct cts_view_request *request,
                                       struct cts_json *json, struct cts_error *error)
{
    struct history history = {.request = request,
                              .catalogue = &request->snapshot->recording.catalogue,
                              .first = UINT64_MAX,
                              .last = UINT64_MAX};
    enum cts_status status =
        cts_view_query_number(&request->query, "first", UINT64_MAX - 1, &history.first, error);
    if (!status)
        status =
            cts_view_query_number(&request->query, "last", UINT64_MAX - 1, &history.last, error);
    if (!status && history.last < history.first)
        status = cts_fail(error, CTS_USAGE, "'last' is below 'first'");
    if (!status) status = look_at_accesses(&history, error);
    if (!status) status = add_launches(&history, error);
    if (!status) status = add_copies(&history, error);
    if (!status) {
        if (history.count > 1) qsort(history.items, history.count, sizeof *history.items, by_op);
        cts_json_member_u64(json, "total", history.count);
        cts_json_key(json, "rows");
        cts_json_open_array(json);
        for (size_t i = 0; i < history.count && i < ROWS_MAX; i++)
            write_row(json, &history, &history.items[i]);
        cts_json_close_array(json);
    }
    cts_map_release(&history.lanes);
    free(history.items);
    return status;
}
