/* Wait for lock: MPI_Win_lock or MPI_Win_unlock waits until another's epoch on the target ends, if
 * one of the two is exclusive. A library may take a lock at once or with the unlock, so that either
 * call may wait.
 *
 *     [enter, begin of the last conflicting unlock that began while the call ran)
 *
 * An unlock waited only for one that had returned before it did, else it may be that the other took
 * its lock after it. A lock that takes so long was taken at once, and the other's unlock may well
 * return later: the target tells both at the same time. Culprit: who held the lock. */
#include "analyze/path/rule.h"
#include "common/search.h"

/* The last conflicting epoch under a key whose unlock began in (enter, leave). */
static const struct cts_path_holder *awaited(const struct cts_path_lock_call *call, uint64_t key)
{
    size_t low =
        CTS_SEARCH(call->holder_count, i,
                   call->holders[i].key < key || (call->holders[i].key == key &&
                                                  call->holders[i].unlock_ns < call->leave_ns));
    while (low-- > 0) {
        const struct cts_path_holder *const at = &call->holders[low];
        if (at->key != key || at->unlock_ns <= call->enter_ns) return NULL;
        if (at->location != call->location && (at->exclusive || call->lock->exclusive) &&
            (call->call == call->lock->lock || at->left_ns < call->leave_ns))
            return at;
    }
    return NULL;
}

/* A lock of one target also conflicts with those of all targets; a lock of all targets with any of
 * its window, of which the last counts that is under its own key. */
static const struct cts_path_holder *last_awaited(const struct cts_path_lock_call *call)
{
    const uint64_t everyone = call->lock->key | UINT32_MAX;
    const struct cts_path_holder *const own = awaited(call, call->lock->key);
    if (call->lock->key == everyone) return own;
    const struct cts_path_holder *const other = awaited(call, everyone);
    if (!own || !other) return own ? own : other;
    return other->unlock_ns > own->unlock_ns ? other : own;
}

static enum cts_status on_lock(const struct cts_path_lock_call *call, struct cts_error *error)
{
    const struct cts_path_holder *const holder = last_awaited(call);
    if (!holder) return CTS_OK;
    return cts_path_add_dependency(
        call->at,
        &(struct cts_path_dependency){.edge = {holder->unlock_ns, holder->location, holder->unlock},
                                      .call = call->call,
                                      .pool = CTS_PATH_NONE,
                                      .within = true,
                                      .pattern = CTS_PATH_PATTERN_LOCK},
        error);
}

const struct cts_path_rule cts_path_rule_lock = {.transfer = true, .lock = on_lock};
