/* Answers as columns. */
#include <math.h>
#include <string.h>

#include "view/answers.h"
#include "view/columns.h"

enum { RECORDS_MAX = 16384, CELLS_DEFAULT = 1024 };

static void fill_record(const struct cts_selection_record *record, size_t i,
                        const struct cts_view_column *columns)
{
    double *const addresses = (double *)columns[6].items + i * CTS_WARP_LANES;
    ((double *)columns[0].items)[i] = (double)record->index;
    ((uint32_t *)columns[1].items)[i] = record->cta;
    ((uint16_t *)columns[2].items)[i] = record->warp;
    ((uint32_t *)columns[3].items)[i] = record->site;
    ((uint8_t *)columns[4].items)[i] = record->space;
    ((uint32_t *)columns[5].items)[i] = record->mask;
    for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++)
        addresses[lane] = record->mask >> lane & 1 ? (double)record->addresses[lane] : (double)NAN;
    ((uint16_t *)columns[7].items)[i] = record->sectors;
    ((uint16_t *)columns[8].items)[i] = record->ideal_sectors;
    ((uint16_t *)columns[9].items)[i] = record->wavefronts;
    ((uint16_t *)columns[10].items)[i] = record->ideal_wavefronts;
    ((uint8_t *)columns[12].items)[i] = record->has_values;
}

static enum cts_status put_records(const struct cts_selection_records *records,
                                   struct cts_buffer *answer, struct cts_error *error)
{
    const size_t count = records->count;
    const size_t value_bytes =
        records->value_bytes ? count * CTS_WARP_LANES * records->value_bytes : 0;
    const double numbers[] = {(double)records->total, (double)records->value_bytes};
    struct cts_view_column columns[] = {
        {CTS_VIEW_F64, count, NULL},
        {CTS_VIEW_U32, count, NULL},
        {CTS_VIEW_U16, count, NULL},
        {CTS_VIEW_U32, count, NULL},
        {CTS_VIEW_U8, count, NULL},
        {CTS_VIEW_U32, count, NULL},
        {CTS_VIEW_F64, count * CTS_WARP_LANES, NULL},
        {CTS_VIEW_U16, count, NULL},
        {CTS_VIEW_U16, count, NULL},
        {CTS_VIEW_U16, count, NULL},
        {CTS_VIEW_U16, count, NULL},
        {CTS_VIEW_U8, value_bytes, NULL},
        {CTS_VIEW_U8, count, NULL},
    };
    const enum cts_status status = cts_view_columns_make(
        answer, &(struct cts_view_table){numbers, 2, columns, sizeof columns / sizeof *columns},
        error);
    if (status) return status;
    for (size_t i = 0; i < count; i++) fill_record(&records->items[i], i, columns);
    if (value_bytes) memcpy(columns[11].items, records->values, value_bytes);
    return CTS_OK;
}

enum cts_status cts_view_fill_records(const struct cts_view_request *request,
                                      struct cts_buffer *answer, struct cts_error *error)
{
    struct cts_view_question question;
    struct cts_selection_records records;
    uint64_t from = 0, count = 256;
    enum cts_status status =
        cts_view_query_number(&request->query, "from", UINT64_C(1) << 53, &from, error);
    if (!status)
        status = cts_view_query_number(&request->query, "count", RECORDS_MAX, &count, error);
    if (!status) status = cts_view_question_of(request, &question, error);
    if (status) return status;
    status =
        cts_selection_records(request->snapshot->selection, &question.question,
                              (struct cts_selection_page){from, (size_t)count}, &records, error);
    if (!status) {
        status = put_records(&records, answer, error);
        cts_selection_records_release(&records);
    }
    cts_view_question_release(&question);
    return status;
}

/* ---- density ---- */

static void copy_counts(double *to, const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) to[i] = (double)from[i];
}

static enum cts_status put_density(const struct cts_selection_density *density, uint64_t first,
                                   struct cts_buffer *answer, struct cts_error *error)
{
    const size_t count = density->cell_count, warp_count = density->warps ? count : 0;
    const double numbers[] = {(double)first, (double)density->cell_bytes};
    struct cts_view_column columns[] = {
        {CTS_VIEW_F64, count, NULL}, {CTS_VIEW_F64, count, NULL}, {CTS_VIEW_U32, warp_count, NULL}};
    const enum cts_status status =
        cts_view_columns_make(answer, &(struct cts_view_table){numbers, 2, columns, 3}, error);
    if (status) return status;
    copy_counts(columns[0].items, density->reads, count);
    copy_counts(columns[1].items, density->writes, count);
    if (warp_count) memcpy(columns[2].items, density->warps, count * sizeof *density->warps);
    return CTS_OK;
}

