/* The columns and rows of the communication analysis: transfers, pairs of launches and of kernels,
 * how many of which size, degree and distance. */
#include "report/comm-sheets.h"

/* ---- transfers and pairs ---- */

#define TRANSFER_COLUMNS(COLUMN)                                                                   \
    COLUMN(writer_launch, "from launch", ID, writer->launch)                                       \
    COLUMN(writer_kernel, "kernel", KERNEL,                                                        \
           cts_catalogue_kernel_name(r->catalogue, writer->kernel))                                \
    COLUMN(writer_cta, "CTA", ID, transfer->writer_cta)                                            \
    COLUMN(reader_launch, "to launch", ID, reader->launch)                                         \
    COLUMN(reader_kernel, "kernel", KERNEL,                                                        \
           cts_catalogue_kernel_name(r->catalogue, reader->kernel))                                \
    COLUMN(reader_cta, "CTA", ID, transfer->reader_cta)                                            \
    COLUMN(bytes, "bytes", BYTES, transfer->bytes)                                                 \
    COLUMN(access_bytes, NULL, BYTES, transfer->access_bytes)                                      \
    COLUMN(accesses, "accesses", COUNT, transfer->accesses)
CTS_SHEET_COLUMNS(transfer_columns, TRANSFER_COLUMNS);

static void fill_transfer(const struct cts_comm_report *r, const struct cts_comm_transfer *transfer,
                          struct cts_sheet_row *cells)
{
    const struct cts_launch *const writer = cts_comm_launch_row(r, transfer->writer_launch);
    const struct cts_launch *const reader = cts_comm_launch_row(r, transfer->reader_launch);
    CTS_SHEET_FILL(cells, TRANSFER_COLUMNS);
}

static void transfer_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    fill_transfer(r, &r->comm->transfers[row], cells);
}

static void top_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    fill_transfer(r, &r->comm->top[row], cells);
}

/* What pairs of launches and of kernels have in common. */
#define PAIR_COLUMNS(COLUMN, pair)                                                                 \
    COLUMN(shape, "shape", TEXT, cts_comm_shape_text((pair)->shape))                               \
    COLUMN(transfers, "transfers", COUNT, (pair)->transfers)                                       \
    COLUMN(bytes, "bytes", BYTES, (pair)->bytes)                                                   \
    COLUMN(distinct_bytes, "distinct", BYTES, (pair)->distinct_bytes)                              \
    COLUMN(access_bytes, NULL, BYTES, (pair)->access_bytes)                                        \
    COLUMN(accesses, NULL, COUNT, (pair)->accesses)                                                \
    COLUMN(senders, NULL, COUNT, (pair)->senders)                                                  \
    COLUMN(receivers, NULL, COUNT, (pair)->receivers)                                              \
    COLUMN(largest_out_degree, "max out", COUNT, (pair)->largest_out_degree)                       \
    COLUMN(largest_in_degree, "max in", COUNT, (pair)->largest_in_degree)                          \
    COLUMN(same_grid, NULL, FLAG, (pair)->same_grid)                                               \
    CTS_COMM_BISECTION_COLUMNS(COLUMN, "cut x", "cut y", "cut z", (pair)->bisection_bytes,         \
                               (pair)->bisection_dimensions, (pair)->bytes)                        \
    COLUMN(unordered, "unordered", FLAG, (pair)->unordered)

#define LAUNCH_PAIR_COLUMNS(COLUMN)                                                                \
    COLUMN(writer_launch, "from launch", ID, writer->launch)                                       \
    COLUMN(writer_kernel, "kernel", KERNEL,                                                        \
           cts_catalogue_kernel_name(r->catalogue, writer->kernel))                                \
    COLUMN(reader_launch, "to launch", ID, reader->launch)                                         \
    COLUMN(reader_kernel, "kernel", KERNEL,                                                        \
           cts_catalogue_kernel_name(r->catalogue, reader->kernel))                                \
    COLUMN(distance, "distance", COUNT,                                                            \
           r->comm->launches[pair->reader].ordinal - r->comm->launches[pair->writer].ordinal - 1)  \
    PAIR_COLUMNS(COLUMN, pair)
