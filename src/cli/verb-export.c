/* A run becomes a file of another tool. */
#include <stdio.h>
#include <string.h>

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
    if (result->other_spaces)
        fprintf(stderr, "ctascope export: left out: %s to shared, local or constant memory\n",
                cts_counted_text(result->other_spaces, "access", "accesses").text);
    if (result->unrecorded_launches || result->dropped_accesses)
        fprintf(stderr,
                "ctascope export: the run itself lacks accesses, which the file cannot tell: "
                "%s not recorded in full, %s dropped\n",
                cts_counted_text(result->unrecorded_launches, "launch", "launches").text,
                cts_counted_text(result->dropped_accesses, "access", "accesses").text);
    if (result->streams > 1)
        fprintf(stderr,
                "ctascope export: launches of %u streams are in the order of their calls; "
                "--stream exports one\n",
                result->streams);
    if (result->short_grids)
        fprintf(stderr,
                "ctascope export: in %s the last CTAs touched nothing: whoever reads the file "
                "needs to be told the grid (import --grid)\n",
                cts_counted_text(result->short_grids, "launch", "launches").text);
}

static enum cts_status export_run(const char *run_path, struct cts_export_options *options,
                                  struct cts_export_result *result, struct cts_error *error)
{
    struct cts_catalogue catalogue = {0};
    struct cts_acc_reader *reader = NULL;
    struct cts_progress progress;
    enum cts_status status = cts_catalogue_read(run_path, &catalogue, error);
    if (status) return status;
    if ((status = cts_acc_open(run_path, &reader, error))) goto out;
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    uint64_t accesses = 0;
    for (size_t i = 0; i < chunk_count; i++) accesses += chunks[i].access_count;
    cts_progress_begin(&progress, stderr, "exporting", accesses);
    options->progress = &progress;
    status = cts_export_trc(&catalogue, reader, options, result, error);
    cts_progress_end(&progress);
    cts_acc_close(reader);
out:
    cts_catalogue_release(&catalogue);
    return status;
}

static bool read_id(const struct cts_arguments *arguments, const char *name, uint32_t *id)
{
    uint64_t number;
    *id = CTS_NONE;
    if (!cts_argument_given(arguments, name)) return true;
    if (!cts_argument_u64(arguments, name, &number)) return false;
    *id = number < CTS_NONE ? (uint32_t)number : CTS_NONE - 1;
    return true;
}

static int run_export(const struct cts_arguments *arguments)
{
    const char *const format = cts_argument(arguments, "format");
    struct cts_export_options options = {.path = cts_argument(arguments, "output"),
                                         .version = format && !strcmp(format, "trc2") ? 2 : 3};
    if (!options.path) return cts_usage_error(arguments, "-o FILE says what to write");
    if (!read_id(arguments, "rank", &options.rank) ||
        !read_id(arguments, "stream", &options.stream))
        return CTS_EXIT_USAGE;
    struct cts_export_result result;
    struct cts_error error;
    if (export_run(arguments->positional[0], &options, &result, &error))
        return cts_report_error(arguments, &error);
    print_result(&result, options.path);
    return CTS_EXIT_OK;
}

static const struct cts_option export_options[] = {
    {.name = "output", .argument = "FILE", .short_name = 'o', .help = "the file to write"},
    {.name = "format",
     .argument = "trc2|trc3",
     .help = "trc3 joins consecutive accesses to runs (default: trc3)"},
    {.name = "rank", .argument = "N", .help = "of which process, where there are several"},
    {.name = "stream", .argument = "N", .help = "only this stream (default: all, by call)"},
    {0},
};

const struct cts_verb cts_verb_export = {
    .name = "export",
    .synopsis = "RUN -o FILE [--format trc2|trc3] [--rank N] [--stream N]",
    .summary = "Writes a run's accesses as a trace that other tools read",
    .description =
        "Writes a .trc of version 2 or 3 (cuda-memtrace): accesses to global memory, CTAs,\n"
        "SMs where they are known, and the names of the kernels. Copies, allocations,\n"
        "sites, sorts of atomics and grids have no place in the format.",
    .options = export_options,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_export,
};
