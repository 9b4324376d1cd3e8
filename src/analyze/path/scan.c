/* What a location must know of itself for cuts (scan.h): what it has begun and not ended.
 *
 * The first thread of a process makes the candidates, the other locations, read after it, say at
 * each whether something is under way there. All of this errs on the safe side: what is not sure to
 * be over makes no cut. A thread counts as done with a stream only if it has itself awaited it. */
#include "analyze/path/scan.h"

#include <stdlib.h>

#include "analyze/path/api.h"
#include "analyze/path/load.h"
#include "common/hash.h"
#include "common/promise.h"

/* ---- numbers drawn from things ---- */

static uint64_t draw(uint64_t kind, uint64_t a, uint64_t b)
{
    return cts_hash_draw(cts_hash_draw(cts_hash_draw(kind) ^ a) ^ b);
}

enum { DRAW_MESSAGE = 1, DRAW_MEMBER, DRAW_THREAD, DRAW_WORK };

/* ---- candidates ---- */

/* Nothing of this location is under way. `below`: as many open regions may be, if they are plain.
 */
static bool is_clean(const struct load *load, size_t below)
{
    const struct cts_path_scan *const scan = load->scan;
    if (scan->spoiled || scan->forks || scan->locks || scan->dirty.count || scan->failed.count ||
        load->request_count || load->team_depth || load->probe != CTS_PATH_NONE ||
        load->stack.count > below)
        return false;
    for (size_t i = 0; i < load->epochs.count; i++)
        if (load->epochs.items[i].posted != CTS_PATH_NONE ||
            load->epochs.items[i].started != CTS_PATH_NONE)
            return false;
    for (size_t i = 0; i < load->stack.count; i++)
        if (load->system->regions[load->stack.items[i].region].kind != CTS_PATH_PLAIN ||
            load->stack.items[i].parallel)
            return false;
    return true;
}

static void add_cut(struct load *load, const struct cts_path_cut *cut)
{
    struct cts_path_cuts *const cuts = load->scan->cuts;
    if (CTS_ARRAY_RESERVE(cuts, cuts->count + 1, load->error))
        load->status = CTS_MEMORY;
    else
        cuts->items[cuts->count++] = *cut;
}

/* This location, which is not the first of its process, at a candidate. */
static void pass_cut(struct load *load, struct cts_path_cut *cut, bool between)
{
    assert(!load->scan->first);
    struct cts_path_scan *const scan = load->scan;
    __atomic_fetch_add(&cut->events, load->counts.event_count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&cut->balance, scan->balance, __ATOMIC_RELAXED);
    __atomic_fetch_add(&cut->works, scan->works, __ATOMIC_RELAXED);
    if (between || !is_clean(load, 0)) __atomic_fetch_add(&cut->unclean, 1, __ATOMIC_RELAXED);
}

void cts_scan_event(struct load *load, uint64_t time_ns)
{
    struct cts_path_scan *const scan = load->scan;
    if (scan->first) return;
    load->counts.event_count--; /* the one at hand comes after the cut */
    while (scan->next < scan->cuts->count && scan->cuts->items[scan->next].enter_ns <= time_ns) {
        struct cts_path_cut *const cut = &scan->cuts->items[scan->next++];
        pass_cut(load, cut, time_ns <= cut->leave_ns);
    }
    load->counts.event_count++;
}

/* A flush is one event: nothing can be cut while it goes on. */
void cts_scan_flush(struct load *load, uint64_t end_ns)
{
    struct cts_path_scan *const scan = load->scan;
    while (!scan->first && scan->next < scan->cuts->count &&
           scan->cuts->items[scan->next].enter_ns <= end_ns)
        pass_cut(load, &scan->cuts->items[scan->next++], true);
}

void cts_scan_end(struct load *load)
{
    struct cts_path_scan *const scan = load->scan;
    scan->first_ns = load->counts.node_count ? load->counts.first_ns : UINT64_MAX;
    while (!scan->first && scan->next < scan->cuts->count)
        pass_cut(load, &scan->cuts->items[scan->next++], false);
}

/* A thread that OpenMP does not begin: nothing says what its first region follows. */
void cts_scan_entered(struct load *load, const struct frame *frame)
{
    struct cts_path_scan *const scan = load->scan;
    const struct cts_path_region *const region = &load->system->regions[frame->region];
    if (!scan->first) {
        scan->spoiled |=
            load->stack.count == 1 && !load->team_depth && region->kind != CTS_PATH_TASK;
        return;
    }
    if (scan->alone || region->paradigm != CTS_PARADIGM_MPI) return;
    scan->is_cut = false;
    scan->at_node = frame->node;
    scan->at = (struct cts_path_cut){.enter_ns = frame->enter_ns,
                                     .index = load->counts.event_count - 1,
                                     .events = load->counts.event_count,
                                     .balance = scan->balance,
                                     .works = scan->works,
                                     .unclean = !is_clean(load, load->stack.count)};
}

