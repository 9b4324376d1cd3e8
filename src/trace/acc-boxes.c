/* Boxes in a decoded chunk become records of lanes (trace/box.h), from the last record to the
 * first, so that the columns serve both. */
#include <stdlib.h>
#include <string.h>

#include "trace/acc-decode.h"

static bool is_box(const struct cts_acc_batch *batch, size_t record)
{
    return batch->pattern[record] == CTS_ACC_PATTERN_BOX;
}

static enum cts_status check_box(const struct cts_acc_batch *batch, size_t record,
                                 struct cts_error *error)
{
    const struct cts_box box = cts_box_get(batch->offsets + batch->offset_start[record]);
    const uint32_t mask = batch->mask[record], rows = cts_box_rows(&box);
    const uint32_t records = rows ? cts_box_plan_of(&box).record_count : 0;
    if (rows && !(mask & (mask - 1)) && (uint32_t)batch->s0[record] == rows &&
        (uint32_t)batch->s1[record] == records)
        return CTS_OK;
    return cts_fail(error, CTS_FORMAT,
                    "a box of %u x %u x %u x %u rows, mask 0x%08x, says %d rows in %d records",
                    box.extents[0], box.extents[1], box.extents[2], box.extents[3], mask,
                    batch->s0[record], batch->s1[record]);
}

/* How many records the first `record_count` ones become. */
static enum cts_status count_records(const struct cts_acc_batch *batch, size_t record_count,
                                     uint64_t *count, struct cts_error *error)
{
    *count = record_count;
    for (size_t i = 0; i < record_count; i++) {
        if (!is_box(batch, i)) continue;
        const enum cts_status status = check_box(batch, i, error);
        if (status) return status;
        *count += (uint32_t)batch->s1[i] - UINT64_C(1);
    }
    return CTS_OK;
}

static enum cts_status reserve_column(struct cts_acc_batch *batch, struct cts_error *error)
{
    struct cts_acc_batch_private *const p = batch->private_data;
    if (batch->record_count > p->box_capacity) {
        free(p->box);
        p->box = malloc(batch->record_count);
        p->box_capacity = p->box ? batch->record_count : 0;
        if (!p->box) return cts_acc_fail_memory(error);
    }
    batch->box = p->box;
    memset(batch->box, CTS_BOX_NONE, batch->record_count);
    return CTS_OK;
}

static void move_record(struct cts_acc_batch *batch, size_t to, size_t from)
{
    batch->cta[to] = batch->cta[from];
    batch->site[to] = batch->site[from];
    batch->mask[to] = batch->mask[from];
    batch->warp[to] = batch->warp[from];
    batch->space[to] = batch->space[from];
    batch->pattern[to] = batch->pattern[from];
    batch->row_lanes[to] = batch->row_lanes[from];
    batch->s0[to] = batch->s0[from];
    batch->s1[to] = batch->s1[from];
    batch->base[to] = batch->base[from];
    batch->value_words[to] = batch->value_words[from];
    batch->offset_start[to] = batch->offset_start[from];
    batch->value_start[to] = batch->value_start[from];
}

/* Makes the records from `to` on of the box at `from`, which does not stand behind them. */
static void expand_box(struct cts_acc_batch *batch, size_t to, size_t from)
{
    const struct cts_box box = cts_box_get(batch->offsets + batch->offset_start[from]);
    const struct cts_box_plan plan = cts_box_plan_of(&box);
    const uint64_t base = batch->base[from];
    const uint8_t lane = (uint8_t)__builtin_ctz(batch->mask[from]);
    for (uint32_t k = plan.record_count; k-- > 0;) {
        const struct cts_box_record record = cts_box_record_of(&plan, k);
        move_record(batch, to + k, from);
        batch->base[to + k] = base + record.offset;
        batch->mask[to + k] = record.mask;
        batch->s0[to + k] = record.s0;
        batch->s1[to + k] = record.s1;
        batch->pattern[to + k] = record.pattern;
        batch->row_lanes[to + k] = record.row_lanes;
        batch->value_words[to + k] = lane;
        batch->box[to + k] = k ? CTS_BOX_CONTINUES : CTS_BOX_BEGINS;
    }
}

enum cts_status cts_acc_expand_boxes(struct cts_acc_batch *batch, size_t record_count,
                                     struct cts_error *error)
{
    uint64_t count;
    enum cts_status status = count_records(batch, record_count, &count, error);
    if (status) return status;
    if (count != batch->record_count)
        return cts_fail(error, CTS_FORMAT, "%llu records differ from the header's %zu",
                        (unsigned long long)count, batch->record_count);
    status = reserve_column(batch, error);
    if (status) return status;
    size_t to = batch->record_count, barrier = batch->barrier_count;
    for (size_t i = record_count; i-- > 0;) {
        for (; barrier && batch->barriers[barrier - 1].before > i; barrier--)
            batch->barriers[barrier - 1].before = (uint32_t)to;
        to -= is_box(batch, i) ? (uint32_t)batch->s1[i] : 1;
        if (is_box(batch, i))
            expand_box(batch, to, i);
        else if (to != i)
            move_record(batch, to, i);
    }
    return CTS_OK;
}
