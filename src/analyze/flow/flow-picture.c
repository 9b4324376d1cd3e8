#include "analyze/flow/flow-picture.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/hash.h"

static bool is_work(const struct cts_flow_node *node)
{
    return node->kind <= CTS_FLOW_MEMSET;
}

/* ---- places ---- */

/* What tells nodes apart in the picture: what they do, with which size, in which stream. */
static uint64_t kind_of(const struct cts_flow_result *flow, uint32_t node)
{
    const struct cts_flow_node *const n = &flow->order.nodes[node];
    uint64_t hash = cts_hash_unit(CTS_HASH_START, n->kind);
    hash = cts_hash_unit(hash, n->rank);
    hash = cts_hash_unit(hash, n->is_in_stream ? n->stream : UINT64_C(1) << 32 | n->thread);
    if (n->kind == CTS_FLOW_LAUNCH) {
        const struct cts_launch *const launch = &flow->catalogue->launches[n->index];
        hash = cts_hash_unit(hash, launch->kernel);
        for (unsigned i = 0; i < 3; i++) {
            hash = cts_hash_unit(hash, launch->grid[i]);
            hash = cts_hash_unit(hash, launch->block[i]);
        }
    } else if (is_work(n)) {
        const struct cts_copy *const copy = &flow->catalogue->copies[n->index];
        hash = cts_hash_text(hash, copy->kind);
        hash = cts_hash_unit(hash, copy->width_bytes);
        hash = cts_hash_unit(hash, copy->height);
        hash = cts_hash_unit(hash, copy->depth);
    }
    return cts_hash_mix(hash);
}

static enum cts_status show_nodes(const struct cts_flow_result *flow,
                                  struct cts_flow_picture *picture, struct cts_error *error)
{
    const size_t count = flow->order.node_count;
    picture->place_of = cts_array_zeroed(count, sizeof *picture->place_of, error);
    uint64_t *const kinds = cts_array_zeroed(count, sizeof *kinds, error);
    enum cts_status status = picture->place_of && kinds ? CTS_OK : CTS_MEMORY;
    size_t shown = 0;
    for (size_t i = 0; i < count && !status; i++)
        picture->place_of[i] = is_work(&flow->order.nodes[i]) ? 0 : CTS_NONE;
    for (size_t e = 0; e < flow->walk.edge_count && !status; e++) {
        if (!cts_flow_carries(&flow->walk.edges[e])) continue;
        picture->place_of[flow->walk.edges[e].from] = 0;
        picture->place_of[flow->walk.edges[e].to] = 0;
    }
    for (size_t i = 0; i < count && !status; i++)
        if (picture->place_of[i] != CTS_NONE) kinds[shown++] = kind_of(flow, (uint32_t)i);
    if (!status) status = cts_flow_fold_make(kinds, shown, &picture->fold, error);
    shown = 0;
    for (size_t i = 0; i < count && !status; i++)
        if (picture->place_of[i] != CTS_NONE) picture->place_of[i] = picture->fold.places[shown++];
    free(kinds);
    return status;
}

static enum cts_status sum_places(const struct cts_flow_result *flow,
                                  struct cts_flow_picture *picture, struct cts_error *error)
{
    picture->places = cts_array_zeroed(picture->fold.place_count, sizeof *picture->places, error);
    if (!picture->places) return CTS_MEMORY;
    for (uint32_t i = 0; i < flow->order.node_count; i++) {
        if (picture->place_of[i] == CTS_NONE) continue;
        struct cts_flow_place *const place = &picture->places[picture->place_of[i]];
        const struct cts_flow_use *const use = &flow->walk.uses[i];
        const uint8_t marks = flow->chain_marks ? flow->chain_marks[i] : 0;
        if (!place->times++) place->node = i;
        place->read_bytes += use->read_bytes;
        place->written_bytes += use->written_bytes;
        place->dead_bytes += use->overwritten_bytes + use->freed_bytes + use->left_bytes;
        place->on_enforced += (marks & CTS_FLOW_ON_ENFORCED) != 0;
        place->on_true += (marks & CTS_FLOW_ON_TRUE) != 0;
    }
    return CTS_OK;
}

/* ---- links ---- */