void cts_scan_collective(struct load *load, uint32_t communicator)
{
    struct cts_path_scan *const scan = load->scan;
    if (!scan->first || scan->alone || communicator != scan->world) return;
    if (cts_load_top_node(load) == scan->at_node && !scan->is_cut &&
        load->counts.event_count - scan->at.index <= 3) { /* enter, begin, end */
        scan->is_cut = true;
        return;
    }
    /* Something happened within the call: it counts, so that the i-th is the same everywhere. */
    add_cut(load, &(struct cts_path_cut){
                      .enter_ns = load->last_ns, .leave_ns = load->last_ns, .unclean = 1});
}

void cts_scan_left(struct load *load, const struct frame *frame, uint64_t leave_ns)
{
    struct cts_path_scan *const scan = load->scan;
    if (!scan->first) return;
    if (!scan->alone) {
        if (!scan->is_cut || frame->node != scan->at_node) return;
        scan->is_cut = false;
        scan->at_node = CTS_PATH_NONE;
        scan->at.leave_ns = leave_ns;
        scan->at.unclean |= load->counts.event_count - scan->at.index > 4;
        add_cut(load, &scan->at);
        return;
    }
    const struct cts_path_region *const region = &load->system->regions[frame->region];
    if (region->kind != CTS_PATH_API ||
        (region->api != CTS_PATH_API_SYNC_DEVICE && region->api != CTS_PATH_API_SYNC_CONTEXT))
        return;
    add_cut(load, &(struct cts_path_cut){.enter_ns = leave_ns,
                                         .leave_ns = leave_ns,
                                         .index = load->counts.event_count - 1,
                                         .events = load->counts.event_count,
                                         .balance = scan->balance,
                                         .works = scan->works,
                                         .unclean = !is_clean(load, load->stack.count)});
}

/* ---- devices ---- */

enum work { WORK_KERNEL, WORK_COPY, WORK_MEMSET };

/* What has no correlation is matched by its kind and order. */
void cts_scan_activity(struct load *load, const struct frame *frame)
{
    const struct cts_path_system *const system = load->system;
    if (frame->reference || frame->region == system->pseudo + CTS_PATH_FLUSH) return;
    enum work work = WORK_KERNEL;
    if (frame->region >= system->pseudo)
        work = WORK_COPY;
    else if (system->regions[frame->region].kind == CTS_PATH_API)
        work = WORK_MEMSET;
    load->scan->works -= draw(DRAW_WORK, work, 0);
}

static void make_dirty(struct load *load, uint32_t stream)
{
    struct cts_path_scan *const scan = load->scan;
    for (size_t i = 0; i < scan->dirty.count; i++)
        if (scan->dirty.items[i] == stream) return;
    if (CTS_ARRAY_RESERVE(&scan->dirty, scan->dirty.count + 1, load->error))
        load->status = CTS_MEMORY;
    else
        scan->dirty.items[scan->dirty.count++] = stream;
}

static void make_clean(struct cts_path_scan *scan, uint32_t stream)
{
    for (size_t i = 0; i < scan->dirty.count; i++)
        if (scan->dirty.items[i] == stream) {
            scan->dirty.items[i] = scan->dirty.items[--scan->dirty.count];
            return;
        }
}

static void launch(struct load *load, const struct frame *frame, enum work work)
{
    if (!frame->reference) load->scan->works += draw(DRAW_WORK, work, 0);
    make_dirty(load, frame->stream);
}

static void query(struct load *load, uint64_t key, bool failed)
{
    struct cts_path_scan *const scan = load->scan;
    for (size_t i = 0; i < scan->failed.count; i++)
        if (scan->failed.items[i] == key) {
            if (!failed) scan->failed.items[i] = scan->failed.items[--scan->failed.count];
            return;
        }
    if (!failed) return;
    if (CTS_ARRAY_RESERVE(&scan->failed, scan->failed.count + 1, load->error))
        load->status = CTS_MEMORY;
    else
        scan->failed.items[scan->failed.count++] = key;
}

