/* The figures of the communication analysis: what paper 003, chapter 6, draws, and paper 004 where
 * it speaks of the same. Lists too long for a plot are thinned or binned here, which the figure
 * then says. */
#include <math.h>

#include "common/array.h"
#include "report/figures.h"

enum { POINTS_MAX = 4000, DEGREES_MAX = 24, LAUNCHES_MAX = 4000 };

/* ---- transfer sizes ---- */

/* Share of transfers (or of bytes) in transfers up to a size, as steps; at most POINTS_MAX of them,
 * each true where it stands. */
static enum cts_status transfer_sizes(struct cts_figures *figures, const struct cts_comm *comm,
                                      bool by_bytes, struct cts_error *error)
{
    const size_t entries = comm->transfer_size_count;
    if (!entries) return CTS_OK;
    const struct cts_figure_texts texts = {
        .name = by_bytes ? "comm-transfer-sizes-by-bytes" : "comm-transfer-sizes",
        .group = "transfer-sizes",
        .title = "Transfer sizes",
        .tab = by_bytes ? "by volume" : "by number",
        .says = by_bytes ? "Share of the transferred bytes in transfers up to each size. A "
                           "transfer goes from one CTA of one launch to one CTA of another."
                         : "Share of transfers up to each size. A transfer goes from one CTA of "
                           "one launch to one CTA of another.",
        .source = "Rieber 2017, section 6.2.2",
    };
    struct cts_figure *const figure = cts_figures_add(figures, CTS_FIGURE_STEPS, &texts, error);
    if (!figure) return error->status;
    const size_t step = (entries + POINTS_MAX - 1) / POINTS_MAX;
    const size_t count = (entries + step - 1) / step + 2;
    figure->x = (struct cts_figure_axis){
        .label = "bytes of a transfer", .unit = CTS_UNIT_BYTES, .log = true};
    figure->y =
        (struct cts_figure_axis){.label = by_bytes ? "share of bytes" : "share of transfers",
                                 .unit = CTS_UNIT_FRACTION,
                                 .low = 0,
                                 .high = 1};
    enum cts_status status = cts_figure_room(figure, count, 1, error);
    if (!status) status = cts_figure_name(figure, 0, error, "in transfers up to this size");
    if (status) return status;
    double total = 0, sum = 0;
    for (size_t i = 0; i < entries; i++)
        total += (double)comm->transfer_sizes[i].value *
                 (by_bytes ? (double)comm->transfer_sizes[i].key : 1);
    /* A step needs a start: nothing is smaller than the smallest. */
    double *const x = figure->x_values, *const y = figure->series[0].values;
    size_t place = 0;
    x[place] = fmax((double)comm->transfer_sizes[0].key / 2, 0.5);
    y[place++] = 0;
    for (size_t i = 0; i < entries; i++) {
        sum += (double)comm->transfer_sizes[i].value *
               (by_bytes ? (double)comm->transfer_sizes[i].key : 1);
        if ((i + 1) % step && i + 1 < entries) continue;
        x[place] = (double)comm->transfer_sizes[i].key;
        y[place++] = sum / total;
    }
    x[place] = (double)comm->transfer_sizes[entries - 1].key * 2;
    y[place++] = 1;
    figure->count = place;
    return CTS_OK;
}

/* ---- degrees ---- */

/* Few degrees get a bar each, many are binned by powers of two: bin 0 is degree 0, bin b holds
 * [2^(b-1), 2^b). */
static unsigned bin_of(uint64_t degree)
{
    return degree ? 64 - (unsigned)__builtin_clzll(degree) : 0;
}

struct degree_bins {
    bool binned;
    size_t count;
    uint64_t keys[DEGREES_MAX]; /* when not binned */
};

static void find_keys(struct degree_bins *bins, const struct cts_map_entry *entries, size_t count)
{
    for (size_t i = 0; i < count && !bins->binned; i++) {
        size_t place = 0;
        while (place < bins->count && bins->keys[place] < entries[i].key) place++;
        if (place < bins->count && bins->keys[place] == entries[i].key) continue;
        if (bins->count == DEGREES_MAX) {
            bins->binned = true;
            return;
        }
        for (size_t k = bins->count; k > place; k--) bins->keys[k] = bins->keys[k - 1];
        bins->keys[place] = entries[i].key;
        bins->count++;
    }
}

static size_t place_of(const struct degree_bins *bins, uint64_t degree)
{
    if (bins->binned) return bin_of(degree);
    size_t place = 0;
    while (bins->keys[place] != degree) place++;
    return place;
}

