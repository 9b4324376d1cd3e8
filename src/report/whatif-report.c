/* Projections: the lists, the screenful and JSON. */
#include "report/whatif-report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text-table.h"
#include "common/wrapped-text.h"
#include "report/gaps-report.h"
#include "report/path-words.h"

enum cts_whatif_sheet cts_whatif_sheet_named(const char *text)
{
    static const char *const names[] = {
#define X(name, text) [CTS_WHATIF_SHEET_##name] = text,
        CTS_WHATIF_SHEETS(X)
#undef X
    };
    for (unsigned i = 0; i < CTS_WHATIF_SHEET_COUNT; i++)
        if (!strcmp(names[i], text)) return (enum cts_whatif_sheet)i;
    return CTS_WHATIF_SHEET_COUNT;
}

/* before / after - 1 would be unbounded; this is the part of the time that is gone. */
static double gain(uint64_t before_ns, uint64_t after_ns)
{
    return before_ns ? ((double)before_ns - (double)after_ns) / (double)before_ns : NAN;
}

/* ---- lists ---- */

#define ACTIVITY_COLUMNS(COLUMN)                                                                   \
    COLUMN(activity, "activity", KERNEL, r->region_names[row->region])                             \
    COLUMN(path_before_ns, "on path", TIME, row->before_ns)                                        \
    COLUMN(share_before, "path%", FRACTION,                                                        \
           r->before_ns ? (double)row->before_ns / (double)r->before_ns : NAN)                     \
    COLUMN(path_after_ns, "then", TIME, row->after_ns)                                             \
    COLUMN(share_after, "path%", FRACTION,                                                         \
           r->after_ns ? (double)row->after_ns / (double)r->after_ns : NAN)
CTS_SHEET_COLUMNS(activity_columns, ACTIVITY_COLUMNS);

static void activity_row(const void *state, size_t index, struct cts_sheet_row *cells)
{
    const struct cts_whatif_report *const report = state;
    const struct cts_whatif *const r = report->result;
    const struct cts_whatif_row *const row = &r->rows[index];
    CTS_SHEET_FILL(cells, ACTIVITY_COLUMNS);
}

#define RANK_COLUMNS(COLUMN)                                                                       \
    COLUMN(rank, "rank", ID, rank->rank)                                                           \
    COLUMN(before_ns, "before", TIME, rank->before_ns)                                             \
    COLUMN(after_ns, "after", TIME, rank->after_ns)                                                \
    COLUMN(gain, "gain", FRACTION, gain(rank->before_ns, rank->after_ns))
CTS_SHEET_COLUMNS(rank_columns, RANK_COLUMNS);

static void rank_row(const void *state, size_t index, struct cts_sheet_row *cells)
{
    const struct cts_whatif_report *const report = state;
    const struct cts_whatif_rank *const rank = &report->result->ranks[index];
    CTS_SHEET_FILL(cells, RANK_COLUMNS);
}

#define PATTERN_COLUMNS(COLUMN)                                                                    \
    COLUMN(pattern, "pattern", TEXT, cts_path_pattern_names[pattern->pattern])                     \
    COLUMN(before_count, "waits", COUNT, pattern->before_count)                                    \
    COLUMN(before_ns, "time", TIME, pattern->before_ns)                                            \
    COLUMN(after_count, "waits after", COUNT, pattern->after_count)                                \
    COLUMN(after_ns, "time", TIME, pattern->after_ns)                                              \
    COLUMN(appeared, "new", COUNT, pattern->appeared)                                              \
    COLUMN(vanished, "gone", COUNT, pattern->vanished)
CTS_SHEET_COLUMNS(pattern_columns, PATTERN_COLUMNS);

static const struct cts_whatif_pattern *nth_pattern(const struct cts_whatif *result, size_t index)
{
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++)
        if ((result->patterns[p].before_count || result->patterns[p].after_count) && index-- == 0)
            return &result->patterns[p];
    return NULL;
}

static size_t pattern_count(const struct cts_whatif *result)
{
    size_t count = 0;
    while (nth_pattern(result, count)) count++;
    return count;
}

