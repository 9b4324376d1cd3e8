/* MPI's windows in the events of one location: fences and windows made or freed (all of the
 * window's communicator), post, start, complete and wait (pairs of ranks), and locks.
 *
 * Post, start, complete and wait become messages of the window, between each pair of ranks: a post
 * lets a start and its complete go on, a complete the wait. The record names the group; where it
 * does not, complete and wait end what start and post began. */
#include <stdlib.h>

#include "analyze/path/load.h"
#include "analyze/path/scan.h"

/* The communicator of a window of MPI; NONE: not MPI's, or of one process. */
static uint32_t communicator_of(const struct load *load, uint32_t window)
{
    const struct cts_timeline *const timeline = load->system->timeline;
    if (load->who->stream || window >= timeline->window_count) return CTS_PATH_NONE;
    const uint32_t communicator = timeline->windows[window].communicator;
    if (cts_load_is_own(load, communicator) ||
        timeline->communicators[communicator].paradigm != CTS_PARADIGM_MPI)
        return CTS_PATH_NONE;
    return communicator;
}

static void on_collective(struct load *load, uint32_t window)
{
    cts_load_add_member(load, &(struct cts_path_member){.enter_ns = cts_load_top(load)->enter_ns,
                                                        .key = 1ull << 60 | window,
                                                        .location = load->id,
                                                        .call = cts_load_top_node(load),
                                                        .done = cts_load_top_node(load),
                                                        .root = CTS_PATH_NONE,
                                                        .shape = CTS_PATH_SHAPE_ALL});
}

/* ---- post, start, complete, wait ---- */

static struct epoch *epoch_of(struct load *load, uint32_t window)
{
    for (size_t i = 0; i < load->epochs.count; i++)
        if (load->epochs.items[i].window == window) return &load->epochs.items[i];
    if (CTS_ARRAY_RESERVE(&load->epochs, load->epochs.count + 1, load->error)) {
        load->status = CTS_MEMORY;
        return NULL;
    }
    struct epoch *const epoch = &load->epochs.items[load->epochs.count++];
    *epoch = (struct epoch){window, CTS_PATH_NONE, CTS_PATH_NONE};
    return epoch;
}

static void tell(struct load *load, uint32_t window, uint32_t tag, uint32_t peer)
{
    cts_load_add_send(load, &(struct cts_path_send){.call = cts_load_top_node(load),
                                                    .done = cts_load_top_node(load),
                                                    .peer = peer,
                                                    .communicator = CTS_PATH_WINDOW | window,
                                                    .tag = tag});
}

static void await(struct load *load, uint32_t window, uint32_t tag, uint32_t peer)
{
    cts_load_add_receive(load, &(struct cts_path_receive){.post = cts_load_top_node(load),
                                                          .done = cts_load_top_node(load),
                                                          .peer = peer,
                                                          .communicator = CTS_PATH_WINDOW | window,
                                                          .tag = tag,
                                                          .probe = CTS_PATH_NONE});
}

static void pair(struct load *load, uint8_t kind, uint32_t window, uint32_t peer)
{
    switch (kind) {
    case CTS_PATH_POST:
        tell(load, window, CTS_PATH_POST_TO_START, peer);
        tell(load, window, CTS_PATH_POST_TO_COMPLETE, peer);
        break;
    case CTS_PATH_ACCESS:
        await(load, window, CTS_PATH_POST_TO_START, peer);
        break;
    case CTS_PATH_COMPLETE:
        await(load, window, CTS_PATH_POST_TO_COMPLETE, peer);
        tell(load, window, CTS_PATH_COMPLETE_TO_WAIT, peer);
        break;
    default:
        await(load, window, CTS_PATH_COMPLETE_TO_WAIT, peer);
        break;
    }
}

static void on_group(struct load *load, const struct cts_timeline_event *event)
{
    const struct cts_timeline *const timeline = load->system->timeline;
    const uint8_t kind = load->system->regions[cts_load_top(load)->region].kind;
    if (kind < CTS_PATH_POST || kind > CTS_PATH_EXPOSED) return;
    struct epoch *const epoch = epoch_of(load, event->rma.window);
    if (!epoch) return;
    uint32_t *const open =
        kind == CTS_PATH_POST || kind == CTS_PATH_EXPOSED ? &epoch->posted : &epoch->started;
    const bool begins = kind == CTS_PATH_POST || kind == CTS_PATH_ACCESS;
    uint32_t group = event->rma.level;
    if (group >= timeline->communicator_count && !begins) group = *open;
    *open = begins ? group : CTS_PATH_NONE;
    if (group >= timeline->communicator_count) {
        load->counts.warnings[CTS_PATH_WARNING_UNKNOWN_GROUP]++;
        return;
    }
    const struct cts_timeline_communicator *const members = &timeline->communicators[group];
    for (uint32_t i = 0; i < members->rank_count && !load->status; i++)
        if (members->ranks[i] < load->system->location_count)
            pair(load, kind, event->rma.window, members->ranks[i]);
}

/* ---- locks ---- */

static void on_acquired(struct load *load, const struct cts_timeline_event *event)
{
    enum { LOCK_EXCLUSIVE = 0 }; /* OTF2_LockType */
    if (load->scan) cts_scan_lock(load, true);
    (void)APPEND(
        load, locks,
        (struct cts_path_lock){.key = (uint64_t)event->rma.window << 32 | event->rma.remote,
                               .lock = cts_load_top_node(load),
                               .unlock = CTS_PATH_NONE,
                               .exclusive = event->rma.operation == LOCK_EXCLUSIVE});
}

static void on_released(struct load *load, const struct cts_timeline_event *event)
{
    if (load->scan) {
        cts_scan_lock(load, false);
        return;
    }
    const uint64_t key = (uint64_t)event->rma.window << 32 | event->rma.remote;
    for (size_t i = load->raw->locks.count; i-- > 0;) {
        struct cts_path_lock *const lock = &load->raw->locks.items[i];
        if (lock->key != key || lock->unlock != CTS_PATH_NONE) continue;
        lock->unlock = cts_load_top_node(load);
        return;
    }
}

void cts_load_window(struct load *load, const struct cts_timeline_event *event)
{
    if (communicator_of(load, event->rma.window) == CTS_PATH_NONE || !cts_load_top(load)) return;
    switch (event->kind) {
    case CTS_EVENT_RMA_COLLECTIVE_END:
        on_collective(load, event->rma.window);
        break;
    case CTS_EVENT_RMA_GROUP_SYNC:
        on_group(load, event);
        break;
    case CTS_EVENT_RMA_ACQUIRE_LOCK:
        on_acquired(load, event);
        break;
    default:
        on_released(load, event);
        break;
    }
}
