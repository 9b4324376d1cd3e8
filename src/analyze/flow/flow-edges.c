#include "analyze/flow/flow-edges.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/access/unrecorded.h"
#include "analyze/copy.h"
#include "analyze/flow/flow-memory.h"
#include "analyze/summary/summary.h"
#include "common/array.h"
#include "common/map.h"

struct stretch {
    uint64_t start, end;
};

struct stretches {
    struct stretch *items;
    size_t count, capacity;
};

struct state {
    struct cts_flow_walk *walk;
    const struct cts_flow_walk_options *options;
    struct cts_flow_memory *memory;
    struct cts_flow_toucher *toucher;
    uint32_t node;
    struct cts_map edges; /* of the node: (from, tenant) -> index + 1 in walk->edges */
    size_t rank_begin;    /* first node of the rank */
    bool is_constant;     /* the node allocates a __constant__ variable */
    struct stretches to, from;
    size_t *touched_at; /* by allocation: its last row in walk->touched, if it is its */
};

static const struct cts_flow_node *node_at(const struct state *s, uint32_t node)
{
    return &s->walk->order->nodes[node];
}

/* Whether the host can touch an allocation. */
static bool host_can_touch(const struct cts_allocation *allocation)
{
    const char *const kind = allocation->kind ? allocation->kind : "";
    return !strcmp(kind, "managed") || !strcmp(kind, "pinned") || !strcmp(kind, "mapped");
}

/* A __constant__ variable, whose loads no recorder sees: memory of no allocation for us. */
static bool is_constant(const struct cts_catalogue *catalogue, const struct cts_allocation *row)
{
    if (!row->kind || strcmp(row->kind, "variable")) return false;
    for (size_t i = 0; i < catalogue->variable_count; i++) {
        const struct cts_variable *const variable = &catalogue->variables[i];
        if (variable->address == row->address && variable->size_bytes == row->size_bytes &&
            variable->kind && !strcmp(variable->kind, "constant"))
            return true;
    }
    return false;
}

static const struct cts_allocation *tenant_of(const struct state *s, uint32_t tenant)
{
    return tenant ? &s->walk->catalogue->allocations[tenant - 1] : NULL;
}

static bool is_device_memory(const struct state *s, uint32_t tenant)
{
    const struct cts_allocation *const row = tenant_of(s, tenant);
    return row && row->kind && !strcmp(row->kind, "device");
}

/* ---- a transition ---- */

/* Whether an earlier touch is over when the node at hand stores, so that it may be forgotten. */
static bool is_before(const struct state *s, const struct cts_flow_cell *cell)
{
    return cts_flow_precedes(s->walk->order, cell->node, s->node);
}

/* Whether the node at hand, touching in `ways`, ends a writer's time in the byte's state. */
static bool ends_writer(const struct state *s, const struct cts_flow_cell *cell, uint32_t ways)
{
    if (!is_before(s, cell)) return false;
    if (ways & (CTS_WAY_STORE | CTS_WAY_END)) return true;
    return cts_ways_commute(cell->ways, ways);
}

static bool reads_value(uint32_t ways)
{
    return ways & (CTS_WAY_READ | CTS_WAY_ANY_ATOMIC);
}

static bool was_written(const struct cts_flow_cell *cell)
{
    return cell->ways & (CTS_WAY_STORE | CTS_WAY_ANY_ATOMIC | CTS_WAY_STALE);
}

/* The writers that stay, in their order. */
static enum cts_status keep_writers(struct state *s, uint32_t list, uint32_t ways, uint32_t *out,
                                    struct cts_error *error)
{
    *out = 0;
    if (!list) return CTS_OK;
    struct cts_flow_cell cell = cts_flow_cell_at(s->memory, list);
    uint32_t rest;
    const enum cts_status status = keep_writers(s, cell.next, ways, &rest, error);
    if (status) return status;
    if (ends_writer(s, &cell, ways)) {
        *out = rest;
        return CTS_OK;
    }
    cell.next = rest;
    if (reads_value(ways) && !(cell.ways & CTS_WAY_END)) cell.last_reader = s->node + 1;
    return cts_flow_cell(s->memory, &cell, out, error);
}

