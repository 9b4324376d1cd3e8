/* Lanes by address and by order: a raster whose columns are records in their order and whose rows
 * are addresses. Threads take chunks, whose columns can meet at the ends: those are counted with
 * atomic additions. While it is counted a column stands together, since records come in order. */
#include <stdlib.h>

#include "view/selection/divide.h"
#include "view/selection/selection-scan.h"
#include "common/array.h"

struct raster {
    const struct cts_selection_raster *asked;
    unsigned view;
    struct divisor row_bytes, column_records;
    uint32_t rows;
    struct cell {
        _Atomic uint32_t reads, writes;
    } *cells; /* [column * rows + row] */
};

struct spot {
    uint64_t column;
    bool is_own; /* no other thread counts in the column */
};

static void add(_Atomic uint32_t *cell, uint32_t lanes, bool is_own)
{
    if (is_own)
        atomic_store_explicit(cell, atomic_load_explicit(cell, memory_order_relaxed) + lanes,
                              memory_order_relaxed);
    else
        atomic_fetch_add_explicit(cell, lanes, memory_order_relaxed);
}

static void add_lanes(const struct raster *raster, uint64_t row, const struct spot *spot,
                      const struct block_shape *shape, uint32_t lanes)
{
    struct cell *const cell = &raster->cells[spot->column * raster->rows + row];
    if (shape->reads) add(&cell->reads, lanes, spot->is_own);
    if (shape->writes) add(&cell->writes, lanes, spot->is_own);
}

static void add_record(const struct raster *raster, const struct block *block, size_t i,
                       const struct spot *spot)
{
    const struct block_shape *const shape = &block->shapes[block->shape[i]];
    const struct cts_selection_raster *const asked = raster->asked;
    if (shape->pattern == CTS_PATTERN_LIST) {
        if ((shape->first < asked->first || shape->last > asked->last) &&
            !block_list_touches(block, shape, i, asked->first, asked->last))
            return;
    } else {
        const struct block_hull hull = block_hull(block, shape, i);
        if (hull.first <= hull.last && (hull.first > asked->last || hull.last < asked->first))
            return;
        if (hull.first <= hull.last && hull.first >= asked->first && hull.last <= asked->last) {
            const uint64_t row = divide(hull.first - asked->first, raster->row_bytes);
            if (divide(hull.last - asked->first, raster->row_bytes) == row) {
                add_lanes(raster, row, spot, shape, shape->lanes);
                return;
            }
        }
    }
    uint64_t addresses[CTS_WARP_LANES];
    block_addresses(block, shape, i, addresses);
    for (unsigned k = 0; k < shape->lanes; k++) {
        struct block_hull lane;
        if (!block_clip(shape, addresses[k], asked->first, asked->last, &lane)) continue;
        const uint64_t row_bytes = raster->row_bytes.value;
        uint64_t row = divide(lane.first - asked->first, raster->row_bytes);
        uint64_t left = row_bytes - (lane.first - asked->first - row * row_bytes); /* of the row */
        add_lanes(raster, row, spot, shape, 1);
        for (; lane.last - lane.first >= left; left += row_bytes)
            add_lanes(raster, ++row, spot, shape, 1);
    }
}

static enum cts_status count_block(void *state, const struct scan_block *it,
                                   struct cts_error *error)
{
    const struct raster *const raster = state;
    const struct block *const block = it->block;
    const uint64_t from = raster->asked->first_record;
    /* Columns that begin and end in the chunk are its own. */
    const uint64_t first_own = it->first_index <= from
                                   ? 0
                                   : divide(it->first_index - from - 1, raster->column_records) + 1;
    const uint64_t end_own =
        it->first_index + block->record_count <= from
            ? 0
            : divide(it->first_index + block->record_count - from, raster->column_records);
    (void)error;
    SCAN_SEGMENTS(it, segment)
    {
        SCAN_RECORDS(it, segment, i)
        {
            const uint64_t index = it->first_index + i;
            if (index < from || index > raster->asked->last_record) continue;
            const struct block_shape *const shape = &block->shapes[block->shape[i]];
            if (shape->view != raster->view || shape->first > raster->asked->last ||
                shape->last < raster->asked->first)
                continue;
            struct spot spot = {.column = divide(index - from, raster->column_records)};
            spot.is_own = spot.column >= first_own && spot.column < end_own;
            add_record(raster, block, i, &spot);
        }
    }
    return CTS_OK;
}