enum cts_status cts_view_fill_density(const struct cts_view_request *request,
                                      struct cts_buffer *answer, struct cts_error *error)
{
    struct cts_view_question question;
    struct cts_selection_window window = {.first = UINT64_MAX, .last = UINT64_MAX};
    struct cts_selection_density density;
    uint64_t cells = CELLS_DEFAULT, warps = 0;
    enum cts_status status = cts_view_query_space(&request->query, "space", &window.space, error);
    if (!status)
        status = cts_view_query_number(&request->query, "first", UINT64_MAX, &window.first, error);
    if (!status)
        status = cts_view_query_number(&request->query, "last", UINT64_MAX, &window.last, error);
    if (!status)
        status =
            cts_view_query_number(&request->query, "cells", CTS_SELECTION_CELLS_MAX, &cells, error);
    if (!status) status = cts_view_query_number(&request->query, "countWarps", 1, &warps, error);
    if (status) return status;
    window.cells = (uint32_t)cells;
    window.with_warps = warps;
    status = cts_view_question_of(request, &question, error);
    if (status) return status;
    status = cts_selection_density(request->snapshot->selection, &question.question, &window,
                                   &density, error);
    if (!status) {
        status = put_density(&density, window.first, answer, error);
        cts_selection_density_release(&density);
    }
    cts_view_question_release(&question);
    return status;
}

/* ---- address against order ---- */

static enum cts_status put_order(const struct cts_selection_order *order,
                                 const struct cts_selection_raster *raster,
                                 struct cts_buffer *answer, struct cts_error *error)
{
    const size_t count = (size_t)order->rows * order->columns;
    const double numbers[] = {
        (double)order->columns,
        (double)order->rows,
        (double)raster->first_record,
        (double)(raster->first_record + order->columns * order->column_records - 1),
        (double)raster->first,
        (double)(raster->first + order->rows * order->row_bytes - 1),
    };
    struct cts_view_column columns[] = {{CTS_VIEW_U32, count, NULL}, {CTS_VIEW_U32, count, NULL}};
    const enum cts_status status =
        cts_view_columns_make(answer, &(struct cts_view_table){numbers, 6, columns, 2}, error);
    if (status) return status;
    memcpy(columns[0].items, order->reads, count * sizeof *order->reads);
    memcpy(columns[1].items, order->writes, count * sizeof *order->writes);
    return CTS_OK;
}

static enum cts_status read_raster(const struct cts_view_query *query,
                                   struct cts_selection_raster *raster, struct cts_error *error)
{
    uint64_t columns = 512, rows = 256;
    *raster = (struct cts_selection_raster){
        .first = UINT64_MAX, .last = UINT64_MAX, .last_record = UINT64_MAX};
    enum cts_status status = cts_view_query_space(query, "space", &raster->space, error);
    if (!status) status = cts_view_query_number(query, "first", UINT64_MAX, &raster->first, error);
    if (!status) status = cts_view_query_number(query, "last", UINT64_MAX, &raster->last, error);
    if (!status)
        status = cts_view_query_number(query, "fromRecord", UINT64_C(1) << 53,
                                       &raster->first_record, error);
    if (!status)
        status = cts_view_query_number(query, "toRecord", UINT64_C(1) << 53, &raster->last_record,
                                       error);
    if (!status) status = cts_view_query_number(query, "columns", 1 << 14, &columns, error);
    if (!status) status = cts_view_query_number(query, "rows", 1 << 14, &rows, error);
    raster->columns = (uint32_t)columns;
    raster->rows = (uint32_t)rows;
    return status;
}

enum cts_status cts_view_fill_order(const struct cts_view_request *request,
                                    struct cts_buffer *answer, struct cts_error *error)
{
    struct cts_view_question question;
    struct cts_selection_raster raster;
    struct cts_selection_order order;
    enum cts_status status = read_raster(&request->query, &raster, error);
    if (!status) status = cts_view_question_of(request, &question, error);
    if (status) return status;
    status = cts_selection_order(request->snapshot->selection, &question.question, &raster, &order,
                                 error);
    if (!status) {
        status = put_order(&order, &raster, answer, error);
        cts_selection_order_release(&order);
    }
    cts_view_question_release(&question);
    return status;
}
