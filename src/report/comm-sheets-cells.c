/* What cells of several of the communication analysis' sheets share. */
#include <math.h>

#include "report/comm-sheets.h"

const struct cts_launch *cts_comm_launch_row(const struct cts_comm_report *r, size_t launch)
{
    return &r->catalogue->launches[r->comm->launches[launch].index];
}

double cts_comm_cut(const uint64_t bytes[3], unsigned dimensions, uint64_t all, unsigned dimension)
{
    return all && (dimensions >> dimension & 1) ? (double)bytes[dimension] / (double)all : NAN;
}
