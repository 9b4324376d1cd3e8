/* Executing a plan once. */
#ifndef CTS_RECORD_TRY_REPLAY_H
#define CTS_RECORD_TRY_REPLAY_H

#include "record/try/try-memory.h"

struct cts_try_replay {
    const struct cts_try_device *device;
    const struct cts_try_memory *memory;
    const struct cts_trial_plan *plan;
    bool follows_unchanged;         /* memory is as an unchanged replay, or the program, left it */
    uint64_t issue_ns, issue_count; /* that calls for steps took in replays that are not slowed down
                                       by knowing when steps run, and how many they were */
    struct cts_try_span *spans;     /* by step, filled by each replay */
    char fault[CTS_TRY_FAULT_BYTES]; /* why the last one failed; "": it did not */
};

/* Restores the memory and executes the plan: once, or where knowing when steps run makes it slower,
 * once more for that, before. CTS_OK also with a fault; else the replay could not be made. */
CTS_MUST_CHECK enum cts_status cts_try_run(struct cts_try_replay *replay,
                                           struct cts_trial_time *time, struct cts_error *error);

/* What to look at after each operation. */
struct cts_try_probe {
    uint64_t address;
    size_t size_bytes; /* at most CTS_TRIAL_VALUE_BYTES */
};
/* Executes the plan's operations one at a time in its order. `values`: CTS_TRIAL_VALUE_BYTES for
 * each operation of the stretch and probe, operations first; left alone for those that the plan
 * does not have. */
CTS_MUST_CHECK enum cts_status cts_try_run_probed(struct cts_try_replay *replay,
                                                  const struct cts_try_probe *probes,
                                                  size_t probe_count, uint8_t *values,
                                                  struct cts_error *error);

#endif
