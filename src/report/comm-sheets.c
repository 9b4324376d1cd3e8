/* The columns and rows of the communication analysis: the run, kernels, launches, CTAs,
 * multiprocessors. */
#include "report/comm-sheets.h"

#include <math.h>
#include <string.h>

enum cts_comm_sheet cts_comm_sheet_named(const char *text)
{
    static const char *const names[] = {
#define X(name, word) word,
        CTS_COMM_SHEETS(X)
#undef X
    };
    for (size_t i = 0; i < CTS_COMM_SHEET_COUNT; i++)
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

/* ---- what sheets share ---- */

const struct cts_launch *cts_comm_launch_row(const struct cts_comm_report *r, size_t launch)
{
    return &r->catalogue->launches[r->comm->launches[launch].index];
}

void cts_comm_fill_bisection(const uint64_t bytes[3], unsigned dimensions, uint64_t all,
                             union cts_cell *cells)
{
    for (unsigned d = 0; d < 3; d++) {
        cells[2 * d].number = bytes[d];
        cells[2 * d + 1].real = all && (dimensions >> d & 1) ? (double)bytes[d] / (double)all : NAN;
    }
}

/* ---- run, kernels, launches, CTAs ---- */

static const struct cts_column run_columns[] = {
    {"launches", "launches", CTS_CELL_COUNT, false},
    {"nodes", "CTAs", CTS_CELL_COUNT, false},
    {"communicated_out_access_bytes", NULL, CTS_CELL_BYTES, false},
    CTS_COMM_BISECTION_COLUMNS(NULL, NULL, NULL),
    COUNT_COLUMNS};

static void run_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    (void)row;
    cells[0].number = r->comm->launch_count;
    cells[1].number = r->comm->node_count;
    cells[2].number = r->comm->communicated_out_access_bytes;
    cts_comm_fill_bisection(r->comm->bisection_bytes, r->comm->bisection_dimensions,
                            r->comm->total.received_bytes, cells + 3);
    fill_counts(&r->comm->total, cells + 3 + CTS_COMM_BISECTION_CELLS);
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
    cells[1].text = cts_catalogue_kernel_name(r->catalogue, kernel->kernel);
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
    const struct cts_launch *const l = cts_comm_launch_row(r, row);
    cells[0].number = l->launch;
    cells[1].number = l->rank;
    cells[2].number = launch->superstep;
    cells[3].number = launch->ordinal;
    cells[4].number = l->kernel;
    cells[5].text = cts_catalogue_kernel_name(r->catalogue, l->kernel);
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
    const struct cts_launch *const l = cts_comm_launch_row(r, cta->launch);
    cells[0].number = l->launch;
    cells[1].text = cts_catalogue_kernel_name(r->catalogue, l->kernel);
    cells[2].number = cta->cta;
    cells[3].number = cta->counts.received_transfers;
    cells[4].number = cta->counts.sent_transfers;
    fill_counts(&cta->counts, cells + 5);
}

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
    const struct cts_launch *const l = cts_comm_launch_row(r, e->launch);
    union cts_cell degrees[5];
    cells[0].number = l->launch;
    cells[1].number = launch->superstep;
    cells[2].text = cts_catalogue_kernel_name(r->catalogue, l->kernel);
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

static const struct cts_column sm_columns[] = {
    {"launch", "launch", CTS_CELL_ID, false}, {"name", "kernel", CTS_CELL_KERNEL, false},
    {"device", NULL, CTS_CELL_ID, false},     {"sm", "SM", CTS_CELL_ID, false},
    {"ctas", "CTAs", CTS_CELL_COUNT, false},  COUNT_COLUMNS};

static void sm_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_sm *const sm = &r->comm->sms[row];
    const struct cts_launch *const l = cts_comm_launch_row(r, sm->launch);
    cells[0].number = l->launch;
    cells[1].text = cts_catalogue_kernel_name(r->catalogue, l->kernel);
    cells[2].number = sm->device;
    cells[3].number = sm->sm;
    cells[4].number = sm->cta_count;
    fill_counts(&sm->counts, cells + 5);
}

#undef X

_Static_assert(sizeof launch_columns / sizeof *launch_columns <= CTS_SHEET_COLUMNS_MAX,
               "the widest sheet");

struct cts_sheet cts_comm_sheet(const struct cts_comm_report *report, enum cts_comm_sheet which)
{
    const struct cts_comm *const c = report->comm;
    switch (which) {
    case CTS_COMM_SHEET_KERNEL:
        return CTS_SHEET("kernels", kernel_columns, c->kernel_count, kernel_row, report);
    case CTS_COMM_SHEET_LAUNCH:
        return CTS_SHEET("launches", launch_columns, c->launch_count, fill_launch, report);
    case CTS_COMM_SHEET_CTA:
        return CTS_SHEET("ctas", cta_columns, c->cta_count, cta_row, report);
    case CTS_COMM_SHEET_SUPERSTEP:
        return CTS_SHEET("evolution", evolution_columns, c->evolution_count, evolution_row, report);
    case CTS_COMM_SHEET_SM:
        return CTS_SHEET("sms", sm_columns, c->sm_count, sm_row, report);
    case CTS_COMM_SHEET_TRANSFER:
    case CTS_COMM_SHEET_TOP:
    case CTS_COMM_SHEET_KERNEL_PAIR:
    case CTS_COMM_SHEET_LAUNCH_PAIR:
    case CTS_COMM_SHEET_TRANSFER_SIZE:
    case CTS_COMM_SHEET_IN_DEGREE:
    case CTS_COMM_SHEET_OUT_DEGREE:
    case CTS_COMM_SHEET_DISTANCE:
        return cts_comm_sheet_of_pairs(report, which);
    case CTS_COMM_SHEET_SITE:
    case CTS_COMM_SHEET_ALLOCATION:
    case CTS_COMM_SHEET_ALLOCATION_PAIR:
    case CTS_COMM_SHEET_DEVICE_PAIR:
    case CTS_COMM_SHEET_STRIDE:
        return cts_comm_sheet_of_places(report, which);
    case CTS_COMM_SHEET_RUN:
    case CTS_COMM_SHEET_COUNT:
        break;
    }
    return CTS_SHEET("totals", run_columns, 1, run_row, report);
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
