/* The warps of each granule of a window.
 *
 * First each granule remembers one warp, or that there are several: in most launches that ends it,
 * since most bytes are one warp's. Granules of several warps then get a *state* each, and the
 * records are gone through again. While the records of one CTA pass, which stand together, its
 * warps are bits; when another CTA comes, they are added to what the granule knows: how many warps,
 * how many that write, how many that write without an atomic operation, and a hash of the set of
 * (warp, what it does), so that two granules of the same warps have the same hash. (Two sets may
 * have the same hash by an accident of 1 in 2^64.)
 *
 * Warps of a CTA whose records come in several pieces, and those numbered 32 and above, are kept in
 * a map (granule, warp) -> what it does instead. When there are too many states, or the map becomes
 * too large, the window is halved. */
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "view/selection/conflict.h"
#include "view/selection/divide.h"
#include "common/array.h"
#include "common/map.h"

enum {
    WARP_BITS = 32,
    STATES_MAX = 3 << 19,
    ODD_MAX = 1 << 20,  /* entries of the map */
    ODD_WARP_BITS = 40, /* of a key of the map */
};
#define SEVERAL UINT32_MAX

struct state {
    uint64_t hash;
    uint32_t cta;                  /* whose warps the bits are */
    uint32_t reads, writes, plain; /* bits */
    uint32_t warps, writers, plain_writers;
};

struct conflict_room {
    struct block_builder builder;
    uint32_t *first;   /* by granule: 1 + a warp, SEVERAL; then the place of its state */
    uint64_t *several; /* bits */
    struct state *states;
    struct cts_map odd;
    uint8_t *passes;
    size_t passes_room;
    /* the pass at hand */
    const struct conflict_window *window;
    size_t low, high;               /* granules */
    uint64_t first_byte, last_byte; /* of global memory: theirs, as far as they are looked at */
    bool is_counting;               /* states are filled */
    bool is_full;                   /* of the map */
};

/* ---- where a lane goes ---- */

/* Granules [from, to) of a window; from >= to: none. */
struct granules {
    size_t from, to;
};

/* Those that bytes of a CTA are in; bytes that end before they begin go up to the last address. */
static inline struct granules granules_of(const struct conflict_worker *worker, uint32_t cta,
                                          struct block_hull bytes)
{
    static const struct granules none = {0, 0};
    uint64_t first = bytes.first, last = bytes.last;
    const struct conflict_plan *const plan = worker->plan;
    const struct conflict_room *const room = worker->room;
    if (last < first) last = UINT64_MAX;
    if (first > plan->clip_last || last < plan->clip_first) return none;
    if (first < plan->clip_first) first = plan->clip_first;
    if (last > plan->clip_last) last = plan->clip_last;
    uint64_t base = 0, low = room->low, high = room->high;
    if (plan->view == VIEW_SHARED) {
        base = (uint64_t)(cta - room->window->first_cta) * plan->per_cta;
    } else {
        if (last < room->window->first) return none;
        first = first < room->window->first ? 0 : first - room->window->first;
        last -= room->window->first;
    }
    uint64_t a = base + (first >> plan->shift), b = base + (last >> plan->shift) + 1;
    if (a < low) a = low;
    if (b > high) b = high;
    return (struct granules){(size_t)a, (size_t)b};
}

/* ---- states ---- */

static inline void add_warp(struct state *state, uint64_t warp, unsigned does)
{
    state->hash ^= cts_hash_draw(warp << 3 | does);
    state->warps++;
    state->writers += (does & DOES_WRITE) != 0;
    state->plain_writers += (does & DOES_PLAIN) != 0;
}

/* Adds the CTA's warps to what is known. */
static void fold(struct state *state)
{
    for (uint32_t bits = state->reads | state->writes; bits; bits &= bits - 1) {
        const unsigned warp = (unsigned)__builtin_ctz(bits);
        const unsigned does = (state->reads >> warp & 1) * DOES_READ |
                              (state->writes >> warp & 1) * DOES_WRITE |
                              (state->plain >> warp & 1) * DOES_PLAIN;
        add_warp(state, (uint64_t)state->cta << 16 | warp, does);
    }
    state->reads = state->writes = state->plain = 0;
}