static void pattern_row(const void *state, size_t index, struct cts_sheet_row *cells)
{
    const struct cts_whatif_report *const report = state;
    const struct cts_whatif_pattern *const pattern = nth_pattern(report->result, index);
    CTS_SHEET_FILL(cells, PATTERN_COLUMNS);
}

#define WAIT_COLUMNS(COLUMN)                                                                       \
    COLUMN(pattern, "pattern", TEXT, cts_path_pattern_names[wait->pattern])                        \
    COLUMN(rank, "rank", ID,                                                                       \
           at->process < timeline->group_count ? timeline->groups[at->process].rank : 0)           \
    COLUMN(location, "where", TEXT, at->name)                                                      \
    COLUMN(begin_ns, "from", TIME, wait->begin_ns)                                                 \
    COLUMN(before_ns, "before", TIME, wait->before_ns)                                             \
    COLUMN(after_ns, "after", TIME, wait->after_ns)
CTS_SHEET_COLUMNS(wait_columns, WAIT_COLUMNS);

static void wait_row(const void *state, size_t index, struct cts_sheet_row *cells)
{
    const struct cts_whatif_report *const report = state;
    const struct cts_whatif_wait *const wait = &report->result->waits[index];
    const struct cts_timeline *const timeline = report->result->timeline;
    const struct cts_timeline_location *const at = &timeline->locations[wait->location];
    CTS_SHEET_FILL(cells, WAIT_COLUMNS);
}

#define TARGET_COLUMNS(COLUMN)                                                                     \
    COLUMN(activity, "activity", KERNEL, r->region_names[target->region])                          \
    COLUMN(calls, "calls", COUNT_IF, target->calls)                                                \
    COLUMN(exclusive_ns, "time", TIME_IF, target->exclusive_ns)                                    \
    COLUMN(path_ns, "on path", TIME, target->path_ns)                                              \
    COLUMN(half_ns, "2x faster", TIME, target->half_ns)                                            \
    COLUMN(half_gain, "gain", FRACTION, gain(r->before_ns, target->half_ns))                       \
    COLUMN(none_ns, "no time", TIME, target->none_ns)                                              \
    COLUMN(none_gain, "gain", FRACTION, gain(r->before_ns, target->none_ns))
CTS_SHEET_COLUMNS(target_columns, TARGET_COLUMNS);

static void target_row(const void *state, size_t index, struct cts_sheet_row *cells)
{
    const struct cts_whatif_report *const report = state;
    const struct cts_whatif *const r = report->result;
    const struct cts_whatif_target *const target = &r->targets[index];
    CTS_SHEET_FILL(cells, TARGET_COLUMNS);
}

struct cts_sheet cts_whatif_sheet(const struct cts_whatif_report *report,
                                  enum cts_whatif_sheet which)
{
    const struct cts_whatif *const r = report->result;
    switch (which) {
    case CTS_WHATIF_SHEET_RANK:
        return CTS_SHEET("ranks", rank_columns, r->rank_count, rank_row, report);
    case CTS_WHATIF_SHEET_PATTERN:
        return CTS_SHEET("patterns", pattern_columns, pattern_count(r), pattern_row, report);
    case CTS_WHATIF_SHEET_WAIT:
        return CTS_SHEET("waits", wait_columns, r->wait_count, wait_row, report);
    case CTS_WHATIF_SHEET_TARGET:
        return CTS_SHEET("targets", target_columns, r->target_count, target_row, report);
    default:
        return CTS_SHEET("activities", activity_columns, r->row_count, activity_row, report);
    }
}

/* ---- the screenful ---- */

static void print_head(const struct cts_whatif_report *report, FILE *file)
{
    const struct cts_whatif *const r = report->result;
    cts_timeline_extent_print(&(struct cts_timeline_extent){report->path, r->process_count,
                                                            r->stream_count, r->event_count},
                              file);
    fprintf(file, "  runtime %s (first to last event)", cts_time_text(r->before_ns).text);
    if (report->changed) {
        const double change = -100 * gain(r->before_ns, r->after_ns);
        fprintf(file, ", projected %s (%+.2f%%)", cts_time_text(r->after_ns).text,
                isnan(change) || change == 0 ? 0 : change);
    }
    fputc('\n', file);
}