/* The readers that are not over when the node at hand stores. */
static enum cts_status keep_readers(struct state *s, uint32_t list, uint32_t *out,
                                    struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    *out = 0;
    for (struct cts_flow_cell cell; list && !status; list = cell.next) {
        cell = cts_flow_cell_at(s->memory, list);
        if (is_before(s, &cell)) continue;
        const struct cts_flow_cell kept = {cell.node, cell.ways, 0, *out};
        status = cts_flow_cell(s->memory, &kept, out, error);
    }
    return status;
}

static bool any_was_written(const struct state *s, uint32_t list)
{
    for (struct cts_flow_cell cell; list; list = cell.next) {
        cell = cts_flow_cell_at(s->memory, list);
        if (was_written(&cell)) return true;
    }
    return false;
}

static enum cts_status next_state(void *context, uint32_t number, uint32_t ways, uint32_t *next,
                                  struct cts_error *error)
{
    struct state *const s = context;
    const struct cts_flow_node *const node = node_at(s, s->node);
    struct cts_flow_state state = cts_flow_state_at(s->memory, number);
    const bool is_new = cts_ways_write(ways);
    struct cts_flow_cell own = {.node = s->node, .ways = ways};
    if (ways & CTS_WAY_END && any_was_written(s, state.writers)) own.ways |= CTS_WAY_STALE;
    /* What CTAs of the launch read of one another, or updated together, has been read. */
    if (ways & (CTS_WAY_OWN_READ | CTS_WAY_CROSS | CTS_WAY_ANY_ATOMIC))
        own.last_reader = s->node + 1;
    if (!is_new) own.last_reader = 0;
    uint32_t kept;
    enum cts_status status = keep_writers(s, state.writers, ways, &kept, error);
    if (status) return status;
    state.writers = kept;
    if (ways & (CTS_WAY_STORE | CTS_WAY_END))
        status = keep_readers(s, state.readers, &state.readers, error);
    if (reads_value(ways)) state.was_read = 1;
    if (ways & CTS_WAY_END) state.was_read = 0;
    if (ways & CTS_WAY_END)
        state.tenant =
            node->kind == CTS_FLOW_ALLOCATION && !s->is_constant ? (uint32_t)node->index + 1 : 0;
    if (!status && is_new) {
        own.next = state.writers;
        status = cts_flow_cell(s->memory, &own, &state.writers, error);
    } else if (!status && !node->is_staged) {
        own.next = state.readers;
        status = cts_flow_cell(s->memory, &own, &state.readers, error);
    }
    return status ? status : cts_flow_state(s->memory, &state, next, error);
}

/* ---- edges ---- */

static enum cts_status edge_from(struct state *s, uint32_t from, uint32_t tenant,
                                 struct cts_flow_edge **edge, struct cts_error *error)
{
    struct cts_flow_walk *const walk = s->walk;
    uint64_t *const place = cts_map_at(&s->edges, (uint64_t)from << 32 | tenant, error);
    if (!place) return CTS_MEMORY;
    if (!*place) {
        if (walk->edge_count == walk->edge_capacity &&
            cts_array_grow((void **)&walk->edges, &walk->edge_capacity, walk->edge_count + 1,
                           sizeof *walk->edges, error))
            return CTS_MEMORY;
        walk->edges[walk->edge_count++] =
            (struct cts_flow_edge){.from = from,
                                   .to = s->node,
                                   .allocation = tenant ? tenant - 1 : CTS_NONE,
                                   .first = UINT64_MAX,
                                   .is_ordered = cts_flow_precedes(walk->order, from, s->node)};
        *place = walk->edge_count;
    }
    *edge = &walk->edges[*place - 1];
    return CTS_OK;
}

