/* The columns and rows of the partition analysis. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/partition.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum cts_partition_sheet cts_partition_sheet_named(const char *text)
{
    static const char *const names[] = {
#define X(name, word) word,
        CTS_PARTITION_SHEETS(X)
#undef X
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (!strcmp(names[i], text)) return (enum cts_partition_sheet)i;
    return CTS_PARTITION_SHEET_COUNT;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

static const struct cts_partition_report *report_of(const void *state)
{
    return state;
}

/* ---- the run ---- */

static const struct cts_column run_columns[] = {
    {"gpu_set_bytes", "GPU set", CTS_CELL_BYTES, false},
    {"host_set_bytes", "host set", CTS_CELL_BYTES, false},
    {"both_sets_bytes", "both", CTS_CELL_BYTES, false},
    {"working_set_bytes", "working set", CTS_CELL_BYTES, false},
    {"gpu_fraction", "GPU", CTS_CELL_FRACTION, false},
    {"host_fraction", "host", CTS_CELL_FRACTION, false},
    {"both_fraction", "both", CTS_CELL_FRACTION, false},
    {"critical_fraction", "critical", CTS_CELL_FRACTION, false},
    {"empty_gpu_sets", "launches without", CTS_CELL_COUNT, false},
    {"launches", NULL, CTS_CELL_COUNT, false},
    {"supersteps", NULL, CTS_CELL_COUNT, false},
    {"nodes", NULL, CTS_CELL_COUNT, false},
    {"ctas_per_vertex", NULL, CTS_CELL_COUNT, false},
    {"whole_no_overlap_s", NULL, CTS_CELL_REAL, false},
    {"whole_full_overlap_s", NULL, CTS_CELL_REAL, false},
    {"launch_gpu_sets_bytes", NULL, CTS_CELL_COUNT, false},
    {"launch_host_sets_bytes", NULL, CTS_CELL_COUNT, false},
    {"critical_bytes", NULL, CTS_CELL_COUNT, false},
    {"critical_base_bytes", NULL, CTS_CELL_COUNT, false},
    {"read_bytes", NULL, CTS_CELL_COUNT, false},
    {"written_bytes", NULL, CTS_CELL_COUNT, false},
    {"read_unique_bytes", NULL, CTS_CELL_COUNT, false},
    {"received_bytes", NULL, CTS_CELL_COUNT, false},
    {"written_unique_bytes", NULL, CTS_CELL_COUNT, false},
    {"conflict_bytes", NULL, CTS_CELL_COUNT, false},
    {"accesses", NULL, CTS_CELL_COUNT, false}};
enum { RUN_SUMS = 15 };

static void run_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_partition *const p = report_of(state)->partition;
    const struct cts_partition_sets *const sets = &p->sets;
    (void)row;
    cells[0].number = sets->gpu_bytes;
    cells[1].number = sets->host_bytes;
    cells[2].number = sets->both_bytes;
    cells[3].number = sets->working_bytes;
    cells[4].real = share(sets->gpu_bytes, sets->working_bytes);
    cells[5].real = share(sets->host_bytes, sets->working_bytes);
    cells[6].real = share(sets->both_bytes, sets->working_bytes);
    cells[7].real = share(p->total.critical_bytes, p->total.critical_base_bytes);
    cells[8].number = p->empty_gpu_sets;
    cells[9].number = p->launch_count;
    cells[10].number = p->superstep_count;
    cells[11].number = p->node_count;
    cells[12].number = p->coarsened_ctas;
    cells[13].real = p->whole.time.no_overlap_s;
    cells[14].real = p->whole.time.full_overlap_s;
    for (size_t i = 0; i < CTS_PARTITION_LAUNCH_FIELD_COUNT; i++)
        cells[RUN_SUMS + i].number = ((const uint64_t *)&p->total)[i];
}

/* ---- scales ---- */

