/* Figures as JSON, for the page. */
#include "report/figure.h"

static const char *const kinds[] = {
    [CTS_FIGURE_LINES] = "lines", [CTS_FIGURE_STEPS] = "steps",   [CTS_FIGURE_POINTS] = "points",
    [CTS_FIGURE_BARS] = "bars",   [CTS_FIGURE_STACKS] = "stacks", [CTS_FIGURE_BOXES] = "boxes",
    [CTS_FIGURE_CELLS] = "cells",
};
static const char *const units[] = {
    [CTS_UNIT_NUMBER] = "number",     [CTS_UNIT_COUNT] = "count", [CTS_UNIT_BYTES] = "bytes",
    [CTS_UNIT_FRACTION] = "fraction", [CTS_UNIT_NS] = "ns",
};

static void write_axis(struct cts_json *json, const char *key, const struct cts_figure_axis *axis,
                       struct cts_figure_span span)
{
    cts_json_key(json, key);
    cts_json_open_object_row(json);
    cts_json_member_string(json, "label", axis->label);
    cts_json_member_string(json, "unit", units[axis->unit]);
    cts_json_member_bool(json, "log", axis->log);
    cts_json_member_double(json, "low", span.low);
    cts_json_member_double(json, "high", span.high);
    if (axis->categories) {
        cts_json_key(json, "categories");
        cts_json_open_array(json);
        for (size_t i = 0; i < axis->category_count; i++)
            cts_json_string(json, axis->categories[i]);
        cts_json_close_array(json);
    }
    cts_json_close_object(json);
}

static void write_numbers(struct cts_json *json, const char *key, const double *values,
                          size_t count)
{
    if (!values) return;
    cts_json_key(json, key);
    cts_json_open_array_row(json);
    for (size_t i = 0; i < count; i++) cts_json_double(json, values[i]);
    cts_json_close_array(json);
}

static void write_boxes(struct cts_json *json, const struct cts_figure_box *boxes, size_t count)
{
    cts_json_key(json, "boxes");
    cts_json_open_array_row(json);
    for (size_t i = 0; i < count; i++) {
        const struct cts_figure_box *const box = &boxes[i];
        if (!box->count) {
            cts_json_null(json);
            continue;
        }
        cts_json_open_object(json);
        cts_json_member_double(json, "low", box->low);
        cts_json_member_double(json, "first", box->first);
        cts_json_member_double(json, "median", box->median);
        cts_json_member_double(json, "third", box->third);
        cts_json_member_double(json, "high", box->high);
        cts_json_member_double(json, "mean", box->mean);
        cts_json_member_double(json, "smallest", box->smallest);
        cts_json_member_double(json, "largest", box->largest);
        cts_json_member_u64(json, "count", box->count);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

static void write_series(struct cts_json *json, const struct cts_figure *figure)
{
    cts_json_key(json, "series");
    cts_json_open_array(json);
    for (size_t i = 0; i < figure->series_count; i++) {
        const struct cts_figure_series *const series = &figure->series[i];
        cts_json_open_object(json);
        cts_json_member_string(json, "name", series->name);
        cts_json_member_u64(json, "colour", series->colour);
        cts_json_member_bool(json, "line", series->line);
        cts_json_member_bool(json, "dashed", series->dashed);
        write_numbers(json, "values", series->values, figure->count);
        write_numbers(json, "deviations", series->deviations, figure->count);
        if (series->boxes) write_boxes(json, series->boxes, figure->count);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

static void write_cells(struct cts_json *json, const struct cts_figure *figure)
{
    cts_json_member_u64(json, "columns", figure->columns);
    cts_json_member_u64(json, "rows", figure->rows);
    cts_json_member_u64(json, "bin_size", figure->bin_size);
    cts_json_member_u64(json, "id_count", figure->id_count);
    cts_json_member_string(json, "cell_unit", units[figure->cell_unit]);
    cts_json_key(json, "cells"); /* column, row, value, column, row, value, ... */
    cts_json_open_array_row(json);
    for (size_t i = 0; i < figure->cell_count; i++) {
        cts_json_u64(json, figure->cells[i].column);
        cts_json_u64(json, figure->cells[i].row);
        cts_json_double(json, figure->cells[i].value);
    }
    cts_json_close_array(json);
}

void cts_figures_json(const struct cts_figures *figures, struct cts_json *json)
{
    cts_json_key(json, "figures");
    cts_json_open_array(json);
    for (size_t i = 0; i < figures->count; i++) {
        const struct cts_figure *const figure = &figures->items[i];
        cts_json_open_object(json);
        cts_json_member_string(json, "name", figure->name);
        cts_json_member_string(json, "group", figure->group);
        cts_json_member_string(json, "title", figure->title);
        cts_json_member_string(json, "tab", figure->tab);
        cts_json_member_string(json, "says", figure->says);
        cts_json_member_string(json, "source", figure->source);
        cts_json_member_string(json, "kind", kinds[figure->kind]);
        write_axis(json, "x", &figure->x, cts_figure_x_span(figure));
        write_axis(json, "y", &figure->y, cts_figure_y_span(figure));
        write_numbers(json, "x_values", figure->x_values, figure->count);
        write_series(json, figure);
        if (figure->kind == CTS_FIGURE_CELLS) write_cells(json, figure);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}
