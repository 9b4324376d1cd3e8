/* Waits of the program's threads for each other, for the timeline: the calls in which a thread
 * stands still, and what let it go on (docs/timeline.md, Threads).
 *
 * A *wait* is linked to the objects (a mutex, a condition, ...) that it waits for. Whoever releases
 * an object gives a number, the *release*, to the waits that are linked to it; if there are none, a
 * release costs one load. Only waits of threads that the program created itself count, and only
 * calls from its own code: what drivers, MPI and OpenMP libraries do inside is theirs.
 *
 * Nothing is recorded before the process records a timeline. errno stays as it was. */
#ifndef CTS_RECORD_WRAPPERS_THREAD_WAITS_H
#define CTS_RECORD_WRAPPERS_THREAD_WAITS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* What is waited for, or released. */
enum cts_released {
    CTS_RELEASE_ONE, /* the one that has waited longest: signals, posts */
    CTS_RELEASE_ALL
};

/* How a call waits for an object. */
enum cts_wait_way {
    CTS_AWAITS,     /* whoever releases it */
    CTS_AWAITS_ONE, /* a release of one wait, which may have been meant for another thread's */
    CTS_ARRIVES     /* it is itself what those wait for that are linked to the object already */
};

struct cts_linked_wait {
    struct cts_linked_wait *next; /* in its bucket, in the order of their begins */
    uintptr_t object;             /* 0: not linked */
    uint64_t release;             /* 0: none yet */
    enum cts_wait_way how;
};

/* A call that waits, releases, or does both. */
struct cts_thread_call {
    const char *name;
    uint64_t begin_ns;
    uint64_t release; /* of its begin; 0: nobody waited for it */
    struct cts_linked_wait on[2];
    bool is_on; /* begun */
};

/* False: not recorded, and nothing to end. Also before the process records a timeline: threads of a
 * pool wait long before its first CUDA call, and the wait ends after. */
bool cts_waits_begin(struct cts_thread_call *call, const char *name, const void *caller);
/* The call waits for the object (at most two of them). */
void cts_waits_link(struct cts_thread_call *call, const volatile void *object,
                    enum cts_wait_way how);
/* Ends the call and records it. `done`: it has what it waited for. */
void cts_waits_end(struct cts_thread_call *call, bool done);
/* Likewise, but leaves it out if it took no time worth telling. */
void cts_waits_end_lock(struct cts_thread_call *call, bool done);

/* A begun call (NULL: nothing) does not return: its thread is cancelled. */
void cts_waits_abandon(void *call);

/* For calls that only release: records the call if somebody waits for the object. Before it is
 * made: whoever goes on then may end the program. */
void cts_waits_record_release(const volatile void *object, enum cts_released which,
                              const char *name);

/* ---- threads ---- */

/* How a thread came to be. */
struct cts_thread_origin {
    bool is_own;      /* the program created it */
    uint64_t release; /* the call that created it; 0: not recorded */
    uintptr_t routine;
};
/* Finds the thread's name, for a call that is begun. */
void cts_waits_name_thread(const struct cts_thread_origin *origin);
/* The thread begins with this origin, and ends: the release that its end is, 0 if nothing is
 * recorded. */
void cts_waits_thread_begins(const struct cts_thread_origin *origin);
uint64_t cts_waits_thread_ends(void);
/* The begun call returns since the release has happened. */
void cts_waits_released_by(struct cts_thread_call *call, uint64_t release);
/* Gives the begun call a release that somebody will wait for; 0: nothing is recorded (yet). */
uint64_t cts_waits_number(struct cts_thread_call *call);
/* Whether the calling thread and the code at `caller` are the program's. */
bool cts_waits_are_own(const void *caller);

#endif