static const struct cts_column scale_columns[] = {
    {"mapping", "mapping", CTS_CELL_TEXT, false},
    {"partitions", "p", CTS_CELL_ID, false},
    {"traffic_bytes", "traffic", CTS_CELL_BYTES, false},
    {"traffic_per_gpu_set", "x GPU set", CTS_CELL_REAL, false},
    {"share_of_written", "of written", CTS_CELL_FRACTION, false},
    {"traffic_per_written", NULL, CTS_CELL_REAL, false},
    {"shared_bytes", NULL, CTS_CELL_BYTES, false},
    {"replica_bytes", "replica", CTS_CELL_BYTES, false},
    {"held_bytes", "L2 holds", CTS_CELL_BYTES, false},
    {"touch_remote_read_bytes", "1st-touch rd", CTS_CELL_BYTES, false},
    {"touch_remote_write_bytes", "1st-touch wr", CTS_CELL_BYTES, false},
    {"owner_remote_write_bytes", NULL, CTS_CELL_COUNT, false},
    {"no_overlap_speedup", "speed-up", CTS_CELL_REAL, false},
    {"full_overlap_speedup", "overlapped", CTS_CELL_REAL, false},
    {"no_overlap_s", NULL, CTS_CELL_REAL, false},
    {"full_overlap_s", NULL, CTS_CELL_REAL, false},
    {"cta_imbalance", "imbalance", CTS_CELL_REAL, false},
    {"access_imbalance", NULL, CTS_CELL_REAL, false},
    {"byte_imbalance", NULL, CTS_CELL_REAL, false},
    {"idle_partitions", "idle", CTS_CELL_COUNT, false},
    {"idle_slots", NULL, CTS_CELL_COUNT, false},
    {"launches", NULL, CTS_CELL_COUNT, false},
    {"launch_least_bytes", NULL, CTS_CELL_REAL, false},
    {"launch_low_whisker_bytes", NULL, CTS_CELL_REAL, false},
    {"launch_quartile1_bytes", NULL, CTS_CELL_REAL, false},
    {"launch_median_bytes", NULL, CTS_CELL_REAL, false},
    {"launch_quartile3_bytes", NULL, CTS_CELL_REAL, false},
    {"launch_high_whisker_bytes", NULL, CTS_CELL_REAL, false},
    {"launch_most_bytes", NULL, CTS_CELL_REAL, false},
    {"launch_mean_bytes", NULL, CTS_CELL_REAL, false},
    {"launch_outliers", NULL, CTS_CELL_COUNT, false},
    {"found_from", NULL, CTS_CELL_TEXT, false}};

static void scale_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_partition *const p = report_of(state)->partition;
    const struct cts_partition_scale *const s = &p->scales[row];
    const struct cts_partition_box *const box = &s->box;
    const double reals[] = {box->least,     box->low_whisker,  box->quartile1, box->median,
                            box->quartile3, box->high_whisker, box->most,      box->mean};
    cells[0].text = p->mappings[s->mapping];
    cells[1].number = s->partition_count;
    cells[2].number = s->traffic_bytes;
    cells[3].real = share(s->traffic_bytes, p->sets.gpu_bytes);
    cells[4].real = share(s->shared_bytes, p->total.written_bytes);
    cells[5].real = share(s->traffic_bytes, p->total.written_bytes);
    cells[6].number = s->shared_bytes;
    cells[7].number = s->replica_bytes;
    cells[8].number = s->held_bytes;
    cells[9].number = s->touch_remote_read_bytes;
    cells[10].number = s->touch_remote_write_bytes;
    cells[11].number = s->owner_remote_write_bytes;
    cells[12].real = s->time.no_overlap_speedup;
    cells[13].real = s->time.full_overlap_speedup;
    cells[14].real = s->time.no_overlap_s;
    cells[15].real = s->time.full_overlap_s;
    cells[16].real = s->cta_imbalance;
    cells[17].real = s->access_imbalance;
    cells[18].real = s->byte_imbalance;
    cells[19].number = s->idle_partitions;
    cells[20].number = s->idle_slots;
    cells[21].number = box->count;
    for (size_t i = 0; i < COUNT_OF(reals); i++) cells[22 + i].real = reals[i];
    cells[30].number = box->outliers;
    cells[31].text = s->found_from;
}

/* ---- fits ---- */

