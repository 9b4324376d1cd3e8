/* What 'ctascope path' and 'ctascope whatif' have in common: options of the same meaning, and how a
 * timeline is opened by all processes of an analysis. */
#ifndef CTS_CLI_PATH_COMMON_H
#define CTS_CLI_PATH_COMMON_H

#include "analyze/path/path.h"
#include "cli/list-options.h"
#include "cli/verb.h"
#include "common/buffer.h"
#include "report/sheet.h"
#include "trace/timeline/timeline.h"

struct cts_path_common {
    enum cts_list_format format;
    struct cts_sheet_choice choice; /* --limit, --sort; tables have `table_rows` unless told */
    struct cts_buffer api_table;    /* freed by cts_path_common_release() */
};

/* --format, --limit, --sort, --threads, --null-stream. Returns 0, or CTS_EXIT_USAGE after saying
 * what is wrong. */
int cts_path_common_parse(const struct cts_arguments *arguments, size_t table_rows,
                          struct cts_path_common *common, struct cts_path_options *options);

/* The file of --api-table, if there is one: `options` then borrows its text from `common`. */
CTS_MUST_CHECK enum cts_status cts_path_common_read_table(const struct cts_arguments *arguments,
                                                          struct cts_path_common *common,
                                                          struct cts_path_options *options,
                                                          struct cts_error *error);
void cts_path_common_release(struct cts_path_common *common);

/* Opens the timeline of a trace or run in all processes: the first one makes the archive of a run
 * whose `record` was killed. After a failure, which all then have, nothing is open. */
CTS_MUST_CHECK enum cts_status cts_path_common_open(const char *path,
                                                    const struct cts_processes *processes,
                                                    struct cts_timeline *timeline,
                                                    struct cts_error *error);

/* cts_cli_tell_damage() of what all processes have read, which the first one tells; collective. */
CTS_MUST_CHECK enum cts_status cts_path_common_tell_damage(const char *path,
                                                           const struct cts_processes *processes,
                                                           struct cts_timeline *timeline,
                                                           struct cts_error *error);

#endif
