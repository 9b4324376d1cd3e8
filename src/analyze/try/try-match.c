#include "analyze/try/try-match.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"

struct numbers {
    uint32_t *op_of_launch, *op_of_copy, *op_of_wait; /* by number */
    size_t launch_count, copy_count, wait_count;
};

static size_t count_of(const struct cts_stretch *stretch, bool (*is_kind)(uint32_t kind))
{
    size_t count = 0;
    for (size_t i = 0; i < stretch->op_count; i++) {
        const struct cts_trial_op *const op = &stretch->ops[i];
        if (is_kind(op->kind) && op->number != CTS_TRIAL_NONE && op->number >= count)
            count = (size_t)op->number + 1;
    }
    return count;
}

static bool is_launch(uint32_t kind)
{
    return kind == CTS_TRIAL_LAUNCH;
}
static bool is_copy(uint32_t kind)
{
    return kind == CTS_TRIAL_COPY || kind == CTS_TRIAL_MEMSET;
}
static bool is_wait(uint32_t kind)
{
    return kind == CTS_TRIAL_WAIT;
}

static uint32_t *index_ops(const struct cts_stretch *stretch, bool (*is_kind)(uint32_t kind),
                           size_t *count, struct cts_error *error)
{
    *count = count_of(stretch, is_kind);
    uint32_t *const ops = cts_array_zeroed(*count, sizeof *ops, error);
    for (size_t i = 0; ops && i < *count; i++) ops[i] = CTS_TRIAL_NONE;
    for (size_t i = 0; ops && i < stretch->op_count; i++) {
        const struct cts_trial_op *const op = &stretch->ops[i];
        if (is_kind(op->kind) && op->number != CTS_TRIAL_NONE) ops[op->number] = (uint32_t)i;
    }
    return ops;
}

static uint32_t look_up(const uint32_t *ops, size_t count, uint32_t number)
{
    return number < count ? ops[number] : CTS_TRIAL_NONE;
}

/* ---- checks ---- */

static enum cts_status check_launch(const struct cts_try_match *match,
                                    const struct cts_launch *launch, uint32_t index,
                                    struct cts_error *error)
{
    const struct cts_trial_op *const op = &match->stretch->ops[index];
    const struct cts_catalogue *const c = match->flow->catalogue;
    const char *const name = c->kernels[launch->kernel].name;
    const char *const mangled = c->kernels[launch->kernel].mangled;
    if (strcmp(name, op->name) != 0 && (!mangled || strcmp(mangled, op->name) != 0))
        return cts_fail(error, CTS_USAGE,
                        "the recording is not of this execution: its launch %u is kernel '%.200s', "
                        "not '%.200s'",
                        launch->launch, name, op->name);
    if (memcmp(launch->grid, op->grid, sizeof op->grid) != 0 ||
        memcmp(launch->block, op->block, sizeof op->block) != 0 || launch->ordinal != op->ordinal)
        return cts_fail(error, CTS_USAGE,
                        "the recording is not of this execution: its launch %u of '%.200s' has "
                        "another grid, block or place in its stream",
                        launch->launch, name);
    return CTS_OK;
}

static enum cts_status check_copy(const struct cts_try_match *match, const struct cts_copy *copy,
                                  uint32_t index, struct cts_error *error)
{
    const struct cts_trial_op *const op = &match->stretch->ops[index];
    if (copy->width_bytes * copy->height * copy->depth == op->bytes) return CTS_OK;
    return cts_fail(error, CTS_USAGE,
                    "the recording is not of this execution: its copy %u has %llu bytes, not %llu",
                    copy->copy,
                    (unsigned long long)(copy->width_bytes * copy->height * copy->depth),
                    (unsigned long long)op->bytes);
}

/* ---- the map ---- */

static enum cts_status map_node(struct cts_try_match *match, const struct numbers *numbers,
                                size_t node, struct cts_error *error)
{
    const struct cts_catalogue *const c = match->flow->catalogue;
    const struct cts_flow_node *const n = &match->flow->order.nodes[node];
    uint32_t *const op = &match->op_of_node[node];
    *op = CTS_TRIAL_NONE;
    if (n->kind == CTS_FLOW_LAUNCH) {
        const struct cts_launch *const launch = &c->launches[n->index];
        *op = look_up(numbers->op_of_launch, numbers->launch_count, launch->launch);
        return *op == CTS_TRIAL_NONE ? CTS_OK : check_launch(match, launch, *op, error);
    }
    if (n->kind == CTS_FLOW_COPY || n->kind == CTS_FLOW_MEMSET) {
        const struct cts_copy *const copy = &c->copies[n->index];
        *op = look_up(numbers->op_of_copy, numbers->copy_count, copy->copy);
        return *op == CTS_TRIAL_NONE ? CTS_OK : check_copy(match, copy, *op, error);
    }
    return CTS_OK;
}

