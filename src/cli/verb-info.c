/* What is in a run: two renderers of the catalogue and its summary. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/info-timeline.h"
#include "cli/shared-options.h"
#include "cli/run-summary.h"
#include "cli/run-timeline.h"
#include "cli/verb.h"
#include "common/json.h"
#include "common/progress.h"
#include "common/text-table.h"
#include "common/wrapped-text.h"
#include "report/faults-report.h"
#include "report/gaps-report.h"
#include "trace/recording.h"

enum {
    MESSAGES_MAX = 20,           /* in the table; JSON has all */
    DECODED_MAX_BYTES = 64 << 20 /* of access files, that are decoded without --check */
};

/* ---- table ---- */

__attribute__((format(printf, 2, 3))) static void print_line(const char *name, const char *format,
                                                             ...)
{
    char text[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cts_print_paragraph(stdout, 16, "  %-13s %s", name, text);
}

static const char *or_unknown(const char *text)
{
    return text && *text ? text : "(unknown)";
}

static void print_origin(const struct cts_catalogue *catalogue)
{
    const char *const cpu = cts_catalogue_get(catalogue, "cpu_model");
    print_line("recorded", "%s on %s (%s, %s CPUs%s%s)",
               or_unknown(cts_catalogue_get(catalogue, "created")),
               or_unknown(cts_catalogue_get(catalogue, "host")),
               or_unknown(cts_catalogue_get(catalogue, "system")),
               or_unknown(cts_catalogue_get(catalogue, "cpu_count")), cpu ? ", " : "",
               cpu ? cpu : "");
    print_line("by", "ctascope %s, format version %s",
               or_unknown(cts_catalogue_get(catalogue, "ctascope_version")),
               or_unknown(cts_catalogue_get(catalogue, "format_version")));
    const char *const command = cts_catalogue_get(catalogue, "command");
    if (command) print_line("command", "%s", command);
    for (size_t i = 0; i < catalogue->rank_count; i++) {
        const struct cts_rank *const rank = &catalogue->ranks[i];
        char name[32];
        snprintf(name, sizeof name, "rank %u", rank->rank);
        print_line(name, "%s, process %lld on %s, recorder %s", or_unknown(rank->program),
                   (long long)rank->pid, or_unknown(rank->host), or_unknown(rank->recorder));
    }
    for (size_t i = 0; i < catalogue->device_count; i++) {
        const struct cts_device *const device = &catalogue->devices[i];
        char name[48];
        snprintf(name, sizeof name, "device %u.%u", device->rank, device->device);
        if (device->sm_count || device->memory_bytes)
            print_line(name, "%s (%s), %u SMs, %s", or_unknown(device->name), device->kind,
                       device->sm_count, cts_bytes_text(device->memory_bytes).text);
        else /* a timeline does not tell */
            print_line(name, "%s (%s)", or_unknown(device->name), device->kind);
    }
}

/* Whether no process recorded accesses, allocations or copies. */
static bool records_only_time(const struct cts_catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->rank_count; i++)
        if (!catalogue->ranks[i].recorder || strcmp(catalogue->ranks[i].recorder, "timeline") != 0)
            return false;
    return catalogue->rank_count && !catalogue->launch_count;
}

static void print_totals(const struct cts_catalogue *catalogue, const struct cts_run_summary *s)
{
    if (!catalogue->rank_count)
        print_line("complete", "NO: no process has recorded yet");
    else if (s->cut_off_ranks)
        print_line("complete", "NO: %u of %zu ranks did not terminate normally", s->cut_off_ranks,
                   catalogue->rank_count);
    else if (s->unfinished_ranks)
        print_line("complete", "NO: launches may be missing, see below");
    else if (s->dropped_accesses || s->dropped_records)
        print_line("complete", "NO: the recorder dropped accesses, see below");
    else if (s->has_gaps)
        print_line("complete", "NO: recorded data is missing, see below");
    else
        print_line("complete", "yes, after %s%s", cts_time_text(s->duration_ns).text,
                   s->is_decoded ? "" : " (by sizes and counts; --check also decodes all records)");
    if (records_only_time(catalogue)) {
        print_line("accesses", "not recorded: this run has a timeline only");
        print_line("size", "%s", cts_bytes_text(s->disk_bytes).text);
        return;
    }
    print_line("accesses", "%s in %s", cts_count_text(s->accesses).text,
               cts_counted_text(s->records, "warp record", "warp records").text);
    const double per_access = s->accesses ? (double)s->access_bytes / (double)s->accesses : 0;
    print_line("size", "%s, including %s of accesses (%.3g bytes each)",
               cts_bytes_text(s->disk_bytes).text, cts_bytes_text(s->access_bytes).text,
               per_access);
    print_line("allocations", "%s, %s in total, peak %s", cts_count_text(s->allocations).text,
               cts_bytes_text(s->allocated_bytes).text, cts_bytes_text(s->peak_bytes).text);
    print_line("copies", "%s, %s", cts_count_text(s->copies).text,
               cts_bytes_text(s->copied_bytes).text);
}