/* Pairs that are never races: the memory's pointer orders them, or both end a tenancy. */
static bool is_exempt(const struct state *s, uint32_t from, uint32_t tenant)
{
    const struct cts_flow_node *const u = node_at(s, from), *const v = node_at(s, s->node);
    const bool u_ends = u->kind == CTS_FLOW_ALLOCATION || u->kind == CTS_FLOW_FREE;
    const bool v_ends = v->kind == CTS_FLOW_ALLOCATION || v->kind == CTS_FLOW_FREE;
    if (v->kind == CTS_FLOW_ALLOCATION || (u_ends && v_ends)) return true;
    if (u->kind == CTS_FLOW_ALLOCATION && !u->is_in_stream) return true;
    return !tenant && !u_ends && !v_ends;
}

static uint32_t group_of(const struct cts_flow_walk *walk, uint32_t node)
{
    while (walk->signal_group[node] != node) node = walk->signal_group[node];
    return node;
}

static void note_signal(struct state *s, uint32_t from, uint32_t from_ways, uint32_t ways)
{
    if (!(from_ways & ways & CTS_WAY_SIGNAL)) return;
    if (!cts_ways_write(from_ways) && !cts_ways_write(ways)) return;
    const uint32_t a = group_of(s->walk, from), b = group_of(s->walk, s->node);
    if (a < b)
        s->walk->signal_group[b] = a;
    else
        s->walk->signal_group[a] = b;
}

static enum cts_status add_edge(struct state *s, const struct cts_flow_cell *cell, uint32_t tenant,
                                const struct cts_flow_met *met, struct cts_error *error)
{
    const uint32_t from = cell->ways, to = met->ways;
    const bool commute = cts_ways_commute(from, to);
    if (!cts_ways_conflict(from, to) && !commute) return CTS_OK;
    struct cts_flow_edge *edge;
    const enum cts_status status = edge_from(s, cell->node, tenant, &edge, error);
    if (status) return status;
    if (!edge->is_ordered) note_signal(s, cell->node, from, to);
    const uint64_t bytes = met->bytes;
    const uint32_t data = CTS_WAY_STORE | CTS_WAY_ANY_ATOMIC;
    const bool from_writes = from & data, to_writes = to & data;
    if (commute)
        edge->commuting_bytes += bytes;
    else if ((from | to) & CTS_WAY_END)
        edge->end_bytes += bytes;
    else {
        if (from_writes && reads_value(to)) edge->raw_bytes += bytes;
        if (from_writes && reads_value(to) && to & CTS_WAY_CROSS) edge->possible_raw_bytes += bytes;
        if (from_writes && to_writes) edge->waw_bytes += bytes;
        if (from_writes && to_writes && !reads_value(to) && !cell->last_reader)
            edge->unread_waw_bytes += bytes;
        if (from & (CTS_WAY_READ | CTS_WAY_OWN_READ | CTS_WAY_ANY_ATOMIC) && to_writes)
            edge->war_bytes += bytes;
    }
    if (!commute && !edge->is_ordered && !is_exempt(s, cell->node, tenant))
        edge->race_bytes += bytes;
    edge->is_outside = !tenant;
    if (met->first < edge->first) edge->first = met->first;
    if (met->end > edge->end) edge->end = met->end;
    return CTS_OK;
}

/* ---- what becomes of bytes ---- */

enum writer_end { END_STORE, END_FREE, END_RUN };

/* Bytes that a writer wrote are no longer there, or the run is over. */
static void end_writer(struct state *s, const struct cts_flow_cell *cell,
                       const struct cts_flow_state *state, const struct cts_flow_amount *amount,
                       enum writer_end how)
{
    const uint32_t tenant = state->tenant;
    const uint64_t bytes = amount->bytes;
    const struct cts_allocation *const row = tenant_of(s, tenant);
    if (cell->ways & CTS_WAY_END || !row) return;
    struct cts_flow_use *const use = &s->walk->uses[cell->node];
    if (host_can_touch(row) && !cell->last_reader) use->unread_bytes += bytes;
    if (!is_device_memory(s, tenant)) return;
    if (cell->last_reader) {
        /* Up to behind the reader; what the reader itself stores over makes room for the new. */
        const bool is_in_place = how == END_STORE && cell->last_reader == s->node + 1;
        s->walk->live_bytes[cell->node] += (int64_t)bytes;
        s->walk->live_bytes[cell->last_reader - is_in_place] -= (int64_t)bytes;
        return;
    }
    *(how == END_STORE  ? &use->overwritten_bytes
      : how == END_FREE ? &use->freed_bytes
                        : &use->left_bytes) += bytes;
    use->dead_sector_bytes += amount->sector_bytes;
    if (how == END_STORE)
        use->overwritten_sector_bytes += amount->sector_bytes;
    else if (state->was_read)
        use->ended_bytes += bytes;
}

