/* Locks of MPI's windows: all epochs (from MPI_Win_lock to MPI_Win_unlock), of all processes, by
 * target and by the begin of the unlock. The rule says which of them a call waited for. */
#include <stdlib.h>
#include <string.h>

#include "analyze/path/offer.h"
#include "analyze/path/steps.h"

struct holders {
    struct cts_path_holder *items; /* by key, then by the begin of the unlock */
    size_t count;
};

static int by_unlock(const void *left, const void *right)
{
    const struct cts_path_holder *const a = left, *const b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->unlock_ns != b->unlock_ns) return a->unlock_ns < b->unlock_ns ? -1 : 1;
    if (a->location != b->location) return a->location < b->location ? -1 : 1;
    return (a->unlock > b->unlock) - (a->unlock < b->unlock);
}

static enum cts_status gather(struct cts_path_graph *graph, struct holders *all,
                              struct cts_error *error)
{
    struct {
        struct cts_path_holder *items;
        size_t count, capacity;
    } mine = {0};
    enum cts_status status = CTS_OK;
    for (uint32_t l = 0; l < graph->system->location_count && !status; l++) {
        const struct cts_path_location *const at = &graph->locations[l];
        for (size_t i = 0; at->raw && i < at->raw->locks.count && !status; i++) {
            struct cts_path_lock *const lock = &at->raw->locks.items[i];
            if (lock->unlock == CTS_PATH_NONE) continue;
            lock->lock_leave = cts_path_leave_of(at, lock->lock);
            lock->unlock_leave = cts_path_leave_of(at, lock->unlock);
            status = CTS_ARRAY_RESERVE(&mine, mine.count + 1, error);
            if (!status)
                mine.items[mine.count++] =
                    (struct cts_path_holder){.key = lock->key,
                                             .unlock_ns = at->time_ns[lock->unlock],
                                             .left_ns = at->time_ns[lock->unlock_leave],
                                             .location = l,
                                             .unlock = lock->unlock,
                                             .exclusive = lock->exclusive};
        }
    }
    void *gathered = NULL;
    size_t *offsets = NULL;
    if (cts_processes_agree(graph->system->processes, &status, error))
        status = cts_processes_all_gather(
            graph->system->processes,
            (struct cts_sent_block){mine.items, mine.count * sizeof *mine.items}, &gathered,
            &offsets, error);
    if (!status) {
        all->items = gathered;
        all->count = offsets[graph->system->processes ? graph->system->processes->count : 1] /
                     sizeof *all->items;
        if (all->count) qsort(all->items, all->count, sizeof *all->items, by_unlock);
    }
    free(offsets);
    free(mine.items);
    return status;
}

static enum cts_status match_location(struct cts_path_graph *graph, const struct holders *all,
                                      uint32_t id, struct cts_error *error)
{
    struct cts_path_location *const at = &graph->locations[id];
    for (size_t i = 0; at->raw && i < at->raw->locks.count; i++) {
        const struct cts_path_lock *const lock = &at->raw->locks.items[i];
        if (lock->unlock == CTS_PATH_NONE) continue;
        const uint32_t calls[2][2] = {{lock->lock, lock->lock_leave},
                                      {lock->unlock, lock->unlock_leave}};
        for (unsigned c = 0; c < 2; c++) {
            const struct cts_path_lock_call call = {.holders = all->items,
                                                    .holder_count = all->count,
                                                    .at = at,
                                                    .lock = lock,
                                                    .location = id,
                                                    .call = calls[c][0],
                                                    .enter_ns = at->time_ns[calls[c][0]],
                                                    .leave_ns = at->time_ns[calls[c][1]]};
            const enum cts_status status = CTS_PATH_OFFER(lock, &call, error);
            if (status) return status;
        }
    }
    return CTS_OK;
}

enum cts_status cts_path_match_locks(struct cts_path_graph *graph, struct cts_error *error)
{
    struct holders all = {0};
    enum cts_status status = gather(graph, &all, error);
    for (uint32_t l = 0; l < graph->system->location_count && !status; l++)
        status = match_location(graph, &all, l, error);
    free(all.items);
    return status;
}