static const struct cts_column fit_columns[] = {
    {"mapping", "mapping", CTS_CELL_TEXT, false},
    {"points", "points", CTS_CELL_COUNT, false},
    {"better", "better fit", CTS_CELL_TEXT, false},
    {"residual", "residual", CTS_CELL_FRACTION, false},
    {"linear_a", "a (a + b p)", CTS_CELL_REAL, false},
    {"linear_b", "b", CTS_CELL_REAL, false},
    {"linear_residual", "residual", CTS_CELL_FRACTION, false},
    {"limited_a", "a (a - a/(b+p))", CTS_CELL_REAL, false},
    {"limited_b", "b", CTS_CELL_REAL, false},
    {"limited_residual", "residual", CTS_CELL_FRACTION, false}};

static void fit_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_partition *const p = report_of(state)->partition;
    const struct cts_partition_fit *const fit = &p->fits[row];
    const double reals[] = {fit->linear_a,  fit->linear_b,  fit->linear_residual,
                            fit->limited_a, fit->limited_b, fit->limited_residual};
    cells[0].text = p->mappings[fit->mapping];
    cells[1].number = fit->point_count;
    cells[2].text = !fit->is_known ? NULL : fit->limited_is_better ? "a - a/(b+p)" : "a + b*p";
    cells[3].real = !fit->is_known           ? NAN
                    : fit->limited_is_better ? fit->limited_residual
                                             : fit->linear_residual;
    for (size_t i = 0; i < COUNT_OF(reals); i++) cells[4 + i].real = fit->is_known ? reals[i] : NAN;
}

/* ---- launches ---- */

static const struct cts_column launch_columns[] = {
    {"launch", "launch", CTS_CELL_ID, false},
    {"kernel", "kernel", CTS_CELL_KERNEL, false},
    {"superstep", "superstep", CTS_CELL_ID, false},
    {"ctas", "CTAs", CTS_CELL_COUNT, false},
    {"traffic_bytes", "traffic", CTS_CELL_BYTES, false},
    {"critical_fraction", "critical", CTS_CELL_FRACTION, false},
    {"gpu_set_bytes", "GPU set", CTS_CELL_BYTES, false},
    {"host_set_bytes", "host set", CTS_CELL_BYTES, false},
    {"critical_bytes", NULL, CTS_CELL_BYTES, false},
    {"critical_base_bytes", NULL, CTS_CELL_BYTES, false},
    {"read_bytes", "read", CTS_CELL_BYTES, false},
    {"written_bytes", "written", CTS_CELL_BYTES, false},
    {"read_unique_bytes", NULL, CTS_CELL_COUNT, false},
    {"received_bytes", NULL, CTS_CELL_COUNT, false},
    {"written_unique_bytes", NULL, CTS_CELL_COUNT, false},
    {"conflict_bytes", NULL, CTS_CELL_COUNT, false},
    {"accesses", NULL, CTS_CELL_COUNT, false},
    {"counted", NULL, CTS_CELL_FLAG, false},
    {"incomplete", "incomplete", CTS_CELL_FLAG, false}};
enum { LAUNCH_SUMS = 6 };

static void launch_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_partition_report *const r = state;
    const struct cts_partition_launch *const l = &r->partition->launches[row];
    const struct cts_launch *const from = &r->catalogue->launches[l->index];
    const struct cts_partition_scale *const scale = r->answer->scale;
    cells[0].number = from->launch;
    cells[1].text = cts_catalogue_kernel_name(r->catalogue, from->kernel);
    cells[2].number = l->superstep;
    cells[3].number = l->cta_count;
    cells[4].number = scale ? scale->launch_bytes[row] : 0;
    cells[5].real = share(l->sums.critical_bytes, l->sums.critical_base_bytes);
    for (size_t i = 0; i < CTS_PARTITION_LAUNCH_FIELD_COUNT; i++)
        cells[LAUNCH_SUMS + i].number = ((const uint64_t *)&l->sums)[i];
    cells[LAUNCH_SUMS + CTS_PARTITION_LAUNCH_FIELD_COUNT].number = l->counted;
    cells[LAUNCH_SUMS + CTS_PARTITION_LAUNCH_FIELD_COUNT + 1].number = l->incomplete;
}

