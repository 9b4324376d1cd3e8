/* The columns and rows of the communication analysis. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/comm.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum cts_comm_sheet cts_comm_sheet_named(const char *text)
{
    static const char *const names[] = {
#define X(name, word) word,
        CTS_COMM_SHEETS(X)
#undef X
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (!strcmp(names[i], text)) return (enum cts_comm_sheet)i;
    return CTS_COMM_SHEET_COUNT;
}

/* ---- counts: all fields; a few have a title and stand in tables ---- */

#define X(name) {#name, NULL, CTS_CELL_COUNT, false},
#define COUNT_COLUMNS                                                                              \
    {"read", "read", CTS_CELL_BYTES, true}, {"written", "written", CTS_CELL_BYTES, true},          \
        {"communicated", "communicated", CTS_CELL_BYTES, true},                                    \
        {"communicated_fraction", "fraction", CTS_CELL_FRACTION, false},                           \
        {"received", "received", CTS_CELL_BYTES, true},                                            \
        {"ratio_written_bytes", NULL, CTS_CELL_BYTES, false},                                      \
        {"ratio_communicated_bytes", NULL, CTS_CELL_BYTES, false}, CTS_COMM_FIELDS(X)
enum { LEAD_COLUMNS = 7 };

static void fill_counts(const struct cts_comm_counts *counts, union cts_cell *cells)
{
    const uint64_t written = cts_comm_ratio_written(counts);
    const uint64_t communicated = cts_comm_ratio_communicated(counts);
    cells[0].number = counts->global_read_unique_bytes;
    cells[1].number = counts->global_written_unique_bytes;
    cells[2].number = counts->communicated_out_bytes;
    cells[3].real = written ? (double)communicated / (double)written : NAN;
    cells[4].number = counts->received_bytes;
    cells[5].number = written;
    cells[6].number = communicated;
    for (size_t i = 0; i < CTS_COMM_FIELD_COUNT; i++)
        cells[LEAD_COLUMNS + i].number = cts_comm_field(counts, i);
}

/* ---- names ---- */

static const struct cts_launch *launch_row(const struct cts_comm_report *r, size_t launch)
{
    return &r->catalogue->launches[r->comm->launches[launch].index];
}

static int by_id(const void *key, const void *item)
{
    const uint32_t a = *(const uint32_t *)key, b = ((const struct cts_kernel *)item)->kernel;
    return (a > b) - (a < b);
}

static const char *kernel_name(const struct cts_comm_report *r, uint32_t kernel)
{
    const struct cts_catalogue *const catalogue = r->catalogue;
    const struct cts_kernel *const found =
        catalogue->kernel_count ? bsearch(&kernel, catalogue->kernels, catalogue->kernel_count,
                                          sizeof *catalogue->kernels, by_id)
                                : NULL;
    return found ? found->name : NULL;
}

/* ---- run, kernels, launches, CTAs ---- */

/* Bisection volumes; a fraction is of the transfers' bytes, and nothing where no grid has more than
 * one CTA in the dimension. */
#define BISECTION_COLUMNS(title_x, title_y, title_z)                                               \
    {"bisection_x_bytes", NULL, CTS_CELL_BYTES, false},                                            \
        {"bisection_x_fraction", title_x, CTS_CELL_FRACTION, false},                               \
        {"bisection_y_bytes", NULL, CTS_CELL_BYTES, false},                                        \
        {"bisection_y_fraction", title_y, CTS_CELL_FRACTION, false},                               \
        {"bisection_z_bytes", NULL, CTS_CELL_BYTES, false},                                        \
    {                                                                                              \
        "bisection_z_fraction", title_z, CTS_CELL_FRACTION, false                                  \
    }
enum { BISECTION_CELLS = 6 };

