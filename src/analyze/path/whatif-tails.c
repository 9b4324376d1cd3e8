/* How long after each thing that it depends on a device activity begins: known latencies.
 *
 *      launch   ....|--- latency ---|
 *      previous ==========|-- gap --|
 *      held by  =====|---- gap -----|
 *                                   ^ begin
 *
 * Of these gaps only one is a latency, that of the bound that came last; in the others the activity
 * waited for something else. A bound's usual latency is the lower quartile of those of activities
 * that it came last for: of its kind (kernel, memset, copy by direction), else of all kinds. A
 * bound that never came last has no latency in the recording, only gaps: what it would cost is at
 * most the least of these, and at most what the cheapest of the other bounds costs, since all of
 * them end with the same start of an activity. So no gap that was a wait is kept. */
#include <stdlib.h>

#include "analyze/path/api.h"
#include "analyze/path/whatif-plan.h"

#define UNKNOWN INT64_MAX

enum { DEVICE_LATENCY_NS = 1000 }; /* from one kernel to the next of its stream, on GPUs */

/* Kernels, memsets, and copies by their direction. */
enum { KERNEL, MEMSET, COPY, KINDS = COPY + 3, ALL_KINDS = KINDS };

struct tails {
    const struct cts_whatif_plan *plan;
    int64_t usual_ns[CTS_WHATIF_BY_NOTHING][KINDS + 1];
    int64_t least_ns[CTS_WHATIF_BY_NOTHING][KINDS + 1]; /* of all gaps */
};

static unsigned kind_of(const struct cts_path_graph *graph, const struct cts_path_location *at,
                        const struct cts_path_activity *activity)
{
    const uint32_t region = at->region[activity->begin] & ~CTS_PATH_LEAVE;
    if (region >= graph->system->pseudo && region - graph->system->pseudo <= CTS_PATH_COPY_DTOD)
        return COPY + (region - graph->system->pseudo);
    const unsigned api = graph->system->regions[region].api;
    return api == CTS_PATH_API_MEMSET || api == CTS_PATH_API_MEMSET_ASYNC ? MEMSET : KERNEL;
}

static int64_t *tail_of(struct cts_whatif_work *work, unsigned bound)
{
    return bound == CTS_WHATIF_BY_LAUNCH     ? &work->launch_tail_ns
           : bound == CTS_WHATIF_BY_PREVIOUS ? &work->previous_tail_ns
                                             : &work->wait_tail_ns;
}

static bool has_bound(const struct cts_whatif_work *work, unsigned bound)
{
    return (bound == CTS_WHATIF_BY_LAUNCH     ? work->launch
            : bound == CTS_WHATIF_BY_PREVIOUS ? work->previous
                                              : work->wait) != CTS_PATH_NONE;
}

/* What the host runs until the begin is no latency: of an inferred launch. */
static bool keeps_tail(const struct cts_whatif_work *work, unsigned bound)
{
    return bound == CTS_WHATIF_BY_LAUNCH && work->inferred;
}

/* ---- what is usual ---- */

struct sample {
    uint32_t kind;
    int64_t tail_ns;
};

static int by_kind(const void *left, const void *right)
{
    const struct sample *const a = left, *const b = right;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return (a->tail_ns > b->tail_ns) - (a->tail_ns < b->tail_ns);
}

static int by_tail(const void *left, const void *right)
{
    const struct sample *const a = left, *const b = right;
    return (a->tail_ns > b->tail_ns) - (a->tail_ns < b->tail_ns);
}

/* The tails of those that this bound came last for; notes the least gap of all. */
static size_t gather(struct tails *tails, unsigned bound, struct sample *samples)
{
    const struct cts_path_graph *const graph = tails->plan->graph;
    size_t count = 0;
    for (uint32_t l = 0; l < graph->system->location_count; l++) {
        const struct cts_path_location *const at = &graph->locations[l];
        for (size_t i = 0; tails->plan->places[l].work && i < at->activities.count; i++) {
            struct cts_whatif_work *const work = &tails->plan->places[l].work[i];
            if (!has_bound(work, bound) || keeps_tail(work, bound)) continue;
            const struct sample sample = {kind_of(graph, at, &at->activities.items[i]),
                                          *tail_of(work, bound)};
            int64_t *const least_ns = tails->least_ns[bound];
            if (sample.tail_ns < least_ns[sample.kind]) least_ns[sample.kind] = sample.tail_ns;
            if (sample.tail_ns < least_ns[ALL_KINDS]) least_ns[ALL_KINDS] = sample.tail_ns;
            if (work->binding == bound && !work->takes_turn) samples[count++] = sample;
        }
    }
    return count;
}

