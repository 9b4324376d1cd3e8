/* A finding is the same in two runs, and fits an entry of a file, by names: launches, addresses and
 * lines change from run to run and from version to version. */
#include "analyze/flow/flow-known.h"

#include <string.h>

const char *cts_flow_subject(const struct cts_flow_result *flow, uint32_t node)
{
    const struct cts_catalogue *const c = flow->catalogue;
    if (node == CTS_NONE) return NULL;
    const struct cts_flow_node *const n = &flow->order.nodes[node];
    if (n->kind == CTS_FLOW_LAUNCH)
        return cts_catalogue_kernel_name(c, c->launches[n->index].kernel);
    return n->kind == CTS_FLOW_COPY || n->kind == CTS_FLOW_MEMSET ? c->copies[n->index].kind : NULL;
}

static const struct cts_allocation *allocation_of(const struct cts_flow_result *flow,
                                                  const struct cts_flow_finding *f)
{
    return f->allocation == CTS_NONE ? NULL : &flow->catalogue->allocations[f->allocation];
}

static const char *variable_of(const struct cts_flow_result *flow, const struct cts_flow_finding *f)
{
    const struct cts_allocation *const row = allocation_of(flow, f);
    return row ? row->variable : NULL;
}

static bool is_race(enum cts_flow_finding_kind kind)
{
    return kind == CTS_FLOW_RACE || kind == CTS_FLOW_POSSIBLE_RACE;
}

/* ---- suppressions ---- */

/* A pattern in which `*` stands for any text, against [text, end). */
static bool fits_text(const char *pattern, const char *text, const char *end)
{
    const char *star = NULL, *retry = NULL;
    while (text < end) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

/* A kernel's name also fits without its template arguments and parameters. */
static bool fits(const char *pattern, const char *name)
{
    if (!pattern) return true;
    if (!name) return false;
    return fits_text(pattern, name, name + strlen(name)) ||
           fits_text(pattern, name, name + strcspn(name, "<("));
}

static bool fits_nodes(const struct cts_flow_suppression *s, const char *first, const char *second)
{
    if (fits(s->first, first) && fits(s->second, second)) return true;
    return is_race(s->kind) && fits(s->first, second) && fits(s->second, first);
}

static bool fits_finding(const struct cts_flow_result *flow, const struct cts_flow_suppression *s,
                         const struct cts_flow_finding *f)
{
    return s->kind == f->kind && fits(s->variable, variable_of(flow, f)) &&
           fits_nodes(s, cts_flow_subject(flow, f->node), cts_flow_subject(flow, f->other));
}

static struct cts_flow_suppression *find(const struct cts_flow_result *flow,
                                         const struct cts_flow_suppressions *all,
                                         const struct cts_flow_finding *f)
{
    for (size_t i = 0; i < all->count; i++)
        if (fits_finding(flow, &all->items[i], f)) return &all->items[i];
    return NULL;
}

void cts_flow_suppress(struct cts_flow_result *flow, struct cts_flow_suppressions *all)
{
    size_t kept = 0;
    for (size_t i = 0; i < flow->finding_count; i++) {
        const struct cts_flow_finding *const f = &flow->findings[i];
        struct cts_flow_suppression *const s = find(flow, all, f);
        if (!s) {
            flow->findings[kept++] = *f;
            continue;
        }
        s->findings++;
        s->times += f->times;
        flow->suppressed_findings++;
    }
    flow->finding_count = kept;
}

/* ---- the baseline ---- */

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Without a variable, the function that allocated. */
static bool is_same_memory(const struct cts_allocation *a, const struct cts_allocation *b)
{
    if (!a || !b) return a == b;
    return is_same_text(a->variable, b->variable) && is_same_text(a->function, b->function);
}

static bool is_same_kind(const struct cts_flow_finding *now, const struct cts_flow_finding *then)
{
    if (is_race(now->kind) && is_race(then->kind))
        return now->kind == CTS_FLOW_POSSIBLE_RACE || then->kind == CTS_FLOW_RACE;
    const bool covers =
        now->reason != CTS_FLOW_REASON_CERTAIN || then->reason == CTS_FLOW_REASON_CERTAIN;
    return now->kind == then->kind && covers;
}

static bool is_in(const struct cts_flow_result *baseline, const struct cts_flow_result *flow,
                  const struct cts_flow_finding *f)
{
    for (size_t i = 0; i < baseline->finding_count; i++) {
        const struct cts_flow_finding *const then = &baseline->findings[i];
        if (is_same_kind(f, then) &&
            is_same_memory(allocation_of(flow, f), allocation_of(baseline, then)) &&
            is_same_text(cts_flow_subject(flow, f->node), cts_flow_subject(baseline, then->node)) &&
            is_same_text(cts_flow_subject(flow, f->other), cts_flow_subject(baseline, then->other)))
            return true;
    }
    return false;
}

void cts_flow_drop_known(struct cts_flow_result *flow, const struct cts_flow_result *baseline)
{
    size_t kept = 0;
    for (size_t i = 0; i < flow->finding_count; i++) {
        const struct cts_flow_finding f = flow->findings[i];
        if (is_in(baseline, flow, &f))
            flow->known_findings++;
        else
            flow->findings[kept++] = f;
    }
    flow->finding_count = kept;
}