/* What is missing in the run, one line each; nothing is said to be missing when nothing is. */
static void print_gaps(const struct cts_recording *recording, const struct cts_run_summary *s)
{
    cts_print_gaps(&recording->catalogue.gaps, "  MISSING       ", stdout);
    cts_print_gaps(&recording->timeline_gaps, "  MISSING       ", stdout);
    if (s->dropped_accesses || s->dropped_records)
        print_line("DROPPED", "%s accesses, %s records", cts_count_text(s->dropped_accesses).text,
                   cts_count_text(s->dropped_records).text);
    if (s->launches != s->recorded_launches)
        print_line("NOT RECORDED", "%s of %s",
                   cts_count_text(s->launches - s->recorded_launches).text,
                   cts_counted_text(s->launches, "launch", "launches").text);
    if (s->sampled_launches)
        print_line("SAMPLED", "%s of %s: only some CTAs", cts_count_text(s->sampled_launches).text,
                   cts_counted_text(s->launches, "launch", "launches").text);
    if (s->unfinished_launches)
        print_line("UNFINISHED", "%s of %s launches", cts_count_text(s->unfinished_launches).text,
                   cts_count_text(s->launches).text);
    if (s->skipped)
        print_line("UNSUPPORTED", "%s could not be instrumented, see below",
                   cts_counted_text(s->skipped, "place", "places").text);
    if (s->failure) print_line("FAILURE", "%s", s->failure);
}

static void source_place(const struct cts_catalogue *catalogue, uint32_t source, uint32_t line,
                         char *text, size_t text_bytes)
{
    const char *const path =
        source < catalogue->source_count ? catalogue->sources[source].path : NULL;
    if (path)
        snprintf(text, text_bytes, "%s:%u", path, line);
    else
        snprintf(text, text_bytes, "-");
}

static void extents_text(const uint32_t extents[3], bool several, char *text, size_t text_bytes)
{
    int length = snprintf(text, text_bytes, "%u", extents[0]);
    const int dimensions = extents[2] > 1 ? 3 : extents[1] > 1 ? 2 : 1;
    for (int i = 1; i < dimensions; i++)
        length += snprintf(text + length, text_bytes - (size_t)length, "x%u", extents[i]);
    if (several) snprintf(text + length, text_bytes - (size_t)length, " ...");
}

static void use_colours(struct cts_text_table *table)
{
    if (!cts_colours_wanted(stdout)) return;
    table->title_start = "\033[1m";
    table->title_end = "\033[0m";
}