static void fill_bisection(const uint64_t bytes[3], unsigned dimensions, uint64_t all,
                           union cts_cell *cells)
{
    for (unsigned d = 0; d < 3; d++) {
        cells[2 * d].number = bytes[d];
        cells[2 * d + 1].real = all && (dimensions >> d & 1) ? (double)bytes[d] / (double)all : NAN;
    }
}

static const struct cts_column run_columns[] = {
    {"launches", "launches", CTS_CELL_COUNT, false},
    {"nodes", "CTAs", CTS_CELL_COUNT, false},
    {"communicated_out_access_bytes", NULL, CTS_CELL_BYTES, false},
    BISECTION_COLUMNS(NULL, NULL, NULL),
    COUNT_COLUMNS};

static void run_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    (void)row;
    cells[0].number = r->comm->launch_count;
    cells[1].number = r->comm->node_count;
    cells[2].number = r->comm->communicated_out_access_bytes;
    fill_bisection(r->comm->bisection_bytes, r->comm->bisection_dimensions,
                   r->comm->total.received_bytes, cells + 3);
    fill_counts(&r->comm->total, cells + 3 + BISECTION_CELLS);
}

static const struct cts_column kernel_columns[] = {
    {"kernel", NULL, CTS_CELL_ID, false},
    {"name", "kernel", CTS_CELL_KERNEL, false},
    {"launches", "launches", CTS_CELL_COUNT, false},
    {"communicated_out_access_bytes", NULL, CTS_CELL_BYTES, false},
    COUNT_COLUMNS};

static void kernel_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_kernel *const kernel = &r->comm->kernels[row];
    cells[0].number = kernel->kernel;
    cells[1].text = kernel_name(r, kernel->kernel);
    cells[2].number = kernel->launch_count;
    cells[3].number = kernel->communicated_out_access_bytes;
    fill_counts(&kernel->counts, cells + 4);
}

#define DEGREE_COLUMNS(name, title)                                                                \
    {name "_degree_mean", title, CTS_CELL_REAL, false},                                            \
        {name "_degree_deviation", "+-", CTS_CELL_REAL, false},                                    \
        {name "_degree_smallest", NULL, CTS_CELL_COUNT, false},                                    \
        {name "_degree_largest", NULL, CTS_CELL_COUNT, false},                                     \
    {                                                                                              \
        name "_degree_sum", NULL, CTS_CELL_COUNT, false                                            \
    }

static const struct cts_column launch_columns[] = {
    {"launch", "launch", CTS_CELL_ID, false},
    {"rank", NULL, CTS_CELL_ID, false},
    {"superstep", NULL, CTS_CELL_ID, false},
    {"ordinal", NULL, CTS_CELL_ID, false},
    {"kernel", NULL, CTS_CELL_ID, false},
    {"name", "kernel", CTS_CELL_KERNEL, false},
    {"stream", NULL, CTS_CELL_ID, false},
    {"grid_x", NULL, CTS_CELL_COUNT, false},
    {"grid_y", NULL, CTS_CELL_COUNT, false},
    {"grid_z", NULL, CTS_CELL_COUNT, false},
    {"ctas", "CTAs", CTS_CELL_COUNT, false},
    {"recorded", NULL, CTS_CELL_FLAG, false},
    {"incomplete", NULL, CTS_CELL_FLAG, false},
    DEGREE_COLUMNS("in", "in-degree"),
    DEGREE_COLUMNS("out", "out-degree"),
    {"communicated_out_access_bytes", NULL, CTS_CELL_BYTES, false},
    COUNT_COLUMNS};

static void fill_degree(const struct cts_comm_degree *degree, union cts_cell *cells)
{
    cells[0].real = degree->cta_count ? cts_comm_degree_mean(degree) : NAN;
    cells[1].real = degree->cta_count ? cts_comm_degree_deviation(degree) : NAN;
    cells[2].number = degree->smallest;
    cells[3].number = degree->largest;
    cells[4].number = degree->sum;
}