/* Who touches. */
struct toucher {
    uint32_t cta, ordinal; /* ordinal: 1 + of the warp in the launch; 0: too large */
    uint32_t bit;          /* 0: an odd warp */
    uint16_t warp;
    uint64_t odd; /* its ordinal among those */
    unsigned does;
};

static enum cts_status add_odd(struct conflict_room *room, size_t granule,
                               const struct toucher *who, struct cts_error *error)
{
    if (room->odd.count >= ODD_MAX) {
        room->is_full = true;
        return CTS_OK;
    }
    uint64_t *const does =
        cts_map_at(&room->odd, (uint64_t)granule << ODD_WARP_BITS | who->odd, error);
    if (!does) return CTS_MEMORY;
    *does = ((uint64_t)who->cta << 16 | who->warp) << 3 | (*does & 7) | who->does;
    return CTS_OK;
}

/* `ordinal` 0: no number stands for that warp. */
static inline void note_first(uint32_t *first, uint32_t ordinal)
{
    const uint32_t alone = ordinal ? ordinal : SEVERAL;
    const uint32_t joined = *first == ordinal ? ordinal : SEVERAL;
    *first = *first ? joined : alone;
}

static inline enum cts_status touch(struct conflict_room *room, size_t granule,
                                    const struct toucher *who, struct cts_error *error)
{
    if (!room->is_counting) {
        note_first(&room->first[granule], who->ordinal);
        return CTS_OK;
    }
    if (!(room->several[granule / 64] >> granule % 64 & 1)) return CTS_OK;
    if (!who->bit) return add_odd(room, granule, who, error);
    struct state *const state = &room->states[room->first[granule]];
    if (state->cta != who->cta) {
        fold(state);
        state->cta = who->cta;
    }
    if (who->does & DOES_READ) state->reads |= who->bit;
    if (who->does & DOES_WRITE) state->writes |= who->bit;
    if (who->does & DOES_PLAIN) state->plain |= who->bit;
    return CTS_OK;
}

/* ---- records ---- */

static inline enum cts_status touch_all(struct conflict_room *room, struct granules granules,
                                        const struct toucher *who, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t g = granules.from; g < granules.to && !status; g++)
        status = touch(room, g, who, error);
    return status;
}

/* Lanes as wide as a granule, of which each is one: no branch depends on where they go, and all are
 * fetched before the first one is looked at. */
static enum cts_status touch_narrow(struct conflict_worker *worker, const struct block *block,
                                    size_t i, const struct toucher *who, struct cts_error *error)
{
    const struct block_shape *const shape = block_shape_of(block, i);
    const struct conflict_plan *const plan = worker->plan;
    struct conflict_room *const room = worker->room;
    const uint64_t base = plan->view == VIEW_SHARED
                              ? (uint64_t)(who->cta - room->window->first_cta) * plan->per_cta
                              : -(room->window->first >> plan->shift);
    uint64_t addresses[CTS_WARP_LANES];
    uint32_t granules[CTS_WARP_LANES];
    unsigned count = 0;
    block_addresses(block, shape, i, addresses);
    for (unsigned k = 0; k < shape->lanes; k++) {
        const uint64_t granule = (addresses[k] >> plan->shift) + base;
        granules[count] = (uint32_t)granule;
        count += granule - room->low < room->high - room->low;
    }
    if (room->is_counting) {
        unsigned end = 0;
        for (unsigned k = 0; k < count; k++) {
            const uint32_t granule = granules[k];
            granules[end] = granule;
            end += room->several[granule / 64] >> granule % 64 & 1;
        }
        count = end;
    }
    for (unsigned k = 0; k < count; k++) __builtin_prefetch(&room->first[granules[k]], 1);
    if (!room->is_counting) {
        for (unsigned k = 0; k < count; k++) note_first(&room->first[granules[k]], who->ordinal);
        return CTS_OK;
    }
    if (who->bit)
        for (unsigned k = 0; k < count; k++)
            __builtin_prefetch(&room->states[room->first[granules[k]]], 1);
    for (unsigned k = 0; k < count; k++)
        if (touch(room, granules[k], who, error)) return CTS_MEMORY;
    return CTS_OK;
}

