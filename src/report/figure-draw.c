/* Figures as pictures for papers and slides, through cairo: light, one size, SVG and PNG alike.
 *
 * A `struct frame` is where the plot stands on the page and how values become places: `x` and `y`
 * are the spans of the axes. Categories take a unit of x each, the first from 0 to 1. */
#include <cairo-svg.h>
#include <cairo.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/output-file.h"
#include "common/utf8.h"
#include "report/figure.h"

enum { LEFT = 76, RIGHT = 16, TOP = 34, BOTTOM = 52, LEGEND_LINE = 16, PNG_SCALE = 2 };
enum { SLANT_MAX = 130, SLANT_GAIN = 14 }; /* pixels of a name; what a line of level names took */
#define SLANT 0.61                         /* rad: 35 degrees */

/* Told apart also by those who do not see red and green (Okabe and Ito). */
static const double palette[CTS_FIGURE_COLOURS][3] = {
    {0.00, 0.45, 0.70}, {0.84, 0.37, 0.00}, {0.00, 0.62, 0.45}, {0.67, 0.27, 0.60},
    {0.90, 0.62, 0.00}, {0.34, 0.71, 0.91}, {0.47, 0.37, 0.22}, {0.35, 0.35, 0.35},
};

struct frame {
    cairo_t *cairo;
    const struct cts_figure *figure;
    struct cts_figure_span x, y;
    double left, right, top, bottom;
    double slant; /* room below for names that stand aslant; 0: they do not */
};

static void set_colour(cairo_t *cairo, unsigned colour, double alpha)
{
    const double *const rgb = palette[colour % CTS_FIGURE_COLOURS];
    cairo_set_source_rgba(cairo, rgb[0], rgb[1], rgb[2], alpha);
}

static void set_grey(cairo_t *cairo, double grey)
{
    cairo_set_source_rgb(cairo, grey, grey, grey);
}

static double share_of(const struct cts_figure_axis *axis, struct cts_figure_span span,
                       double value)
{
    if (!axis->log) return (value - span.low) / (span.high - span.low);
    if (value <= span.low) return 0;
    return log(value / span.low) / log(span.high / span.low);
}
static double x_of(const struct frame *frame, double value)
{
    return frame->left +
           share_of(&frame->figure->x, frame->x, value) * (frame->right - frame->left);
}
static double y_of(const struct frame *frame, double value)
{
    const double share = share_of(&frame->figure->y, frame->y, value);
    return frame->bottom - fmin(fmax(share, 0), 1.02) * (frame->bottom - frame->top);
}
/* Where value i of a series stands. */
static double place_of(const struct frame *frame, size_t i)
{
    const struct cts_figure *const figure = frame->figure;
    return x_of(frame, figure->x_values ? figure->x_values[i] : (double)i + 0.5);
}

/* ---- texts and axes ---- */

/* `align` 0: left, 0.5: centred, 1: right, of the point. */
static void show_text(cairo_t *cairo, double x, double y, double align, const char *text)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cairo, text, &extents);
    cairo_move_to(cairo, x - align * extents.x_advance, y);
    cairo_show_text(cairo, text);
}

static double text_width(cairo_t *cairo, const char *text)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cairo, text, &extents);
    return extents.x_advance;
}

static void show_upward(cairo_t *cairo, double x, double y, const char *text)
{
    cairo_save(cairo);
    cairo_translate(cairo, x, y);
    cairo_rotate(cairo, -M_PI / 2);
    show_text(cairo, 0, 0, 0.5, text);
    cairo_restore(cairo);
}

static void draw_tick(const struct frame *frame, bool is_x, double place, const char *text)
{
    cairo_t *const cairo = frame->cairo;
    set_grey(cairo, 0.88);
    cairo_set_line_width(cairo, 1);
    if (is_x) {
        cairo_move_to(cairo, place, frame->top);
        cairo_line_to(cairo, place, frame->bottom);
    } else {
        cairo_move_to(cairo, frame->left, place);
        cairo_line_to(cairo, frame->right, place);
    }
    cairo_stroke(cairo);
    set_grey(cairo, 0.3);
    if (is_x)
        show_text(cairo, place, frame->bottom + 15, 0.5, text);
    else
        show_text(cairo, frame->left - 6, place + 4, 1, text);
}

