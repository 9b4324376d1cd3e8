#include "analyze/try/try-plan.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/try/try-buffers.h"
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
    /* what came after the second came after the first, which was before it */
    enum cts_status status = follow_both(draft, change, error);
    if (!status) status = leave_lane(draft, change->other, error);
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

/* The host asks for a graph at once. */
static enum cts_status drop_gaps(struct cts_try_draft *draft, struct cts_error *error)
{
    for (size_t i = 0; i < draft->options->stretch->op_count; i++) {
        struct cts_try_entry *const entry = &draft->entries[i];
        if (op_at(draft, (uint32_t)i)->kind != CTS_TRIAL_WAIT) entry->gap_ns = 0;
        if (entry->is_urgent || entry->is_programmatic)
            return cts_fail(error, CTS_USAGE, "--graph goes without --priority and --pdl");
    }
    return CTS_OK;
}

static enum cts_status need_ability(const struct cts_try_draft *draft, uint32_t ability,
                                    const char *option, struct cts_error *error)
{
    const struct cts_stretch *const stretch = draft->options->stretch;
    if (stretch->can & ability) return CTS_OK;
    return cts_fail(error, CTS_USAGE, "--%s cannot be tried on the %s", option, stretch->device);
}

static enum cts_status raise_priority(struct cts_try_draft *draft, uint32_t op,
                                      struct cts_error *error)
{
    if (op_at(draft, op)->kind == CTS_TRIAL_WAIT)
        return cts_fail(error, CTS_USAGE, "--priority takes a launch, copy or memset, not a wait");
    draft->entries[op].is_urgent = true;
    return need_ability(draft, CTS_TRIAL_CAN_PRIORITY, "priority", error);
}

static enum cts_status launch_early(struct cts_try_draft *draft, uint32_t op,
                                    struct cts_error *error)
{
    const uint32_t before = cts_try_draft_before(draft, op);
    const enum cts_status status = need_ability(draft, CTS_TRIAL_CAN_PDL, "pdl", error);
    if (status) return status;
    if (op_at(draft, op)->kind != CTS_TRIAL_LAUNCH || before == CTS_TRIAL_NONE ||
        op_at(draft, before)->kind != CTS_TRIAL_LAUNCH || !op_at(draft, op)->grid[0] ||
        !op_at(draft, before)->grid[0])
        return cts_fail(error, CTS_USAGE,
                        "--pdl takes a launch of a kernel that follows another one in its stream");
    draft->entries[op].is_programmatic = true;
    return CTS_OK;
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
    case CTS_TRY_GRAPH:
        return drop_gaps(draft, error);
    case CTS_TRY_PRIORITY:
        return raise_priority(draft, change->op, error);
    case CTS_TRY_PDL:
        return launch_early(draft, change->op, error);
    case CTS_TRY_ORDER:
    case CTS_TRY_STREAMS:
    case CTS_TRY_SECOND_BUFFER:
    case CTS_TRY_CTA_ORDER:
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
        status = cts_trial_plan_add_pointer(plan,
                                            &(struct cts_trial_pointer){.step = step,
                                                                        .buffer = CTS_TRIAL_NONE,
                                                                        .from = op->destination,
                                                                        .size_bytes = op->bytes,
                                                                        .to = op->source},
                                            error);
    }
    if (status || is_rewritten(needs, copy, op->bytes)) return status;
    /* who reads it after the stretch reads the source, too */
    status = cts_trial_plan_add_pointer(plan,
                                        &(struct cts_trial_pointer){.step = CTS_TRIAL_NONE,
                                                                    .buffer = CTS_TRIAL_NONE,
                                                                    .from = op->destination,
                                                                    .size_bytes = op->bytes,
                                                                    .to = op->source},
                                        error);
    if (!status && !is_live_before(draft, op))
        status = cts_trial_plan_add_unused(
            plan, &(struct cts_trial_range){op->destination, op->bytes}, error);
    return status;
}