static enum cts_status touch_record(struct conflict_worker *worker, const struct block *block,
                                    size_t i, const struct toucher *who, struct cts_error *error)
{
    const struct block_shape *const shape = block_shape_of(block, i);
    struct granules granules = {0, 0};
    const bool is_narrow = worker->plan->is_whole && shape->width_bytes == 1 << worker->plan->shift;
    if (is_narrow && shape->pattern == CTS_PATTERN_LIST)
        return touch_narrow(worker, block, i, who, error);
    const struct block_hull hull = block_hull(block, shape, i);
    const bool is_whole = hull.first <= hull.last;
    if (is_whole) granules = granules_of(worker, who->cta, hull);
    if (is_whole && granules.from >= granules.to) return CTS_OK;
    /* Lanes side by side are one range. */
    const bool is_dense = shape->pattern == CTS_PATTERN_AFFINE && shape->s0 == shape->width_bytes &&
                          hull.last - hull.first + 1 == (uint64_t)shape->lanes * shape->width_bytes;
    if (is_whole && (is_dense || shape->pattern == CTS_PATTERN_UNIFORM)) {
        return touch_all(worker->room, granules, who, error);
    }
    if (is_narrow) return touch_narrow(worker, block, i, who, error);
    uint64_t addresses[CTS_WARP_LANES];
    block_addresses(block, shape, i, addresses);
    const struct conflict_room *const room = worker->room;
    const bool is_global = worker->plan->view == VIEW_GLOBAL && is_whole;
    for (unsigned k = 0; k < shape->lanes; k++) {
        /* Of scattered lanes most go elsewhere. */
        if (is_global && (addresses[k] > room->last_byte ||
                          addresses[k] + shape->width_bytes <= room->first_byte))
            continue;
        granules =
            granules_of(worker, who->cta,
                        (struct block_hull){addresses[k], addresses[k] + shape->width_bytes - 1u});
        const enum cts_status status = touch_all(worker->room, granules, who, error);
        if (status) return status;
    }
    return CTS_OK;
}

/* The numbers of a warp whose CTA, place in it and deeds are set; `split`: the CTA's place among
 * those that come in pieces, or UINT32_MAX. */
static inline enum cts_status number_toucher(const struct view *view, uint32_t split,
                                             struct toucher *who, struct cts_error *error)
{
    const uint64_t ordinal = (uint64_t)who->cta * view->warp_end + who->warp;
    const uint64_t place = split == UINT32_MAX ? who->cta : split;
    const bool is_odd = split != UINT32_MAX || who->warp >= WARP_BITS;
    who->ordinal = ordinal < SEVERAL - 1 ? (uint32_t)ordinal + 1 : 0;
    who->bit = is_odd ? 0 : UINT32_C(1) << who->warp;
    who->odd = (split == UINT32_MAX ? UINT64_C(1) << (ODD_WARP_BITS - 1) : 0) |
               (place * view->warp_end + who->warp);
    if (is_odd && place * view->warp_end + who->warp >= UINT64_C(1) << (ODD_WARP_BITS - 1))
        return cts_fail(error, CTS_UNSUPPORTED, "too many warps");
    return CTS_OK;
}

static enum cts_status touch_segment(struct conflict_worker *worker, const struct scan_block *it,
                                     size_t segment, struct cts_error *error)
{
    const struct view *const view = it->scan->view;
    const struct block *const block = it->block;
    const uint32_t cta = block->segments[segment].cta;
    const uint32_t split = cts_view_split_place(view, cta);
    enum cts_status status = CTS_OK;
    SCAN_RECORDS(it, segment, i)
    {
        const struct block_shape *const shape = &block->shapes[block->shape[i]];
        if (shape->view != worker->plan->view) continue;
        struct toucher who = {.cta = cta, .warp = block->warp[i], .does = conflict_does(shape)};
        status = number_toucher(view, split, &who, error);
        if (status) break;
        status = touch_record(worker, block, i, &who, error);
        if (status) break;
    }
    return status;
}