static enum cts_status settle_writers(struct state *s, const struct cts_flow_state *state,
                                      const struct cts_flow_met *met, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    bool any = false, any_stale = false, any_written = false;
    const struct cts_flow_amount amount = {met->bytes, met->sector_bytes};
    struct cts_flow_cell cell;
    for (uint32_t list = state->writers; list && !status; list = cell.next) {
        cell = cts_flow_cell_at(s->memory, list);
        status = add_edge(s, &cell, state->tenant, met, error);
        any = true;
        any_written |= (cell.ways & (CTS_WAY_STORE | CTS_WAY_ANY_ATOMIC)) != 0;
        any_stale |= (cell.ways & CTS_WAY_STALE) != 0;
        if (!ends_writer(s, &cell, met->ways)) continue;
        if (reads_value(met->ways)) cell.last_reader = s->node + 1;
        end_writer(s, &cell, state, &amount, met->ways & CTS_WAY_END ? END_FREE : END_STORE);
    }
    if (any && any_stale && !any_written && reads_value(met->ways) &&
        is_device_memory(s, state->tenant)) {
        s->walk->uses[s->node].stale_bytes += met->bytes;
        s->walk->uses[s->node].stale_allocation = state->tenant - 1;
    }
    return status;
}

static enum cts_status note_touch(struct state *s, uint32_t allocation, bool wrote,
                                  struct cts_error *error)
{
    struct cts_flow_walk *const walk = s->walk;
    size_t *const at = &s->touched_at[allocation];
    if (*at < walk->touched_count && walk->touched[*at].node == s->node &&
        walk->touched[*at].allocation == allocation) {
        walk->touched[*at].wrote |= wrote;
        return CTS_OK;
    }
    *at = walk->touched_count;
    if (walk->touched_count == walk->touched_capacity &&
        cts_array_grow((void **)&walk->touched, &walk->touched_capacity, walk->touched_count + 1,
                       sizeof *walk->touched, error))
        return CTS_MEMORY;
    walk->touched[walk->touched_count++] = (struct cts_flow_touched){s->node, allocation, wrote};
    return CTS_OK;
}

static void note_use(struct state *s, const struct cts_flow_state *state,
                     const struct cts_flow_met *met)
{
    struct cts_flow_walk *const walk = s->walk;
    struct cts_flow_use *const use = &walk->uses[s->node];
    const struct cts_flow_node *const node = node_at(s, s->node);
    if (met->ways & CTS_WAY_END) return;
    const struct cts_allocation *const tenant = tenant_of(s, state->tenant);
    if (met->ways & (CTS_WAY_READ | CTS_WAY_OWN_READ | CTS_WAY_ANY_ATOMIC))
        use->read_bytes += met->bytes;
    if (tenant) {
        struct cts_flow_allocation_use *const a = &walk->allocations[state->tenant - 1];
        if (a->first_node == CTS_NONE) a->first_node = s->node;
        if (a->last_node != s->node) {
            a->nodes++;
            a->launches += node->kind == CTS_FLOW_LAUNCH;
        }
        a->last_node = s->node;
        a->touched_bytes += met->bytes;
    }
    if (!cts_ways_write(met->ways)) return;
    const bool is_host_visible = tenant && host_can_touch(tenant);
    use->written_bytes += met->bytes;
    if (!tenant) use->outside_bytes += met->bytes;
    if (is_host_visible) use->host_bytes += met->bytes;
    if (is_host_visible && met->ways & CTS_WAY_SIGNAL && node->kind == CTS_FLOW_LAUNCH)
        walk->tells_host[node->index] = true;
}