/* An edge between places, and the first allocation that is called like its own. */
struct link_key {
    uint32_t from, to;
    bool is_carried;
    uint32_t allocation;
    size_t edge;
};

static int by_link(const struct link_key *a, const struct link_key *b)
{
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    return a->is_carried - b->is_carried;
}

static int by_part(const struct link_key *a, const struct link_key *b)
{
    const int order = by_link(a, b);
    return order ? order : (a->allocation > b->allocation) - (a->allocation < b->allocation);
}

static int by_part_and_edge(const void *left, const void *right)
{
    const struct link_key *const a = left, *const b = right;
    const int order = by_part(a, b);
    return order ? order : (a->edge > b->edge) - (a->edge < b->edge);
}

/* An allocation by what it is called. */
struct called {
    const struct cts_allocation *row;
    uint32_t index;
};

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int by_call(const struct called *a, const struct called *b)
{
    const int path = compare_texts(a->row->path, b->row->path);
    if (path) return path;
    if (a->row->line != b->row->line) return a->row->line < b->row->line ? -1 : 1;
    return compare_texts(a->row->variable, b->row->variable);
}

static int by_call_and_index(const void *left, const void *right)
{
    const struct called *const a = left, *const b = right;
    const int order = by_call(a, b);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* By allocation: the first that the same line made for the same variable. */
static uint32_t *first_alike(const struct cts_catalogue *catalogue, struct cts_error *error)
{
    const size_t count = catalogue->allocation_count;
    uint32_t *const first = cts_array_zeroed(count, sizeof *first, error);
    struct called *const all = cts_array_zeroed(count, sizeof *all, error);
    if (!first || !all) {
        free(first);
        free(all);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        all[i] = (struct called){&catalogue->allocations[i], (uint32_t)i};
    if (count > 1) qsort(all, count, sizeof *all, by_call_and_index);
    for (size_t i = 0; i < count; i++) {
        const bool is_alike = i && all[i].row->path && !by_call(&all[i - 1], &all[i]);
        first[all[i].index] = is_alike ? first[all[i - 1].index] : all[i].index;
    }
    free(all);
    return first;
}

/* How many nodes of the place come before, by node. */
static uint32_t *number_occurrences(const struct cts_flow_result *flow,
                                    const struct cts_flow_picture *picture, struct cts_error *error)
{
    const size_t count = flow->order.node_count;
    uint32_t *const numbers = cts_array_zeroed(count, sizeof *numbers, error);
    uint32_t *const next = cts_array_zeroed(picture->fold.place_count, sizeof *next, error);
    if (!numbers || !next) {
        free(numbers);
        free(next);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (picture->place_of[i] != CTS_NONE) numbers[i] = next[picture->place_of[i]]++;
    free(next);
    return numbers;
}

static bool is_carried(const struct cts_flow_picture *picture, const struct cts_flow_edge *e,
                       const uint32_t *numbers)
{
    const uint32_t from = picture->place_of[e->from], to = picture->place_of[e->to];
    const bool is_alike = picture->places[from].times == picture->places[to].times;
    return from >= to || (is_alike && numbers[e->from] != numbers[e->to]);
}

static void add_edge(struct cts_flow_sums *sums, const struct cts_flow_edge *e)
{
    sums->edges++;
    sums->raw_bytes += e->raw_bytes;
    sums->possible_raw_bytes += e->possible_raw_bytes;
    sums->war_bytes += e->war_bytes;
    sums->waw_bytes += e->waw_bytes;
    sums->commuting_bytes += e->commuting_bytes;
    sums->race_bytes += e->race_bytes;
}

static void sum_links(const struct cts_flow_result *flow, struct cts_flow_picture *picture,
                      const struct link_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct cts_flow_edge *const e = &flow->walk.edges[keys[i].edge];
        if (!i || by_link(&keys[i - 1], &keys[i]))
            picture->links[picture->link_count++] =
                (struct cts_flow_link){.from = keys[i].from,
                                       .to = keys[i].to,
                                       .is_carried = keys[i].is_carried,
                                       .part_begin = picture->part_count};
        if (!i || by_part(&keys[i - 1], &keys[i]))
            picture->parts[picture->part_count++] =
                (struct cts_flow_part){.allocation = e->allocation,
                                       .from = e->from,
                                       .to = e->to,
                                       .first = e->first,
                                       .end = e->end};
        struct cts_flow_link *const link = &picture->links[picture->link_count - 1];
        link->part_end = picture->part_count;
        add_edge(&link->sums, e);
        add_edge(&picture->parts[picture->part_count - 1].sums, e);
    }
}

static enum cts_status link_places(const struct cts_flow_result *flow,
                                   struct cts_flow_picture *picture, struct cts_error *error)
{
    const size_t edges = flow->walk.edge_count;
    uint32_t *const alike = first_alike(flow->catalogue, error);
    uint32_t *const numbers = number_occurrences(flow, picture, error);
    struct link_key *const keys = cts_array_zeroed(edges, sizeof *keys, error);
    picture->links = cts_array_zeroed(edges, sizeof *picture->links, error);
    picture->parts = cts_array_zeroed(edges, sizeof *picture->parts, error);
    const bool has_room = alike && numbers && keys && picture->links && picture->parts;
    size_t count = 0;
    for (size_t i = 0; i < edges && has_room; i++) {
        const struct cts_flow_edge *const e = &flow->walk.edges[i];
        if (!cts_flow_carries(e)) continue;
        keys[count++] = (struct link_key){
            .from = picture->place_of[e->from],
            .to = picture->place_of[e->to],
            .is_carried = is_carried(picture, e, numbers),
            .allocation = e->allocation == CTS_NONE ? CTS_NONE : alike[e->allocation],
            .edge = i,
        };
    }
    if (count > 1) qsort(keys, count, sizeof *keys, by_part_and_edge);
    if (has_room) sum_links(flow, picture, keys, count);
    free(alike);
    free(numbers);
    free(keys);
    return has_room ? CTS_OK : CTS_MEMORY;
}

/* ---- the matrix ---- */

static enum cts_status fill_matrix(const struct cts_flow_result *flow,
                                   struct cts_flow_picture *picture, struct cts_error *error)
{
    const size_t count = flow->order.node_count;
    uint32_t *const work = cts_array_zeroed(count, sizeof *work, error);
    if (!work) return CTS_MEMORY;
    for (size_t i = 0; i < count; i++)
        work[i] = is_work(&flow->order.nodes[i]) ? (uint32_t)picture->work_count++ : CTS_NONE;
    picture->bin_size = (picture->work_count + CTS_FLOW_MATRIX_BINS - 1) / CTS_FLOW_MATRIX_BINS;
    if (!picture->bin_size) picture->bin_size = 1;
    const uint32_t bins =
        (uint32_t)((picture->work_count + picture->bin_size - 1) / picture->bin_size);
    picture->bin_count = bins;
    picture->matrix = cts_array_zeroed((size_t)bins * bins, sizeof *picture->matrix, error);
    for (size_t e = 0; picture->matrix && e < flow->walk.edge_count; e++) {
        const struct cts_flow_edge *const edge = &flow->walk.edges[e];
        const uint32_t from = work[edge->from], to = work[edge->to];
        if (from != CTS_NONE && to != CTS_NONE)
            picture->matrix[to / picture->bin_size * bins + from / picture->bin_size] +=
                edge->raw_bytes;
    }
    free(work);
    return picture->matrix ? CTS_OK : CTS_MEMORY;
}

/* ---- the whole ---- */

enum cts_status cts_flow_picture_make(const struct cts_flow_result *flow,
                                      struct cts_flow_picture *picture, struct cts_error *error)
{
    *picture = (struct cts_flow_picture){0};
    enum cts_status status = show_nodes(flow, picture, error);
    if (!status) status = sum_places(flow, picture, error);
    if (!status) status = link_places(flow, picture, error);
    if (!status) status = fill_matrix(flow, picture, error);
    if (status) cts_flow_picture_release(picture);
    return status;
}

void cts_flow_picture_release(struct cts_flow_picture *picture)
{
    cts_flow_fold_release(&picture->fold);
    free(picture->place_of);
    free(picture->places);
    free(picture->links);
    free(picture->parts);
    free(picture->matrix);
    *picture = (struct cts_flow_picture){0};
}