/* ---- the detailed scale ---- */

static const struct cts_column part_columns[] = {
    {"partition", "partition", CTS_CELL_ID, false},
    {"ctas", "CTAs", CTS_CELL_COUNT, false},
    {"accesses", "accesses", CTS_CELL_COUNT, false},
    {"read_bytes", "read", CTS_CELL_BYTES, false},
    {"written_bytes", "written", CTS_CELL_BYTES, false},
    {"in_bytes", "in", CTS_CELL_BYTES, false},
    {"out_bytes", "out", CTS_CELL_BYTES, false}};

static void part_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_partition_scale *const scale = report_of(state)->answer->scale;
    const uint64_t *const fields = (const uint64_t *)&scale->parts[row];
    cells[0].number = row;
    for (size_t i = 0; i < sizeof(struct cts_partition_part) / sizeof *fields; i++)
        cells[1 + i].number = fields[i];
}

static const struct cts_column kernel_columns[] = {
    {"kernel", "kernel", CTS_CELL_KERNEL, false},
    {"sent_bytes", "traffic it wrote", CTS_CELL_BYTES, false},
    {"received_bytes", "traffic it read", CTS_CELL_BYTES, false}};

static void kernel_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_partition_report *const r = state;
    const struct cts_partition *const p = r->partition;
    uint64_t received = 0;
    for (size_t i = 0; i < p->launch_count; i++)
        if (r->catalogue->launches[p->launches[i].index].kernel == p->kernels[row])
            received += r->answer->scale->launch_bytes[i];
    cells[0].text = cts_catalogue_kernel_name(r->catalogue, p->kernels[row]);
    cells[1].number = r->answer->scale->kernel_bytes[row];
    cells[2].number = received;
}

static const struct cts_column allocation_columns[] = {
    {"variable", "variable", CTS_CELL_TEXT, false},
    {"path", "file", CTS_CELL_TEXT, false},
    {"line", "line", CTS_CELL_ID, false},
    {"traffic_bytes", "traffic", CTS_CELL_BYTES, false}};

static void allocation_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_partition_report *const r = state;
    const uint32_t index = r->partition->places[row].allocation;
    const struct cts_allocation *const a =
        index == CTS_NONE ? NULL : &r->catalogue->allocations[index];
    cells[0].text = a ? (a->variable ? a->variable : "?") : "(others)";
    cells[1].text = a ? a->path : NULL;
    cells[2].number = a ? a->line : 0;
    cells[3].number = r->answer->scale->allocation_bytes[row];
}

/* ---- by name ---- */

struct cts_sheet cts_partition_sheet(const struct cts_partition_report *report,
                                     enum cts_partition_sheet which)
{
    const struct cts_partition *const p = report->partition;
    const struct cts_partition_scale *const scale = report->answer->scale;
    switch (which) {
    case CTS_PARTITION_SHEET_SCALE:
        return CTS_SHEET("scales", scale_columns, p->scale_count, scale_row, report);
    case CTS_PARTITION_SHEET_FIT:
        return CTS_SHEET("fits", fit_columns, p->mapping_count, fit_row, report);
    case CTS_PARTITION_SHEET_LAUNCH:
        return CTS_SHEET("launches", launch_columns, p->launch_count, launch_row, report);
    case CTS_PARTITION_SHEET_PARTITION:
        return CTS_SHEET("partitions", part_columns, scale ? scale->partition_count : 0, part_row,
                         report);
    case CTS_PARTITION_SHEET_KERNEL:
        return CTS_SHEET("kernels", kernel_columns, scale ? p->kernel_count : 0, kernel_row,
                         report);
    case CTS_PARTITION_SHEET_ALLOCATION:
        return CTS_SHEET("allocations", allocation_columns, scale ? p->place_count : 0,
                         allocation_row, report);
    case CTS_PARTITION_SHEET_RUN:
    case CTS_PARTITION_SHEET_COUNT:
        break;
    }
    return CTS_SHEET("totals", run_columns, 1, run_row, report);
}
