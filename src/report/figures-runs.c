/* A run's row is filled from its analyses at once; figures and the page are made of the rows. Where
 * a run has nothing to show in a figure (no transfers, no second launch), its place stays empty. */
#include "report/figures-runs.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "report/figures.h"

/* Degrees 0, 1, 2-3, 4-7, ..., 64 and more. Partitions: as paper 004 in its figure 6. */
enum { DEGREE_BINS = 8, SIZES_MAX = 1000, PARTITIONS = 16 };

struct cts_run_row {
    char *path, *name, *program;
    uint64_t launches, ctas, load_bytes, store_bytes, read_bytes, written_bytes, received_bytes;
    double communicated; /* share of what was written; NaN: nothing was */
    /* transfers up to a size: shares[i] of them have at most sizes[i] bytes */
    double *sizes, *shares;
    size_t size_count;
    double degrees[2][DEGREE_BINS]; /* in, out: share of CTAs */
    uint64_t transfer_bytes, bisection_bytes[3];
    uint8_t dimensions;
    struct cts_partition_sets sets;
    struct cts_figure_box critical;
    uint32_t split; /* partitions of `boxes`; 0: none were analysed */
    uint32_t counts[CTS_PARTITION_DEFAULT_COUNTS];
    size_t count_count, mapping_count;
    struct cts_run_mapping {
        const char *name;
        struct cts_figure_box box; /* traffic of a launch as a share of its GPU set */
        double traffic[CTS_PARTITION_DEFAULT_COUNTS];
        struct cts_partition_fit fit;
    } mappings[CTS_MAPPING_COUNT];
};

void cts_runs_release(struct cts_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct cts_run_row *const row = &runs->items[i];
        free(row->path);
        free(row->name);
        free(row->program);
        free(row->sizes);
        free(row->shares);
    }
    free(runs->items);
    *runs = (struct cts_runs){0};
}

const char *cts_runs_name(const struct cts_runs *runs, size_t run)
{
    return runs->items[run].name;
}

/* ---- a row ---- */

/* "work/stencil.run/" is called "stencil". */
static char *short_name(const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') end--;
    size_t begin = end;
    while (begin && path[begin - 1] != '/') begin--;
    if (end - begin > 4 && !strncmp(path + end - 4, ".run", 4)) end -= 4;
    return strndup(path + begin, end - begin);
}

static enum cts_status name_row(const struct cts_runs *runs, struct cts_run_row *row,
                                const char *path, const struct cts_catalogue *catalogue,
                                struct cts_error *error)
{
    const struct cts_rank *const rank = catalogue->rank_count ? &catalogue->ranks[0] : NULL;
    row->path = strdup(path);
    row->name = short_name(path);
    row->program = strdup(rank && rank->program ? rank->program : "");
    for (size_t i = 0; row->name && i < runs->count; i++)
        if (!strcmp(runs->items[i].name, row->name)) {
            free(row->name);
            row->name = strdup(path);
        }
    if (row->path && row->name && row->program) return CTS_OK;
    return cts_fail(error, CTS_MEMORY, "no memory for the name of a run");
}

static enum cts_status keep_sizes(struct cts_run_row *row, const struct cts_comm *comm,
                                  struct cts_error *error)
{
    const size_t entries = comm->transfer_size_count;
    const size_t step = (entries + SIZES_MAX - 1) / SIZES_MAX;
    if (!entries) return CTS_OK;
    row->sizes = cts_array_zeroed(entries / step + 1, sizeof *row->sizes, error);
    row->shares = cts_array_zeroed(entries / step + 1, sizeof *row->shares, error);
    if (!row->sizes || !row->shares) return CTS_MEMORY;
    double total = 0, sum = 0;
    for (size_t i = 0; i < entries; i++) {
        total += (double)comm->transfer_sizes[i].value;
        row->transfer_bytes += comm->transfer_sizes[i].key * comm->transfer_sizes[i].value;
    }
    for (size_t i = 0; i < entries; i++) {
        sum += (double)comm->transfer_sizes[i].value;
        if ((i + 1) % step && i + 1 < entries) continue;
        row->sizes[row->size_count] = (double)comm->transfer_sizes[i].key;
        row->shares[row->size_count++] = sum / total;
    }
    return CTS_OK;
}