static void add_degrees(const struct degree_bins *bins, const struct cts_map_entry *entries,
                        size_t count, double *values)
{
    double total = 0;
    for (size_t i = 0; i < bins->count; i++) values[i] = 0;
    for (size_t i = 0; i < count; i++) total += (double)entries[i].value;
    for (size_t i = 0; i < count; i++)
        values[place_of(bins, entries[i].key)] += (double)entries[i].value / total;
}

static enum cts_status name_bins(struct cts_figure_axis *axis, const struct degree_bins *bins,
                                 struct cts_error *error)
{
    enum cts_status status = cts_figure_categories(axis, bins->count, error);
    for (size_t i = 0; i < bins->count && !status; i++)
        if (!bins->binned)
            status = cts_figure_category(axis, i, error, "%llu", (unsigned long long)bins->keys[i]);
        else if (i < 2)
            status = cts_figure_category(axis, i, error, "%zu", i);
        else
            status =
                cts_figure_category(axis, i, error, "%llu–%llu", 1ULL << (i - 1), (1ULL << i) - 1);
    return status;
}

static enum cts_status degrees(struct cts_figures *figures, const struct cts_comm *comm,
                               struct cts_error *error)
{
    if (!comm->transfer_size_count) return CTS_OK; /* nobody has a partner */
    struct degree_bins bins = {0};
    find_keys(&bins, comm->in_degrees, comm->in_degree_count);
    find_keys(&bins, comm->out_degrees, comm->out_degree_count);
    if (bins.binned) {
        uint64_t largest = 0;
        if (comm->in_degree_count) largest = comm->in_degrees[comm->in_degree_count - 1].key;
        if (comm->out_degree_count && comm->out_degrees[comm->out_degree_count - 1].key > largest)
            largest = comm->out_degrees[comm->out_degree_count - 1].key;
        bins.count = bin_of(largest) + 1;
    }
    const struct cts_figure_texts texts = {
        .name = "comm-degrees",
        .group = "degrees",
        .title = "Partners of a CTA",
        .says =
            "Share of CTAs by the number of CTAs that each received from or sent to in a launch, "
            "including CTAs without a partner.",
        .source = "Rieber 2017, section 6.2.3",
    };
    struct cts_figure *const figure = cts_figures_add(figures, CTS_FIGURE_BARS, &texts, error);
    if (!figure) return error->status;
    figure->x.label = "partners";
    figure->y = (struct cts_figure_axis){.label = "share of CTAs", .unit = CTS_UNIT_FRACTION};
    enum cts_status status = name_bins(&figure->x, &bins, error);
    if (!status) status = cts_figure_room(figure, bins.count, 2, error);
    if (!status) status = cts_figure_name(figure, 0, error, "incoming");
    if (!status) status = cts_figure_name(figure, 1, error, "outgoing");
    if (status) return status;
    add_degrees(&bins, comm->in_degrees, comm->in_degree_count, figure->series[0].values);
    add_degrees(&bins, comm->out_degrees, comm->out_degree_count, figure->series[1].values);
    return CTS_OK;
}

/* ---- launch by launch ---- */

static struct cts_figure *evolution(struct cts_figures *figures, const struct cts_comm *comm,
                                    const struct cts_figure_texts *texts,
                                    const char *const series[2], struct cts_error *error)
{
    struct cts_figure *const figure = cts_figures_add(figures, CTS_FIGURE_LINES, texts, error);
    const size_t count = comm->launch_count < LAUNCHES_MAX ? comm->launch_count : LAUNCHES_MAX;
    if (!figure) return NULL;
    figure->x = (struct cts_figure_axis){.label = "launch", .unit = CTS_UNIT_COUNT};
    if (cts_figure_room(figure, count, 2, error)) return NULL;
    for (size_t s = 0; s < 2; s++)
        if (cts_figure_name(figure, s, error, "%s", series[s])) return NULL;
    for (size_t i = 0; i < count; i++) figure->x_values[i] = comm->launches[i].ordinal;
    return figure;
}

static enum cts_status volumes(struct cts_figures *figures, const struct cts_comm *comm,
                               struct cts_error *error)
{
    const struct cts_figure_texts texts = {
        .name = "comm-volume-by-launch",
        .group = "volume-by-launch",
        .title = "Volume by launch",
        .says = comm->launch_count > LAUNCHES_MAX
                    ? "Bytes that each launch received from earlier launches, and bytes it wrote "
                      "that a later launch read. First 4,000 launches."
                    : "Bytes that each launch received from earlier launches, and bytes it wrote "
                      "that a later launch read.",
        .source = "Rieber 2017, section 6.3.1",
    };
    static const char *const series[] = {"received by this launch", "written, read later"};
    struct cts_figure *const figure = evolution(figures, comm, &texts, series, error);
    if (!figure) return error->status;
    figure->y = (struct cts_figure_axis){.label = "bytes", .unit = CTS_UNIT_BYTES};
    for (size_t i = 0; i < figure->count; i++) {
        figure->series[0].values[i] = (double)comm->launches[i].counts.received_bytes;
        figure->series[1].values[i] = (double)comm->launches[i].counts.communicated_out_bytes;
    }
    return CTS_OK;
}

