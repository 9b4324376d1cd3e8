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

/* What a step in another lane costs more than in the same one. */
struct cts_try_edge {
    uint64_t latency_ns, issue_ns;
};

enum { CTS_TRY_FAULT_BYTES = 400 };

/* Each byte of memory that a plan does not use, or that it adds, before a replay. */
enum { CTS_TRY_SPOILT = 0xa5 };

/* In a plan that is a graph: the step behind the graph that begins with a step. It ends behind the
 * first for which the host waits. */
static inline size_t cts_try_graph_end(const struct cts_trial_plan *plan, size_t first)
{
    size_t i = first;
    while (i < plan->step_count && plan->steps[i].op != CTS_TRIAL_NONE)
        if (plan->steps[i++].host_waits) break;
    return i;
}

/* All functions are called by the thread that closed the stretch. */
struct cts_try_device {
    void *state;
    bool times_cost; /* knowing when steps run makes a replay slower */
    /* A replay of the plan begins; CTS_MEMORY and the like: it cannot. CTS_USAGE: the device cannot
     * make what the plan changes. `timed`: end() is to say when each step ran. */
    enum cts_status (*begin)(void *state, const struct cts_trial_plan *plan, bool timed,
                             struct cts_error *error);
    /* Asks for the next step, which names an operation. It begins after the steps of its `after`
     * and the one before it in its lane; the call does not wait. */
    enum cts_status (*issue)(void *state, size_t step, struct cts_error *error);
    /* Asks for steps [first, last), which name operations, as one graph. */
    enum cts_status (*issue_graph)(void *state, size_t first, size_t last, struct cts_error *error);
    /* Measures what the order between two lanes costs. NULL: next to nothing. */
    void (*measure_edge)(void *state, struct cts_try_edge *edge);
    /* Waits until a step has ended. */
    void (*wait)(void *state, size_t step);
    /* Waits for all steps and says when each ran, if the replay is timed. True, or why one failed
     * in `fault`; the device is sound again afterwards, unless the process has to end. */
    bool (*end)(void *state, struct cts_try_span *spans, char fault[CTS_TRY_FAULT_BYTES]);
    /* The time in which the device worked in the timed replay that has ended; false: what the spans
     * say. NULL: likewise. */
    bool (*busy)(void *state, uint64_t *busy_ns);
    /* Copies what the plan's buffers hold to where the program has it. */
    void (*bring_back)(void *state);
    /* Memory, while nothing runs. */
    void (*read)(void *state, uint64_t address, void *to, size_t size_bytes);
    void (*write)(void *state, uint64_t address, const void *from, size_t size_bytes);
};

#endif
