/* The columns and rows of the communication analysis: by memory instruction, allocation, device and
 * stride. */
#include <stdio.h>
#include <string.h>

#include "report/comm-sheets.h"

/* ---- sites ---- */

static const struct cts_column site_columns[] = {
    {"site", "site", CTS_CELL_ID, false},
    {"function", NULL, CTS_CELL_KERNEL, false},
    {"operation", "operation", CTS_CELL_TEXT, false},
    {"variable", "variable", CTS_CELL_TEXT, false},
    {"path", NULL, CTS_CELL_TEXT, false},
    {"line", NULL, CTS_CELL_ID, false},
    {"column", NULL, CTS_CELL_ID, false},
    {"where", "where", CTS_CELL_TEXT, true},
    {"width_bytes", "width", CTS_CELL_COUNT, false},
    {"accesses", "accesses", CTS_CELL_COUNT, false},
    {"access_bytes", NULL, CTS_CELL_BYTES, false},
    {"received_accesses", NULL, CTS_CELL_COUNT, false},
    {"received_access_bytes", "received", CTS_CELL_BYTES, false},
    {"sent_accesses", NULL, CTS_CELL_COUNT, false},
    {"sent_access_bytes", "sent", CTS_CELL_BYTES, false},
    {"communicated_access_bytes", "communicated", CTS_CELL_BYTES, true}};

/* "file.cu:12"; holds until the next call. */
static const char *where_text(const char *path, uint32_t line)
{
    static _Thread_local char text[80];
    if (!path) return NULL;
    const char *const slash = strrchr(path, '/');
    snprintf(text, sizeof text, "%.60s:%u", slash ? slash + 1 : path, line);
    return text;
}

static void site_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_site_sum *const sum = &r->comm->sites[row];
    const struct cts_site *const site = &r->catalogue->sites[sum->site];
    const bool has_source = site->source < r->catalogue->source_count;
    cells[0].number = sum->site;
    cells[1].text = site->function;
    cells[2].text = cts_operation_text(site->operation);
    cells[3].text = site->variable;
    cells[4].text = has_source ? r->catalogue->sources[site->source].path : NULL;
    cells[5].number = site->line;
    cells[6].number = site->column;
    cells[7].text = where_text(cells[4].text, site->line);
    cells[8].number = site->width_bytes;
    cells[9].number = sum->accesses;
    cells[10].number = sum->access_bytes;
    cells[11].number = sum->received_accesses;
    cells[12].number = sum->received_access_bytes;
    cells[13].number = sum->sent_accesses;
    cells[14].number = sum->sent_access_bytes;
    cells[15].number = sum->received_access_bytes + sum->sent_access_bytes;
}

/* ---- allocations, devices ---- */

/* An allocation's name: the variable's, else the call, else its kind. */
static const char *allocation_name(const struct cts_comm_report *r, size_t allocation)
{
    if (allocation == SIZE_MAX) return "(outside of all allocations)";
    const struct cts_allocation *const a = &r->catalogue->allocations[allocation];
    if (a->variable && *a->variable) return a->variable;
    return a->call && *a->call ? a->call : a->kind;
}

#define ALLOCATION_COLUMNS                                                                         \
    {"allocation", "allocation", CTS_CELL_ID, false},                                              \
    {                                                                                              \
        "name", "variable", CTS_CELL_TEXT, false                                                   \
    }

static void fill_allocation(const struct cts_comm_report *r, size_t allocation,
                            union cts_cell *cells)
{
    cells[0].number =
        allocation == SIZE_MAX ? CTS_NONE : r->catalogue->allocations[allocation].allocation;
    cells[1].text = allocation_name(r, allocation);
}

static const struct cts_column allocation_columns[] = {
    ALLOCATION_COLUMNS,
    {"path", NULL, CTS_CELL_TEXT, false},
    {"line", "line", CTS_CELL_ID, false},
    {"size_bytes", "size", CTS_CELL_BYTES, false},
    {"read_bytes", "read", CTS_CELL_BYTES, false},
    {"written_bytes", "written", CTS_CELL_BYTES, false},
    {"received_bytes", "received", CTS_CELL_BYTES, false},
    {"communicated_out_bytes", "communicated", CTS_CELL_BYTES, false}};

static void allocation_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_allocation *const sum = &r->comm->allocations[row];
    const struct cts_allocation *const a =
        sum->allocation == SIZE_MAX ? NULL : &r->catalogue->allocations[sum->allocation];
    fill_allocation(r, sum->allocation, cells);
    cells[2].text = a ? a->path : NULL;
    cells[3].number = a ? a->line : 0;
    cells[4].number = a ? a->size_bytes : 0;
    cells[5].number = sum->read_bytes;
    cells[6].number = sum->written_bytes;
    cells[7].number = sum->received_bytes;
    cells[8].number = sum->communicated_out_bytes;
}

static const struct cts_column allocation_pair_columns[] = {
    ALLOCATION_COLUMNS,
    {"writer_kernel", NULL, CTS_CELL_ID, false},
    {"writer_name", "from kernel", CTS_CELL_KERNEL, false},
    {"reader_kernel", NULL, CTS_CELL_ID, false},
    {"reader_name", "to kernel", CTS_CELL_KERNEL, false},
    {"bytes", "bytes", CTS_CELL_BYTES, false}};

