/* Figures of where communication goes and comes from: halves of the grid, distances in launches,
 * strides, variables and lines of the source. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/short-names.h"
#include "report/figures.h"

enum { BARS_MAX = 12, DISTANCES_MAX = 16, STRIDES_MAX = 12 };

/* The short names of the kernels of `comm`, by index. */
static enum cts_status kernel_names(const struct cts_catalogue *catalogue,
                                    const struct cts_comm *comm, struct cts_short_names *names,
                                    struct cts_error *error)
{
    const char **const full = cts_array_zeroed(comm->kernel_count, sizeof *full, error);
    if (!full) return CTS_MEMORY;
    for (size_t i = 0; i < comm->kernel_count; i++) {
        full[i] = cts_catalogue_kernel_name(catalogue, comm->kernels[i].kernel);
        if (!full[i]) full[i] = "?";
    }
    const enum cts_status status = cts_short_names_make(full, comm->kernel_count, names, error);
    free(full);
    return status;
}

/* Indices of the largest of `count` values, by value, at most `most`. */
static size_t largest(const uint64_t *values, size_t count, size_t most, size_t *chosen)
{
    size_t chosen_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!values[i]) continue;
        size_t place = chosen_count < most ? chosen_count : most;
        while (place && values[chosen[place - 1]] < values[i]) place--;
        if (place == most) continue;
        const size_t last = chosen_count < most ? chosen_count++ : most - 1;
        memmove(chosen + place + 1, chosen + place, (last - place) * sizeof *chosen);
        chosen[place] = i;
    }
    return chosen_count;
}

/* ---- bisection ---- */

static enum cts_status bisection(struct cts_figures *figures, const struct cts_catalogue *catalogue,
                                 const struct cts_comm *comm, bool relative,
                                 struct cts_error *error)
{
    static const char dimensions[] = "xyz";
    const struct cts_figure_texts texts = {
        .name = relative ? "comm-bisection-relative" : "comm-bisection",
        .group = "bisection",
        .title = "Bisection",
        .tab = relative ? "share" : "bytes",
        .says = "Transferred bytes that cross the cut when the grid is halved along a dimension, "
                "for the kernel pairs with the most bytes.",
        .source = "Rieber 2017, section 6.2.4",
    };
    size_t chosen[BARS_MAX];
    uint64_t *const bytes = cts_array_zeroed(comm->kernel_pair_count, sizeof *bytes, error);
    if (!bytes) return error->status;
    for (size_t i = 0; i < comm->kernel_pair_count; i++)
        if (comm->kernel_pairs[i].bisection_dimensions) bytes[i] = comm->kernel_pairs[i].bytes;
    const size_t count = largest(bytes, comm->kernel_pair_count, BARS_MAX, chosen);
    free(bytes);
    if (!count) return CTS_OK;
    struct cts_figure *const figure = cts_figures_add(figures, CTS_FIGURE_BARS, &texts, error);
    if (!figure) return error->status;
    figure->x.label = "from kernel to kernel";
    figure->y = (struct cts_figure_axis){.label = relative ? "share of the pair's bytes" : "bytes",
                                         .unit = relative ? CTS_UNIT_FRACTION : CTS_UNIT_BYTES};
    struct cts_short_names names = {0};
    enum cts_status status = kernel_names(catalogue, comm, &names, error);
    if (!status) status = cts_figure_categories(&figure->x, count, error);
    if (!status) status = cts_figure_room(figure, count, 3, error);
    for (size_t d = 0; d < 3 && !status; d++)
        status = cts_figure_name(figure, d, error, "cut along %c", dimensions[d]);
    for (size_t i = 0; i < count && !status; i++) {
        const struct cts_comm_pair *const pair = &comm->kernel_pairs[chosen[i]];
        status =
            cts_figure_category(&figure->x, i, error, "%s → %s", names.short_form[pair->writer],
                                names.short_form[pair->reader]);
        for (size_t d = 0; d < 3; d++)
            if (pair->bisection_dimensions & 1u << d)
                figure->series[d].values[i] =
                    (double)pair->bisection_bytes[d] / (relative ? (double)pair->bytes : 1);
    }
    cts_short_names_release(&names);
    return status;
}

/* ---- distances ---- */

