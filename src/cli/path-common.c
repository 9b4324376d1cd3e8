#include "cli/path-common.h"

#include <string.h>

#include "cli/run-timeline.h"

enum { API_TABLE_MAX_BYTES = 1 << 20, THREADS_MAX = 256 };

int cts_path_common_parse(const struct cts_arguments *arguments, size_t table_rows,
                          struct cts_path_common *common, struct cts_path_options *options)
{
    const char *const format = cts_argument(arguments, "format");
    common->format = CTS_PATH_AS_TABLE;
    if (format && !strcmp(format, "json")) common->format = CTS_PATH_AS_JSON;
    if (format && !strcmp(format, "csv")) common->format = CTS_PATH_AS_CSV;
    uint64_t limit = common->format == CTS_PATH_AS_TABLE ? table_rows : 0, threads = 0;
    if ((cts_argument_given(arguments, "limit") && !cts_argument_u64(arguments, "limit", &limit)) ||
        (cts_argument_given(arguments, "threads") &&
         !cts_argument_u64(arguments, "threads", &threads)))
        return CTS_EXIT_USAGE;
    common->choice =
        (struct cts_sheet_choice){.limit = (size_t)limit, .sort = cts_argument(arguments, "sort")};
    options->threads = (unsigned)(threads < THREADS_MAX ? threads : THREADS_MAX);
    options->null_stream = cts_argument(arguments, "null-stream");
    return 0;
}

enum cts_status cts_path_common_read_table(const struct cts_arguments *arguments,
                                           struct cts_path_common *common,
                                           struct cts_path_options *options,
                                           struct cts_error *error)
{
    const char *const table = cts_argument(arguments, "api-table");
    if (!table) return CTS_OK;
    common->api_table.ceiling_bytes = API_TABLE_MAX_BYTES;
    const enum cts_status status = cts_buffer_read_text(&common->api_table, table, error);
    options->api_table = (const char *)common->api_table.data;
    options->api_table_name = table;
    return status;
}

void cts_path_common_release(struct cts_path_common *common)
{
    cts_buffer_release(&common->api_table);
}

enum cts_status cts_path_common_open(const char *path, const struct cts_processes *processes,
                                     struct cts_timeline *timeline, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (processes->rank == 0) status = cts_cli_open_timeline(path, timeline, error);
    cts_processes_barrier(processes);
    if (processes->rank != 0) status = cts_timeline_open(path, timeline, error);
    const bool opened = !status;
    if (!cts_processes_agree(processes, &status, error) && opened) cts_timeline_close(timeline);
    return status;
}
