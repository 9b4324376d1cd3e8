#include "report/partition-who.h"

#define COLUMNS(COLUMN)                                                                            \
    COLUMN(rank, "rank", ID, t->rank)                                                              \
    COLUMN(launch, "launch", ID, t->launch)                                                        \
    COLUMN(kernel, "kernel", KERNEL,                                                               \
           launch ? cts_catalogue_kernel_name(r->catalogue, launch->kernel) : NULL)                \
    COLUMN(cta, "CTA", ID, t->cta)                                                                 \
    COLUMN(x, "x", ID, t->cta % x)                                                                 \
    COLUMN(y, "y", ID, t->cta / x % y)                                                             \
    COLUMN(z, "z", ID, t->cta / x / y)                                                             \
    COLUMN(reads, "reads", FLAG, t->reads)                                                         \
    COLUMN(writes, "writes", FLAG, t->writes)
CTS_SHEET_COLUMNS(columns, COLUMNS);

static void fill_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_who_report *const r = state;
    const struct cts_toucher *const t = &r->touchers[row];
    const struct cts_launch *const launch = cts_catalogue_launch(r->catalogue, t->launch);
    const uint32_t x = launch && launch->grid[0] ? launch->grid[0] : 1;
    const uint32_t y = launch && launch->grid[1] ? launch->grid[1] : 1;
    CTS_SHEET_FILL(cells, COLUMNS);
}

struct cts_sheet cts_who_sheet(const struct cts_who_report *report)
{
    return CTS_SHEET("touchers", columns, report->count, fill_row, report);
}
