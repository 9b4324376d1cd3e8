/* Figures: boxes against a definition that sorts anew, ticks that are round and lie inside, spans,
 * and pictures that are there and of the stated size. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/figure.h"
#include "random.h"

/* Fonts are found once and kept until the process ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig";
}

/* The p-quantile by counting: the value with floor(place) values before it, and the next. */
static double slow_quantile(const double *values, size_t count, double share)
{
    const double place = share * (double)(count - 1);
    double around[2] = {0, 0};
    for (size_t side = 0; side < 2; side++) {
        size_t rank = (size_t)place + side;
        if (rank >= count) rank = count - 1;
        for (size_t i = 0; i < count; i++) {
            size_t below = 0, same = 0;
            for (size_t k = 0; k < count; k++) {
                below += values[k] < values[i];
                same += values[k] == values[i];
            }
            if (below <= rank && rank < below + same) around[side] = values[i];
        }
    }
    return around[0] + (place - floor(place)) * (around[1] - around[0]);
}

static void test_boxes(void **unused)
{
    (void)unused;
    for (unsigned round = 0; round < 200; round++) {
        const size_t count = 1 + random_u64() % 40;
        double values[40], copy[40];
        for (size_t i = 0; i < count; i++) copy[i] = values[i] = (double)(random_u64() % 50);
        if (count > 3 && round % 2) copy[1] = values[1] = 1000; /* far outside */
        const struct cts_figure_box box = cts_figure_box_of(copy, count);
        assert_int_equal(box.count, count);
        const double first = slow_quantile(values, count, 0.25);
        const double third = slow_quantile(values, count, 0.75);
        assert_true(fabs(box.first - first) < 1e-9 && fabs(box.third - third) < 1e-9);
        assert_true(fabs(box.median - slow_quantile(values, count, 0.5)) < 1e-9);
        double low = INFINITY, high = -INFINITY, least = INFINITY, greatest = -INFINITY, sum = 0;
        for (size_t i = 0; i < count; i++) {
            if (values[i] >= first - 1.5 * (third - first)) low = fmin(low, values[i]);
            if (values[i] <= third + 1.5 * (third - first)) high = fmax(high, values[i]);
            least = fmin(least, values[i]);
            greatest = fmax(greatest, values[i]);
            sum += values[i];
        }
        assert_true(box.low == low && box.high == high);
        assert_true(box.smallest == least && box.largest == greatest);
        assert_true(fabs(box.mean - sum / (double)count) < 1e-9);
    }
    assert_int_equal(cts_figure_box_of(NULL, 0).count, 0);
}

static void test_ticks(void **unused)
{
    (void)unused;
    for (unsigned round = 0; round < 2000; round++) {
        const bool log = round % 3 == 0;
        const struct cts_figure_axis axis = {.unit = round % 2 ? CTS_UNIT_BYTES : CTS_UNIT_NUMBER,
                                             .log = log};
        const double low = log ? exp((double)(random_u64() % 20)) : 0;
        const double high = (low + 1) * (1.5 + (double)(random_u64() % 100000));
        double ticks[CTS_TICKS_MAX];
        const size_t most = 4 + random_u64() % 6;
        const size_t count = cts_figure_ticks(&axis, low, high, most, ticks);
        assert_true(count <= most + 1);
        if (!log) assert_true(count >= 2);
        for (size_t i = 0; i < count; i++) {
            assert_true(ticks[i] >= low * (1 - 1e-6) && ticks[i] <= high * (1 + 1e-6));
            if (i) assert_true(ticks[i] > ticks[i - 1]);
            if (i > 1 && !log)
                assert_true(fabs((ticks[i] - ticks[i - 1]) - (ticks[1] - ticks[0])) <
                            1e-6 * ticks[i]);
        }
        if (round % 2 && !log && count >= 2) { /* bytes: the step is a power of two */
            int exponent;
            assert_true(frexp(ticks[1] - ticks[0], &exponent) == 0.5);
        }
    }
    double ticks[CTS_TICKS_MAX];
    const struct cts_figure_axis axis = {.unit = CTS_UNIT_NUMBER};
    assert_int_equal(cts_figure_ticks(&axis, 3, 3, 5, ticks), 0);
}

