#include "report/partition-who.h"

static const struct cts_column columns[] = {{"rank", "rank", CTS_CELL_ID, false},
                                            {"launch", "launch", CTS_CELL_ID, false},
                                            {"kernel", "kernel", CTS_CELL_KERNEL, false},
                                            {"cta", "CTA", CTS_CELL_ID, false},
                                            {"x", "x", CTS_CELL_ID, false},
                                            {"y", "y", CTS_CELL_ID, false},
                                            {"z", "z", CTS_CELL_ID, false},
                                            {"reads", "reads", CTS_CELL_FLAG, false},
                                            {"writes", "writes", CTS_CELL_FLAG, false}};

static void fill_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_who_report *const r = state;
    const struct cts_toucher *const t = &r->touchers[row];
    const struct cts_launch *const launch = cts_catalogue_launch(r->catalogue, t->launch);
    const uint32_t x = launch && launch->grid[0] ? launch->grid[0] : 1;
    const uint32_t y = launch && launch->grid[1] ? launch->grid[1] : 1;
    cells[0].number = t->rank;
    cells[1].number = t->launch;
    cells[2].text = launch ? cts_catalogue_kernel_name(r->catalogue, launch->kernel) : NULL;
    cells[3].number = t->cta;
    cells[4].number = t->cta % x;
    cells[5].number = t->cta / x % y;
    cells[6].number = t->cta / x / y;
    cells[7].number = t->reads;
    cells[8].number = t->writes;
}

struct cts_sheet cts_who_sheet(const struct cts_who_report *report)
{
    return CTS_SHEET("touchers", columns, report->count, fill_row, report);
}