/* ---- second buffers ---- */

/* The plan, and what second buffers make of the stretch. */
struct renaming {
    const struct cts_try_plan_options *options;
    struct cts_try_renamed renamed;
    struct cts_trial_plan *plan;
    bool is_used;
};

static uint32_t times_given(const struct cts_try_change *changes, size_t count, uint32_t region)
{
    uint32_t times = 0;
    for (size_t i = 0; i < count; i++)
        times += changes[i].kind == CTS_TRY_SECOND_BUFFER && changes[i].region == region;
    return times;
}

static enum cts_status rename_one(struct renaming *renaming,
                                  const struct cts_try_second_buffer *wish, struct cts_error *error)
{
    const struct cts_stretch *const stretch = renaming->options->stretch;
    struct cts_try_renamed *const renamed = &renaming->renamed;
    enum cts_status status =
        cts_try_rename(stretch, renaming->is_used ? &renamed->needs : renaming->options->needs,
                       wish, renamed, error);
    renaming->is_used |= !status;
    for (uint32_t i = 0; i < wish->extra && !status; i++)
        status = cts_trial_plan_add_buffer(renaming->plan,
                                           stretch->regions[wish->region].size_bytes, error);
    return status;
}

static enum cts_status rename_all(const struct cts_try_draft *draft,
                                  const struct cts_try_change *changes, size_t count,
                                  struct renaming *renaming, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < count && !status; i++) {
        const uint32_t region = changes[i].region;
        if (changes[i].kind != CTS_TRY_SECOND_BUFFER || times_given(changes, i, region)) continue;
        const struct cts_try_second_buffer wish = {region, times_given(changes, count, region),
                                                   (uint32_t)renaming->plan->buffer_count};
        status = need_data(draft, "second-buffer", error);
        if (!status) status = rename_one(renaming, &wish, error);
    }
    return status;
}

static enum cts_status add_place(const struct cts_stretch *stretch,
                                 const struct cts_try_placing *place, uint32_t step,
                                 struct cts_trial_plan *plan, struct cts_error *error)
{
    const struct cts_trial_region *const region = &stretch->regions[place->region];
    const struct cts_trial_pointer pointer = {
        step, place->buffer, true, region->address, region->size_bytes, 0};
    return cts_trial_plan_add_pointer(plan, &pointer, error);
}

static enum cts_status add_places(const struct cts_stretch *stretch,
                                  const struct cts_try_placings *places,
                                  struct cts_trial_plan *plan, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < places->count && !status; i++) {
        const struct cts_try_placing *const place = &places->items[i];
        if (place->op == CTS_TRIAL_NONE)
            status = add_place(stretch, place, CTS_TRIAL_NONE, plan, error);
        for (uint32_t step = 0; step < plan->step_count && !status; step++)
            if (place->op != CTS_TRIAL_NONE && plan->steps[step].op == place->op)
                status = add_place(stretch, place, step, plan, error);
    }
    return status;
}

/* ---- the order of CTAs ---- */

static enum cts_status order_step(const struct cts_try_draft *draft, uint32_t step,
                                  const struct cts_try_cta_order *order,
                                  struct cts_trial_plan *plan, struct cts_error *error)
{
    uint32_t *ctas = NULL;
    const struct cts_trial_op *const op = op_at(draft, plan->steps[step].op);
    enum cts_status status = cts_try_order_ctas(order, op->grid, &ctas, error);
    if (!status)
        status = cts_trial_plan_set_ctas(plan, step, ctas, op->grid[0] * op->grid[1] * op->grid[2],
                                         error);
    free(ctas);
    return status;
}