/* Distances up to DISTANCES_MAX - 2 by themselves, the rest in the last bar. */
static enum cts_status distances(struct cts_figures *figures, const struct cts_comm *comm,
                                 struct cts_error *error)
{
    static const struct cts_figure_texts texts = {
        .name = "comm-distance",
        .group = "distance",
        .title = "Launches between write and read",
        .says = "Number of launches between the writing and the reading launch; 0: the next launch "
                "reads. Bytes count once per reader.",
        .source = "Rieber 2017, section 6.3.2",
    };
    if (!comm->distance_count) return CTS_OK;
    const uint64_t farthest = comm->distances[comm->distance_count - 1].distance;
    const size_t count = farthest < DISTANCES_MAX ? (size_t)farthest + 1 : DISTANCES_MAX;
    struct cts_figure *const figure = cts_figures_add(figures, CTS_FIGURE_BARS, &texts, error);
    if (!figure) return error->status;
    figure->x.label = "launches between";
    figure->y = (struct cts_figure_axis){.label = "bytes", .unit = CTS_UNIT_BYTES};
    enum cts_status status = cts_figure_categories(&figure->x, count, error);
    if (!status) status = cts_figure_room(figure, count, 1, error);
    if (!status) status = cts_figure_name(figure, 0, error, "received");
    for (size_t i = 0; i < count && !status; i++) {
        figure->series[0].values[i] = 0;
        status = cts_figure_category(&figure->x, i, error, "%zu%s", i,
                                     farthest >= DISTANCES_MAX && i + 1 == count ? "+" : "");
    }
    for (size_t i = 0; i < comm->distance_count && !status; i++) {
        const uint64_t distance = comm->distances[i].distance;
        figure->series[0].values[distance < count ? distance : count - 1] +=
            (double)comm->distances[i].bytes;
    }
    return status;
}

/* ---- strides ---- */

struct stride_sum {
    int64_t stride;
    uint64_t counts[2]; /* loads, stores */
};

static int by_stride(const void *a, const void *b)
{
    const int64_t x = ((const struct stride_sum *)a)->stride;
    const int64_t y = ((const struct stride_sum *)b)->stride;
    return (x > y) - (x < y);
}

/* The most frequent strides of loads and of stores; the rest is one bar. */
/* The most frequent strides of loads (0) and stores (1), and how many of all they are. */
struct frequent_strides {
    struct stride_sum shown[2 * STRIDES_MAX];
    size_t count;
    double totals[2], covered[2];
};

/* Those of one side, beside those of the other. */
static enum cts_status add_strides(struct frequent_strides *strides,
                                   const struct cts_comm_kernel_strides *all,
                                   enum cts_stride_kind kind, int side, struct cts_error *error)
{
    uint64_t *const counts = cts_array_zeroed(all->counts[kind], sizeof *counts, error);
    size_t chosen[STRIDES_MAX];
    if (!counts) return error->status;
    for (size_t i = 0; i < all->counts[kind]; i++) {
        counts[i] = all->entries[kind][i].count;
        strides->totals[side] += (double)counts[i];
    }
    const size_t found = largest(counts, all->counts[kind], STRIDES_MAX, chosen);
    free(counts);
    for (size_t i = 0; i < found; i++) {
        const struct cts_stride_entry *const entry = &all->entries[kind][chosen[i]];
        size_t place = 0;
        while (place < strides->count && strides->shown[place].stride != entry->stride) place++;
        if (place == strides->count)
            strides->shown[strides->count++] = (struct stride_sum){.stride = entry->stride};
        strides->shown[place].counts[side] = entry->count;
        strides->covered[side] += (double)entry->count;
    }
    return CTS_OK;
}

static enum cts_status draw_strides(struct cts_figure *figure,
                                    const struct frequent_strides *strides, struct cts_error *error)
{
    const double *const totals = strides->totals, *const covered = strides->covered;
    const size_t count = strides->count;
    const bool rest = covered[0] < totals[0] || covered[1] < totals[1];
    figure->x.label = "stride in bytes";
    figure->y = (struct cts_figure_axis){.label = "share of strides", .unit = CTS_UNIT_FRACTION};
    enum cts_status status = cts_figure_categories(&figure->x, count + rest, error);
    if (!status) status = cts_figure_room(figure, count + rest, 2, error);
    if (!status) status = cts_figure_name(figure, 0, error, "loads");
    if (!status) status = cts_figure_name(figure, 1, error, "stores");
    for (size_t i = 0; i < count && !status; i++)
        status =
            cts_figure_category(&figure->x, i, error, "%lld", (long long)strides->shown[i].stride);
    if (rest && !status) status = cts_figure_category(&figure->x, count, error, "others");
    for (int side = 0; side < 2 && !status; side++) {
        double *const values = figure->series[side].values;
        if (!(totals[side] > 0)) continue;
        for (size_t i = 0; i < count; i++)
            values[i] = (double)strides->shown[i].counts[side] / totals[side];
        if (rest) values[count] = 1 - covered[side] / totals[side];
    }
    return status;
}