static void keep_degrees(double *bins, const struct cts_map_entry *entries, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++) total += (double)entries[i].value;
    for (size_t i = 0; i < count; i++) {
        const uint64_t degree = entries[i].key;
        const unsigned bin = degree ? 64 - (unsigned)__builtin_clzll(degree) : 0;
        bins[bin < DEGREE_BINS ? bin : DEGREE_BINS - 1] += (double)entries[i].value / total;
    }
}

static void keep_comm(struct cts_run_row *row, const struct cts_comm *comm)
{
    const struct cts_comm_counts *const total = &comm->total;
    const uint64_t written = cts_comm_ratio_written(total);
    row->launches = comm->launch_count;
    row->ctas = comm->node_count;
    row->load_bytes = total->global_load_bytes + total->global_atomic_bytes;
    row->store_bytes = total->global_store_bytes + total->global_atomic_bytes;
    row->read_bytes = total->global_read_unique_bytes;
    row->written_bytes = total->global_written_unique_bytes;
    row->received_bytes = total->received_bytes;
    row->communicated =
        written ? (double)cts_comm_ratio_communicated(total) / (double)written : NAN;
    memcpy(row->bisection_bytes, comm->bisection_bytes, sizeof row->bisection_bytes);
    row->dimensions = comm->bisection_dimensions;
    keep_degrees(row->degrees[0], comm->in_degrees, comm->in_degree_count);
    keep_degrees(row->degrees[1], comm->out_degrees, comm->out_degree_count);
}

static void keep_mapping(struct cts_run_row *row, const struct cts_partition *partition, size_t m,
                         double *scratch)
{
    struct cts_run_mapping *const mapping = &row->mappings[m];
    mapping->name = partition->mappings[m];
    mapping->fit = partition->fits[m];
    for (size_t c = 0; c < row->count_count; c++) {
        const struct cts_partition_scale *const scale =
            cts_partition_find(partition, m, row->counts[c]);
        mapping->traffic[c] = scale ? (double)scale->traffic_bytes : NAN;
        if (!scale || row->counts[c] != row->split) continue;
        size_t count = 0;
        for (size_t i = 0; i < partition->launch_count; i++)
            if (cts_partition_can_have_traffic(&partition->launches[i]))
                scratch[count++] = (double)scale->launch_bytes[i] /
                                   (double)partition->launches[i].sums.gpu_set_bytes;
        mapping->box = cts_figure_box_of(scratch, count);
    }
}

static enum cts_status keep_partition(struct cts_run_row *row,
                                      const struct cts_catalogue *catalogue,
                                      const struct cts_partition *partition,
                                      struct cts_error *error)
{
    double *const scratch = cts_array_zeroed(partition->launch_count, sizeof *scratch, error);
    if (!scratch) return CTS_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < partition->launch_count; i++) {
        const struct cts_partition_launch *const launch = &partition->launches[i];
        if (launch->has_critical && launch->sums.critical_base_bytes)
            scratch[count++] =
                (double)launch->sums.critical_bytes / (double)launch->sums.critical_base_bytes;
    }
    row->critical = cts_figure_box_of(scratch, count);
    row->sets = partition->sets;
    row->count_count = cts_partition_default_counts(catalogue, row->counts);
    for (size_t c = 0; c < row->count_count; c++)
        if (row->counts[c] <= PARTITIONS) row->split = row->counts[c];
    assert(partition->mapping_count <= CTS_MAPPING_COUNT); /* cts_page_analyze() takes all */
    row->mapping_count = partition->mapping_count;
    for (size_t m = 0; m < row->mapping_count; m++) keep_mapping(row, partition, m, scratch);
    free(scratch);
    return CTS_OK;
}

