#include "analyze/try/try-plan.h"

#include <string.h>

#include "analyze/try/try-draft.h"

static const struct cts_trial_op *op_at(const struct cts_try_draft *draft, uint32_t op)
{
    return &draft->options->stretch->ops[op];
}

static enum cts_status need_data(const struct cts_try_draft *draft, const char *what,
                                 struct cts_error *error)
{
    const struct cts_try_needs *const needs = draft->options->needs;
    if (needs && needs->are_known) return CTS_OK;
    return cts_fail(error, CTS_USAGE, "--%s needs to know what data requires: %s", what,
                    needs && needs->unknown ? needs->unknown
                                            : "give a recording of the program with --run");
}

/* ---- one change each ---- */

static enum cts_status repeat(struct cts_try_draft *draft, uint32_t op, struct cts_error *error)
{
    if (op_at(draft, op)->kind == CTS_TRIAL_WAIT)
        return cts_fail(error, CTS_USAGE, "--repeat takes a launch, copy or memset, not a wait");
    draft->entries[op].times = 2;
    return CTS_OK;
}

/* What came after the second of two in a lane came after the first, too. */
static enum cts_status follow_both(struct cts_try_draft *draft, const struct cts_try_change *change,
                                   struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (uint32_t i = 0; i < draft->options->stretch->op_count && !status; i++) {
        const struct cts_try_list *const afters = &draft->entries[i].afters;
        bool follows = false;
        for (size_t k = 0; k < afters->count; k++) follows |= afters->items[k] == change->other;
        if (follows && i != change->op)
            status = cts_try_draft_add_after(&draft->entries[i], change->op, error);
    }
    return status;
}

static enum cts_status swap(struct cts_try_draft *draft, const struct cts_try_change *change,
                            struct cts_error *error)
{
    const size_t count = draft->options->stretch->op_count;
    uint32_t *first = NULL, *second = NULL;
    for (size_t i = 0; i < count; i++) {
        if (draft->order[i] == change->op) first = &draft->order[i];
        if (draft->order[i] == change->other) second = &draft->order[i];
    }
    if (first == second) return cts_fail(error, CTS_USAGE, "--swap takes two operations");
    *first = change->other;
    *second = change->op;
    const enum cts_status status = follow_both(draft, change, error);
    if (status) return status;
    const uint64_t gap_ns = draft->entries[change->op].gap_ns;
    draft->entries[change->op].gap_ns = draft->entries[change->other].gap_ns;
    draft->entries[change->other].gap_ns = gap_ns;
    return CTS_OK;
}

/* What comes after `second` in its lane stays behind it, and behind what is before it. */
static enum cts_status leave_lane(struct cts_try_draft *draft, uint32_t op, struct cts_error *error)
{
    const uint32_t before = cts_try_draft_before(draft, op);
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < draft->options->stretch->op_count && !status; i++) {
        const uint32_t other = draft->order[i];
        const struct cts_try_entry *const entry = &draft->entries[other];
        if (other == op || !entry->keeps_lane || entry->is_dropped ||
            cts_try_draft_before(draft, other) != op || entry->lane != draft->entries[op].lane)
            continue;
        status = cts_try_draft_add_after(&draft->entries[other], op, error);
    }
    if (!status && before != CTS_TRIAL_NONE)
        status = cts_try_draft_add_after(&draft->entries[op], before, error);
    draft->entries[op].lane = draft->lane_count++;
    return status;
}

/* The second no longer comes after the first, but after what that comes after. */
static enum cts_status overlap(struct cts_try_draft *draft, const struct cts_try_change *change,
                               struct cts_error *error)
{
    struct cts_try_entry *const first = &draft->entries[change->op];
    struct cts_try_entry *const second = &draft->entries[change->other];
    if (op_at(draft, change->op)->kind == CTS_TRIAL_WAIT ||
        op_at(draft, change->other)->kind == CTS_TRIAL_WAIT || change->op >= change->other)
        return cts_fail(error, CTS_USAGE,
                        "--overlap takes two launches, copies or memsets in the program's order");
    const uint32_t before = cts_try_draft_before(draft, change->op);
    enum cts_status status = leave_lane(draft, change->other, error);
    size_t kept = 0;
    for (size_t i = 0; i < second->afters.count; i++)
        if (second->afters.items[i] != change->op)
            second->afters.items[kept++] = second->afters.items[i];
    second->afters.count = kept;
    for (size_t i = 0; i < first->afters.count && !status; i++)
        status = cts_try_draft_add_after(second, first->afters.items[i], error);
    if (!status && before != CTS_TRIAL_NONE)
        status = cts_try_draft_add_after(second, before, error);
    return status;
}

static void drop_waits(struct cts_try_draft *draft)
{
    for (uint32_t i = 0; i < draft->options->stretch->op_count; i++)
        if (op_at(draft, i)->kind == CTS_TRIAL_WAIT && op_at(draft, i)->number != CTS_TRIAL_NONE)
            draft->entries[i].is_dropped = true;
}

static void serialize(struct cts_try_draft *draft)
{
    for (uint32_t i = 0; i < draft->options->stretch->op_count; i++)
        draft->entries[i].host_waits = op_at(draft, i)->kind != CTS_TRIAL_WAIT;
}

