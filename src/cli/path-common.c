#include "cli/path-common.h"

#include <stdlib.h>
#include <string.h>

#include "cli/open-recording.h"
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

/* Adds the texts of the other processes, one after the other with their ends, to the first one's.
 */
static void add_texts(struct cts_gaps *gaps, const char *texts, const char *end)
{
    for (; texts < end; texts += strlen(texts) + 1) cts_gaps_add(gaps, "%s", texts);
}

static enum cts_status gather_damage(const struct cts_processes *processes,
                                     const struct cts_gaps *mine, struct cts_gaps *all_gaps,
                                     struct cts_error *error)
{
    struct cts_buffer texts = {0};
    void *all = NULL;
    size_t *offsets = NULL;
    uint64_t unnamed = processes->rank ? mine->count - mine->named_count : 0;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < mine->named_count && !status; i++)
        status = cts_buffer_append(&texts, mine->texts[i], strlen(mine->texts[i]) + 1, error);
    if (cts_processes_agree(processes, &status, error))
        status = cts_processes_all_gather(processes,
                                          (struct cts_sent_block){texts.data, texts.size_bytes},
                                          &all, &offsets, error);
    if (!status) {
        cts_processes_reduce_u64(processes, &unnamed, 1, CTS_REDUCE_SUM);
        if (processes->rank == 0) {
            const char *const bytes = all;
            add_texts(all_gaps, bytes + offsets[1], bytes + offsets[processes->count]);
            all_gaps->count += unnamed;
        }
    }
    free(all);
    free(offsets);
    cts_buffer_release(&texts);
    return status;
}

enum cts_status cts_path_common_tell_damage(const char *path, const struct cts_processes *processes,
                                            struct cts_timeline *timeline, struct cts_error *error)
{
    const struct cts_gaps before = timeline->gaps;
    enum cts_status status = CTS_OK;
    cts_timeline_name_damage(timeline);
    if (processes->count > 1) {
        const struct cts_gaps mine = cts_gaps_since(&timeline->gaps, &before);
        status = gather_damage(processes, &mine, &timeline->gaps, error);
    }
    const struct cts_gaps damage = cts_gaps_since(&timeline->gaps, &before);
    if (!status && processes->rank == 0) cts_cli_tell_gaps(NULL, path, &damage);
    return status;
}
