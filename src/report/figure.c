/* The model of figures: memory, boxes, spans and ticks.
 *
 * Every text and array of a figure is its own; cts_figures_release() frees them all. */
#include "report/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

static enum cts_status no_memory(struct cts_error *error)
{
    return cts_fail(error, CTS_MEMORY, "no memory for a figure");
}

static void release_axis(struct cts_figure_axis *axis)
{
    for (size_t i = 0; i < axis->category_count; i++) free(axis->categories[i]);
    free(axis->categories);
}

static void release_figure(struct cts_figure *figure)
{
    for (size_t i = 0; i < figure->run_count; i++) free(figure->runs[i]);
    free(figure->runs);
    free(figure->name);
    free(figure->group);
    free(figure->title);
    free(figure->tab);
    free(figure->says);
    release_axis(&figure->x);
    release_axis(&figure->y);
    free(figure->x_values);
    for (size_t i = 0; i < figure->series_count; i++) {
        free(figure->series[i].name);
        free(figure->series[i].values);
        free(figure->series[i].deviations);
        free(figure->series[i].boxes);
    }
    free(figure->series);
    free(figure->cells);
}

void cts_figures_release(struct cts_figures *figures)
{
    for (size_t i = 0; i < figures->count; i++) release_figure(&figures->items[i]);
    free(figures->items);
    *figures = (struct cts_figures){0};
}

struct cts_figure *cts_figures_add(struct cts_figures *figures, enum cts_figure_kind kind,
                                   const struct cts_figure_texts *texts, struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(figures, figures->count + 1, error)) return NULL;
    struct cts_figure *const figure = &figures->items[figures->count];
    *figure = (struct cts_figure){
        .kind = kind,
        .name = strdup(texts->name),
        .group = strdup(texts->group),
        .title = strdup(texts->title),
        .tab = texts->tab ? strdup(texts->tab) : NULL,
        .says = strdup(texts->says),
        .source = texts->source,
    };
    if (!figure->name || !figure->group || !figure->title || !figure->says ||
        (texts->tab && !figure->tab)) {
        release_figure(figure);
        (void)no_memory(error);
        return NULL;
    }
    figures->count++;
    return figure;
}

static double *nans(size_t count)
{
    double *const values = malloc((count ? count : 1) * sizeof *values);
    for (size_t i = 0; values && i < count; i++) values[i] = NAN;
    return values;
}

enum cts_status cts_figure_room(struct cts_figure *figure, size_t count, size_t series_count,
                                struct cts_error *error)
{
    figure->series = cts_array_zeroed(series_count, sizeof *figure->series, error);
    if (!figure->series) return error->status;
    figure->series_count = series_count;
    figure->count = count;
    if (!figure->x.categories && !(figure->x_values = nans(count))) return no_memory(error);
    for (size_t i = 0; i < series_count; i++) {
        struct cts_figure_series *const series = &figure->series[i];
        series->colour = (unsigned)(i % CTS_FIGURE_COLOURS);
        if (figure->kind == CTS_FIGURE_BOXES)
            series->boxes = cts_array_zeroed(count, sizeof *series->boxes, error);
        else
            series->values = nans(count);
        if (!series->boxes && !series->values) return no_memory(error);
    }
    return CTS_OK;
}

enum cts_status cts_figure_categories(struct cts_figure_axis *axis, size_t count,
                                      struct cts_error *error)
{
    axis->categories = cts_array_zeroed(count, sizeof *axis->categories, error);
    if (!axis->categories) return error->status;
    axis->category_count = count;
    return CTS_OK;
}

enum cts_status cts_figure_add_run(struct cts_figure *figure, const char *run,
                                   struct cts_error *error)
{
    char **const runs = realloc(figure->runs, (figure->run_count + 1) * sizeof *runs);
    if (!runs) return no_memory(error);
    figure->runs = runs;
    runs[figure->run_count] = strdup(run);
    return runs[figure->run_count++] ? CTS_OK : no_memory(error);
}

enum cts_status cts_figure_category(struct cts_figure_axis *axis, size_t i, struct cts_error *error,
                                    const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&axis->categories[i], format, arguments);
    va_end(arguments);
    if (length >= 0) return CTS_OK;
    axis->categories[i] = NULL;
    return no_memory(error);
}

enum cts_status cts_figure_name(struct cts_figure *figure, size_t i, struct cts_error *error,
                                const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&figure->series[i].name, format, arguments);
    va_end(arguments);
    if (length >= 0) return CTS_OK;
    figure->series[i].name = NULL;
    return no_memory(error);
}

