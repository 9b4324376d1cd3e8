/* A stretch, its unchanged replays, and each trial with its verdict. */
#ifndef CTS_ANALYZE_TRY_OUTCOME_H
#define CTS_ANALYZE_TRY_OUTCOME_H

#include "analyze/try/try-judge.h"
#include "analyze/try/try-match.h"

struct cts_try_trial {
    const struct cts_try_change *changes; /* the caller's */
    size_t change_count;
    const struct cts_try_finding *finding; /* that it tries; NULL: the user's own changes */
    struct cts_try_verdict verdict;
    struct cts_trial_result result; /* owned */
    char untried[300];              /* why there is no verdict; "": there is */
    bool is_done;
};

struct cts_try_outcome {
    const struct cts_stretch *stretch;
    const struct cts_try_needs *needs;
    const struct cts_trial_range *dead; /* the caller's: nobody reads it after the stretch */
    size_t dead_count;
    const uint64_t *bytes; /* the caller's; by operation: read and written; NULL: unknown */
    struct cts_trial_result baseline_result; /* owned */
    struct cts_try_baseline baseline;
    uint64_t *duration_ns;        /* owned; by operation: alone on the device */
    struct cts_try_trial *trials; /* owned */
    size_t trial_count;
    bool keeps_gaps;
    uint32_t repeats;
};
void cts_try_outcome_release(struct cts_try_outcome *outcome);

/* Executes a plan: CTS_IO when whoever does it is gone. */
struct cts_try_executor {
    enum cts_status (*execute)(void *state, const struct cts_trial_plan *plan,
                               struct cts_trial_result *result, struct cts_error *error);
    void *state;
};

/* The unchanged replays: fills baseline and durations. */
CTS_MUST_CHECK enum cts_status cts_try_measure_baseline(struct cts_try_outcome *outcome,
                                                        const struct cts_try_executor *executor,
                                                        struct cts_error *error);
/* One trial. What makes no sense for the stretch is its `untried`. */
CTS_MUST_CHECK enum cts_status cts_try_measure(struct cts_try_outcome *outcome,
                                               struct cts_try_trial *trial,
                                               const struct cts_try_executor *executor,
                                               struct cts_error *error);

#endif
