#include "analyze/path/compare.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"

static int by_name(const void *left, const void *right)
{
    const struct cts_time_row *const a = left, *const b = right;
    const int order = strcmp(a->name, b->name);
    return order ? order : (int)a->where - (int)b->where;
}

static uint64_t path_change(const struct cts_time_row *row)
{
    const uint64_t a = row->before.path_ns, b = row->after.path_ns;
    return a > b ? a - b : b - a;
}

static uint64_t time_change(const struct cts_time_row *row)
{
    const uint64_t a = row->before.exclusive_ns, b = row->after.exclusive_ns;
    return a > b ? a - b : b - a;
}

static int by_change(const void *left, const void *right)
{
    const struct cts_time_row *const a = left, *const b = right;
    if (path_change(a) != path_change(b)) return path_change(a) > path_change(b) ? -1 : 1;
    if (time_change(a) != time_change(b)) return time_change(a) > time_change(b) ? -1 : 1;
    return by_name(left, right);
}

static void add_rows(struct cts_time_diff *diff, const struct cts_path *result, bool after)
{
    for (size_t i = 0; i < result->row_count; i++) {
        const struct cts_path_row *const row = &result->rows[i];
        struct cts_time_row *const added = &diff->rows[diff->row_count++];
        *added = (struct cts_time_row){.name = result->names.full[row->region],
                                       .short_name = result->names.short_form[row->region],
                                       .where = row->where};
        const uint64_t time_ns = row->exclusive_ns + row->gaps_ns;
        const uint64_t wait_ns = row->wait_ns < time_ns ? row->wait_ns : time_ns;
        const uint64_t calls = row->calls > row->repeats ? row->calls - row->repeats : 0;
        added->polls = row->repeats > 0;
        *(after ? &added->after : &added->before) =
            (struct cts_time_side){calls, time_ns, wait_ns, row->path_ns, row->blame_ns};
    }
}

static void add_side(struct cts_time_side *sum, const struct cts_time_side *side)
{
    sum->calls += side->calls;
    sum->exclusive_ns += side->exclusive_ns;
    sum->wait_ns += side->wait_ns;
    sum->path_ns += side->path_ns;
    sum->blame_ns += side->blame_ns;
}

/* Rows of one name and place become one. */
static void merge(struct cts_time_diff *diff)
{
    size_t count = 0;
    if (diff->row_count) qsort(diff->rows, diff->row_count, sizeof *diff->rows, by_name);
    for (size_t i = 0; i < diff->row_count; i++) {
        if (count && by_name(&diff->rows[count - 1], &diff->rows[i]) == 0) {
            add_side(&diff->rows[count - 1].before, &diff->rows[i].before);
            add_side(&diff->rows[count - 1].after, &diff->rows[i].after);
            diff->rows[count - 1].polls |= diff->rows[i].polls;
        } else {
            diff->rows[count++] = diff->rows[i];
        }
    }
    diff->row_count = count;
}

static bool is_there(const struct cts_time_side *side)
{
    return side->calls || side->exclusive_ns || side->path_ns || side->blame_ns;
}

/* More than half of what the time of one side is above the other's. */
static bool is_waiting(const struct cts_time_side *more, const struct cts_time_side *less)
{
    return more->wait_ns > less->wait_ns &&
           more->wait_ns - less->wait_ns > (more->exclusive_ns - less->exclusive_ns) / 2;
}

/* How often a loop polls is chance, so what its polls take alone says little. */
static enum cts_time_change change_of(const struct cts_time_row *row, uint64_t run_ns)
{
    const uint64_t before_ns = row->before.exclusive_ns, after_ns = row->after.exclusive_ns;
    if (!is_there(&row->before)) return CTS_TIME_NEW;
    if (!is_there(&row->after)) return CTS_TIME_GONE;
    if (time_change(row) <= before_ns / 100) return CTS_TIME_SAME;
    if (row->polls && time_change(row) <= run_ns / 100) return CTS_TIME_SAME;
    const bool faster = after_ns < before_ns;
    if (is_waiting(faster ? &row->before : &row->after, faster ? &row->after : &row->before))
        return faster ? CTS_TIME_WAITS_LESS : CTS_TIME_WAITS_MORE;
    return faster ? CTS_TIME_FASTER : CTS_TIME_SLOWER;
}

/* More on the path than its own time explains: it was hidden behind something before. */
static bool moves(const struct cts_time_side *from, const struct cts_time_side *to, uint64_t run_ns)
{
    if (to->path_ns <= from->path_ns) return false;
    const uint64_t gained_ns = to->path_ns - from->path_ns;
    const uint64_t grown_ns =
        to->exclusive_ns > from->exclusive_ns ? to->exclusive_ns - from->exclusive_ns : 0;
    return gained_ns >= run_ns / 100 && gained_ns > grown_ns;
}

enum cts_status cts_time_compare(const struct cts_path *before, const struct cts_path *after,
                                 struct cts_time_diff *diff, struct cts_error *error)
{
    *diff = (struct cts_time_diff){0};
    diff->rows = cts_array_zeroed(before->row_count + after->row_count, sizeof *diff->rows, error);
    if (!diff->rows) return CTS_MEMORY;
    add_rows(diff, before, false);
    add_rows(diff, after, true);
    merge(diff);
    const uint64_t run_ns = before->path_ns > after->path_ns ? before->path_ns : after->path_ns;
    for (size_t i = 0; i < diff->row_count; i++) {
        struct cts_time_row *const row = &diff->rows[i];
        const bool latency = row->where == CTS_PATH_LATENCY; /* has no time of its own */
        row->change = latency && is_there(&row->before) && is_there(&row->after)
                          ? CTS_TIME_SAME
                          : change_of(row, run_ns);
        if (moves(&row->before, &row->after, after->path_ns)) row->move = CTS_PATH_MOVES_ON;
        if (moves(&row->after, &row->before, before->path_ns)) row->move = CTS_PATH_MOVES_OFF;
    }
    if (diff->row_count) qsort(diff->rows, diff->row_count, sizeof *diff->rows, by_change);
    return CTS_OK;
}

void cts_time_diff_release(struct cts_time_diff *diff)
{
    free(diff->rows);
    *diff = (struct cts_time_diff){0};
}
