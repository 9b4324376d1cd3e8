#include "report/try-report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text-table.h"
#include "common/wrapped-text.h"
#include "report/try-words.h"

/* ---- trials ---- */

static const struct cts_flow_finding *finding_of(const struct cts_try_report *r,
                                                 const struct cts_try_trial *trial)
{
    return trial->finding && r->flow ? &r->flow->findings[trial->finding->finding] : NULL;
}

static const char *finding_cell(const struct cts_try_report *r, const struct cts_try_trial *trial)
{
    const struct cts_flow_finding *const f = finding_of(r, trial);
    return f ? cts_flow_finding_text(f->kind) : NULL;
}

static const char *kernel_cell(const struct cts_try_report *r, const struct cts_try_trial *trial)
{
    const struct cts_flow_finding *const f = finding_of(r, trial);
    const struct cts_stretch *const stretch = r->outcome->stretch;
    if (!f)
        return trial->change_count && trial->changes[0].op != CTS_TRIAL_NONE
                   ? stretch->ops[trial->changes[0].op].name
                   : NULL;
    if (f->node == CTS_NONE) return NULL;
    const struct cts_catalogue *const c = r->flow->catalogue;
    const struct cts_flow_node *const n = &r->flow->order.nodes[f->node];
    if (n->kind == CTS_FLOW_LAUNCH)
        return cts_catalogue_kernel_name(c, c->launches[n->index].kernel);
    return n->kind == CTS_FLOW_COPY || n->kind == CTS_FLOW_MEMSET ? c->copies[n->index].kind : NULL;
}

static const char *change_cell(const struct cts_try_report *r, const struct cts_try_trial *trial,
                               struct cts_sheet_row *cells)
{
    if (!trial->change_count) return NULL;
    char *const text = cts_sheet_room(cells, CTS_TRY_WORDS_BYTES);
    cts_try_change_words(r->outcome->stretch, trial, text, CTS_TRY_WORDS_BYTES);
    return text;
}

static const char *verdict_cell(const struct cts_try_report *r, const struct cts_try_trial *trial,
                                struct cts_sheet_row *cells)
{
    char *const text = cts_sheet_room(cells, 2 * CTS_TRY_WORDS_BYTES);
    cts_try_verdict_words(r, trial, text, 2 * CTS_TRY_WORDS_BYTES);
    return text;
}

static bool is_measured(const struct cts_try_trial *trial)
{
    return !*trial->untried && trial->result.repeats && trial->result.plain;
}

static const char *gain_cell(const struct cts_try_trial *trial, struct cts_sheet_row *cells)
{
    if (!is_measured(trial)) return NULL;
    char *const text = cts_sheet_room(cells, CTS_TRY_WORDS_BYTES);
    cts_try_gain_words(&trial->verdict.gain, text, CTS_TRY_WORDS_BYTES);
    return text;
}

static const char *result_key(const struct cts_try_trial *trial)
{
    static const char *const keys[] = {[CTS_TRY_SAME] = "same",
                                       [CTS_TRY_DIFFERS] = "differs",
                                       [CTS_TRY_FAILS] = "fails",
                                       [CTS_TRY_CANNOT_JUDGE] = "cannot judge"};
    return *trial->untried ? "not tried" : keys[trial->verdict.kind];
}

static const char *origin_cell(const struct cts_try_report *r, const struct cts_try_trial *trial,
                               struct cts_sheet_row *cells)
{
    if (*trial->untried || trial->verdict.origin == CTS_TRIAL_NONE) return NULL;
    char *const text = cts_sheet_room(cells, 80);
    cts_try_op_words(r->outcome->stretch, trial->verdict.origin, text, 80);
    return text;
}

static const char *place_cell(const struct cts_try_report *r, const struct cts_try_trial *trial,
                              struct cts_sheet_row *cells)
{
    if (*trial->untried || !trial->verdict.first) return NULL;
    char *const text = cts_sheet_room(cells, 200);
    cts_try_place_words(r->outcome->stretch, trial->verdict.first, text, 200);
    return text;
}

static double measured(const struct cts_try_trial *trial, double value)
{
    return is_measured(trial) ? value : NAN;
}