static void test_texts(void **unused)
{
    (void)unused;
    static const struct {
        enum cts_figure_unit unit;
        double value;
        const char *text;
    } cases[] = {
        {CTS_UNIT_BYTES, 0, "0 B"},
        {CTS_UNIT_BYTES, 1536, "1.5 KiB"},
        {CTS_UNIT_BYTES, 1000, "1000 B"},
        {CTS_UNIT_FRACTION, 0.125, "12.5%"},
        {CTS_UNIT_NS, 1500, "1.5 us"},
        {CTS_UNIT_NS, 12e9, "12 s"},
        {CTS_UNIT_COUNT, 9999, "9999"},
        {CTS_UNIT_COUNT, 1250000, "1.25M"},
        {CTS_UNIT_NUMBER, 0.5, "0.5"},
        {CTS_UNIT_NS, 999600, "1 ms"},
        {CTS_UNIT_BYTES, 1048000, "1023 KiB"},
        {CTS_UNIT_BYTES, 1048200, "1 MiB"},
        {CTS_UNIT_COUNT, 999600, "1M"},
        {CTS_UNIT_FRACTION, 39.047, "3905%"},
        {CTS_UNIT_FRACTION, 1, "100%"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[40];
        cts_figure_text(cases[i].unit, cases[i].value, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

/* Any value reads back as itself, to half a unit of the last digit shown; without an exponent, and
 * with fewer digits before the point than the next unit would have. */
static void test_random_texts(void **unused)
{
    (void)unused;
    static const struct {
        const char *suffix;
        double size, below;
        enum cts_figure_unit unit;
    } suffixes[] = {
        {" EiB", 0x1p60, 1e9, CTS_UNIT_BYTES},  {" PiB", 0x1p50, 1024, CTS_UNIT_BYTES},
        {" TiB", 0x1p40, 1024, CTS_UNIT_BYTES}, {" GiB", 0x1p30, 1024, CTS_UNIT_BYTES},
        {" MiB", 0x1p20, 1024, CTS_UNIT_BYTES}, {" KiB", 1024, 1024, CTS_UNIT_BYTES},
        {" B", 1, 1024, CTS_UNIT_BYTES},        {" ns", 1, 1000, CTS_UNIT_NS},
        {" us", 1e3, 1000, CTS_UNIT_NS},        {" ms", 1e6, 1000, CTS_UNIT_NS},
        {" s", 1e9, 1e15, CTS_UNIT_NS},         {"%", 0.01, 1e15, CTS_UNIT_FRACTION},
        {"k", 1e3, 1000, CTS_UNIT_COUNT},       {"M", 1e6, 1000, CTS_UNIT_COUNT},
        {"G", 1e9, 1000, CTS_UNIT_COUNT},       {"T", 1e12, 1e6, CTS_UNIT_COUNT},
        {"", 1, 10000, CTS_UNIT_COUNT},
    };
    for (unsigned round = 0; round < 40000; round++) {
        static const enum cts_figure_unit units[] = {CTS_UNIT_BYTES, CTS_UNIT_NS, CTS_UNIT_FRACTION,
                                                     CTS_UNIT_COUNT};
        const enum cts_figure_unit unit = units[round % 4];
        double value = (double)(random_u64() >> (14 + below(50)));
        if (round % 3 == 0) value = pow(10, below(14)) * (1 - 1 / (double)(1 + below(5000)));
        if (unit == CTS_UNIT_FRACTION) value = value / 1000;
        char text[40], *end;
        cts_figure_text(unit, value, text, sizeof text);
        assert_null(strchr(text, 'e'));
        const double mantissa = strtod(text, &end);
        size_t k = 0;
        while (suffixes[k].unit != unit || strcmp(suffixes[k].suffix, end) != 0)
            assert_true(++k < sizeof suffixes / sizeof *suffixes);
        assert_true(mantissa < suffixes[k].below);
        assert_true(fabs(mantissa * suffixes[k].size - value) <= 0.0051 * value + 1e-9);
    }
}

/* Ticks that differ read differently, however far they are from 0. Those of counts and bytes are
 * whole. */
static void test_tick_texts(void **unused)
{
    (void)unused;
    for (unsigned round = 0; round < 4000; round++) {
        const struct cts_figure_axis axis = {.unit = (enum cts_figure_unit)(round % 5),
                                             .log = round % 7 == 0};
        const double low = axis.log ? pow(2, (double)below(10)) / 8 : (double)below(1000000);
        const double high = axis.log ? low * (2 + below(1000000)) : low + 2 + below(3000);
        double ticks[CTS_TICKS_MAX];
        char texts[CTS_TICKS_MAX][CTS_TICK_TEXT_SIZE];
        const size_t count = cts_figure_ticks(&axis, low, high, 4 + below(5), ticks);
        cts_figure_tick_texts(axis.unit, ticks, count, texts);
        for (size_t i = 0; i < count; i++) {
            if (i) assert_string_not_equal(texts[i], texts[i - 1]);
            if (axis.unit == CTS_UNIT_COUNT || axis.unit == CTS_UNIT_BYTES)
                assert_true(ticks[i] == floor(ticks[i]));
        }
    }
}

/* Every kind of figure, small, with holes. */
static void fill(struct cts_figures *figures)
{
    struct cts_error error = {0};
    for (int kind = CTS_FIGURE_LINES; kind <= CTS_FIGURE_CELLS; kind++) {
        char name[20];
        snprintf(name, sizeof name, "figure-%d", kind);
        const struct cts_figure_texts texts = {.name = name,
                                               .group = "all",
                                               .title = "A title",
                                               .tab = "a tab",
                                               .says = "What it is."};
        struct cts_figure *const figure =
            cts_figures_add(figures, (enum cts_figure_kind)kind, &texts, &error);
        assert_non_null(figure);
        figure->x = (struct cts_figure_axis){.label = "x", .unit = CTS_UNIT_COUNT};
        figure->y = (struct cts_figure_axis){.label = "y", .unit = CTS_UNIT_BYTES};
        if (kind == CTS_FIGURE_CELLS) {
            figure->columns = figure->rows = 4;
            figure->bin_size = 2;
            figure->id_count = 7;
            figure->cells = calloc(2, sizeof *figure->cells);
            figure->cell_count = 2;
            figure->cells[0] = (struct cts_figure_cell){0, 0, 5};
            figure->cells[1] = (struct cts_figure_cell){3, 2, 500};
            continue;
        }
        const bool named = kind >= CTS_FIGURE_BARS;
        if (named) {
            assert_int_equal(cts_figure_categories(&figure->x, 3, &error), CTS_OK);
            for (size_t i = 0; i < 3; i++)
                assert_int_equal(cts_figure_category(&figure->x, i, &error, "part %zu", i), CTS_OK);
        }
        assert_int_equal(cts_figure_room(figure, 3, 2, &error), CTS_OK);
        for (size_t s = 0; s < 2; s++) {
            assert_int_equal(cts_figure_name(figure, s, &error, "series %zu", s), CTS_OK);
            for (size_t i = 0; i < 3; i++) {
                double values[] = {1, 2, 3 + (double)i, 40};
                if (figure->x_values) figure->x_values[i] = (double)(i + 1);
                if (kind == CTS_FIGURE_BOXES)
                    figure->series[s].boxes[i] = cts_figure_box_of(values, i == 1 ? 0 : 4);
                else if (i != 1)
                    figure->series[s].values[i] = 100.0 * (double)(i + 1) * (double)(s + 1);
            }
        }
    }
}

static void test_spans(void **unused)
{
    (void)unused;
    struct cts_figures figures = {0};
    fill(&figures);
    assert_true(cts_figure_y_span(&figures.items[CTS_FIGURE_LINES]).high == 600);
    assert_true(cts_figure_y_span(&figures.items[CTS_FIGURE_STACKS]).high == 900);
    assert_true(cts_figure_y_span(&figures.items[CTS_FIGURE_BOXES]).high == 40);
    assert_true(cts_figure_x_span(&figures.items[CTS_FIGURE_LINES]).low == 1);
    assert_true(cts_figure_x_span(&figures.items[CTS_FIGURE_CELLS]).high == 4);
    cts_figures_release(&figures);
}

static void test_pictures(void **unused)
{
    (void)unused;
    struct cts_figures figures = {0};
    struct cts_error error = {0};
    char directory[] = "/tmp/ctascope-figures-XXXXXX";
    assert_non_null(mkdtemp(directory));
    fill(&figures);
    assert_int_equal(cts_figures_draw(&figures, "a run", directory, &error), CTS_OK);
    for (size_t i = 0; i < figures.count; i++) {
        char path[100];
        unsigned char head[24];
        snprintf(path, sizeof path, "%s/%s.png", directory, figures.items[i].name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
        fclose(file);
        assert_memory_equal(head + 1, "PNG", 3);
        assert_int_equal(head[18] << 8 | head[19], 2 * CTS_FIGURE_WIDTH);
        assert_int_equal(head[22] << 8 | head[23], 2 * CTS_FIGURE_HEIGHT);
        unlink(path);
        snprintf(path, sizeof path, "%s/%s.svg", directory, figures.items[i].name);
        assert_int_equal(access(path, R_OK), 0);
        unlink(path);
        snprintf(path, sizeof path, "%s/%s.csv", directory, figures.items[i].name);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(directory), 0);
    assert_int_equal(cts_figures_draw(&figures, "a run", "/proc/none/here", &error), CTS_IO);
    assert_non_null(strstr(error.text, "/proc/none/here"));
    cts_figures_release(&figures);
}

/* Three series of four values, the second equal to the first if `equal`. */
static struct cts_figure *three_series(struct cts_figures *figures, enum cts_figure_kind kind,
                                       bool equal)
{
    struct cts_error error = {0};
    const struct cts_figure_texts texts = {.name = equal ? "equal" : "different",
                                           .group = "all",
                                           .title = "A title",
                                           .says = "What it is."};
    struct cts_figure *const figure = cts_figures_add(figures, kind, &texts, &error);
    assert_non_null(figure);
    figure->y = (struct cts_figure_axis){.label = "y", .low = 0, .high = 10};
    assert_int_equal(cts_figure_room(figure, 4, 3, &error), CTS_OK);
    for (size_t s = 0; s < 3; s++) {
        assert_int_equal(cts_figure_name(figure, s, &error, "n%zu", s), CTS_OK);
        for (size_t i = 0; i < 4; i++) {
            figure->x_values[i] = (double)i;
            const double others = s == 2 ? 3 : s == 1 && !equal ? 2 : 0;
            if (i != 2) figure->series[s].values[i] = (double)i + others; /* a hole */
        }
    }
    return figure;
}

static void test_twins(void **unused)
{
    (void)unused;
    for (int kind = CTS_FIGURE_LINES; kind <= CTS_FIGURE_STACKS; kind++) {
        struct cts_figures figures = {0};
        const bool hides = kind <= CTS_FIGURE_POINTS; /* bars stand side by side */
        struct cts_figure *figure = three_series(&figures, (enum cts_figure_kind)kind, true);
        const size_t twins[] = {0, hides ? 0 : 1, 2};
        for (size_t i = 0; i < 3; i++) assert_int_equal(cts_figure_twin(figure, i), twins[i]);
        figure->series[1].dashed = true;
        assert_int_equal(cts_figure_twin(figure, 1), 1);
        figure->series[1].dashed = false;
        figure->series[0].deviations = calloc(4, sizeof(double));
        assert_int_equal(cts_figure_twin(figure, 1), 1);
        figure = three_series(&figures, (enum cts_figure_kind)kind, false);
        for (size_t i = 0; i < 3; i++) assert_int_equal(cts_figure_twin(figure, i), i);
        cts_figures_release(&figures);
    }
}

/* How often the text stands in the file. */
static size_t occurrences(const char *directory, const char *name, const char *text)
{
    static char content[1 << 20];
    char path[100];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    content[fread(content, 1, sizeof content - 1, file)] = 0;
    fclose(file);
    size_t count = 0;
    for (const char *at = content; (at = strstr(at, text)); at++) count++;
    return count;
}

/* The legend of equal series is "n0 = n1", which has more glyphs than "n0", "n1". */
static void test_legend_of_twins(void **unused)
{
    (void)unused;
    struct cts_figures figures = {0};
    struct cts_error error = {0};
    char directory[] = "/tmp/ctascope-figures-XXXXXX";
    assert_non_null(mkdtemp(directory));
    three_series(&figures, CTS_FIGURE_LINES, true);
    three_series(&figures, CTS_FIGURE_LINES, false);
    assert_int_equal(cts_figures_draw(&figures, NULL, directory, &error), CTS_OK);
    const size_t signs = occurrences(directory, "different.svg", "<use ");
    assert_true(signs > 10);
    assert_true(occurrences(directory, "equal.svg", "<use ") > signs);
    static const char *const endings[] = {"png", "svg", "csv"};
    for (size_t i = 0; i < 6; i++) {
        char path[100];
        snprintf(path, sizeof path, "%s/%s.%s", directory, figures.items[i / 3].name,
                 endings[i % 3]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(directory), 0);
    cts_figures_release(&figures);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),           cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_texts),           cmocka_unit_test(test_random_texts),
        cmocka_unit_test(test_tick_texts),      cmocka_unit_test(test_spans),
        cmocka_unit_test(test_pictures),        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_legend_of_twins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
