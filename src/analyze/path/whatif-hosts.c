/* Host locations: nodes follow each other as recorded, and where a rule says so (whatif-plan.h). */
#include "analyze/path/whatif-run.h"

/* Whether what a query asks for is done when it asks. Only in the order of time. */
static bool ask(struct cts_whatif_run *run, uint32_t location, const struct cts_whatif_rule *rule,
                bool *done)
{
    struct cts_whatif_lane *const lane = &run->lanes[location];
    const struct cts_path_location *const at = &run->graph->locations[location];
    const struct cts_path_wait *const wait = &at->waits.items[rule->wait];
    const uint64_t enter_ns = *cts_whatif_node_time(run, location, at->active[rule->node - 1]);
    size_t count;
    const struct cts_path_edge *const edges = cts_path_edges_of(run->graph, location, wait, &count);
    *done = true;
    for (size_t i = 0; i < count; i++) {
        const uint64_t time_ns = cts_whatif_source_time(run, &edges[i]);
        if (time_ns != CTS_WHATIF_UNSET) {
            *done &= cts_whatif_add(time_ns, rule->tail_ns) <= enter_ns;
            continue;
        }
        *done = false;
        if (lane->asked == 2 || run->force) continue;
        if (!lane->asked &&
            cts_whatif_push(&run->events,
                            (struct cts_whatif_event){enter_ns, 0, CTS_WHATIF_ASK, location},
                            run->error) == CTS_OK)
            lane->asked = 1;
        return false;
    }
    lane->asked = 0;
    return true;
}

static double factor_of_tail(const struct cts_whatif_run *run, const struct cts_path_location *at,
                             const struct cts_whatif_rule *rule)
{
    switch ((enum cts_whatif_tail)rule->tail_is) {
    case CTS_WHATIF_TRANSFER:
        return cts_whatif_latency_factor(run, at, CTS_PATH_MPI_TRANSFER);
    case CTS_WHATIF_STARTING:
        return cts_whatif_latency_factor(run, at, CTS_PATH_THREAD_START);
    case CTS_WHATIF_OF_SOURCE:
        return cts_whatif_factor_after(run, &run->graph->locations[rule->location], rule->wait);
    default:
        return cts_whatif_factor_after(run, at, rule->node - 1);
    }
}

/* The bounds of one rule: raises *time_ns, lowers *own_ns. False: blocked. */
static bool apply(struct cts_whatif_run *run, uint32_t location, const struct cts_whatif_rule *rule,
                  uint64_t *own_ns, uint64_t *bound_ns)
{
    struct cts_whatif_lane *const lane = &run->lanes[location];
    const struct cts_path_location *const at = &run->graph->locations[location];
    uint64_t source_ns = 0;
    switch ((enum cts_whatif_rule_kind)rule->kind) {
    case CTS_WHATIF_GAP:
        if (lane->collapsed) *own_ns = 0;
        return true;

    case CTS_WHATIF_POLL: {
        bool done;
        if (!ask(run, location, rule, &done)) return false;
        lane->collapsed = done;

        if (done) *own_ns = 0;
        return true;
    }
    case CTS_WHATIF_AFTER:
        source_ns = *cts_whatif_node_time(run, rule->location, rule->wait);
        if (source_ns == CTS_WHATIF_UNSET && !run->force) {
            cts_whatif_block(run, location, rule->location);
            return false;
        }
        if (source_ns == CTS_WHATIF_UNSET) return true;
        break;
    default:
        if (!cts_whatif_wait_latest(run, location, rule->wait, &source_ns)) return false;
        break;
    }
    const int64_t tail_ns = cts_whatif_scale_tail(rule->tail_ns, factor_of_tail(run, at, rule));
    *bound_ns = cts_whatif_later(*bound_ns, cts_whatif_add(source_ns, tail_ns));
    if (rule->own_ns < *own_ns) *own_ns = rule->own_ns;
    return true;
}

static enum cts_whatif_step ruled_node(struct cts_whatif_run *run, uint32_t location,
                                       const struct cts_path_location *at)
{
    struct cts_whatif_lane *const lane = &run->lanes[location];
    const struct cts_whatif_place *const place = &run->plan->places[location];
    const uint32_t node = lane->next;
    uint64_t *const times = cts_whatif_node_time(run, location, 0);
    uint64_t own_ns = node ? at->time_ns[node] - at->time_ns[node - 1] : 0, bound_ns = 0;
    const uint64_t full_ns = own_ns;
    size_t rule = lane->rule;
    for (; rule < place->rule_count && place->rules[rule].node == node; rule++)
        if (!apply(run, location, &place->rules[rule], &own_ns, &bound_ns))
            return run->error->status ? CTS_WHATIF_FAILED : CTS_WHATIF_BLOCKED;
    if (run->force) own_ns = full_ns;
    if (node) {
        own_ns = cts_whatif_scale(own_ns, cts_whatif_factor_after(run, at, node - 1));
        bound_ns = cts_whatif_later(bound_ns, times[node - 1] + own_ns);
    }
    lane->rule = rule;
    times[node] = bound_ns;
    lane->next++;
    return CTS_WHATIF_GOES_ON;
}

uint64_t cts_whatif_start_of(const struct cts_whatif_run *run, const struct cts_path_location *at,
                             uint64_t time_ns)
{
    const uint64_t first_ns = run->graph->first_ns;
    return first_ns +
           cts_whatif_scale(time_ns - first_ns, cts_whatif_latency_factor(run, at, CTS_PATH_START));
}

/* Nodes up to the next one with a rule: each is the one before and what ran between. */
static void plain_nodes(struct cts_whatif_run *run, uint32_t location,
                        const struct cts_path_location *at, uint32_t end)
{
    struct cts_whatif_lane *const lane = &run->lanes[location];
    uint64_t *const times = cts_whatif_node_time(run, location, 0);
    uint32_t node = lane->next;
    if (node == 0 && node < end) {
        times[0] = cts_whatif_start_of(run, at, at->time_ns[0]);
        node++;
    }
    for (; node < end; node++)
        times[node] =
            times[node - 1] + cts_whatif_scale(at->time_ns[node] - at->time_ns[node - 1],
                                               cts_whatif_factor_after(run, at, node - 1));
    lane->next = node;
}

enum cts_whatif_step cts_whatif_go_host(struct cts_whatif_run *run, uint32_t location)
{
    struct cts_whatif_lane *const lane = &run->lanes[location];
    const struct cts_path_location *const at = &run->graph->locations[location];
    const struct cts_whatif_place *const place = &run->plan->places[location];
    const uint32_t from = lane->next;
    enum cts_whatif_step step = CTS_WHATIF_GOES_ON;
    while (lane->next < at->count && step == CTS_WHATIF_GOES_ON) {
        const uint32_t end =
            lane->rule < place->rule_count ? place->rules[lane->rule].node : (uint32_t)at->count;
        if (lane->next < end)
            plain_nodes(run, location, at, end);
        else
            step = ruled_node(run, location, at);
        if (run->force && step == CTS_WHATIF_GOES_ON) break;
    }
    if (lane->next > from) cts_whatif_wake(run, location);
    return step;
}
