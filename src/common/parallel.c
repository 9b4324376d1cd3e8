#include "common/parallel.h"
#include "common/promise.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { THREADS_MAX = 256 };

struct task {
    void (*work)(void *state, unsigned index);
    void *state;
    unsigned index;
    pthread_t thread;
    bool started;
};

unsigned cts_thread_count(unsigned wanted)
{
    if (!wanted) {
        cpu_set_t processors;
        const bool known = sched_getaffinity(0, sizeof processors, &processors) == 0;
        wanted = known ? (unsigned)CPU_COUNT(&processors) : 1;
    }
    return wanted < THREADS_MAX ? wanted : THREADS_MAX;
}

static void *run(void *argument)
{
    const struct task *const task = argument;
    task->work(task->state, task->index);
    return NULL;
}

void cts_parallel(unsigned thread_count, void (*work)(void *state, unsigned index), void *state)
{
    assert(work);
    struct task tasks[THREADS_MAX];
    if (thread_count > THREADS_MAX) thread_count = THREADS_MAX;
    for (unsigned i = 0; i < thread_count; i++) {
        tasks[i] = (struct task){.work = work, .state = state, .index = i};
        if (i + 1 < thread_count)
            tasks[i].started = pthread_create(&tasks[i].thread, NULL, run, &tasks[i]) == 0;
    }
    for (unsigned i = thread_count; i-- > 0;)
        if (!tasks[i].started) run(&tasks[i]);
    for (unsigned i = 0; i < thread_count; i++)
        if (tasks[i].started) pthread_join(tasks[i].thread, NULL);
}

/* ---- items ---- */

struct each {
    size_t item_count;
    atomic_size_t next;
    enum cts_status (*work)(void *state, unsigned thread, size_t item, struct cts_error *error);
    void *state;
    pthread_mutex_t lock; /* of what follows */
    size_t failed_item;   /* the lowest; SIZE_MAX: none */
    enum cts_status status;
    struct cts_error error;
};

static void note_failure(struct each *each, size_t item, enum cts_status status,
                         const struct cts_error *error)
{
    assert(status && item < each->item_count);
    pthread_mutex_lock(&each->lock);
    if (item < each->failed_item) {
        each->failed_item = item;
        each->status = status;
        each->error = *error;
    }
    pthread_mutex_unlock(&each->lock);
    atomic_store(&each->next, each->item_count);
}

static void claim_items(void *state, unsigned thread)
{
    struct each *const each = state;
    struct cts_error error = {.status = CTS_OK};
    for (;;) {
        const size_t item = atomic_fetch_add_explicit(&each->next, 1, memory_order_relaxed);
        if (item >= each->item_count) return;
        const enum cts_status status = each->work(each->state, thread, item, &error);
        if (status) note_failure(each, item, status, &error);
    }
}

enum cts_status cts_for_each(size_t item_count, unsigned thread_count,
                             enum cts_status (*work)(void *state, unsigned thread, size_t item,
                                                     struct cts_error *error),
                             void *state, struct cts_error *error)
{
    assert(work);
    struct each each = {
        .item_count = item_count, .work = work, .state = state, .failed_item = SIZE_MAX};
    if (!item_count) return CTS_OK;
    if (!thread_count) thread_count = 1;
    atomic_init(&each.next, 0);
    pthread_mutex_init(&each.lock, NULL);
    cts_parallel(item_count < thread_count ? (unsigned)item_count : thread_count, claim_items,
                 &each);
    pthread_mutex_destroy(&each.lock);
    if (each.status && error) *error = each.error;
    return each.status;
}