static void find_usual(struct tails *tails, unsigned bound, struct sample *samples)
{
    const size_t count = gather(tails, bound, samples);
    qsort(samples, count, sizeof *samples, by_kind);
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && samples[end].kind == samples[i].kind) end++;
        tails->usual_ns[bound][samples[i].kind] = samples[i + (end - i) / 4].tail_ns;
        i = end;
    }
    qsort(samples, count, sizeof *samples, by_tail);
    if (count) tails->usual_ns[bound][ALL_KINDS] = samples[count / 4].tail_ns;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Bounds that never came last for a kind: of all kinds, else as the cheapest other bound. */
static void fill_unknown(struct tails *tails)
{
    int64_t cheapest_ns = UNKNOWN;
    const struct cts_whatif_plan *const plan = tails->plan;
    for (unsigned bound = 0; bound < CTS_WHATIF_BY_NOTHING; bound++)
        cheapest_ns = lesser(cheapest_ns, tails->usual_ns[bound][ALL_KINDS]);
    if (cheapest_ns == UNKNOWN) { /* all launches are inferred: as fast as a call notices an end */
        cheapest_ns = DEVICE_LATENCY_NS;
        for (uint32_t r = 0; r < plan->graph->system->region_count; r++)
            if (plan->least_tail_ns[r] < (uint64_t)cheapest_ns)
                cheapest_ns = (int64_t)plan->least_tail_ns[r];
    }
    for (unsigned bound = 0; bound < CTS_WHATIF_BY_NOTHING; bound++) {
        int64_t *const usual_ns = tails->usual_ns[bound];
        if (usual_ns[ALL_KINDS] == UNKNOWN) usual_ns[ALL_KINDS] = cheapest_ns;
        for (unsigned kind = 0; kind < KINDS; kind++)
            if (usual_ns[kind] == UNKNOWN)
                usual_ns[kind] = lesser(usual_ns[ALL_KINDS], tails->least_ns[bound][kind]);
    }
}

/* ---- what each activity keeps ---- */

static void shorten(struct cts_whatif_work *work, const struct tails *tails, unsigned kind)
{
    int64_t least_ns = INT64_MAX;
    for (unsigned bound = 0; bound < CTS_WHATIF_BY_NOTHING; bound++) {
        if (!has_bound(work, bound)) continue;
        int64_t *const tail_ns = tail_of(work, bound);
        const int64_t usual_ns = tails->usual_ns[bound][kind];
        const int64_t extra_ns =
            *tail_ns > usual_ns && !keeps_tail(work, bound) ? *tail_ns - usual_ns : 0;
        *tail_ns -= extra_ns;
        if (extra_ns > least_ns) continue;
        least_ns = extra_ns;
        work->binding = (uint8_t)bound;
        work->extra_ns = extra_ns;
    }
}

enum cts_status cts_whatif_shorten_tails(struct cts_whatif_plan *plan, struct cts_error *error)
{
    const struct cts_path_graph *const graph = plan->graph;
    struct tails tails = {.plan = plan};
    struct sample *const samples = cts_array_zeroed(plan->activity_count, sizeof *samples, error);
    if (!samples) return CTS_MEMORY;
    for (unsigned bound = 0; bound < CTS_WHATIF_BY_NOTHING; bound++) {
        for (unsigned kind = 0; kind <= KINDS; kind++)
            tails.usual_ns[bound][kind] = tails.least_ns[bound][kind] = UNKNOWN;
        find_usual(&tails, bound, samples);
    }
    free(samples);
    fill_unknown(&tails);
    for (uint32_t l = 0; l < graph->system->location_count; l++) {
        const struct cts_path_location *const at = &graph->locations[l];
        for (size_t i = 0; plan->places[l].work && i < at->activities.count; i++)
            shorten(&plan->places[l].work[i], &tails, kind_of(graph, at, &at->activities.items[i]));
    }
    return CTS_OK;
}
