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

static double communicated_fraction(const struct cts_comm_counts *counts)
{
    const uint64_t written = cts_comm_ratio_written(counts);
    return written ? (double)cts_comm_ratio_communicated(counts) / (double)written : NAN;
}

#define COUNT_COLUMNS(COLUMN, counts)                                                              \
    COLUMN(read, "read", TABLE_BYTES, (counts)->global_read_unique_bytes)                          \
    COLUMN(written, "written", TABLE_BYTES, (counts)->global_written_unique_bytes)                 \
    COLUMN(communicated, "communicated", TABLE_BYTES, (counts)->communicated_out_bytes)            \
    COLUMN(communicated_fraction, "fraction", FRACTION, communicated_fraction(counts))             \
    COLUMN(received, "received", TABLE_BYTES, (counts)->received_bytes)                            \
    COLUMN(ratio_written_bytes, NULL, BYTES, cts_comm_ratio_written(counts))                       \
    COLUMN(ratio_communicated_bytes, NULL, BYTES, cts_comm_ratio_communicated(counts))             \
    COLUMN##_EACH(CTS_COMM_FIELDS, counts)

/* ---- run, kernels, launches, CTAs ---- */

#define RUN_COLUMNS(COLUMN)                                                                        \
    COLUMN(launches, "launches", COUNT, r->comm->launch_count)                                     \
    COLUMN(nodes, "CTAs", COUNT, r->comm->node_count)                                              \
    COLUMN(communicated_out_access_bytes, NULL, BYTES, r->comm->communicated_out_access_bytes)     \
    CTS_COMM_BISECTION_COLUMNS(COLUMN, NULL, NULL, NULL, r->comm->bisection_bytes,                 \
                               r->comm->bisection_dimensions, r->comm->total.received_bytes)       \
    COUNT_COLUMNS(COLUMN, &r->comm->total)
CTS_SHEET_COLUMNS(run_columns, RUN_COLUMNS);

static void run_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    (void)row;
    CTS_SHEET_FILL(cells, RUN_COLUMNS);
}

#define KERNEL_COLUMNS(COLUMN)                                                                     \
    COLUMN(kernel, NULL, ID, kernel->kernel)                                                       \
    COLUMN(name, "kernel", KERNEL, cts_catalogue_kernel_name(r->catalogue, kernel->kernel))        \
    COLUMN(launches, "launches", COUNT, kernel->launch_count)                                      \
    COLUMN(communicated_out_access_bytes, NULL, BYTES, kernel->communicated_out_access_bytes)      \
    COUNT_COLUMNS(COLUMN, &kernel->counts)
CTS_SHEET_COLUMNS(kernel_columns, KERNEL_COLUMNS);

static void kernel_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_kernel *const kernel = &r->comm->kernels[row];
    CTS_SHEET_FILL(cells, KERNEL_COLUMNS);
}

static double degree_mean(const struct cts_comm_degree *degree)
{
    return degree->cta_count ? cts_comm_degree_mean(degree) : NAN;
}

static double degree_deviation(const struct cts_comm_degree *degree)
{
    return degree->cta_count ? cts_comm_degree_deviation(degree) : NAN;
}

