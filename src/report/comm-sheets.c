/* The columns and rows of the communication analysis. */
#include <math.h>
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

static const struct cts_column run_columns[] = {{"launches", "launches", CTS_CELL_COUNT, false},
                                                {"nodes", "CTAs", CTS_CELL_COUNT, false},
                                                COUNT_COLUMNS};

static void run_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    (void)row;
    cells[0].number = r->comm->launch_count;
    cells[1].number = r->comm->node_count;
    fill_counts(&r->comm->total, cells + 2);
}

static const struct cts_column kernel_columns[] = {{"kernel", NULL, CTS_CELL_ID, false},
                                                   {"name", "kernel", CTS_CELL_KERNEL, false},
                                                   {"launches", "launches", CTS_CELL_COUNT, false},
                                                   COUNT_COLUMNS};

static void kernel_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_kernel *const kernel = &r->comm->kernels[row];
    cells[0].number = kernel->kernel;
    cells[1].text = kernel_name(r, kernel->kernel);
    cells[2].number = kernel->launch_count;
    fill_counts(&kernel->counts, cells + 3);
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
    {"launch", "launch", CTS_CELL_ID, false},   {"rank", NULL, CTS_CELL_ID, false},
    {"superstep", NULL, CTS_CELL_ID, false},    {"ordinal", NULL, CTS_CELL_ID, false},
    {"kernel", NULL, CTS_CELL_ID, false},       {"name", "kernel", CTS_CELL_KERNEL, false},
    {"stream", NULL, CTS_CELL_ID, false},       {"grid_x", NULL, CTS_CELL_COUNT, false},
    {"grid_y", NULL, CTS_CELL_COUNT, false},    {"grid_z", NULL, CTS_CELL_COUNT, false},
    {"ctas", "CTAs", CTS_CELL_COUNT, false},    {"recorded", NULL, CTS_CELL_FLAG, false},
    {"incomplete", NULL, CTS_CELL_FLAG, false}, DEGREE_COLUMNS("in", "in-degree"),
    DEGREE_COLUMNS("out", "out-degree"),        COUNT_COLUMNS};

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
    fill_counts(&launch->counts, cells + 23);
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

static const struct cts_column launch_pair_columns[] = {
    {"writer_launch", "from launch", CTS_CELL_ID, false},
    {"writer_kernel", "kernel", CTS_CELL_KERNEL, false},
    {"reader_launch", "to launch", CTS_CELL_ID, false},
    {"reader_kernel", "kernel", CTS_CELL_KERNEL, false},
    {"distance", "distance", CTS_CELL_COUNT, false},
    {"transfers", "transfers", CTS_CELL_COUNT, false},
    {"bytes", "bytes", CTS_CELL_BYTES, false},
    {"access_bytes", NULL, CTS_CELL_BYTES, false},
    {"accesses", "accesses", CTS_CELL_COUNT, false},
    {"unordered", "unordered", CTS_CELL_FLAG, false}};

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
    cells[5].number = pair->transfers;
    cells[6].number = pair->bytes;
    cells[7].number = pair->access_bytes;
    cells[8].number = pair->accesses;
    cells[9].number = pair->unordered;
}

static const struct cts_column kernel_pair_columns[] = {
    {"writer_kernel", NULL, CTS_CELL_ID, false},
    {"writer_name", "from kernel", CTS_CELL_KERNEL, false},
    {"reader_kernel", NULL, CTS_CELL_ID, false},
    {"reader_name", "to kernel", CTS_CELL_KERNEL, false},
    {"transfers", "transfers", CTS_CELL_COUNT, false},
    {"bytes", "bytes", CTS_CELL_BYTES, false},
    {"access_bytes", NULL, CTS_CELL_BYTES, false},
    {"accesses", "accesses", CTS_CELL_COUNT, false},
    {"unordered", "unordered", CTS_CELL_FLAG, false}};

static void kernel_pair_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_pair *const pair = &r->comm->kernel_pairs[row];
    cells[0].number = r->comm->kernels[pair->writer].kernel;
    cells[1].text = kernel_name(r, (uint32_t)cells[0].number);
    cells[2].number = r->comm->kernels[pair->reader].kernel;
    cells[3].text = kernel_name(r, (uint32_t)cells[2].number);
    cells[4].number = pair->transfers;
    cells[5].number = pair->bytes;
    cells[6].number = pair->access_bytes;
    cells[7].number = pair->accesses;
    cells[8].number = pair->unordered;
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
    case CTS_COMM_SHEET_RUN:
    case CTS_COMM_SHEET_COUNT:
        break;
    }
    return SHEET("totals", run_columns, 1, run_row, report);
}

void cts_comm_launch_columns(enum cts_comm_sheet which, const char **first, const char **second)
{
    *first = *second = NULL;
    if (which == CTS_COMM_SHEET_LAUNCH || which == CTS_COMM_SHEET_CTA) *first = *second = "launch";
    if (which == CTS_COMM_SHEET_TRANSFER || which == CTS_COMM_SHEET_TOP ||
        which == CTS_COMM_SHEET_LAUNCH_PAIR) {
        *first = "writer_launch";
        *second = "reader_launch";
    }
}
