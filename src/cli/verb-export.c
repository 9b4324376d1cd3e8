/* A run becomes a file of another tool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/open-recording.h"
#include "cli/verb.h"
#include "common/progress.h"
#include "common/text-table.h"
#include "import/export.h"

static void print_result(const struct cts_export_result *result, const char *path)
{
    fprintf(stderr, "ctascope export: '%s': %s, %s in %s\n", path,
            cts_counted_text(result->launches, "launch", "launches").text,
            cts_counted_text(result->accesses, "access", "accesses").text,
            cts_counted_text(result->entries, "entry", "entries").text);
    if (!result->accesses)
        fprintf(stderr, "ctascope export: the options select no access of these launches\n");
    if (result->other_spaces)
        fprintf(stderr, "ctascope export: left out: %s to shared, local or constant memory\n",
                cts_counted_text(result->other_spaces, "access", "accesses").text);
    if (result->unrecorded_launches || result->dropped_accesses)
        fprintf(stderr,
                "ctascope export: the run is incomplete, and the file format cannot say so: "
                "%s not fully recorded, %s dropped\n",
                cts_counted_text(result->unrecorded_launches, "launch", "launches").text,
                cts_counted_text(result->dropped_accesses, "access", "accesses").text);
    if (result->streams > 1)
        fprintf(stderr,
                "ctascope export: launches of all %u streams are in the order of their calls; "
                "--stream exports one stream\n",
                result->streams);
    if (result->short_grids)
        fprintf(stderr,
                "ctascope export: in %s the last CTAs accessed nothing, so the grids cannot be "
                "inferred from the file: give them to 'ctascope import --grid'\n",
                cts_counted_text(result->short_grids, "launch", "launches").text);
}

extern const struct cts_verb cts_verb_export;

/* What is to be written; the options of one of the two kinds of format count. */
struct request {
    const char *format;
    struct cts_export_options trace;
    struct cts_export_text_options text;
};

static enum cts_status write_format(const struct request *request,
                                    const struct cts_catalogue *catalogue,
                                    const struct cts_acc_reader *reader,
                                    struct cts_export_result *result, struct cts_error *error)
{
    if (!strcmp(request->format, "json"))
        return cts_export_folder(catalogue, reader, &request->text, result, error);
    if (!strcmp(request->format, "csv"))
        return cts_export_csv(catalogue, reader, &request->text, result, error);
    return cts_export_trc(catalogue, reader, &request->trace, result, error);
}

static enum cts_status export_run(const char *run_path, struct request *request,
                                  struct cts_export_result *result, struct cts_error *error)
{
    struct cts_recording recording;
    enum cts_status status = cts_recording_open(run_path, &recording, error);
    if (status) return status;
    do {
        struct cts_progress progress;
        status = cts_recording_need_accesses(&recording, error);
        if (status) break;
        size_t chunk_count;
        const struct cts_acc_chunk *const chunks = cts_acc_chunks(recording.reader, &chunk_count);
        uint64_t accesses = 0;
        for (size_t i = 0; i < chunk_count; i++) accesses += chunks[i].access_count;
        cts_progress_begin(&progress, stderr, "exporting", accesses);
        request->trace.progress = request->text.progress = &progress;
        status = write_format(request, &recording.catalogue, recording.reader, result, error);
        cts_progress_end(&progress);
    } while (cts_cli_again(status, &recording));
    if (!status) cts_cli_tell_gaps(&cts_verb_export, run_path, &recording.catalogue.gaps);
    cts_recording_close(&recording);
    return status;
}

/* ---- options ---- */

static bool read_id(const struct cts_arguments *arguments, const char *name, uint32_t *id)
{
    uint64_t number;
    *id = CTS_NONE;
    if (!cts_argument_given(arguments, name)) return true;
    if (!cts_argument_u64(arguments, name, &number)) return false;
    *id = number < CTS_NONE ? (uint32_t)number : CTS_NONE - 1;
    return true;
}

/* "N" or "A-B"; all without. */
static bool read_range(const struct cts_arguments *arguments, const char *name, uint32_t *first,
                       uint32_t *last)
{
    const char *const text = cts_argument(arguments, name);
    *first = 0;
    *last = CTS_NONE;
    if (!text) return true;
    char *end = NULL;
    const unsigned long a = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : CTS_NONE;
    unsigned long b = a;
    if (end && end[0] == '-' && end[1] >= '0' && end[1] <= '9') b = strtoul(end + 1, &end, 10);
    if (end && !*end && a <= b && b < CTS_NONE) {
        *first = (uint32_t)a;
        *last = (uint32_t)b;
        return true;
    }
    return cts_usage_error(arguments, "--%s takes a number or FIRST-LAST, not '%s'", name, text),
           false;
}