enum cts_status cts_runs_add(struct cts_runs *runs, const char *path,
                             const struct cts_catalogue *catalogue,
                             const struct cts_page_analyses *analyses, struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(runs, runs->count + 1, error)) return error->status;
    struct cts_run_row *const row = &runs->items[runs->count];
    *row = (struct cts_run_row){0};
    enum cts_status status = name_row(runs, row, path, catalogue, error);
    runs->count++; /* from now on it is released with the others */
    if (status) return status;
    keep_comm(row, &analyses->comm);
    status = keep_sizes(row, &analyses->comm, error);
    return status ? status : keep_partition(row, catalogue, &analyses->partition, error);
}

/* ---- figures with a category for each run ---- */

struct by_run {
    struct cts_figure_texts texts;
    enum cts_figure_kind kind;
    struct cts_figure_axis y;
    size_t series_count;
    const char *const *series;
    /* NaN: nothing there */
    double (*value)(const struct cts_run_row *row, size_t series);
    const struct cts_figure_box *(*box)(const struct cts_run_row *row, size_t series);
    bool split; /* names say into how many partitions the run was split, where not into 16 */
};

static enum cts_status name_run(struct cts_figure_axis *axis, size_t i,
                                const struct cts_run_row *row, bool split, struct cts_error *error)
{
    if (split && row->split != PARTITIONS)
        return cts_figure_category(axis, i, error, "%s (%u)", row->name, row->split);
    return cts_figure_category(axis, i, error, "%s", row->name);
}

/* What a logarithmic axis of bars must show: the shortest bar, too, has a length. */
static void widen(struct cts_figure *figure)
{
    double low = INFINITY, high = 0;
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; i < figure->count; i++) {
            const double value = figure->series[s].values[i];
            if (value > 0 && value < low) low = value;
            if (value > high) high = value;
        }
    if (!(high > 0)) return;
    figure->y.low = exp2(floor(log2(low / 2))); /* powers of two: so are the ticks */
    figure->y.high = exp2(ceil(log2(high * 1.2)));
}

static enum cts_status draw_by_run(struct cts_figures *figures, const struct cts_runs *runs,
                                   const struct by_run *what, struct cts_error *error)
{
    struct cts_figure *const figure = cts_figures_add(figures, what->kind, &what->texts, error);
    if (!figure) return error->status;
    figure->y = what->y;
    enum cts_status status = cts_figure_categories(&figure->x, runs->count, error);
    if (!status) status = cts_figure_room(figure, runs->count, what->series_count, error);
    for (size_t s = 0; s < what->series_count && !status; s++)
        status = cts_figure_name(figure, s, error, "%s", what->series[s]);
    for (size_t i = 0; i < runs->count && !status; i++) {
        const struct cts_run_row *const row = &runs->items[i];
        status = name_run(&figure->x, i, row, what->split, error);
        if (!status) status = cts_figure_add_run(figure, row->name, error);
        for (size_t s = 0; s < what->series_count; s++) {
            if (what->box)
                figure->series[s].boxes[i] = *what->box(row, s);
            else
                figure->series[s].values[i] = what->value(row, s);
        }
    }
    if (!status && figure->y.log) widen(figure);
    return status;
}

static double volume(const struct cts_run_row *row, size_t series)
{
    return (double)(series ? row->store_bytes : row->load_bytes);
}

static double communicated(const struct cts_run_row *row, size_t series)
{
    (void)series;
    return row->communicated;
}

static double in_degree(const struct cts_run_row *row, size_t series)
{
    return row->size_count ? row->degrees[0][series] : NAN;
}

static double out_degree(const struct cts_run_row *row, size_t series)
{
    return row->size_count ? row->degrees[1][series] : NAN;
}

