/* Waits of host threads without which all that conflicts stays ordered: docs/flow.md, 'Needless
 * waits'.
 *
 * A second pass over the requests leaves every wait out (the reduced order) until something needs
 * one: two nodes that conflict and that the program orders, but the reduced order does not. Of the
 * waits between the two, the last that orders them is put back: pairs are met in the order of their
 * second nodes, so that each wait that is put back is the one that serves most of those to come. A
 * wait that is put back late orders less in this pass than in the program: it can only make more
 * waits necessary. What is left out in the end can be left out together.
 *
 * n nodes that touch a allocations in c chains, w waits: O(n (a c log n + w)) time. */
#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-findings.h"
#include "common/array.h"
#include "common/map.h"
#include "common/search.h"

enum { PENDING_EVENTS_MAX = 64 };

/* Nodes of a chain, by their position + 1: what a clock's number has to reach. */
struct places {
    struct place {
        uint32_t end, node;
    } *items;
    size_t count, capacity;
};

/* What has touched an allocation so far, of one chain. */
struct touches {
    uint32_t chain;
    struct places all, writes;
};
struct visited {
    struct touches *items;
    size_t count, capacity;
};

struct candidate {
    size_t sync, after; /* index in the catalogue; of its clock, in clocks */
    uint64_t op;
    uint32_t thread, next_node; /* the first that was requested after it */
    bool is_needed;
    bool sees_host;   /* what it waits for uses memory that the CPU can use */
    bool is_threaded; /* its rank has several host threads */
    bool is_idle;     /* nothing is gained without it: the thread knows already that all works have
                         ended, or learns it before it requests another one */
};

struct judge {
    struct cts_flow_result *flow;
    struct visited *visited;                  /* by allocation; behind them, memory of none */
    struct places *works, *unknown, *on_host; /* by chain of the rank */
    struct places *pageable; /* copies from or to host memory that no run shows accesses of */
    uint32_t chain_count, width, thread_count;
    uint32_t node;  /* the next */
    size_t touched; /* its first row in walk.touched */
    struct candidates {
        struct candidate *items;
        size_t count, capacity;
    } candidates;
    size_t first_candidate; /* of the rank */
    struct last_wait {
        size_t candidate; /* index + 1; 0: none */
        uint32_t works;   /* that the thread has requested since */
    } *last_waits;        /* by thread of the rank */
    struct cts_clock_list clocks, events;
    size_t event_places[PENDING_EVENTS_MAX];
    size_t event_count;
    bool has_many_events;
    struct cts_map ordering_events; /* that a stream waits for: they are not for timing alone */
};

static const struct cts_flow_node *node_at(const struct judge *judge, uint32_t node)
{
    return &judge->flow->order.nodes[node];
}

/* ---- places ---- */

static enum cts_status add_place(struct places *places, uint32_t end, uint32_t node,
                                 struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(places, places->count + 1, error)) return CTS_MEMORY;
    places->items[places->count++] = (struct place){end, node};
    return CTS_OK;
}

/* The last that a clock's number covers; NULL: none. */
static const struct place *last_within(const struct places *places, uint32_t number)
{
    const size_t count = CTS_SEARCH(places->count, i, places->items[i].end <= number);
    return count ? &places->items[count - 1] : NULL;
}

static void release_places(struct places *places, uint32_t count)
{
    for (uint32_t i = 0; places && i < count; i++) free(places[i].items);
    free(places);
}

static struct touches *touches_of(struct visited *visited, uint32_t chain, struct cts_error *error)
{
    for (size_t i = 0; i < visited->count; i++)
        if (visited->items[i].chain == chain) return &visited->items[i];
    if (CTS_ARRAY_RESERVE(visited, visited->count + 1, error)) return NULL;
    visited->items[visited->count] = (struct touches){.chain = chain};
    return &visited->items[visited->count++];
}

static void release_visited(struct visited *visited)
{
    for (size_t i = 0; i < visited->count; i++) {
        free(visited->items[i].all.items);
        free(visited->items[i].writes.items);
    }
    free(visited->items);
    *visited = (struct visited){0};
}

/* ---- putting waits back ---- */

static const uint32_t *after_of(const struct judge *judge, const struct candidate *candidate)
{
    return judge->clocks.items + candidate->after;
}

