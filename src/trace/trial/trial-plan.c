/* Plans as they grow, and whether they make sense. */
#include "common/array.h"
#include "trace/trial/trial.h"

#define ROOM(items, count, capacity, error)                                                        \
    ((count) < (capacity)                                                                          \
         ? CTS_OK                                                                                  \
         : cts_array_grow((void **)&(items), &(capacity), (count) + 1, sizeof *(items), (error)))

void cts_trial_plan_release(struct cts_trial_plan *plan)
{
    free(plan->steps);
    free(plan->afters);
    free(plan->pointers);
    free(plan->unused);
    free(plan->dead);
    *plan = (struct cts_trial_plan){0};
}

enum cts_status cts_trial_plan_add_step(struct cts_trial_plan *plan,
                                        const struct cts_trial_step *step, struct cts_error *error)
{
    if (ROOM(plan->steps, plan->step_count, plan->step_capacity, error)) return CTS_MEMORY;
    struct cts_trial_step *const added = &plan->steps[plan->step_count++];
    *added = *step;
    added->after_first = (uint32_t)plan->after_count;
    added->after_count = 0;
    return CTS_OK;
}

enum cts_status cts_trial_plan_add_after(struct cts_trial_plan *plan, uint32_t step,
                                         struct cts_error *error)
{
    assert(plan->step_count && step < plan->step_count - 1);
    if (ROOM(plan->afters, plan->after_count, plan->after_capacity, error)) return CTS_MEMORY;
    plan->afters[plan->after_count++] = step;
    plan->steps[plan->step_count - 1].after_count++;
    return CTS_OK;
}

enum cts_status cts_trial_plan_add_pointer(struct cts_trial_plan *plan,
                                           const struct cts_trial_pointer *pointer,
                                           struct cts_error *error)
{
    if (ROOM(plan->pointers, plan->pointer_count, plan->pointer_capacity, error)) return CTS_MEMORY;
    plan->pointers[plan->pointer_count++] = *pointer;
    return CTS_OK;
}

enum cts_status cts_trial_plan_add_unused(struct cts_trial_plan *plan,
                                          const struct cts_trial_range *range,
                                          struct cts_error *error)
{
    if (ROOM(plan->unused, plan->unused_count, plan->unused_capacity, error)) return CTS_MEMORY;
    plan->unused[plan->unused_count++] = *range;
    return CTS_OK;
}

enum cts_status cts_trial_plan_add_dead(struct cts_trial_plan *plan,
                                        const struct cts_trial_range *range,
                                        struct cts_error *error)
{
    if (ROOM(plan->dead, plan->dead_count, plan->dead_capacity, error)) return CTS_MEMORY;
    plan->dead[plan->dead_count++] = *range;
    return CTS_OK;
}

static enum cts_status check_step(const struct cts_trial_plan *plan,
                                  const struct cts_stretch *stretch, size_t i,
                                  struct cts_error *error)
{
    const struct cts_trial_step *const step = &plan->steps[i];
    if (step->op != CTS_TRIAL_NONE &&
        (step->op >= stretch->op_count || stretch->ops[step->op].kind == CTS_TRIAL_WAIT))
        return cts_fail(error, CTS_FORMAT, "step %zu: operation %u does not execute", i, step->op);
    if (step->op != CTS_TRIAL_NONE && step->lane >= plan->lane_count)
        return cts_fail(error, CTS_FORMAT, "step %zu: lane %u of %u", i, step->lane,
                        plan->lane_count);
    if (step->after_first > plan->after_count ||
        step->after_count > plan->after_count - step->after_first)
        return cts_fail(error, CTS_FORMAT, "step %zu: what it comes after is missing", i);
    for (uint32_t k = 0; k < step->after_count; k++)
        if (plan->afters[step->after_first + k] >= i)
            return cts_fail(error, CTS_FORMAT, "step %zu comes after a later step", i);
    return CTS_OK;
}

enum cts_status cts_trial_plan_check(const struct cts_trial_plan *plan,
                                     const struct cts_stretch *stretch, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < plan->step_count && !status; i++)
        status = check_step(plan, stretch, i, error);
    for (size_t i = 0; i < plan->pointer_count && !status; i++)
        if (plan->pointers[i].step >= plan->step_count)
            status =
                cts_fail(error, CTS_FORMAT, "pointer %zu: no step %u", i, plan->pointers[i].step);
    if (!status && (!plan->repeats || plan->repeats > 10000))
        status = cts_fail(error, CTS_FORMAT, "%u repeats", plan->repeats);
    return status;
}
