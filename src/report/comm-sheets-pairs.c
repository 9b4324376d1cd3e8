/* The columns and rows of the communication analysis: transfers, pairs of launches and of kernels,
 * how many of which size, degree and distance. */
#include "report/comm-sheets.h"

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
    const struct cts_launch *const writer = cts_comm_launch_row(r, transfer->writer_launch);
    const struct cts_launch *const reader = cts_comm_launch_row(r, transfer->reader_launch);
    cells[0].number = writer->launch;
    cells[1].text = cts_catalogue_kernel_name(r->catalogue, writer->kernel);
    cells[2].number = transfer->writer_cta;
    cells[3].number = reader->launch;
    cells[4].text = cts_catalogue_kernel_name(r->catalogue, reader->kernel);
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
        {"same_grid", NULL, CTS_CELL_FLAG, false},                                                 \
        CTS_COMM_BISECTION_COLUMNS("cut x", "cut y", "cut z"),                                     \
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
    cts_comm_fill_bisection(pair->bisection_bytes, pair->bisection_dimensions, pair->bytes,
                            cells + 11);
    cells[11 + CTS_COMM_BISECTION_CELLS].number = pair->unordered;
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
    const struct cts_launch *const writer = cts_comm_launch_row(r, pair->writer);
    const struct cts_launch *const reader = cts_comm_launch_row(r, pair->reader);
    cells[0].number = writer->launch;
    cells[1].text = cts_catalogue_kernel_name(r->catalogue, writer->kernel);
    cells[2].number = reader->launch;
    cells[3].text = cts_catalogue_kernel_name(r->catalogue, reader->kernel);
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
    cells[1].text = cts_catalogue_kernel_name(r->catalogue, (uint32_t)cells[0].number);
    cells[2].number = r->comm->kernels[pair->reader].kernel;
    cells[3].text = cts_catalogue_kernel_name(r->catalogue, (uint32_t)cells[2].number);
    fill_pair(pair, cells + 4);
}

/* ---- distributions ---- */

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

struct cts_sheet cts_comm_sheet_of_pairs(const struct cts_comm_report *report,
                                         enum cts_comm_sheet which)
{
    const struct cts_comm *const c = report->comm;
    switch (which) {
    case CTS_COMM_SHEET_TRANSFER:
        return CTS_SHEET("transfers", transfer_columns, c->transfer_count, transfer_row, report);
    case CTS_COMM_SHEET_TOP:
        return CTS_SHEET("top_transfers", transfer_columns, c->top_count, top_row, report);
    case CTS_COMM_SHEET_KERNEL_PAIR:
        return CTS_SHEET("kernel_pairs", kernel_pair_columns, c->kernel_pair_count, kernel_pair_row,
                         report);
    case CTS_COMM_SHEET_LAUNCH_PAIR:
        return CTS_SHEET("launch_pairs", launch_pair_columns, c->launch_pair_count, launch_pair_row,
                         report);
    case CTS_COMM_SHEET_TRANSFER_SIZE:
        return CTS_SHEET("transfer_sizes", size_columns, c->transfer_size_count, entry_row,
                         c->transfer_sizes);
    case CTS_COMM_SHEET_IN_DEGREE:
        return CTS_SHEET("in_degrees", degree_columns, c->in_degree_count, entry_row,
                         c->in_degrees);
    case CTS_COMM_SHEET_OUT_DEGREE:
        return CTS_SHEET("out_degrees", degree_columns, c->out_degree_count, entry_row,
                         c->out_degrees);
    default:
        return CTS_SHEET("distances", distance_columns, c->distance_count, distance_row, report);
    }
}