static void allocation_pair_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_allocation_pair *const pair = &r->comm->allocation_pairs[row];
    fill_allocation(r, pair->allocation, cells);
    cells[2].number = r->comm->kernels[pair->writer].kernel;
    cells[3].text = cts_catalogue_kernel_name(r->catalogue, (uint32_t)cells[2].number);
    cells[4].number = r->comm->kernels[pair->reader].kernel;
    cells[5].text = cts_catalogue_kernel_name(r->catalogue, (uint32_t)cells[4].number);
    cells[6].number = pair->bytes;
}

static const struct cts_column device_pair_columns[] = {
    {"device", "device", CTS_CELL_ID, false},
    {"memory", "memory of", CTS_CELL_TEXT, false},
    {"remote", "remote", CTS_CELL_FLAG, false},
    {"read_bytes", "read", CTS_CELL_BYTES, false},
    {"written_bytes", "written", CTS_CELL_BYTES, false}};

static void device_pair_row(const void *state, size_t row, union cts_cell *cells)
{
    static _Thread_local char text[32];
    const struct cts_comm_report *const r = state;
    const struct cts_comm_device_pair *const pair = &r->comm->device_pairs[row];
    snprintf(text, sizeof text, "device %u", pair->memory_device);
    cells[0].number = pair->device;
    cells[1].text = pair->memory == CTS_COMM_MEMORY_HOST      ? "host"
                    : pair->memory == CTS_COMM_MEMORY_MANAGED ? "managed"
                                                              : text;
    cells[2].number =
        pair->memory == CTS_COMM_MEMORY_HOST ||
        (pair->memory == CTS_COMM_MEMORY_DEVICE && pair->memory_device != pair->device);
    cells[3].number = pair->sum.read_bytes;
    cells[4].number = pair->sum.written_bytes;
}

/* ---- strides ---- */

static const struct cts_column stride_columns[] = {{"kernel", NULL, CTS_CELL_ID, false},
                                                   {"name", "kernel", CTS_CELL_KERNEL, false},
                                                   {"kind", "kind", CTS_CELL_TEXT, false},
                                                   {"stride", NULL, CTS_CELL_REAL, false},
                                                   {"stride_text", "stride", CTS_CELL_TEXT, true},
                                                   {"width", NULL, CTS_CELL_COUNT, false},
                                                   {"count", "count", CTS_CELL_COUNT, false},
                                                   {"fraction", "share", CTS_CELL_FRACTION, false}};

/* Row k of the strides of all kernels together and then of each, kind after kind. */
static void stride_row(const void *state, size_t row, union cts_cell *cells)
{
    static _Thread_local char text[32];
    const struct cts_comm_report *const r = state;
    for (size_t i = 0; i < r->comm->stride_count; i++) {
        const struct cts_comm_kernel_strides *const strides = &r->comm->strides[i];
        for (unsigned kind = 0; kind < CTS_STRIDE_KIND_COUNT; kind++) {
            if (row >= strides->counts[kind]) {
                row -= strides->counts[kind];
                continue;
            }
            const struct cts_stride_entry *const entry = &strides->entries[kind][row];
            const bool is_all = strides->kernel == SIZE_MAX;
            cells[0].number = is_all ? CTS_NONE : r->comm->kernels[strides->kernel].kernel;
            cells[1].text =
                is_all ? "all" : cts_catalogue_kernel_name(r->catalogue, (uint32_t)cells[0].number);
            cells[2].text = cts_stride_kind_text((enum cts_stride_kind)kind);
            snprintf(text, sizeof text, "%lld", (long long)entry->stride);
            cells[3].real = (double)entry->stride; /* exact: 12 bits beyond 64 KiB */
            cells[4].text = text;
            cells[5].number = entry->width;
            cells[6].number = entry->count;
            cells[7].real = (double)entry->count / (double)strides->totals[kind];
            return;
        }
    }
}

static size_t stride_rows(const struct cts_comm *comm)
{
    size_t count = 0;
    for (size_t i = 0; i < comm->stride_count; i++)
        for (unsigned kind = 0; kind < CTS_STRIDE_KIND_COUNT; kind++)
            count += comm->strides[i].counts[kind];
    return count;
}

struct cts_sheet cts_comm_sheet_of_places(const struct cts_comm_report *report,
                                          enum cts_comm_sheet which)
{
    const struct cts_comm *const c = report->comm;
    switch (which) {
    case CTS_COMM_SHEET_SITE:
        return CTS_SHEET("sites", site_columns, c->site_count, site_row, report);
    case CTS_COMM_SHEET_ALLOCATION:
        return CTS_SHEET("allocations", allocation_columns, c->allocation_count, allocation_row,
                         report);
    case CTS_COMM_SHEET_ALLOCATION_PAIR:
        return CTS_SHEET("allocation_pairs", allocation_pair_columns, c->allocation_pair_count,
                         allocation_pair_row, report);
    case CTS_COMM_SHEET_DEVICE_PAIR:
        return CTS_SHEET("device_pairs", device_pair_columns, c->device_pair_count, device_pair_row,
                         report);
    default:
        return CTS_SHEET("strides", stride_columns, stride_rows(c), stride_row, report);
    }
}
