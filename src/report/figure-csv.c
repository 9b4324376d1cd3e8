/* The data of a figure, one row for each value, box or cell that it draws; see docs/report.md. */
#include <math.h>

#include "common/output-file.h"
#include "common/text-table.h"
#include "report/figure.h"

struct csv {
    FILE *file;
    const char *run;
    const struct cts_figure *figure;
};

static void put_number(FILE *file, double value)
{
    fputc(',', file);
    if (isfinite(value)) fprintf(file, "%.17g", value);
}

/* "run,x,series" of value i of series s. */
static void begin_row(const struct csv *csv, size_t i, size_t s)
{
    const struct cts_figure *const figure = csv->figure;
    const size_t run = figure->runs_are_series ? s : i;
    cts_csv_field(csv->file, run < figure->run_count ? figure->runs[run] : csv->run);
    if (figure->x.categories) {
        fputc(',', csv->file);
        cts_csv_field(csv->file, figure->x.categories[i]);
    } else {
        put_number(csv->file, figure->x_values[i]);
    }
    fputc(',', csv->file);
    cts_csv_field(csv->file, figure->series[s].name);
}

static void write_values(const struct csv *csv)
{
    const struct cts_figure *const figure = csv->figure;
    fputs("run,x,series,value,deviation\n", csv->file);
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; i < figure->count; i++) {
            const struct cts_figure_series *const series = &figure->series[s];
            if (isnan(series->values[i])) continue;
            begin_row(csv, i, s);
            put_number(csv->file, series->values[i]);
            put_number(csv->file, series->deviations ? series->deviations[i] : NAN);
            fputc('\n', csv->file);
        }
}

static void write_boxes(const struct csv *csv)
{
    const struct cts_figure *const figure = csv->figure;
    fputs("run,x,series,count,smallest,low,first,median,third,high,largest,mean\n", csv->file);
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; i < figure->count; i++) {
            const struct cts_figure_box *const box = &figure->series[s].boxes[i];
            if (!box->count) continue;
            const double parts[] = {box->smallest, box->low,  box->first,   box->median,
                                    box->third,    box->high, box->largest, box->mean};
            begin_row(csv, i, s);
            fprintf(csv->file, ",%llu", (unsigned long long)box->count);
            for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
                put_number(csv->file, parts[k]);
            fputc('\n', csv->file);
        }
}

/* Cells that are not 0; a bin has `bin_size` ids from its first one on. */
static void write_cells(const struct csv *csv)
{
    const struct cts_figure *const figure = csv->figure;
    fputs("run,first_x,first_y,bin_size,value\n", csv->file);
    for (size_t i = 0; i < figure->cell_count; i++) {
        const struct cts_figure_cell *const cell = &figure->cells[i];
        cts_csv_field(csv->file, csv->run);
        fprintf(csv->file, ",%llu,%llu,%llu", (unsigned long long)(cell->column * figure->bin_size),
                (unsigned long long)(cell->row * figure->bin_size),
                (unsigned long long)figure->bin_size);
        put_number(csv->file, cell->value);
        fputc('\n', csv->file);
    }
}

enum cts_status cts_figure_write_csv(const struct cts_figure *figure, const char *run,
                                     const char *path, struct cts_error *error)
{
    struct cts_output output;
    enum cts_status status = cts_output_open(path, &output, error);
    if (status) return status;
    const struct csv csv = {.file = output.file, .run = run, .figure = figure};
    if (figure->kind == CTS_FIGURE_CELLS)
        write_cells(&csv);
    else if (figure->kind == CTS_FIGURE_BOXES)
        write_boxes(&csv);
    else
        write_values(&csv);
    return cts_output_close(&output, CTS_OK, error);
}
