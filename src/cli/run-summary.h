/* What is in a run, in a few numbers: for `info`, and for the line that `record` ends with. */
#ifndef CTS_CLI_SUMMARY_H
#define CTS_CLI_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/catalogue.h"

/* Of a kernel; one that several ranks have loaded counts as one. */
struct cts_kernel_summary {
    uint32_t kernel; /* the first one's id */
    uint64_t launches, recorded_launches;
    uint64_t records, accesses, dropped_accesses;
    uint64_t time_ns;           /* of launches that have ended */
    uint32_t grid[3], block[3]; /* of the first launch */
    bool several_shapes;        /* other launches had another grid or block */
};

struct cts_run_summary {
    struct cts_kernel_summary *kernels; /* those with launches, in the order of the first one */
    size_t kernel_count;
    uint64_t launches, recorded_launches, sampled_launches, unfinished_launches;
    uint64_t uninstrumented_launches;
    uint64_t records, accesses, dropped_records, dropped_accesses;
    uint64_t skipped; /* places that could not be instrumented */
    uint64_t allocations, allocated_bytes, peak_bytes;
    uint64_t copies, copied_bytes;
    uint64_t disk_bytes, access_bytes; /* of all files; of the access files */
    uint64_t duration_ns;              /* from the first rank's start to the last one's end */
    uint32_t unfinished_ranks;
    uint32_t cut_off_ranks; /* of these: that did not end by themselves */
    bool is_decoded;        /* every record was, to find damage; for who prints it */
    bool has_gaps;          /* some of what was recorded is missing; for who prints it */
    const char *failure;    /* the first rank's that has one, or NULL */
};

/* `summary` is freed by cts_run_summary_release(); its strings belong to the catalogue. */
CTS_MUST_CHECK enum cts_status cts_run_summarise(const char *run_path,
                                                 const struct cts_catalogue *catalogue,
                                                 struct cts_run_summary *summary,
                                                 struct cts_error *error);
/* Whether a GPU was recorded, and no values: instrumented builds have none. On the CPU device the
 * runtime itself says why. */
bool cts_run_lacks_values(const struct cts_catalogue *catalogue);

void cts_run_summary_release(struct cts_run_summary *summary);

#endif