static void draw_scale(const struct frame *frame, bool is_x)
{
    const struct cts_figure_axis *const axis = is_x ? &frame->figure->x : &frame->figure->y;
    const struct cts_figure_span span = is_x ? frame->x : frame->y;
    double ticks[CTS_TICKS_MAX];
    const size_t count = cts_figure_ticks(axis, span.low, span.high, is_x ? 8 : 6, ticks);
    char texts[CTS_TICKS_MAX][CTS_TICK_TEXT_SIZE];
    cts_figure_tick_texts(axis->unit, ticks, count, texts);
    for (size_t i = 0; i < count; i++)
        draw_tick(frame, is_x, is_x ? x_of(frame, ticks[i]) : y_of(frame, ticks[i]), texts[i]);
}

static double widest_category(cairo_t *cairo, const struct cts_figure_axis *axis)
{
    double widest = 12;
    for (size_t i = 0; i < axis->category_count; i++)
        widest = fmax(widest, text_width(cairo, axis->categories[i]) + 8);
    return widest;
}

/* How much more room names below the plot take where they would touch and stand aslant; 0: they
 * do not. */
static double slant_room(cairo_t *cairo, const struct cts_figure *figure)
{
    if (!figure->x.categories) return 0;
    cairo_set_font_size(cairo, 11);
    const double widest = widest_category(cairo, &figure->x);
    const double room = CTS_FIGURE_WIDTH - RIGHT - LEFT;
    if (widest * (double)figure->x.category_count <= room) return 0;
    return fmin(widest, SLANT_MAX) * sin(SLANT);
}

static bool is_within_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* `length` bytes of a name, or as much of its begin and its end as `width` has room for. */
static void fit_name(cairo_t *cairo, const char *name, size_t length, double width, char fitted[80])
{
    size_t head = length, tail = 0;
    if (length < 70) snprintf(fitted, 80, "%.*s", (int)length, name);
    if (length < 70 && text_width(cairo, fitted) <= width) return;
    head = tail = length / 2 < 33 ? length / 2 : 33;
    do {
        if (head >= tail)
            head--;
        else
            tail--;
        while (head && is_within_character(name[head])) head--;
        while (tail && is_within_character(name[length - tail])) tail--;
        snprintf(fitted, 80, "%.*s..%.*s", (int)head, name, (int)tail, name + length - tail);
    } while (head + tail > 2 && text_width(cairo, fitted) > width);
}

/* The name of a category below its place, aslant; what is too long is cut in its middle, and each
 * side of an arrow in its own. */
static void draw_slanted(const struct frame *frame, double place, const char *text)
{
    static const char arrow[] = " → ";
    cairo_t *const cairo = frame->cairo;
    const char *const second = strstr(text, arrow);
    const double room = second ? (SLANT_MAX - 8 - text_width(cairo, arrow)) / 2 : SLANT_MAX - 8;
    char name[200], side[80];
    fit_name(cairo, text, second ? (size_t)(second - text) : strlen(text), room, side);
    int length = snprintf(name, sizeof name, "%s", side);
    if (second) {
        const char *const reader = second + strlen(arrow);
        fit_name(cairo, reader, strlen(reader), room, side);
        snprintf(name + length, sizeof name - (size_t)length, "%s%s", arrow, side);
    }
    draw_tick(frame, true, place, "");
    cairo_save(cairo);
    cairo_translate(cairo, place + 4, frame->bottom + 12);
    cairo_rotate(cairo, -SLANT);
    show_text(cairo, 0, 0, 1, name);
    cairo_restore(cairo);
}

