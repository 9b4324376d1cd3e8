/* Rows of a box and the records that they are handed over in. */
#include "trace/box.h"

uint32_t cts_box_rows(const struct cts_box *box)
{
    uint64_t rows = 1;
    for (unsigned d = 0; d < CTS_BOX_DIMENSIONS; d++) {
        rows *= box->extents[d];
        if (!rows || rows > CTS_BOX_ROWS_MAX) return 0;
    }
    return (uint32_t)rows;
}

uint64_t cts_box_span(const struct cts_box *box)
{
    uint64_t span = 0;
    for (unsigned d = 0; d < CTS_BOX_DIMENSIONS; d++)
        span += box->strides[d] * (box->extents[d] - UINT64_C(1));
    return span;
}

void cts_box_put(const struct cts_box *box, uint32_t words[CTS_BOX_WORDS])
{
    for (unsigned d = 0; d < CTS_BOX_DIMENSIONS; d++) {
        words[d] = box->extents[d];
        words[CTS_BOX_DIMENSIONS + d] = (uint32_t)box->strides[d];
        words[2 * CTS_BOX_DIMENSIONS + d] = (uint32_t)(box->strides[d] >> 32);
    }
    words[3 * CTS_BOX_DIMENSIONS] = box->multicast;
}

struct cts_box cts_box_get(const uint32_t words[CTS_BOX_WORDS])
{
    struct cts_box box = {.multicast = words[3 * CTS_BOX_DIMENSIONS]};
    for (unsigned d = 0; d < CTS_BOX_DIMENSIONS; d++) {
        box.extents[d] = words[d];
        box.strides[d] = words[CTS_BOX_DIMENSIONS + d] | (uint64_t)words[2 * CTS_BOX_DIMENSIONS + d]
                                                             << 32;
    }
    return box;
}

static uint32_t parts_of(uint32_t count, uint32_t step)
{
    return (count + step - 1) / step;
}

struct cts_box_plan cts_box_plan_of(const struct cts_box *box)
{
    struct cts_box_plan plan = {.extents = {1, 1, 1, 1}, .steps = {1, 1}};
    unsigned dimensions = 0;
    for (unsigned d = 0; d < CTS_BOX_DIMENSIONS; d++) {
        if (box->extents[d] == 1) continue;
        plan.extents[dimensions] = box->extents[d];
        plan.strides[dimensions++] = box->strides[d];
    }
    const uint32_t rows = plan.extents[0];
    if (plan.strides[0] <= INT32_MAX) plan.steps[0] = rows < CTS_WARP_LANES ? rows : CTS_WARP_LANES;
    if (plan.steps[0] == rows && rows > 1 && plan.strides[1] <= INT32_MAX)
        plan.steps[1] = CTS_WARP_LANES / rows;
    if (plan.steps[1] > plan.extents[1]) plan.steps[1] = plan.extents[1];
    plan.record_count = parts_of(rows, plan.steps[0]) * parts_of(plan.extents[1], plan.steps[1]) *
                        plan.extents[2] * plan.extents[3];
    return plan;
}

/* Rows of a dimension that part `part` of it has. */
static uint32_t rows_of_part(uint32_t count, uint32_t step, uint32_t part)
{
    const uint32_t left = count - part * step;
    return left < step ? left : step;
}

struct cts_box_record cts_box_record_of(const struct cts_box_plan *plan, uint32_t index)
{
    const uint32_t parts[2] = {parts_of(plan->extents[0], plan->steps[0]),
                               parts_of(plan->extents[1], plan->steps[1])};
    const uint32_t first = index % parts[0], second = index / parts[0] % parts[1];
    const uint32_t outer = index / parts[0] / parts[1];
    const uint32_t across = rows_of_part(plan->extents[0], plan->steps[0], first);
    const uint32_t down = rows_of_part(plan->extents[1], plan->steps[1], second);
    const uint32_t rows = across * down;
    struct cts_box_record record = {
        .offset = plan->strides[0] * first * plan->steps[0] +
                  plan->strides[1] * second * plan->steps[1] +
                  plan->strides[2] * (outer % plan->extents[2]) +
                  plan->strides[3] * (outer / plan->extents[2]),
        .mask = rows == CTS_WARP_LANES ? UINT32_MAX : (UINT32_C(1) << rows) - 1,
        .pattern = rows == 1 ? CTS_PATTERN_UNIFORM : CTS_PATTERN_AFFINE,
    };
    if (rows > 1) record.s0 = (int32_t)plan->strides[0];
    if (down == 1) return record;
    record.pattern = CTS_PATTERN_TWO_LEVEL;
    record.row_lanes = (uint8_t)across;
    record.s1 = (int32_t)plan->strides[1];
    return record;
}
