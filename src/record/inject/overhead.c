/* The time that CUPTI itself took of the program's threads: flushing buffers, fetching new ones,
 * its own resources. Its records arrive in other threads, while a thread's log is written by that
 * thread alone, so they wait in a short list per thread until it makes its next call; the archive
 * is put in order of time later. They become BUFFER_FLUSH events: an interval that need not nest
 * with the calls around it. What nobody collects (the thread made no further call) is counted. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject.h"

enum { WAITING_MAX = 128 };

struct thread {
    uint32_t id;
    _Atomic uint32_t waiting_count;
    struct cts_overhead waiting[WAITING_MAX]; /* under the lock */
    struct thread *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *threads;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;
static __thread struct thread *own;

static void forget(void *thread)
{
    pthread_mutex_lock(&lock);
    struct thread **link = &threads;
    while (*link && *link != thread) link = &(*link)->next;
    if (*link) *link = (*link)->next;
    pthread_mutex_unlock(&lock);
    own = NULL;
    free(thread);
}

static void make_key(void)
{
    pthread_key_create(&at_thread_end, forget);
}

static void join_list(void)
{
    pthread_once(&once, make_key);
    struct thread *const thread = calloc(1, sizeof *thread);
    if (!thread) return;
    thread->id = (uint32_t)syscall(SYS_gettid);
    pthread_setspecific(at_thread_end, thread);
    pthread_mutex_lock(&lock);
    thread->next = threads;
    threads = thread;
    pthread_mutex_unlock(&lock);
    own = thread;
}

void cts_overhead_of_thread(uint32_t thread_id, const struct cts_overhead *overhead)
{
    pthread_mutex_lock(&lock);
    struct thread *thread = threads;
    while (thread && thread->id != thread_id) thread = thread->next;
    if (thread) {
        const uint32_t count = atomic_load_explicit(&thread->waiting_count, memory_order_relaxed);
        if (count < WAITING_MAX) {
            thread->waiting[count] = *overhead;
            atomic_store_explicit(&thread->waiting_count, count + 1, memory_order_relaxed);
        }
    }
    pthread_mutex_unlock(&lock);
}

void cts_overhead_write(struct cts_log *log)
{
    if (!own) {
        join_list();
        return;
    }
    if (!atomic_load_explicit(&own->waiting_count, memory_order_relaxed)) return;
    struct cts_overhead taken[WAITING_MAX];
    pthread_mutex_lock(&lock);
    const uint32_t count = atomic_load_explicit(&own->waiting_count, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) taken[i] = own->waiting[i];
    atomic_store_explicit(&own->waiting_count, 0, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    for (uint32_t i = 0; i < count; i++) {
        const struct cts_timeline_event event = {.time_ns = taken[i].start_ns,
                                                 .kind = CTS_EVENT_BUFFER_FLUSH,
                                                 .flush.end_ns = taken[i].end_ns};
        cts_inject_recorder->event(log, &event, NULL);
    }
}
