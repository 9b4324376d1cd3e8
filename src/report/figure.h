/* Figures: what a plot shows, apart from how it is drawn. A figure is made once from an analysis'
 * results; the page draws it (web/src/figure.tsx, from the JSON of figure-json.c), and
 * `ctascope report --figures` draws it with cairo as SVG and PNG (figure-draw.c). The table behind
 * the plot is the same numbers.
 *
 * Numbers are doubles: a plot needs no more, and exact integers up to 2^53 keep their digits. */
#ifndef CTS_REPORT_FIGURE_H
#define CTS_REPORT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/json.h"

enum cts_figure_kind {
    CTS_FIGURE_LINES,  /* series[].values over x */
    CTS_FIGURE_STEPS,  /* the same, each value up to the next x: cumulative distributions */
    CTS_FIGURE_POINTS, /* marks alone, and series that are `line` as lines (fits) */
    CTS_FIGURE_BARS,   /* series side by side per category */
    CTS_FIGURE_STACKS, /* series on top of each other per category */
    CTS_FIGURE_BOXES,  /* series[].boxes: one box per series and category */
    CTS_FIGURE_CELLS,  /* a matrix of cells: the darker, the more */
};

enum cts_figure_unit {
    CTS_UNIT_NUMBER,
    CTS_UNIT_COUNT, /* whole numbers */
    CTS_UNIT_BYTES,
    CTS_UNIT_FRACTION,
    CTS_UNIT_NS,
};

struct cts_figure_axis {
    const char *label;
    enum cts_figure_unit unit;
    bool log;
    char **categories; /* names in place of numbers; NULL: a scale */
    size_t category_count;
    double low, high; /* low < high: the range to show; else what the values span, 0 included
                         unless log */
};

/* Quartiles, and whiskers that reach to the last value within 1.5 interquartile ranges. */
struct cts_figure_box {
    double low, first, median, third, high, mean;
    double smallest, largest;
    uint64_t count; /* of the values; 0: no box */
};

struct cts_figure_series {
    char *name;
    double *values;     /* NaN: none here */
    double *deviations; /* drawn as a band around values; NULL: none */
    struct cts_figure_box *boxes;
    bool line; /* in a figure of points */
    bool dashed;
    unsigned colour; /* which of the palette */
};

/* Cells that are not zero, by row and column. */
struct cts_figure_cell {
    uint32_t column, row;
    double value;
};

struct cts_figure {
    char *name;         /* of its files, unique in the list: "comm-transfer-sizes" */
    char *group;        /* figures of one group share a card, one at a time */
    char *title;        /* of the card */
    char *tab;          /* its name within the group, or NULL */
    char *says;         /* what is shown, in a sentence or two */
    const char *source; /* the papers' figure that it answers, "Rieber 2017, figure 6.3", or NULL */
    enum cts_figure_kind kind;
    struct cts_figure_axis x, y;
    double *x_values; /* [count]; categories: NULL */
    size_t count;     /* values per series */
    struct cts_figure_series *series;
    size_t series_count;
    /* cells: bins of `bin_size` ids each, `id_count` ids in all */
    struct cts_figure_cell *cells;
    size_t cell_count;
    uint32_t columns, rows;
    uint64_t bin_size, id_count;
    enum cts_figure_unit cell_unit;
    /* of a figure of several runs: whose each category or, `runs_are_series`, each series is */
    char **runs;
    size_t run_count;
    bool runs_are_series;
};

struct cts_figures {
    struct cts_figure *items;
    size_t count, capacity;
};

enum { CTS_FIGURE_COLOURS = 8 };

/* Adds a figure, empty but for its texts (copied; tab, source may be NULL); valid until the next
 * one. NULL without memory. */
struct cts_figure_texts {
    const char *name, *group, *title, *tab, *says, *source;
};
struct cts_figure *cts_figures_add(struct cts_figures *figures, enum cts_figure_kind kind,
                                   const struct cts_figure_texts *texts, struct cts_error *error);
void cts_figures_release(struct cts_figures *figures);

/* Room for `count` values of each series over x (x_values is made unless the axis has categories),
 * all NaN. Boxes get boxes in place of values. */
CTS_MUST_CHECK enum cts_status cts_figure_room(struct cts_figure *figure, size_t count,
                                               size_t series_count, struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_figure_categories(struct cts_figure_axis *axis, size_t count,
                                                     struct cts_error *error);
/* Category i is called so; printf. */
CTS_MUST_CHECK enum cts_status cts_figure_category(struct cts_figure_axis *axis, size_t i,
                                                   struct cts_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Series i is called so and drawn in colour i; printf. */
CTS_MUST_CHECK enum cts_status cts_figure_name(struct cts_figure *figure, size_t i,
                                               struct cts_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The figure shows several runs: one more, whose the next category or series is (copied). */
CTS_MUST_CHECK enum cts_status cts_figure_add_run(struct cts_figure *figure, const char *run,
                                                  struct cts_error *error);

/* The box of `count` values, which get sorted. Quartiles interpolate linearly between values (the
 * p-quantile lies at p * (count - 1)). */
struct cts_figure_box cts_figure_box_of(double *values, size_t count);

/* The first series that is drawn exactly as series i is, with the same values: i itself unless an
 * earlier one would be hidden under it. Bars, stacks and boxes never hide each other. */
size_t cts_figure_twin(const struct cts_figure *figure, size_t i);

/* Least and greatest of what an axis must show; low == high where there is nothing. */
struct cts_figure_span {
    double low, high;
};
struct cts_figure_span cts_figure_x_span(const struct cts_figure *figure);
struct cts_figure_span cts_figure_y_span(const struct cts_figure *figure);

/* Where an axis has its ticks within [low, high]: at most `most` of them, ascending, round numbers
 * of its unit (powers of two for bytes). Returns how many. */
enum { CTS_TICKS_MAX = 32 };
size_t cts_figure_ticks(const struct cts_figure_axis *axis, double low, double high, size_t most,
                        double ticks[CTS_TICKS_MAX]);
/* A value as a person reads it: "1.5 KiB", "12%", "3.2 ms". */
void cts_figure_text(enum cts_figure_unit unit, double value, char *text, size_t text_bytes);
/* The texts of ascending ticks, with as many digits as tell them apart. */
enum { CTS_TICK_TEXT_SIZE = 40 };
void cts_figure_tick_texts(enum cts_figure_unit unit, const double *ticks, size_t count,
                           char texts[][CTS_TICK_TEXT_SIZE]);

/* As the member "figures" of the open object: see web/src/figure.tsx, which names every field. */
void cts_figures_json(const struct cts_figures *figures, struct cts_json *json);

/* Draws a figure into two files, PATH.svg and PATH.png (twice the size in pixels). `run`: whose it
 * is, which stands in its title; NULL: the figure says so itself. */
enum { CTS_FIGURE_WIDTH = 640, CTS_FIGURE_HEIGHT = 400 };
/* Writes its data; `run`, or the run that a row is of, is in the first column. */
CTS_MUST_CHECK enum cts_status cts_figure_write_csv(const struct cts_figure *figure,
                                                    const char *run, const char *path,
                                                    struct cts_error *error);
/* Every figure into `directory`, made if absent, under its name, and its data as NAME.csv. */
CTS_MUST_CHECK enum cts_status cts_figures_draw(const struct cts_figures *figures, const char *run,
                                                const char *directory, struct cts_error *error);

#endif