/* Names of categories; below the plot aslant, beside it every n-th, where they would touch. */
static void draw_categories(const struct frame *frame, bool is_x)
{
    const struct cts_figure_axis *const axis = is_x ? &frame->figure->x : &frame->figure->y;
    const double room = is_x ? frame->right - frame->left : frame->bottom - frame->top;
    const double widest = frame->slant ? 12 : is_x ? widest_category(frame->cairo, axis) : 12;
    const size_t step = (size_t)fmax(1, ceil(widest * (double)axis->category_count / room));
    for (size_t i = 0; i < axis->category_count; i += step) {
        const double share = ((double)i + 0.5) / (double)axis->category_count;
        if (is_x && frame->slant > 0) {
            draw_slanted(frame, frame->left + share * room, axis->categories[i]);
            continue;
        }
        draw_tick(frame, is_x, is_x ? frame->left + share * room : frame->top + share * room,
                  axis->categories[i]);
    }
}

/* Ids of the first, the middle and the last bin of a matrix. */
static void draw_bins(const struct frame *frame, bool is_x, uint32_t bins)
{
    static const double shares[] = {0, 0.5, 1};
    for (size_t i = 0; i < 3; i++) {
        char text[40];
        const uint64_t id = (uint64_t)(shares[i] * (double)frame->figure->id_count);
        snprintf(text, sizeof text, "%llu", (unsigned long long)id);
        const double along = shares[i] * (double)bins / (double)bins;
        draw_tick(frame, is_x,
                  is_x ? frame->left + along * (frame->right - frame->left)
                       : frame->top + along * (frame->bottom - frame->top),
                  text);
    }
}

static void draw_axes(const struct frame *frame)
{
    const struct cts_figure *const figure = frame->figure;
    cairo_t *const cairo = frame->cairo;
    cairo_set_font_size(cairo, 11);
    for (int is_x = 0; is_x < 2; is_x++) {
        const struct cts_figure_axis *const axis = is_x ? &figure->x : &figure->y;
        if (axis->categories)
            draw_categories(frame, is_x);
        else if (figure->kind == CTS_FIGURE_CELLS)
            draw_bins(frame, is_x, is_x ? figure->columns : figure->rows);
        else
            draw_scale(frame, is_x);
    }
    set_grey(cairo, 0.2);
    cairo_set_line_width(cairo, 1);
    cairo_rectangle(cairo, frame->left, frame->top, frame->right - frame->left,
                    frame->bottom - frame->top);
    cairo_stroke(cairo);
    cairo_set_font_size(cairo, 12);
    if (figure->x.label)
        show_text(cairo, (frame->left + frame->right) / 2, frame->bottom + 34 + frame->slant, 0.5,
                  figure->x.label);
    if (figure->y.label) show_upward(cairo, 16, (frame->top + frame->bottom) / 2, figure->y.label);
}

/* The name of series i and of those that lie under it, "A = B", as text at the point `at` unless
 * that is NULL; names for which a line has no room are counted. Returns the width. */
static double legend_text(cairo_t *cairo, const struct cts_figure *figure, size_t i,
                          const double at[2])
{
    const double room = CTS_FIGURE_WIDTH - RIGHT - LEFT - 18 - text_width(cairo, " = 99 more");
    double width = 0;
    size_t more = 0;
    char text[300];
    for (size_t j = i; j < figure->series_count; j++) {
        if (cts_figure_twin(figure, j) != i) continue;
        snprintf(text, sizeof text, "%s%s", j == i ? "" : " = ",
                 figure->series[j].name ? figure->series[j].name : "");
        const double wide = text_width(cairo, text);
        if (j > i && (more || width + wide > room)) {
            more++;
            continue;
        }
        if (at) show_text(cairo, at[0] + width, at[1], 0, text);
        width += wide;
    }
    if (!more) return width;
    snprintf(text, sizeof text, " = %zu more", more);
    if (at) show_text(cairo, at[0] + width, at[1], 0, text);
    return width + text_width(cairo, text);
}

