/* What the files of the communication analysis' sheets share: comm-sheets.c (the run, kernels,
 * launches, CTAs, multiprocessors), comm-sheets-pairs.c (who sends to whom, how much, how far) and
 * comm-sheets-where.c (sites, allocations, devices, strides). */
#ifndef CTS_REPORT_COMM_SHEETS_H
#define CTS_REPORT_COMM_SHEETS_H

#include "report/comm.h"

/* Bisection volumes; a fraction is of the transfers' bytes, and nothing where no grid has more than
 * one CTA in the dimension. */
#define CTS_COMM_BISECTION_COLUMNS(title_x, title_y, title_z)                                      \
    {"bisection_x_bytes", NULL, CTS_CELL_BYTES, false},                                            \
        {"bisection_x_fraction", title_x, CTS_CELL_FRACTION, false},                               \
        {"bisection_y_bytes", NULL, CTS_CELL_BYTES, false},                                        \
        {"bisection_y_fraction", title_y, CTS_CELL_FRACTION, false},                               \
        {"bisection_z_bytes", NULL, CTS_CELL_BYTES, false},                                        \
    {                                                                                              \
        "bisection_z_fraction", title_z, CTS_CELL_FRACTION, false                                  \
    }
enum { CTS_COMM_BISECTION_CELLS = 6 };

/* Fills those cells: bytes in x, y and z, over `all`; a bit of `dimensions` for each that has any.
 */
void cts_comm_fill_bisection(const uint64_t bytes[3], unsigned dimensions, uint64_t all,
                             union cts_cell *cells);

/* The catalogue's row of a launch, by its index in the result. */
const struct cts_launch *cts_comm_launch_row(const struct cts_comm_report *report, size_t launch);

/* The sheets of the two other files. */
struct cts_sheet cts_comm_sheet_of_pairs(const struct cts_comm_report *report,
                                         enum cts_comm_sheet which);
struct cts_sheet cts_comm_sheet_of_places(const struct cts_comm_report *report,
                                          enum cts_comm_sheet which);

#endif
