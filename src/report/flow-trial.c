#include "report/flow-trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/flow-words.h"

/* Of a race: longer than what a small stretch takes. `try --all-findings` measures the stretch and
 * delays by twice its time. */
enum { DELAY_US = 10000, OPERATION_BYTES = 32 };

/* ---- the stretch ---- */

struct stretch {
    uint64_t first_op, last_op; /* of what the change is about */
};

static void widen(struct stretch *stretch, uint64_t op)
{
    if (op < stretch->first_op) stretch->first_op = op;
    if (op > stretch->last_op) stretch->last_op = op;
}

static struct stretch stretch_of(const struct cts_flow_result *flow,
                                 const struct cts_flow_finding *f)
{
    struct stretch stretch = {.first_op = UINT64_MAX};
    if (f->node != CTS_NONE) widen(&stretch, cts_flow_node_at(flow, f->node)->op);
    if (f->other != CTS_NONE) widen(&stretch, cts_flow_node_at(flow, f->other)->op);
    if (f->kind == CTS_FLOW_NEEDLESS_WAIT) widen(&stretch, flow->catalogue->syncs[f->sync].op);
    return stretch;
}

/* How many launches have an op of at most `op`. */
static size_t launches_until(const struct cts_catalogue *catalogue, uint64_t op)
{
    size_t low = 0, high = catalogue->launch_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (catalogue->launches[middle].op <= op)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool lies_between(uint64_t op, uint64_t first, uint64_t last)
{
    return first < op && op <= last;
}

/* Behind its last launch a stretch goes on with copies to the host and waits only. */
static bool is_open_until(const struct cts_catalogue *c, uint64_t launch_op, uint64_t op)
{
    for (size_t i = 0; i < c->copy_count; i++)
        if (lies_between(c->copies[i].op, launch_op, op) && strcmp(c->copies[i].kind, "DtoH") != 0)
            return false;
    for (size_t i = 0; i < c->allocation_count; i++)
        if (lies_between(c->allocations[i].op, launch_op, op) ||
            lies_between(c->allocations[i].freed_op, launch_op, op))
            return false;
    return true;
}

/* From the last launch that the stretch can begin with to the first that it can end with. */
static bool find_launches(const struct cts_catalogue *catalogue, const struct stretch *stretch,
                          uint32_t ids[2])
{
    const struct cts_launch *const launches = catalogue->launches;
    const size_t first = launches_until(catalogue, stretch->first_op);
    size_t last = launches_until(catalogue, stretch->last_op);
    if (!first) return false;
    if (is_open_until(catalogue, launches[last - 1].op, stretch->last_op)) last--;
    if (last == catalogue->launch_count) return false;
    ids[0] = launches[first - 1].launch;
    ids[1] = launches[last].launch;
    return true;
}

/* ---- the change ---- */

static void name_operation(const struct cts_flow_result *flow, uint32_t node, char *text,
                           size_t bytes)
{
    const struct cts_catalogue *const c = flow->catalogue;
    const struct cts_flow_node *const n = cts_flow_node_at(flow, node);
    if (n->kind == CTS_FLOW_LAUNCH)
        snprintf(text, bytes, "launch:%u", c->launches[n->index].launch);
    else
        snprintf(text, bytes, "%s:%u", n->kind == CTS_FLOW_MEMSET ? "memset" : "copy",
                 c->copies[n->index].copy);
}

static bool is_operation(const struct cts_flow_result *flow, uint32_t node)
{
    return node != CTS_NONE && cts_flow_node_at(flow, node)->kind <= CTS_FLOW_MEMSET;
}

static uint64_t wait_number(const struct cts_catalogue *catalogue, uint32_t sync)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < sync; i++) number += cts_flow_is_wait(&catalogue->syncs[i]);
    return number;
}

/* False: the change is none, or about what is no operation of a device. */
static bool name_change(const struct cts_flow_result *flow, const struct cts_flow_finding *f,
                        char *text, size_t bytes)
{
    const enum cts_flow_change change = cts_flow_finding_change(f->kind);
    char first[OPERATION_BYTES] = "", second[OPERATION_BYTES] = "";
    if (is_operation(flow, f->node)) name_operation(flow, f->node, first, sizeof first);
    if (is_operation(flow, f->other)) name_operation(flow, f->other, second, sizeof second);
    switch (change) {
    case CTS_FLOW_CHANGE_SOURCE:
    case CTS_FLOW_CHANGE_MEMORY:
        return false;
    case CTS_FLOW_CHANGE_DROP:
        snprintf(text, bytes, "--drop %s", first);
        return *first;
    case CTS_FLOW_CHANGE_DROP_OTHER:
        snprintf(text, bytes, "--drop %s", second);
        return *second;
    case CTS_FLOW_CHANGE_DROP_WAIT:
        snprintf(text, bytes, "--drop wait:%" PRIu64, wait_number(flow->catalogue, f->sync));
        return true;
    case CTS_FLOW_CHANGE_COPY_AWAY:
        snprintf(text, bytes, "--copy-away %s", first);
        return *first;
    case CTS_FLOW_CHANGE_OVERLAP:
        snprintf(text, bytes, "--overlap %s,%s", first, second);
        return *first && *second;
    case CTS_FLOW_CHANGE_DELAY:
        break;
    }
    snprintf(text, bytes, "--delay %s,%d", first, DELAY_US);
    return *first && *second;
}

bool cts_flow_trial_options(const struct cts_flow_result *flow,
                            const struct cts_flow_finding *finding, char *text, size_t bytes)
{
    char change[CTS_FLOW_TRIAL_BYTES];
    uint32_t launches[2];
    const bool is_repeatable = finding->reason != CTS_FLOW_REASON_THREADS;
    if (flow->catalogue->rank_count > 1 || !is_repeatable ||
        !name_change(flow, finding, change, sizeof change))
        return false;
    const struct stretch stretch = stretch_of(flow, finding);
    if (!find_launches(flow->catalogue, &stretch, launches)) return false;
    snprintf(text, bytes, "--launches %u-%u %s", launches[0], launches[1], change);
    return true;
}