/* The names of the series, in lines above the plot; returns where the plot may begin. */
static double draw_legend(cairo_t *cairo, const struct cts_figure *figure)
{
    double x = LEFT, y = TOP;
    if (figure->kind == CTS_FIGURE_CELLS || figure->series_count == 0) return TOP;
    cairo_set_font_size(cairo, 11);
    for (size_t i = 0; i < figure->series_count; i++) {
        if (cts_figure_twin(figure, i) != i) continue;
        const double width = 18 + legend_text(cairo, figure, i, NULL) + 14;
        if (x + width > CTS_FIGURE_WIDTH - RIGHT && x > LEFT) {
            x = LEFT;
            y += LEGEND_LINE;
        }
        set_colour(cairo, figure->series[i].colour, 1);
        cairo_rectangle(cairo, x, y - 8, 12, 8);
        cairo_fill(cairo);
        set_grey(cairo, 0.2);
        legend_text(cairo, figure, i, (const double[]){x + 18, y});
        x += width;
    }
    return y + 12;
}

/* ---- what stands in the plot ---- */

static void draw_band(const struct frame *frame, const struct cts_figure_series *series)
{
    cairo_t *const cairo = frame->cairo;
    const size_t count = frame->figure->count;
    bool open = false;
    for (size_t i = 0; i < count; i++)
        if (!isnan(series->values[i])) {
            const double y = y_of(frame, series->values[i] + series->deviations[i]);
            if (open)
                cairo_line_to(cairo, place_of(frame, i), y);
            else
                cairo_move_to(cairo, place_of(frame, i), y);
            open = true;
        }
    for (size_t i = count; i-- > 0;)
        if (!isnan(series->values[i]))
            cairo_line_to(cairo, place_of(frame, i),
                          y_of(frame, fmax(series->values[i] - series->deviations[i], 0)));
    set_colour(cairo, series->colour, 0.18);
    cairo_fill(cairo);
}

static void draw_line(const struct frame *frame, const struct cts_figure_series *series)
{
    static const double dashes[] = {5, 4};
    cairo_t *const cairo = frame->cairo;
    const bool steps = frame->figure->kind == CTS_FIGURE_STEPS;
    bool open = false;
    double last = 0;
    if (series->deviations) draw_band(frame, series);
    for (size_t i = 0; i < frame->figure->count; i++) {
        if (isnan(series->values[i])) {
            open = false;
            continue;
        }
        const double x = place_of(frame, i), y = y_of(frame, series->values[i]);
        if (open && steps) cairo_line_to(cairo, x, last);
        if (open)
            cairo_line_to(cairo, x, y);
        else
            cairo_move_to(cairo, x, y);
        open = true;
        last = y;
    }
    set_colour(cairo, series->colour, 1);
    cairo_set_line_width(cairo, 1.6);
    if (series->dashed) cairo_set_dash(cairo, dashes, 2, 0);
    cairo_stroke(cairo);
    cairo_set_dash(cairo, NULL, 0, 0);
}

static void draw_points(const struct frame *frame, const struct cts_figure_series *series)
{
    for (size_t i = 0; i < frame->figure->count; i++) {
        if (isnan(series->values[i])) continue;
        cairo_arc(frame->cairo, place_of(frame, i), y_of(frame, series->values[i]), 2.6, 0,
                  2 * M_PI);
        set_colour(frame->cairo, series->colour, 1);
        cairo_fill(frame->cairo);
    }
}

/* Where a bar or box stands. */
struct slot {
    double left, width;
};

/* The place of series s in category i: series share the middle of a category's room. */
static struct slot slot_of(const struct frame *frame, size_t i, size_t s, size_t slots)
{
    const double unit = (frame->right - frame->left) / (double)frame->figure->count;
    const double width = 0.8 * unit / (double)slots;
    return (struct slot){frame->left + unit * ((double)i + 0.1) + width * (double)s, width};
}

