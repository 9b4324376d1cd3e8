/* The figures of the partition analysis: paper 004, figures 4 to 7, and what the time model and the
 * balance of work say beside them. */
#include <math.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/text-table.h"
#include "report/figures.h"

enum { LAUNCHES_MAX = 4000, BOXES_MAX = 8 };

static enum cts_status sets(struct cts_figures *figures, const struct cts_partition *partition,
                            struct cts_error *error)
{
    static const struct cts_figure_texts texts = {
        .name = "partition-sets",
        .group = "partition-sets",
        .title = "Origin of the data read",
        .says =
            "Addresses that CTAs read during the run, each counted once: last written by a kernel "
            "(GPU set), by the host or nobody (host set), or by both at different times.",
        .source = "Matz and Fröning 2019, figure 4",
    };
    struct cts_figure *const figure = cts_figures_add(figures, CTS_FIGURE_BARS, &texts, error);
    if (!figure) return error->status;
    const struct cts_partition_sets *const s = &partition->sets;
    const struct {
        const char *name;
        uint64_t bytes;
    } bars[] = {
        {"GPU set only", s->gpu_bytes - s->both_bytes},
        {"in both", s->both_bytes},
        {"host set only", s->host_bytes - s->both_bytes},
        {"working set", s->working_bytes},
    };
    const size_t count = sizeof bars / sizeof *bars;
    figure->y = (struct cts_figure_axis){.label = "bytes", .unit = CTS_UNIT_BYTES};
    enum cts_status status = cts_figure_categories(&figure->x, count, error);
    if (!status) status = cts_figure_room(figure, count, 1, error);
    if (!status) status = cts_figure_name(figure, 0, error, "addresses");
    for (size_t i = 0; i < count && !status; i++) {
        status = cts_figure_category(&figure->x, i, error, "%s", bars[i].name);
        figure->series[0].values[i] = (double)bars[i].bytes;
    }
    return status;
}

static enum cts_status critical(struct cts_figures *figures, const struct cts_partition *partition,
                                struct cts_error *error)
{
    static const struct cts_figure_texts texts = {
        .name = "partition-critical",
        .group = "partition-critical",
        .title = "Critical volume by launch",
        .says = "Share of the kernel-written bytes read by a launch that the previous launch "
                "wrote, so that they cannot be sent in advance. Launches that read no "
                "kernel-written data have no value.",
        .source = "Matz and Fröning 2019, figure 5",
    };
    if (!partition->sets.gpu_bytes) return CTS_OK; /* nobody reads what a kernel wrote */
    struct cts_figure *const figure = cts_figures_add(figures, CTS_FIGURE_LINES, &texts, error);
    if (!figure) return error->status;
    const size_t count =
        partition->launch_count < LAUNCHES_MAX ? partition->launch_count : LAUNCHES_MAX;
    figure->x = (struct cts_figure_axis){.label = "launch", .unit = CTS_UNIT_COUNT};
    figure->y = (struct cts_figure_axis){
        .label = "share of the GPU set", .unit = CTS_UNIT_FRACTION, .low = 0, .high = 1};
    enum cts_status status = cts_figure_room(figure, count, 1, error);
    if (!status) status = cts_figure_name(figure, 0, error, "written by the previous launch");
    for (size_t i = 0; i < count && !status; i++) {
        const struct cts_partition_launch *const launch = &partition->launches[i];
        figure->x_values[i] = launch->ordinal;
        if (launch->has_critical && launch->sums.critical_base_bytes)
            figure->series[0].values[i] =
                (double)launch->sums.critical_bytes / (double)launch->sums.critical_base_bytes;
    }
    return status;
}

/* ---- by number of partitions ---- */

/* The numbers of partitions from two on that were asked for, ascending. */
struct counts {
    uint32_t *items;
    size_t count;
};

