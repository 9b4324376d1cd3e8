#include "cli/open-recording.h"

#include <stdio.h>

#include "common/text-table.h"
#include "report/gaps-report.h"

enum cts_status cts_cli_open_together(const char *run_path, const struct cts_processes *processes,
                                      struct cts_recording *recording, struct cts_error *error)
{
    enum cts_status status = cts_recording_open(run_path, recording, error);
    const bool is_open = !status;
    if (!cts_processes_agree(processes, &status, error) && is_open) cts_recording_close(recording);
    return status;
}

bool cts_cli_again(enum cts_status status, struct cts_recording *recording)
{
    return status == CTS_FORMAT && cts_recording_leave_out_damage(recording);
}

void cts_cli_tell_gaps(const struct cts_verb *verb, const char *run_path,
                       const struct cts_gaps *gaps)
{
    if (!cts_gaps_any(gaps)) return;
    fprintf(stderr, "ctascope%s%s: '", verb ? " " : "", verb ? verb->name : "");
    cts_print_plain(stderr, run_path);
    fputs("' is incomplete; totals are lower bounds:\n", stderr);
    cts_print_gaps(gaps, "  ", stderr);
}
