#include "common/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

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
