/* The columns and rows of the communication analysis: by memory instruction, allocation, device and
 * stride. */
#include <stdio.h>
#include <string.h>

#include "report/comm-sheets.h"

/* ---- sites ---- */

#define SITE_COLUMNS(COLUMN)                                                                       \
    COLUMN(site, "site", ID, sum->site)                                                            \
    COLUMN(function, NULL, KERNEL, site->function)                                                 \
    COLUMN(operation, "operation", TEXT, cts_operation_text(site->operation))                      \
    COLUMN(variable, "variable", TEXT, site->variable)                                             \
    COLUMN(path, NULL, TEXT, path)                                                                 \
    COLUMN(line, NULL, ID, site->line)                                                             \
    COLUMN(column, NULL, ID, site->column)                                                         \
    COLUMN(where, "where", TABLE_TEXT, where_text(cells, path, site->line))                        \
    COLUMN(width_bytes, "width", COUNT, site->width_bytes)                                         \
    COLUMN(accesses, "accesses", COUNT, sum->accesses)                                             \
    COLUMN(access_bytes, NULL, BYTES, sum->access_bytes)                                           \
    COLUMN(received_accesses, NULL, COUNT, sum->received_accesses)                                 \
    COLUMN(received_access_bytes, "received", BYTES, sum->received_access_bytes)                   \
    COLUMN(sent_accesses, NULL, COUNT, sum->sent_accesses)                                         \
    COLUMN(sent_access_bytes, "sent", BYTES, sum->sent_access_bytes)                               \
    COLUMN(communicated_access_bytes, "communicated", TABLE_BYTES,                                 \
           sum->received_access_bytes + sum->sent_access_bytes)
CTS_SHEET_COLUMNS(site_columns, SITE_COLUMNS);

/* "file.cu:12" */
static const char *where_text(struct cts_sheet_row *cells, const char *path, uint32_t line)
{
    if (!path) return NULL;
    const char *const slash = strrchr(path, '/');
    return cts_sheet_text(cells, 80, "%.60s:%u", slash ? slash + 1 : path, line);
}

static void site_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_site_sum *const sum = &r->comm->sites[row];
    const struct cts_site *const site = &r->catalogue->sites[sum->site];
    const char *const path =
        site->source < r->catalogue->source_count ? r->catalogue->sources[site->source].path : NULL;
    CTS_SHEET_FILL(cells, SITE_COLUMNS);
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

static uint64_t allocation_id(const struct cts_comm_report *r, size_t allocation)
{
    return allocation == SIZE_MAX ? CTS_NONE : r->catalogue->allocations[allocation].allocation;
}

#define ALLOCATION_NAME_COLUMNS(COLUMN, index)                                                     \
    COLUMN(allocation, "allocation", ID, allocation_id(r, index))                                  \
    COLUMN(name, "variable", TEXT, allocation_name(r, index))

#define ALLOCATION_COLUMNS(COLUMN)                                                                 \
    ALLOCATION_NAME_COLUMNS(COLUMN, sum->allocation)                                               \
    COLUMN(path, NULL, TEXT, a ? a->path : NULL)                                                   \
    COLUMN(line, "line", ID, a ? a->line : 0)                                                      \
    COLUMN(size_bytes, "size", BYTES, a ? a->size_bytes : 0)                                       \
    COLUMN(read_bytes, "read", BYTES, sum->read_bytes)                                             \
    COLUMN(written_bytes, "written", BYTES, sum->written_bytes)                                    \
    COLUMN(received_bytes, "received", BYTES, sum->received_bytes)                                 \
    COLUMN(communicated_out_bytes, "communicated", BYTES, sum->communicated_out_bytes)
CTS_SHEET_COLUMNS(allocation_columns, ALLOCATION_COLUMNS);

static void allocation_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_allocation *const sum = &r->comm->allocations[row];
    const struct cts_allocation *const a =
        sum->allocation == SIZE_MAX ? NULL : &r->catalogue->allocations[sum->allocation];
    CTS_SHEET_FILL(cells, ALLOCATION_COLUMNS);
}

