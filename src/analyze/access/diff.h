/* What has changed between two runs of a program: findings that are gone, new or changed, and what
 * its kernels cost before and after (docs/diff.md).
 *
 * Findings are the same one if kind, kernel, variable, operation, space and place are: the file's
 * name and the text of the source line; so that lines may move. Where a run has no source text the
 * line number stands for it. Kernels are the same one if their names are. */
#ifndef CTS_ACCESS_DIFF_H
#define CTS_ACCESS_DIFF_H

#include "analyze/access/access-analysis.h"

/* One of the two runs; both must outlive the comparison. */
struct cts_diff_side {
    const struct cts_catalogue *catalogue;
    const struct cts_access_result *result;
};

#define CTS_DIFF_CHANGES(X)                                                                        \
    X(NEW, "new")                                                                                  \
    X(CHANGED, "changed") /* its waste, or what is wrong about it, has changed by over 1% */       \
    X(GONE, "gone")                                                                                \
    X(SAME, "same")

enum cts_diff_change {
#define X(name, text) CTS_DIFF_##name,
    CTS_DIFF_CHANGES(X)
#undef X
        CTS_DIFF_CHANGE_COUNT
};
const char *cts_diff_change_text(enum cts_diff_change change);

struct cts_diff_finding {
    enum cts_diff_change change;
    const struct cts_finding *before, *after; /* NULL: there is none */
    double before_amount, after_amount;       /* waste; of faults: bytes. 0 where there is none */
};

/* A number for each finding of a run, by index: the same for the same finding in every run,
 * different for different findings of one run (which of several with equal places is which may
 * change). */
CTS_MUST_CHECK enum cts_status cts_finding_fingerprints(const struct cts_diff_side *side,
                                                        uint64_t *fingerprints,
                                                        struct cts_error *error);

struct cts_diff_kernel {
    const char *name;
    bool is_before, is_after; /* whether it ran */
    uint64_t before_launches, after_launches;
    struct cts_access_counts before, after;
};

struct cts_access_diff {
    struct cts_diff_finding *findings; /* faults first; by change, then by amount, largest first */
    size_t finding_count;
    size_t counts[CTS_DIFF_CHANGE_COUNT];
    struct cts_diff_kernel *kernels; /* by the larger of both costs, largest first */
    size_t kernel_count;
    struct cts_access_counts before, after; /* of all kernels */
};

CTS_MUST_CHECK enum cts_status cts_access_diff(const struct cts_diff_side *before,
                                               const struct cts_diff_side *after,
                                               struct cts_access_diff *diff,
                                               struct cts_error *error);
void cts_access_diff_release(struct cts_access_diff *diff);

/* By how much of what it was a kernel's (NULL: all kernels') cost has grown: 0.05 = 5%; negative:
 * has shrunk; infinite where it was nothing; 0 for kernels that ran in one of the runs only. */
double cts_diff_growth(const struct cts_access_diff *diff, const struct cts_diff_kernel *kernel);

#endif