/* The node at hand, what precedes it in the reduced order, and what its thread knows there. */
struct asking {
    uint32_t thread;
    uint32_t *clock, *host;
};

/* Makes the node `before` of a chain precede the node at hand: by the last wait of its thread that
 * does, or else by all waits between the two. */
static void put_back(struct judge *judge, const struct asking *asking, uint32_t chain,
                     const struct place *before)
{
    const uint64_t from = node_at(judge, before->node)->op;
    for (size_t i = judge->candidates.count; i-- > judge->first_candidate;) {
        struct candidate *const one = &judge->candidates.items[i];
        if (one->op < from) break;
        if (one->thread != asking->thread || after_of(judge, one)[chain] < before->end) continue;
        one->is_needed = true;
        cts_clock_join(asking->host, after_of(judge, one), judge->width);
        cts_clock_join(asking->clock, after_of(judge, one), judge->width);
        return;
    }
    for (size_t i = judge->candidates.count; i-- > judge->first_candidate;) {
        if (judge->candidates.items[i].op < from) break;
        judge->candidates.items[i].is_needed = true;
    }
    asking->clock[chain] = before->end;
}

/* The last of `places` that the program orders before the node at hand stays before it. */
static void keep_before(struct judge *judge, const struct asking *asking, uint32_t chain,
                        const struct places *places)
{
    const struct cts_flow_node *const node = node_at(judge, judge->node);
    const uint32_t *const full = judge->flow->order.clocks.items + node->clock;
    if (chain == node->chain) return;
    const struct place *const last = last_within(places, full[chain]);
    if (last && last->end > asking->clock[chain]) put_back(judge, asking, chain, last);
}

/* ---- nodes ---- */

static bool is_work(const struct cts_flow_node *node)
{
    return node->kind <= CTS_FLOW_MEMSET;
}

/* As for the order that is needed, but memory of no allocation to which a copy to the host writes
 * is the host's. */
static bool is_unknown(const struct judge *judge, uint32_t node)
{
    const struct cts_flow_node *const n = node_at(judge, node);
    const char *const kind =
        n->kind == CTS_FLOW_COPY ? judge->flow->catalogue->copies[n->index].kind : NULL;
    const bool is_to_host = kind && (!strcmp(kind, "DtoH") || !strcmp(kind, "HtoH"));
    return is_work(n) && !is_to_host && cts_flow_is_unknown(judge->flow, node);
}

static bool can_host_use(const struct judge *judge, uint32_t allocation)
{
    const struct cts_catalogue *const c = judge->flow->catalogue;
    if (allocation == c->allocation_count) return true;
    const char *const kind = c->allocations[allocation].kind;
    return !kind || (strcmp(kind, "device") != 0 && strcmp(kind, "variable") != 0);
}

static enum cts_status touch(struct judge *judge, const struct asking *asking, uint32_t allocation,
                             bool wrote, struct cts_error *error)
{
    struct visited *const visited = &judge->visited[allocation];
    const struct cts_flow_node *const node = node_at(judge, judge->node);
    for (size_t i = 0; i < visited->count; i++) {
        const struct touches *const one = &visited->items[i];
        keep_before(judge, asking, one->chain, wrote ? &one->all : &one->writes);
    }
    struct touches *const own = touches_of(visited, node->chain, error);
    if (!own) return CTS_MEMORY;
    const uint32_t end = node->position + 1;
    const enum cts_status status = add_place(&own->all, end, judge->node, error);
    return status || !wrote ? status : add_place(&own->writes, end, judge->node, error);
}

/* Where the host may use what a node touches. */
struct sides {
    bool on_host, pageable;
};

static enum cts_status take_touches(struct judge *judge, const struct asking *asking,
                                    struct sides *sides, struct cts_error *error)
{
    const struct cts_flow_walk *const walk = &judge->flow->walk;
    const size_t nowhere = judge->flow->catalogue->allocation_count;
    const struct cts_flow_node *const node = node_at(judge, judge->node);
    enum cts_status status = CTS_OK;
    if (node->kind == CTS_FLOW_ALLOCATION || node->kind == CTS_FLOW_FREE)
        status = touch(judge, asking, (uint32_t)node->index, true, error);
    while (judge->touched < walk->touched_count && walk->touched[judge->touched].node < judge->node)
        judge->touched++;
    for (; judge->touched < walk->touched_count && !status &&
           walk->touched[judge->touched].node == judge->node;
         judge->touched++) {
        const struct cts_flow_touched *const row = &walk->touched[judge->touched];
        sides->on_host |= can_host_use(judge, row->allocation);
        sides->pageable |= node->kind == CTS_FLOW_COPY && row->allocation == nowhere;
        status = touch(judge, asking, row->allocation, row->wrote, error);
    }
    return status;
}

