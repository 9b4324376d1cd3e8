/* Functions that order threads, in front of the C library's: each does what the function behind it
 * does, and says what it ordered. A release is said before, an acquisition after.
 *
 * C11's threads (thrd_create(), mtx_lock(), ...), and what waits by the kernel's futexes alone
 * (std::latch, std::barrier, std::counting_semaphore, atomics) are not seen. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "record/wrappers/threads-order.h"

/* Of functions that have two versions RTLD_NEXT may find the older one. */
static void *find_behind(const char *name)
{
    void *const function = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    return function ? function : dlsym(RTLD_NEXT, name);
}

/* `behind`: the function behind ours. */
#define BEHIND(name)                                                                               \
    static void *_Atomic found;                                                                    \
    void *address = atomic_load_explicit(&found, memory_order_relaxed);                            \
    if (!address) address = find_behind(#name);                                                    \
    atomic_store_explicit(&found, address, memory_order_relaxed);                                  \
    __typeof__(&name) behind;                                                                      \
    *(void **)(void *)&behind = address

#define CALLER __builtin_return_address(0)
#define EXPORT __attribute__((visibility("default")))

/* ---- locks and semaphores ---- */

#define ACQUIRING(name, parameters, arguments, say)                                                \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        BEHIND(name);                                                                              \
        const int result = behind arguments;                                                       \
        if (result == 0 || result == EOWNERDEAD) say(object, CALLER);                              \
        return result;                                                                             \
    }
#define RELEASING(name, type, say)                                                                 \
    EXPORT int name(type *object)                                                                  \
    {                                                                                              \
        BEHIND(name);                                                                              \
        say(object, CALLER);                                                                       \
        return behind(object);                                                                     \
    }

static void acquire_lock(const volatile void *object, const void *caller)
{
    cts_threads_acquire((const void *)object, CTS_THREADS_LOCK, caller);
}
static void release_lock(const volatile void *object, const void *caller)
{
    cts_threads_release((const void *)object, CTS_THREADS_LOCK, caller);
}
static void acquire_posts(const void *object, const void *caller)
{
    cts_threads_acquire(object, CTS_THREADS_POSTS, caller);
}
static void release_posts(const void *object, const void *caller)
{
    cts_threads_release(object, CTS_THREADS_POSTS, caller);
}
#define acquire_reader acquire_lock
#define acquire_writer cts_threads_acquire_writer
#define release_any    cts_threads_release_any
#define forget         cts_threads_forget

typedef const struct timespec until;

ACQUIRING(pthread_mutex_lock, (pthread_mutex_t * object), (object), acquire_lock)
ACQUIRING(pthread_mutex_trylock, (pthread_mutex_t * object), (object), acquire_lock)
ACQUIRING(pthread_mutex_timedlock, (pthread_mutex_t * object, until *end), (object, end),
          acquire_lock)
ACQUIRING(pthread_mutex_clocklock, (pthread_mutex_t * object, clockid_t clock, until *end),
          (object, clock, end), acquire_lock)
RELEASING(pthread_mutex_unlock, pthread_mutex_t, release_lock)
RELEASING(pthread_mutex_destroy, pthread_mutex_t, forget)

ACQUIRING(pthread_spin_lock, (pthread_spinlock_t * object), (object), acquire_lock)
ACQUIRING(pthread_spin_trylock, (pthread_spinlock_t * object), (object), acquire_lock)
RELEASING(pthread_spin_unlock, pthread_spinlock_t, release_lock)

ACQUIRING(pthread_rwlock_rdlock, (pthread_rwlock_t * object), (object), acquire_reader)
ACQUIRING(pthread_rwlock_tryrdlock, (pthread_rwlock_t * object), (object), acquire_reader)
ACQUIRING(pthread_rwlock_timedrdlock, (pthread_rwlock_t * object, until *end), (object, end),
          acquire_reader)
ACQUIRING(pthread_rwlock_clockrdlock, (pthread_rwlock_t * object, clockid_t clock, until *end),
          (object, clock, end), acquire_reader)
