/* The path analysis: the screenful, notes, JSON. */
#include "report/path-report.h"

#include <stdlib.h>
#include <string.h>

#include "common/text-table.h"
#include "common/wrapped-text.h"
#include "report/gaps-report.h"
#include "report/path-words.h"

/* Threads that waited for what is not recorded. */
static void print_blocked(const struct cts_path_report *report, FILE *file)
{
    const struct cts_path_blocked *const blocked = &report->result->blocked;
    char first[128], more[128] = "";
    if (!blocked->count) return;
    if (blocked->count > 1)
        snprintf(more, sizeof more, " and %s",
                 cts_counted_text(blocked->count - 1, "more thread", "more threads").text);
    cts_print_paragraph(
        file, 6,
        "Note: %s%s used the CPU for %s of the time outside recorded waits and calls; what %s "
        "waited for is not recorded",
        cts_path_location_name(report, (uint32_t)blocked->location, first, sizeof first), more,
        cts_percent_text(blocked->cpu_ns, blocked->time_ns).text, *more ? "they" : "it");
}

void cts_path_print_notes(const struct cts_path_report *report, FILE *file)
{
    for (unsigned i = 0; i < CTS_PATH_WARNING_COUNT; i++)
        if (report->result->warnings[i])
            cts_print_paragraph(file, 6, "Note: %s %s",
                                cts_count_text(report->result->warnings[i]).text,
                                cts_path_warning_texts[i]);
    print_blocked(report, file);
    if (report->kernels && report->kernels->mismatches) {
        cts_print_paragraph(
            file, 6,
            "Note: the memory recording has different launches on %s, so their kernels have "
            "no efficiency: %s",
            cts_counted_text(report->kernels->mismatches, "stream", "streams or ranks").text,
            report->kernels->first_mismatch);
    }
    const struct cts_timeline *const timeline = report->result->timeline;
    if (cts_path_is_lower_bound(report->result))
        cts_print_paragraph(file, 2, "LOWER BOUND: recorded data is missing or damaged");
    cts_print_gaps(&timeline->gaps, "Missing: ", file);
    for (size_t i = 0; i < timeline->warning_count; i++) {
        fputs("Note: ", file);
        cts_print_plain(file, timeline->warnings[i].text);
        if (timeline->warnings[i].count > 1)
            fprintf(file, " (%s times)", cts_count_text(timeline->warnings[i].count).text);
        fputc('\n', file);
    }
}

/* ---- the screenful ---- */

static void print_head(const struct cts_path_report *report, FILE *file)
{
    const struct cts_path *const r = report->result;
    cts_timeline_extent_print(&(struct cts_timeline_extent){report->path, r->process_count,
                                                            r->stream_count, r->event_count},
                              file);
    fprintf(file, "  runtime %s (first to last event)",
            cts_time_text(r->last_ns - r->first_ns).text);
    if (report->within)
        fprintf(file, "; counted: %s within '%s'", cts_time_text(r->path_ns).text, report->within);
    else if (r->mpi_path_ns)
        fprintf(file, "; %s from MPI_Init to MPI_Finalize", cts_time_text(r->mpi_path_ns).text);
    fputc('\n', file);
    cts_print_paragraph(file, 4, "  waiting %s (sum over threads and streams)%s",
                        cts_time_text(r->wait_ns).text,
                        report->direct_blame ? "; blame goes to the immediate cause" : "");
    fputc('\n', file);
}

static enum cts_status print_rows(const struct cts_path_report *report, enum cts_path_sheet which,
                                  const struct cts_sheet_choice *choice, FILE *file,
                                  struct cts_error *error)
{
    const struct cts_sheet sheet = cts_path_brief_sheet(report, which);
    struct cts_sheet_rows rows;
    enum cts_status status = cts_sheet_choose(&sheet, choice, &rows, error);
    if (status) return status;
    status = cts_sheet_table(&sheet, &rows, file, error);
    free(rows.rows);
    return status;
}

/* The program's activities; start-up and shutdown have a sentence of their own. */
static enum cts_status print_activities(const struct cts_path_report *report, size_t top,
                                        FILE *file, struct cts_error *error)
{
    const struct cts_sheet sheet = cts_path_brief_sheet(report, CTS_PATH_SHEET_ACTIVITY);
    struct cts_sheet_rows rows;
    enum cts_status status = cts_sheet_choose(&sheet, &(struct cts_sheet_choice){0}, &rows, error);
    if (status) return status;
    size_t count = 0, found = 0;
    for (size_t i = 0; i < rows.count; i++) {
        if (report->result->rows[rows.rows[i]].frame) continue;
        found++;
        if (!top || count < top) rows.rows[count++] = rows.rows[i];
    }
    rows.count = count;
    status = cts_sheet_table(&sheet, &rows, file, error);
    free(rows.rows);
    if (!status && found > count)
        fprintf(file, "  %zu more activities: --limit 0 shows all\n", found - count);
    return status;
}