static enum cts_status print_list(const struct cts_whatif_report *report,
                                  enum cts_whatif_sheet which,
                                  const struct cts_sheet_choice *choice, FILE *file,
                                  struct cts_error *error)
{
    static const char *const titles[] = {[CTS_WHATIF_SHEET_ACTIVITY] = "The critical path",
                                         [CTS_WHATIF_SHEET_RANK] = "Ranks",
                                         [CTS_WHATIF_SHEET_PATTERN] = "Waits",
                                         [CTS_WHATIF_SHEET_WAIT] = "Largest changes of waits",
                                         [CTS_WHATIF_SHEET_TARGET] = "What to make faster"};
    struct cts_sheet sheet = cts_whatif_sheet(report, which);
    sheet.full_names = report->full_names;
    if (!sheet.row_count) return CTS_OK;
    struct cts_sheet_rows rows;
    enum cts_status status = cts_sheet_choose(&sheet, choice, &rows, error);
    if (status) return status;
    fprintf(file, "\n  %s\n", titles[which]);
    status = cts_sheet_table(&sheet, &rows, file, error);
    if (!status && rows.found > rows.count)
        fprintf(file, "  %zu more: --per %s --limit 0\n", rows.found - rows.count,
                which == CTS_WHATIF_SHEET_TARGET ? "target"
                : which == CTS_WHATIF_SHEET_RANK ? "rank"
                : which == CTS_WHATIF_SHEET_WAIT ? "wait"
                                                 : "activity");
    free(rows.rows);
    return status;
}

/* What happens between the queries of loops that poll, and what the recording does not show of it.
 */
static void print_poll_notes(const struct cts_whatif_report *report, FILE *file)
{
    const struct cts_whatif *const r = report->result;
    const struct cts_whatif_polls *const p = &r->notes.polls;
    if (p->kept)
        cts_print_paragraph(file, 2,
                            "Note: the program calls something else after %s. These calls stay as "
                            "recorded, even if "
                            "the work that is polled ends earlier: the true gain can be larger",
                            cts_counted_text(p->kept, "failed query", "failed queries").text);
    if (p->fixed)
        cts_print_paragraph(file, 2,
                            "Note: the program calls functions after %s. They stay as recorded, "
                            "since it also calls them after queries that succeed",
                            cts_counted_text(p->fixed, "failed query", "failed queries").text);
    if (p->ran_out)
        cts_print_paragraph(
            file, 2,
            "Note: the program calls functions after %s, and then stops that before "
            "a query succeeds. They are assumed to be a fixed amount of work and "
            "stay as recorded; the recording does not show it",
            cts_counted_text(p->ran_out, "failed query", "failed queries").text);
    if (p->assumed)
        cts_print_paragraph(
            file, 2,
            "Note: the program does something else after %s, before it asks again. "
            "This is assumed to end as soon as a query succeeds; the recording does "
            "not show it",
            cts_counted_text(p->assumed, "failed query", "failed queries").text);
    if (report->changed && r->polls_after_ns != r->after_ns)
        cts_print_paragraph(
            file, 2, "Note: if %s, the projection is %s (%+.2f%%)",
            !p->ran_out   ? "that is a fixed amount of work instead"
            : !p->assumed ? "these functions end as soon as a query succeeds instead"
                          : "both are the other way round",
            cts_time_text(r->polls_after_ns).text, -100 * gain(r->before_ns, r->polls_after_ns));
}

