#include "cli/import-run.h"

#include <stdio.h>

#include "assemble/assemble.h"
#include "common/progress.h"
#include "common/text-table.h"
#include "trace/catalogue.h"
#include "trace/seal.h"

struct cts_cli_importing {
    const char *verb;
    bool tells_result;
    const struct cts_import_options *options;
};

static void print_notes(const char *verb, const struct cts_import_result *result)
{
    for (size_t i = 0; i < result->note_count; i++) {
        fprintf(stderr, "ctascope %s: ", verb);
        cts_print_plain(stderr, result->notes[i]);
        fputc('\n', stderr);
    }
}

static void print_clocks(const char *verb, const struct cts_clock_alignment *clocks)
{
    if (clocks->aligned_count)
        fprintf(stderr,
                "ctascope %s: clocks of %s aligned by the ends of their collectives; 95%% of "
                "the ends agree within %s\n",
                verb, cts_counted_text(clocks->aligned_count, "rank", "ranks").text,
                cts_time_text((uint64_t)(clocks->residual_ns + 0.5)).text);
    if (clocks->alone_count)
        fprintf(stderr,
                "ctascope %s: clocks of %s cannot be aligned: no collective is known to be "
                "shared with the ranks before; what one waits for in another is not known\n",
                verb, cts_counted_text(clocks->alone_count, "rank", "ranks").text);
}

static void print_events(const struct cts_cli_importing *in, const struct cts_assembly *assembly)
{
    fprintf(
        stderr, "ctascope %s: '%s': %s of %s, %s", in->verb, in->options->run_path,
        cts_counted_text(assembly->event_count, "event", "events").text,
        cts_counted_text(assembly->process_count, "process", "processes").text,
        cts_counted_text(assembly->location_count, "thread or stream", "threads and streams").text);
    if (assembly->lost_count)
        fprintf(stderr, "; LEFT OUT %s",
                cts_counted_text(assembly->lost_count, "event", "events").text);
    if (assembly->overlap_count)
        fprintf(stderr, "; %s shortened, as the one before still ran",
                cts_counted_text(assembly->overlap_count, "device activity was",
                                 "device activities were")
                    .text);
    fputc('\n', stderr);
}

/* Logs of an imported timeline become its archive. */
static enum cts_status make_archive(struct cts_cli_importing *in,
                                    const struct cts_import_result *result, struct cts_error *error)
{
    struct cts_assembly assembly;
    const struct cts_assembly_options options = {.threads = in->options->threads};
    const enum cts_status status =
        cts_timeline_assemble(in->options->run_path, &options, &assembly, error);
    if (status) return status;
    if (in->tells_result) print_events(in, &assembly);
    print_clocks(in->verb, &assembly.clocks);
    print_notes(in->verb, result);
    return CTS_OK;
}

static void print_result(const char *verb, const struct cts_import_result *result,
                         const char *run_path)
{
    fprintf(stderr, "ctascope %s: '%s': %s of %s, %s in %s", verb, run_path,
            cts_counted_text(result->launches, "launch", "launches").text,
            cts_counted_text(result->kernels, "kernel", "kernels").text,
            cts_counted_text(result->accesses, "access", "accesses").text,
            cts_counted_text(result->records, "record", "records").text);
    if (result->dropped_accesses)
        fprintf(stderr, "; LEFT OUT %s",
                cts_counted_text(result->dropped_accesses, "access", "accesses").text);
    fputc('\n', stderr);
    print_notes(verb, result);
}

enum cts_status cts_cli_import(const char *verb, bool tells_result,
                               const struct cts_import_options *options, struct cts_error *error)
{
    struct cts_import_result result;
    struct cts_progress progress;
    struct cts_import_options watched = *options;
    struct cts_cli_importing in = {verb, tells_result, options};
    watched.progress = &progress;
    cts_progress_begin(&progress, stderr, "importing", 0);
    enum cts_status status = cts_import(&watched, &result, error);
    cts_progress_end(&progress);
    if (status) return status;
    if (result.is_timeline) status = make_archive(&in, &result, error);
    if (!status) status = cts_catalogue_tidy(options->run_path, error);
    if (!status) status = cts_seal_write(options->run_path, error); /* else it is incomplete */
    if (!status && !result.is_timeline) print_result(verb, &result, options->run_path);
    cts_import_result_release(&result);
    return status;
}