static double bisection(const struct cts_run_row *row, size_t series)
{
    return row->dimensions & 1u << series ? (double)row->bisection_bytes[series] : NAN;
}

static double bisection_share(const struct cts_run_row *row, size_t series)
{
    return row->transfer_bytes ? bisection(row, series) / (double)row->transfer_bytes : NAN;
}

static double set_share(const struct cts_run_row *row, size_t series)
{
    const uint64_t sets[] = {row->sets.gpu_bytes, row->sets.host_bytes, row->sets.both_bytes};
    const uint64_t all = row->sets.working_bytes;
    return all ? (double)sets[series] / (double)all : NAN;
}

static const struct cts_figure_box *critical_box(const struct cts_run_row *row, size_t series)
{
    (void)series;
    return &row->critical;
}

static const struct cts_figure_box *mapping_box(const struct cts_run_row *row, size_t series)
{
    return &row->mappings[series].box;
}

static const char *const volume_series[] = {"loads", "stores"};
static const char *const communicated_series[] = {"communicated"};
static const char *const degree_series[] = {"0",    "1",     "2–3",   "4–7",
                                            "8–15", "16–31", "32–63", "64 or more"};
static const char *const cut_series[] = {"cut along x", "cut along y", "cut along z"};
static const char *const set_series[] = {"GPU set", "host set", "in both"};
static const char *const critical_series[] = {"launches"};
_Static_assert(sizeof degree_series / sizeof *degree_series == DEGREE_BINS, "a name for each bin");

static const struct by_run by_run[] = {
    {.texts = {"runs-volume", "runs-volume", "Volume", "bytes",
               "Bytes of global memory that the threads of each run load and store, each access "
               "counted; atomics count as both.",
               "Rieber 2017, figure 6.1"},
     .kind = CTS_FIGURE_BARS,
     .y = {.label = "bytes accessed", .unit = CTS_UNIT_BYTES, .log = true},
     .series_count = 2,
     .series = volume_series,
     .value = volume},
    {.texts = {"runs-communicated", "runs-volume", "Volume", "communicated",
               "Share of the bytes that kernels write that a later launch reads before they are "
               "overwritten.",
               "Rieber 2017, figure 6.1"},
     .kind = CTS_FIGURE_BARS,
     .y = {.label = "share of written bytes", .unit = CTS_UNIT_FRACTION, .high = 1},
     .series_count = 1,
     .series = communicated_series,
     .value = communicated},
    {.texts = {"runs-in-degrees", "runs-degrees", "Partners of a CTA", "incoming",
               "Share of CTAs by the number of CTAs that each receives from in a launch.",
               "Rieber 2017, figure 6.3"},
     .kind = CTS_FIGURE_STACKS,
     .y = {.label = "share of CTAs", .unit = CTS_UNIT_FRACTION, .high = 1},
     .series_count = DEGREE_BINS,
     .series = degree_series,
     .value = in_degree},
    {.texts = {"runs-out-degrees", "runs-degrees", "Partners of a CTA", "outgoing",
               "Share of CTAs by the number of CTAs that each sends to.",
               "Rieber 2017, figure 6.3"},
     .kind = CTS_FIGURE_STACKS,
     .y = {.label = "share of CTAs", .unit = CTS_UNIT_FRACTION, .high = 1},
     .series_count = DEGREE_BINS,
     .series = degree_series,
     .value = out_degree},
    {.texts = {"runs-bisection", "runs-bisection", "Bisection", "bytes",
               "Transferred bytes that cross the cut when all grids are halved along a dimension. "
               "Dimensions of extent 1 have no bar.",
               "Rieber 2017, figure 6.4"},
     .kind = CTS_FIGURE_BARS,
     .y = {.label = "bytes across the cut", .unit = CTS_UNIT_BYTES, .log = true},
     .series_count = 3,
     .series = cut_series,
     .value = bisection},
    {.texts = {"runs-bisection-relative", "runs-bisection", "Bisection", "share",
               "Share of the transferred bytes that cross the cut when all grids are halved along "
               "a dimension.",
               "Rieber 2017, figure 6.4"},
     .kind = CTS_FIGURE_BARS,
     .y = {.label = "share of transferred bytes", .unit = CTS_UNIT_FRACTION},
     .series_count = 3,
     .series = cut_series,
     .value = bisection_share},
    {.texts = {"runs-sets", "runs-sets", "Origin of the data read", NULL,
               "Addresses read, as shares of the working set: last written by a kernel (GPU set), "
               "by the host or nobody (host set), by both at different times.",
               "Matz and Fröning 2019, figure 4"},
     .kind = CTS_FIGURE_BARS,
     .y = {.label = "share of the working set", .unit = CTS_UNIT_FRACTION, .high = 1},
     .series_count = 3,
     .series = set_series,
     .value = set_share},
    {.texts = {"runs-critical", "runs-critical", "Critical volume", NULL,
               "Share of the kernel-written bytes a launch reads that the previous launch wrote: "
               "quartiles over the launches that read any.",
               "Matz and Fröning 2019, figure 5"},
     .kind = CTS_FIGURE_BOXES,
     .y = {.label = "share of the GPU set", .unit = CTS_UNIT_FRACTION, .high = 1},
     .series_count = 1,
     .series = critical_series,
     .box = critical_box},
};

