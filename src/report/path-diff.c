#include "report/path-diff.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/text-table.h"
#include "common/wrapped-text.h"
#include "report/path-words.h"

enum { NAME_IN_TABLE = 24, SENTENCES_MAX = 12, SENTENCE_SIZE = 400 };

static const char *const where_names[] = {[CTS_PATH_ON_HOST] = "host",
                                          [CTS_PATH_ON_DEVICE] = "device",
                                          [CTS_PATH_IN_MPI] = "MPI",
                                          [CTS_PATH_LATENCY] = "latency"};
static const char *const change_names[] = {[CTS_TIME_SAME] = "same",
                                           [CTS_TIME_FASTER] = "faster",
                                           [CTS_TIME_SLOWER] = "slower",
                                           [CTS_TIME_WAITS_LESS] = "waits less",
                                           [CTS_TIME_WAITS_MORE] = "waits more",
                                           [CTS_TIME_NEW] = "new",
                                           [CTS_TIME_GONE] = "gone"};
static const char *const move_names[] = {
    [CTS_PATH_STAYS] = NULL, [CTS_PATH_MOVES_ON] = "moved on", [CTS_PATH_MOVES_OFF] = "moved off"};

/* ---- sheets ---- */

static double growth(uint64_t before, uint64_t after)
{
    return before ? (double)after / (double)before - 1 : NAN;
}

#define ACTIVITY_COLUMNS(COLUMN)                                                                   \
    COLUMN(activity, NULL, TEXT, row->name)                                                        \
    COLUMN(name, "activity", TABLE_TEXT,                                                           \
           cts_short_name_fitted(&one, 0, cts_sheet_room(cells, NAME_IN_TABLE + 1),                \
                                 NAME_IN_TABLE + 1))                                               \
    COLUMN(where, NULL, TEXT, where_names[row->where])                                             \
    COLUMN(change, "change", TEXT, change_names[row->change])                                      \
    COLUMN(exclusive_ns_before, "time before", TIME, row->before.exclusive_ns)                     \
    COLUMN(exclusive_ns_after, "after", TIME, row->after.exclusive_ns)                             \
    COLUMN(growth, NULL, FRACTION, growth(row->before.exclusive_ns, row->after.exclusive_ns))      \
    COLUMN(path_ns_before, "path before", TIME, row->before.path_ns)                               \
    COLUMN(path_ns_after, "after", TIME, row->after.path_ns)                                       \
    COLUMN(path, "path", TEXT, move_names[row->move])                                              \
    COLUMN(blame_ns_before, NULL, TIME, row->before.blame_ns)                                      \
    COLUMN(blame_ns_after, NULL, TIME, row->after.blame_ns)                                        \
    COLUMN(calls_before, NULL, COUNT, row->before.calls)                                           \
    COLUMN(calls_after, NULL, COUNT, row->after.calls)
CTS_SHEET_COLUMNS(activity_columns, ACTIVITY_COLUMNS);

static void activity_row(const void *state, size_t index, struct cts_sheet_row *cells)
{
    const struct cts_time_report *const report = state;
    const struct cts_time_row *const row = &report->diff->rows[index];
    char *const short_name = (char *)(uintptr_t)row->short_name;
    char *list[] = {short_name};
    const struct cts_short_names one = {.short_form = list, .count = 1};
    CTS_SHEET_FILL(cells, ACTIVITY_COLUMNS);
}

#define PATTERN_COLUMNS(COLUMN)                                                                    \
    COLUMN(pattern, "pattern", TEXT, cts_path_pattern_names[index])                                \
    COLUMN(count_before, "waits before", COUNT, before->count)                                     \
    COLUMN(count_after, "after", COUNT, after->count)                                              \
    COLUMN(time_ns_before, "time before", TIME, before->time_ns)                                   \
    COLUMN(time_ns_after, "after", TIME, after->time_ns)
CTS_SHEET_COLUMNS(pattern_columns, PATTERN_COLUMNS);

static void pattern_row(const void *state, size_t index, struct cts_sheet_row *cells)
{
    const struct cts_time_report *const report = state;
    const struct cts_path_pattern_row *const before = &report->before->patterns[index];
    const struct cts_path_pattern_row *const after = &report->after->patterns[index];
    CTS_SHEET_FILL(cells, PATTERN_COLUMNS);
}