static void draw_bars(const struct frame *frame, bool stacked)
{
    const struct cts_figure *const figure = frame->figure;
    for (size_t i = 0; i < figure->count; i++) {
        double base = 0;
        for (size_t s = 0; s < figure->series_count; s++) {
            const double value = figure->series[s].values[i];
            if (isnan(value)) continue;
            const struct slot slot =
                slot_of(frame, i, stacked ? 0 : s, stacked ? 1 : figure->series_count);
            const double low = y_of(frame, stacked ? base : frame->y.low);
            const double high = y_of(frame, base + value);
            cairo_rectangle(frame->cairo, slot.left, high, slot.width, low - high);
            set_colour(frame->cairo, figure->series[s].colour, 1);
            cairo_fill(frame->cairo);
            if (stacked) base += value;
        }
    }
}

static void draw_box(const struct frame *frame, const struct cts_figure_box *box, unsigned colour,
                     struct slot slot)
{
    cairo_t *const cairo = frame->cairo;
    const double middle = slot.left + slot.width / 2, inner = 0.8 * slot.width;
    const double first = y_of(frame, box->first), third = y_of(frame, box->third);
    cairo_set_line_width(cairo, 1);
    set_colour(cairo, colour, 0.35);
    cairo_rectangle(cairo, middle - inner / 2, third, inner, first - third);
    cairo_fill_preserve(cairo);
    set_colour(cairo, colour, 1);
    cairo_stroke(cairo);
    const double ends[2][2] = {{box->first, box->low}, {box->third, box->high}};
    for (int end = 0; end < 2; end++) {
        cairo_move_to(cairo, middle, y_of(frame, ends[end][0]));
        cairo_line_to(cairo, middle, y_of(frame, ends[end][1]));
        cairo_move_to(cairo, middle - inner / 4, y_of(frame, ends[end][1]));
        cairo_line_to(cairo, middle + inner / 4, y_of(frame, ends[end][1]));
    }
    cairo_stroke(cairo);
    cairo_set_line_width(cairo, 2);
    cairo_move_to(cairo, middle - inner / 2, y_of(frame, box->median));
    cairo_line_to(cairo, middle + inner / 2, y_of(frame, box->median));
    cairo_stroke(cairo);
    const double outside[] = {box->smallest, box->largest};
    const double whiskers[] = {box->low, box->high};
    for (int end = 0; end < 2; end++) {
        if (outside[end] == whiskers[end]) continue;
        cairo_arc(cairo, middle, y_of(frame, outside[end]), 1.8, 0, 2 * M_PI);
        cairo_fill(cairo);
    }
}

static void draw_boxes(const struct frame *frame)
{
    const struct cts_figure *const figure = frame->figure;
    for (size_t i = 0; i < figure->count; i++)
        for (size_t s = 0; s < figure->series_count; s++) {
            if (!figure->series[s].boxes[i].count) continue;
            draw_box(frame, &figure->series[s].boxes[i], figure->series[s].colour,
                     slot_of(frame, i, s, figure->series_count));
        }
}

static void set_heat(cairo_t *cairo, double share)
{
    cairo_set_source_rgb(cairo, 0.89 - 0.87 * share, 0.93 - 0.73 * share, 0.95 - 0.62 * share);
}

/* Beside the matrix: which colour is how much. */
static void draw_heat_scale(const struct frame *frame, double most)
{
    enum { STEPS = 64, WIDTH = 14, GAP = 28 };
    cairo_t *const cairo = frame->cairo;
    const double left = frame->right + GAP;
    const double step = (frame->bottom - frame->top) / STEPS;
    for (int i = 0; i < STEPS; i++) {
        set_heat(cairo, (i + 0.5) / STEPS);
        cairo_rectangle(cairo, left, frame->bottom - step * (i + 1), WIDTH, step);
        cairo_fill(cairo);
    }
    set_grey(cairo, 0.3);
    cairo_set_font_size(cairo, 11);
    char last[40] = "";
    for (int part = 0; part <= 4; part++) {
        char text[40];
        const double share = part / 4.0;
        cts_figure_text(frame->figure->cell_unit, round(expm1(share * log1p(most))), text,
                        sizeof text);
        if (!strcmp(text, last)) continue; /* few: not each part has a number of its own */
        memcpy(last, text, sizeof last);
        show_text(cairo, left + WIDTH + 6, frame->bottom - share * (frame->bottom - frame->top) + 4,
                  0, text);
    }
}

