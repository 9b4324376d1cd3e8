/* What a trial's measurements mean. */
#ifndef CTS_ANALYZE_TRY_JUDGE_H
#define CTS_ANALYZE_TRY_JUDGE_H

#include "analyze/try/try-plan.h"

/* A median and the interval that holds it with a probability of at least 95%, from order
 * statistics: the k-th smallest and k-th largest of n values, k the largest with
 * 2 * sum of C(n, i) / 2^n for i < k at most 5%; n below 6: the smallest and the largest. */
struct cts_try_estimate {
    double median, low, high;
};
/* Sorts the values; there is at least one. */
struct cts_try_estimate cts_try_estimate_of(double *values, size_t count);

enum cts_try_verdict_kind {
    CTS_TRY_SAME, /* every byte that is compared, in every replay */
    CTS_TRY_DIFFERS,
    CTS_TRY_FAILS,        /* a replay ended in an error of the device */
    CTS_TRY_CANNOT_JUDGE, /* unchanged replays do not repeat themselves */
};

/* Of the unchanged stretch. */
struct cts_try_baseline {
    struct cts_try_estimate elapsed_ns, busy_ns;
    uint64_t masked_bytes, changed_bytes;
    const struct cts_trial_difference *difference; /* from the program in all replays; NULL: none */
    const char *fault;                             /* "": none */
    bool can_judge; /* no common difference, at most CTS_TRY_MASK_MOST of the bytes masked */
};
#define CTS_TRY_MASK_MOST 0.01

struct cts_try_verdict {
    enum cts_try_verdict_kind kind;
    struct cts_try_estimate gain;             /* of elapsed time, as a fraction; below 0: slower */
    struct cts_try_estimate busy_gain;        /* of the time in which the device works */
    uint64_t elapsed_ns, plain_ns;            /* medians, changed and unchanged */
    uint64_t live_bytes, dead_bytes;          /* that differ */
    const struct cts_trial_difference *first; /* the one that counts; NULL: none */
    uint32_t origin;                          /* the earliest operation that made a difference */
    double foretold;                          /* gain by projection; NaN: none */
};

void cts_try_judge_baseline(const struct cts_stretch *stretch,
                            const struct cts_trial_result *result,
                            struct cts_try_baseline *baseline);
/* `result` must outlive the verdict. */
void cts_try_judge(const struct cts_stretch *stretch, const struct cts_try_baseline *baseline,
                   const struct cts_trial_result *result, struct cts_try_verdict *verdict);

/* try-foretell.c: how long a plan takes if its operations take what they take alone and share the
 * device: what runs at the same time and wants more CTAs than the device runs, or more bytes per
 * second than its memory moves, is slowed down alike. */
struct cts_try_costs {
    const uint64_t *duration_ns; /* by operation */
    uint64_t overhead_ns;        /* of each duration: comes from measuring it */
    const uint64_t *bytes;  /* by operation: read and written in device memory; NULL: unknown */
    uint64_t issue_ns;      /* the host's, to ask for an operation, or for a graph */
    uint64_t wait_ns;       /* from the end of what the host waits for until it goes on */
    uint64_t edge_ns;       /* what begins after something in another lane begins so much later */
    uint64_t edge_issue_ns; /* that the host spends more to ask for that */
};
CTS_MUST_CHECK enum cts_status cts_try_foretell(const struct cts_stretch *stretch,
                                                const struct cts_trial_plan *plan,
                                                const struct cts_try_costs *costs,
                                                uint64_t *elapsed_ns, struct cts_error *error);

#endif
