/* Events of threads. OTF2 1 had records of OpenMP's own (old_): they mean the same. */
#include "trace/timeline/read-events.h"

static struct cts_timeline_event *thread(struct pass *pass)
{
    memset(&pass->event.thread, 0, sizeof pass->event.thread);
    pass->event.thread.communicator = CTS_TIMELINE_NONE;
    return &pass->event;
}
EVENT(thread_fork, OTF2_Paradigm model, uint32_t team_size)
{
    BEGIN;
    (void)model;
    thread(pass)->thread.team_size = team_size;
    return give(pass, CTS_EVENT_THREAD_FORK, time, list);
}
EVENT(old_fork, uint32_t team_size)
{
    BEGIN;
    thread(pass)->thread.team_size = team_size;
    return give(pass, CTS_EVENT_THREAD_FORK, time, list);
}
EVENT(thread_join, OTF2_Paradigm model)
{
    BEGIN;
    (void)model;
    thread(pass);
    return give(pass, CTS_EVENT_THREAD_JOIN, time, list);
}
#define TEAM(name, kind)                                                                           \
    EVENT(name, OTF2_CommRef team)                                                                 \
    {                                                                                              \
        BEGIN;                                                                                     \
        thread(pass)->thread.communicator = communicator(pass, team);                              \
        return give(pass, kind, time, list);                                                       \
    }
TEAM(team_begin, CTS_EVENT_THREAD_TEAM_BEGIN)
TEAM(team_end, CTS_EVENT_THREAD_TEAM_END)
#define LOCK(name, kind)                                                                           \
    EVENT(name, OTF2_Paradigm model, uint32_t lock, uint32_t order)                                \
    {                                                                                              \
        BEGIN;                                                                                     \
        (void)model;                                                                               \
        thread(pass)->thread.sequence = lock;                                                      \
        e->thread.creator = order;                                                                 \
        return give(pass, kind, time, list);                                                       \
    }                                                                                              \
    EVENT(old_##name, uint32_t lock, uint32_t order)                                               \
    {                                                                                              \
        BEGIN;                                                                                     \
        thread(pass)->thread.sequence = lock;                                                      \
        e->thread.creator = order;                                                                 \
        return give(pass, kind, time, list);                                                       \
    }
LOCK(acquire_lock, CTS_EVENT_THREAD_ACQUIRE_LOCK)
LOCK(release_lock, CTS_EVENT_THREAD_RELEASE_LOCK)
#define TASK(name, kind)                                                                           \
    EVENT(name, OTF2_CommRef team, uint32_t creator, uint32_t generation)                          \
    {                                                                                              \
        BEGIN;                                                                                     \
        thread(pass)->thread.communicator = communicator(pass, team);                              \
        e->thread.creator = creator;                                                               \
        e->thread.sequence = generation;                                                           \
        return give(pass, kind, time, list);                                                       \
    }                                                                                              \
    EVENT(old_##name, uint64_t task)                                                               \
    {                                                                                              \
        BEGIN;                                                                                     \
        thread(pass)->thread.sequence = task;                                                      \
        return give(pass, kind, time, list);                                                       \
    }
TASK(task_create, CTS_EVENT_THREAD_TASK_CREATE)
TASK(task_switch, CTS_EVENT_THREAD_TASK_SWITCH)
TASK(task_complete, CTS_EVENT_THREAD_TASK_COMPLETE)
#define THREAD(name, kind)                                                                         \
    EVENT(name, OTF2_CommRef contingent, uint64_t sequence)                                        \
    {                                                                                              \
        BEGIN;                                                                                     \
        thread(pass)->thread.communicator = communicator(pass, contingent);                        \
        e->thread.sequence = sequence;                                                             \
        return give(pass, kind, time, list);                                                       \
    }
THREAD(thread_create, CTS_EVENT_THREAD_CREATE)
THREAD(thread_begin, CTS_EVENT_THREAD_BEGIN)
THREAD(thread_wait, CTS_EVENT_THREAD_WAIT)
THREAD(thread_end, CTS_EVENT_THREAD_END)

PLAIN(old_join, CTS_EVENT_THREAD_JOIN)

#define SETTERS(X)                                                                                 \
    X(OmpFork, on_old_fork)                                                                        \
    X(OmpJoin, on_old_join)                                                                        \
    X(OmpAcquireLock, on_old_acquire_lock)                                                         \
    X(OmpReleaseLock, on_old_release_lock)                                                         \
    X(OmpTaskCreate, on_old_task_create)                                                           \
    X(OmpTaskSwitch, on_old_task_switch)                                                           \
    X(OmpTaskComplete, on_old_task_complete)                                                       \
    X(ThreadFork, on_thread_fork)                                                                  \
    X(ThreadJoin, on_thread_join)                                                                  \
    X(ThreadTeamBegin, on_team_begin)                                                              \
    X(ThreadTeamEnd, on_team_end)                                                                  \
    X(ThreadAcquireLock, on_acquire_lock)                                                          \
    X(ThreadReleaseLock, on_release_lock)                                                          \
    X(ThreadTaskCreate, on_task_create)                                                            \
    X(ThreadTaskSwitch, on_task_switch)                                                            \
    X(ThreadTaskComplete, on_task_complete)                                                        \
    X(ThreadCreate, on_thread_create)                                                              \
    X(ThreadBegin, on_thread_begin)                                                                \
    X(ThreadWait, on_thread_wait)                                                                  \
    X(ThreadEnd, on_thread_end)

void cts_set_thread_callbacks(OTF2_EvtReaderCallbacks *callbacks)
{
#define X(record, function) OTF2_EvtReaderCallbacks_Set##record##Callback(callbacks, function);
    SETTERS(X)
#undef X
}
