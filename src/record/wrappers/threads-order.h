/* What the threads of a process know of each other: a thread knows its own last op and what it has
 * acquired since; what lies before follows from what the watcher was told. Functions that order
 * threads release what the calling thread knows into an object (a mutex, say), or acquire what an
 * object knows.
 *
 * All functions may be called by any thread, keep errno, and do nothing inside of themselves (from
 * a signal's handler) and in forked children. */
#ifndef CTS_RECORD_WRAPPERS_THREADS_ORDER_H
#define CTS_RECORD_WRAPPERS_THREADS_ORDER_H

#include <pthread.h>
#include <stdbool.h>

#include "record/wrappers/thread-calls.h"
#include "record/wrappers/thread-waits.h"

/* An address may be several objects. */
enum cts_threads_kind {
    CTS_THREADS_LOCK,   /* whoever releases it has acquired it */
    CTS_THREADS_SHARED, /* readers of a lock release into it, the next writer acquires it */
    CTS_THREADS_POSTS,  /* many release, many acquire */
};

/* `caller`: where the program called; calls by ctascope's own libraries count for nothing. */
void cts_threads_acquire(const void *address, enum cts_threads_kind kind, const void *caller);
void cts_threads_release(const void *address, enum cts_threads_kind kind, const void *caller);
/* A lock of readers and writers: taken by a writer; given back by whoever has it. */
void cts_threads_acquire_writer(const void *address, const void *caller);
void cts_threads_release_any(const void *address, const void *caller);
/* The object begins or ends its life. */
void cts_threads_forget(const void *address, const void *caller);

/* A barrier for `count` threads; arrive() returns a number for leave(). */
void cts_threads_barrier(const void *address, unsigned count, const void *caller);
unsigned cts_threads_arrive(const void *address, const void *caller);
void cts_threads_leave(const void *address, unsigned phase, const void *caller);

/* A thread on its way: made by the creator before there is a thread (NULL: not to be watched),
 * begun by the thread; created() follows the creation in the creator, which failed if `id` is NULL.
 */
struct cts_watched;
struct cts_threads_start {
    void *(*routine)(void *);
    void *argument;
    struct cts_thread_origin origin;
};
struct cts_watched *cts_threads_create(bool is_detached, const struct cts_threads_start *start,
                                       const void *caller);
struct cts_threads_start cts_threads_begin(struct cts_watched *thread);
void cts_threads_created(struct cts_watched *thread, const pthread_t *id);

/* The calling thread's function returns, as this release (thread-waits.h); and what it was, of a
 * thread that has ended (NULL: 0). */
void cts_threads_ended(uint64_t release);
uint64_t cts_threads_end_of(const struct cts_watched *thread);

/* Before and after a join: the number of a thread may belong to another one right after. */
struct cts_watched *cts_threads_find(pthread_t id);
void cts_threads_joined(struct cts_watched *thread, bool is_done, const void *caller);
void cts_threads_detached(struct cts_watched *thread, bool is_done);

#endif