static enum cts_status visit(void *state, const struct scan_block *it, struct cts_error *error)
{
    struct conflict_worker *const worker = state;
    const struct conflict_window *const window = worker->room->window;
    enum cts_status status = CTS_OK;
    SCAN_SEGMENTS(it, segment)
    {
        const uint32_t cta = it->block->segments[segment].cta;
        if (worker->plan->view == VIEW_SHARED &&
            (cta < window->first_cta || cta > window->last_cta))
            continue;
        status = touch_segment(worker, it, segment, error);
        if (status || worker->room->is_full) break;
    }
    return status;
}

/* ---- entries ---- */

static void note_entries(struct conflict_room *room, const uint64_t *items, size_t count)
{
    for (size_t e = 0; e < count; e++) {
        const uint64_t ordinal = conflict_entry_who(items[e]) >> CONFLICT_DOES_BITS;
        const uint32_t number = ordinal < SEVERAL - 1 ? (uint32_t)ordinal + 1 : 0;
        uint32_t *const first = &room->first[conflict_entry_granule(items[e])];
        for (uint32_t g = 0; g < conflict_entry_count(items[e]); g++) note_first(&first[g], number);
    }
}

static bool is_several(const struct conflict_room *room, size_t from, size_t to)
{
    for (; from < to; from++)
        if (room->several[from / 64] >> from % 64 & 1) return true;
    return false;
}

static enum cts_status visit_entries(void *state, const uint64_t *items, size_t count,
                                     struct cts_error *error)
{
    struct conflict_worker *const worker = state;
    const struct view *const view = worker->plan->scan->view;
    struct conflict_room *const room = worker->room;
    enum cts_status status = CTS_OK;
    if (!room->is_counting) note_entries(room, items, count);
    for (size_t e = 0; e < count && room->is_counting && !status; e++) {
        size_t from = conflict_entry_granule(items[e]), to = from + conflict_entry_count(items[e]);
        if (from < room->low) from = room->low;
        if (to > room->high) to = room->high;
        if (!is_several(room, from, to)) continue;
        const uint64_t who = conflict_entry_who(items[e]);
        const uint64_t cta = divide(who >> CONFLICT_DOES_BITS, worker->warp_end);
        const uint64_t warp = (who >> CONFLICT_DOES_BITS) - cta * view->warp_end;
        struct toucher toucher = {.cta = (uint32_t)cta,
                                  .warp = (uint16_t)warp,
                                  .does = who & ((1 << CONFLICT_DOES_BITS) - 1)};
        const uint32_t split =
            view->split.count ? cts_view_split_place(view, (uint32_t)cta) : UINT32_MAX;
        status = number_toucher(view, split, &toucher, error);
        for (; from < to && !status; from++) status = touch(room, from, &toucher, error);
    }
    return status;
}

/* Goes through the entries of the window, or all chunks that may touch its granules low..high. */
static enum cts_status pass(struct conflict_worker *worker, struct cts_error *error)
{
    const struct conflict_plan *const plan = worker->plan;
    struct conflict_room *const room = worker->room;
    if (plan->entries)
        return cts_conflict_entries_visit(plan->entries, (size_t)(room->window - plan->windows),
                                          visit_entries, worker, error);
    struct scan *const scan = plan->scan;
    const struct conflict_window *const window = room->window;
    room->first_byte = window->first + ((uint64_t)room->low << plan->shift);
    room->last_byte = window->first + ((uint64_t)room->high << plan->shift) - 1;
    enum cts_status status = CTS_OK;
    const bool is_known = plan->view == VIEW_SHARED && window->chunk != SIZE_MAX;
    const size_t end = is_known ? window->chunk + 1 : scan->view->chunk_count;
    const struct scan_visitor visitor = {&room->builder, visit, worker};
    for (size_t k = is_known ? window->chunk : 0; k < end && !status && !room->is_full; k++) {
        const struct cts_acc_chunk *const chunk = &scan->view->chunks[k];
        const bool may_touch =
            plan->view == VIEW_SHARED
                ? chunk->first_cta <= window->last_cta && chunk->last_cta >= window->first_cta &&
                      scan->view->summaries[k].spaces[VIEW_SHARED].access_count
                : cts_selection_scan_may_touch(scan, k, VIEW_GLOBAL, room->first_byte,
                                               room->last_byte);
        if (!may_touch || !cts_selection_scan_may_pass(scan, k)) continue;
        if (is_given_up(scan->question))
            status = cts_fail(error, CTS_IO, "the request was cancelled");
        else
            status = cts_selection_scan_with(scan, k, &visitor, error);
    }
    return status;
}