static enum cts_status find_counts(const struct cts_partition *partition, struct counts *counts,
                                   struct cts_error *error)
{
    counts->items = cts_array_zeroed(partition->scale_count, sizeof *counts->items, error);
    if (!counts->items) return error->status;
    for (size_t i = 0; i < partition->scale_count; i++) {
        const struct cts_partition_scale *const scale = &partition->scales[i];
        if (scale->mapping == partition->scales[0].mapping && scale->partition_count > 1)
            counts->items[counts->count++] = scale->partition_count;
    }
    return CTS_OK;
}

static double traffic(const struct cts_partition *partition,
                      const struct cts_partition_scale *scale)
{
    (void)partition;
    return (double)scale->traffic_bytes;
}
static double replicas(const struct cts_partition *partition,
                       const struct cts_partition_scale *scale)
{
    (void)partition;
    return (double)scale->replica_bytes;
}
static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}
static double of_written(const struct cts_partition *partition,
                         const struct cts_partition_scale *scale)
{
    return share_of(scale->traffic_bytes, partition->total.written_bytes);
}
static double of_gpu_set(const struct cts_partition *partition,
                         const struct cts_partition_scale *scale)
{
    return share_of(scale->traffic_bytes, partition->total.gpu_set_bytes);
}
static double slow(const struct cts_partition *partition, const struct cts_partition_scale *scale)
{
    (void)partition;
    return scale->time.no_overlap_speedup;
}
static double fast(const struct cts_partition *partition, const struct cts_partition_scale *scale)
{
    (void)partition;
    return scale->time.full_overlap_speedup;
}
static double imbalance(const struct cts_partition *partition,
                        const struct cts_partition_scale *scale)
{
    (void)partition;
    return scale->access_imbalance;
}

struct curve {
    struct cts_figure_texts texts;
    const char *label;
    enum cts_figure_unit unit;
    double (*value)(const struct cts_partition *partition, const struct cts_partition_scale *scale);
    bool fitted; /* the fits of traffic belong to it */
};

static const struct curve curves[] = {
    {{"partition-traffic", "partition-scaling", "Traffic by number of partitions", "bytes",
      "Bytes transferred between partitions during the run, by mapping. The line is the better of "
      "the fits a + b*p and a - a/(b + p).",
      "Matz and Fröning 2019, figure 7"},
     "bytes between partitions",
     CTS_UNIT_BYTES,
     traffic,
     true},
    {{"partition-traffic-of-written", "partition-scaling", "Traffic by number of partitions",
      "per byte written",
      "Bytes transferred between partitions during the run, divided by the bytes that launches "
      "write; above 1 if several partitions read a byte.",
      "Matz and Fröning 2019, figure 7"},
     "traffic / written bytes",
     CTS_UNIT_NUMBER,
     of_written,
     false},
    {{"partition-traffic-of-gpu-set", "partition-scaling", "Traffic by number of partitions",
      "per byte of the GPU set",
      "Bytes transferred between partitions during the run, divided by the kernel-written bytes "
      "that launches read; above 1 if several partitions read a byte.",
      "Matz and Fröning 2019, figure 7"},
     "traffic / GPU set",
     CTS_UNIT_NUMBER,
     of_gpu_set,
     false},
    {{"partition-replicas", "partition-scaling", "Traffic by number of partitions", "with replicas",
      "Remaining traffic if each fetched byte is kept until it is written again.", NULL},
     "bytes between partitions",
     CTS_UNIT_BYTES,
     replicas,
     false},
    {{"partition-speedup", "partition-speedup", "Estimated speed-up of the memory traffic",
      "no overlap",
      "Relative to one partition, if local and remote traffic do not overlap: the lower bound of "
      "the time model.",
      NULL},
     "speed-up",
     CTS_UNIT_NUMBER,
     slow,
     false},
    {{"partition-speedup-overlap", "partition-speedup", "Estimated speed-up of the memory traffic",
      "full overlap",
      "Relative to one partition, if local and remote traffic fully overlap: the upper bound of "
      "the time model.",
      NULL},
     "speed-up",
     CTS_UNIT_NUMBER,
     fast,
     false},
    {{"partition-balance", "partition-balance", "Balance of work", NULL,
      "Accesses of the busiest partition divided by the mean; 1 means perfectly balanced.", NULL},
     "largest / mean",
     CTS_UNIT_NUMBER,
     imbalance,
     false},
};

