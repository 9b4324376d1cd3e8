#include "analyze/try/try-outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/array.h"

void cts_try_outcome_release(struct cts_try_outcome *outcome)
{
    for (size_t i = 0; i < outcome->trial_count; i++)
        cts_trial_result_release(&outcome->trials[i].result);
    free(outcome->trials);
    free(outcome->duration_ns);
    cts_trial_result_release(&outcome->baseline_result);
    *outcome = (struct cts_try_outcome){0};
}

static struct cts_try_plan_options plan_options(const struct cts_try_outcome *outcome)
{
    return (struct cts_try_plan_options){.stretch = outcome->stretch,
                                         .needs = outcome->needs,
                                         .dead = outcome->dead,
                                         .dead_count = outcome->dead_count,
                                         .duration_ns = outcome->duration_ns,
                                         .keeps_gaps = outcome->keeps_gaps,
                                         .repeats = outcome->repeats};
}

static void keep_durations(struct cts_try_outcome *outcome, const struct cts_trial_plan *plan,
                           const struct cts_trial_result *result)
{
    for (size_t i = 0; i < plan->step_count && i < result->step_count; i++)
        if (plan->steps[i].op != CTS_TRIAL_NONE)
            outcome->duration_ns[plan->steps[i].op] = result->step_ns[i];
}

/* Whether operations of the stretch can run at the same time. */
static bool has_lanes(const struct cts_trial_plan *plan)
{
    for (size_t i = 1; i < plan->step_count; i++)
        if (plan->steps[i].op != CTS_TRIAL_NONE && plan->steps[0].op != CTS_TRIAL_NONE &&
            plan->steps[i].lane != plan->steps[0].lane)
            return true;
    return false;
}

enum { ALONE_REPEATS = 10 };

/* Durations of operations that run one at a time: others slow them down in the unchanged replays.
 */
static enum cts_status measure_alone(struct cts_try_outcome *outcome,
                                     const struct cts_try_executor *executor,
                                     struct cts_error *error)
{
    struct cts_trial_plan plan;
    struct cts_trial_result result = {0};
    struct cts_try_plan_options options = plan_options(outcome);
    const struct cts_try_change serial = {
        .kind = CTS_TRY_SERIAL, .op = CTS_TRIAL_NONE, .other = CTS_TRIAL_NONE};
    options.repeats = ALONE_REPEATS;
    enum cts_status status = cts_try_plan(&options, &serial, 1, &plan, error);
    if (status) return status;
    status = executor->execute(executor->state, &plan, &result, error);
    if (!status && !*result.fault) keep_durations(outcome, &plan, &result);
    cts_trial_result_release(&result);
    cts_trial_plan_release(&plan);
    return status;
}

enum cts_status cts_try_measure_baseline(struct cts_try_outcome *outcome,
                                         const struct cts_try_executor *executor,
                                         struct cts_error *error)
{
    const struct cts_try_plan_options options = plan_options(outcome);
    struct cts_trial_plan plan;
    enum cts_status status = cts_try_plan(&options, NULL, 0, &plan, error);
    if (status) return status;
    cts_trial_result_release(&outcome->baseline_result);
    free(outcome->duration_ns);
    outcome->duration_ns =
        cts_array_zeroed(outcome->stretch->op_count, sizeof *outcome->duration_ns, error);
    status = outcome->duration_ns ? CTS_OK : CTS_MEMORY;
    if (!status)
        status = executor->execute(executor->state, &plan, &outcome->baseline_result, error);
    if (!status) {
        keep_durations(outcome, &plan, &outcome->baseline_result);
        cts_try_judge_baseline(outcome->stretch, &outcome->baseline_result, &outcome->baseline);
    }
    if (!status && outcome->trial_count && !*outcome->baseline.fault && has_lanes(&plan))
        status = measure_alone(outcome, executor, error);
    cts_trial_plan_release(&plan);
    return status;
}

static size_t count_waits(const struct cts_trial_plan *plan)
{
    size_t count = 1; /* the one at the end */
    for (size_t i = 0; i < plan->step_count; i++)
        count += plan->steps[i].op == CTS_TRIAL_NONE || plan->steps[i].host_waits;
    return count;
}

