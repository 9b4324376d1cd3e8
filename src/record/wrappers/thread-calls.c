/* Functions that order threads, in front of the C library's: each does what the function behind it
 * does, and says what it ordered (threads-order.h) and whether it waited (thread-waits.h). A
 * release is said before, an acquisition after. Whoever may wait first tries without.
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

#include "record/wrappers/thread-waits.h"
#include "record/wrappers/threads-order.h"

/* pthread_cleanup_push() reads its arguments before it saves the registers, and again after. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

/* Of functions that have two versions RTLD_NEXT may find the older one. */
static void *find_behind(const char *name)
{
    void *const function = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    return function ? function : dlsym(RTLD_NEXT, name);
}

struct behind {
    const char *symbol;
    void *_Atomic address;
};

static void *address_behind(struct behind *behind)
{
    void *address = atomic_load_explicit(&behind->address, memory_order_relaxed);
    if (!address) address = find_behind(behind->symbol);
    atomic_store_explicit(&behind->address, address, memory_order_relaxed);
    return address;
}

/* All are found when this library is loaded. Found at its first call, a function would wait for a
 * thread that loads a library, and whose constructor may be waiting for the one that calls. Only
 * what libraries call in their constructors before ours is found in the call. */
extern struct behind first_behind[] __asm__("__start_cts_behind")
    __attribute__((visibility("hidden")));
extern struct behind end_of_behind[] __asm__("__stop_cts_behind")
    __attribute__((visibility("hidden")));

__attribute__((constructor)) static void find_all(void)
{
    for (struct behind *behind = first_behind; behind < end_of_behind; behind++)
        (void)address_behind(behind);
}