struct cts_sheet cts_time_sheet(const struct cts_time_report *report, enum cts_time_sheet which)
{
    if (which == CTS_TIME_SHEET_PATTERN)
        return CTS_SHEET("patterns", pattern_columns, CTS_PATH_WAITS_END, pattern_row, report);
    return CTS_SHEET("activities", activity_columns, report->diff->row_count, activity_row, report);
}

/* ---- sentences ---- */

struct sentences {
    char text[SENTENCES_MAX][SENTENCE_SIZE];
    unsigned count;
};

static void say(struct sentences *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct sentences *s, const char *format, ...)
{
    if (s->count == SENTENCES_MAX) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->text[s->count++], SENTENCE_SIZE, format, arguments);
    va_end(arguments);
}

static void say_change(struct sentences *s, const char *what, uint64_t before_ns, uint64_t after_ns)
{
    const bool less = after_ns < before_ns;
    const uint64_t by_ns = less ? before_ns - after_ns : after_ns - before_ns;
    if (!before_ns || !by_ns)
        say(s, "%s %s before and %s after.", what, cts_time_text(before_ns).text,
            cts_time_text(after_ns).text);
    else
        say(s, "%s %s before and %s after, %s %s.", what, cts_time_text(before_ns).text,
            cts_time_text(after_ns).text, cts_percent_text(by_ns, before_ns).text,
            less ? "less" : "more");
}

/* The activity whose own time changed most in one direction; a call that waits less saves nothing
 * itself. */
static const struct cts_time_row *most_changed(const struct cts_time_report *report, bool faster)
{
    const struct cts_time_row *best = NULL;
    const uint64_t a_ns = report->before->path_ns, b_ns = report->after->path_ns;
    uint64_t best_ns = (a_ns > b_ns ? a_ns : b_ns) / 100; /* less is noise */
    for (size_t i = 0; i < report->diff->row_count; i++) {
        const struct cts_time_row *const row = &report->diff->rows[i];
        const uint64_t before_ns = row->before.exclusive_ns - row->before.wait_ns;
        const uint64_t after_ns = row->after.exclusive_ns - row->after.wait_ns;
        const uint64_t from_ns = faster ? before_ns : after_ns;
        const uint64_t to_ns = faster ? after_ns : before_ns;
        if (row->change == CTS_TIME_SAME || from_ns <= to_ns || from_ns - to_ns <= best_ns)
            continue;
        best = row;
        best_ns = from_ns - to_ns;
    }
    return best;
}

static void say_moves(struct sentences *s, const struct cts_time_diff *diff)
{
    enum { MOVES = 3 };
    unsigned said = 0;
    for (size_t i = 0; i < diff->row_count && said < MOVES; i++) {
        const struct cts_time_row *const row = &diff->rows[i];
        if (row->move == CTS_PATH_STAYS) continue;
        const bool on = row->move == CTS_PATH_MOVES_ON;
        say(s, "'%.64s' moved %s the critical path: %s of it before and %s after. Its own time %s.",
            row->short_name, on ? "to" : "off", cts_time_text(row->before.path_ns).text,
            cts_time_text(row->after.path_ns).text,
            row->where == CTS_PATH_LATENCY ? "is a latency"
            : row->change == CTS_TIME_SAME ? "did not change"
            : on                           ? "does not explain that"
                                           : "changed less than that");
        said++;
    }
}