static enum cts_status strides(struct cts_figures *figures, const struct cts_comm *comm,
                               bool of_lanes, struct cts_error *error)
{
    const struct cts_figure_texts texts = {
        .name = of_lanes ? "comm-strides-of-lanes" : "comm-strides",
        .group = "strides",
        .title = "Strides of communicating accesses",
        .tab = of_lanes ? "between lanes" : "between addresses",
        .says = of_lanes ? "Most frequent distances in bytes between consecutive active lanes of "
                           "communicating accesses."
                         : "Most frequent distances in bytes between consecutive communicating "
                           "addresses of a CTA.",
        .source = "Rieber 2017, section 6.2.5",
    };
    static const enum cts_stride_kind kinds[2][2] = {
        {CTS_STRIDE_LOAD_ADDRESS, CTS_STRIDE_STORE_ADDRESS},
        {CTS_STRIDE_LOAD_LANE, CTS_STRIDE_STORE_LANE},
    };
    struct frequent_strides found = {0};
    if (!comm->stride_count) return CTS_OK;
    for (int side = 0; side < 2; side++)
        if (add_strides(&found, &comm->strides[0], kinds[of_lanes][side], side, error))
            return error->status;
    if (!found.count) return CTS_OK;
    qsort(found.shown, found.count, sizeof *found.shown, by_stride);
    struct cts_figure *const figure = cts_figures_add(figures, CTS_FIGURE_BARS, &texts, error);
    return figure ? draw_strides(figure, &found, error) : error->status;
}

/* ---- variables and lines ---- */

static enum cts_status name_allocation(struct cts_figure_axis *axis, size_t i,
                                       const struct cts_catalogue *catalogue, size_t allocation,
                                       struct cts_error *error)
{
    if (allocation >= catalogue->allocation_count)
        return cts_figure_category(axis, i, error, "elsewhere");
    const struct cts_allocation *const row = &catalogue->allocations[allocation];
    if (row->variable) return cts_figure_category(axis, i, error, "%.24s", row->variable);
    return cts_figure_category(axis, i, error, "0x%llx", (unsigned long long)row->address);
}

static enum cts_status name_site(struct cts_figure_axis *axis, size_t i,
                                 const struct cts_catalogue *catalogue, size_t site,
                                 struct cts_error *error)
{
    const struct cts_site *const row = &catalogue->sites[site];
    const char *path = row->source != CTS_NONE ? catalogue->sources[row->source].path : NULL;
    if (path && strrchr(path, '/')) path = strrchr(path, '/') + 1;
    if (path)
        return cts_figure_category(axis, i, error, "%.20s:%u %s", path, row->line,
                                   cts_operation_text(row->operation));
    return cts_figure_category(axis, i, error, "%.20s %s", row->function ? row->function : "?",
                               cts_operation_text(row->operation));
}

/* The rows with the most bytes, each with a bar for what came in and one for what went out. */
struct flows {
    const struct cts_figure_texts *texts;
    const char *axis, *unit; /* titles of x and of y */
    const char *in, *out;    /* titles of the bars */
    size_t count;            /* rows */
    void (*bytes)(const struct cts_comm *comm, size_t row, uint64_t *in, uint64_t *out);
    enum cts_status (*name)(struct cts_figure_axis *axis, size_t i,
                            const struct cts_catalogue *catalogue, size_t id,
                            struct cts_error *error);
    size_t (*id)(const struct cts_comm *comm, size_t row); /* of what `name` names */
};

static enum cts_status choose_rows(const struct flows *flows, const struct cts_comm *comm,
                                   size_t chosen[BARS_MAX], size_t *count, struct cts_error *error)
{
    uint64_t *const sums = cts_array_zeroed(flows->count, sizeof *sums, error);
    if (!sums) return CTS_MEMORY;
    for (size_t i = 0; i < flows->count; i++) {
        uint64_t in, out;
        flows->bytes(comm, i, &in, &out);
        sums[i] = in + out;
    }
    *count = largest(sums, flows->count, BARS_MAX, chosen);
    free(sums);
    return CTS_OK;
}