static enum cts_status connectivity(struct cts_figures *figures, const struct cts_comm *comm,
                                    struct cts_error *error)
{
    const struct cts_figure_texts texts = {
        .name = "comm-connectivity-by-launch",
        .group = "connectivity-by-launch",
        .title = "Partners by launch",
        .says = "Mean number of partners of the CTAs of each launch, including CTAs without "
                "partners. The band is the standard deviation over its CTAs.",
        .source = "Rieber 2017, section 6.4.1",
    };
    static const char *const series[] = {"incoming", "outgoing"};
    struct cts_figure *const figure = evolution(figures, comm, &texts, series, error);
    if (!figure) return error->status;
    figure->y = (struct cts_figure_axis){.label = "partners of a CTA", .unit = CTS_UNIT_NUMBER};
    for (size_t s = 0; s < 2; s++) {
        figure->series[s].colour = 2 + (unsigned)s;
        figure->series[s].deviations =
            cts_array_zeroed(figure->count, sizeof *figure->series[s].deviations, error);
        if (!figure->series[s].deviations) return error->status;
        for (size_t i = 0; i < figure->count; i++) {
            const struct cts_comm_launch *const launch = &comm->launches[i];
            const struct cts_comm_degree *const degree =
                s ? &launch->out_degree : &launch->in_degree;
            if (!launch->counted) continue;
            figure->series[s].values[i] = cts_comm_degree_mean(degree);
            figure->series[s].deviations[i] = cts_comm_degree_deviation(degree);
        }
    }
    return CTS_OK;
}

/* ---- CTA against CTA ---- */

static enum cts_status density(struct cts_figures *figures, const struct cts_comm *comm,
                               bool by_bytes, struct cts_error *error)
{
    const struct cts_comm_density *const map = &comm->density;
    const struct cts_figure_texts texts = {
        .name = by_bytes ? "comm-density-by-bytes" : "comm-density",
        .group = "density",
        .title = "CTA to CTA",
        .tab = by_bytes ? "bytes" : "transfers",
        .says = "Writing CTA over reading CTA for the whole run and all kernels. CTA ids count x "
                "first.",
        .source = "Rieber 2017, section 6.2.6",
    };
    if (!map->cells || !comm->transfer_size_count) return CTS_OK;
    struct cts_figure *const figure = cts_figures_add(figures, CTS_FIGURE_CELLS, &texts, error);
    if (!figure) return error->status;
    const size_t side = map->bin_count;
    figure->x.label = "writing CTA";
    figure->y.label = "reading CTA";
    figure->columns = figure->rows = map->bin_count;
    figure->bin_size = map->bin_ctas;
    figure->id_count = map->cta_count;
    figure->cell_unit = by_bytes ? CTS_UNIT_BYTES : CTS_UNIT_COUNT;
    figure->cells = cts_array_zeroed(side * side, sizeof *figure->cells, error);
    if (!figure->cells) return error->status;
    for (uint32_t row = 0; row < side; row++)
        for (uint32_t column = 0; column < side; column++) {
            const uint64_t *const cell = cts_comm_density_cell(map, column, row);
            if (!cell[0]) continue;
            figure->cells[figure->cell_count++] = (struct cts_figure_cell){
                .column = column, .row = row, .value = (double)cell[by_bytes]};
        }
    return CTS_OK;
}

enum cts_status cts_figures_of_comm(struct cts_figures *figures, const struct cts_comm *comm,
                                    struct cts_error *error)
{
    enum cts_status status = transfer_sizes(figures, comm, false, error);
    if (!status) status = transfer_sizes(figures, comm, true, error);
    if (!status) status = degrees(figures, comm, error);
    /* Launches that exchange nothing have nothing to show launch by launch. */
    const bool has_launches = comm->launch_count > 1 && comm->transfer_size_count;
    if (!status && has_launches) status = volumes(figures, comm, error);
    if (!status && has_launches) status = connectivity(figures, comm, error);
    if (!status) status = density(figures, comm, true, error);
    if (!status) status = density(figures, comm, false, error);
    return status;
}
