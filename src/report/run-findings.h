/* What to do first about a run: the findings of its time and of its memory accesses in one list, by
 * what each could save. The page of `view` and the written report open on it.
 *
 * The gain of a finding is the share of the run that it could save at most:
 *
 *     with a timeline     of the run's time: the share of the critical path that an activity has;
 * of a finding about accesses, that of its kernel times the share of the kernel's memory traffic
 * that the finding could save with accesses only  of the run's memory cost (cts_access_cost()),
 * since nothing is known of its time
 *
 * Order: what makes results wrong, what can be changed, and last the time of kernels whose
 * accesses are known, so that what their traffic could save is in the list already. */
#ifndef CTS_REPORT_RUN_FINDINGS_H
#define CTS_REPORT_RUN_FINDINGS_H

#include "analyze/access/access-analysis.h"
#include "analyze/path/path.h"
#include "common/json.h"
#include "common/short-names.h"
#include "trace/catalogue.h"

/* Borrowed. */
struct cts_run_material {
    const struct cts_catalogue *catalogue;  /* NULL: an archive alone */
    const struct cts_access_result *access; /* NULL: no accesses were recorded */
    const struct cts_path *path;            /* NULL: there is no timeline */
};

enum cts_run_finding_order {
    CTS_RUN_FINDING_FAULT,    /* results are wrong: no gain */
    CTS_RUN_FINDING_CHANGE,   /* something can be changed */
    CTS_RUN_FINDING_ELSEWHERE /* a kernel's time beyond what its accesses could save */
};

struct cts_run_finding {
    enum cts_run_finding_order order;
    const struct cts_finding *access; /* one of these two, or a fault of the device */
    const struct cts_path_row *activity;
    const struct cts_launch_fault *fault;
    double gain; /* 0 to 1; NaN: a fault */
};

struct cts_run_findings {
    struct cts_run_finding *items; /* as above; by gain within an order, largest first */
    size_t count;
    bool by_time; /* gains are shares of the run's time, not of its memory cost */
};

/* To be released also when it fails. */
CTS_MUST_CHECK enum cts_status cts_run_findings_find(const struct cts_run_material *material,
                                                     struct cts_run_findings *findings,
                                                     struct cts_error *error);
void cts_run_findings_release(struct cts_run_findings *findings);

/* Short forms of all kernels' names, at most so long: by index in catalogue->kernels. To be
 * released also when it fails. */
enum { CTS_KERNEL_NAME_SIZE = 56 };
CTS_MUST_CHECK enum cts_status cts_kernel_names(const struct cts_catalogue *catalogue,
                                                struct cts_short_names *names,
                                                struct cts_error *error);

/* As members of the open object; web/src/findings.ts names every field. */
CTS_MUST_CHECK enum cts_status cts_run_findings_json(const struct cts_run_material *material,
                                                     struct cts_json *json,
                                                     struct cts_error *error);

#endif
