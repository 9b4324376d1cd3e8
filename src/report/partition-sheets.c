/* The columns and rows of the partition analysis. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/partition-report.h"

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

#define RUN_COLUMNS(COLUMN)                                                                        \
    COLUMN(gpu_set_bytes, "GPU set", BYTES, sets->gpu_bytes)                                       \
    COLUMN(host_set_bytes, "host set", BYTES, sets->host_bytes)                                    \
    COLUMN(both_sets_bytes, "both", BYTES, sets->both_bytes)                                       \
    COLUMN(working_set_bytes, "working set", BYTES, sets->working_bytes)                           \
    COLUMN(gpu_fraction, "GPU", FRACTION, share(sets->gpu_bytes, sets->working_bytes))             \
    COLUMN(host_fraction, "host", FRACTION, share(sets->host_bytes, sets->working_bytes))          \
    COLUMN(both_fraction, "both", FRACTION, share(sets->both_bytes, sets->working_bytes))          \
    COLUMN(critical_fraction, "critical", FRACTION,                                                \
           share(p->total.critical_bytes, p->total.critical_base_bytes))                           \
    COLUMN(empty_gpu_sets, "launches without", COUNT, p->empty_gpu_sets)                           \
    COLUMN(launches, NULL, COUNT, p->launch_count)                                                 \
    COLUMN(supersteps, NULL, COUNT, p->superstep_count)                                            \
    COLUMN(nodes, NULL, COUNT, p->node_count)                                                      \
    COLUMN(ctas_per_vertex, NULL, COUNT, p->coarsened_ctas)                                        \
    COLUMN(whole_no_overlap_s, NULL, REAL, p->whole.time.no_overlap_s)                             \
    COLUMN(whole_full_overlap_s, NULL, REAL, p->whole.time.full_overlap_s)                         \
    COLUMN(launch_gpu_sets_bytes, NULL, COUNT, p->total.gpu_set_bytes)                             \
    COLUMN(launch_host_sets_bytes, NULL, COUNT, p->total.host_set_bytes)                           \
    COLUMN(critical_bytes, NULL, COUNT, p->total.critical_bytes)                                   \
    COLUMN(critical_base_bytes, NULL, COUNT, p->total.critical_base_bytes)                         \
    COLUMN(read_bytes, NULL, COUNT, p->total.read_bytes)                                           \
    COLUMN(written_bytes, NULL, COUNT, p->total.written_bytes)                                     \
    COLUMN(read_unique_bytes, NULL, COUNT, p->total.read_unique_bytes)                             \
    COLUMN(received_bytes, NULL, COUNT, p->total.received_bytes)                                   \
    COLUMN(written_unique_bytes, NULL, COUNT, p->total.written_unique_bytes)                       \
    COLUMN(conflict_bytes, NULL, COUNT, p->total.conflict_bytes)                                   \
    COLUMN(accesses, NULL, COUNT, p->total.accesses)
CTS_SHEET_COLUMNS(run_columns, RUN_COLUMNS);

static void run_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_partition *const p = report_of(state)->partition;
    const struct cts_partition_sets *const sets = &p->sets;
    (void)row;
    CTS_SHEET_FILL(cells, RUN_COLUMNS);
}

/* ---- scales ---- */

