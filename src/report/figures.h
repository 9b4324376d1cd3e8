/* The figures of each analysis; docs/report.md says what they show and which figure of which paper
 * they answer. */
#ifndef CTS_REPORT_FIGURES_H
#define CTS_REPORT_FIGURES_H

#include "analyze/communication/communication.h"
#include "analyze/partition/partition.h"
#include "report/figure.h"

/* Adds to the list; a figure without anything to show is left out. */
CTS_MUST_CHECK enum cts_status cts_figures_of_comm(struct cts_figures *figures,
                                                   const struct cts_comm *comm,
                                                   struct cts_error *error);
/* Where it goes and comes from: variables, lines, distances, halves of the grid, strides. */
CTS_MUST_CHECK enum cts_status cts_figures_of_comm_where(struct cts_figures *figures,
                                                         const struct cts_catalogue *catalogue,
                                                         const struct cts_comm *comm,
                                                         struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_figures_of_partition(struct cts_figures *figures,
                                                        const struct cts_partition *partition,
                                                        struct cts_error *error);

#endif