static enum cts_status settle(struct state *s, const struct cts_flow_met *met,
                              struct cts_error *error)
{
    const struct cts_flow_state state = cts_flow_state_at(s->memory, met->state);
    note_use(s, &state, met);
    enum cts_status status = CTS_OK;
    if (!(met->ways & CTS_WAY_END))
        status = note_touch(
            s, state.tenant ? state.tenant - 1 : (uint32_t)s->walk->catalogue->allocation_count,
            cts_ways_write(met->ways), error);
    if (!status) status = settle_writers(s, &state, met, error);
    struct cts_flow_cell cell;
    for (uint32_t list = cts_ways_write(met->ways) ? state.readers : 0; list && !status;
         list = cell.next) {
        cell = cts_flow_cell_at(s->memory, list);
        status = add_edge(s, &cell, state.tenant, met, error);
    }
    return status;
}

/* ---- what nodes touch ---- */

static int by_start(const void *left, const void *right)
{
    const struct stretch *const a = left, *const b = right;
    return (a->start > b->start) - (a->start < b->start);
}

static enum cts_status list_rows(const struct cts_copy_rows *rows, const struct cts_copy_side *side,
                                 struct stretches *out, struct cts_error *error)
{
    out->count = 0;
    if (!rows->width) return CTS_OK;
    for (uint64_t z = 0; z < rows->depth; z++)
        for (uint64_t y = 0; y < rows->height; y++) {
            const uint64_t start = cts_copy_row_start(side, z, y);
            if (CTS_ARRAY_RESERVE(out, out->count + 1, error)) return CTS_MEMORY;
            out->items[out->count++] = (struct stretch){start, start + rows->width};
        }
    if (out->count > 1) qsort(out->items, out->count, sizeof *out->items, by_start);
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++)
        if (kept && out->items[i].start <= out->items[kept - 1].end) {
            if (out->items[i].end > out->items[kept - 1].end)
                out->items[kept - 1].end = out->items[i].end;
        } else {
            out->items[kept++] = out->items[i];
        }
    out->count = kept;
    return CTS_OK;
}

/* Both lists in one go: what is in both is read and stored. */
static enum cts_status touch_both(struct state *s, struct cts_error *error)
{
    size_t i = 0, k = 0;
    uint64_t at = 0;
    enum cts_status status = CTS_OK;
    while ((i < s->from.count || k < s->to.count) && !status) {
        const struct stretch a =
            i < s->from.count ? s->from.items[i] : (struct stretch){UINT64_MAX, UINT64_MAX};
        const struct stretch b =
            k < s->to.count ? s->to.items[k] : (struct stretch){UINT64_MAX, UINT64_MAX};
        const uint64_t least = a.start < b.start ? a.start : b.start;
        if (at < least) at = least;
        const bool in_a = a.start <= at && i < s->from.count;
        const bool in_b = b.start <= at && k < s->to.count;
        uint64_t stop = in_a && in_b ? (a.end < b.end ? a.end : b.end) : in_a ? a.end : b.end;
        if (!in_a && a.start < stop) stop = a.start;
        if (!in_b && b.start < stop) stop = b.start;
        const uint32_t ways = (in_a ? CTS_WAY_READ : 0u) | (in_b ? CTS_WAY_STORE : 0u);
        status = cts_flow_memory_touch(s->memory, at, stop, ways, error);
        at = stop;
        if (in_a && at == a.end) i++;
        if (in_b && at == b.end) k++;
    }
    return status;
}

static enum cts_status touch_copy(struct state *s, const struct cts_flow_node *node,
                                  struct cts_error *error)
{
    const struct cts_copy *const copy = &s->walk->catalogue->copies[node->index];
    const bool has_source = node->kind == CTS_FLOW_COPY;
    struct cts_copy_rows rows;
    enum cts_status status = cts_copy_rows_of(copy, has_source, &rows, error);
    if (!status) status = list_rows(&rows, &rows.to, &s->to, error);
    s->from.count = 0;
    if (!status && has_source) status = list_rows(&rows, &rows.from, &s->from, error);
    return status ? status : touch_both(s, error);
}