#define SCALE_COLUMNS(COLUMN)                                                                      \
    COLUMN(mapping, "mapping", TEXT, p->mappings[s->mapping])                                      \
    COLUMN(partitions, "p", ID, s->partition_count)                                                \
    COLUMN(traffic_bytes, "traffic", BYTES, s->traffic_bytes)                                      \
    COLUMN(traffic_per_gpu_set, "x GPU set", REAL, share(s->traffic_bytes, p->sets.gpu_bytes))     \
    COLUMN(share_of_written, "of written", FRACTION,                                               \
           share(s->shared_bytes, p->total.written_bytes))                                         \
    COLUMN(traffic_per_written, NULL, REAL, share(s->traffic_bytes, p->total.written_bytes))       \
    COLUMN(shared_bytes, NULL, BYTES, s->shared_bytes)                                             \
    COLUMN(replica_bytes, "replica", BYTES, s->replica_bytes)                                      \
    COLUMN(held_bytes, "L2 holds", BYTES, s->held_bytes)                                           \
    COLUMN(touch_remote_read_bytes, "1st-touch rd", BYTES, s->touch_remote_read_bytes)             \
    COLUMN(touch_remote_write_bytes, "1st-touch wr", BYTES, s->touch_remote_write_bytes)           \
    COLUMN(owner_remote_write_bytes, NULL, COUNT, s->owner_remote_write_bytes)                     \
    COLUMN(no_overlap_speedup, "speed-up", REAL, s->time.no_overlap_speedup)                       \
    COLUMN(full_overlap_speedup, "overlapped", REAL, s->time.full_overlap_speedup)                 \
    COLUMN(no_overlap_s, NULL, REAL, s->time.no_overlap_s)                                         \
    COLUMN(full_overlap_s, NULL, REAL, s->time.full_overlap_s)                                     \
    COLUMN(cta_imbalance, "imbalance", REAL, s->cta_imbalance)                                     \
    COLUMN(access_imbalance, NULL, REAL, s->access_imbalance)                                      \
    COLUMN(byte_imbalance, NULL, REAL, s->byte_imbalance)                                          \
    COLUMN(idle_partitions, "idle", COUNT, s->idle_partitions)                                     \
    COLUMN(idle_slots, NULL, COUNT, s->idle_slots)                                                 \
    COLUMN(launches, NULL, COUNT, box->count)                                                      \
    COLUMN(launch_least_bytes, NULL, REAL, box->least)                                             \
    COLUMN(launch_low_whisker_bytes, NULL, REAL, box->low_whisker)                                 \
    COLUMN(launch_quartile1_bytes, NULL, REAL, box->quartile1)                                     \
    COLUMN(launch_median_bytes, NULL, REAL, box->median)                                           \
    COLUMN(launch_quartile3_bytes, NULL, REAL, box->quartile3)                                     \
    COLUMN(launch_high_whisker_bytes, NULL, REAL, box->high_whisker)                               \
    COLUMN(launch_most_bytes, NULL, REAL, box->most)                                               \
    COLUMN(launch_mean_bytes, NULL, REAL, box->mean)                                               \
    COLUMN(launch_outliers, NULL, COUNT, box->outliers)                                            \
    COLUMN(found_from, NULL, TEXT, s->found_from)
CTS_SHEET_COLUMNS(scale_columns, SCALE_COLUMNS);

static void scale_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_partition *const p = report_of(state)->partition;
    const struct cts_partition_scale *const s = &p->scales[row];
    const struct cts_partition_box *const box = &s->box;
    CTS_SHEET_FILL(cells, SCALE_COLUMNS);
}

/* ---- fits ---- */

static double known(const struct cts_partition_fit *fit, double value)
{
    return fit->is_known ? value : NAN;
}

#define FIT_COLUMNS(COLUMN)                                                                        \
    COLUMN(mapping, "mapping", TEXT, p->mappings[fit->mapping])                                    \
    COLUMN(points, "points", COUNT, fit->point_count)                                              \
    COLUMN(better, "better fit", TEXT,                                                             \
           !fit->is_known           ? NULL                                                         \
           : fit->limited_is_better ? "a - a/(b+p)"                                                \
                                    : "a + b*p")                                                   \
    COLUMN(residual, "residual", FRACTION,                                                         \
           known(fit, fit->limited_is_better ? fit->limited_residual : fit->linear_residual))      \
    COLUMN(linear_a, "a (a + b p)", REAL, known(fit, fit->linear_a))                               \
    COLUMN(linear_b, "b", REAL, known(fit, fit->linear_b))                                         \
    COLUMN(linear_residual, "residual", FRACTION, known(fit, fit->linear_residual))                \
    COLUMN(limited_a, "a (a - a/(b+p))", REAL, known(fit, fit->limited_a))                         \
    COLUMN(limited_b, "b", REAL, known(fit, fit->limited_b))                                       \
    COLUMN(limited_residual, "residual", FRACTION, known(fit, fit->limited_residual))
CTS_SHEET_COLUMNS(fit_columns, FIT_COLUMNS);

static void fit_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_partition *const p = report_of(state)->partition;
    const struct cts_partition_fit *const fit = &p->fits[row];
    CTS_SHEET_FILL(cells, FIT_COLUMNS);
}

/* ---- launches ---- */

