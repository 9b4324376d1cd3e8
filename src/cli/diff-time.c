#include "cli/diff-time.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/run-timeline.h"
#include "trace/recording.h"

static void ignore_damage(void *state, const struct cts_error *error)
{
    (void)state, (void)error;
}

static bool has_time(const char *path)
{
    return cts_cli_is_archive(path) || cts_cli_has_timeline(path);
}

/* Recorders of time alone need no catalogue, so a run may be its timeline and nothing else. */
static bool is_timeline_alone(const char *path)
{
    char catalogue[PATH_MAX];
    struct cts_acc_reader *reader;
    struct cts_error ignored;
    if (cts_cli_is_archive(path)) return true;
    const int length = snprintf(catalogue, sizeof catalogue, "%s/run.db", path);
    if (length < 0 || (size_t)length >= sizeof catalogue) return false;
    if (access(catalogue, F_OK) == 0 || errno != ENOENT) return false;
    if (cts_acc_open_readable(path, &reader, ignore_damage, NULL, &ignored)) return false;
    const size_t file_count = cts_acc_file_count(reader);
    cts_acc_close(reader);
    return !file_count;
}

static enum cts_status look_for_accesses(const char *path, bool *has_accesses,
                                         struct cts_error *error)
{
    struct cts_recording recording;
    *has_accesses = false;
    if (is_timeline_alone(path)) return CTS_OK;
    const enum cts_status status = cts_recording_open(path, &recording, error);
    if (status) return status;
    *has_accesses = cts_recording_has_accesses(&recording);
    cts_recording_close(&recording);
    return CTS_OK;
}

enum cts_status cts_diff_is_of_time(const char *before, const char *after, bool *is_of_time,
                                    struct cts_error *error)
{
    bool left = false, right = false;
    *is_of_time = false;
    if (!has_time(before) || !has_time(after)) return CTS_OK;
    enum cts_status status = look_for_accesses(before, &left, error);
    if (!status) status = look_for_accesses(after, &right, error);
    *is_of_time = !(left && right);
    return status;
}

struct side {
    struct cts_timeline timeline;
    struct cts_path result;
    bool is_open;
};

static enum cts_status open_side(struct side *side, const char *path, unsigned threads,
                                 struct cts_error *error)
{
    *side = (struct side){0};
    enum cts_status status = cts_cli_open_timeline(path, &side->timeline, error);
    if (status) return status;
    side->is_open = true;
    const struct cts_path_source source = cts_path_source_of(&side->timeline);
    const struct cts_path_options options = {.threads = threads};
    status = cts_path_analyze(&source, &options, &side->result, error);
    if (!status) cts_cli_tell_damage(path, &side->timeline);
    return status;
}

static void close_side(struct side *side)
{
    if (side->result.rows) cts_path_release(&side->result);
    if (side->is_open) cts_timeline_close(&side->timeline);
}

static enum cts_status render(const struct cts_diff_time *request,
                              const struct cts_time_report *report, struct cts_error *error)
{
    if (request->json) return cts_time_print_json(report, &request->choice, stdout, error);
    if (!request->rows && !request->choice.sort)
        return cts_time_print_summary(report, request->choice.limit, stdout, error);
    const struct cts_sheet sheet = cts_time_sheet(report, request->sheet);
    return cts_sheet_print(&sheet, &request->choice, request->csv, stdout, error);
}

/* CTS_EXIT_THRESHOLD with a line on stderr, or 0. */
static int judge(const struct cts_arguments *arguments, const struct cts_diff_time *request,
                 const struct cts_time_report *report)
{
    const double before_ns = (double)report->before->path_ns;
    const double growth = before_ns > 0 ? (double)report->after->path_ns / before_ns - 1 : 0;
    if (!(growth > request->fail_above)) return CTS_EXIT_OK;
    fprintf(stderr, "ctascope %s: --fail-above %g%%: the runtime has grown by %.1f%%\n",
            arguments->verb->name, 100 * request->fail_above, 100 * growth);
    return CTS_EXIT_THRESHOLD;
}

int cts_diff_run_time(const struct cts_arguments *arguments, const struct cts_diff_time *request)
{
    char *const *const paths = arguments->positional;
    struct cts_error error = {0};
    struct side before = {0}, after = {0};
    struct cts_time_diff diff = {0};
    enum cts_status status = open_side(&before, paths[0], request->threads, &error);
    if (!status) status = open_side(&after, paths[1], request->threads, &error);
    if (!status) status = cts_time_compare(&before.result, &after.result, &diff, &error);
    const struct cts_time_report report = {.before_path = arguments->names[0],
                                           .after_path = arguments->names[1],
                                           .before = &before.result,
                                           .after = &after.result,
                                           .diff = &diff};
    if (!status) status = render(request, &report, &error);
    const int code =
        status ? cts_report_error(arguments, &error) : judge(arguments, request, &report);
    cts_time_diff_release(&diff);
    close_side(&after);
    close_side(&before);
    return code;
}