void cts_scan_call(struct load *load, const struct frame *frame)
{
    struct cts_path_scan *const scan = load->scan;
    const struct cts_path_region *const region = &load->system->regions[frame->region];
    switch (region->api) {
    case CTS_PATH_API_GRAPH_LAUNCH: /* starts nobody knows how many */
        if (!frame->reference) scan->spoiled = true;
        make_dirty(load, frame->stream);
        break;
    case CTS_PATH_API_LAUNCH_HOST: /* perhaps of nothing that is recorded */
        make_dirty(load, frame->stream);
        break;
    case CTS_PATH_API_LAUNCH:
        launch(load, frame, WORK_KERNEL);
        break;
    case CTS_PATH_API_COPY:
    case CTS_PATH_API_COPY_ASYNC:
        launch(load, frame, WORK_COPY);
        break;
    case CTS_PATH_API_MEMSET:
    case CTS_PATH_API_MEMSET_ASYNC:
        launch(load, frame, WORK_MEMSET);
        break;
    case CTS_PATH_API_SYNC_DEVICE:
    case CTS_PATH_API_SYNC_CONTEXT:
        if (scan->one_device) scan->dirty.count = 0;
        break;
    case CTS_PATH_API_SYNC_STREAM:
        if (frame->stream != CTS_PATH_NONE) make_clean(scan, frame->stream);
        break;
    case CTS_PATH_API_QUERY_STREAM:
        query(load, 1ull << 63 | frame->stream, frame->failed);
        break;
    case CTS_PATH_API_QUERY_EVENT:
        query(load, frame->reference, frame->failed);
        break;
    case CTS_PATH_API_RECORD:
        query(load, frame->reference, false);
        break;
    default:
        break;
    }
}

/* ---- MPI and threads ---- */

static uint64_t draw_message(const struct load *load, const struct cts_path_channel *channel)
{
    const uint64_t homes = (uint64_t)cts_path_home(load->system, channel->from) << 32 |
                           cts_path_home(load->system, channel->to);
    return draw(DRAW_MESSAGE, homes, (uint64_t)channel->communicator << 32 | channel->tag);
}

void cts_scan_sent(struct load *load, const struct cts_path_channel *channel)
{
    load->scan->balance += draw_message(load, channel);
}

void cts_scan_received(struct load *load, const struct cts_path_channel *channel)
{
    load->scan->balance -= draw_message(load, channel);
}

/* Who takes part in a collective by its key; 0: nobody knows. */
static uint32_t members_of(const struct cts_path_system *system, uint64_t key, uint32_t *first)
{
    const struct cts_timeline *const timeline = system->timeline;
    uint64_t communicator = key >> 1;
    if (key >> 60 == 3) { /* MPI_Init, MPI_Finalize */
        *first = system->by_process[0];
        return system->process_count;
    }
    if (key >> 60 == 1) communicator = timeline->windows[(uint32_t)key].communicator;
    if (key >> 60 == 2 || communicator >= timeline->communicator_count) return 0;
    const struct cts_timeline_communicator *const c = &timeline->communicators[communicator];
    if (!c->rank_count) return 0;
    *first = c->ranks[0];
    return c->rank_count + c->remote_count;
}

/* The first of n members adds what the n - 1 others take away, for each collective by itself. */
void cts_scan_member(struct load *load, const struct cts_path_member *member)
{
    uint32_t first = 0;
    const uint32_t count = members_of(load->system, member->key, &first);
    uint64_t *const order = cts_map_at(&load->scan->orders, member->key, load->error);
    if (!order) {
        load->status = CTS_MEMORY;
        return;
    }
    const uint64_t drawn = draw(DRAW_MEMBER, member->key, (*order)++);
    if (!count)
        load->scan->spoiled = true;
    else
        load->scan->balance += load->id == first ? (count - 1) * drawn : -drawn;
}

void cts_scan_fork(struct load *load, bool begins)
{
    uint32_t *const forks = &load->scan->forks;
    if (begins)
        (*forks)++;
    else if (*forks)
        (*forks)--;
}

void cts_scan_thread(struct load *load, uint32_t kind, uint64_t key)
{
    const uint64_t drawn = draw(DRAW_THREAD, load->who->process, key);
    if (kind == CTS_EVENT_THREAD_CREATE) load->scan->balance += drawn;
    if (kind == CTS_EVENT_THREAD_BEGIN) load->scan->balance -= drawn;
}

void cts_scan_lock(struct load *load, bool acquired)
{
    uint32_t *const locks = &load->scan->locks;
    if (acquired)
        (*locks)++;
    else if (*locks)
        (*locks)--;
}

void cts_scan_spoil(struct load *load)
{
    load->scan->spoiled = true;
}

void cts_path_scan_release(struct cts_path_scan *scan)
{
    cts_map_release(&scan->orders);
    free(scan->dirty.items);
    free(scan->failed.items);
    *scan = (struct cts_path_scan){0};
}
