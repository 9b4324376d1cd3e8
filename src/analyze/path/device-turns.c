/* A device that one kernel fills: kernels of several streams stand back to back on it. No record
 * says so where grids are not known; the evidence is that
 *
 *     - kernels of different streams never run at the same time, and
 *     - at least twice one was ready, by more than a launch takes, while another stream's ran, and
 *       began only when that one had ended.
 *
 *     stream a   [=========== A ===========]
 *     stream b       ready |- waits for A -| [==== B ====]
 *
 * The wait then is of the kernel that ran, not a latency of the launch.
 *
 * Where kernels do run side by side, the first launch of each may have waited all the same: CUDA
 * loads a kernel's code then, behind all work that the device has (measured on an H200: 5 us behind
 * the end of a kernel of another stream that ran for 30 ms). The evidence is that it began right
 * behind the last of what was launched before it and ran when it was ready, and that this took
 * longer by far than a launch does. What a first launch waits for is no sign of a full device. */
#include <stdlib.h>

#include "analyze/path/device-turns.h"
#include "analyze/path/offer.h"
#include "common/map.h"

enum { LEAST_EVIDENCE = 2, LATENCY_TIMES = 2, LOADING_TIMES = 4 };

struct kernel {
    uint64_t begin_ns, end_ns, ready_ns, launched_ns;
    uint32_t location, activity, region;
    bool held;  /* by an event or the null stream: that wait is known */
    bool first; /* launch of this kernel */
};

struct kernels {
    struct kernel *items;
    size_t count, capacity;
};

static int by_begin(const void *left, const void *right)
{
    const struct kernel *const a = left, *const b = right;
    if (a->begin_ns != b->begin_ns) return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->location != b->location) return a->location < b->location ? -1 : 1;
    return (a->activity > b->activity) - (a->activity < b->activity);
}

static bool is_kernel(const struct cts_path_graph *graph, uint32_t region)
{
    return region < graph->pseudo && graph->regions[region].kind != CTS_PATH_API;
}

static enum cts_status gather(const struct cts_path_graph *graph, uint32_t location,
                              struct kernels *kernels, struct cts_error *error)
{
    const struct cts_path_location *const at = &graph->locations[location];
    bool *const held = cts_array_zeroed(at->count, sizeof *held, error);
    if (!held || CTS_ARRAY_RESERVE(kernels, kernels->count + at->activities.count, error)) {
        free(held);
        return CTS_MEMORY;
    }
    for (size_t i = 0; i < at->waits.count; i++)
        if (at->waits.items[i].call != CTS_PATH_NONE) held[at->waits.items[i].call] = true;
    uint64_t before_ns = 0;
    for (uint32_t i = 0; i < at->activities.count; i++) {
        const struct cts_path_activity *const activity = &at->activities.items[i];
        const uint64_t end_ns = at->time_ns[activity->end];
        if (is_kernel(graph, at->region[activity->begin]) && activity->host != CTS_PATH_NONE)
            kernels->items[kernels->count++] = (struct kernel){
                .begin_ns = at->time_ns[activity->begin],
                .end_ns = end_ns,
                .ready_ns = activity->launched_ns > before_ns ? activity->launched_ns : before_ns,
                .launched_ns = activity->launched_ns,
                .location = location,
                .activity = i,
                .region = at->region[activity->begin],
                .held = held[activity->begin]};
        if (end_ns > before_ns) before_ns = end_ns;
    }
    free(held);
    return CTS_OK;
}

/* ---- the evidence ---- */

static bool ever_overlap(const struct kernels *kernels)
{
    for (size_t i = 1; i < kernels->count; i++)
        if (kernels->items[i].location != kernels->items[i - 1].location &&
            kernels->items[i].begin_ns < kernels->items[i - 1].end_ns)
            return true;
    return false;
}

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* What a launch usually takes where nothing else ran since. */
static enum cts_status usual_latency(const struct kernels *kernels, uint64_t *latency_ns,
                                     struct cts_error *error)
{
    uint64_t *const latencies = cts_array_zeroed(kernels->count, sizeof *latencies, error);
    if (!latencies) return CTS_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < kernels->count; i++) {
        const struct kernel *const kernel = &kernels->items[i];
        if (i && kernels->items[i - 1].end_ns > kernel->ready_ns) continue;
        if (!kernel->held && kernel->begin_ns > kernel->ready_ns)
            latencies[count++] = kernel->begin_ns - kernel->ready_ns;
    }
    qsort(latencies, count, sizeof *latencies, by_value);
    *latency_ns = count ? latencies[count / 2] : 0;
    free(latencies);
    return CTS_OK;
}

/* Kernel `i` waited for the one before it, which is another stream's. */
static bool waited(const struct kernels *kernels, size_t i, uint64_t latency_ns)
{
    const struct kernel *const kernel = &kernels->items[i], *const before = kernel - 1;
    if (kernel->held || kernel->location == before->location ||
        before->end_ns <= kernel->ready_ns + LATENCY_TIMES * latency_ns)
        return false;
    return kernel->begin_ns - before->end_ns <= before->end_ns - kernel->ready_ns;
}

/* ---- first launches ---- */