/* Patterns that occurred, largest first. */
static enum cts_status print_patterns(const struct cts_path_report *report, FILE *file,
                                      struct cts_error *error)
{
    size_t count = 0;
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++)
        count += p < CTS_PATH_WAITS_END && report->result->patterns[p].count;
    if (!count) return CTS_OK;
    fputc('\n', file);
    return print_rows(report, CTS_PATH_SHEET_PATTERN,
                      &(struct cts_sheet_choice){.sort = "time_ns", .limit = count}, file, error);
}

/* Rows of the longest waits: the longest of each pattern that holds at least a hundredth of all
 * waiting, then the longest of the others; by length. One pattern alone hides what else waits. */
static enum cts_status choose_instances(const struct cts_path *result,
                                        const struct cts_sheet *sheet, size_t limit,
                                        struct cts_sheet_rows *rows, struct cts_error *error)
{
    const struct cts_sheet_choice longest = {.sort = "duration_ns"};
    bool seen[CTS_PATH_PATTERN_COUNT] = {false};
    const enum cts_status status = cts_sheet_choose(sheet, &longest, rows, error);
    if (status) return status;
    bool *const chosen = calloc(rows->count + 1, sizeof *chosen);
    if (!chosen) {
        free(rows->rows);
        return cts_fail(error, CTS_MEMORY, "no memory to list %zu rows", rows->count);
    }
    size_t left = limit;
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < rows->count && left; i++) {
            enum cts_path_pattern pattern;
            (void)cts_path_instance_at(result, rows->rows[i], &pattern);
            const bool matters = result->patterns[pattern].time_ns * 100 >= result->wait_ns;
            if (chosen[i] || (pass == 0 && (seen[pattern] || !matters))) continue;
            seen[pattern] = chosen[i] = true;
            left--;
        }
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (chosen[i]) rows->rows[count++] = rows->rows[i];
    rows->count = count;
    free(chosen);
    return CTS_OK;
}

enum { LONGEST_WAITS = 6 };

static enum cts_status print_instances(const struct cts_path_report *report, FILE *file,
                                       struct cts_error *error)
{
    const struct cts_sheet sheet = cts_path_brief_sheet(report, CTS_PATH_SHEET_INSTANCE);
    struct cts_sheet_rows rows;
    enum cts_status status = choose_instances(report->result, &sheet, LONGEST_WAITS, &rows, error);
    if (status) return status;
    fputc('\n', file);
    cts_print_paragraph(
        file, 4,
        "  Longest waits, including the longest of each pattern above 1%% of waiting time");
    status = cts_sheet_table(&sheet, &rows, file, error);
    free(rows.rows);
    return status;
}

/* The devices that idle longest. */
static enum cts_status print_devices(const struct cts_path_report *report, FILE *file,
                                     struct cts_error *error)
{
    enum { DEVICES = 8 };
    const size_t count = report->result->devices.count;
    if (!count) return CTS_OK;
    fprintf(file, "\n  Devices%s\n", report->within ? ", in the whole run" : "");
    const enum cts_status status = print_rows(
        report, CTS_PATH_SHEET_DEVICE,
        &(struct cts_sheet_choice){.sort = count > DEVICES ? "idle_ns" : NULL, .limit = DEVICES},
        file, error);
    if (!status && count > DEVICES)
        fprintf(file, "  %zu more devices: --per device\n", count - DEVICES);
    return status;
}

/* The ranks that others wait for most. */
static enum cts_status print_ranks(const struct cts_path_report *report, FILE *file,
                                   struct cts_error *error)
{
    enum { RANKS = 5 };
    const size_t count = report->result->process_count;
    bool any = false;
    for (size_t i = 0; i < count; i++) any |= report->result->ranks[i].delayed_ns > 0;
    if (!any) return CTS_OK;
    fprintf(file, "\n  Ranks that others wait for, and what they do longer than the others\n");
    const enum cts_status status =
        print_rows(report, CTS_PATH_SHEET_RANK,
                   &(struct cts_sheet_choice){.sort = "delayed_ns", .limit = RANKS}, file, error);
    if (!status && count > RANKS) fprintf(file, "  %zu more ranks: --per rank\n", count - RANKS);
    return status;
}

enum cts_status cts_path_print_summary(const struct cts_path_report *report, size_t top, FILE *file,
                                       struct cts_error *error)
{
    print_head(report, file);
    enum cts_status status = print_activities(report, top, file, error);
    if (!status) status = print_patterns(report, file, error);
    if (!status && report->result->wait_ns) status = print_instances(report, file, error);
    if (!status) status = print_ranks(report, file, error);
    if (!status) status = print_devices(report, file, error);
    if (status) return status;
    struct cts_path_words words;
    cts_path_words_make(report, &words);
    fputc('\n', file);
    cts_path_words_print(&words, file);
    cts_path_print_notes(report, file);
    return CTS_OK;
}

/* ---- JSON ---- */

/* The waits that the screenful lists. */
static enum cts_status json_longest_waits(const struct cts_path_report *report,
                                          struct cts_json *json, struct cts_error *error)
{
    struct cts_sheet sheet = cts_path_sheet(report, CTS_PATH_SHEET_INSTANCE);
    struct cts_sheet_rows rows;
    const enum cts_status status =
        choose_instances(report->result, &sheet, LONGEST_WAITS, &rows, error);
    if (status) return status;
    sheet.name = "longest_waits";
    cts_sheet_json(&sheet, &rows, json);
    free(rows.rows);
    return CTS_OK;
}