static bool covers(const struct judge *judge, const uint32_t *clock, const uint32_t *other)
{
    for (uint32_t i = 0; i < judge->chain_count; i++)
        if (clock[i] < other[i]) return false;
    return true;
}

/* A thread is about to do something, and knows `known`: perhaps all that its last wait told, by a
 * copy that blocks and that is all it has requested since. */
static void settle_last_wait(struct judge *judge, uint32_t thread, uint32_t most_works,
                             const uint32_t *known)
{
    struct last_wait *const last = &judge->last_waits[thread];
    if (!last->candidate || last->works > most_works) return;
    struct candidate *const one = &judge->candidates.items[last->candidate - 1];
    one->is_idle |= covers(judge, known, after_of(judge, one));
}

static enum cts_status take_node(void *state, uint32_t thread, uint32_t *clock, uint32_t *host,
                                 struct cts_error *error)
{
    struct judge *const judge = state;
    const struct asking asking = {thread, clock, host};
    const struct cts_flow_node *const node = node_at(judge, judge->node);
    const bool unknown = is_unknown(judge, judge->node);
    struct sides sides = {.on_host = unknown};
    settle_last_wait(judge, thread, 1, host);
    judge->last_waits[thread].works += is_work(node);
    for (uint32_t i = 0; i < judge->chain_count; i++)
        keep_before(judge, &asking, i, unknown ? &judge->works[i] : &judge->unknown[i]);
    enum cts_status status = take_touches(judge, &asking, &sides, error);
    const uint32_t end = node->position + 1;
    if (node->is_staged)
        sides = (struct sides){0}; /* the host's side is read when the call returns */
    if (!status && is_work(node))
        status = add_place(&judge->works[node->chain], end, judge->node, error);
    if (!status && unknown)
        status = add_place(&judge->unknown[node->chain], end, judge->node, error);
    if (!status && is_work(node) && sides.on_host)
        status = add_place(&judge->on_host[node->chain], end, judge->node, error);
    if (!status && sides.pageable)
        status = add_place(&judge->pageable[node->chain], end, judge->node, error);
    judge->node++;
    return status;
}

/* ---- waits ---- */

static enum cts_status note_event(void *state, uint64_t event, const uint32_t *clock,
                                  struct cts_error *error)
{
    struct judge *const judge = state;
    if (cts_map_find(&judge->ordering_events, event)) return CTS_OK;
    if (judge->event_count == PENDING_EVENTS_MAX) {
        judge->has_many_events = true;
        return CTS_OK;
    }
    return cts_clock_append(&judge->events, clock, judge->width,
                            &judge->event_places[judge->event_count++], error);
}

/* Whether the wait is the first behind an event's record: the program may read the event's time. */
static bool ends_timing(struct judge *judge, const struct cts_flow_wait *wait)
{
    bool ends = judge->has_many_events;
    size_t kept = 0;
    for (size_t i = 0; i < judge->event_count; i++) {
        const uint32_t *const event = judge->events.items + judge->event_places[i];
        if (covers(judge, wait->host, event)) continue;
        ends |= covers(judge, wait->after, event);
        judge->event_places[kept++] = judge->event_places[i];
    }
    judge->event_count = kept;
    if (!kept) judge->events.count = 0;
    return ends;
}

/* Whether the wait tells of a work that uses memory which the CPU can use; `unseen`: and what the
 * CPU does there is not known. */
static bool sees_host(const struct judge *judge, const struct cts_flow_wait *wait, bool *unseen)
{
    bool sees = false;
    for (uint32_t i = 0; i < judge->chain_count; i++) {
        const struct place *const last = last_within(&judge->on_host[i], wait->after[i]);
        const struct place *const hidden = last_within(&judge->unknown[i], wait->after[i]);
        const struct place *const copied = last_within(&judge->pageable[i], wait->after[i]);
        *unseen |=
            (hidden && hidden->end > wait->host[i]) || (copied && copied->end > wait->host[i]);
        sees |= last && last->end > wait->host[i];
    }
    *unseen |= sees && !judge->flow->host_seen;
    return sees;
}