static enum cts_status print_kernels(const struct cts_catalogue *catalogue,
                                     const struct cts_run_summary *summary, bool full_names,
                                     struct cts_error *error)
{
    if (!summary->kernel_count) return CTS_OK;
    struct cts_text_table table = {.indent = 2, .full_names = full_names};
    use_colours(&table);
    cts_text_table_column(&table, "kernel", CTS_NAME);
    cts_text_table_column(&table, "launches", CTS_RIGHT);
    cts_text_table_column(&table, "recorded", CTS_RIGHT);
    cts_text_table_column(&table, "grid", CTS_LEFT);
    cts_text_table_column(&table, "block", CTS_LEFT);
    cts_text_table_column(&table, "records", CTS_RIGHT);
    cts_text_table_column(&table, "accesses", CTS_RIGHT);
    cts_text_table_column(&table, "time", CTS_RIGHT);
    cts_text_table_column(&table, "source", CTS_LEFT);
    for (size_t i = 0; i < summary->kernel_count; i++) {
        const struct cts_kernel_summary *const k = &summary->kernels[i];
        const struct cts_kernel *const kernel = &catalogue->kernels[k->kernel];
        char text[4200];
        cts_text_table_cell(&table, "%s", or_unknown(kernel->name));
        cts_text_table_cell(&table, "%s", cts_count_text(k->launches).text);
        cts_text_table_cell(&table, "%s",
                            kernel->instrumented ? cts_count_text(k->recorded_launches).text
                                                 : "not instrumented");
        extents_text(k->grid, k->several_shapes, text, sizeof text);
        cts_text_table_cell(&table, "%s", text);
        extents_text(k->block, k->several_shapes, text, sizeof text);
        cts_text_table_cell(&table, "%s", text);
        cts_text_table_cell(&table, "%s", cts_count_text(k->records).text);
        cts_text_table_cell(&table, "%s", cts_count_text(k->accesses).text);
        cts_text_table_cell(&table, "%s", cts_time_text(k->time_ns).text);
        source_place(catalogue, kernel->source, kernel->line, text, sizeof text);
        cts_text_table_cell(&table, "%s", text);
    }
    printf("\nKernels\n");
    const enum cts_status status = cts_text_table_print(&table, stdout, error);
    cts_text_table_release(&table);
    return status;
}

static void print_constants(const struct cts_catalogue *catalogue)
{
    if (cts_catalogue_lacks_constants(catalogue))
        print_line("constant memory:", "loads are not recorded");
}

static void print_faults(const struct cts_catalogue *catalogue)
{
    char place[40];
    if (catalogue->fault_count) printf("\nFaults\n");
    for (size_t i = 0; i < catalogue->fault_count && i < MESSAGES_MAX; i++) {
        const struct cts_launch_fault *const fault = &catalogue->faults[i];
        snprintf(place, sizeof place, "launch %u:", fault->launch);
        print_line(place, "%s", or_unknown(fault->text));
    }
    if (catalogue->fault_count > MESSAGES_MAX)
        printf("  ... and %zu more: ctascope dump --table faults\n",
               catalogue->fault_count - MESSAGES_MAX);
}

static void print_messages(const struct cts_catalogue *catalogue)
{
    char place[4200];
    if (catalogue->skipped_count) printf("\nNot instrumented\n");
    for (size_t i = 0; i < catalogue->skipped_count && i < MESSAGES_MAX; i++) {
        const struct cts_skipped *const skipped = &catalogue->skipped[i];
        source_place(catalogue, skipped->source, skipped->line, place, sizeof place);
        strncat(place, ":", sizeof place - strlen(place) - 1);
        print_line(place, "%s: %s", or_unknown(skipped->what), or_unknown(skipped->reason));
    }
    if (catalogue->skipped_count > MESSAGES_MAX)
        printf("  ... and %zu more: ctascope dump --table skipped\n",
               catalogue->skipped_count - MESSAGES_MAX);
    if (catalogue->message_count) printf("\nMessages\n");
    for (size_t i = 0; i < catalogue->message_count && i < MESSAGES_MAX; i++) {
        const struct cts_message *const message = &catalogue->messages[i];
        snprintf(place, sizeof place, "rank %u:", message->rank);
        print_line(place, "%s: %s", or_unknown(message->severity), or_unknown(message->text));
    }
    if (catalogue->message_count > MESSAGES_MAX)
        printf("  ... and %zu more: ctascope dump --table messages\n",
               catalogue->message_count - MESSAGES_MAX);
}

static enum cts_status render_table(const struct cts_recording *recording,
                                    const struct cts_run_summary *summary, bool full_names,
                                    struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = &recording->catalogue;
    printf("Run '");
    cts_print_plain(stdout, recording->path);
    puts("'");
    print_origin(catalogue);
    print_totals(catalogue, summary);
    print_gaps(recording, summary);
    print_constants(catalogue);
    const enum cts_status status = print_kernels(catalogue, summary, full_names, error);
    if (!status) print_faults(catalogue);
    if (!status) print_messages(catalogue);
    return status;
}