static enum cts_status take_run(void *context, uint64_t start, uint64_t end, uint32_t ways,
                                struct cts_error *error)
{
    struct state *const s = context;
    return cts_flow_memory_touch(s->memory, start, end, ways, error);
}

static enum cts_status touch(struct state *s, struct cts_error *error)
{
    const struct cts_flow_node *const node = node_at(s, s->node);
    const struct cts_catalogue *const c = s->walk->catalogue;
    switch ((enum cts_flow_node_kind)node->kind) {
    case CTS_FLOW_LAUNCH:
        return cts_flow_touch(s->toucher, node->index, take_run, s, error);
    case CTS_FLOW_COPY:
    case CTS_FLOW_MEMSET:
        return touch_copy(s, node, error);
    case CTS_FLOW_HOST_LOAD:
    case CTS_FLOW_HOST_STORE: {
        const struct cts_host_access *const row = &c->host_accesses[node->index];
        return cts_flow_memory_touch(
            s->memory, row->address, row->address + row->size_bytes,
            node->kind == CTS_FLOW_HOST_LOAD ? CTS_WAY_READ : CTS_WAY_STORE, error);
    }
    case CTS_FLOW_ALLOCATION:
    case CTS_FLOW_FREE:
        break;
    }
    const struct cts_allocation *const row = &c->allocations[node->index];
    s->is_constant = is_constant(c, row);
    return cts_flow_memory_touch(s->memory, row->address, row->address + row->size_bytes,
                                 CTS_WAY_END, error);
}

/* ---- after all edges of a node ---- */

/* Joins what all predecessors know, and asks for each whether another one knows it. */
static enum cts_status mark_implied(struct state *s, size_t first, struct cts_error *error)
{
    struct cts_flow_walk *const walk = s->walk;
    const struct cts_flow_order *const order = walk->order;
    const uint32_t rank = node_at(s, s->node)->rank;
    size_t index = 0;
    while (order->ranks[index] != rank) index++;
    const uint32_t chains = order->chain_counts[index];
    /* By chain: the furthest place that is known to have ended, and the last node of that place. */
    struct {
        uint32_t count, node;
    } *const known = cts_array_zeroed(chains, sizeof *known, error);
    if (!known) return CTS_MEMORY;
    for (size_t e = first; e < walk->edge_count; e++) {
        if (!walk->edges[e].is_ordered) continue;
        const struct cts_flow_node *const from = node_at(s, walk->edges[e].from);
        const uint32_t *const clock = order->clocks.items + from->clock;
        for (uint32_t i = 0; i < chains; i++) {
            const bool is_own = i == from->chain;
            const uint32_t count = is_own ? from->position : clock[i];
            if (known[i].count > count) continue;
            if (known[i].count < count) known[i].node = 0;
            known[i].count = count;
            if (is_own && known[i].node < walk->edges[e].from) known[i].node = walk->edges[e].from;
        }
    }
    for (size_t e = first; e < walk->edge_count; e++) {
        struct cts_flow_edge *const edge = &walk->edges[e];
        const struct cts_flow_node *const from = node_at(s, edge->from);
        edge->is_implied =
            edge->is_ordered &&
            (known[from->chain].count > from->position ||
             (known[from->chain].count == from->position && known[from->chain].node > edge->from));
    }
    free(known);
    return CTS_OK;
}

static int by_from(const void *left, const void *right)
{
    const struct cts_flow_edge *const a = left, *const b = right;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return (a->allocation > b->allocation) - (a->allocation < b->allocation);
}