#define DEGREE_COLUMNS(COLUMN, name, title, degree)                                                \
    COLUMN(name##_degree_mean, title, REAL, degree_mean(degree))                                   \
    COLUMN(name##_degree_deviation, "+-", REAL, degree_deviation(degree))                          \
    COLUMN(name##_degree_smallest, NULL, COUNT, (degree)->smallest)                                \
    COLUMN(name##_degree_largest, NULL, COUNT, (degree)->largest)                                  \
    COLUMN(name##_degree_sum, NULL, COUNT, (degree)->sum)

#define LAUNCH_COLUMNS(COLUMN)                                                                     \
    COLUMN(launch, "launch", ID, l->launch)                                                        \
    COLUMN(rank, NULL, ID, l->rank)                                                                \
    COLUMN(superstep, NULL, ID, launch->superstep)                                                 \
    COLUMN(ordinal, NULL, ID, launch->ordinal)                                                     \
    COLUMN(kernel, NULL, ID, l->kernel)                                                            \
    COLUMN(name, "kernel", KERNEL, cts_catalogue_kernel_name(r->catalogue, l->kernel))             \
    COLUMN(stream, NULL, ID, l->stream)                                                            \
    COLUMN(grid_x, NULL, COUNT, l->grid[0])                                                        \
    COLUMN(grid_y, NULL, COUNT, l->grid[1])                                                        \
    COLUMN(grid_z, NULL, COUNT, l->grid[2])                                                        \
    COLUMN(ctas, "CTAs", COUNT, launch->cta_count)                                                 \
    COLUMN(recorded, NULL, FLAG, launch->counted)                                                  \
    COLUMN(incomplete, NULL, FLAG, launch->incomplete)                                             \
    DEGREE_COLUMNS(COLUMN, in, "in-degree", &launch->in_degree)                                    \
    DEGREE_COLUMNS(COLUMN, out, "out-degree", &launch->out_degree)                                 \
    COLUMN(communicated_out_access_bytes, NULL, BYTES, launch->communicated_out_access_bytes)      \
    COUNT_COLUMNS(COLUMN, &launch->counts)
CTS_SHEET_COLUMNS(launch_columns, LAUNCH_COLUMNS);

static void fill_launch(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_launch *const launch = &r->comm->launches[row];
    const struct cts_launch *const l = cts_comm_launch_row(r, row);
    CTS_SHEET_FILL(cells, LAUNCH_COLUMNS);
}

#define CTA_COLUMNS(COLUMN)                                                                        \
    COLUMN(launch, "launch", ID, l->launch)                                                        \
    COLUMN(name, "kernel", KERNEL, cts_catalogue_kernel_name(r->catalogue, l->kernel))             \
    COLUMN(cta, "CTA", ID, cta->cta)                                                               \
    COLUMN(in_degree, "in-degree", COUNT, cta->counts.received_transfers)                          \
    COLUMN(out_degree, "out-degree", COUNT, cta->counts.sent_transfers)                            \
    COUNT_COLUMNS(COLUMN, &cta->counts)
CTS_SHEET_COLUMNS(cta_columns, CTA_COLUMNS);

static void cta_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_cta *const cta = &r->comm->ctas[row];
    const struct cts_launch *const l = cts_comm_launch_row(r, cta->launch);
    CTS_SHEET_FILL(cells, CTA_COLUMNS);
}

#define EVOLUTION_COLUMNS(COLUMN)                                                                  \
    COLUMN(launch, "launch", ID, l->launch)                                                        \
    COLUMN(superstep, "superstep", ID, launch->superstep)                                          \
    COLUMN(name, "kernel", KERNEL, cts_catalogue_kernel_name(r->catalogue, l->kernel))             \
    COLUMN(stream, NULL, ID, l->stream)                                                            \
    COLUMN(load_bytes, "loads", BYTES, e->load_bytes)                                              \
    COLUMN(load_access_bytes, NULL, BYTES, e->load_access_bytes)                                   \
    COLUMN(store_bytes, "stores", BYTES, e->store_bytes)                                           \
    COLUMN(store_access_bytes, NULL, BYTES, e->store_access_bytes)                                 \
    COLUMN(in_degree_mean, "in-degree", REAL, degree_mean(&launch->in_degree))                     \
    COLUMN(in_degree_deviation, "+-", REAL, degree_deviation(&launch->in_degree))                  \
    COLUMN(out_degree_mean, "out-degree", REAL, degree_mean(&launch->out_degree))                  \
    COLUMN(out_degree_deviation, "+-", REAL, degree_deviation(&launch->out_degree))
CTS_SHEET_COLUMNS(evolution_columns, EVOLUTION_COLUMNS);

static void evolution_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_evolution *const e = &r->comm->evolution[row];
    const struct cts_comm_launch *const launch = &r->comm->launches[e->launch];
    const struct cts_launch *const l = cts_comm_launch_row(r, e->launch);
    CTS_SHEET_FILL(cells, EVOLUTION_COLUMNS);
}

#define SM_COLUMNS(COLUMN)                                                                         \
    COLUMN(launch, "launch", ID, l->launch)                                                        \
    COLUMN(name, "kernel", KERNEL, cts_catalogue_kernel_name(r->catalogue, l->kernel))             \
    COLUMN(device, NULL, ID, sm->device)                                                           \
    COLUMN(sm, "SM", ID, sm->sm)                                                                   \
    COLUMN(ctas, "CTAs", COUNT, sm->cta_count)                                                     \
    COUNT_COLUMNS(COLUMN, &sm->counts)
CTS_SHEET_COLUMNS(sm_columns, SM_COLUMNS);

static void sm_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_sm *const sm = &r->comm->sms[row];
    const struct cts_launch *const l = cts_comm_launch_row(r, sm->launch);
    CTS_SHEET_FILL(cells, SM_COLUMNS);
}

static struct cts_sheet sheet_of(const struct cts_comm_report *report, enum cts_comm_sheet which)
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

/* Constant memory of unmodified GPU programs is not recorded: no number says how much it was. */
struct cts_sheet cts_comm_sheet_of(const struct cts_comm_report *report, enum cts_comm_sheet which)
{
    struct cts_sheet sheet = sheet_of(report, which);
    if (cts_catalogue_lacks_constants(report->catalogue)) sheet.unknown = "constant_";
    return sheet;
}