#define LAUNCH_COLUMNS(COLUMN)                                                                     \
    COLUMN(launch, "launch", ID, from->launch)                                                     \
    COLUMN(kernel, "kernel", KERNEL, cts_catalogue_kernel_name(r->catalogue, from->kernel))        \
    COLUMN(superstep, "superstep", ID, l->superstep)                                               \
    COLUMN(ctas, "CTAs", COUNT, l->cta_count)                                                      \
    COLUMN(traffic_bytes, "traffic", BYTES, scale ? scale->launch_bytes[row] : 0)                  \
    COLUMN(critical_fraction, "critical", FRACTION,                                                \
           share(l->sums.critical_bytes, l->sums.critical_base_bytes))                             \
    COLUMN(gpu_set_bytes, "GPU set", BYTES, l->sums.gpu_set_bytes)                                 \
    COLUMN(host_set_bytes, "host set", BYTES, l->sums.host_set_bytes)                              \
    COLUMN(critical_bytes, NULL, BYTES, l->sums.critical_bytes)                                    \
    COLUMN(critical_base_bytes, NULL, BYTES, l->sums.critical_base_bytes)                          \
    COLUMN(read_bytes, "read", BYTES, l->sums.read_bytes)                                          \
    COLUMN(written_bytes, "written", BYTES, l->sums.written_bytes)                                 \
    COLUMN(read_unique_bytes, NULL, COUNT, l->sums.read_unique_bytes)                              \
    COLUMN(received_bytes, NULL, COUNT, l->sums.received_bytes)                                    \
    COLUMN(written_unique_bytes, NULL, COUNT, l->sums.written_unique_bytes)                        \
    COLUMN(conflict_bytes, NULL, COUNT, l->sums.conflict_bytes)                                    \
    COLUMN(accesses, NULL, COUNT, l->sums.accesses)                                                \
    COLUMN(counted, NULL, FLAG, l->counted)                                                        \
    COLUMN(incomplete, "incomplete", FLAG, l->incomplete)
CTS_SHEET_COLUMNS(launch_columns, LAUNCH_COLUMNS);

static void launch_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_partition_report *const r = state;
    const struct cts_partition_launch *const l = &r->partition->launches[row];
    const struct cts_launch *const from = &r->catalogue->launches[l->index];
    const struct cts_partition_scale *const scale = r->answer->scale;
    CTS_SHEET_FILL(cells, LAUNCH_COLUMNS);
}

/* ---- the detailed scale ---- */

#define PART_COLUMNS(COLUMN)                                                                       \
    COLUMN(partition, "partition", ID, row)                                                        \
    COLUMN(ctas, "CTAs", COUNT, part->ctas)                                                        \
    COLUMN(accesses, "accesses", COUNT, part->accesses)                                            \
    COLUMN(read_bytes, "read", BYTES, part->read_bytes)                                            \
    COLUMN(written_bytes, "written", BYTES, part->written_bytes)                                   \
    COLUMN(in_bytes, "in", BYTES, part->in_bytes)                                                  \
    COLUMN(out_bytes, "out", BYTES, part->out_bytes)
CTS_SHEET_COLUMNS(part_columns, PART_COLUMNS);

static void part_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_partition_scale *const scale = report_of(state)->answer->scale;
    const struct cts_partition_part *const part = &scale->parts[row];
    CTS_SHEET_FILL(cells, PART_COLUMNS);
}

#define KERNEL_COLUMNS(COLUMN)                                                                     \
    COLUMN(kernel, "kernel", KERNEL, cts_catalogue_kernel_name(r->catalogue, p->kernels[row]))     \
    COLUMN(sent_bytes, "traffic it wrote", BYTES, r->answer->scale->kernel_bytes[row])             \
    COLUMN(received_bytes, "traffic it read", BYTES, received)
CTS_SHEET_COLUMNS(kernel_columns, KERNEL_COLUMNS);

static void kernel_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_partition_report *const r = state;
    const struct cts_partition *const p = r->partition;
    uint64_t received = 0;
    for (size_t i = 0; i < p->launch_count; i++)
        if (r->catalogue->launches[p->launches[i].index].kernel == p->kernels[row])
            received += r->answer->scale->launch_bytes[i];
    CTS_SHEET_FILL(cells, KERNEL_COLUMNS);
}

#define ALLOCATION_COLUMNS(COLUMN)                                                                 \
    COLUMN(variable, "variable", TEXT, a ? (a->variable ? a->variable : "?") : "(others)")         \
    COLUMN(path, "file", TEXT, a ? a->path : NULL)                                                 \
    COLUMN(line, "line", ID, a ? a->line : 0)                                                      \
    COLUMN(traffic_bytes, "traffic", BYTES, r->answer->scale->allocation_bytes[row])
CTS_SHEET_COLUMNS(allocation_columns, ALLOCATION_COLUMNS);

static void allocation_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_partition_report *const r = state;
    const uint32_t index = r->partition->places[row].allocation;
    const struct cts_allocation *const a =
        index == CTS_NONE ? NULL : &r->catalogue->allocations[index];
    CTS_SHEET_FILL(cells, ALLOCATION_COLUMNS);
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