static enum cts_status walk_node(struct state *s, struct cts_error *error)
{
    const size_t first = s->walk->edge_count;
    cts_flow_memory_begin(s->memory, next_state, s);
    enum cts_status status = touch(s, error);
    const struct cts_flow_met *met = NULL;
    size_t met_count = 0;
    if (!status) status = cts_flow_memory_end(s->memory, &met, &met_count, error);
    for (size_t i = 0; i < met_count && !status; i++) status = settle(s, &met[i], error);
    cts_map_release(&s->edges);
    s->edges = (struct cts_map){0};
    const size_t count = s->walk->edge_count - first;
    if (count > 1) qsort(s->walk->edges + first, count, sizeof *s->walk->edges, by_from);
    return status || !count ? status : mark_implied(s, first, error);
}

/* ---- a rank ---- */

static enum cts_status end_state(void *context, uint32_t number,
                                 const struct cts_flow_amount *amount, struct cts_error *error)
{
    struct state *const s = context;
    const struct cts_flow_state state = cts_flow_state_at(s->memory, number);
    (void)error;
    struct cts_flow_cell cell;
    for (uint32_t list = state.writers; list; list = cell.next) {
        cell = cts_flow_cell_at(s->memory, list);
        end_writer(s, &cell, &state, amount, END_RUN);
    }
    return CTS_OK;
}

/* Whether a node that hides stores may have stored into the allocation. */
static bool may_store_into(const struct cts_flow_walk *walk, uint32_t node,
                           const struct cts_allocation *row)
{
    const struct cts_flow_node *const hiding = &walk->order->nodes[node];
    return !walk->uses[node].hides_in_tensors ||
           cts_tensor_maps_touch(&walk->tensors, walk->catalogue->launches[hiding->index].launch,
                                 row->address, row->address + row->size_bytes);
}

/* Bytes of a pair are possible if a node that hides stores is not known to lie outside of it. */
static void mark_possible(struct cts_flow_walk *walk, const struct cts_flow_walk_options *options)
{
    enum { HIDING_MAX = 64 };
    const struct cts_flow_order *const order = walk->order;
    uint32_t hiding[HIDING_MAX];
    size_t hiding_count = 0;
    bool too_many = false;
    for (size_t i = 0; i < order->node_count; i++) {
        if (!walk->uses[i].hides_stores) continue;
        too_many |= hiding_count == HIDING_MAX;
        if (!too_many) hiding[hiding_count++] = (uint32_t)i;
    }
    for (size_t e = 0; e < walk->edge_count; e++) {
        struct cts_flow_edge *const edge = &walk->edges[e];
        if (!edge->raw_bytes) continue;
        const struct cts_allocation *const row =
            edge->allocation != CTS_NONE ? &walk->catalogue->allocations[edge->allocation] : NULL;
        bool possible = too_many || !row || (!options->host_seen && host_can_touch(row));
        for (size_t i = 0; i < hiding_count && !possible; i++)
            possible = hiding[i] != edge->from &&
                       order->nodes[hiding[i]].rank == order->nodes[edge->to].rank &&
                       !cts_flow_precedes(order, hiding[i], edge->from) &&
                       !cts_flow_precedes(order, edge->to, hiding[i]) &&
                       may_store_into(walk, hiding[i], row);
        edge->is_raw_possible = possible;
        if (possible) edge->possible_raw_bytes = edge->raw_bytes;
    }
}

static void judge_launches(struct cts_flow_walk *walk)
{
    const struct cts_catalogue *const c = walk->catalogue;
    for (size_t i = 0; i < walk->order->node_count; i++) {
        const struct cts_flow_node *const node = &walk->order->nodes[i];
        if (node->kind != CTS_FLOW_LAUNCH) continue;
        const struct cts_launch *const row = &c->launches[node->index];
        const bool incomplete = cts_summary_is_incomplete(c, row);
        const enum cts_access_hidden hidden = cts_access_hidden_stores(c, row);
        size_t maps;
        (void)cts_tensor_maps_of(&walk->tensors, row->launch, &maps);
        walk->uses[i].hides_stores = incomplete || hidden != CTS_HIDDEN_NOWHERE;
        walk->uses[i].hides_in_tensors = !incomplete && hidden == CTS_HIDDEN_IN_TENSORS && maps;
        walk->uses[i].hides_loads = incomplete || cts_access_hides_loads(c, row);
    }
}