/* Words that the options have checked. */
static void read_words(const struct cts_arguments *arguments, struct cts_export_selection *s)
{
    static const struct {
        const char *word;
        unsigned kinds;
        uint8_t space;
    } words[] = {{"load", CTS_EXPORT_LOADS, 0},      {"store", CTS_EXPORT_STORES, 0},
                 {"atomic", CTS_EXPORT_ATOMICS, 0},  {"global", 0, CTS_SPACE_GLOBAL},
                 {"shared", 0, CTS_SPACE_SHARED},    {"local", 0, CTS_SPACE_LOCAL},
                 {"constant", 0, CTS_SPACE_CONSTANT}};
    const char *const operation = cts_argument(arguments, "operation");
    const char *const space = cts_argument(arguments, "space");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (operation && words[i].kinds && !strcmp(operation, words[i].word))
            s->kinds = words[i].kinds;
        if (space && words[i].space && !strcmp(space, words[i].word)) s->space = words[i].space;
    }
}

static bool read_selection(const struct cts_arguments *arguments, struct cts_export_selection *s)
{
    return read_id(arguments, "rank", &s->rank) && read_id(arguments, "stream", &s->stream) &&
           read_id(arguments, "site", &s->site) &&
           read_range(arguments, "launch", &s->first_launch, &s->last_launch) &&
           read_range(arguments, "cta", &s->first_cta, &s->last_cta);
}

/* The formats that take a part of a run and packing, and those that do not. */
static bool check_format(const struct cts_arguments *arguments, const char *format)
{
    static const char *const names[] = {"launch", "cta", "site", "operation", "space", "gzip"};
    const bool is_text = format[0] != 't';
    for (size_t i = 0; !is_text && i < sizeof names / sizeof *names; i++)
        if (cts_argument_given(arguments, names[i]))
            return cts_usage_error(arguments, "--%s needs --format json or csv", names[i]), false;
    if (strcmp(format, "json") != 0 && cts_argument_given(arguments, "indent"))
        return cts_usage_error(arguments, "--indent needs --format json"), false;
    return true;
}

static int run_export(const struct cts_arguments *arguments)
{
    const char *const format = cts_argument(arguments, "format");
    const char *const path = cts_argument(arguments, "output");
    struct request request = {
        .format = format ? format : "trc3",
        .trace = {.path = path, .version = format && !strcmp(format, "trc2") ? 2 : 3},
        .text = {.path = path,
                 .indented = cts_argument_given(arguments, "indent"),
                 .packed = cts_argument_given(arguments, "gzip")},
    };
    if (!path) return cts_usage_error(arguments, "missing -o FILE, the file to write");
    if (!check_format(arguments, request.format) ||
        !read_selection(arguments, &request.text.selection))
        return CTS_EXIT_USAGE;
    read_words(arguments, &request.text.selection);
    request.trace.rank = request.text.selection.rank;
    request.trace.stream = request.text.selection.stream;
    struct cts_export_result result;
    struct cts_error error;
    if (export_run(arguments->positional[0], &request, &result, &error))
        return cts_report_error(arguments, &error);
    print_result(&result, path);
    return CTS_EXIT_OK;
}

static const struct cts_option export_options[] = {
    {.name = "output",
     .argument = "FILE",
     .short_name = 'o',
     .help = "file to write; with --format json a directory"},
    {.name = "format",
     .argument = "trc2|trc3|json|csv",
     .help = "output format (default: trc3, which merges consecutive accesses)"},
    {.name = "rank", .argument = "N", .help = "rank to export; needed if the run has several"},
    {.name = "stream",
     .argument = "N",
     .help = "export only this stream (default: all, in the order of launch calls)"},
    {.name = "launch",
     .argument = "N[-M]",
     .help = "json, csv: export only these launches (default: all)"},
    {.name = "cta",
     .argument = "N[-M]",
     .help = "json, csv: export only these CTAs, by linear index (default: all)"},
    {.name = "site", .argument = "N", .help = "json, csv: export only this site (default: all)"},
    {.name = "operation",
     .argument = "load|store|atomic",
     .help = "json, csv: export only this kind of access (default: all)"},
    {.name = "space",
     .argument = "global|shared|local|constant",
     .help = "json, csv: export only this memory space (default: all)"},
    {.name = "indent", .help = "json: indent the output"},
    {.name = "gzip", .help = "json, csv: compress the output"},
    {0},
};

const struct cts_verb cts_verb_export = {
    .name = "export",
    .synopsis = "RUN -o FILE [--format trc2|trc3|json|csv] [--launch N] [OPTIONS]",
    .summary = "Writes the accesses of a run in formats of other tools",
    .description =
        "trc2, trc3: a .trc file of cuda-memtrace with accesses to global memory, CTAs, SMs if\n"
        "known, and kernel names. The format has no room for anything else.\n"
        "json: a trace directory of cuda-profile with the allocations and accesses of each launch\n"
        "(and values, if recorded), and the sites and source of each kernel.\n"
        "csv: one line per thread-level access.",
    .options = export_options,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_export,
};
