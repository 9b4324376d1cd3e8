/* Plans as they grow, and whether they make sense. */
#include <stdlib.h>
#include <string.h>

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
    free(plan->buffers);
    free(plan->ctas);
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

enum cts_status cts_trial_plan_add_buffer(struct cts_trial_plan *plan, uint64_t size_bytes,
                                          struct cts_error *error)
{
    if (ROOM(plan->buffers, plan->buffer_count, plan->buffer_capacity, error)) return CTS_MEMORY;
    plan->buffers[plan->buffer_count++] = size_bytes;
    return CTS_OK;
}

enum cts_status cts_trial_plan_set_ctas(struct cts_trial_plan *plan, uint32_t step,
                                        const uint32_t *ctas, uint32_t count,
                                        struct cts_error *error)
{
    const size_t first = plan->cta_count;
    assert(step < plan->step_count && !plan->steps[step].cta_count);
    if (first + count > plan->cta_capacity &&
        cts_array_grow((void **)&plan->ctas, &plan->cta_capacity, first + count, sizeof *plan->ctas,
                       error))
        return CTS_MEMORY;
    memcpy(plan->ctas + first, ctas, count * sizeof *ctas);
    plan->cta_count += count;
    plan->steps[step].cta_first = (uint32_t)first;
    plan->steps[step].cta_count = count;
    return CTS_OK;
}

/* Every CTA of the launch once. */
static enum cts_status check_ctas(const struct cts_trial_plan *plan, size_t i,
                                  const struct cts_trial_op *op, struct cts_error *error)
{
    const struct cts_trial_step *const step = &plan->steps[i];
    const uint64_t count = (uint64_t)op->grid[0] * op->grid[1] * op->grid[2];
    if (!step->cta_count) return CTS_OK;
    if (step->cta_first > plan->cta_count || step->cta_count > plan->cta_count - step->cta_first ||
        op->kind != CTS_TRIAL_LAUNCH || step->cta_count != count)
        return cts_fail(error, CTS_FORMAT, "step %zu: an order of %u CTAs for %llu", i,
                        step->cta_count, (unsigned long long)count);
    bool *const seen = cts_array_zeroed(step->cta_count, sizeof *seen, error);
    if (!seen) return CTS_MEMORY;
    bool good = true;
    for (uint32_t k = 0; k < step->cta_count && good; k++) {
        const uint32_t cta = plan->ctas[step->cta_first + k];
        good = cta < step->cta_count && !seen[cta];
        if (good) seen[cta] = true;
    }
    free(seen);
    return good ? CTS_OK : cts_fail(error, CTS_FORMAT, "step %zu: a CTA is missing", i);
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
    return step->op == CTS_TRIAL_NONE ? CTS_OK
                                      : check_ctas(plan, i, &stretch->ops[step->op], error);
}

static enum cts_status check_pointer(const struct cts_trial_plan *plan, size_t i,
                                     struct cts_error *error)
{
    const struct cts_trial_pointer *const pointer = &plan->pointers[i];
    if (pointer->step >= plan->step_count && pointer->step != CTS_TRIAL_NONE)
        return cts_fail(error, CTS_FORMAT, "pointer %zu: no step %u", i, pointer->step);
    if (pointer->buffer == CTS_TRIAL_NONE) return CTS_OK;
    if (pointer->buffer >= plan->buffer_count || pointer->to > plan->buffers[pointer->buffer] ||
        pointer->size_bytes > plan->buffers[pointer->buffer] - pointer->to)
        return cts_fail(error, CTS_FORMAT, "pointer %zu lies outside of its buffer", i);
    return CTS_OK;
}

enum cts_status cts_trial_plan_check(const struct cts_trial_plan *plan,
                                     const struct cts_stretch *stretch, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < plan->step_count && !status; i++)
        status = check_step(plan, stretch, i, error);
    for (size_t i = 0; i < plan->pointer_count && !status; i++)
        status = check_pointer(plan, i, error);
    if (!status && (!plan->repeats || plan->repeats > 10000))
        status = cts_fail(error, CTS_FORMAT, "%u repeats", plan->repeats);
    return status;
}
