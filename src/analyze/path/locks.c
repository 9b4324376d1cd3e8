/* Locks of MPI's windows: who waits for whom.
 *
 * Two epochs (from MPI_Win_lock to MPI_Win_unlock) of two ranks on one target conflict unless both
 * are shared. A library may take a lock at once or with the unlock, so that either call may wait: a
 * call waited for the last conflicting epoch whose unlock began while the call ran. It then waited
 * until that unlock began, as a receive waits for its send. For an unlock the other must also have
 * returned when it did, else it may be that the other took its lock after it; a lock that takes so
 * long was taken at once, and the other's unlock may well return later (the target tells both at
 * the same time). All processes learn of all epochs. */
#include <stdlib.h>
#include <string.h>

#include "analyze/path/graph.h"

struct held {
    uint64_t key, unlock_ns, left_ns; /* enter and leave of the unlock */
    uint32_t location, unlock;        /* enter node */
    bool exclusive;
};

struct holders {
    struct held *items; /* by key, then by the begin of the unlock */
    size_t count;
};

static int by_unlock(const void *left, const void *right)
{
    const struct held *const a = left, *const b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->unlock_ns != b->unlock_ns) return a->unlock_ns < b->unlock_ns ? -1 : 1;
    if (a->location != b->location) return a->location < b->location ? -1 : 1;
    return (a->unlock > b->unlock) - (a->unlock < b->unlock);
}

static enum cts_status gather(struct cts_path_graph *graph, struct holders *all,
                              struct cts_error *error)
{
    struct {
        struct held *items;
        size_t count, capacity;
    } mine = {0};
    enum cts_status status = CTS_OK;
    for (uint32_t l = 0; l < graph->location_count && !status; l++) {
        const struct cts_path_location *const at = &graph->locations[l];
        for (size_t i = 0; at->raw && i < at->raw->locks.count && !status; i++) {
            struct cts_path_lock *const lock = &at->raw->locks.items[i];
            if (lock->unlock == CTS_PATH_NONE) continue;
            lock->lock_leave = cts_path_leave_of(at, lock->lock);
            lock->unlock_leave = cts_path_leave_of(at, lock->unlock);
            status = CTS_ARRAY_RESERVE(&mine, mine.count + 1, error);
            if (!status)
                mine.items[mine.count++] = (struct held){.key = lock->key,
                                                         .unlock_ns = at->time_ns[lock->unlock],
                                                         .left_ns = at->time_ns[lock->unlock_leave],
                                                         .location = l,
                                                         .unlock = lock->unlock,
                                                         .exclusive = lock->exclusive};
        }
    }
    void *gathered = NULL;
    size_t *offsets = NULL;
    if (cts_processes_agree(graph->processes, &status, error))
        status =
            cts_processes_all_gather(graph->processes, mine.items, mine.count * sizeof *mine.items,
                                     &gathered, &offsets, error);
    if (!status) {
        all->items = gathered;
        all->count = offsets[graph->processes ? graph->processes->count : 1] / sizeof *all->items;
        if (all->count) qsort(all->items, all->count, sizeof *all->items, by_unlock);
    }
    free(offsets);
    free(mine.items);
    return status;
}

/* A call of an epoch that may have waited. */
struct candidate {
    const struct cts_path_lock *lock;
    uint32_t location, call;
    uint64_t enter_ns, leave_ns;
};

/* The last conflicting epoch whose unlock began in (enter, leave). */
static const struct held *awaited(const struct holders *all, const struct candidate *c,
                                  uint64_t key)
{
    size_t low = 0, high = all->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct held *const at = &all->items[middle];
        if (at->key < key || (at->key == key && at->unlock_ns < c->leave_ns))
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > 0) {
        const struct held *const at = &all->items[low];
        if (at->key != key || at->unlock_ns <= c->enter_ns) return NULL;
        if (at->location != c->location && (at->exclusive || c->lock->exclusive) &&
            (c->call == c->lock->lock || at->left_ns <= c->leave_ns))
            return at;
    }
    return NULL;
}

/* A lock of one target also conflicts with those of all targets; a lock of all targets with any of
 * its window, of which the last counts that is under its own key. */
static const struct held *last_awaited(const struct holders *all, const struct candidate *c)
{
    const uint64_t everyone = c->lock->key | UINT32_MAX;
    const struct held *const own = awaited(all, c, c->lock->key);
    if (c->lock->key == everyone) return own;
    const struct held *const other = awaited(all, c, everyone);
    if (!own || !other) return own ? own : other;
    return other->unlock_ns > own->unlock_ns ? other : own;
}

static enum cts_status depend(struct cts_path_location *at, const struct held *holder,
                              uint32_t call, struct cts_error *error)
{
    return cts_path_add_dependency(
        at,
        &(struct cts_path_dependency){.edge = {holder->unlock_ns, holder->location, holder->unlock},
                                      .call = call,
                                      .pool = CTS_PATH_NONE,
                                      .within = true,
                                      .pattern = CTS_PATH_PATTERN_LOCK},
        error);
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
            const struct candidate candidate = {.lock = lock,
                                                .location = id,
                                                .call = calls[c][0],
                                                .enter_ns = at->time_ns[calls[c][0]],
                                                .leave_ns = at->time_ns[calls[c][1]]};
            const struct held *const holder = last_awaited(all, &candidate);
            if (holder && depend(at, holder, calls[c][0], error)) return CTS_MEMORY;
        }
    }
    return CTS_OK;
}

enum cts_status cts_path_match_locks(struct cts_path_graph *graph, struct cts_error *error)
{
    struct holders all = {0};
    enum cts_status status = gather(graph, &all, error);
    for (uint32_t l = 0; l < graph->location_count && !status; l++)
        status = match_location(graph, &all, l, error);
    free(all.items);
    return status;
}