/* ---- boxes ---- */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double share)
{
    const double place = share * (double)(count - 1);
    const size_t below = (size_t)place;
    if (below + 1 >= count) return sorted[count - 1];
    return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

static bool same_values(const double *a, const double *b, size_t count)
{
    if (!a || !b) return a == b;
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i]))) return false;
    return true;
}

size_t cts_figure_twin(const struct cts_figure *figure, size_t i)
{
    if (figure->kind > CTS_FIGURE_POINTS) return i;
    const struct cts_figure_series *const own = &figure->series[i];
    for (size_t j = 0; j < i; j++) {
        const struct cts_figure_series *const other = &figure->series[j];
        if (own->line == other->line && own->dashed == other->dashed &&
            same_values(own->values, other->values, figure->count) &&
            same_values(own->deviations, other->deviations, figure->count))
            return j;
    }
    return i;
}

struct cts_figure_box cts_figure_box_of(double *values, size_t count)
{
    if (!count) return (struct cts_figure_box){0};
    qsort(values, count, sizeof *values, compare_doubles);
    struct cts_figure_box box = {
        .first = quantile(values, count, 0.25),
        .median = quantile(values, count, 0.5),
        .third = quantile(values, count, 0.75),
        .smallest = values[0],
        .largest = values[count - 1],
        .count = count,
    };
    const double reach = 1.5 * (box.third - box.first);
    size_t low = 0, high = count - 1;
    while (values[low] < box.first - reach) low++;
    while (values[high] > box.third + reach) high--;
    box.low = values[low];
    box.high = values[high];
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    box.mean = sum / (double)count;
    return box;
}

/* ---- spans ---- */

struct span_state {
    struct cts_figure_span span;
    bool any, log;
};

static void span_add(struct span_state *state, double value)
{
    if (!isfinite(value) || (state->log && value <= 0)) return;
    if (!state->any || value < state->span.low) state->span.low = value;
    if (!state->any || value > state->span.high) state->span.high = value;
    state->any = true;
}

/* A span that can be drawn: of some length, with 0 in it where the scale is linear. */
static struct cts_figure_span rounded(const struct cts_figure_axis *axis, struct span_state *state)
{
    if (axis->low < axis->high) return (struct cts_figure_span){axis->low, axis->high};
    if (!state->any) return (struct cts_figure_span){axis->log ? 1 : 0, axis->log ? 10 : 1};
    struct cts_figure_span span = state->span;
    if (axis->log) {
        if (span.low == span.high) return (struct cts_figure_span){span.low / 2, span.high * 2};
        return span;
    }
    if (span.low > 0) span.low = 0;
    if (span.low == span.high) span.high = span.low + 1;
    return span;
}

struct cts_figure_span cts_figure_x_span(const struct cts_figure *figure)
{
    struct span_state state = {.log = figure->x.log};
    if (figure->kind == CTS_FIGURE_CELLS) return (struct cts_figure_span){0, figure->columns};
    if (figure->x.categories) return (struct cts_figure_span){0, (double)figure->x.category_count};
    for (size_t i = 0; i < figure->count; i++) span_add(&state, figure->x_values[i]);
    if (figure->x.low < figure->x.high || !state.any || state.span.low == state.span.high)
        return rounded(&figure->x, &state);
    return state.span; /* an x axis shows what there is */
}

struct cts_figure_span cts_figure_y_span(const struct cts_figure *figure)
{
    struct span_state state = {.log = figure->y.log};
    if (figure->kind == CTS_FIGURE_CELLS) return (struct cts_figure_span){0, figure->rows};
    for (size_t i = 0; i < figure->count; i++) {
        double stack = 0;
        for (size_t s = 0; s < figure->series_count; s++) {
            const struct cts_figure_series *const series = &figure->series[s];
            if (series->boxes && series->boxes[i].count) {
                span_add(&state, series->boxes[i].smallest);
                span_add(&state, series->boxes[i].largest);
            }
            if (!series->values || isnan(series->values[i])) continue;
            const double deviation = series->deviations ? series->deviations[i] : 0;
            stack += series->values[i];
            span_add(&state,
                     figure->kind == CTS_FIGURE_STACKS ? stack : series->values[i] + deviation);
            if (figure->kind != CTS_FIGURE_STACKS)
                span_add(&state, fmax(series->values[i] - deviation, 0));
        }
    }
    return rounded(&figure->y, &state);
}

/* ---- ticks ---- */