static enum cts_status apply(struct cts_try_draft *draft, const struct cts_try_change *change,
                             struct cts_error *error)
{
    switch (change->kind) {
    case CTS_TRY_DROP:
    case CTS_TRY_COPY_AWAY:
        draft->entries[change->op].is_dropped = true;
        return CTS_OK;
    case CTS_TRY_REPEAT:
        return repeat(draft, change->op, error);
    case CTS_TRY_DELAY:
        if (op_at(draft, change->op)->kind == CTS_TRIAL_WAIT)
            return cts_fail(error, CTS_USAGE, "--delay takes a launch, copy or memset, not a wait");
        draft->entries[change->op].delay_ns += change->delay_ns;
        return CTS_OK;
    case CTS_TRY_SWAP:
        return swap(draft, change, error);
    case CTS_TRY_OVERLAP:
        return overlap(draft, change, error);
    case CTS_TRY_NO_SYNC:
        drop_waits(draft);
        return CTS_OK;
    case CTS_TRY_SERIAL:
        serialize(draft);
        return CTS_OK;
    case CTS_TRY_ORDER_NEEDED:
    case CTS_TRY_STREAMS:
    case CTS_TRY_CHANGE_KINDS:
        break;
    }
    return CTS_OK;
}

/* ---- reading a copy's source instead ---- */

static uint32_t step_of(const struct cts_trial_plan *plan, uint32_t op)
{
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].op == op) return (uint32_t)i;
    return CTS_TRIAL_NONE;
}

/* Whether a later operation writes all that the copy wrote. */
static bool is_rewritten(const struct cts_try_needs *needs, uint32_t copy, uint64_t bytes)
{
    uint64_t rewritten = 0;
    for (size_t i = 0; i < needs->count; i++)
        if (needs->items[i].from == copy) rewritten += needs->items[i].waw_bytes;
    return rewritten >= bytes;
}

/* Whether the operation reads what a copy of the stretch wrote to the copy's destination. */
static bool reads_a_copy(const struct cts_try_draft *draft, uint32_t reader,
                         const struct cts_trial_op *copy)
{
    const struct cts_try_needs *const needs = draft->options->needs;
    for (size_t i = 0; i < needs->count; i++)
        if (needs->items[i].to == reader && needs->items[i].raw_bytes &&
            op_at(draft, needs->items[i].from)->kind == CTS_TRIAL_COPY &&
            op_at(draft, needs->items[i].from)->destination == copy->destination)
            return true;
    return false;
}

/* Whether the stretch begins between an earlier copy to the destination and its reader. */
static bool is_live_before(const struct cts_try_draft *draft, const struct cts_trial_op *copy)
{
    const struct cts_try_needs *const needs = draft->options->needs;
    for (size_t i = 0; i < needs->count; i++) {
        const struct cts_trial_op *const to = op_at(draft, needs->items[i].to);
        if (needs->items[i].war_bytes && to->kind == CTS_TRIAL_COPY &&
            to->destination == copy->destination &&
            !reads_a_copy(draft, needs->items[i].from, copy))
            return true;
    }
    return false;
}

static enum cts_status copy_away(const struct cts_try_draft *draft, uint32_t copy,
                                 struct cts_trial_plan *plan, struct cts_error *error)
{
    const struct cts_try_needs *const needs = draft->options->needs;
    const struct cts_trial_op *const op = op_at(draft, copy);
    enum cts_status status = need_data(draft, "copy-away", error);
    if (status) return status;
    if (op->kind != CTS_TRIAL_COPY || strcmp(op->name, "DtoD") != 0 || !op->is_linear)
        return cts_fail(error, CTS_USAGE,
                        "--copy-away takes a contiguous copy from device to device");
    for (size_t i = 0; i < needs->count && !status; i++) {
        const struct cts_try_need *const need = &needs->items[i];
        const uint32_t step = step_of(plan, need->to);
        if (need->from != copy || !need->raw_bytes || step == CTS_TRIAL_NONE) continue;
        status = cts_trial_plan_add_pointer(
            plan, &(struct cts_trial_pointer){step, op->destination, op->bytes, op->source}, error);
    }
    if (!status && !is_rewritten(needs, copy, op->bytes) && !is_live_before(draft, op))
        status = cts_trial_plan_add_unused(
            plan, &(struct cts_trial_range){op->destination, op->bytes}, error);
    return status;
}

/* ---- the whole ---- */

/* Order by data comes first: other changes refer to what it leaves. */
static enum cts_status schedule(struct cts_try_draft *draft, const struct cts_try_change *changes,
                                size_t count, struct cts_error *error)
{
    bool is_asked = false;
    uint32_t streams = 0;
    for (size_t i = 0; i < count; i++) {
        is_asked |= changes[i].kind == CTS_TRY_ORDER_NEEDED || changes[i].kind == CTS_TRY_STREAMS;
        if (changes[i].kind == CTS_TRY_STREAMS) streams = changes[i].streams;
    }
    if (!is_asked) return CTS_OK;
    const enum cts_status status = need_data(draft, streams ? "streams" : "order needed", error);
    return status ? status : cts_try_draft_schedule(draft, streams, error);
}

enum cts_status cts_try_plan(const struct cts_try_plan_options *options,
                             const struct cts_try_change *changes, size_t count,
                             struct cts_trial_plan *plan, struct cts_error *error)
{
    struct cts_try_draft draft;
    *plan = (struct cts_trial_plan){.is_baseline = !count};
    enum cts_status status = cts_try_draft_make(options, &draft, error);
    if (!status) status = schedule(&draft, changes, count, error);
    for (size_t i = 0; i < count && !status; i++) status = apply(&draft, &changes[i], error);
    if (!status) status = cts_try_draft_write(&draft, plan, error);
    for (size_t i = 0; i < count && !status; i++)
        if (changes[i].kind == CTS_TRY_COPY_AWAY)
            status = copy_away(&draft, changes[i].op, plan, error);
    for (size_t i = 0; i < options->dead_count && count && !status; i++)
        status = cts_trial_plan_add_dead(plan, &options->dead[i], error);
    cts_try_draft_release(&draft);
    if (status) cts_trial_plan_release(plan);
    return status;
}