CTS_SHEET_COLUMNS(launch_pair_columns, LAUNCH_PAIR_COLUMNS);

static void launch_pair_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_pair *const pair = &r->comm->launch_pairs[row];
    const struct cts_launch *const writer = cts_comm_launch_row(r, pair->writer);
    const struct cts_launch *const reader = cts_comm_launch_row(r, pair->reader);
    CTS_SHEET_FILL(cells, LAUNCH_PAIR_COLUMNS);
}

#define KERNEL_PAIR_COLUMNS(COLUMN)                                                                \
    COLUMN(writer_kernel, NULL, ID, writer)                                                        \
    COLUMN(writer_name, "from kernel", KERNEL, cts_catalogue_kernel_name(r->catalogue, writer))    \
    COLUMN(reader_kernel, NULL, ID, reader)                                                        \
    COLUMN(reader_name, "to kernel", KERNEL, cts_catalogue_kernel_name(r->catalogue, reader))      \
    PAIR_COLUMNS(COLUMN, pair)
CTS_SHEET_COLUMNS(kernel_pair_columns, KERNEL_PAIR_COLUMNS);

static void kernel_pair_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_pair *const pair = &r->comm->kernel_pairs[row];
    const uint32_t writer = r->comm->kernels[pair->writer].kernel;
    const uint32_t reader = r->comm->kernels[pair->reader].kernel;
    CTS_SHEET_FILL(cells, KERNEL_PAIR_COLUMNS);
}

/* ---- distributions ---- */

#define DISTANCE_COLUMNS(COLUMN)                                                                   \
    COLUMN(distance, "distance", COUNT, distance->distance)                                        \
    COLUMN(transfers, "transfers", COUNT, distance->transfers)                                     \
    COLUMN(bytes, "bytes", BYTES, distance->bytes)                                                 \
    COLUMN(access_bytes, "accessed", BYTES, distance->access_bytes)                                \
    COLUMN(distinct_bytes, "distinct", BYTES, distance->distinct_bytes)
CTS_SHEET_COLUMNS(distance_columns, DISTANCE_COLUMNS);

static void distance_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_report *const r = state;
    const struct cts_comm_distance *const distance = &r->comm->distances[row];
    CTS_SHEET_FILL(cells, DISTANCE_COLUMNS);
}

#define SIZE_COLUMNS(COLUMN)                                                                       \
    COLUMN(bytes, "bytes", COUNT, entries[row].key)                                                \
    COLUMN(transfers, "transfers", COUNT, entries[row].value)
CTS_SHEET_COLUMNS(size_columns, SIZE_COLUMNS);
#define DEGREE_COLUMNS(COLUMN)                                                                     \
    COLUMN(degree, "degree", COUNT, entries[row].key)                                              \
    COLUMN(ctas, "CTAs", COUNT, entries[row].value)
CTS_SHEET_COLUMNS(degree_columns, DEGREE_COLUMNS);

static void size_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_map_entry *const entries = state;
    CTS_SHEET_FILL(cells, SIZE_COLUMNS);
}

static void degree_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_map_entry *const entries = state;
    CTS_SHEET_FILL(cells, DEGREE_COLUMNS);
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
        return CTS_SHEET("transfer_sizes", size_columns, c->transfer_size_count, size_row,
                         c->transfer_sizes);
    case CTS_COMM_SHEET_IN_DEGREE:
        return CTS_SHEET("in_degrees", degree_columns, c->in_degree_count, degree_row,
                         c->in_degrees);
    case CTS_COMM_SHEET_OUT_DEGREE:
        return CTS_SHEET("out_degrees", degree_columns, c->out_degree_count, degree_row,
                         c->out_degrees);
    default:
        return CTS_SHEET("distances", distance_columns, c->distance_count, distance_row, report);
    }
}