/* A twentieth of the projected run and more. */
static void print_launch_note(const struct cts_whatif_report *report, FILE *file)
{
    const struct cts_whatif *const r = report->result;
    const struct cts_whatif_notes *const n = &r->notes;
    if (n->launch_after_ns < n->launch_before_ns ||
        n->launch_after_ns - n->launch_before_ns < r->after_ns / 20)
        return;
    cts_print_paragraph(file, 2,
                        "Note: launches hold up the projected run: they take %s of its critical "
                        "path (recorded: %s). Their times contain what recording them costs (about "
                        "3 us each on an H100), so the run can become faster than projected",
                        cts_time_text(n->launch_after_ns).text,
                        cts_time_text(n->launch_before_ns).text);
}

void cts_whatif_print_notes(const struct cts_whatif_report *report, FILE *file)
{
    const struct cts_whatif *const r = report->result;
    const struct cts_whatif_notes *const n = &r->notes;
    if (n->shared)
        cts_print_paragraph(
            file, 2,
            "Note: %s share a device; %s queued for SMs; interference %.2f, overtaking %.2f",
            cts_counted_text(n->shared, "kernel", "kernels").text, cts_count_text(n->queued).text,
            n->interference, n->overtaking);
    if (n->share_rejected)
        fputs("Note: the model of shared devices does not reproduce this recording, so kernels "
              "overlap freely\n",
              file);
    if (n->undecided && report->changed && r->turns_after_ns != r->after_ns)
        cts_print_paragraph(
            file, 2,
            "Note: the recording does not show whether kernels of different streams can run at the "
            "same time on %s: they never did. The projection assumes that they can; if they "
            "cannot, it is %s (%+.2f%%)",
            cts_counted_text(n->undecided, "device", "devices").text,
            cts_time_text(r->turns_after_ns).text, -100 * gain(r->before_ns, r->turns_after_ns));
    else if (n->undecided && r->target_count)
        cts_print_paragraph(
            file, 2,
            "Note: the recording does not show whether kernels of different streams can run at the "
            "same time on %s: they never did. Gains assume that they can",
            cts_counted_text(n->undecided, "device", "devices").text);
    if (n->processes_ns > n->device_ns / 100)
        cts_print_paragraph(
            file, 2,
            "Note: for %s, kernels of several processes run on devices with the same number. If "
            "these are one GPU, it takes turns, which is not projected: the result is then wrong",
            cts_time_text(n->processes_ns).text);
    print_poll_notes(report, file);
    print_launch_note(report, file);
    if (n->missed)
        cts_print_paragraph(file, 2,
                            "Note: without changes, the projection misses the recorded times of %s",
                            cts_counted_text(n->missed, "event", "events").text);
    if (n->broken)
        cts_print_paragraph(file, 2, "Note: %s ignored since they form cycles: clocks differ",
                            cts_counted_text(n->broken, "dependency", "dependencies").text);
    if (n->target_left)
        cts_print_paragraph(file, 2, "Note: %s not projected; each takes at most %s in total",
                            cts_counted_text(n->target_left, "activity", "activities").text,
                            cts_time_text(n->target_left_ns).text);
    cts_print_gaps(&r->timeline->gaps, "Missing: ", file);
    for (unsigned i = 0; i < CTS_PATH_WARNING_COUNT; i++)
        if (r->warnings[i])
            cts_print_paragraph(file, 2, "Note: %s %s", cts_count_text(r->warnings[i]).text,
                                cts_path_warning_texts[i]);
}

enum cts_status cts_whatif_print_summary(const struct cts_whatif_report *report, size_t top,
                                         FILE *file, struct cts_error *error)
{
    enum { RANKS = 16, WAITS = 8 };
    const struct cts_sheet_choice few = {.limit = top};
    print_head(report, file);
    enum cts_status status = CTS_OK;
    if (report->changed) {
        status = print_list(report, CTS_WHATIF_SHEET_ACTIVITY, &few, file, error);
        if (!status && report->result->rank_count > 1)
            status = print_list(report, CTS_WHATIF_SHEET_RANK,
                                &(struct cts_sheet_choice){.limit = RANKS}, file, error);
        if (!status)
            status = print_list(report, CTS_WHATIF_SHEET_PATTERN, &(struct cts_sheet_choice){0},
                                file, error);
        if (!status)
            status = print_list(report, CTS_WHATIF_SHEET_WAIT,
                                &(struct cts_sheet_choice){.limit = WAITS}, file, error);
    }
    if (!status) status = print_list(report, CTS_WHATIF_SHEET_TARGET, &few, file, error);
    if (status) return status;
    fputc('\n', file);
    cts_whatif_print_notes(report, file);
    return CTS_OK;
}

