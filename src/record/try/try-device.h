/* What replays need of a device: executing operations of the stretch, and its memory. */
#ifndef CTS_RECORD_TRY_DEVICE_H
#define CTS_RECORD_TRY_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trial/trial.h"

/* When a step ran, by cts_clock_ns(). */
struct cts_try_span {
    uint64_t start_ns, end_ns;
};

enum { CTS_TRY_FAULT_BYTES = 400 };

/* All functions are called by the thread that closed the stretch. */
struct cts_try_device {
    void *state;
    bool times_cost; /* knowing when steps run makes a replay slower */
    /* A replay of the plan begins; CTS_MEMORY and the like: it cannot. `timed`: end() is to say
     * when each step ran. */
    enum cts_status (*begin)(void *state, const struct cts_trial_plan *plan, bool timed,
                             struct cts_error *error);
    /* Asks for the next step, which names an operation. It begins after the steps of its `after`
     * and the one before it in its lane; the call does not wait. */
    enum cts_status (*issue)(void *state, size_t step, struct cts_error *error);
    /* Waits until a step has ended. */
    void (*wait)(void *state, size_t step);
    /* Waits for all steps and says when each ran, if the replay is timed. True, or why one failed
     * in `fault`; the device is sound again afterwards, unless the process has to end. */
    bool (*end)(void *state, struct cts_try_span *spans, char fault[CTS_TRY_FAULT_BYTES]);
    /* Memory, while nothing runs. */
    void (*read)(void *state, uint64_t address, void *to, size_t size_bytes);
    void (*write)(void *state, uint64_t address, const void *from, size_t size_bytes);
};

#endif