static enum cts_status draw_flows(struct cts_figures *figures,
                                  const struct cts_catalogue *catalogue,
                                  const struct cts_comm *comm, const struct flows *flows,
                                  struct cts_error *error)
{
    size_t chosen[BARS_MAX], count = 0;
    enum cts_status status = choose_rows(flows, comm, chosen, &count, error);
    if (status || !count) return status;
    struct cts_figure *const figure =
        cts_figures_add(figures, CTS_FIGURE_BARS, flows->texts, error);
    if (!figure) return error->status;
    figure->x.label = flows->axis;
    figure->y = (struct cts_figure_axis){.label = flows->unit, .unit = CTS_UNIT_BYTES};
    status = cts_figure_categories(&figure->x, count, error);
    if (!status) status = cts_figure_room(figure, count, 2, error);
    if (!status) status = cts_figure_name(figure, 0, error, "%s", flows->in);
    if (!status) status = cts_figure_name(figure, 1, error, "%s", flows->out);
    for (size_t i = 0; i < count && !status; i++) {
        uint64_t in, out;
        flows->bytes(comm, chosen[i], &in, &out);
        status = flows->name(&figure->x, i, catalogue, flows->id(comm, chosen[i]), error);
        figure->series[0].values[i] = (double)in;
        figure->series[1].values[i] = (double)out;
    }
    return status;
}

static void allocation_bytes(const struct cts_comm *comm, size_t row, uint64_t *in, uint64_t *out)
{
    *in = comm->allocations[row].received_bytes;
    *out = comm->allocations[row].communicated_out_bytes;
}

static size_t allocation_at(const struct cts_comm *comm, size_t row)
{
    return comm->allocations[row].allocation;
}

static enum cts_status allocations(struct cts_figures *figures,
                                   const struct cts_catalogue *catalogue,
                                   const struct cts_comm *comm, struct cts_error *error)
{
    static const struct cts_figure_texts texts = {
        .name = "comm-allocations",
        .group = "allocations",
        .title = "Communication by variable",
        .says = "Bytes received from earlier launches, and bytes written that a later launch "
                "reads, for the allocations with the most bytes.",
    };
    const struct flows flows = {.texts = &texts,
                                .axis = "allocation",
                                .unit = "bytes",
                                .in = "received",
                                .out = "written, read later",
                                .count = comm->allocation_count,
                                .bytes = allocation_bytes,
                                .name = name_allocation,
                                .id = allocation_at};
    return draw_flows(figures, catalogue, comm, &flows, error);
}

static void site_bytes(const struct cts_comm *comm, size_t row, uint64_t *in, uint64_t *out)
{
    *in = comm->sites[row].received_access_bytes;
    *out = comm->sites[row].sent_access_bytes;
}

static size_t site_at(const struct cts_comm *comm, size_t row)
{
    return comm->sites[row].site;
}

static enum cts_status sites(struct cts_figures *figures, const struct cts_catalogue *catalogue,
                             const struct cts_comm *comm, struct cts_error *error)
{
    static const struct cts_figure_texts texts = {
        .name = "comm-sites",
        .group = "sites",
        .title = "Communication by line",
        .says = "Bytes that thread accesses of a line read from earlier launches or wrote for "
                "later launches, for the lines with the most bytes.",
    };
    const struct flows flows = {.texts = &texts,
                                .axis = "source line",
                                .unit = "bytes accessed",
                                .in = "read from earlier launches",
                                .out = "written, read later",
                                .count = comm->site_count,
                                .bytes = site_bytes,
                                .name = name_site,
                                .id = site_at};
    return draw_flows(figures, catalogue, comm, &flows, error);
}

enum cts_status cts_figures_of_comm_where(struct cts_figures *figures,
                                          const struct cts_catalogue *catalogue,
                                          const struct cts_comm *comm, struct cts_error *error)
{
    enum cts_status status = allocations(figures, catalogue, comm, error);
    if (!status) status = sites(figures, catalogue, comm, error);
    if (!status) status = distances(figures, comm, error);
    if (!status) status = bisection(figures, catalogue, comm, false, error);
    if (!status) status = bisection(figures, catalogue, comm, true, error);
    if (!status) status = strides(figures, comm, false, error);
    if (!status) status = strides(figures, comm, true, error);
    return status;
}
