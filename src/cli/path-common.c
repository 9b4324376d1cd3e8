#include "cli/path-common.h"

#include <string.h>

#include "cli/run-timeline.h"

enum { API_TABLE_MAX_BYTES = 1 << 20 };

int cts_path_common_parse(const struct cts_arguments *arguments, size_t table_rows,
                          struct cts_path_common *common, struct cts_path_options *options)
{
    common->format = cts_argument_format(arguments);
    common->choice = (struct cts_sheet_choice){0};
    if (!cts_argument_rows(arguments, table_rows, &common->choice) ||
        !cts_argument_threads(arguments, &options->threads))
        return CTS_EXIT_USAGE;
    common->choice.limit_option = NULL; /* its tables have notes of their own */
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