static bool is_idle(const struct judge *judge, const struct cts_flow_wait *wait)
{
    for (uint32_t i = 0; i < judge->chain_count; i++) {
        const struct place *const last = last_within(&judge->works[i], wait->after[i]);
        if (last && last->end > wait->host[i]) return false;
    }
    return true;
}

static enum cts_status take_wait(void *state, const struct cts_flow_wait *wait, bool *counts,
                                 struct cts_error *error)
{
    struct judge *const judge = state;
    bool unseen = false;
    settle_last_wait(judge, wait->thread, 1, wait->host);
    settle_last_wait(judge, wait->thread, 0, wait->after);
    const bool sees = sees_host(judge, wait, &unseen);
    *counts = ends_timing(judge, wait) || unseen;
    if (CTS_ARRAY_RESERVE(&judge->candidates, judge->candidates.count + 1, error))
        return CTS_MEMORY;
    struct candidate *const one = &judge->candidates.items[judge->candidates.count++];
    *one = (struct candidate){.sync = wait->sync,
                              .op = judge->flow->catalogue->syncs[wait->sync].op,
                              .thread = wait->thread,
                              .next_node = judge->node,
                              .is_needed = *counts,
                              .is_idle = is_idle(judge, wait),
                              .is_threaded = judge->thread_count > 1,
                              .sees_host = sees};
    judge->last_waits[wait->thread] = (struct last_wait){judge->candidates.count, 0};
    return cts_clock_append(&judge->clocks, wait->after, judge->width, &one->after, error);
}

/* ---- a rank ---- */

static void end_rank(struct judge *judge)
{
    release_places(judge->works, judge->chain_count);
    release_places(judge->unknown, judge->chain_count);
    release_places(judge->on_host, judge->chain_count);
    release_places(judge->pageable, judge->chain_count);
    judge->works = judge->unknown = judge->on_host = judge->pageable = NULL;
    free(judge->last_waits);
    judge->last_waits = NULL;
    for (size_t i = 0; i <= judge->flow->catalogue->allocation_count; i++)
        release_visited(&judge->visited[i]);
    judge->events.count = judge->event_count = 0;
    judge->has_many_events = false;
    cts_map_release(&judge->ordering_events);
    judge->ordering_events = (struct cts_map){0};
}

static enum cts_status begin_rank(void *state, const struct cts_flow_rank *rank,
                                  struct cts_error *error)
{
    struct judge *const judge = state;
    const struct cts_catalogue *const c = judge->flow->catalogue;
    judge->chain_count = rank->chain_count;
    judge->width = rank->chain_count + 1;
    judge->thread_count = rank->thread_count;
    judge->first_candidate = judge->candidates.count;
    judge->works = cts_array_zeroed(rank->chain_count, sizeof *judge->works, error);
    judge->unknown = cts_array_zeroed(rank->chain_count, sizeof *judge->unknown, error);
    judge->on_host = cts_array_zeroed(rank->chain_count, sizeof *judge->on_host, error);
    judge->pageable = cts_array_zeroed(rank->chain_count, sizeof *judge->pageable, error);
    judge->last_waits = cts_array_zeroed(rank->thread_count, sizeof *judge->last_waits, error);
    if (!judge->works || !judge->unknown || !judge->on_host || !judge->pageable ||
        !judge->last_waits)
        return CTS_MEMORY;
    for (size_t i = 0; i < c->sync_count; i++)
        if (c->syncs[i].rank == rank->rank && c->syncs[i].kind &&
            !strcmp(c->syncs[i].kind, "stream wait") &&
            !cts_map_at(&judge->ordering_events, c->syncs[i].event, error))
            return CTS_MEMORY;
    return CTS_OK;
}