/* Rows stand together in the answer. */
static void turn(const struct raster *raster, struct cts_selection_order *order)
{
    for (size_t row = 0; row < order->rows; row++)
        for (size_t column = 0; column < order->columns; column++) {
            const struct cell *const cell = &raster->cells[column * order->rows + row];
            order->reads[row * order->columns + column] = cell->reads;
            order->writes[row * order->columns + column] = cell->writes;
        }
}

static bool wants(const struct scan *scan, size_t chunk)
{
    const struct raster *const raster = scan->wants_state;
    return scan->view->first_index[chunk] <= raster->asked->last_record &&
           scan->view->first_index[chunk + 1] > raster->asked->first_record &&
           cts_selection_scan_may_touch(scan, chunk, raster->view, raster->asked->first,
                                        raster->asked->last);
}

static enum cts_status check(const struct cts_selection_raster *asked, struct cts_error *error)
{
    if (asked->first > asked->last || asked->first_record > asked->last_record)
        return cts_fail(error, CTS_USAGE, "a raster ends before it starts");
    if (!asked->rows || !asked->columns ||
        asked->rows > (uint32_t)CTS_SELECTION_RASTER_MAX / asked->columns)
        return cts_fail(error, CTS_USAGE, "a raster of %u by %u", asked->columns, asked->rows);
    return CTS_OK;
}

/* The size of each of `parts` that cover what has this last index. All of 2^64 addresses in one
 * part would be a size of 0: they are two. */
static struct divisor part_size(uint64_t last, uint32_t parts)
{
    const uint64_t each = last / parts;
    return divisor_of(each == UINT64_MAX ? each / 2 + 1 : each + 1);
}

enum cts_status cts_selection_order(struct cts_selection *selection,
                                    const struct cts_selection_question *question,
                                    const struct cts_selection_raster *asked,
                                    struct cts_selection_order *order, struct cts_error *error)
{
    struct scan scan;
    *order = (struct cts_selection_order){0};
    enum cts_status status = check(asked, error);
    if (!status) status = cts_selection_scan_begin(&scan, selection, question, error);
    if (status) return status;
    const uint64_t bytes = asked->last - asked->first; /* less one, both */
    const uint64_t records = asked->last_record - asked->first_record;
    struct raster raster = {.asked = asked,
                            .view = view_space(asked->space),
                            .row_bytes = part_size(bytes, asked->rows),
                            .column_records = part_size(records, asked->columns)};
    order->row_bytes = raster.row_bytes.value;
    order->column_records = raster.column_records.value;
    order->rows = (uint32_t)divide(bytes, raster.row_bytes) + 1;
    order->columns = (uint32_t)divide(records, raster.column_records) + 1;
    raster.rows = order->rows;
    const size_t cells = (size_t)order->rows * order->columns;
    order->reads = cts_array_zeroed(cells, sizeof *order->reads, error);
    order->writes = cts_array_zeroed(cells, sizeof *order->writes, error);
    raster.cells = cts_array_zeroed(cells, sizeof *raster.cells, error);
    scan.states = &raster;
    scan.state_bytes = 0; /* all threads have the same */
    scan.visit = count_block;
    scan.wants = wants;
    scan.wants_state = &raster;
    status = order->reads && order->writes && raster.cells ? cts_selection_scan_run(&scan, error)
                                                           : CTS_MEMORY;
    if (!status) turn(&raster, order);
    free(raster.cells);
    cts_selection_scan_end(&scan);
    if (status) cts_selection_order_release(order);
    return status;
}

void cts_selection_order_release(struct cts_selection_order *order)
{
    free(order->reads);
    free(order->writes);
    *order = (struct cts_selection_order){0};
}