static void fill_launch(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_launch *const launch = &r->comm->launches[row];
    const struct cts_launch *const l = launch_row(r, row);
    cells[0].number = l->launch;
    cells[1].number = l->rank;
    cells[2].number = launch->superstep;
    cells[3].number = launch->ordinal;
    cells[4].number = l->kernel;
    cells[5].text = kernel_name(r, l->kernel);
    cells[6].number = l->stream;
    for (int i = 0; i < 3; i++) cells[7 + i].number = l->grid[i];
    cells[10].number = launch->cta_count;
    cells[11].number = launch->counted;
    cells[12].number = launch->incomplete;
    fill_degree(&launch->in_degree, cells + 13);
    fill_degree(&launch->out_degree, cells + 18);
    cells[23].number = launch->communicated_out_access_bytes;
    fill_counts(&launch->counts, cells + 24);
}

static const struct cts_column cta_columns[] = {{"launch", "launch", CTS_CELL_ID, false},
                                                {"name", "kernel", CTS_CELL_KERNEL, false},
                                                {"cta", "CTA", CTS_CELL_ID, false},
                                                {"in_degree", "in-degree", CTS_CELL_COUNT, false},
                                                {"out_degree", "out-degree", CTS_CELL_COUNT, false},
                                                COUNT_COLUMNS};

static void cta_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_cta *const cta = &r->comm->ctas[row];
    const struct cts_launch *const l = launch_row(r, cta->launch);
    cells[0].number = l->launch;
    cells[1].text = kernel_name(r, l->kernel);
    cells[2].number = cta->cta;
    cells[3].number = cta->counts.received_transfers;
    cells[4].number = cta->counts.sent_transfers;
    fill_counts(&cta->counts, cells + 5);
}

/* ---- transfers and pairs ---- */

static const struct cts_column transfer_columns[] = {
    {"writer_launch", "from launch", CTS_CELL_ID, false},
    {"writer_kernel", "kernel", CTS_CELL_KERNEL, false},
    {"writer_cta", "CTA", CTS_CELL_ID, false},
    {"reader_launch", "to launch", CTS_CELL_ID, false},
    {"reader_kernel", "kernel", CTS_CELL_KERNEL, false},
    {"reader_cta", "CTA", CTS_CELL_ID, false},
    {"bytes", "bytes", CTS_CELL_BYTES, false},
    {"access_bytes", NULL, CTS_CELL_BYTES, false},
    {"accesses", "accesses", CTS_CELL_COUNT, false}};

static void fill_transfer(const struct cts_comm_report *r, const struct cts_comm_transfer *transfer,
                          union cts_cell *cells)
{
    const struct cts_launch *const writer = launch_row(r, transfer->writer_launch);
    const struct cts_launch *const reader = launch_row(r, transfer->reader_launch);
    cells[0].number = writer->launch;
    cells[1].text = kernel_name(r, writer->kernel);
    cells[2].number = transfer->writer_cta;
    cells[3].number = reader->launch;
    cells[4].text = kernel_name(r, reader->kernel);
    cells[5].number = transfer->reader_cta;
    cells[6].number = transfer->bytes;
    cells[7].number = transfer->access_bytes;
    cells[8].number = transfer->accesses;
}

static void transfer_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    fill_transfer(r, &r->comm->transfers[row], cells);
}

static void top_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    fill_transfer(r, &r->comm->top[row], cells);
}

/* What pairs of launches and of kernels have in common. */
#define PAIR_COLUMNS                                                                               \
    {"shape", "shape", CTS_CELL_TEXT, false}, {"transfers", "transfers", CTS_CELL_COUNT, false},   \
        {"bytes", "bytes", CTS_CELL_BYTES, false},                                                 \
        {"distinct_bytes", "distinct", CTS_CELL_BYTES, false},                                     \
        {"access_bytes", NULL, CTS_CELL_BYTES, false}, {"accesses", NULL, CTS_CELL_COUNT, false},  \
        {"senders", NULL, CTS_CELL_COUNT, false}, {"receivers", NULL, CTS_CELL_COUNT, false},      \
        {"largest_out_degree", "max out", CTS_CELL_COUNT, false},                                  \
        {"largest_in_degree", "max in", CTS_CELL_COUNT, false},                                    \
        {"same_grid", NULL, CTS_CELL_FLAG, false}, BISECTION_COLUMNS("cut x", "cut y", "cut z"),   \
    {                                                                                              \
        "unordered", "unordered", CTS_CELL_FLAG, false                                             \
    }

