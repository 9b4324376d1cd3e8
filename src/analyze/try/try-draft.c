#include "analyze/try/try-draft.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"

void cts_try_draft_release(struct cts_try_draft *draft)
{
    for (size_t i = 0; draft->entries && i < draft->options->stretch->op_count; i++)
        free(draft->entries[i].afters.items);
    free(draft->entries);
    free(draft->order);
    *draft = (struct cts_try_draft){0};
}

enum cts_status cts_try_draft_add_after(struct cts_try_entry *entry, uint32_t op,
                                        struct cts_error *error)
{
    for (size_t i = 0; i < entry->afters.count; i++)
        if (entry->afters.items[i] == op) return CTS_OK;
    if (CTS_ARRAY_RESERVE(&entry->afters, entry->afters.count + 1, error)) return CTS_MEMORY;
    entry->afters.items[entry->afters.count++] = op;
    return CTS_OK;
}

static enum cts_status draft_op(struct cts_try_draft *draft, uint32_t index,
                                struct cts_error *error)
{
    const struct cts_stretch *const stretch = draft->options->stretch;
    const struct cts_trial_op *const op = &stretch->ops[index];
    struct cts_try_entry *const entry = &draft->entries[index];
    entry->lane = op->stream;
    entry->times = 1;
    entry->keeps_lane = op->kind != CTS_TRIAL_WAIT;
    entry->host_waits = op->host_waits != 0;
    entry->gap_ns = draft->options->keeps_gaps ? op->gap_ns : 0;
    draft->order[index] = index;
    if (op->kind != CTS_TRIAL_WAIT && op->stream >= draft->lane_count)
        draft->lane_count = op->stream + 1;
    enum cts_status status = CTS_OK;
    for (uint32_t i = 0; i < op->after_count && !status; i++)
        status = cts_try_draft_add_after(entry, stretch->afters[op->after_first + i], error);
    return status;
}

enum cts_status cts_try_draft_make(const struct cts_try_plan_options *options,
                                   struct cts_try_draft *draft, struct cts_error *error)
{
    const size_t count = options->stretch->op_count;
    *draft = (struct cts_try_draft){.options = options};
    draft->entries = cts_array_zeroed(count, sizeof *draft->entries, error);
    draft->order = cts_array_zeroed(count, sizeof *draft->order, error);
    enum cts_status status = draft->entries && draft->order ? CTS_OK : CTS_MEMORY;
    for (uint32_t i = 0; i < count && !status; i++) status = draft_op(draft, i, error);
    return status;
}

uint32_t cts_try_draft_before(const struct cts_try_draft *draft, uint32_t op)
{
    uint32_t before = CTS_TRIAL_NONE;
    for (size_t i = 0; i < draft->options->stretch->op_count; i++) {
        const uint32_t other = draft->order[i];
        const struct cts_try_entry *const entry = &draft->entries[other];
        if (other == op) return before;
        if (entry->keeps_lane && !entry->is_dropped && entry->lane == draft->entries[op].lane)
            before = other;
    }
    return before;
}

/* ---- steps ---- */

struct writer {
    const struct cts_try_draft *draft;
    struct cts_trial_plan *plan;
    uint32_t *step_of; /* by operation: its last step; CTS_TRIAL_NONE: none yet */
    bool *seen;        /* by operation, while afters are looked for */
    uint64_t skipped_gap_ns;
};

/* Adds the step of an operation, or what an operation without steps would come after. */
static enum cts_status write_after(struct writer *writer, uint32_t op, struct cts_error *error)
{
    if (writer->seen[op]) return CTS_OK;
    writer->seen[op] = true;
    if (writer->step_of[op] != CTS_TRIAL_NONE)
        return cts_trial_plan_add_after(writer->plan, writer->step_of[op], error);
    const struct cts_try_entry *const entry = &writer->draft->entries[op];
    enum cts_status status = CTS_OK;
    if (!entry->is_dropped) return CTS_OK; /* it comes later now */
    for (size_t i = 0; i < entry->afters.count && !status; i++)
        status = write_after(writer, entry->afters.items[i], error);
    return status;
}

static enum cts_status write_op(struct writer *writer, uint32_t op, struct cts_error *error)
{
    const struct cts_try_entry *const entry = &writer->draft->entries[op];
    const size_t op_count = writer->draft->options->stretch->op_count;
    const bool is_wait = writer->draft->options->stretch->ops[op].kind == CTS_TRIAL_WAIT;
    const struct cts_trial_step step = {.op = is_wait ? CTS_TRIAL_NONE : op,
                                        .lane = entry->lane,
                                        .host_waits = entry->host_waits,
                                        .gap_ns = entry->gap_ns + writer->skipped_gap_ns,
                                        .delay_ns = entry->delay_ns,
                                        .is_urgent = entry->is_urgent,
                                        .is_programmatic = entry->is_programmatic};
    writer->skipped_gap_ns = 0;
    enum cts_status status = cts_trial_plan_add_step(writer->plan, &step, error);
    memset(writer->seen, 0, op_count * sizeof *writer->seen);
    for (size_t i = 0; i < entry->afters.count && !status; i++)
        status = write_after(writer, entry->afters.items[i], error);
    if (!is_wait) writer->step_of[op] = (uint32_t)writer->plan->step_count - 1;
    return status;
}

enum cts_status cts_try_draft_write(const struct cts_try_draft *draft, struct cts_trial_plan *plan,
                                    struct cts_error *error)
{
    const size_t count = draft->options->stretch->op_count;
    struct writer writer = {.draft = draft, .plan = plan};
    plan->lane_count = draft->lane_count;
    plan->repeats = draft->options->repeats;
    writer.step_of = cts_array_zeroed(count, sizeof *writer.step_of, error);
    writer.seen = cts_array_zeroed(count, sizeof *writer.seen, error);
    enum cts_status status = writer.step_of && writer.seen ? CTS_OK : CTS_MEMORY;
    for (size_t i = 0; i < count && !status; i++) writer.step_of[i] = CTS_TRIAL_NONE;
    for (size_t i = 0; i < count && !status; i++) {
        const uint32_t op = draft->order[i];
        const struct cts_try_entry *const entry = &draft->entries[op];
        if (entry->is_dropped) writer.skipped_gap_ns += entry->gap_ns;
        for (uint32_t k = 0; k < entry->times && !entry->is_dropped && !status; k++)
            status = write_op(&writer, op, error);
    }
    free(writer.step_of);
    free(writer.seen);
    return status;
}