#define ALLOCATION_PAIR_COLUMNS(COLUMN)                                                            \
    ALLOCATION_NAME_COLUMNS(COLUMN, pair->allocation)                                              \
    COLUMN(writer_kernel, NULL, ID, writer)                                                        \
    COLUMN(writer_name, "from kernel", KERNEL, cts_catalogue_kernel_name(r->catalogue, writer))    \
    COLUMN(reader_kernel, NULL, ID, reader)                                                        \
    COLUMN(reader_name, "to kernel", KERNEL, cts_catalogue_kernel_name(r->catalogue, reader))      \
    COLUMN(bytes, "bytes", BYTES, pair->bytes)
CTS_SHEET_COLUMNS(allocation_pair_columns, ALLOCATION_PAIR_COLUMNS);

static void allocation_pair_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_allocation_pair *const pair = &r->comm->allocation_pairs[row];
    const uint32_t writer = r->comm->kernels[pair->writer].kernel;
    const uint32_t reader = r->comm->kernels[pair->reader].kernel;
    CTS_SHEET_FILL(cells, ALLOCATION_PAIR_COLUMNS);
}

static const char *memory_text(struct cts_sheet_row *cells, const struct cts_comm_device_pair *pair)
{
    if (pair->memory == CTS_COMM_MEMORY_HOST) return "host";
    if (pair->memory == CTS_COMM_MEMORY_MANAGED) return "managed";
    return cts_sheet_text(cells, 32, "device %u", pair->memory_device);
}

static bool is_remote(const struct cts_comm_device_pair *pair)
{
    return pair->memory == CTS_COMM_MEMORY_HOST ||
           (pair->memory == CTS_COMM_MEMORY_DEVICE && pair->memory_device != pair->device);
}

#define DEVICE_PAIR_COLUMNS(COLUMN)                                                                \
    COLUMN(device, "device", ID, pair->device)                                                     \
    COLUMN(memory, "memory of", TEXT, memory_text(cells, pair))                                    \
    COLUMN(remote, "remote", FLAG, is_remote(pair))                                                \
    COLUMN(read_bytes, "read", BYTES, pair->sum.read_bytes)                                        \
    COLUMN(written_bytes, "written", BYTES, pair->sum.written_bytes)
CTS_SHEET_COLUMNS(device_pair_columns, DEVICE_PAIR_COLUMNS);

static void device_pair_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_device_pair *const pair = &r->comm->device_pairs[row];
    CTS_SHEET_FILL(cells, DEVICE_PAIR_COLUMNS);
}

/* ---- strides ---- */

struct stride {
    const struct cts_comm_kernel_strides *of;
    enum cts_stride_kind kind;
    const struct cts_stride_entry *entry;
};

/* Row k of the strides of all kernels together and then of each, kind after kind. */
static struct stride stride_at(const struct cts_comm *comm, size_t row)
{
    struct stride at = {.of = comm->strides};
    while (row >= at.of->counts[at.kind]) {
        row -= at.of->counts[at.kind];
        if (++at.kind < CTS_STRIDE_KIND_COUNT) continue;
        at.kind = (enum cts_stride_kind)0;
        at.of++;
    }
    at.entry = &at.of->entries[at.kind][row];
    return at;
}

/* A stride as a double is exact: it has 12 bits beyond 64 KiB. */
#define STRIDE_COLUMNS(COLUMN)                                                                     \
    COLUMN(kernel, NULL, ID, kernel)                                                               \
    COLUMN(name, "kernel", KERNEL,                                                                 \
           is_all ? "all" : cts_catalogue_kernel_name(r->catalogue, kernel))                       \
    COLUMN(kind, "kind", TEXT, cts_stride_kind_text(at.kind))                                      \
    COLUMN(stride, NULL, REAL, (double)at.entry->stride)                                           \
    COLUMN(stride_text, "stride", TABLE_TEXT,                                                      \
           cts_sheet_text(cells, 32, "%lld", (long long)at.entry->stride))                         \
    COLUMN(width, NULL, COUNT, at.entry->width)                                                    \
    COLUMN(count, "count", COUNT, at.entry->count)                                                 \
    COLUMN(fraction, "share", FRACTION, (double)at.entry->count / (double)at.of->totals[at.kind])
CTS_SHEET_COLUMNS(stride_columns, STRIDE_COLUMNS);

static void stride_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    const struct stride at = stride_at(r->comm, row);
    const bool is_all = at.of->kernel == SIZE_MAX;
    const uint32_t kernel = is_all ? CTS_NONE : r->comm->kernels[at.of->kernel].kernel;
    CTS_SHEET_FILL(cells, STRIDE_COLUMNS);
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
