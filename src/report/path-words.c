/* Sentences about the whole run first, then about the program: start-up and shutdown (MPI_Init,
 * MPI_Finalize, what comes before the first event) are told apart, since nobody can make a program
 * faster there. */
#include "report/path-words.h"

#include <stdarg.h>
#include <string.h>

#include "common/terminal.h"
#include "common/text-table.h"
#include "common/wrapped-text.h"

enum { NAME_SIZE = 64, TIME_TEXTS = 8 };

static void say(struct cts_path_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct cts_path_words *words, const char *format, ...)
{
    if (words->count == CTS_PATH_SENTENCES_MAX) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words->text[words->count++], CTS_PATH_SENTENCE_SIZE, format, arguments);
    va_end(arguments);
}

static const char *name_of(const struct cts_path_report *report, uint32_t region, char *buffer)
{
    if (report->full_names) return report->result->names.full[region];
    return cts_short_name_fitted(&report->result->names, region, buffer, NAME_SIZE);
}

/* ---- the program's first ---- */

static const struct cts_path_row *most(const struct cts_path *result, bool blame)
{
    const struct cts_path_row *best = NULL;
    for (size_t i = 0; i < result->row_count; i++) {
        const struct cts_path_row *const row = &result->rows[i];
        const uint64_t value = blame ? row->blame_ns : row->path_ns;
        if (row->frame) continue;
        if (value && (!best || value > (blame ? best->blame_ns : best->path_ns))) best = row;
    }
    return best;
}

static void say_path(const struct cts_path_report *report, struct cts_path_words *words)
{
    const struct cts_path *const r = report->result;
    const uint64_t *const where = r->path_where_ns;
    say(words,
        "%s takes %s. Its critical path is %s on the host, %s on devices, %s in MPI and %s "
        "latencies. It moves from one thread or stream to another %s, %s of them between "
        "processes.",
        report->within ? "The analysed part" : "The run", cts_time_text(r->path_ns).text,
        cts_percent_text(where[CTS_PATH_ON_HOST], r->path_ns).text,
        cts_percent_text(where[CTS_PATH_ON_DEVICE], r->path_ns).text,
        cts_percent_text(where[CTS_PATH_IN_MPI], r->path_ns).text,
        cts_percent_text(where[CTS_PATH_LATENCY], r->path_ns).text,
        cts_counted_text(r->path_jumps, "time", "times").text,
        cts_count_text(r->path_crossings).text);
}

/* Where it is more than a thousandth of the path or of waiting. */
static void say_frame(const struct cts_path_report *report, struct cts_path_words *words)
{
    const struct cts_path *const r = report->result;
    const uint64_t path_ns = r->path_ns - r->program_path_ns;
    const uint64_t blame_ns = r->blame_ns - r->program_blame_ns;
    if (path_ns <= r->path_ns / 1000 && blame_ns <= r->wait_ns / 1000) return;
    char parts[256] = "";
    size_t length = 0;
    for (size_t i = 0; i < r->row_count && length < sizeof parts; i++) {
        const struct cts_path_row *const row = &r->rows[i];
        if (!row->frame || (!row->path_ns && !row->blame_ns)) continue;
        const int written =
            snprintf(parts + length, sizeof parts - length, "%s%s %s", length ? ", " : "",
                     r->region_names[row->region], cts_time_text(row->path_ns).text);
        length += written > 0 ? (size_t)written : 0;
    }
    say(words, "Start-up and shutdown take %s (%s) of the path (%s) and cause %s of all waiting.",
        cts_time_text(path_ns).text, cts_percent_text(path_ns, r->path_ns).text, parts,
        cts_percent_text(blame_ns, r->wait_ns).text);
}

static void say_most(const struct cts_path_report *report, const struct cts_path_row *row,
                     struct cts_path_words *words)
{
    const struct cts_path *const r = report->result;
    char name[NAME_SIZE];
    if (!row) return;
    const bool framed = r->program_path_ns < r->path_ns - r->path_ns / 1000;
    if (framed)
        say(words, "The program itself spends %s on the path, most of it in '%s': %s, %s.",
            cts_time_text(r->program_path_ns).text, name_of(report, row->region, name),
            cts_time_text(row->path_ns).text,
            cts_percent_text(row->path_ns, r->program_path_ns).text);
    else
        say(words, "Most of it is spent in '%s': %s, %s of %s.", name_of(report, row->region, name),
            cts_time_text(row->path_ns).text, cts_percent_text(row->path_ns, r->path_ns).text,
            report->within ? "the analysed part" : "the run");
}