static void fill_pair(const struct cts_comm_pair *pair, union cts_cell *cells)
{
    cells[0].text = cts_comm_shape_text(pair->shape);
    cells[1].number = pair->transfers;
    cells[2].number = pair->bytes;
    cells[3].number = pair->distinct_bytes;
    cells[4].number = pair->access_bytes;
    cells[5].number = pair->accesses;
    cells[6].number = pair->senders;
    cells[7].number = pair->receivers;
    cells[8].number = pair->largest_out_degree;
    cells[9].number = pair->largest_in_degree;
    cells[10].number = pair->same_grid;
    fill_bisection(pair->bisection_bytes, pair->bisection_dimensions, pair->bytes, cells + 11);
    cells[11 + BISECTION_CELLS].number = pair->unordered;
}

static const struct cts_column launch_pair_columns[] = {
    {"writer_launch", "from launch", CTS_CELL_ID, false},
    {"writer_kernel", "kernel", CTS_CELL_KERNEL, false},
    {"reader_launch", "to launch", CTS_CELL_ID, false},
    {"reader_kernel", "kernel", CTS_CELL_KERNEL, false},
    {"distance", "distance", CTS_CELL_COUNT, false},
    PAIR_COLUMNS};

static void launch_pair_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_pair *const pair = &r->comm->launch_pairs[row];
    const struct cts_launch *const writer = launch_row(r, pair->writer);
    const struct cts_launch *const reader = launch_row(r, pair->reader);
    cells[0].number = writer->launch;
    cells[1].text = kernel_name(r, writer->kernel);
    cells[2].number = reader->launch;
    cells[3].text = kernel_name(r, reader->kernel);
    cells[4].number =
        r->comm->launches[pair->reader].ordinal - r->comm->launches[pair->writer].ordinal - 1;
    fill_pair(pair, cells + 5);
}

static const struct cts_column kernel_pair_columns[] = {
    {"writer_kernel", NULL, CTS_CELL_ID, false},
    {"writer_name", "from kernel", CTS_CELL_KERNEL, false},
    {"reader_kernel", NULL, CTS_CELL_ID, false},
    {"reader_name", "to kernel", CTS_CELL_KERNEL, false},
    PAIR_COLUMNS};

static void kernel_pair_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_pair *const pair = &r->comm->kernel_pairs[row];
    cells[0].number = r->comm->kernels[pair->writer].kernel;
    cells[1].text = kernel_name(r, (uint32_t)cells[0].number);
    cells[2].number = r->comm->kernels[pair->reader].kernel;
    cells[3].text = kernel_name(r, (uint32_t)cells[2].number);
    fill_pair(pair, cells + 4);
}

/* ---- evolution and distances ---- */

static const struct cts_column evolution_columns[] = {
    {"launch", "launch", CTS_CELL_ID, false},
    {"superstep", "superstep", CTS_CELL_ID, false},
    {"name", "kernel", CTS_CELL_KERNEL, false},
    {"stream", NULL, CTS_CELL_ID, false},
    {"load_bytes", "loads", CTS_CELL_BYTES, false},
    {"load_access_bytes", NULL, CTS_CELL_BYTES, false},
    {"store_bytes", "stores", CTS_CELL_BYTES, false},
    {"store_access_bytes", NULL, CTS_CELL_BYTES, false},
    {"in_degree_mean", "in-degree", CTS_CELL_REAL, false},
    {"in_degree_deviation", "+-", CTS_CELL_REAL, false},
    {"out_degree_mean", "out-degree", CTS_CELL_REAL, false},
    {"out_degree_deviation", "+-", CTS_CELL_REAL, false}};

