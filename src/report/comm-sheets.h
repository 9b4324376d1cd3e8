/* What the files of the communication analysis' sheets share: comm-sheets.c (the run, kernels,
 * launches, CTAs, multiprocessors), comm-sheets-pairs.c (who sends to whom, how much, how far) and
 * comm-sheets-where.c (sites, allocations, devices, strides). */
#ifndef CTS_REPORT_COMM_SHEETS_H
#define CTS_REPORT_COMM_SHEETS_H

#include "report/comm.h"

/* Bisection volumes in x, y and z, `bytes`; a fraction is of `all` transfers' bytes, and nothing
 * where no grid has more than one CTA in the dimension: that has no bit in `dimensions`. */
#define CTS_COMM_BISECTION_COLUMNS(COLUMN, title_x, title_y, title_z, bytes, dimensions, all)      \
    COLUMN(bisection_x_bytes, NULL, BYTES, (bytes)[0])                                             \
    COLUMN(bisection_x_fraction, title_x, FRACTION, cts_comm_cut(bytes, dimensions, all, 0))       \
    COLUMN(bisection_y_bytes, NULL, BYTES, (bytes)[1])                                             \
    COLUMN(bisection_y_fraction, title_y, FRACTION, cts_comm_cut(bytes, dimensions, all, 1))       \
    COLUMN(bisection_z_bytes, NULL, BYTES, (bytes)[2])                                             \
    COLUMN(bisection_z_fraction, title_z, FRACTION, cts_comm_cut(bytes, dimensions, all, 2))
double cts_comm_cut(const uint64_t bytes[3], unsigned dimensions, uint64_t all, unsigned dimension);

/* The catalogue's row of a launch, by its index in the result. */
const struct cts_launch *cts_comm_launch_row(const struct cts_comm_report *report, size_t launch);

/* The sheets of the two other files. */
struct cts_sheet cts_comm_sheet_of_pairs(const struct cts_comm_report *report,
                                         enum cts_comm_sheet which);
struct cts_sheet cts_comm_sheet_of_places(const struct cts_comm_report *report,
                                          enum cts_comm_sheet which);

#endif