static enum cts_status walk_nodes(struct state *s, struct cts_error *error)
{
    const struct cts_flow_order *const order = s->walk->order;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < order->node_count && !status; i++) {
        if (!s->memory || order->nodes[i].rank != order->nodes[i - 1].rank) {
            if (s->memory) status = cts_flow_memory_each(s->memory, end_state, s, error);
            cts_flow_memory_free(s->memory);
            s->memory = NULL;
            if (!status) status = cts_flow_memory_new(&s->memory, error);
        }
        s->node = (uint32_t)i;
        if (!status) status = walk_node(s, error);
    }
    if (s->memory && !status) status = cts_flow_memory_each(s->memory, end_state, s, error);
    return status;
}

static enum cts_status make_arrays(struct cts_flow_walk *walk, struct cts_error *error)
{
    const size_t nodes = walk->order->node_count, allocations = walk->catalogue->allocation_count;
    walk->uses = cts_array_zeroed(nodes, sizeof *walk->uses, error);
    walk->allocations = cts_array_zeroed(allocations, sizeof *walk->allocations, error);
    walk->tells_host =
        cts_array_zeroed(walk->catalogue->launch_count, sizeof *walk->tells_host, error);
    walk->signal_group = cts_array_zeroed(nodes, sizeof *walk->signal_group, error);
    walk->live_bytes = cts_array_zeroed(nodes + 1, sizeof *walk->live_bytes, error);
    if (!walk->uses || !walk->allocations || !walk->tells_host || !walk->signal_group ||
        !walk->live_bytes)
        return CTS_MEMORY;
    for (size_t i = 0; i < nodes; i++) walk->signal_group[i] = (uint32_t)i;
    for (size_t i = 0; i < allocations; i++)
        walk->allocations[i].first_node = walk->allocations[i].last_node = CTS_NONE;
    return CTS_OK;
}

enum cts_status cts_flow_walk_make(const struct cts_catalogue *catalogue,
                                   const struct cts_flow_order *order,
                                   const struct cts_flow_walk_options *options,
                                   struct cts_flow_walk *walk, struct cts_error *error)
{
    *walk = (struct cts_flow_walk){.catalogue = catalogue, .order = order};
    if (order->node_count >= UINT32_MAX)
        return cts_fail(error, CTS_LIMIT, "the run has more than 2^32 launches and copies");
    struct state s = {.walk = walk, .options = options};
    const struct cts_flow_touch_options touch_options = {.catalogue = catalogue,
                                                         .source = options->source,
                                                         .threads = options->threads,
                                                         .progress = options->progress};
    enum cts_status status = make_arrays(walk, error);
    s.touched_at = cts_array_zeroed(catalogue->allocation_count + 1, sizeof *s.touched_at, error);
    if (!status && !s.touched_at) status = CTS_MEMORY;
    if (!status) status = cts_flow_toucher_new(&touch_options, &s.toucher, error);
    if (!status) status = cts_tensor_maps_init(&walk->tensors, catalogue, error);
    if (!status) judge_launches(walk);
    if (!status) status = walk_nodes(&s, error);
    if (!status) mark_possible(walk, options);
    for (size_t i = 0; i < order->node_count && !status; i++)
        walk->signal_group[i] = group_of(walk, (uint32_t)i);
    cts_flow_toucher_free(s.toucher);
    cts_flow_memory_free(s.memory);
    cts_map_release(&s.edges);
    free(s.touched_at);
    free(s.to.items);
    free(s.from.items);
    if (status) cts_flow_walk_release(walk);
    return status;
}

void cts_flow_walk_release(struct cts_flow_walk *walk)
{
    cts_tensor_maps_release(&walk->tensors);
    free(walk->edges);
    free(walk->uses);
    free(walk->allocations);
    free(walk->touched);
    free(walk->tells_host);
    free(walk->signal_group);
    free(walk->live_bytes);
    *walk = (struct cts_flow_walk){0};
}
