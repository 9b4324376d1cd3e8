/* A simulation: the host asks for steps one after the other; a step runs when what it comes after
 * has ended. n steps: O(n^2) at worst, in the number that run at the same time. */
#include <stdlib.h>

#include "analyze/try/try-judge.h"
#include "common/array.h"

struct state {
    double left_ns; /* of its own duration */
    double demand;  /* part of the device that it can use */
    bool is_asked, is_done, is_running;
};

struct simulation {
    const struct cts_stretch *stretch;
    const struct cts_trial_plan *plan;
    const struct cts_try_costs *costs;
    struct state *states;
    uint32_t *before;        /* by step: the one before it in its lane */
    double now_ns, host_ns;  /* when the host goes on */
    size_t next, first_open; /* the step that the host is at; all before the second are done */
};

static double demand_of(const struct simulation *s, const struct cts_trial_step *step)
{
    const struct cts_trial_op *const op = &s->stretch->ops[step->op];
    const double most = s->stretch->parallel_ctas ? s->stretch->parallel_ctas : 1;
    double ctas = (double)op->grid[0] * op->grid[1] * op->grid[2];
    if (op->kind != CTS_TRIAL_LAUNCH || ctas < 1) ctas = 1;
    return (ctas < most ? ctas : most) / most;
}

static enum cts_status prepare(struct simulation *s, struct cts_error *error)
{
    uint32_t *const last = cts_array_zeroed(s->plan->lane_count, sizeof *last, error);
    if (!last) return CTS_MEMORY;
    for (size_t i = 0; i < s->plan->lane_count; i++) last[i] = CTS_TRIAL_NONE;
    for (size_t i = 0; i < s->plan->step_count; i++) {
        const struct cts_trial_step *const step = &s->plan->steps[i];
        s->before[i] = CTS_TRIAL_NONE;
        if (step->op == CTS_TRIAL_NONE) continue;
        s->before[i] = last[step->lane];
        last[step->lane] = (uint32_t)i;
        s->states[i].left_ns = (double)s->costs->duration_ns[step->op] + (double)step->delay_ns;
        s->states[i].demand = demand_of(s, step);
    }
    free(last);
    return CTS_OK;
}

static bool all_done(const struct simulation *s, const struct cts_trial_step *step)
{
    for (uint32_t i = 0; i < step->after_count; i++)
        if (!s->states[s->plan->afters[step->after_first + i]].is_done) return false;
    return true;
}

/* When the host has asked for the step that it is at. */
static double asks_ns(const struct simulation *s)
{
    const struct cts_trial_step *const step = &s->plan->steps[s->next];
    const uint64_t issue_ns = step->op == CTS_TRIAL_NONE ? 0 : s->costs->issue_ns;
    return s->host_ns + (double)step->gap_ns + (double)issue_ns;
}

/* The host asks for what it can at this moment. */
static void advance_host(struct simulation *s)
{
    while (s->next < s->plan->step_count) {
        const struct cts_trial_step *const step = &s->plan->steps[s->next];
        struct state *const state = &s->states[s->next];
        if (!state->is_asked) {
            const double ready_ns = asks_ns(s);
            if (ready_ns > s->now_ns + 1e-6) return;
            s->host_ns = ready_ns;
            state->is_asked = true;
        }
        const bool waits = step->op == CTS_TRIAL_NONE;
        if (waits && !all_done(s, step)) return;
        if (!waits && step->host_waits && !state->is_done) return;
        if (waits || step->host_waits) {
            if (s->now_ns > s->host_ns) s->host_ns = s->now_ns;
            s->host_ns += (double)s->costs->wait_ns;
        }
        if (waits) state->is_done = true;
        s->next++;
    }
}

/* Starts what can run; the sum of what runs wants. */
static double start_steps(struct simulation *s)
{
    double wanted = 0;
    for (size_t i = s->first_open; i < s->plan->step_count && s->states[i].is_asked; i++) {
        const struct cts_trial_step *const step = &s->plan->steps[i];
        struct state *const state = &s->states[i];
        if (state->is_done || step->op == CTS_TRIAL_NONE) continue;
        const bool is_free = s->before[i] == CTS_TRIAL_NONE || s->states[s->before[i]].is_done;
        if (!state->is_running) state->is_running = is_free && all_done(s, step);
        if (state->is_running) wanted += state->demand;
    }
    return wanted;
}

/* When the next thing happens: a step ends, or the host goes on. */
static double next_event(const struct simulation *s, double rate)
{
    double next_ns = -1;
    for (size_t i = s->first_open; i < s->plan->step_count && s->states[i].is_asked; i++) {
        if (!s->states[i].is_running || s->states[i].is_done) continue;
        const double end_ns = s->now_ns + s->states[i].left_ns / rate;
        if (next_ns < 0 || end_ns < next_ns) next_ns = end_ns;
    }
    if (s->next < s->plan->step_count && !s->states[s->next].is_asked) {
        const double ask_ns = asks_ns(s);
        if (next_ns < 0 || ask_ns < next_ns) next_ns = ask_ns;
    }
    return next_ns;
}

static void pass_time(struct simulation *s, double until_ns, double rate)
{
    const double passed_ns = until_ns > s->now_ns ? until_ns - s->now_ns : 0;
    for (size_t i = s->first_open; i < s->plan->step_count && s->states[i].is_asked; i++) {
        struct state *const state = &s->states[i];
        if (!state->is_running || state->is_done) continue;
        state->left_ns -= passed_ns * rate;
        if (state->left_ns <= 1e-6) state->is_done = true;
    }
    s->now_ns += passed_ns;
    while (s->first_open < s->next && s->states[s->first_open].is_done) s->first_open++;
}

static void simulate(struct simulation *s)
{
    for (;;) {
        advance_host(s);
        const double wanted = start_steps(s);
        const double rate = wanted > 1 ? 1 / wanted : 1;
        const double next_ns = next_event(s, rate);
        if (next_ns < 0) return;
        pass_time(s, next_ns, rate);
    }
}

enum cts_status cts_try_foretell(const struct cts_stretch *stretch,
                                 const struct cts_trial_plan *plan,
                                 const struct cts_try_costs *costs, uint64_t *elapsed_ns,
                                 struct cts_error *error)
{
    struct simulation s = {.stretch = stretch, .plan = plan, .costs = costs};
    s.states = cts_array_zeroed(plan->step_count, sizeof *s.states, error);
    s.before = cts_array_zeroed(plan->step_count, sizeof *s.before, error);
    enum cts_status status = s.states && s.before ? CTS_OK : CTS_MEMORY;
    if (!status) status = prepare(&s, error);
    if (!status) simulate(&s);
    const double end_ns = s.now_ns > s.host_ns ? s.now_ns : s.host_ns;
    *elapsed_ns = (uint64_t)end_ns + costs->wait_ns;
    free(s.states);
    free(s.before);
    return status;
}
