/* Who asks comes first: once the first launch is read, the thread runs at a low priority, as do
 * those that it starts, and pauses while others are answered. It gives up a launch when the page
 * goes on to another one. Whatever fails here fails again, and is told, when the page asks. */
#include "view/prepare.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "common/array.h"

enum { LESS_URGENT = 10, PAUSES_MAX = 50 };

struct cts_view_preparation {
    struct cts_view_run *run;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_wish; /* guarded by the lock, as the launch is */
    uint32_t launch;
    atomic_uint others;  /* questions that are being answered */
    atomic_bool is_over; /* what is being done is wanted no more */
    bool is_stopping;
};

static bool is_given_up(void *state)
{
    struct cts_view_preparation *const preparation = state;
    return atomic_load_explicit(&preparation->is_over, memory_order_relaxed);
}

/* Between two chunks; not for ever, since another question may wait for what this one holds. */
static bool is_given_up_later(void *state)
{
    struct cts_view_preparation *const preparation = state;
    const struct timespec pause = {.tv_nsec = 1000000};
    for (unsigned i = 0; i < PAUSES_MAX && atomic_load(&preparation->others); i++) {
        if (is_given_up(state)) break;
        nanosleep(&pause, NULL);
    }
    return is_given_up(state);
}

/* The one that the page chooses when its address names none. */
static uint32_t first_launch(const struct cts_view_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->recording.catalogue.launch_count; i++)
        if (snapshot->launches[i].record_count)
            return snapshot->recording.catalogue.launches[i].launch;
    return CTS_NONE;
}

static void read_first(struct cts_view_preparation *preparation)
{
    struct cts_view_snapshot *const snapshot = cts_view_run_enter(preparation->run);
    const struct cts_selection_question question = {
        .launch = first_launch(snapshot), .is_given_up = is_given_up, .state = preparation};
    struct cts_selection_launch launch;
    if (question.launch != CTS_NONE &&
        !cts_selection_launch(snapshot->selection, &question, &launch, NULL))
        cts_selection_launch_release(&launch);
    cts_view_run_leave(preparation->run, snapshot);
}

static void look_for_conflicts(struct cts_view_preparation *preparation, uint32_t launch)
{
    static const uint8_t spaces[] = {CTS_SPACE_SHARED, CTS_SPACE_GLOBAL};
    struct cts_view_snapshot *const snapshot = cts_view_run_enter(preparation->run);
    const struct cts_selection_question question = {
        .launch = launch, .is_given_up = is_given_up_later, .state = preparation};
    for (size_t i = 0; i < sizeof spaces; i++) {
        struct cts_selection_conflicts conflicts;
        const struct cts_selection_ranges one = {spaces[i], 1};
        if (!cts_selection_conflicts_find(snapshot->selection, &question, one, &conflicts, NULL))
            cts_selection_conflicts_release(&conflicts);
    }
    cts_view_run_leave(preparation->run, snapshot);
}

/* The next launch to look at; false: none will come. */
static bool take_wish(struct cts_view_preparation *preparation, uint32_t *launch)
{
    pthread_mutex_lock(&preparation->lock);
    while (!preparation->has_wish && !preparation->is_stopping)
        pthread_cond_wait(&preparation->changed, &preparation->lock);
    *launch = preparation->launch;
    preparation->has_wish = false;
    const bool is_wish = !preparation->is_stopping;
    if (is_wish) atomic_store(&preparation->is_over, false);
    pthread_mutex_unlock(&preparation->lock);
    return is_wish;
}

static void *work(void *state)
{
    struct cts_view_preparation *const preparation = state;
    uint32_t launch;
    read_first(preparation);
    setpriority(PRIO_PROCESS, 0, LESS_URGENT); /* of this thread, and of those that it starts */
    while (take_wish(preparation, &launch)) look_for_conflicts(preparation, launch);
    return NULL;
}

enum cts_status cts_view_prepare(struct cts_view_run *run, struct cts_view_preparation **out,
                                 struct cts_error *error)
{
    struct cts_view_preparation *const preparation =
        cts_array_zeroed(1, sizeof *preparation, error);
    if (!preparation) return CTS_MEMORY;
    preparation->run = run;
    preparation->launch = CTS_NONE;
    pthread_mutex_init(&preparation->lock, NULL);
    pthread_cond_init(&preparation->changed, NULL);
    const int reason = pthread_create(&preparation->thread, NULL, work, preparation);
    if (reason) {
        pthread_cond_destroy(&preparation->changed);
        pthread_mutex_destroy(&preparation->lock);
        free(preparation);
        return cts_fail_errno(error, reason, "cannot start a thread");
    }
    *out = preparation;
    return CTS_OK;
}

void cts_view_prepare_launch(struct cts_view_preparation *preparation, uint32_t launch)
{
    pthread_mutex_lock(&preparation->lock);
    if (preparation->launch != launch) atomic_store(&preparation->is_over, true);
    preparation->launch = launch;
    preparation->has_wish = true;
    pthread_cond_signal(&preparation->changed);
    pthread_mutex_unlock(&preparation->lock);
}

void cts_view_prepare_wait(struct cts_view_preparation *preparation)
{
    atomic_fetch_add(&preparation->others, 1);
}

void cts_view_prepare_go_on(struct cts_view_preparation *preparation)
{
    atomic_fetch_sub(&preparation->others, 1);
}

void cts_view_prepare_cancel(struct cts_view_preparation *preparation)
{
    if (!preparation) return;
    pthread_mutex_lock(&preparation->lock);
    preparation->is_stopping = true;
    atomic_store(&preparation->is_over, true);
    pthread_cond_signal(&preparation->changed);
    pthread_mutex_unlock(&preparation->lock);
}

void cts_view_prepare_stop(struct cts_view_preparation *preparation)
{
    if (!preparation) return;
    cts_view_prepare_cancel(preparation);
    pthread_join(preparation->thread, NULL);
    pthread_cond_destroy(&preparation->changed);
    pthread_mutex_destroy(&preparation->lock);
    free(preparation);
}
