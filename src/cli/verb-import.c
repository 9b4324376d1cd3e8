/* Other tools' traces become a run. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/assemble.h"
#include "cli/list-options.h"
#include "cli/verb.h"
#include "common/memory-limit.h"
#include "common/text-stream.h"
#include "common/progress.h"
#include "common/text-table.h"
#include "import/import.h"
#include "trace/catalogue.h"
#include "trace/seal.h"
#include "cli/shared-options.h"

/* The command as the run's key of that name has it. */
static char *command_text(const struct cts_arguments *arguments)
{
    struct cts_text_stream stream;
    FILE *const file = cts_text_stream_open(&stream);
    if (!file) return NULL;
    fputs("import", file);
    for (int i = 0; i < arguments->positional_count; i++)
        fprintf(file, " %s", arguments->positional[i]);
    return cts_text_stream_close(&stream, NULL);
}

static void print_notes(const struct cts_import_result *result)
{
    for (size_t i = 0; i < result->note_count; i++) {
        fputs("ctascope import: ", stderr);
        cts_print_plain(stderr, result->notes[i]);
        fputc('\n', stderr);
    }
}

static void print_clocks(const struct cts_clock_alignment *clocks)
{
    if (clocks->aligned_count)
        fprintf(stderr,
                "ctascope import: clocks of %s aligned by the ends of their collectives; 95%% of "
                "the ends agree within %s\n",
                cts_counted_text(clocks->aligned_count, "rank", "ranks").text,
                cts_time_text((uint64_t)(clocks->residual_ns + 0.5)).text);
    if (clocks->alone_count)
        fprintf(stderr,
                "ctascope import: clocks of %s cannot be aligned: no collective is known to be "
                "shared with the ranks before; what one waits for in another is not known\n",
                cts_counted_text(clocks->alone_count, "rank", "ranks").text);
}

/* Logs of an imported timeline become its archive. */
static enum cts_status make_archive(const char *run_path, unsigned threads,
                                    const struct cts_import_result *result, struct cts_error *error)
{
    struct cts_assembly assembly;
    const struct cts_assembly_options options = {.threads = threads};
    const enum cts_status status = cts_timeline_assemble(run_path, &options, &assembly, error);
    if (status) return status;
    fprintf(
        stderr, "ctascope import: '%s': %s of %s, %s", run_path,
        cts_counted_text(assembly.event_count, "event", "events").text,
        cts_counted_text(assembly.process_count, "process", "processes").text,
        cts_counted_text(assembly.location_count, "thread or stream", "threads and streams").text);
    if (assembly.lost_count)
        fprintf(stderr, "; LEFT OUT %s",
                cts_counted_text(assembly.lost_count, "event", "events").text);
    if (assembly.overlap_count)
        fprintf(stderr, "; %s shortened, as the one before still ran",
                cts_counted_text(assembly.overlap_count, "device activity was",
                                 "device activities were")
                    .text);
    fputc('\n', stderr);
    print_clocks(&assembly.clocks);
    print_notes(result);
    return CTS_OK;
}

static void print_result(const struct cts_import_result *result, const char *run_path)
{
    fprintf(stderr, "ctascope import: '%s': %s of %s, %s in %s", run_path,
            cts_counted_text(result->launches, "launch", "launches").text,
            cts_counted_text(result->kernels, "kernel", "kernels").text,
            cts_counted_text(result->accesses, "access", "accesses").text,
            cts_counted_text(result->records, "record", "records").text);
    if (result->dropped_accesses)
        fprintf(stderr, "; LEFT OUT %s",
                cts_counted_text(result->dropped_accesses, "access", "accesses").text);
    fputc('\n', stderr);
    print_notes(result);
}

/* Addresses in memory: 512 MiB unless that is much of the limit. */
static uint64_t held_back(void)
{
    const uint64_t part = cts_memory_limit_bytes() / 4;
    return part < UINT64_C(512) << 20 ? part : 0;
}

static int run_import(const struct cts_arguments *arguments)
{
    const char *const run_path = cts_argument(arguments, "output");
    unsigned threads;
    if (!run_path) return cts_usage_error(arguments, "missing -o RUN, the run directory to create");
    if (!cts_argument_threads(arguments, &threads)) return CTS_EXIT_USAGE;
    char *const command = command_text(arguments);
    struct cts_progress progress;
    cts_progress_begin(&progress, stderr, "importing", 0);
    const struct cts_import_options options = {
        .paths = (const char *const *)arguments->positional,
        .path_count = (size_t)arguments->positional_count,
        .run_path = run_path,
        .replace = cts_argument_given(arguments, "force"),
        .command = command,
        .grid = cts_argument(arguments, "grid"),
        .threads = threads,
        .memory_bytes = held_back(),
        .progress = &progress,
    };
    struct cts_import_result result;
    struct cts_error error;
    enum cts_status status = cts_import(&options, &result, &error);
    cts_progress_end(&progress);
    free(command);
    if (status) return cts_report_error(arguments, &error);
    if (result.is_timeline) status = make_archive(run_path, threads, &result, &error);
    if (!status) status = cts_catalogue_tidy(run_path, &error);
    if (!status) status = cts_seal_write(run_path, &error); /* without it a run is incomplete */
    if (!status && !result.is_timeline) print_result(&result, run_path);
    cts_import_result_release(&result);
    return status ? cts_report_error(arguments, &error) : CTS_EXIT_OK;
}

static const struct cts_option import_options[] = {
    {.name = "output", .argument = "RUN", .short_name = 'o', .help = "run directory to create"},
    CTS_OPTION_FORCE,
    {.name = "grid",
     .argument = "GRID",
     .help = "grid of all launches, X[xY[xZ]], or of each kernel: 'init=64;stencil=32x32' "
             "(default: inferred)"},
    CTS_OPTION_THREADS,
    CTS_OPTION_MEMORY_LIMIT,
    CTS_FORMER_MEMORY("memory"),
    {0},
};

const struct cts_verb cts_verb_import = {
    .name = "import",
    .synopsis = "FILE|DIR... -o RUN [--grid GRID] [OPTIONS]",
    .summary = "Imports traces of other tools as a run",
    .description =
        "Reads .trc files of versions 2 and 3 (cuda-memtrace) and the earlier format of Rieber's\n"
        "thesis (2017). Each FILE is a stream; the order between files is unknown. These traces\n"
        "have no grids, blocks, copies or allocations: grids are inferred from the CTA ids unless\n"
        "--grid is given, and the rest is marked as missing.\n"
        "Also reads trace directories of cuda-profile (run.json, *.metadata.json, *.trace.json or\n"
        ".protobuf, compressed or not), with allocations, source lines, types and values.\n"
        "Traces of PyTorch's profiler (Kineto JSON, plain, .gz or .zst; one FILE per rank, or\n"
        "DIR) and exports of Nsight Systems (nsys export --type sqlite) become a timeline for\n"
        "'path', 'whatif', 'diff', 'report' and 'view'. The import names what such a file does\n"
        "not hold, and what follows for the answers.",
    .options = import_options,
    .positional_min = 1,
    .positional_max = -1,
    .run = run_import,
};