/* ---- JSON ---- */

static void json_notes(const struct cts_whatif *r, struct cts_json *json)
{
    const struct cts_whatif_notes *const n = &r->notes;
    cts_json_key(json, "notes");
    cts_json_open_object(json);
    cts_json_member_u64(json, "missed_events", n->missed);
    cts_json_member_u64(json, "broken_circles", n->broken);
    cts_json_member_u64(json, "kept_polls", n->polls.kept);
    cts_json_member_u64(json, "fixed_polls", n->polls.fixed);

    cts_json_member_u64(json, "ran_out_polls", n->polls.ran_out);
    cts_json_member_u64(json, "assumed_polls", n->polls.assumed);

    cts_json_member_u64(json, "device_activities", n->kernels);
    cts_json_member_u64(json, "configured_kernels", n->configured);
    cts_json_member_u64(json, "shared_kernels", n->shared);
    cts_json_member_u64(json, "queued_kernels", n->queued);
    cts_json_key(json, "interference");
    cts_json_double(json, n->interference);
    cts_json_key(json, "overtaking");
    cts_json_double(json, n->overtaking);
    cts_json_member_bool(json, "share_rejected", n->share_rejected);
    cts_json_member_u64(json, "undecided_devices", n->undecided);
    cts_json_member_u64(json, "shared_by_processes_ns", n->processes_ns);
    cts_json_member_u64(json, "launch_before_ns", n->launch_before_ns);
    cts_json_member_u64(json, "launch_after_ns", n->launch_after_ns);
    cts_json_member_u64(json, "targets_left", n->target_left);
    cts_json_member_u64(json, "projections", n->projections);
    cts_json_close_object(json);
}

enum cts_status cts_whatif_print_json(const struct cts_whatif_report *report,
                                      const struct cts_sheet_choice *choice, FILE *file,
                                      struct cts_error *error)
{
    const struct cts_whatif *const r = report->result;
    const enum cts_whatif_sheet first =
        report->changed ? CTS_WHATIF_SHEET_ACTIVITY : CTS_WHATIF_SHEET_TARGET;
    const struct cts_sheet sheet = cts_whatif_sheet(report, first);
    struct cts_sheet_rows chosen;
    const enum cts_status status = cts_sheet_choose(&sheet, choice, &chosen, error);
    if (status) return status;
    struct cts_json json;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    cts_json_member_string(&json, "trace", report->path);
    cts_json_member_u64(&json, "processes", r->process_count);
    cts_json_member_u64(&json, "events", r->event_count);
    cts_json_member_u64(&json, "runtime_ns", r->before_ns);
    if (report->changed) cts_json_member_u64(&json, "projected_ns", r->after_ns);
    if (report->changed && r->notes.undecided)
        cts_json_member_u64(&json, "projected_one_kernel_at_a_time_ns", r->turns_after_ns);

    if (report->changed && (r->notes.polls.assumed || r->notes.polls.ran_out))
        cts_json_member_u64(&json, "projected_other_polls_ns", r->polls_after_ns);

    for (unsigned which = 0; which < CTS_WHATIF_SHEET_COUNT; which++) {
        const struct cts_sheet list = cts_whatif_sheet(report, (enum cts_whatif_sheet)which);
        const struct cts_sheet_rows all = cts_sheet_all(&list);
        if (which == CTS_WHATIF_SHEET_TARGET ? r->target_count > 0 : report->changed)
            cts_sheet_json(&list, which == first ? &chosen : &all, &json);
    }
    json_notes(r, &json);
    cts_json_close_object(&json);
    free(chosen.rows);
    return cts_json_end(&json, error);
}
