/* Processes that share a GPU: it runs the kernels of one at a time, in slices, so that each takes
 * longer than alone. A recording names devices by the numbers that a process has for them; kernels
 * of several processes of a machine, at the same time on devices of one number, may be that. The
 * CPU device, whose kernels use no registers, has room for all. */
#include <stdlib.h>
#include <string.h>

#include "analyze/path/whatif-plan.h"

struct span {
    uint64_t begin_ns, end_ns;
    const char *host; /* NULL: not known */
    uint32_t device, process;
};

struct spans {
    struct span *items;
    size_t count, capacity;
};

static int by_device(const struct span *a, const struct span *b)
{
    const int host = a->host && b->host ? strcmp(a->host, b->host) : !a->host - !b->host;
    return host ? host : (a->device > b->device) - (a->device < b->device);
}

static int by_begin(const void *left, const void *right)
{
    const struct span *const a = left, *const b = right;
    const int device = by_device(a, b);
    if (device) return device;
    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static enum cts_status gather(const struct cts_path_graph *graph, uint32_t stream,
                              struct spans *spans, struct cts_error *error)
{
    const struct cts_timeline *const timeline = graph->system->timeline;
    const struct cts_path_location *const at = &graph->locations[stream];
    const struct cts_timeline_location *const location = &timeline->locations[stream];
    for (size_t i = 0; i < at->configs.count; i++) {
        const struct cts_path_activity *const activity = &at->activities.items[i];
        if (!at->configs.items[i].cta_count || !at->configs.items[i].registers) continue;
        if (CTS_ARRAY_RESERVE(spans, spans->count + 1, error)) return CTS_MEMORY;
        spans->items[spans->count++] =
            (struct span){.begin_ns = at->time_ns[activity->begin],
                          .end_ns = at->time_ns[activity->end],
                          .host = location->process < timeline->group_count
                                      ? timeline->groups[location->process].host
                                      : NULL,
                          .device = location->device,
                          .process = at->who->process};
    }
    return CTS_OK;
}

enum cts_status cts_whatif_shared_by_processes(const struct cts_path_graph *graph,
                                               uint64_t *shared_ns, struct cts_error *error)
{
    struct spans spans = {0};
    enum cts_status status = CTS_OK;
    *shared_ns = 0;
    for (uint32_t l = 0; l < graph->system->location_count && !status; l++)
        if (graph->system->who[l].stream) status = gather(graph, l, &spans, error);
    if (spans.count) qsort(spans.items, spans.count, sizeof *spans.items, by_begin);
    const struct span *last = NULL; /* of its device, the one that ends last so far */
    for (size_t i = 0; i < spans.count; i++) {
        const struct span *const span = &spans.items[i];
        const bool same = last && !by_device(last, span);
        if (same && last->process != span->process && span->begin_ns < last->end_ns)
            *shared_ns +=
                (span->end_ns < last->end_ns ? span->end_ns : last->end_ns) - span->begin_ns;
        if (!same || span->end_ns > last->end_ns) last = span;
    }
    free(spans.items);
    return status;
}