/* ---- JSON ---- */

static void json_keys(struct cts_json *json, const struct cts_catalogue *catalogue)
{
    cts_json_key(json, "run");
    cts_json_open_object(json);
    for (size_t i = 0; i < cts_catalogue_key_count(catalogue); i++) {
        const char *value;
        const char *const key = cts_catalogue_key(catalogue, i, &value);
        cts_json_member_string(json, key, value);
    }
    cts_json_close_object(json);
}

static void json_ranks(struct cts_json *json, const struct cts_catalogue *catalogue)
{
    cts_json_key(json, "ranks");
    cts_json_open_array(json);
    for (size_t i = 0; i < catalogue->rank_count; i++) {
        const struct cts_rank *const rank = &catalogue->ranks[i];
        cts_json_open_object(json);
        cts_json_member_u64(json, "rank", rank->rank);
        cts_json_member_i64(json, "pid", rank->pid);
        cts_json_member_string(json, "host", rank->host);
        cts_json_member_string(json, "program", rank->program);
        cts_json_member_string(json, "arguments", rank->arguments);
        cts_json_member_string(json, "recorder", rank->recorder);
        cts_json_member_bool(json, "complete", rank->end_ns != 0);
        cts_json_member_string(json, "failure", rank->failure);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

static void json_totals(struct cts_json *json, const struct cts_catalogue *catalogue,
                        const struct cts_run_summary *s)
{
    cts_json_key(json, "totals");
    cts_json_open_object(json);
    cts_json_member_bool(json, "complete",
                         catalogue->rank_count && !s->unfinished_ranks && !s->has_gaps &&
                             !s->dropped_accesses && !s->dropped_records);
    cts_json_member_bool(json, "decoded", s->is_decoded);
    cts_json_member_u64(json, "duration_ns", s->duration_ns);
    cts_json_member_u64(json, "launches", s->launches);
    cts_json_member_u64(json, "recorded_launches", s->recorded_launches);
    cts_json_member_u64(json, "sampled_launches", s->sampled_launches);
    cts_json_member_u64(json, "unfinished_launches", s->unfinished_launches);
    cts_json_member_u64(json, "records", s->records);
    cts_json_member_u64(json, "accesses", s->accesses);
    cts_json_member_u64(json, "dropped_records", s->dropped_records);
    cts_json_member_u64(json, "dropped_accesses", s->dropped_accesses);
    cts_json_member_u64(json, "skipped", s->skipped);
    cts_json_member_u64(json, "allocations", s->allocations);
    cts_json_member_u64(json, "allocated_bytes", s->allocated_bytes);
    cts_json_member_u64(json, "peak_bytes", s->peak_bytes);
    cts_json_member_u64(json, "copies", s->copies);
    cts_json_member_u64(json, "copied_bytes", s->copied_bytes);
    cts_json_member_u64(json, "disk_bytes", s->disk_bytes);
    cts_json_member_u64(json, "access_bytes", s->access_bytes);
    cts_json_close_object(json);
}

static void json_extents(struct cts_json *json, const char *key, const uint32_t extents[3])
{
    cts_json_key(json, key);
    cts_json_open_array_row(json);
    for (int i = 0; i < 3; i++) cts_json_u64(json, extents[i]);
    cts_json_close_array(json);
}

static void json_kernels(struct cts_json *json, const struct cts_catalogue *catalogue,
                         const struct cts_run_summary *summary)
{
    cts_json_key(json, "kernels");
    cts_json_open_array(json);
    for (size_t i = 0; i < summary->kernel_count; i++) {
        const struct cts_kernel_summary *const k = &summary->kernels[i];
        const struct cts_kernel *const kernel = &catalogue->kernels[k->kernel];
        cts_json_open_object(json);
        cts_json_member_u64(json, "kernel", k->kernel);
        cts_json_member_string(json, "name", kernel->name);
        cts_json_member_bool(json, "instrumented", kernel->instrumented);
        cts_json_member_string(
            json, "path",
            kernel->source == CTS_NONE ? NULL : catalogue->sources[kernel->source].path);
        cts_json_member_u64(json, "line", kernel->line);
        cts_json_member_u64(json, "launches", k->launches);
        cts_json_member_u64(json, "recorded_launches", k->recorded_launches);
        json_extents(json, "first_grid", k->grid);
        json_extents(json, "first_block", k->block);
        cts_json_member_bool(json, "several_shapes", k->several_shapes);
        cts_json_member_u64(json, "records", k->records);
        cts_json_member_u64(json, "accesses", k->accesses);
        cts_json_member_u64(json, "dropped_accesses", k->dropped_accesses);
        cts_json_member_u64(json, "time_ns", k->time_ns);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

static void json_messages(struct cts_json *json, const struct cts_catalogue *catalogue)
{
    cts_json_key(json, "skipped");
    cts_json_open_array(json);
    for (size_t i = 0; i < catalogue->skipped_count; i++) {
        const struct cts_skipped *const skipped = &catalogue->skipped[i];
        cts_json_open_object_row(json);
        cts_json_member_string(json, "what", skipped->what);
        cts_json_member_string(json, "reason", skipped->reason);
        cts_json_member_string(
            json, "path",
            skipped->source == CTS_NONE ? NULL : catalogue->sources[skipped->source].path);
        cts_json_member_u64(json, "line", skipped->line);
        cts_json_member_u64(json, "count", skipped->count);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
    cts_json_key(json, "messages");
    cts_json_open_array(json);
    for (size_t i = 0; i < catalogue->message_count; i++) {
        cts_json_open_object_row(json);
        cts_json_member_u64(json, "rank", catalogue->messages[i].rank);
        cts_json_member_string(json, "severity", catalogue->messages[i].severity);
        cts_json_member_string(json, "text", catalogue->messages[i].text);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

/* `recording` NULL: an archive, which is a timeline alone. */
static enum cts_status render_json(const struct cts_recording *recording,
                                   const struct cts_run_summary *summary,
                                   struct cts_timeline *timeline, struct cts_error *error)
{
    struct cts_json json;
    cts_json_begin(&json, stdout);
    cts_json_open_object(&json);
    if (recording) {
        const struct cts_catalogue *const catalogue = &recording->catalogue;
        json_keys(&json, catalogue);
        json_ranks(&json, catalogue);
        json_totals(&json, catalogue, summary);
        json_kernels(&json, catalogue, summary);
        json_messages(&json, catalogue);
        cts_json_faults(&json, catalogue);
        cts_json_member_bool(&json, "constant_memory_recorded",
                             !cts_catalogue_lacks_constants(catalogue));
        cts_json_key(&json, "missing");
        cts_json_open_array(&json);
        cts_json_gap_lines(&json, &catalogue->gaps);
        cts_json_gap_lines(&json, &recording->timeline_gaps);
        cts_json_close_array(&json);
    }
    const enum cts_status status =
        timeline ? cts_info_timeline_json(timeline, &json, error) : CTS_OK;
    if (status) return status;
    cts_json_close_object(&json);
    return cts_json_end(&json, error);
}

/* ---- the verb ---- */

static bool wants_json(const struct cts_arguments *arguments)
{
    const char *const format = cts_argument(arguments, "format");
    return format && strcmp(format, "json") == 0;
}

/* Decodes the records of a run that is not too large for it, or of any: a byte that has changed is
 * only seen so. False: looked at sizes, counts and the index alone. */
static bool decode(const struct cts_arguments *arguments, struct cts_recording *recording)
{
    if (!cts_argument_given(arguments, "check") &&
        cts_recording_access_bytes(recording) > DECODED_MAX_BYTES)
        return false;
    (void)cts_recording_leave_out_damage(recording);
    return true;
}

/* What the archive says that it lacks, and its files; what the run knows of them is there already.
 */
static void take_gaps(struct cts_recording *recording, const struct cts_timeline *timeline)
{
    struct cts_gaps *const gaps = &recording->timeline_gaps;
    const size_t known = gaps->named_count;
    for (size_t i = 0; i < timeline->gaps.named_count; i++) {
        bool is_known = false;
        for (size_t k = 0; k < known && !is_known; k++)
            is_known = strcmp(gaps->texts[k], timeline->gaps.texts[i]) == 0;
        if (!is_known) cts_gaps_add(gaps, "%s", timeline->gaps.texts[i]);
    }
    gaps->count += timeline->gaps.count - timeline->gaps.named_count;
}

/* `why`: why `timeline` is NULL although the run has one; else NULL. */
static int info_of_run(const struct cts_arguments *arguments, const char *run_path,
                       struct cts_timeline *timeline, const struct cts_error *why)
{
    struct cts_error error;
    struct cts_recording recording;
    struct cts_run_summary summary;
    enum cts_status status = cts_recording_open(run_path, &recording, &error);
    if (status) return cts_report_error(arguments, &error);
    const struct cts_catalogue *const catalogue = &recording.catalogue;
    const bool is_decoded = decode(arguments, &recording);
    if (timeline)
        take_gaps(&recording, timeline);
    else
        cts_cli_name_lost_timeline(run_path, &recording.timeline_gaps);
    if (why) cts_gaps_add(&recording.timeline_gaps, "its timeline cannot be read: %s", why->text);
    status = cts_run_summarise(run_path, catalogue, &summary, &error);
    summary.is_decoded = is_decoded;
    summary.has_gaps = cts_gaps_any(&catalogue->gaps) || cts_gaps_any(&recording.timeline_gaps);
    if (!status) {
        status = wants_json(arguments)
                     ? render_json(&recording, &summary, timeline, &error)
                     : render_table(&recording, &summary,
                                    cts_argument_given(arguments, "full-names"), &error);
        if (!status && timeline && !wants_json(arguments))
            status = cts_info_timeline_table(timeline, &error);
        cts_run_summary_release(&summary);
    }
    cts_recording_close(&recording);
    return status ? cts_report_error(arguments, &error) : CTS_EXIT_OK;
}

static int info_of_archive(const struct cts_arguments *arguments, const char *path,
                           struct cts_timeline *timeline)
{
    struct cts_error error;
    if (!wants_json(arguments)) {
        printf("Timeline '");
        cts_print_plain(stdout, path);
        printf("'\n");
    }
    const enum cts_status status = wants_json(arguments)
                                       ? render_json(NULL, NULL, timeline, &error)
                                       : cts_info_timeline_table(timeline, &error);
    return status ? cts_report_error(arguments, &error) : CTS_EXIT_OK;
}

/* A timeline that cannot be read is said, and the rest of the run is shown. */
static int run_info(const struct cts_arguments *arguments)
{
    const char *const path = arguments->positional[0];
    const bool archive = cts_cli_is_archive(path);
    struct cts_error error;
    struct cts_timeline timeline;
    if (!archive && !cts_cli_has_timeline(path)) return info_of_run(arguments, path, NULL, NULL);
    const enum cts_status status = archive ? cts_cli_open_timeline(path, &timeline, &error)
                                           : cts_cli_open_timeline_quietly(path, &timeline, &error);
    if (status && archive) return cts_report_error(arguments, &error);
    if (status) return info_of_run(arguments, path, NULL, &error);
    const int code = archive ? info_of_archive(arguments, path, &timeline)
                             : info_of_run(arguments, path, &timeline, NULL);
    cts_timeline_close(&timeline);
    return code;
}

static const struct cts_option info_options[] = {
    CTS_OPTION_FORMAT("table|json"),
    {.name = "check",
     .help = "decode all records to verify them, also of runs over 64 MiB (smaller runs are always "
             "verified)"},
    CTS_OPTION_FULL_NAMES,
    CTS_OPTION_MEMORY_LIMIT,
    {0},
};

const struct cts_verb cts_verb_info = {
    .name = "info",
    .synopsis = "RUN|TRACE [--format table|json] [--full-names] [--check] [--memory-limit SIZE]",
    .summary = "Shows what a run or timeline contains",
    .description =
        "Shows where and with what the run was recorded, whether it is complete, its kernels with\n"
        "their launches and accesses, and everything that is missing: dropped accesses, launches\n"
        "that were not recorded, places that could not be instrumented. For a timeline: its\n"
        "processes, streams and events. TRACE is the .otf2 file of an OTF2 archive.",
    .options = info_options,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_info,
};
