/* A simulation: the host asks for steps one after the other; a step runs when what it comes after
 * has ended. n steps: O(n^2) at worst, in the number that run at the same time. */
#include <stdlib.h>

#include "analyze/try/try-judge.h"
#include "common/array.h"

struct state {
    double left_ns;   /* of its own duration */
    double demand;    /* part of the CTAs that the device runs at a time */
    double bandwidth; /* part of what the device's memory moves */
    double end_ns;    /* when it is done */
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
    double most = s->stretch->parallel_ctas ? s->stretch->parallel_ctas : 1;
    if (op->resident_ctas) most = op->resident_ctas;
    double ctas = (double)op->grid[0] * op->grid[1] * op->grid[2];
    if (op->kind != CTS_TRIAL_LAUNCH || ctas < 1) ctas = 1;
    return (ctas < most ? ctas : most) / most;
}

/* Measuring makes a step longer; at least half of what was measured is its own. */
static double duration_of(const struct simulation *s, uint32_t op)
{
    const uint64_t ns = s->costs->duration_ns[op], overhead_ns = s->costs->overhead_ns;
    return ns > 2 * overhead_ns ? (double)(ns - overhead_ns) : (double)ns / 2;
}

static double bandwidth_of(const struct simulation *s, uint32_t op)
{
    const double ns = duration_of(s, op), most = (double)s->stretch->memory_bytes_per_us / 1000;
    if (!s->costs->bytes || ns <= 0 || most <= 0) return 0;
    const double part = (double)s->costs->bytes[op] / ns / most;
    return part < 1 ? part : 1;
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
        s->states[i].left_ns = duration_of(s, step->op) + (double)step->delay_ns;
        s->states[i].demand = demand_of(s, step);
        s->states[i].bandwidth = bandwidth_of(s, step->op);
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

static bool is_edge(const struct simulation *s, const struct cts_trial_step *step, uint32_t i)
{
    const uint32_t before = s->plan->afters[step->after_first + i];
    return step->op != CTS_TRIAL_NONE && !s->plan->is_graph &&
           s->plan->steps[before].lane != step->lane;
}

/* When all that it comes after has ended, a step can begin. */
static double ready_ns(const struct simulation *s, size_t index)
{
    const struct cts_trial_step *const step = &s->plan->steps[index];
    double ready = s->before[index] == CTS_TRIAL_NONE ? 0 : s->states[s->before[index]].end_ns;
    for (uint32_t i = 0; i < step->after_count; i++) {
        const double end = s->states[s->plan->afters[step->after_first + i]].end_ns;
        const double begins = is_edge(s, step, i) ? end + (double)s->costs->edge_ns : end;
        if (begins > ready) ready = begins;
    }
    return ready;
}

/* Within a graph, the host asks for the first step alone. */
static bool is_asked_with_another(const struct simulation *s, size_t index)
{
    if (!s->plan->is_graph || !index) return false;
    const struct cts_trial_step *const before = &s->plan->steps[index - 1];
    return before->op != CTS_TRIAL_NONE && !before->host_waits;
}

/* When the host has asked for the step that it is at. */
static double asks_ns(const struct simulation *s)
{
    const struct cts_trial_step *const step = &s->plan->steps[s->next];
    if (step->op == CTS_TRIAL_NONE) return s->host_ns + (double)step->gap_ns;
    if (is_asked_with_another(s, s->next)) return s->host_ns;
    double issue_ns = (double)s->costs->issue_ns;
    for (uint32_t i = 0; i < step->after_count; i++)
        if (is_edge(s, step, i)) issue_ns += (double)s->costs->edge_issue_ns;
    return s->host_ns + (double)step->gap_ns + issue_ns;
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

static bool can_start(const struct simulation *s, size_t i)
{
    const struct cts_trial_step *const step = &s->plan->steps[i];
    return (s->before[i] == CTS_TRIAL_NONE || s->states[s->before[i]].is_done) && all_done(s, step);
}

/* Starts what can run; how many times more it wants than the device has. */
static double start_steps(struct simulation *s)
{
    double wanted = 0, bandwidth = 0;
    for (size_t i = s->first_open; i < s->plan->step_count && s->states[i].is_asked; i++) {
        struct state *const state = &s->states[i];
        if (state->is_done || s->plan->steps[i].op == CTS_TRIAL_NONE) continue;
        if (!state->is_running)
            state->is_running = can_start(s, i) && ready_ns(s, i) <= s->now_ns + 1e-6;
        if (!state->is_running) continue;
        wanted += state->demand;
        bandwidth += state->bandwidth;
    }
    return wanted > bandwidth ? wanted : bandwidth;
}

static void take_earlier(double *next_ns, double time_ns)
{
    if (*next_ns < 0 || time_ns < *next_ns) *next_ns = time_ns;
}

/* When the next thing happens: a step ends or may begin, or the host goes on. */
static double next_event(const struct simulation *s, double rate)
{
    double next_ns = -1;
    for (size_t i = s->first_open; i < s->plan->step_count && s->states[i].is_asked; i++) {
        const struct state *const state = &s->states[i];
        if (state->is_done || s->plan->steps[i].op == CTS_TRIAL_NONE) continue;
        if (state->is_running)
            take_earlier(&next_ns, s->now_ns + state->left_ns / rate);
        else if (can_start(s, i))
            take_earlier(&next_ns, ready_ns(s, i));
    }
    if (s->next < s->plan->step_count && !s->states[s->next].is_asked)
        take_earlier(&next_ns, asks_ns(s));
    return next_ns;
}

static void pass_time(struct simulation *s, double until_ns, double rate)
{
    const double passed_ns = until_ns > s->now_ns ? until_ns - s->now_ns : 0;
    for (size_t i = s->first_open; i < s->plan->step_count && s->states[i].is_asked; i++) {
        struct state *const state = &s->states[i];
        if (!state->is_running || state->is_done) continue;
        state->left_ns -= passed_ns * rate;
        if (state->left_ns > 1e-6) continue;
        state->is_done = true;
        state->end_ns = s->now_ns + passed_ns;
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