ACQUIRING(pthread_rwlock_wrlock, (pthread_rwlock_t * object), (object), acquire_writer)
ACQUIRING(pthread_rwlock_trywrlock, (pthread_rwlock_t * object), (object), acquire_writer)
ACQUIRING(pthread_rwlock_timedwrlock, (pthread_rwlock_t * object, until *end), (object, end),
          acquire_writer)
ACQUIRING(pthread_rwlock_clockwrlock, (pthread_rwlock_t * object, clockid_t clock, until *end),
          (object, clock, end), acquire_writer)
RELEASING(pthread_rwlock_unlock, pthread_rwlock_t, release_any)
RELEASING(pthread_rwlock_destroy, pthread_rwlock_t, forget)

ACQUIRING(sem_wait, (sem_t * object), (object), acquire_posts)
ACQUIRING(sem_trywait, (sem_t * object), (object), acquire_posts)
ACQUIRING(sem_timedwait, (sem_t * object, until *end), (object, end), acquire_posts)
ACQUIRING(sem_clockwait, (sem_t * object, clockid_t clock, until *end), (object, clock, end),
          acquire_posts)
RELEASING(sem_post, sem_t, release_posts)
RELEASING(sem_destroy, sem_t, forget)

/* ---- conditions: what orders is their mutex ---- */

#define WAITING(name, parameters, arguments)                                                       \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        BEHIND(name);                                                                              \
        release_lock(object, CALLER);                                                              \
        const int result = behind arguments;                                                       \
        acquire_lock(object, CALLER);                                                              \
        return result;                                                                             \
    }
WAITING(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *object),
        (condition, object))
WAITING(pthread_cond_timedwait, (pthread_cond_t * condition, pthread_mutex_t *object, until *end),
        (condition, object, end))
WAITING(pthread_cond_clockwait,
        (pthread_cond_t * condition, pthread_mutex_t *object, clockid_t clock, until *end),
        (condition, object, clock, end))

/* ---- barriers ---- */

EXPORT int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                                unsigned count)
{
    BEHIND(pthread_barrier_init);
    const int result = behind(barrier, attributes, count);
    if (result == 0) cts_threads_barrier(barrier, count, CALLER);
    return result;
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    BEHIND(pthread_barrier_wait);
    const unsigned phase = cts_threads_arrive(barrier, CALLER);
    const int result = behind(barrier);
    cts_threads_leave(barrier, phase, CALLER);
    return result;
}

RELEASING(pthread_barrier_destroy, pthread_barrier_t, forget)

/* ---- threads ---- */

static void *run(void *thread)
{
    const struct cts_threads_start start = cts_threads_begin(thread);
    return start.routine(start.argument);
}

EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*routine)(void *),
                          void *argument)
{
    BEHIND(pthread_create);
    int kind = PTHREAD_CREATE_JOINABLE;
    if (attributes) pthread_attr_getdetachstate(attributes, &kind);
    const struct cts_threads_start start = {routine, argument};
    struct cts_watched *const thread =
        cts_threads_create(kind == PTHREAD_CREATE_DETACHED, &start, CALLER);
    if (!thread) return behind(id, attributes, routine, argument);
    const int result = behind(id, attributes, run, thread);
    cts_threads_created(thread, result == 0 ? id : NULL);
    return result;
}

#define JOINING(name, parameters, arguments)                                                       \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        BEHIND(name);                                                                              \
        struct cts_watched *const thread = cts_threads_find(id);                                   \
        const int result = behind arguments;                                                       \
        cts_threads_joined(thread, result == 0, CALLER);                                           \
        return result;                                                                             \
    }
JOINING(pthread_join, (pthread_t id, void **value), (id, value))
JOINING(pthread_tryjoin_np, (pthread_t id, void **value), (id, value))
JOINING(pthread_timedjoin_np, (pthread_t id, void **value, until *end), (id, value, end))
JOINING(pthread_clockjoin_np, (pthread_t id, void **value, clockid_t clock, until *end),
        (id, value, clock, end))

EXPORT int pthread_detach(pthread_t id)
{
    BEHIND(pthread_detach);
    struct cts_watched *const thread = cts_threads_find(id);
    const int result = behind(id);
    cts_threads_detached(thread, result == 0);
    return result;
}