/* Rank, thread, time, callers, line of the longest that the path stays there. */
static void say_where(const struct cts_path_report *report, const struct cts_path_row *row,
                      struct cts_path_words *words)
{
    const struct cts_path *const r = report->result;
    if (!row || !row->stay.ns) return;
    char location[128], callers[256] = "", line[160] = "", name[NAME_SIZE];
    size_t length = 0;
    for (uint32_t i = row->stay.depth; i-- > 0 && length < sizeof callers;) {
        const int written =
            snprintf(callers + length, sizeof callers - length, "%s%s", length ? " > " : "",
                     name_of(report, row->stay.callers[i], name));
        length += written > 0 ? (size_t)written : 0;
    }
    const struct cts_timeline *const timeline = r->timeline;
    if (row->region < timeline->region_count && timeline->regions[row->region].file &&
        timeline->regions[row->region].begin_line)
        snprintf(line, sizeof line, " (%s:%u)", timeline->regions[row->region].file,
                 timeline->regions[row->region].begin_line);
    say(words, "Its longest uninterrupted part lasts %s and begins at %s on %s%s%s%s.",
        cts_time_text(row->stay.ns).text, cts_time_text(row->stay.begin_ns).text,
        cts_path_location_name(report, row->stay.location, location, sizeof location),
        *callers ? ", called by " : "", callers, line);
}

static void say_ranks(const struct cts_path_report *report, const struct cts_path_row *row,
                      struct cts_path_words *words)
{
    const struct cts_path *const r = report->result;
    char name[NAME_SIZE];
    if (!row || !row->calls || r->process_count < 2 || !row->most_ns) return;
    say(words,
        "'%s' takes %s per rank on average, excluding its callees: least on rank %u (%s), most on "
        "rank %u (%s).",
        name_of(report, row->region, name),
        cts_time_text(row->exclusive_ns / r->process_count).text, row->least_rank,
        cts_time_text(row->least_ns).text, row->most_rank, cts_time_text(row->most_ns).text);
}

static void say_waits(const struct cts_path_report *report, const struct cts_path_row *blamed,
                      struct cts_path_words *words)
{
    const struct cts_path *const r = report->result;
    char name[NAME_SIZE];
    if (!r->wait_ns) {
        say(words, "Nothing waits.");
        return;
    }
    say(words, "Waiting sums to %s: %s on host threads, %s on device streams.",
        cts_time_text(r->wait_ns).text, cts_time_text(r->host_wait_ns).text,
        cts_time_text(r->device_wait_ns).text);
    if (blamed)
        say(words, "'%s' causes most of it: %s, %s of all waiting.",
            name_of(report, blamed->region, name), cts_time_text(blamed->blame_ns).text,
            cts_percent_text(blamed->blame_ns, r->wait_ns).text);
}

/* Threads that take longer to begin than they work: they share processors, or sleep between teams.
 */
static void say_starts(const struct cts_path_report *report, struct cts_path_words *words)
{
    const struct cts_path *const r = report->result;
    const struct cts_path_starts *const s = &r->starts;
    if (!s->count || s->late_count * 2 < s->count || s->start_ns <= s->work_ns ||
        s->start_ns < r->path_ns / 100)
        return;
    say(words,
        "Threads start late: in %s of %s starts the time from the fork to the thread's begin is "
        "longer than the thread's work (in total %s, for %s of work). The threads are "
        "oversubscribed "
        "(more threads than processors), or the parallel regions are too short for them.",
        cts_count_text(s->late_count).text, cts_count_text(s->count).text,
        cts_time_text(s->start_ns).text, cts_time_text(s->work_ns).text);
}

void cts_path_words_make(const struct cts_path_report *report, struct cts_path_words *words)
{
    const struct cts_path_row *const long_row = most(report->result, false);
    const struct cts_path_row *const blamed = most(report->result, true);
    words->count = 0;
    say_path(report, words);
    say_frame(report, words);
    say_most(report, long_row, words);
    say_where(report, long_row, words);
    say_ranks(report, long_row, words);
    say_waits(report, blamed, words);
    if (blamed != long_row) say_ranks(report, blamed, words);
    say_starts(report, words);
    if (long_row && long_row == blamed)
        say(words,
            long_row->where == CTS_PATH_LATENCY
                ? "Reduce it first, with fewer, longer kernels and copies: both the run and the "
                  "waits depend on it."
                : "Make it faster first: both the run and the waits depend on it.");
}

/* ---- lines ---- */

void cts_path_words_print(const struct cts_path_words *words, FILE *file)
{
    const size_t columns = cts_terminal_columns(file);
    for (unsigned i = 0; i < words->count; i++) {
        cts_print_wrapped(file, words->text[i], 0, 0, columns ? columns : CTS_TEXT_TABLE_WIDTH);
        fputc('\n', file);
    }
}

/* ---- what several reports of timelines say alike ---- */

void cts_timeline_extent_print(const struct cts_timeline_extent *extent, FILE *file)
{
    cts_print_paragraph(
        file, 2, "%s: %s, %s, %s", extent->path,
        cts_counted_text(extent->process_count, "process", "processes").text,
        cts_counted_text(extent->stream_count, "device stream", "device streams").text,
        cts_counted_text(extent->event_count, "event", "events").text);
}

void cts_path_json_places(struct cts_json *json, const struct cts_path *result)
{
    cts_json_member_u64(json, "path_host_ns", result->path_where_ns[CTS_PATH_ON_HOST]);
    cts_json_member_u64(json, "path_device_ns", result->path_where_ns[CTS_PATH_ON_DEVICE]);
    cts_json_member_u64(json, "path_mpi_ns", result->path_where_ns[CTS_PATH_IN_MPI]);
    cts_json_member_u64(json, "path_latency_ns", result->path_where_ns[CTS_PATH_LATENCY]);
}
