/* Other tools' traces become a run. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import-run.h"
#include "cli/list-options.h"
#include "cli/verb.h"
#include "common/memory-limit.h"
#include "common/text-stream.h"
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
    const struct cts_import_options options = {
        .paths = (const char *const *)arguments->positional,
        .path_count = (size_t)arguments->positional_count,
        .run_path = run_path,
        .replace = cts_argument_given(arguments, "force"),
        .command = command,
        .grid = cts_argument(arguments, "grid"),
        .threads = threads,
        .memory_bytes = held_back(),
    };
    struct cts_error error;
    const enum cts_status status = cts_cli_import("import", true, &options, &error);
    free(command);
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
        "'path', 'whatif', 'diff', 'report' and 'view'. The import lists what such a file\n"
        "does not contain, and which results that affects.",
    .options = import_options,
    .positional_min = 1,
    .positional_max = -1,
    .run = run_import,
};
