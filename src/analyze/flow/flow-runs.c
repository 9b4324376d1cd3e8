/* First all runs are taken. If they are too many, only an even sample of them is kept, whose
 * quantiles cut the addresses into windows with about as many runs each; then both launches are
 * read again for each window. */
#include "analyze/flow/flow-runs.h"

#include <stdlib.h>

#include "analyze/bits.h"
#include "common/array.h"
#include "common/hash.h"

enum { WINDOWS_MAX = 64, SAMPLES_MAX = 1 << 16 };

/* Pages of runs: of about every `stride`-th run that was seen; a power of two. Which ones is left
 * to a hash, since CTAs hand out their runs in a rhythm. */
struct sample {
    uint64_t pages[SAMPLES_MAX];
    size_t count;
    uint64_t stride;
};

struct gathering {
    const struct cts_flow_windows *windows;
    struct cts_flow_side sides[2];
    struct cts_flow_side *side;    /* whose runs come */
    uint64_t first_page, end_page; /* the window */
    uint64_t seen;                 /* runs in the window, of both sides */
    size_t kept_max;               /* more are not kept */
    struct sample *sample;         /* NULL: none */
    pthread_mutex_t lock;
};

static void note(struct sample *sample, uint64_t index, uint64_t page)
{
    if (cts_hash(index) & (sample->stride - 1)) return;
    if (sample->count == SAMPLES_MAX) { /* every second one stays */
        for (size_t i = 0; i < SAMPLES_MAX / 2; i++) sample->pages[i] = sample->pages[2 * i];
        sample->count = SAMPLES_MAX / 2;
        sample->stride *= 2;
    }
    sample->pages[sample->count++] = page;
}

static enum cts_status take_run(void *state, const struct cts_flow_cta_run *run,
                                struct cts_error *error)
{
    struct gathering *const g = state;
    struct cts_flow_runs *const runs = run->is_store ? &g->side->stores : &g->side->loads;
    const uint64_t page = run->start >> CTS_BITS_PAGE_BITS;
    enum cts_status status = CTS_OK;
    if (page < g->first_page || page >= g->end_page) return CTS_OK;
    pthread_mutex_lock(&g->lock);
    if (g->sample) note(g->sample, g->seen, page);
    if (g->seen++ < g->kept_max && !(status = CTS_ARRAY_RESERVE(runs, runs->count + 1, error)))
        runs->items[runs->count++] = *run;
    pthread_mutex_unlock(&g->lock);
    return status;
}

static int by_start(const void *left, const void *right)
{
    const struct cts_flow_cta_run *const a = left, *const b = right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return (a->cta > b->cta) - (a->cta < b->cta);
}

static int by_page(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void sort(struct cts_flow_runs *runs)
{
    if (runs->count) qsort(runs->items, runs->count, sizeof *runs->items, by_start);
}

/* Both launches' runs of the window. */
static enum cts_status gather(struct gathering *g, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    g->seen = 0;
    for (unsigned i = 0; i < 2 && !status; i++) {
        g->side = &g->sides[i];
        g->side->loads.count = g->side->stores.count = 0;
        status =
            cts_flow_touch_ctas(g->windows->toucher, g->windows->launches[i], take_run, g, error);
    }
    for (unsigned i = 0; i < 2 && g->seen <= g->kept_max; i++) {
        sort(&g->sides[i].loads);
        sort(&g->sides[i].stores);
    }
    return status;
}

static enum cts_status each_window(struct gathering *g, cts_flow_take_window take, void *state,
                                   struct cts_error *error)
{
    struct sample *const sample = g->sample;
    const size_t windows = (size_t)(g->seen / g->windows->at_a_time) + 1;
    enum cts_status status = CTS_OK;
    bool done = false;
    qsort(sample->pages, sample->count, sizeof *sample->pages, by_page);
    g->sample = NULL;
    g->kept_max = SIZE_MAX;
    g->end_page = 0;
    for (size_t w = 1; w <= windows && !status && !done; w++) {
        g->first_page = g->end_page;
        g->end_page = w == windows ? UINT64_MAX : sample->pages[sample->count * w / windows];
        if (g->first_page >= g->end_page) continue;
        status = gather(g, error);
        if (!status && g->seen) status = take(state, g->sides, &done, error);
    }
    return status;
}

enum cts_status cts_flow_each_window(struct cts_flow_windows *windows, cts_flow_take_window take,
                                     void *state, struct cts_error *error)
{
    struct sample *const sample = cts_array_zeroed(1, sizeof *sample, error);
    struct gathering g = {.windows = windows,
                          .end_page = UINT64_MAX,
                          .kept_max = windows->at_a_time,
                          .sample = sample};
    bool done = false;
    windows->is_too_much = false;
    if (!sample) return CTS_MEMORY;
    sample->stride = 1;
    pthread_mutex_init(&g.lock, NULL);
    enum cts_status status = gather(&g, error);
    if (!status && g.seen <= windows->at_a_time)
        status = take(state, g.sides, &done, error);
    else if (!status && !(windows->is_too_much = g.seen / windows->at_a_time >= WINDOWS_MAX))
        status = each_window(&g, take, state, error);
    pthread_mutex_destroy(&g.lock);
    for (unsigned i = 0; i < 2; i++) {
        free(g.sides[i].loads.items);
        free(g.sides[i].stores.items);
    }
    free(sample);
    return status;
}