/* The line of a mapping's better fit, as one more series. */
static void draw_fit(struct cts_figure *figure, size_t series, const struct cts_partition_fit *fit)
{
    for (size_t i = 0; i < figure->count; i++) {
        const double p = figure->x_values[i];
        figure->series[series].values[i] =
            fit->limited_is_better ? fit->limited_a - fit->limited_a / (fit->limited_b + p)
                                   : fit->linear_a + fit->linear_b * p;
    }
}

static enum cts_status name_fit(struct cts_figure *figure, size_t series, const char *mapping,
                                const struct cts_partition_fit *fit, struct cts_error *error)
{
    figure->series[series].line = true;
    figure->series[series].dashed = true;
    if (fit->limited_is_better)
        return cts_figure_name(figure, series, error, "%s: %s - %s/(%s + p), off %.1f%%", mapping,
                               cts_real_text(fit->limited_a).text,
                               cts_real_text(fit->limited_a).text,
                               cts_real_text(fit->limited_b).text, 100 * fit->limited_residual);
    return cts_figure_name(figure, series, error, "%s: %s %c %s p, off %.1f%%", mapping,
                           cts_real_text(fit->linear_a).text, fit->linear_b < 0 ? '-' : '+',
                           cts_real_text(fabs(fit->linear_b)).text, 100 * fit->linear_residual);
}

static enum cts_status draw_curve(struct cts_figures *figures,
                                  const struct cts_partition *partition,
                                  const struct counts *counts, const struct curve *curve,
                                  struct cts_error *error)
{
    const enum cts_figure_kind kind = curve->fitted ? CTS_FIGURE_POINTS : CTS_FIGURE_LINES;
    struct cts_figure *const figure = cts_figures_add(figures, kind, &curve->texts, error);
    if (!figure) return error->status;
    const size_t mappings = partition->mapping_count;
    size_t fits = 0;
    for (size_t m = 0; m < mappings && curve->fitted; m++) fits += partition->fits[m].is_known;
    figure->x = (struct cts_figure_axis){.label = "partitions", .unit = CTS_UNIT_COUNT};
    figure->y = (struct cts_figure_axis){.label = curve->label, .unit = curve->unit};
    enum cts_status status = cts_figure_room(figure, counts->count, mappings + fits, error);
    if (status) return status;
    for (size_t i = 0; i < counts->count; i++) figure->x_values[i] = counts->items[i];
    size_t next = mappings;
    for (size_t m = 0; m < mappings && !status; m++) {
        status = cts_figure_name(figure, m, error, "%s", partition->mappings[m]);
        for (size_t i = 0; i < counts->count; i++) {
            const struct cts_partition_scale *const scale =
                cts_partition_find(partition, m, counts->items[i]);
            if (scale) figure->series[m].values[i] = curve->value(partition, scale);
        }
        if (status || !curve->fitted || !partition->fits[m].is_known) continue;
        draw_fit(figure, next, &partition->fits[m]);
        figure->series[next].colour = figure->series[m].colour;
        status = name_fit(figure, next++, partition->mappings[m], &partition->fits[m], error);
    }
    return status;
}

/* ---- distributions over launches ---- */

