/* Which change tries which finding of `flow`. */
#include <stdlib.h>
#include <string.h>

#include "analyze/try/try-match.h"
#include "common/array.h"

static const char untried_source[] = "needs a change of the source";
static const char untried_time[] = "it concerns memory, not time";
static const char untried_outside[] = "it is not in the stretch";

static const char *untried(enum cts_flow_finding_kind kind)
{
    const enum cts_flow_change change = cts_flow_finding_change(kind);
    return change == CTS_FLOW_CHANGE_MEMORY   ? untried_time
           : change == CTS_FLOW_CHANGE_SOURCE ? untried_source
                                              : NULL;
}

static uint32_t op_of(const struct cts_try_match *match, uint32_t node)
{
    return node == CTS_NONE ? CTS_TRIAL_NONE : match->op_of_node[node];
}

/* The change for one finding; false: it does not lie in the stretch. */
static bool change_for(const struct cts_try_match *match, const struct cts_flow_finding *f,
                       struct cts_try_change *change)
{
    *change = (struct cts_try_change){
        .kind = CTS_TRY_DROP, .op = op_of(match, f->node), .other = op_of(match, f->other)};
    switch (cts_flow_finding_change(f->kind)) {
    case CTS_FLOW_CHANGE_DELAY:
        change->kind = CTS_TRY_DELAY;
        return change->op != CTS_TRIAL_NONE && change->other != CTS_TRIAL_NONE;
    case CTS_FLOW_CHANGE_COPY_AWAY:
        change->kind = CTS_TRY_COPY_AWAY;
        return change->op != CTS_TRIAL_NONE;
    case CTS_FLOW_CHANGE_OVERLAP:
        change->kind = CTS_TRY_OVERLAP;
        return change->op != CTS_TRIAL_NONE && change->other != CTS_TRIAL_NONE;
    case CTS_FLOW_CHANGE_DROP_OTHER:
        change->op = change->other;
        return change->op != CTS_TRIAL_NONE;
    case CTS_FLOW_CHANGE_DROP_WAIT:
        change->op = match->op_of_sync[f->sync];
        return change->op != CTS_TRIAL_NONE;
    default:
        return change->op != CTS_TRIAL_NONE;
    }
}

/* What the finding is about, for a person: the kernel or the kind of copy. */
static const char *subject(const struct cts_flow_result *flow, uint32_t node)
{
    const struct cts_catalogue *const c = flow->catalogue;
    if (node == CTS_NONE) return "";
    const struct cts_flow_node *const n = &flow->order.nodes[node];
    if (n->kind == CTS_FLOW_LAUNCH) return c->kernels[c->launches[n->index].kernel].name;
    return n->kind == CTS_FLOW_COPY || n->kind == CTS_FLOW_MEMSET ? c->copies[n->index].kind : "";
}

static const char *place(const struct cts_flow_result *flow, const struct cts_flow_finding *f,
                         uint32_t *line)
{
    const struct cts_allocation *const a =
        f->allocation == CTS_NONE ? NULL : &flow->catalogue->allocations[f->allocation];
    *line = a ? a->line : 0;
    return a && a->path ? a->path : "";
}

static bool is_same(const struct cts_flow_result *flow, size_t one, size_t other)
{
    const struct cts_flow_finding *const a = &flow->findings[one], *const b =
                                                                       &flow->findings[other];
    uint32_t a_line, b_line;
    return a->kind == b->kind && a->reason == b->reason && a->map == b->map &&
           strcmp(subject(flow, a->node), subject(flow, b->node)) == 0 &&
           strcmp(subject(flow, a->other), subject(flow, b->other)) == 0 &&
           strcmp(place(flow, a, &a_line), place(flow, b, &b_line)) == 0 && a_line == b_line;
}

static struct cts_try_finding *group_of(struct cts_try_findings *findings,
                                        const struct cts_flow_result *flow, size_t index,
                                        struct cts_error *error)
{
    for (size_t i = 0; i < findings->count; i++)
        if (is_same(flow, findings->items[i].finding, index)) return &findings->items[i];
    if (CTS_ARRAY_RESERVE(findings, findings->count + 1, error)) return NULL;
    struct cts_try_finding *const added = &findings->items[findings->count++];
    *added =
        (struct cts_try_finding){.finding = index, .untried = untried(flow->findings[index].kind)};
    return added;
}

static bool has_change(const struct cts_try_finding *group, const struct cts_try_change *change)
{
    for (size_t i = 0; i < group->change_count; i++)
        if (group->changes[i].op == change->op) return true;
    return false;
}

static enum cts_status add_finding(const struct cts_try_match *match, size_t index,
                                   uint64_t delay_ns, struct cts_try_findings *findings,
                                   struct cts_error *error)
{
    const struct cts_flow_finding *const f = &match->flow->findings[index];
    struct cts_try_change change;
    struct cts_try_finding *const group = group_of(findings, match->flow, index, error);
    if (!group) return CTS_MEMORY;
    if (!change_for(match, f, &change)) return CTS_OK;
    if (!group->times++) group->finding = index;
    /* one delay shows a race: several would keep the distance between the two */
    const bool is_race = change.kind == CTS_TRY_DELAY;
    if (group->untried || (is_race && group->change_count) || has_change(group, &change))
        return CTS_OK;
    change.delay_ns = is_race ? delay_ns : 0;
    if (group->change_count == group->change_capacity &&
        cts_array_grow((void **)&group->changes, &group->change_capacity, group->change_count + 1,
                       sizeof *group->changes, error))
        return CTS_MEMORY;
    group->changes[group->change_count++] = change;
    return CTS_OK;
}

enum cts_status cts_try_findings_make(const struct cts_try_match *match, uint64_t delay_ns,
                                      struct cts_try_findings *findings, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    *findings = (struct cts_try_findings){0};
    for (size_t i = 0; i < match->flow->finding_count && !status; i++)
        status = add_finding(match, i, delay_ns, findings, error);
    for (size_t i = 0; i < findings->count; i++)
        if (!findings->items[i].times && !findings->items[i].untried)
            findings->items[i].untried = untried_outside;
    if (status) cts_try_findings_release(findings);
    return status;
}

void cts_try_findings_release(struct cts_try_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) free(findings->items[i].changes);
    free(findings->items);
    *findings = (struct cts_try_findings){0};
}