/* Figure 6 of paper 004: traffic of launches at 16 partitions, by mapping. */
static enum cts_status draw_boxes(struct cts_figures *figures, const struct cts_runs *runs,
                                  struct cts_error *error)
{
    const char *names[CTS_MAPPING_COUNT];
    size_t mappings = CTS_MAPPING_COUNT; /* that all runs have */
    for (size_t i = 0; i < runs->count; i++)
        if (runs->items[i].mapping_count < mappings) mappings = runs->items[i].mapping_count;
    if (!mappings) return CTS_OK;
    for (size_t m = 0; m < mappings; m++) names[m] = runs->items[0].mappings[m].name;
    const struct by_run what = {
        .texts = {"runs-partition-launches", "runs-partition-launches",
                  "Traffic per launch on 16 partitions", NULL,
                  "Traffic between partitions of each launch divided by the kernel-written "
                  "bytes it reads: quartiles over the launches that read any. A number after a "
                  "run's name is its number of partitions: its grids have fewer than 16 CTAs.",
                  "Matz and Fröning 2019, figure 6"},
        .kind = CTS_FIGURE_BOXES,
        .y = {.label = "traffic / GPU set", .unit = CTS_UNIT_NUMBER},
        .series_count = mappings,
        .series = names,
        .box = mapping_box,
        .split = true};
    return draw_by_run(figures, runs, &what, error);
}

/* ---- figures with a series for each run ---- */

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts and keeps each number once; returns how many. */
static size_t make_distinct(double *numbers, size_t count)
{
    size_t kept = 0;
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (!kept || numbers[i] != numbers[kept - 1]) numbers[kept++] = numbers[i];
    return kept;
}

static void tell_apart(struct cts_figure_series *series, size_t run)
{
    series->dashed = run / CTS_FIGURE_COLOURS % 2 == 1;
}