static void draw_cells(const struct frame *frame)
{
    const struct cts_figure *const figure = frame->figure;
    const double width = (frame->right - frame->left) / figure->columns;
    const double height = (frame->bottom - frame->top) / figure->rows;
    double most = 0;
    for (size_t i = 0; i < figure->cell_count; i++) most = fmax(most, figure->cells[i].value);
    cairo_set_antialias(frame->cairo, CAIRO_ANTIALIAS_NONE); /* no seams between cells */
    for (size_t i = 0; i < figure->cell_count; i++) {
        /* Logarithmic: what is small beside what is large stays visible. */
        const double share = most <= 1 ? 1 : log1p(figure->cells[i].value) / log1p(most);
        cairo_rectangle(frame->cairo, frame->left + figure->cells[i].column * width,
                        frame->top + figure->cells[i].row * height, width, height);
        set_heat(frame->cairo, share);
        cairo_fill(frame->cairo);
    }
    draw_heat_scale(frame, most);
    cairo_set_antialias(frame->cairo, CAIRO_ANTIALIAS_DEFAULT);
}

static void draw_inside(const struct frame *frame)
{
    const struct cts_figure *const figure = frame->figure;
    switch (figure->kind) {
    case CTS_FIGURE_BARS:
        draw_bars(frame, false);
        return;
    case CTS_FIGURE_STACKS:
        draw_bars(frame, true);
        return;
    case CTS_FIGURE_BOXES:
        draw_boxes(frame);
        return;
    case CTS_FIGURE_CELLS:
        draw_cells(frame);
        return;
    case CTS_FIGURE_LINES:
    case CTS_FIGURE_STEPS:
    case CTS_FIGURE_POINTS:
        break;
    }
    for (size_t i = 0; i < figure->series_count; i++)
        if (cts_figure_twin(figure, i) != i)
            continue; /* the legend says so */
        else if (figure->kind != CTS_FIGURE_POINTS || figure->series[i].line)
            draw_line(frame, &figure->series[i]);
        else
            draw_points(frame, &figure->series[i]);
}

/* What it shows on the left, whose it is on the right; a long name loses its begin. */
static void draw_title(cairo_t *cairo, const struct cts_figure *figure, const char *run)
{
    char title[200];
    snprintf(title, sizeof title, "%s%s%s", figure->title, figure->tab ? ": " : "",
             figure->tab ? figure->tab : "");
    show_text(cairo, LEFT, 16, 0, title);
    if (!run) return;
    const double room = CTS_FIGURE_WIDTH - RIGHT - LEFT - text_width(cairo, title) - 20;
    char name[200];
    snprintf(name, sizeof name, "%s", run);
    while (text_width(cairo, name) > room && cts_utf8_columns(run) > 8) {
        run += cts_utf8_length(run) ? cts_utf8_length(run) : 1;
        snprintf(name, sizeof name, "...%s", run);
    }
    set_grey(cairo, 0.4);
    show_text(cairo, CTS_FIGURE_WIDTH - RIGHT, 16, 1, name);
    set_grey(cairo, 0.1);
}