/* ---- pieces ---- */

static bool is_same(const struct conflict_piece *piece, const struct state *state)
{
    return piece->hash == state->hash && piece->warp_count == state->warps &&
           piece->writer_count == state->writers;
}

static enum cts_status put_piece(struct conflict_worker *worker, struct conflict_pieces *pieces,
                                 const struct conflict_piece *piece, struct cts_error *error)
{
    if (!pieces->total++) pieces->first = *piece;
    pieces->last = *piece;
    if (pieces->kinds[piece->kind].count >= worker->plan->limit) return CTS_OK;
    if (CTS_ARRAY_RESERVE(&pieces->kinds[piece->kind], pieces->kinds[piece->kind].count + 1, error))
        return CTS_MEMORY;
    pieces->kinds[piece->kind].items[pieces->kinds[piece->kind].count++] = *piece;
    return CTS_OK;
}

static struct conflict_piece piece_of(const struct conflict_worker *worker, size_t granule,
                                      const struct state *state)
{
    const struct conflict_plan *const plan = worker->plan;
    const struct conflict_window *const window = worker->room->window;
    const bool is_shared = plan->view == VIEW_SHARED;
    const size_t at = is_shared ? granule % plan->per_cta : granule;
    const uint64_t first = (is_shared ? 0 : window->first) + ((uint64_t)at << plan->shift);
    return (struct conflict_piece){
        .first = first,
        .last = first + ((UINT64_C(1) << plan->shift) - 1),
        .hash = state->hash,
        .cta = is_shared ? window->first_cta + (uint32_t)(granule / plan->per_cta) : CTS_NONE,
        .warp_count = state->warps,
        .writer_count = state->writers,
        .kind = (uint8_t)(state->plain_writers ? CONFLICT_PLAIN
                          : state->writers     ? CONFLICT_ATOMIC
                                               : CONFLICT_READ),
    };
}

/* Goes on with the piece that ends before this pass, if it does. */
static enum cts_status collect(struct conflict_worker *worker, struct conflict_piece *open,
                               bool *is_open, struct conflict_pieces *pieces,
                               struct cts_error *error)
{
    const struct conflict_room *const room = worker->room;
    for (size_t g = room->low; g < room->high; g++) {
        struct state *const state =
            room->several[g / 64] >> g % 64 & 1 ? &room->states[room->first[g]] : NULL;
        const bool is_conflict = state && state->warps > 1;
        if (is_conflict) {
            const struct conflict_piece next = piece_of(worker, g, state);
            if (*is_open && is_same(open, state) && open->last + 1 == next.first &&
                open->cta == next.cta) {
                open->last = next.last;
                continue;
            }
            if (*is_open && put_piece(worker, pieces, open, error)) return CTS_MEMORY;
            *open = next;
        } else if (*is_open && put_piece(worker, pieces, open, error)) {
            return CTS_MEMORY;
        }
        *is_open = is_conflict;
    }
    return CTS_OK;
}

/* ---- a window ---- */

static void add_odd_warps(struct conflict_room *room)
{
    for (size_t e = 0; e < room->odd.capacity; e++) {
        if (!room->odd.used[e]) continue;
        const struct cts_map_entry *const entry = &room->odd.entries[e];
        const size_t granule = (size_t)(entry->key >> ODD_WARP_BITS);
        add_warp(&room->states[room->first[granule]], entry->value >> 3, entry->value & 7);
    }
}