static struct cts_figure_box box_of_launches(const struct cts_partition *partition,
                                             const struct cts_partition_scale *scale, bool of_gpu,
                                             double *scratch)
{
    size_t count = 0;
    for (size_t i = 0; i < partition->launch_count; i++) {
        const struct cts_partition_launch *const launch = &partition->launches[i];
        if (!cts_partition_can_have_traffic(launch)) continue;
        const double bytes = (double)scale->launch_bytes[i];
        scratch[count++] = of_gpu ? bytes / (double)launch->sums.gpu_set_bytes : bytes;
    }
    return cts_figure_box_of(scratch, count);
}

static enum cts_status boxes(struct cts_figures *figures, const struct cts_partition *partition,
                             const struct counts *counts, bool of_gpu, struct cts_error *error)
{
    const struct cts_figure_texts texts = {
        .name = of_gpu ? "partition-launches-of-gpu-set" : "partition-launches",
        .group = "partition-launches",
        .title = "Traffic per launch",
        .tab = of_gpu ? "per byte of the GPU set" : "bytes",
        .says = of_gpu
                    ? "Traffic between partitions of each launch divided by the "
                      "kernel-written bytes that it reads: quartiles over the launches, whiskers "
                      "to 1.5 interquartile ranges. Launches that read nothing a kernel wrote are "
                      "left out."
                    : "Traffic between partitions of each launch: quartiles over the launches, "
                      "whiskers to 1.5 interquartile ranges. Launches that read nothing a kernel "
                      "wrote are left out.",
        .source = "Matz and Fröning 2019, figure 6",
    };
    struct cts_figure *const figure = cts_figures_add(figures, CTS_FIGURE_BOXES, &texts, error);
    if (!figure) return error->status;
    const size_t step = (counts->count + BOXES_MAX - 1) / BOXES_MAX;
    const size_t categories = (counts->count + step - 1) / step;
    double *const scratch = cts_array_zeroed(partition->launch_count, sizeof *scratch, error);
    if (!scratch) return error->status;
    figure->x.label = "partitions";
    figure->y =
        (struct cts_figure_axis){.label = of_gpu ? "traffic / GPU set" : "bytes between partitions",
                                 .unit = of_gpu ? CTS_UNIT_NUMBER : CTS_UNIT_BYTES};
    enum cts_status status = cts_figure_categories(&figure->x, categories, error);
    if (!status) status = cts_figure_room(figure, categories, partition->mapping_count, error);
    for (size_t m = 0; m < partition->mapping_count && !status; m++)
        status = cts_figure_name(figure, m, error, "%s", partition->mappings[m]);
    for (size_t c = 0; c < categories && !status; c++) {
        const uint32_t p = counts->items[c * step];
        status = cts_figure_category(&figure->x, c, error, "%u", p);
        for (size_t m = 0; m < partition->mapping_count; m++) {
            const struct cts_partition_scale *const scale = cts_partition_find(partition, m, p);
            if (scale)
                figure->series[m].boxes[c] = box_of_launches(partition, scale, of_gpu, scratch);
        }
    }
    free(scratch);
    return status;
}

enum cts_status cts_figures_of_partition(struct cts_figures *figures,
                                         const struct cts_partition *partition,
                                         struct cts_error *error)
{
    struct counts counts = {0};
    enum cts_status status = CTS_OK;
    if (!partition->sets.working_bytes) return CTS_OK; /* nobody read anything */
    status = sets(figures, partition, error);
    if (!status && partition->launch_count > 1) status = critical(figures, partition, error);
    if (!status && partition->scale_count) status = find_counts(partition, &counts, error);
    const bool passes = counts.count && partition->total.gpu_set_bytes;
    if (!status && passes) status = boxes(figures, partition, &counts, false, error);
    if (!status && passes) status = boxes(figures, partition, &counts, true, error);
    for (size_t i = 0; i < sizeof curves / sizeof *curves && !status && counts.count > 1; i++)
        if (passes || curves[i].value == slow || curves[i].value == fast ||
            curves[i].value == imbalance)
            status = draw_curve(figures, partition, &counts, &curves[i], error);
    free(counts.items);
    return status;
}