/* Rows that wait for something to end have the numbers of the program's waits, in their order. */
static void map_syncs(struct cts_try_match *match, const struct numbers *numbers)
{
    const struct cts_catalogue *const c = match->flow->catalogue;
    uint32_t number = 0;
    for (size_t i = 0; i < c->sync_count; i++) {
        match->op_of_sync[i] = cts_flow_is_wait(&c->syncs[i])
                                   ? look_up(numbers->op_of_wait, numbers->wait_count, number++)
                                   : CTS_TRIAL_NONE;
    }
}

/* `number`: of the allocation among those of device memory. */
static bool is_partner(const struct cts_allocation *a, uint32_t number,
                       const struct cts_trial_region *region)
{
    const bool is_device = strcmp(a->kind, "device") == 0;
    const bool is_same = region->number == CTS_TRIAL_NONE ? a->address == region->address
                                                          : is_device && number == region->number;
    return is_same && a->size_bytes == region->size_bytes && region->op == CTS_TRIAL_NONE;
}

/* The recording is another execution: allocations are those of the stretch where number (or
 * address, where numbers are not known) and size are the same. */
static enum cts_status map_allocations(struct cts_try_match *match, struct cts_error *error)
{
    const struct cts_catalogue *const c = match->flow->catalogue;
    uint32_t number = 0;
    match->region_of_allocation =
        cts_array_zeroed(c->allocation_count, sizeof *match->region_of_allocation, error);
    if (!match->region_of_allocation) return CTS_MEMORY;
    for (size_t i = 0; i < c->allocation_count; i++) {
        uint32_t *const region = &match->region_of_allocation[i];
        *region = CTS_TRIAL_NONE;
        for (size_t k = 0; k < match->stretch->region_count && *region == CTS_TRIAL_NONE; k++)
            if (is_partner(&c->allocations[i], number, &match->stretch->regions[k]))
                *region = (uint32_t)k;
        number += strcmp(c->allocations[i].kind, "device") == 0;
    }
    return CTS_OK;
}

/* Every operation of the stretch has to be in the recording. */
static enum cts_status check_all(const struct cts_try_match *match, struct cts_error *error)
{
    size_t found = 0, asked = 0;
    for (size_t i = 0; i < match->flow->order.node_count; i++)
        found += match->op_of_node[i] != CTS_TRIAL_NONE;
    for (size_t i = 0; i < match->stretch->op_count; i++)
        asked += match->stretch->ops[i].kind != CTS_TRIAL_WAIT;
    if (found >= asked) return CTS_OK;
    return cts_fail(
        error, CTS_USAGE,
        "the recording is not of this execution: it has %zu of the %zu launches, copies "
        "and memsets of the stretch",
        found, asked);
}

enum cts_status cts_try_match_make(const struct cts_flow_result *flow,
                                   const struct cts_stretch *stretch, struct cts_try_match *match,
                                   struct cts_error *error)
{
    struct numbers n = {0};
    *match = (struct cts_try_match){.flow = flow, .stretch = stretch};
    if (flow->catalogue->rank_count > 1)
        return cts_fail(error, CTS_USAGE, "the recording has %zu processes; try takes one of one",
                        flow->catalogue->rank_count);
    const size_t nodes = flow->order.node_count, syncs = flow->catalogue->sync_count;
    match->op_of_node = cts_array_zeroed(nodes, sizeof *match->op_of_node, error);
    match->op_of_sync = cts_array_zeroed(syncs, sizeof *match->op_of_sync, error);
    n.op_of_launch = index_ops(stretch, is_launch, &n.launch_count, error);
    n.op_of_copy = index_ops(stretch, is_copy, &n.copy_count, error);
    n.op_of_wait = index_ops(stretch, is_wait, &n.wait_count, error);
    const bool good =
        match->op_of_node && match->op_of_sync && n.op_of_launch && n.op_of_copy && n.op_of_wait;
    enum cts_status status = good ? CTS_OK : CTS_MEMORY;
    for (size_t i = 0; i < nodes && !status; i++) status = map_node(match, &n, i, error);
    if (!status) map_syncs(match, &n);
    if (!status) status = check_all(match, error);
    free(n.op_of_launch);
    free(n.op_of_copy);
    free(n.op_of_wait);
    if (!status) status = map_allocations(match, error);
    if (status) cts_try_match_release(match);
    return status;
}

void cts_try_match_release(struct cts_try_match *match)
{
    free(match->op_of_node);
    free(match->op_of_sync);
    free(match->region_of_allocation);
    *match = (struct cts_try_match){0};
}