static enum cts_status order_ctas(const struct cts_try_draft *draft,
                                  const struct cts_try_change *change, struct cts_trial_plan *plan,
                                  struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (!(draft->options->stretch->can & CTS_TRIAL_CAN_CTA_ORDER))
        return cts_fail(error, CTS_USAGE,
                        "--cta-order is tried on the CPU device: the program is not built by "
                        "'ctascope cc' for it");
    if (change->op != CTS_TRIAL_NONE && op_at(draft, change->op)->kind != CTS_TRIAL_LAUNCH)
        return cts_fail(error, CTS_USAGE, "--cta-order takes a launch");
    for (uint32_t i = 0; i < plan->step_count && !status; i++) {
        const uint32_t op = plan->steps[i].op;
        if (op == CTS_TRIAL_NONE || op_at(draft, op)->kind != CTS_TRIAL_LAUNCH ||
            plan->steps[i].cta_count || (change->op != CTS_TRIAL_NONE && change->op != op))
            continue;
        status = order_step(draft, i, change->cta_order, plan, error);
    }
    return status;
}

/* ---- the whole ---- */

/* Order by data comes first: other changes refer to what it leaves. */
static enum cts_status schedule(struct cts_try_draft *draft, const struct cts_try_change *changes,
                                size_t count, struct cts_error *error)
{
    bool is_asked = false;
    bool raw_only = false;
    uint32_t streams = 0;
    for (size_t i = 0; i < count; i++) {
        is_asked |= changes[i].kind == CTS_TRY_ORDER || changes[i].kind == CTS_TRY_STREAMS;
        raw_only |= changes[i].kind == CTS_TRY_ORDER && changes[i].raw_only;
        if (changes[i].kind == CTS_TRY_STREAMS) streams = changes[i].streams;
    }
    if (!is_asked) return CTS_OK;
    enum cts_status status = need_data(draft,
                                       raw_only  ? "order true"
                                       : streams ? "streams"
                                                 : "order needed",
                                       error);
    if (!status && raw_only)
        status = cts_try_check_true_order(draft->options->stretch, draft->options->needs, error);
    return status ? status : cts_try_draft_schedule(draft, streams, error);
}

/* What needs the steps of the plan. */
static enum cts_status finish(const struct cts_try_draft *draft,
                              const struct cts_try_change *changes, size_t count,
                              struct cts_trial_plan *plan, struct cts_error *error)
{
    const struct cts_try_plan_options *const options = draft->options;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < count && !status; i++) {
        if (changes[i].kind == CTS_TRY_COPY_AWAY)
            status = copy_away(draft, changes[i].op, plan, error);
        if (changes[i].kind == CTS_TRY_CTA_ORDER)
            status = order_ctas(draft, &changes[i], plan, error);
        plan->is_graph |= changes[i].kind == CTS_TRY_GRAPH;
    }
    for (size_t i = 0; i < options->dead_count && count && !status; i++)
        status = cts_trial_plan_add_dead(plan, &options->dead[i], error);
    return status;
}

enum cts_status cts_try_plan(const struct cts_try_plan_options *options,
                             const struct cts_try_change *changes, size_t count,
                             struct cts_trial_plan *plan, struct cts_error *error)
{
    struct cts_try_draft draft;
    struct renaming renaming = {.options = options, .plan = plan};
    struct cts_try_plan_options used = *options;
    *plan = (struct cts_trial_plan){.is_baseline = !count};
    enum cts_status status = cts_try_draft_make(&used, &draft, error);
    if (!status) status = rename_all(&draft, changes, count, &renaming, error);
    if (renaming.is_used) used.needs = &renaming.renamed.needs;
    if (!status) status = schedule(&draft, changes, count, error);
    for (size_t i = 0; i < count && !status; i++) status = apply(&draft, &changes[i], error);
    if (!status) status = cts_try_draft_write(&draft, plan, error);
    if (!status) status = add_places(options->stretch, &renaming.renamed.placings, plan, error);
    if (!status) status = finish(&draft, changes, count, plan, error);
    cts_try_draft_release(&draft);
    cts_try_renamed_release(&renaming.renamed);
    if (status) cts_trial_plan_release(plan);
    return status;
}