/* `variable`: the function behind ours. */
#define FIND(variable, name)                                                                       \
    static struct behind found_##variable                                                          \
        __attribute__((section("cts_behind"), used, aligned(16))) = {.symbol = #name};             \
    __typeof__(&name) variable;                                                                    \
    *(void **)(void *)&variable = address_behind(&found_##variable)
#define BEHIND(name) FIND(behind, name)

#define CALLER __builtin_return_address(0)
#define EXPORT __attribute__((visibility("default")))

/* ---- locks and semaphores ---- */

static bool has_acquired(int result)
{
    return result == 0 || result == EOWNERDEAD;
}

#define TRYING(name, parameters, arguments, say)                                                   \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        BEHIND(name);                                                                              \
        const int result = behind arguments;                                                       \
        if (has_acquired(result)) say(object, CALLER);                                             \
        return result;                                                                             \
    }
/* `trying`: what does the same if it need not wait. errno stays as it was where that fails. */
#define ACQUIRING(name, trying, parameters, arguments, say, how, ends)                             \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        struct cts_thread_call call;                                                               \
        BEHIND(name);                                                                              \
        FIND(try_behind, trying);                                                                  \
        const int errnum = errno;                                                                  \
        int result = try_behind(object);                                                           \
        if (!has_acquired(result)) {                                                               \
            errno = errnum;                                                                        \
            const bool begun = cts_waits_begin(&call, #name, CALLER);                              \
            if (begun) cts_waits_link(&call, object, how);                                         \
            pthread_cleanup_push(cts_waits_abandon, begun ? &call : NULL);                         \
            result = behind arguments;                                                             \
            pthread_cleanup_pop(0);                                                                \
            if (begun) ends(&call, has_acquired(result));                                          \
        }                                                                                          \
        if (has_acquired(result)) say(object, CALLER);                                             \
        return result;                                                                             \
    }
#define RELEASING(name, type, say, which)                                                          \
    EXPORT int name(type *object)                                                                  \
    {                                                                                              \
        BEHIND(name);                                                                              \
        say(object, CALLER);                                                                       \
        cts_waits_record_release(object, which, #name);                                            \
        return behind(object);                                                                     \
    }
#define FORGETTING(name, type)                                                                     \
    EXPORT int name(type *object)                                                                  \
    {                                                                                              \
        BEHIND(name);                                                                              \
        cts_threads_forget(object, CALLER);                                                        \
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

typedef const struct timespec until;

#define LOCKING(name, trying, parameters, arguments, say)                                          \
    ACQUIRING(name, trying, parameters, arguments, say, CTS_AWAITS, cts_waits_end_lock)

LOCKING(pthread_mutex_lock, pthread_mutex_trylock, (pthread_mutex_t * object), (object),
        acquire_lock)
TRYING(pthread_mutex_trylock, (pthread_mutex_t * object), (object), acquire_lock)
LOCKING(pthread_mutex_timedlock, pthread_mutex_trylock, (pthread_mutex_t * object, until *end),
        (object, end), acquire_lock)
LOCKING(pthread_mutex_clocklock, pthread_mutex_trylock,
        (pthread_mutex_t * object, clockid_t clock, until *end), (object, clock, end), acquire_lock)
RELEASING(pthread_mutex_unlock, pthread_mutex_t, release_lock, CTS_RELEASE_ALL)
FORGETTING(pthread_mutex_destroy, pthread_mutex_t)

LOCKING(pthread_spin_lock, pthread_spin_trylock, (pthread_spinlock_t * object), (object),
        acquire_lock)
TRYING(pthread_spin_trylock, (pthread_spinlock_t * object), (object), acquire_lock)
RELEASING(pthread_spin_unlock, pthread_spinlock_t, release_lock, CTS_RELEASE_ALL)

LOCKING(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t * object), (object),
        acquire_reader)
TRYING(pthread_rwlock_tryrdlock, (pthread_rwlock_t * object), (object), acquire_reader)
LOCKING(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock,
        (pthread_rwlock_t * object, until *end), (object, end), acquire_reader)
LOCKING(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock,
        (pthread_rwlock_t * object, clockid_t clock, until *end), (object, clock, end),
        acquire_reader)
LOCKING(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, (pthread_rwlock_t * object), (object),
        acquire_writer)
TRYING(pthread_rwlock_trywrlock, (pthread_rwlock_t * object), (object), acquire_writer)
LOCKING(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock,
        (pthread_rwlock_t * object, until *end), (object, end), acquire_writer)
LOCKING(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock,
        (pthread_rwlock_t * object, clockid_t clock, until *end), (object, clock, end),
        acquire_writer)
RELEASING(pthread_rwlock_unlock, pthread_rwlock_t, release_any, CTS_RELEASE_ALL)
FORGETTING(pthread_rwlock_destroy, pthread_rwlock_t)

#define TAKING(name, parameters, arguments)                                                        \
    ACQUIRING(name, sem_trywait, parameters, arguments, acquire_posts, CTS_AWAITS_ONE,             \
              cts_waits_end)

TAKING(sem_wait, (sem_t * object), (object))
TRYING(sem_trywait, (sem_t * object), (object), acquire_posts)
TAKING(sem_timedwait, (sem_t * object, until *end), (object, end))
TAKING(sem_clockwait, (sem_t * object, clockid_t clock, until *end), (object, clock, end))
RELEASING(sem_post, sem_t, release_posts, CTS_RELEASE_ONE)
FORGETTING(sem_destroy, sem_t)

/* ---- conditions: what orders is their mutex ---- */

#define WAITING(name, parameters, arguments)                                                       \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        struct cts_thread_call call;                                                               \
        int result = 0;                                                                            \
        BEHIND(name);                                                                              \
        release_lock(object, CALLER);                                                              \
        cts_waits_record_release(object, CTS_RELEASE_ALL, "pthread_mutex_unlock");                 \
        const bool begun = cts_waits_begin(&call, #name, CALLER);                                  \
        if (begun) {                                                                               \
            cts_waits_link(&call, condition, CTS_AWAITS_ONE);                                      \
            cts_waits_link(&call, object, CTS_AWAITS);                                             \
        }                                                                                          \
        pthread_cleanup_push(cts_waits_abandon, begun ? &call : NULL);                             \
        result = behind arguments;                                                                 \
        pthread_cleanup_pop(0);                                                                    \
        if (begun) cts_waits_end(&call, result == 0);                                              \
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

#define SIGNALLING(name, which)                                                                    \
    EXPORT int name(pthread_cond_t *condition)                                                     \
    {                                                                                              \
        BEHIND(name);                                                                              \
        cts_waits_record_release(condition, which, #name);                                         \
        return behind(condition);                                                                  \
    }
SIGNALLING(pthread_cond_signal, CTS_RELEASE_ONE)
SIGNALLING(pthread_cond_broadcast, CTS_RELEASE_ALL)

/* ---- barriers ---- */

EXPORT int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                                unsigned count)
{
    BEHIND(pthread_barrier_init);
    const int result = behind(barrier, attributes, count);
    if (result == 0) cts_threads_barrier(barrier, count, CALLER);
    return result;
}

/* Each phase is an object of its own: a slow thread may still be in the one before. */
EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    struct cts_thread_call call;
    BEHIND(pthread_barrier_wait);
    const unsigned phase = cts_threads_arrive(barrier, CALLER);
    const bool begun = cts_waits_begin(&call, "pthread_barrier_wait", CALLER);
    if (begun) cts_waits_link(&call, (const char *)barrier + phase, CTS_ARRIVES);
    const int result = behind(barrier);
    if (begun) cts_waits_end(&call, result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    cts_threads_leave(barrier, phase, CALLER);
    return result;
}

FORGETTING(pthread_barrier_destroy, pthread_barrier_t)

/* ---- threads ---- */

static void end_of_thread(void *unused)
{
    (void)unused;
    cts_threads_ended(cts_waits_thread_ends());
}

static void *run(void *thread)
{
    const struct cts_threads_start start = cts_threads_begin(thread);
    void *result = NULL;
    cts_waits_thread_begins(&start.origin);
    pthread_cleanup_push(end_of_thread, NULL);
    result = start.routine(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*routine)(void *),
                          void *argument)
{
    struct cts_thread_call call;
    BEHIND(pthread_create);
    int kind = PTHREAD_CREATE_JOINABLE;
    if (attributes) pthread_attr_getdetachstate(attributes, &kind);
    struct cts_threads_start start = {
        routine, argument, {cts_waits_are_own(CALLER), 0, (uintptr_t)routine}};
    const bool begun = cts_waits_begin(&call, "pthread_create", CALLER);
    if (begun) start.origin.release = cts_waits_number(&call);
    if (start.origin.release) cts_waits_name_thread(&start.origin);
    struct cts_watched *const thread =
        cts_threads_create(kind == PTHREAD_CREATE_DETACHED, &start, CALLER);
    const int result =
        thread ? behind(id, attributes, run, thread) : behind(id, attributes, routine, argument);
    if (thread) cts_threads_created(thread, result == 0 ? id : NULL);
    if (begun) cts_waits_end(&call, result == 0);
    return result;
}

#define JOINING(name, parameters, arguments)                                                       \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        struct cts_thread_call call;                                                               \
        BEHIND(name);                                                                              \
        struct cts_watched *const thread = cts_threads_find(id);                                   \
        const bool begun = cts_waits_begin(&call, #name, CALLER);                                  \
        const int result = behind arguments;                                                       \
        if (begun && result == 0) cts_waits_released_by(&call, cts_threads_end_of(thread));        \
        if (begun) cts_waits_end(&call, result == 0);                                              \
        cts_threads_joined(thread, result == 0, CALLER);                                           \
        return result;                                                                             \
    }
JOINING(pthread_join, (pthread_t id, void **value), (id, value))
JOINING(pthread_timedjoin_np, (pthread_t id, void **value, until *end), (id, value, end))
JOINING(pthread_clockjoin_np, (pthread_t id, void **value, clockid_t clock, until *end),
        (id, value, clock, end))

EXPORT int pthread_tryjoin_np(pthread_t id, void **value)
{
    BEHIND(pthread_tryjoin_np);
    struct cts_watched *const thread = cts_threads_find(id);
    const int result = behind(id, value);
    cts_threads_joined(thread, result == 0, CALLER);
    return result;
}

EXPORT int pthread_detach(pthread_t id)
{
    BEHIND(pthread_detach);
    struct cts_watched *const thread = cts_threads_find(id);
    const int result = behind(id);
    cts_threads_detached(thread, result == 0);
    return result;
}