/* The last wait that tells of a work stays: the program may end, or read what it wrote. */
static enum cts_status settle_rank(void *state, const uint32_t *thread_clocks,
                                   struct cts_error *error)
{
    struct judge *const judge = state;
    uint32_t *const known = cts_array_zeroed(judge->width, sizeof *known, error);
    if (!known) return CTS_MEMORY;
    for (uint32_t i = 0; i < judge->thread_count; i++) {
        const uint32_t *const host = thread_clocks + (size_t)i * judge->width;
        settle_last_wait(judge, i, 1, host);
        cts_clock_join(known, host, judge->width);
    }
    for (size_t i = judge->candidates.count; i-- > judge->first_candidate;) {
        struct candidate *const one = &judge->candidates.items[i];
        const uint32_t *const after = after_of(judge, one);
        for (uint32_t k = 0; k < judge->chain_count && !one->is_needed; k++) {
            const struct place *const last = last_within(&judge->works[k], after[k]);
            one->is_needed = last && last->end > known[k];
        }
        if (one->is_needed) cts_clock_join(known, after, judge->width);
    }
    free(known);
    end_rank(judge);
    return CTS_OK;
}

/* ---- the findings ---- */

/* The nearest work of the rank from `node` on, in either direction; CTS_NONE: none. */
static uint32_t work_from(const struct judge *judge, uint32_t node, int step, uint32_t rank)
{
    const struct cts_flow_order *const order = &judge->flow->order;
    for (int64_t i = node; i >= 0 && i < (int64_t)order->node_count; i += step) {
        if (order->nodes[i].rank != rank) break;
        if (is_work(&order->nodes[i])) return (uint32_t)i;
    }
    return CTS_NONE;
}

static enum cts_flow_reason reason_of(const struct judge *judge, const struct cts_flow_facts *facts,
                                      const struct candidate *one)
{
    if (facts->has_gaps || facts->is_unfinished) return CTS_FLOW_REASON_ROWS;
    if (!judge->flow->knows_calls) return CTS_FLOW_REASON_GRAPHS;
    if (one->is_threaded) return CTS_FLOW_REASON_THREADS;
    if (judge->flow->catalogue->rank_count > 1) return CTS_FLOW_REASON_PROCESSES;
    return one->sees_host ? CTS_FLOW_REASON_HOST : CTS_FLOW_REASON_CERTAIN;
}

static enum cts_status report(struct judge *judge, const struct cts_flow_facts *facts,
                              struct cts_error *error)
{
    const struct cts_catalogue *const c = judge->flow->catalogue;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < judge->candidates.count && !status; i++) {
        const struct candidate *const one = &judge->candidates.items[i];
        judge->flow->needed_waits += one->is_needed;
        if (one->is_needed) continue;
        judge->flow->is_needless_wait[one->sync] = true;
        if (one->is_idle) continue;
        judge->flow->needless_waits++;
        const uint32_t rank = c->syncs[one->sync].rank;
        const struct cts_flow_finding finding = {
            .kind = CTS_FLOW_NEEDLESS_WAIT,
            .reason = reason_of(judge, facts, one),
            .node = one->next_node ? work_from(judge, one->next_node - 1, -1, rank) : CTS_NONE,
            .other = work_from(judge, one->next_node, 1, rank),
            .allocation = CTS_NONE,
            .sync = (uint32_t)one->sync};
        status = cts_flow_add(judge->flow, &finding, error);
    }
    return status;
}

enum cts_status cts_flow_find_needless_waits(struct cts_flow_result *flow,
                                             const struct cts_flow_facts *facts,
                                             struct cts_error *error)
{
    struct judge judge = {.flow = flow};
    const struct cts_flow_wait_judge waits = {.state = &judge,
                                              .begin = begin_rank,
                                              .wait = take_wait,
                                              .node = take_node,
                                              .event = note_event,
                                              .end = settle_rank};
    const struct cts_flow_order_options options = {.level = CTS_FLOW_SURE, .waits = &waits};
    struct cts_flow_order reduced;
    if (flow->catalogue->host_function_count) return CTS_OK; /* they may need any order */
    judge.visited =
        cts_array_zeroed(flow->catalogue->allocation_count + 1, sizeof *judge.visited, error);
    flow->is_needless_wait = cts_array_zeroed(flow->catalogue->sync_count, sizeof(bool), error);
    if (!judge.visited || !flow->is_needless_wait) {
        free(judge.visited);
        return CTS_MEMORY;
    }
    enum cts_status status = cts_flow_order_make(flow->catalogue, &options, &reduced, error);
    cts_flow_order_release(&reduced);
    if (status) end_rank(&judge);
    if (!status) status = report(&judge, facts, error);
    free(judge.visited);
    free(judge.candidates.items);
    free(judge.clocks.items);
    free(judge.events.items);
    return status;
}
