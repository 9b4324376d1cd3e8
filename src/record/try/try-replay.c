#include "record/try/try-replay.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"

/* A sleep ends later than it should by up to about this; the rest is spent in a loop. */
enum { SLEEP_SLACK_NS = 80 * 1000 };

static void pause_host(uint64_t gap_ns)
{
    const uint64_t until_ns = cts_clock_ns() + gap_ns;
    if (gap_ns > 2 * SLEEP_SLACK_NS) {
        const uint64_t sleep_ns = gap_ns - SLEEP_SLACK_NS;
        const struct timespec sleep = {.tv_sec = (time_t)(sleep_ns / 1000000000u),
                                       .tv_nsec = (long)(sleep_ns % 1000000000u)};
        nanosleep(&sleep, NULL);
    }
    while (cts_clock_ns() < until_ns) continue;
}

static int by_start(const void *left, const void *right)
{
    const struct cts_try_span *const a = left, *const b = right;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The time in which at least one span lasts; sorts them. */
static uint64_t sum_busy_ns(struct cts_try_span *spans, size_t count)
{
    uint64_t busy_ns = 0, covered_ns = 0;
    qsort(spans, count, sizeof *spans, by_start);
    for (size_t i = 0; i < count; i++) {
        const uint64_t from = spans[i].start_ns > covered_ns ? spans[i].start_ns : covered_ns;
        if (spans[i].end_ns <= from) continue;
        busy_ns += spans[i].end_ns - from;
        covered_ns = spans[i].end_ns;
    }
    return busy_ns;
}

/* Asks for the graph that begins with a step; `*last`: the step behind it. */
static enum cts_status ask_for_graph(struct cts_try_replay *replay, size_t first, size_t *last,
                                     struct cts_error *error)
{
    const struct cts_try_device *const device = replay->device;
    const uint64_t start_ns = cts_clock_ns();
    *last = cts_try_graph_end(replay->plan, first);
    const enum cts_status status = device->issue_graph(device->state, first, *last, error);
    replay->issue_ns += cts_clock_ns() - start_ns;
    replay->issue_count++;
    if (!status && replay->plan->steps[*last - 1].host_waits)
        device->wait(device->state, *last - 1);
    return status;
}

static enum cts_status ask(struct cts_try_replay *replay, size_t index, struct cts_error *error)
{
    const struct cts_try_device *const device = replay->device;
    const struct cts_trial_step *const step = &replay->plan->steps[index];
    if (step->gap_ns) pause_host(step->gap_ns);
    if (step->op != CTS_TRIAL_NONE) {
        const uint64_t start_ns = cts_clock_ns();
        const enum cts_status status = device->issue(device->state, index, error);
        replay->issue_ns += cts_clock_ns() - start_ns;
        replay->issue_count++;
        if (!status && step->host_waits) device->wait(device->state, index);
        return status;
    }
    for (uint32_t i = 0; i < step->after_count; i++)
        device->wait(device->state, replay->plan->afters[step->after_first + i]);
    return CTS_OK;
}

/* The busy time, of a copy of the spans without the steps that only wait. */
static enum cts_status sum_spans(const struct cts_try_replay *replay, uint64_t *busy_ns,
                                 struct cts_error *error)
{
    const size_t count = replay->plan->step_count;
    struct cts_try_span *const copy = malloc((count + 1) * sizeof *copy);
    if (!copy) return cts_fail(error, CTS_MEMORY, "no memory");
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (replay->plan->steps[i].op != CTS_TRIAL_NONE) copy[used++] = replay->spans[i];
    *busy_ns = sum_busy_ns(copy, used);
    free(copy);
    return CTS_OK;
}

static enum cts_status run_once(struct cts_try_replay *replay, bool timed,
                                struct cts_trial_time *time, struct cts_error *error)
{
    const struct cts_try_device *const device = replay->device;
    if (replay->follows_unchanged)
        cts_try_memory_restore_changed(replay->memory, device);
    else
        cts_try_memory_restore(replay->memory, device, false);
    enum cts_status status = device->begin(device->state, replay->plan, timed, error);
    if (status) return status;
    const uint64_t start_ns = cts_clock_ns();
    for (size_t i = 0, next; i < replay->plan->step_count && !status; i = next) {
        next = i + 1;
        if (replay->plan->is_graph && replay->plan->steps[i].op != CTS_TRIAL_NONE)
            status = ask_for_graph(replay, i, &next, error);
        else
            status = ask(replay, i, error);
    }
    replay->fault[0] = '\0';
    (void)device->end(device->state, replay->spans, replay->fault);
    time->elapsed_ns = cts_clock_ns() - start_ns;
    if (!replay->fault[0]) device->bring_back(device->state);
    if (status || !timed) return status;
    if (device->busy && device->busy(device->state, &time->busy_ns)) return CTS_OK;
    return sum_spans(replay, &time->busy_ns, error);
}

enum cts_status cts_try_run(struct cts_try_replay *replay, struct cts_trial_time *time,
                            struct cts_error *error)
{
    const uint64_t issue_ns = replay->issue_ns, issue_count = replay->issue_count;
    const enum cts_status status = run_once(replay, true, time, error);
    if (status || replay->fault[0] || !replay->device->times_cost) return status;
    replay->issue_ns = issue_ns; /* of the replay that was slowed down */
    replay->issue_count = issue_count;
    return run_once(replay, false, time, error);
}

enum cts_status cts_try_run_probed(struct cts_try_replay *replay,
                                   const struct cts_try_probe *probes, size_t probe_count,
                                   uint8_t *values, struct cts_error *error)
{
    const struct cts_try_device *const device = replay->device;
    struct cts_trial_plan plan = *replay->plan;
    plan.is_graph = false; /* a graph cannot be stopped after each of its nodes */
    cts_try_memory_restore(replay->memory, device, false);
    enum cts_status status = device->begin(device->state, &plan, false, error);
    for (size_t i = 0; i < replay->plan->step_count && !status; i++) {
        const uint32_t op = replay->plan->steps[i].op;
        if (op == CTS_TRIAL_NONE) continue;
        status = device->issue(device->state, i, error);
        if (status) break;
        device->wait(device->state, i);
        uint8_t *const row = values + (size_t)op * probe_count * CTS_TRIAL_VALUE_BYTES;
        for (size_t k = 0; k < probe_count; k++)
            device->read(device->state, probes[k].address, row + k * CTS_TRIAL_VALUE_BYTES,
                         probes[k].size_bytes);
    }
    replay->fault[0] = '\0';
    (void)device->end(device->state, replay->spans, replay->fault);
    return status;
}