/* The least of 1, 2, 5 times a power of ten (a power of two for bytes) that is `least` or more. */
static double round_step(enum cts_figure_unit unit, double least)
{
    if (unit == CTS_UNIT_BYTES) return exp2(ceil(log2(fmax(least, 1))));
    if (unit == CTS_UNIT_COUNT && least < 1) return 1;
    const double power = pow(10, floor(log10(least)));
    static const double factors[] = {1, 2, 5, 10};
    for (size_t i = 0; i < 4; i++)
        if (factors[i] * power >= least * (1 - 1e-9)) return factors[i] * power;
    return 10 * power;
}

size_t cts_figure_ticks(const struct cts_figure_axis *axis, double low, double high, size_t most,
                        double ticks[CTS_TICKS_MAX])
{
    size_t count = 0;
    if (!(low < high) || !most) return 0;
    if (most > CTS_TICKS_MAX) most = CTS_TICKS_MAX;
    if (axis->log) {
        const double base = axis->unit == CTS_UNIT_BYTES ? 2 : 10;
        const double first = ceil(log(low) / log(base) - 1e-9);
        const double last = floor(log(high) / log(base) + 1e-9);
        const double step = fmax(1, ceil((last - first + 1) / (double)most));
        const bool whole = axis->unit == CTS_UNIT_BYTES || axis->unit == CTS_UNIT_COUNT;
        for (double power = first; power <= last && count < most; power += step)
            if (!whole || power >= 0) ticks[count++] = pow(base, power);
        return count;
    }
    const double step = round_step(axis->unit, (high - low) / (double)most);
    const double first = ceil(low / step - 1e-9);
    for (double i = 0; (first + i) * step <= high + 1e-9 * step && count < CTS_TICKS_MAX; i++)
        ticks[count++] = (first + i) * step;
    return count;
}

/* Units of a quantity, each `base` times the one before it, up to a NULL. */
struct scale {
    double base;
    const char *units[8];
};

/* A value with so many significant digits, in the largest unit of which it then has one at least:
 * what would print as 1000 us is 1 ms. */
static void scaled_text(double value, const struct scale *scale, int digits, char *text,
                        size_t text_bytes)
{
    size_t unit = 0;
    for (;; unit++) {
        const int whole = fabs(value) >= 1 ? (int)floor(log10(fabs(value))) + 1 : 1;
        const double place = pow(10, fmax(0, digits - whole));
        const double rounded = round(fabs(value) * place) / place;
        if (rounded < scale->base || !scale->units[unit + 1]) break;
        value /= scale->base;
    }
    if (fabs(value) >= pow(10, digits) - 0.5)
        snprintf(text, text_bytes, "%.0f%s", value, scale->units[unit]);
    else
        snprintf(text, text_bytes, "%.*g%s", digits, value, scale->units[unit]);
}

static void text_with(enum cts_figure_unit unit, double value, int digits, char *text,
                      size_t text_bytes)
{
    static const struct scale bytes = {1024,
                                       {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"}};
    static const struct scale times = {1000, {" ns", " us", " ms", " s"}};
    static const struct scale counts = {1000, {"", "k", "M", "G", "T"}};
    static const struct scale percent = {1000, {"%"}};
    switch (unit) {
    case CTS_UNIT_FRACTION:
        scaled_text(100 * value, &percent, digits, text, text_bytes);
        return;
    case CTS_UNIT_BYTES:
        scaled_text(value, &bytes, digits, text, text_bytes);
        return;
    case CTS_UNIT_NS:
        scaled_text(value, &times, digits, text, text_bytes);
        return;
    case CTS_UNIT_COUNT:
    case CTS_UNIT_NUMBER:
        if (fabs(value) < 9999.5) /* a launch's number, not "1.23k" */
            snprintf(text, text_bytes, "%.*g", digits < 4 ? 4 : digits, value);
        else
            scaled_text(value, &counts, digits, text, text_bytes);
        return;
    }
}

void cts_figure_text(enum cts_figure_unit unit, double value, char *text, size_t text_bytes)
{
    text_with(unit, value, 3, text, text_bytes);
}

void cts_figure_tick_texts(enum cts_figure_unit unit, const double *ticks, size_t count,
                           char texts[][CTS_TICK_TEXT_SIZE])
{
    enum { DIGITS = 3, DIGITS_MAX = 15 };
    for (int digits = DIGITS; digits <= DIGITS_MAX; digits++) {
        bool alike = false;
        for (size_t i = 0; i < count; i++) {
            text_with(unit, ticks[i], digits, texts[i], CTS_TICK_TEXT_SIZE);
            alike |= i && !strcmp(texts[i], texts[i - 1]);
        }
        if (!alike) return;
    }
}