/* Gives each granule of several warps in low..high a state; false: there are too many. */
static bool give_states(struct conflict_room *room)
{
    size_t count = 0;
    for (size_t g = room->low; g < room->high; g++) {
        if (!(room->several[g / 64] >> g % 64 & 1)) continue;
        if (count == STATES_MAX) return false;
        room->first[g] = (uint32_t)count++;
    }
    memset(room->states, 0, count * sizeof *room->states);
    return true;
}

struct piece_state {
    struct conflict_pieces *pieces; /* those that are closed */
    struct conflict_piece open;
    bool is_open;
};

static enum cts_status count_between(struct conflict_worker *worker, size_t low, size_t high,
                                     struct piece_state *state, struct cts_error *error)
{
    struct conflict_room *const room = worker->room;
    enum cts_status status = CTS_OK;
    room->low = low;
    room->high = high;
    room->is_full = !give_states(room);
    cts_map_release(&room->odd);
    room->odd = (struct cts_map){0};
    if (!room->is_full) status = pass(worker, error);
    if (status) return status;
    if (room->is_full) {
        const size_t middle = low + (high - low) / 2;
        room->is_full = false;
        if (middle == low) return cts_fail(error, CTS_UNSUPPORTED, "too many warps at one address");
        status = count_between(worker, low, middle, state, error);
        return status ? status : count_between(worker, middle, high, state, error);
    }
    for (size_t g = low; g < high; g++)
        if (room->several[g / 64] >> g % 64 & 1) fold(&room->states[room->first[g]]);
    add_odd_warps(room);
    return collect(worker, &state->open, &state->is_open, state->pieces, error);
}

static enum cts_status make_room(struct conflict_worker *worker, struct cts_error *error)
{
    if (worker->room) return CTS_OK;
    struct conflict_room *const room = cts_array_zeroed(1, sizeof *room, error);
    worker->room = room;
    if (!room) return CTS_MEMORY;
    room->first = cts_array_zeroed(CONFLICT_WINDOW_GRANULES, sizeof *room->first, error);
    room->several = cts_array_zeroed(CONFLICT_WINDOW_GRANULES / 64, sizeof *room->several, error);
    room->states = cts_array_zeroed(STATES_MAX, sizeof *room->states, error);
    return room->first && room->several && room->states ? CTS_OK : CTS_MEMORY;
}

enum cts_status cts_conflict_find(struct conflict_worker *worker, size_t index,
                                  struct cts_error *error)
{
    if (make_room(worker, error)) return CTS_MEMORY;
    if (is_given_up(worker->plan->scan->question))
        return cts_fail(error, CTS_IO, "the request was cancelled");
    worker->warp_end = divisor_of(worker->plan->scan->view->warp_end);
    struct conflict_room *const room = worker->room;
    const struct conflict_window *const window = &worker->plan->windows[index];
    struct conflict_pieces *const pieces = &worker->plan->pieces[index];
    const size_t count = window->granule_count;
    room->window = window;
    room->low = 0;
    room->high = count;
    room->is_counting = room->is_full = false;
    memset(room->first, 0, count * sizeof *room->first);
    enum cts_status status = pass(worker, error);
    if (status) return status;
    bool any = false;
    memset(room->several, 0, (count + 63) / 64 * sizeof *room->several);
    for (size_t g = 0; g < count; g++) {
        const bool is_several = room->first[g] == SEVERAL;
        room->several[g / 64] |= (uint64_t)is_several << g % 64;
        any |= is_several;
    }
    if (!any) return CTS_OK;
    struct piece_state state = {.pieces = pieces};
    room->is_counting = true;
    status = count_between(worker, 0, count, &state, error);
    if (!status && state.is_open) status = put_piece(worker, pieces, &state.open, error);
    return status;
}

void cts_conflict_worker_release(struct conflict_worker *worker)
{
    struct conflict_room *const room = worker->room;
    if (!room) return;
    worker->plan->scan->selection->source->release(&room->builder.batch);
    cts_block_builder_release(&room->builder);
    free(room->first);
    free(room->several);
    free(room->states);
    cts_map_release(&room->odd);
    free(room);
    worker->room = NULL;
}