static void evolution_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_evolution *const e = &r->comm->evolution[row];
    const struct cts_comm_launch *const launch = &r->comm->launches[e->launch];
    const struct cts_launch *const l = launch_row(r, e->launch);
    union cts_cell degrees[5];
    cells[0].number = l->launch;
    cells[1].number = launch->superstep;
    cells[2].text = kernel_name(r, l->kernel);
    cells[3].number = l->stream;
    cells[4].number = e->load_bytes;
    cells[5].number = e->load_access_bytes;
    cells[6].number = e->store_bytes;
    cells[7].number = e->store_access_bytes;
    fill_degree(&launch->in_degree, degrees);
    cells[8] = degrees[0];
    cells[9] = degrees[1];
    fill_degree(&launch->out_degree, degrees);
    cells[10] = degrees[0];
    cells[11] = degrees[1];
}

static const struct cts_column distance_columns[] = {
    {"distance", "distance", CTS_CELL_COUNT, false},
    {"transfers", "transfers", CTS_CELL_COUNT, false},
    {"bytes", "bytes", CTS_CELL_BYTES, false},
    {"access_bytes", "accessed", CTS_CELL_BYTES, false},
    {"distinct_bytes", "distinct", CTS_CELL_BYTES, false}};

static void distance_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_distance *const distance = &r->comm->distances[row];
    cells[0].number = distance->distance;
    cells[1].number = distance->transfers;
    cells[2].number = distance->bytes;
    cells[3].number = distance->access_bytes;
    cells[4].number = distance->distinct_bytes;
}

/* ---- sites, allocations, multiprocessors ---- */

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
    cells[3].text = kernel_name(r, (uint32_t)cells[2].number);
    cells[4].number = r->comm->kernels[pair->reader].kernel;
    cells[5].text = kernel_name(r, (uint32_t)cells[4].number);
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

static const struct cts_column sm_columns[] = {
    {"launch", "launch", CTS_CELL_ID, false}, {"name", "kernel", CTS_CELL_KERNEL, false},
    {"device", NULL, CTS_CELL_ID, false},     {"sm", "SM", CTS_CELL_ID, false},
    {"ctas", "CTAs", CTS_CELL_COUNT, false},  COUNT_COLUMNS};

static void sm_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_sm *const sm = &r->comm->sms[row];
    const struct cts_launch *const l = launch_row(r, sm->launch);
    cells[0].number = l->launch;
    cells[1].text = kernel_name(r, l->kernel);
    cells[2].number = sm->device;
    cells[3].number = sm->sm;
    cells[4].number = sm->cta_count;
    fill_counts(&sm->counts, cells + 5);
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
            cells[1].text = is_all ? "all" : kernel_name(r, (uint32_t)cells[0].number);
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

/* ---- distributions ---- */

static const struct cts_column size_columns[] = {{"bytes", "bytes", CTS_CELL_COUNT, false},
                                                 {"transfers", "transfers", CTS_CELL_COUNT, false}};
static const struct cts_column degree_columns[] = {{"degree", "degree", CTS_CELL_COUNT, false},
                                                   {"ctas", "CTAs", CTS_CELL_COUNT, false}};

static void entry_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_map_entry *const entries = state;
    cells[0].number = entries[row].key;
    cells[1].number = entries[row].value;
}

#undef X

#define SHEET(title, columns_, rows, fill, state_)                                                 \
    (struct cts_sheet)                                                                             \
    {                                                                                              \
        .name = title, .columns = columns_, .column_count = COUNT_OF(columns_), .row_count = rows, \
        .row = fill, .state = state_                                                               \
    }

_Static_assert(COUNT_OF(launch_columns) <= CTS_SHEET_COLUMNS_MAX, "the widest sheet");