static enum cts_status draw_sizes(struct cts_figures *figures, const struct cts_runs *runs,
                                  struct cts_error *error)
{
    static const struct cts_figure_texts texts = {
        "runs-transfer-sizes",
        "runs-transfer-sizes",
        "Transfer sizes",
        NULL,
        "Share of transfers up to each size. A transfer goes from one CTA of one launch to one CTA "
        "of another. Runs without transfers are left out.",
        "Rieber 2017, figure 6.2"};
    size_t all = 0, with = 0;
    for (size_t i = 0; i < runs->count; i++) {
        all += runs->items[i].size_count;
        with += runs->items[i].size_count > 0;
    }
    if (!all) return CTS_OK;
    double *const x = cts_array_zeroed(all + 2, sizeof *x, error);
    if (!x) return CTS_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < runs->count; i++)
        for (size_t k = 0; k < runs->items[i].size_count; k++) x[count++] = runs->items[i].sizes[k];
    count = make_distinct(x, count);
    struct cts_figure *const figure = cts_figures_add(figures, CTS_FIGURE_STEPS, &texts, error);
    enum cts_status status = figure ? CTS_OK : error->status;
    if (figure) {
        figure->x = (struct cts_figure_axis){
            .label = "bytes of a transfer", .unit = CTS_UNIT_BYTES, .log = true};
        figure->y = (struct cts_figure_axis){
            .label = "share of transfers", .unit = CTS_UNIT_FRACTION, .high = 1};
        figure->runs_are_series = true;
        status = cts_figure_room(figure, count + 2, with, error);
    }
    size_t s = 0;
    for (size_t i = 0; i < runs->count && !status; i++) {
        const struct cts_run_row *const row = &runs->items[i];
        if (!row->size_count) continue;
        double *const y = figure->series[s].values;
        size_t next = 0;
        tell_apart(&figure->series[s], s);
        status = cts_figure_name(figure, s++, error, "%s", row->name);
        if (!status) status = cts_figure_add_run(figure, row->name, error);
        y[0] = 0; /* nothing is smaller than the smallest */
        for (size_t k = 0; k < count; k++) {
            while (next < row->size_count && row->sizes[next] <= x[k]) next++;
            y[k + 1] = next ? row->shares[next - 1] : 0;
        }
        y[count + 1] = 1;
    }
    if (!status) {
        figure->x_values[0] = fmax(x[0] / 2, 0.5);
        memcpy(figure->x_values + 1, x, count * sizeof *x);
        figure->x_values[count + 1] = x[count - 1] * 2;
    }
    free(x);
    return status;
}

static double most_traffic(const struct cts_run_row *row, size_t m)
{
    double most = 0;
    for (size_t c = 0; c < row->count_count; c++) most = fmax(most, row->mappings[m].traffic[c]);
    return most;
}

static enum cts_status name_scaling(struct cts_figure *figure, size_t series,
                                    const struct cts_run_row *row,
                                    const struct cts_partition_fit *fit, struct cts_error *error)
{
    if (!fit->is_known) return cts_figure_name(figure, series, error, "%s", row->name);
    return cts_figure_name(
        figure, series, error, "%s (%s, off %.1f%%)", row->name,
        fit->limited_is_better ? "a - a/(b + p)" : "a + b*p",
        100 * (fit->limited_is_better ? fit->limited_residual : fit->linear_residual));
}