static void draw(cairo_t *cairo, const struct cts_figure *figure, const char *run)
{
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, 13);
    set_grey(cairo, 0.1);
    draw_title(cairo, figure, run);
    struct frame frame = {
        .cairo = cairo,
        .figure = figure,
        .x = cts_figure_x_span(figure),
        .y = cts_figure_y_span(figure),
        .left = LEFT,
        .right = CTS_FIGURE_WIDTH - RIGHT,
        .top = draw_legend(cairo, figure),
        .slant = slant_room(cairo, figure),
    };
    frame.bottom = CTS_FIGURE_HEIGHT - BOTTOM - frame.slant + (frame.slant > 0 ? SLANT_GAIN : 0);
    if (!figure->y.log && !(figure->y.low < figure->y.high)) /* the highest mark needs air */
        frame.y.high += 0.05 * (frame.y.high - frame.y.low);
    if (figure->kind == CTS_FIGURE_CELLS) /* square cells */
        frame.right = frame.left + (frame.bottom - frame.top) * figure->columns / figure->rows;
    draw_axes(&frame);
    draw_inside(&frame);
}

/* ---- files ---- */

static cairo_status_t put_bytes(void *file, const unsigned char *bytes, unsigned count)
{
    return fwrite(bytes, 1, count, file) == count ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/* Draws on a surface and ends it; `png`: where its pixels go, or NULL. */
static cairo_status_t draw_on(cairo_surface_t *surface, double scale,
                              const struct cts_figure *figure, const char *run, FILE *png)
{
    cairo_t *const cairo = cairo_create(surface);
    cairo_scale(cairo, scale, scale);
    draw(cairo, figure, run);
    cairo_status_t state = cairo_status(cairo);
    cairo_destroy(cairo);
    if (!state && png) state = cairo_surface_write_to_png_stream(surface, put_bytes, png);
    cairo_surface_finish(surface);
    if (!state) state = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return state;
}

static enum cts_status draw_file(const struct cts_figure *figure, const char *run, const char *stem,
                                 const char *ending, struct cts_error *error)
{
    const bool as_png = strcmp(ending, ".png") == 0;
    struct cts_output output;
    char *path = NULL;
    if (asprintf(&path, "%s%s", stem, ending) < 0)
        return cts_fail(error, CTS_MEMORY, "no memory for a path");
    enum cts_status status = cts_output_open(path, &output, error);
    if (!status) {
        const cairo_status_t state =
            as_png ? draw_on(cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                                        PNG_SCALE * CTS_FIGURE_WIDTH,
                                                        PNG_SCALE * CTS_FIGURE_HEIGHT),
                             PNG_SCALE, figure, run, output.file)
                   : draw_on(cairo_svg_surface_create_for_stream(
                                 put_bytes, output.file, CTS_FIGURE_WIDTH, CTS_FIGURE_HEIGHT),
                             1, figure, run, NULL);
        if (state)
            status = cts_fail(error, CTS_IO, "cannot write '%s': %s", path,
                              cairo_status_to_string(state));
        status = cts_output_close(&output, status, error);
    }
    free(path);
    return status;
}

static enum cts_status cts_figure_draw(const struct cts_figure *figure, const char *run,
                                       const char *path, struct cts_error *error)
{
    const enum cts_status status = draw_file(figure, run, path, ".svg", error);
    return status ? status : draw_file(figure, run, path, ".png", error);
}

static enum cts_status write_one(const struct cts_figure *figure, const char *run,
                                 const char *directory, struct cts_error *error)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s.csv", directory, figure->name) < 0)
        return cts_fail(error, CTS_MEMORY, "no memory for a path");
    enum cts_status status = cts_figure_write_csv(figure, run, path, error);
    path[strlen(path) - strlen(".csv")] = 0;
    if (!status) status = cts_figure_draw(figure, run, path, error);
    free(path);
    return status;
}

enum cts_status cts_figures_draw(const struct cts_figures *figures, const char *run,
                                 const char *directory, struct cts_error *error)
{
    if (mkdir(directory, 0777) && errno != EEXIST)
        return cts_fail_errno(error, errno, "cannot make '%s'", directory);
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < figures->count && !status; i++)
        status = write_one(&figures->items[i], run, directory, error);
    return status;
}