enum { FIT_ROUNDS = 12 };

/* The projection of the unchanged stretch is longer than the stretch: by what measuring its
 * operations adds to each. */
static enum cts_status fit_overhead(const struct cts_try_outcome *outcome,
                                    const struct cts_trial_plan *plain, struct cts_try_costs *costs,
                                    uint64_t *plain_ns, struct cts_error *error)
{
    const uint64_t measured_ns = (uint64_t)outcome->baseline.elapsed_ns.median;
    uint64_t least_ns = 0, most_ns = measured_ns;
    enum cts_status status = CTS_OK;
    for (int round = 0; round < FIT_ROUNDS && !status; round++) {
        costs->overhead_ns = (least_ns + most_ns) / 2;
        status = cts_try_foretell(outcome->stretch, plain, costs, plain_ns, error);
        if (*plain_ns > measured_ns)
            least_ns = costs->overhead_ns;
        else
            most_ns = costs->overhead_ns;
    }
    return status;
}

/* What the unchanged stretch takes longer than its projection is the latency of its waits. */
static enum cts_status find_costs(const struct cts_try_outcome *outcome,
                                  struct cts_try_costs *costs, uint64_t *plain_ns,
                                  struct cts_error *error)
{
    const struct cts_try_plan_options options = plan_options(outcome);
    const uint64_t measured_ns = (uint64_t)outcome->baseline.elapsed_ns.median;
    struct cts_trial_plan plain;
    *costs = (struct cts_try_costs){.duration_ns = outcome->duration_ns,
                                    .bytes = outcome->bytes,
                                    .issue_ns = outcome->baseline_result.issue_ns,
                                    .edge_ns = outcome->baseline_result.edge_ns,
                                    .edge_issue_ns = outcome->baseline_result.edge_issue_ns};
    enum cts_status status = cts_try_plan(&options, NULL, 0, &plain, error);
    if (status) return status;
    status = cts_try_foretell(outcome->stretch, &plain, costs, plain_ns, error);
    if (!status && measured_ns > *plain_ns) {
        costs->wait_ns = (measured_ns - *plain_ns) / count_waits(&plain);
        status = cts_try_foretell(outcome->stretch, &plain, costs, plain_ns, error);
    } else if (!status) {
        status = fit_overhead(outcome, &plain, costs, plain_ns, error);
    }
    cts_trial_plan_release(&plain);
    return status;
}

/* What the projection says: the part of the time that the change saves. */
static enum cts_status foretell(const struct cts_try_outcome *outcome,
                                const struct cts_trial_plan *plan, struct cts_try_verdict *verdict,
                                struct cts_error *error)
{
    uint64_t before_ns = 0, after_ns = 0;
    struct cts_try_costs costs;
    enum cts_status status = find_costs(outcome, &costs, &before_ns, error);
    if (!status) status = cts_try_foretell(outcome->stretch, plan, &costs, &after_ns, error);
    if (!status && before_ns) verdict->foretold = 1 - (double)after_ns / (double)before_ns;
    return status;
}

enum cts_status cts_try_measure(struct cts_try_outcome *outcome, struct cts_try_trial *trial,
                                const struct cts_try_executor *executor, struct cts_error *error)
{
    const struct cts_try_plan_options options = plan_options(outcome);
    struct cts_trial_plan plan;
    enum cts_status status =
        cts_try_plan(&options, trial->changes, trial->change_count, &plan, error);
    if (status == CTS_USAGE) {
        snprintf(trial->untried, sizeof trial->untried, "%.299s", error->text);
        trial->is_done = true;
        return CTS_OK;
    }
    if (status) return status;
    status = executor->execute(executor->state, &plan, &trial->result, error);
    if (!status && trial->result.is_refused) {
        snprintf(trial->untried, sizeof trial->untried, "%.299s", trial->result.fault);
        trial->is_done = true;
    } else if (!status) {
        cts_try_judge(outcome->stretch, &outcome->baseline, &trial->result, &trial->verdict);
        status = foretell(outcome, &plan, &trial->verdict, error);
        trial->is_done = true;
    }
    cts_trial_plan_release(&plan);
    return status;
}