struct cts_sheet cts_comm_sheet(const struct cts_comm_report *report, enum cts_comm_sheet which)
{
    const struct cts_comm *const c = report->comm;
    switch (which) {
    case CTS_COMM_SHEET_KERNEL:
        return SHEET("kernels", kernel_columns, c->kernel_count, kernel_row, report);
    case CTS_COMM_SHEET_LAUNCH:
        return SHEET("launches", launch_columns, c->launch_count, fill_launch, report);
    case CTS_COMM_SHEET_CTA:
        return SHEET("ctas", cta_columns, c->cta_count, cta_row, report);
    case CTS_COMM_SHEET_TRANSFER:
        return SHEET("transfers", transfer_columns, c->transfer_count, transfer_row, report);
    case CTS_COMM_SHEET_KERNEL_PAIR:
        return SHEET("kernel_pairs", kernel_pair_columns, c->kernel_pair_count, kernel_pair_row,
                     report);
    case CTS_COMM_SHEET_LAUNCH_PAIR:
        return SHEET("launch_pairs", launch_pair_columns, c->launch_pair_count, launch_pair_row,
                     report);
    case CTS_COMM_SHEET_TRANSFER_SIZE:
        return SHEET("transfer_sizes", size_columns, c->transfer_size_count, entry_row,
                     c->transfer_sizes);
    case CTS_COMM_SHEET_IN_DEGREE:
        return SHEET("in_degrees", degree_columns, c->in_degree_count, entry_row, c->in_degrees);
    case CTS_COMM_SHEET_OUT_DEGREE:
        return SHEET("out_degrees", degree_columns, c->out_degree_count, entry_row, c->out_degrees);
    case CTS_COMM_SHEET_TOP:
        return SHEET("top_transfers", transfer_columns, c->top_count, top_row, report);
    case CTS_COMM_SHEET_SUPERSTEP:
        return SHEET("evolution", evolution_columns, c->evolution_count, evolution_row, report);
    case CTS_COMM_SHEET_DISTANCE:
        return SHEET("distances", distance_columns, c->distance_count, distance_row, report);
    case CTS_COMM_SHEET_SITE:
        return SHEET("sites", site_columns, c->site_count, site_row, report);
    case CTS_COMM_SHEET_ALLOCATION:
        return SHEET("allocations", allocation_columns, c->allocation_count, allocation_row,
                     report);
    case CTS_COMM_SHEET_ALLOCATION_PAIR:
        return SHEET("allocation_pairs", allocation_pair_columns, c->allocation_pair_count,
                     allocation_pair_row, report);
    case CTS_COMM_SHEET_DEVICE_PAIR:
        return SHEET("device_pairs", device_pair_columns, c->device_pair_count, device_pair_row,
                     report);
    case CTS_COMM_SHEET_SM:
        return SHEET("sms", sm_columns, c->sm_count, sm_row, report);
    case CTS_COMM_SHEET_STRIDE:
        return SHEET("strides", stride_columns, stride_rows(c), stride_row, report);
    case CTS_COMM_SHEET_RUN:
    case CTS_COMM_SHEET_COUNT:
        break;
    }
    return SHEET("totals", run_columns, 1, run_row, report);
}

void cts_comm_launch_columns(enum cts_comm_sheet which, const char **first, const char **second)
{
    *first = *second = NULL;
    if (which == CTS_COMM_SHEET_LAUNCH || which == CTS_COMM_SHEET_CTA ||
        which == CTS_COMM_SHEET_SUPERSTEP || which == CTS_COMM_SHEET_SM)
        *first = *second = "launch";
    if (which == CTS_COMM_SHEET_TRANSFER || which == CTS_COMM_SHEET_TOP ||
        which == CTS_COMM_SHEET_LAUNCH_PAIR) {
        *first = "writer_launch";
        *second = "reader_launch";
    }
}