#define TRIAL_COLUMNS(COLUMN)                                                                      \
    COLUMN(finding, "finding", TEXT, finding_cell(r, t))                                           \
    COLUMN(name, "kernel", KERNEL, kernel_cell(r, t))                                              \
    COLUMN(times, "times", COUNT_IF, t->finding ? t->finding->times : 0)                           \
    COLUMN(change, "change", TEXT, change_cell(r, t, cells))                                       \
    COLUMN(gain, NULL, FRACTION, measured(t, v->gain.median))                                      \
    COLUMN(gain_low, NULL, FRACTION, measured(t, v->gain.low))                                     \
    COLUMN(gain_high, NULL, FRACTION, measured(t, v->gain.high))                                   \
    COLUMN(gain_text, "measured", TABLE_TEXT, gain_cell(t, cells))                                 \
    COLUMN(foretold, "foretold", FRACTION, measured(t, v->foretold))                               \
    COLUMN(busy_gain, NULL, FRACTION, measured(t, v->busy_gain.median))                            \
    COLUMN(busy_gain_low, NULL, FRACTION, measured(t, v->busy_gain.low))                           \
    COLUMN(busy_gain_high, NULL, FRACTION, measured(t, v->busy_gain.high))                         \
    COLUMN(elapsed_ns, NULL, TIME_IF, is_measured(t) ? v->elapsed_ns : 0)                          \
    COLUMN(unchanged_ns, NULL, TIME_IF, is_measured(t) ? v->plain_ns : 0)                          \
    COLUMN(result, NULL, TEXT, result_key(t))                                                      \
    COLUMN(differing_bytes, NULL, BYTES, v->live_bytes)                                            \
    COLUMN(differing_dead_bytes, NULL, BYTES, v->dead_bytes)                                       \
    COLUMN(differs_at, NULL, TEXT, place_cell(r, t, cells))                                        \
    COLUMN(first_written_by, NULL, TEXT, origin_cell(r, t, cells))                                 \
    COLUMN(differing_replays, NULL, COUNT, v->first ? v->first->replays : 0)                       \
    COLUMN(verdict, "verdict", TEXT, verdict_cell(r, t, cells))
CTS_SHEET_COLUMNS(trial_columns, TRIAL_COLUMNS);

static void trial_row(const void *state, size_t row_index, struct cts_sheet_row *cells)
{
    const struct cts_try_report *const r = state;
    const struct cts_try_trial *const t = &r->outcome->trials[row_index];
    const struct cts_try_verdict *const v = &t->verdict;
    CTS_SHEET_FILL(cells, TRIAL_COLUMNS);
}

static struct cts_sheet trial_sheet(const struct cts_try_report *report)
{
    struct cts_sheet sheet =
        CTS_SHEET("trials", trial_columns, report->outcome->trial_count, trial_row, report);
    sheet.full_names = report->full_names;
    return sheet;
}

/* ---- the stretch ---- */

struct counts {
    uint64_t of_kind[CTS_TRIAL_KINDS];
    uint64_t saved_bytes, busy_ns;
};