/* Figure 7 of paper 004: traffic over partitions, of the most that the run has; for a mapping. */
static enum cts_status draw_scaling(struct cts_figures *figures, const struct cts_runs *runs,
                                    size_t m, struct cts_error *error)
{
    double x[CTS_PARTITION_DEFAULT_COUNTS * 2];
    size_t count = 0, with = 0;
    const char *mapping = NULL;
    for (size_t i = 0; i < runs->count; i++) {
        const struct cts_run_row *const row = &runs->items[i];
        if (m >= row->mapping_count || !(most_traffic(row, m) > 0)) continue;
        with++;
        mapping = row->mappings[m].name;
        for (size_t c = 0; c < row->count_count; c++) x[count++] = row->counts[c];
        count = make_distinct(x, count);
    }
    if (!with || count < 2) return CTS_OK;
    char name[100];
    snprintf(name, sizeof name, "runs-partition-traffic-%s", mapping);
    const struct cts_figure_texts texts = {
        name,
        "runs-partition-traffic",
        "Traffic by number of partitions",
        mapping,
        "Bytes transferred between partitions, as a share of the run's maximum over all numbers of "
        "partitions. In brackets: the better of the fits a + b*p and a - a/(b + p), and its error. "
        "Runs without traffic are left out.",
        "Matz and Fröning 2019, figure 7"};
    struct cts_figure *const figure = cts_figures_add(figures, CTS_FIGURE_LINES, &texts, error);
    if (!figure) return error->status;
    figure->x = (struct cts_figure_axis){.label = "partitions", .unit = CTS_UNIT_COUNT};
    figure->y =
        (struct cts_figure_axis){.label = "traffic / most", .unit = CTS_UNIT_FRACTION, .high = 1};
    figure->runs_are_series = true;
    enum cts_status status = cts_figure_room(figure, count, with, error);
    for (size_t k = 0; k < count && !status; k++) figure->x_values[k] = x[k];
    size_t s = 0;
    for (size_t i = 0; i < runs->count && !status; i++) {
        const struct cts_run_row *const row = &runs->items[i];
        const double most = m < row->mapping_count ? most_traffic(row, m) : 0;
        if (!(most > 0)) continue;
        for (size_t c = 0; c < row->count_count; c++)
            for (size_t k = 0; k < count; k++)
                if (x[k] == row->counts[c])
                    figure->series[s].values[k] = row->mappings[m].traffic[c] / most;
        tell_apart(&figure->series[s], s);
        status = name_scaling(figure, s++, row, &row->mappings[m].fit, error);
        if (!status) status = cts_figure_add_run(figure, row->name, error);
    }
    return status;
}

enum cts_status cts_figures_of_runs(struct cts_figures *figures, const struct cts_runs *runs,
                                    struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < sizeof by_run / sizeof *by_run && !status; i++)
        status = draw_by_run(figures, runs, &by_run[i], error);
    if (!status) status = draw_sizes(figures, runs, error);
    if (!status) status = draw_boxes(figures, runs, error);
    for (size_t m = 0; m < CTS_MAPPING_COUNT && !status; m++)
        status = draw_scaling(figures, runs, m, error);
    return status;
}

/* ---- the page ---- */

static void write_row(struct cts_json *json, const struct cts_run_row *row)
{
    cts_json_open_object_row(json);
    cts_json_member_string(json, "name", row->name);
    cts_json_member_string(json, "path", row->path);
    cts_json_member_string(json, "program", row->program);
    cts_json_member_u64(json, "launches", row->launches);
    cts_json_member_u64(json, "ctas", row->ctas);
    cts_json_member_u64(json, "read_bytes", row->read_bytes);
    cts_json_member_u64(json, "written_bytes", row->written_bytes);
    cts_json_member_u64(json, "received_bytes", row->received_bytes);
    cts_json_member_double(json, "communicated_fraction", row->communicated);
    cts_json_close_object(json);
}

struct comparison {
    const struct cts_runs *runs;
    const struct cts_figures *figures;
};

static enum cts_status write_data(const void *state, FILE *file, struct cts_error *error)
{
    const struct comparison *const comparison = state;
    const struct cts_runs *const runs = comparison->runs;
    struct cts_json json;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    cts_json_member_u64(&json, "format", 1);
    cts_json_key(&json, "run");
    cts_json_open_object(&json);
    char title[40];
    snprintf(title, sizeof title, "%zu runs", runs->count);
    cts_json_member_string(&json, "path", title);
    cts_json_member_string(&json, "version", CTASCOPE_VERSION);
    cts_json_close_object(&json);
    cts_json_key(&json, "runs");
    cts_json_open_array(&json);
    for (size_t i = 0; i < runs->count; i++) write_row(&json, &runs->items[i]);
    cts_json_close_array(&json);
    cts_figures_json(comparison->figures, &json);
    cts_json_close_object(&json);
    return cts_json_end(&json, error);
}

enum cts_status cts_runs_write_page(const struct cts_runs *runs, const struct cts_figures *figures,
                                    FILE *file, struct cts_error *error)
{
    const struct comparison comparison = {.runs = runs, .figures = figures};
    return cts_page_write_of(write_data, &comparison, file, error);
}