static void json_head(const struct cts_path_report *report, struct cts_json *json)
{
    const struct cts_path *const r = report->result;
    cts_json_member_string(json, "trace", report->path);
    cts_json_member_u64(json, "processes", r->process_count);
    cts_json_member_u64(json, "locations", r->location_count);
    cts_json_member_u64(json, "streams", r->stream_count);
    cts_json_member_u64(json, "events", r->event_count);
    cts_json_member_u64(json, "first_ns", r->first_ns);
    cts_json_member_u64(json, "last_ns", r->last_ns);
    cts_json_member_string(json, "within", report->within);
    cts_json_member_u64(json, "begin_ns", r->part_begin_ns);
    cts_json_member_u64(json, "end_ns", r->part_end_ns);
    cts_json_member_u64(json, "path_ns", r->path_ns);
    cts_json_member_u64(json, "mpi_path_ns", r->mpi_path_ns);
    cts_json_member_u64(json, "program_path_ns", r->program_path_ns);
    cts_path_json_places(json, r);
    cts_json_member_u64(json, "path_jumps", r->path_jumps);
    cts_json_member_u64(json, "path_crossings", r->path_crossings);
    cts_json_member_u64(json, "threads_blocked", r->blocked.count);
    cts_json_member_u64(json, "threads_blocked_ns", r->blocked.time_ns);
    cts_json_member_u64(json, "threads_blocked_cpu_ns", r->blocked.cpu_ns);
    cts_json_member_u64(json, "thread_starts", r->starts.count);
    cts_json_member_u64(json, "thread_starts_late", r->starts.late_count);
    cts_json_member_u64(json, "thread_start_ns", r->starts.start_ns);
    cts_json_member_u64(json, "thread_work_ns", r->starts.work_ns);
    cts_json_member_u64(json, "wait_ns", r->wait_ns);
    cts_json_member_u64(json, "host_wait_ns", r->host_wait_ns);
    cts_json_member_u64(json, "device_wait_ns", r->device_wait_ns);
    cts_json_member_u64(json, "blame_ns", r->blame_ns);
    cts_json_member_bool(json, "direct_blame", report->direct_blame);
    if (!report->kernels) return;
    cts_json_member_u64(json, "memory_mismatches", report->kernels->mismatches);
    if (report->kernels->mismatches)
        cts_json_member_string(json, "first_memory_mismatch", report->kernels->first_mismatch);
}

enum cts_status cts_path_json_members(const struct cts_path_report *report,
                                      const struct cts_sheet_choice *choice, struct cts_json *json,
                                      struct cts_error *error)
{
    const struct cts_sheet activities = cts_path_sheet(report, CTS_PATH_SHEET_ACTIVITY);
    struct cts_sheet_rows rows;
    enum cts_status status = cts_sheet_choose(&activities, choice, &rows, error);
    if (status) return status;
    json_head(report, json);
    cts_sheet_json(&activities, &rows, json);
    free(rows.rows);
    for (unsigned which = CTS_PATH_SHEET_PATTERN; which < CTS_PATH_SHEET_COUNT; which++) {
        const struct cts_sheet sheet = cts_path_sheet(report, (enum cts_path_sheet)which);
        const struct cts_sheet_rows all = cts_sheet_all(&sheet);
        cts_sheet_json(&sheet, &all, json);
    }
    status = json_longest_waits(report, json, error);
    if (status) return status;
    struct cts_path_words words;
    cts_path_words_make(report, &words);
    cts_json_key(json, "summary");
    cts_json_open_array(json);
    for (unsigned i = 0; i < words.count; i++) cts_json_string(json, words.text[i]);
    cts_json_close_array(json);
    cts_json_member_bool(json, "lower_bound", cts_path_is_lower_bound(report->result));
    cts_json_gaps(json, &report->result->timeline->gaps);
    cts_json_key(json, "warnings");
    cts_json_open_array(json);
    for (unsigned i = 0; i < CTS_PATH_WARNING_COUNT; i++) {
        if (!report->result->warnings[i]) continue;
        cts_json_open_object_row(json);
        cts_json_member_string(json, "text", cts_path_warning_texts[i]);
        cts_json_member_u64(json, "count", report->result->warnings[i]);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
    return CTS_OK;
}

enum cts_status cts_path_print_json(const struct cts_path_report *report,
                                    const struct cts_sheet_choice *choice, FILE *file,
                                    struct cts_error *error)
{
    /* A choice that makes no sense is told before anything is written. */
    const struct cts_sheet activities = cts_path_sheet(report, CTS_PATH_SHEET_ACTIVITY);
    struct cts_sheet_rows rows;
    enum cts_status status = cts_sheet_choose(&activities, choice, &rows, error);
    if (status) return status;
    free(rows.rows);
    struct cts_json json;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    status = cts_path_json_members(report, choice, &json, error);
    if (!status) cts_json_close_object(&json);
    return cts_json_end_after(&json, status, error);
}