/* `before`: kernels that earlier stretches of the timeline launched; NULL. */
static enum cts_status mark_first(struct kernels *kernels, const struct cts_map *before,
                                  struct cts_error *error)
{
    struct cts_map first = {0}; /* region: when it was launched first, + 1 */
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < kernels->count && !status; i++) {
        const struct kernel *const kernel = &kernels->items[i];
        if (before && cts_map_find(before, kernel->region)) continue;
        uint64_t *const at = cts_map_at(&first, kernel->region, error);
        if (!at)
            status = CTS_MEMORY;
        else if (!*at || kernel->launched_ns < *at - 1)
            *at = kernel->launched_ns + 1;
    }
    for (size_t i = 0; i < kernels->count && !status; i++) {
        const uint64_t *const at = cts_map_find(&first, kernels->items[i].region);
        kernels->items[i].first = at && *at == kernels->items[i].launched_ns + 1;
    }
    cts_map_release(&first);
    return status;
}

/* The last to end of the kernels of other streams that were launched before kernel `i` and ran when
 * it was ready; NULL where it did not wait for all of them, or hardly. */
static const struct kernel *loaded_behind(const struct kernels *kernels, size_t i,
                                          uint64_t latency_ns)
{
    const struct kernel *const kernel = &kernels->items[i], *last = NULL;
    for (size_t k = 0; k < i; k++) {
        const struct kernel *const other = &kernels->items[k];
        if (other->location == kernel->location || other->launched_ns > kernel->launched_ns ||
            other->end_ns <= kernel->ready_ns)
            continue;
        if (!last || other->end_ns > last->end_ns) last = other;
    }
    if (!last || kernel->held || last->end_ns > kernel->begin_ns ||
        last->end_ns <= kernel->ready_ns + LATENCY_TIMES * latency_ns)
        return NULL;
    const uint64_t waited_ns = last->end_ns - kernel->ready_ns;
    return (kernel->begin_ns - last->end_ns) * LOADING_TIMES <= waited_ns ? last : NULL;
}

/* ---- the waits ---- */

static struct cts_path_turn turn_of(struct cts_path_graph *graph, const struct kernel *kernel,
                                    const struct kernel *before)
{
    const struct cts_path_location *const ran = &graph->locations[before->location];
    return (struct cts_path_turn){
        .at = &graph->locations[kernel->location],
        .activity = kernel->activity,
        .ready_ns = kernel->ready_ns,
        .before = {before->end_ns, before->location, ran->activities.items[before->activity].end}};
}

static enum cts_status add_loading(struct cts_path_graph *graph, const struct kernels *kernels,
                                   uint64_t latency_ns, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 1; i < kernels->count && !status; i++) {
        if (!kernels->items[i].first) continue;
        const struct kernel *const last = loaded_behind(kernels, i, latency_ns);
        if (!last) continue;
        const struct cts_path_turn turn = turn_of(graph, &kernels->items[i], last);
        status = CTS_PATH_OFFER(first, &turn, error);
    }
    return status;
}

static enum cts_status add_waits(struct cts_path_graph *graph, const struct kernels *kernels,
                                 uint64_t latency_ns, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 1; i < kernels->count && !status; i++) {
        if (!waited(kernels, i, latency_ns)) continue;
        const struct kernel *const kernel = &kernels->items[i];
        const struct cts_path_turn turn = turn_of(graph, kernel, kernel - 1);
        status = CTS_PATH_OFFER(turn, &turn, error);
    }
    return status;
}

static enum cts_status share(struct cts_path_graph *graph, struct kernels *kernels,
                             const struct cts_map *launched, struct cts_error *error)
{
    uint64_t latency_ns = 0;
    if (kernels->count < 2) return CTS_OK;
    qsort(kernels->items, kernels->count, sizeof *kernels->items, by_begin);
    if (usual_latency(kernels, &latency_ns, error) || mark_first(kernels, launched, error))
        return CTS_MEMORY;
    size_t evidence = 0;
    const bool turns = !ever_overlap(kernels);
    for (size_t i = 1; i < kernels->count && turns; i++)
        evidence += !kernels->items[i].first && waited(kernels, i, latency_ns);
    return evidence < LEAST_EVIDENCE ? add_loading(graph, kernels, latency_ns, error)
                                     : add_waits(graph, kernels, latency_ns, error);
}

/* For the stretches that follow. */
static enum cts_status remember(const struct kernels *kernels, struct cts_map *launched,
                                struct cts_error *error)
{
    for (size_t i = 0; launched && i < kernels->count; i++)
        if (!cts_map_at(launched, kernels->items[i].region, error)) return CTS_MEMORY;
    return CTS_OK;
}

enum cts_status cts_path_full_devices(const struct cts_path_device *device, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    struct cts_map *const launched =
        device->graph->stretch ? &device->graph->stretch->launched[device->process] : NULL;
    for (uint32_t first = 0; first < device->stream_count && !status; first++) {
        bool is_first = true;
        for (uint32_t s = 0; s < first; s++)
            is_first &= device->streams[s].device != device->streams[first].device;
        if (!is_first) continue;
        struct kernels kernels = {0};
        for (uint32_t s = first; s < device->stream_count && !status; s++)
            if (device->streams[s].device == device->streams[first].device)
                status = gather(device->graph, device->streams[s].location, &kernels, error);
        if (!status) status = share(device->graph, &kernels, launched, error);
        if (!status) status = remember(&kernels, launched, error);
        free(kernels.items);
    }
    return status;
}