static int by_start(const void *left, const void *right)
{
    const struct cts_trial_op *const a = left, *const b = right;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The time in which an operation ran in the program's own pass. */
static uint64_t busy_ns(const struct cts_stretch *stretch)
{
    uint64_t busy = 0, covered = 0;
    if (stretch->busy_ns) return stretch->busy_ns;
    struct cts_trial_op *const ops = malloc((stretch->op_count + 1) * sizeof *ops);
    if (!ops) return 0;
    if (stretch->op_count) memcpy(ops, stretch->ops, stretch->op_count * sizeof *ops);
    qsort(ops, stretch->op_count, sizeof *ops, by_start);
    for (size_t i = 0; i < stretch->op_count; i++) {
        const uint64_t from = ops[i].start_ns > covered ? ops[i].start_ns : covered;
        if (ops[i].end_ns <= from) continue;
        busy += ops[i].end_ns - from;
        covered = ops[i].end_ns;
    }
    free(ops);
    return busy;
}

static struct counts count(const struct cts_stretch *stretch)
{
    struct counts counts = {.busy_ns = busy_ns(stretch)};
    for (size_t i = 0; i < stretch->op_count; i++) counts.of_kind[stretch->ops[i].kind]++;
    for (size_t i = 0; i < stretch->region_count; i++)
        if (stretch->regions[i].op == CTS_TRIAL_NONE)
            counts.saved_bytes += stretch->regions[i].size_bytes;
    return counts;
}

static void print_stretch(const struct cts_try_report *report, FILE *file)
{
    const struct cts_stretch *const stretch = report->outcome->stretch;
    const struct counts counts = count(stretch);
    cts_print_paragraph(
        file, 2, "Stretch: %s, %s, %s, %s; %s of memory saved.",
        cts_counted_text(counts.of_kind[CTS_TRIAL_LAUNCH], "launch", "launches").text,
        cts_counted_text(counts.of_kind[CTS_TRIAL_COPY], "copy", "copies").text,
        cts_counted_text(counts.of_kind[CTS_TRIAL_MEMSET], "memset", "memsets").text,
        cts_counted_text(counts.of_kind[CTS_TRIAL_WAIT], "wait", "waits").text,
        cts_bytes_text(counts.saved_bytes).text);
    cts_print_paragraph(file, 2, "The program's own pass: %s%s%s.",
                        cts_time_text(stretch->elapsed_ns).text,
                        counts.busy_ns ? ", the device busy for " : "",
                        counts.busy_ns ? cts_time_text(counts.busy_ns).text : "");
    if (stretch->thread_count > 1)
        cts_print_paragraph(file, 2,
                            "%u host threads asked for it; replays ask in the same order in one "
                            "thread.",
                            stretch->thread_count);
}

static void print_repeatability(const struct cts_try_outcome *outcome, FILE *file)
{
    const struct cts_try_baseline *const b = &outcome->baseline;
    char place[200];
    if (*b->fault) {
        cts_print_paragraph(file, 2, "Unchanged replays fail: %s", b->fault);
    } else if (b->difference) {
        const struct cts_trial_region *const region =
            &outcome->stretch->regions[b->difference->region];
        cts_try_place_words(outcome->stretch, b->difference, place, sizeof place);
        cts_print_paragraph(file, 2,
                            "Cannot judge results: unchanged replays differ from the program's own "
                            "result at %s. %s",
                            place,
                            strcmp(region->kind, "device") == 0 ||
                                    strcmp(region->kind, "payload") == 0
                                ? "Kernels may use memory or state that is not saved."
                                : "The host may write that memory inside the stretch.");
    } else if (!b->masked_bytes) {
        fprintf(file, "All unchanged replays give the program's own result, bit for bit.\n");
    } else {
        cts_print_paragraph(
            file, 2, "%s of the bytes that the stretch writes differ from replay to replay%s.",
            cts_percent_text(b->masked_bytes, b->changed_bytes).text,
            b->can_judge ? "; they are not compared"
                         : ". That is more than 1%: results cannot be judged");
    }
}

static void print_baseline(const struct cts_try_report *report, FILE *file)
{
    const struct cts_try_outcome *const outcome = report->outcome;
    const struct cts_try_baseline *const b = &outcome->baseline;
    if (outcome->baseline_result.repeats)
        cts_print_paragraph(
            file, 2,
            "Unchanged, median of %zu replays: %s (95%% interval %s to %s), the device busy for "
            "%s.%s",
            outcome->baseline_result.repeats, cts_time_text((uint64_t)b->elapsed_ns.median).text,
            cts_time_text((uint64_t)b->elapsed_ns.low).text,
            cts_time_text((uint64_t)b->elapsed_ns.high).text,
            cts_time_text((uint64_t)b->busy_ns.median).text,
            outcome->keeps_gaps ? "" : " The host's pauses are left out.");
    print_repeatability(outcome, file);
}

static void print_single(const struct cts_try_report *report, const struct cts_try_trial *trial,
                         FILE *file)
{
    char change[CTS_TRY_WORDS_BYTES], verdict[2 * CTS_TRY_WORDS_BYTES], gain[100];
    cts_try_change_words(report->outcome->stretch, trial, change, sizeof change);
    cts_try_verdict_words(report, trial, verdict, sizeof verdict);
    fputc('\n', file);
    if (!is_measured(trial)) {
        cts_print_paragraph(file, 2, "%s: %s", change, verdict);
        return;
    }
    cts_try_gain_words(&trial->verdict.gain, gain, sizeof gain);
    cts_print_paragraph(file, 2, "%s: %s, %s; foretold: %.1f%%.", change, verdict, gain,
                        100 * trial->verdict.foretold);
    if (trial->verdict.dead_bytes)
        cts_print_paragraph(
            file, 2,
            "%s differ in memory that the program frees inside the stretch, or that "
            "nothing reads after it.",
            cts_bytes_text(trial->verdict.dead_bytes).text);
}

enum cts_status cts_try_print(const struct cts_try_report *report, FILE *file,
                              struct cts_error *error)
{
    const struct cts_try_outcome *const outcome = report->outcome;
    print_stretch(report, file);
    print_baseline(report, file);
    if (outcome->trial_count == 1 && !outcome->trials[0].finding) {
        print_single(report, &outcome->trials[0], file);
        return CTS_OK;
    }
    if (!outcome->trial_count) return CTS_OK;
    const struct cts_sheet sheet = trial_sheet(report);
    const struct cts_sheet_choice choice = {0};
    return cts_sheet_part(&sheet, "Trials", &choice, file, error);
}

/* ---- JSON ---- */

static void json_estimate(struct cts_json *json, const char *key,
                          const struct cts_try_estimate *estimate)
{
    cts_json_key(json, key);
    cts_json_open_object(json);
    cts_json_member_u64(json, "median_ns", (uint64_t)estimate->median);
    cts_json_member_u64(json, "low_ns", (uint64_t)estimate->low);
    cts_json_member_u64(json, "high_ns", (uint64_t)estimate->high);
    cts_json_close_object(json);
}

static void json_stretch(const struct cts_try_report *report, struct cts_json *json)
{
    const struct cts_stretch *const stretch = report->outcome->stretch;
    const struct counts counts = count(stretch);
    cts_json_key(json, "stretch");
    cts_json_open_object(json);
    cts_json_member_string(json, "device", stretch->device);
    cts_json_member_u64(json, "launches", counts.of_kind[CTS_TRIAL_LAUNCH]);
    cts_json_member_u64(json, "copies", counts.of_kind[CTS_TRIAL_COPY]);
    cts_json_member_u64(json, "memsets", counts.of_kind[CTS_TRIAL_MEMSET]);
    cts_json_member_u64(json, "waits", counts.of_kind[CTS_TRIAL_WAIT]);
    cts_json_member_u64(json, "host_threads", stretch->thread_count);
    cts_json_member_u64(json, "saved_bytes", counts.saved_bytes);
    cts_json_member_u64(json, "elapsed_ns", stretch->elapsed_ns);
    cts_json_member_u64(json, "busy_ns", counts.busy_ns);
    cts_json_close_object(json);
}

static void json_unchanged(const struct cts_try_report *report, struct cts_json *json)
{
    const struct cts_try_outcome *const outcome = report->outcome;
    const struct cts_try_baseline *const b = &outcome->baseline;
    char place[200];
    cts_json_key(json, "unchanged");
    cts_json_open_object(json);
    cts_json_member_u64(json, "replays", outcome->baseline_result.repeats);
    cts_json_member_string(json, "pace", outcome->keeps_gaps ? "recorded" : "free");
    json_estimate(json, "elapsed", &b->elapsed_ns);
    json_estimate(json, "busy", &b->busy_ns);
    cts_json_member_u64(json, "written_bytes", b->changed_bytes);
    cts_json_member_u64(json, "varying_bytes", b->masked_bytes);
    cts_json_member_bool(json, "can_judge", b->can_judge);
    cts_json_member_string(json, "fault", *b->fault ? b->fault : NULL);
    if (b->difference) cts_try_place_words(outcome->stretch, b->difference, place, sizeof place);
    cts_json_member_string(json, "differs_at", b->difference ? place : NULL);
    cts_json_close_object(json);
}

enum cts_status cts_try_print_json(const struct cts_try_report *report, FILE *file,
                                   struct cts_error *error)
{
    struct cts_json json;
    struct cts_sheet_rows rows;
    const struct cts_sheet_choice choice = {0};
    const struct cts_sheet sheet = trial_sheet(report);
    const enum cts_status status = cts_sheet_choose(&sheet, &choice, &rows, error);
    if (status) return status;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    cts_json_member_string(&json, "command", report->command);
    cts_json_member_string(&json, "run", report->run_path);
    cts_json_member_i64(&json, "program_status", report->program_status);
    json_stretch(report, &json);
    json_unchanged(report, &json);
    cts_sheet_json(&sheet, &rows, &json);
    cts_json_close_object(&json);
    fputc('\n', file);
    free(rows.rows);
    return CTS_OK;
}