static void make_sentences(const struct cts_time_report *report, struct sentences *s)
{
    const struct cts_path *const a = report->before, *const b = report->after;
    const struct cts_time_row *const faster = most_changed(report, true);
    const struct cts_time_row *const slower = most_changed(report, false);
    s->count = 0;
    say_change(s, "The run takes", a->path_ns, b->path_ns);
    say_change(s, "Waiting sums to", a->wait_ns, b->wait_ns);
    say(s, "The critical path is %s on devices before and %s after; on the host %s and %s.",
        cts_percent_text(a->path_where_ns[CTS_PATH_ON_DEVICE], a->path_ns).text,
        cts_percent_text(b->path_where_ns[CTS_PATH_ON_DEVICE], b->path_ns).text,
        cts_percent_text(a->path_where_ns[CTS_PATH_ON_HOST], a->path_ns).text,
        cts_percent_text(b->path_where_ns[CTS_PATH_ON_HOST], b->path_ns).text);
    if (faster)
        say(s, "'%.64s' saves most: %s before, %s after, over all ranks.", faster->short_name,
            cts_time_text(faster->before.exclusive_ns).text,
            cts_time_text(faster->after.exclusive_ns).text);
    if (slower)
        say(s, "'%.64s' costs most: %s before, %s after, over all ranks.", slower->short_name,
            cts_time_text(slower->before.exclusive_ns).text,
            cts_time_text(slower->after.exclusive_ns).text);
    say_moves(s, report->diff);
    if (a->process_count != b->process_count)
        say(s, "The runs have %s and %s, so times over all ranks are not comparable.",
            cts_counted_text(a->process_count, "process", "processes").text,
            cts_counted_text(b->process_count, "process", "processes").text);
}

enum cts_status cts_time_print_summary(const struct cts_time_report *report, size_t limit,
                                       FILE *file, struct cts_error *error)
{
    const struct cts_sheet activities = cts_time_sheet(report, CTS_TIME_SHEET_ACTIVITY);
    const struct cts_sheet patterns = cts_time_sheet(report, CTS_TIME_SHEET_PATTERN);
    struct sentences s;
    make_sentences(report, &s);
    fputs("before: ", file);
    cts_print_plain(file, report->before_path);
    fputs("\nafter:  ", file);
    cts_print_plain(file, report->after_path);
    fputs("\n\n", file);
    for (unsigned i = 0; i < s.count; i++) cts_print_paragraph(file, 0, "%s", s.text[i]);
    enum cts_status status = cts_sheet_part(
        &activities, "Activities, by change of their time on the critical path",
        &(struct cts_sheet_choice){.limit = limit, .limit_option = "limit"}, file, error);
    if (status) return status;
    size_t count = 0;
    size_t seen[CTS_PATH_PATTERN_COUNT];
    for (size_t p = 0; p < patterns.row_count; p++)
        if (report->before->patterns[p].count || report->after->patterns[p].count)
            seen[count++] = p;
    if (!count) return CTS_OK;
    const struct cts_sheet_rows rows = {.rows = seen, .count = count, .found = count};
    fputs("\n  Waits\n", file);
    return cts_sheet_table(&patterns, &rows, file, error);
}

/* ---- JSON ---- */

static void json_side(struct cts_json *json, const char *key, const char *path,
                      const struct cts_path *result)
{
    cts_json_key(json, key);
    cts_json_open_object(json);
    cts_json_member_string(json, "trace", path);
    cts_json_member_u64(json, "processes", result->process_count);
    cts_json_member_u64(json, "path_ns", result->path_ns);
    cts_path_json_places(json, result);
    cts_json_member_u64(json, "wait_ns", result->wait_ns);
    cts_json_close_object(json);
}

enum cts_status cts_time_print_json(const struct cts_time_report *report,
                                    const struct cts_sheet_choice *choice, FILE *file,
                                    struct cts_error *error)
{
    const struct cts_sheet activities = cts_time_sheet(report, CTS_TIME_SHEET_ACTIVITY);
    const struct cts_sheet patterns = cts_time_sheet(report, CTS_TIME_SHEET_PATTERN);
    const struct cts_sheet_rows all = cts_sheet_all(&patterns);
    struct cts_sheet_rows rows;
    const enum cts_status status = cts_sheet_choose(&activities, choice, &rows, error);
    if (status) return status;
    struct sentences s;
    make_sentences(report, &s);
    struct cts_json json;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    json_side(&json, "before", report->before_path, report->before);
    json_side(&json, "after", report->after_path, report->after);
    cts_json_key(&json, "summary");
    cts_json_open_array(&json);
    for (unsigned i = 0; i < s.count; i++) cts_json_string(&json, s.text[i]);
    cts_json_close_array(&json);
    cts_sheet_json(&activities, &rows, &json);
    cts_sheet_json(&patterns, &all, &json);
    free(rows.rows);
    cts_json_close_object(&json);
    return cts_json_end(&json, error);
}
