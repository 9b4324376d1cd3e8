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
 * The wait then is of the kernel that ran, not a latency of the launch. The devices of a program
 * are taken for alike: what one shows, all do, unless kernels overlap on any of them; each then
 * speaks for itself.
 *
 * Where kernels do run side by side, the first launch of each may have waited all the same: CUDA
 * loads a kernel's code then, behind all work that the device has (measured on an H200: 5 us behind
 * the end of a kernel of another stream that ran for 30 ms). The evidence is that it began right
 * behind the last of what was launched before it and ran when it was ready, and that this took
 * longer by far than a launch does. What a first launch waits for is no sign of a full device. */
#include <stdlib.h>

#include "analyze/path/offer.h"
#include "analyze/path/steps.h"
#include "common/map.h"

enum { LEAST_EVIDENCE = 2, LATENCY_TIMES = 2, LOADING_TIMES = 4 };

struct kernel {
    uint64_t begin_ns, end_ns, ready_ns, launched_ns;
    uint32_t location, activity, region;
    bool held;  /* by an event or the null stream, if only until before it was launched */
    bool freed; /* it was ready when these let it be */
    bool first; /* launch of this kernel */
};

struct kernels { /* of one device */
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

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool is_kernel(const struct cts_path_graph *graph, uint32_t region)
{
    return region < graph->system->pseudo && graph->system->regions[region].kind != CTS_PATH_API &&
           !graph->system->regions[region].is_function;
}

static enum cts_status gather(const struct cts_path_graph *graph, uint32_t location,
                              struct kernels *kernels, struct cts_error *error)
{
    const struct cts_path_location *const at = &graph->locations[location];
    uint64_t *const held_ns = cts_array_zeroed(at->count, sizeof *held_ns, error); /* 0: never */
    if (!held_ns || CTS_ARRAY_RESERVE(kernels, kernels->count + at->activities.count, error)) {
        free(held_ns);
        return CTS_MEMORY;
    }
    for (size_t i = 0; i < at->waits.count; i++) {
        const struct cts_path_wait *const wait = &at->waits.items[i];
        if (wait->call != CTS_PATH_NONE && !cts_path_is_within(wait))
            held_ns[wait->call] = later(held_ns[wait->call], wait->end_ns);
    }
    uint64_t before_ns = 0;
    for (uint32_t i = 0; i < at->activities.count; i++) {
        const struct cts_path_activity *const activity = &at->activities.items[i];
        const uint64_t end_ns = at->time_ns[activity->end];
        const uint64_t free_ns = later(activity->launched_ns, before_ns);
        const uint64_t until_ns = held_ns[activity->begin];
        if (is_kernel(graph, at->region[activity->begin]) && activity->host != CTS_PATH_NONE)
            kernels->items[kernels->count++] =
                (struct kernel){.begin_ns = at->time_ns[activity->begin],
                                .end_ns = end_ns,
                                .ready_ns = later(free_ns, until_ns),
                                .launched_ns = activity->launched_ns,
                                .location = location,
                                .activity = i,
                                .region = at->region[activity->begin],
                                .held = until_ns > 0,
                                .freed = until_ns > free_ns};
        before_ns = later(before_ns, end_ns);
    }
    free(held_ns);
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
        if (!kernel->freed && kernel->begin_ns > kernel->ready_ns)
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
    if (kernel->location == before->location ||
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

/* ---- devices ---- */

/* What the kernels of one device, or of all, show. */
struct evidence {
    uint64_t overlaps; /* devices on which kernels of different streams ran at the same time */
    uint64_t waits;    /* kernels that waited for another stream's, first launches apart */
};

struct device {
    uint32_t process, number;
    struct kernels kernels; /* in the order of their begins */
    uint32_t stream_count;  /* that have kernels */
    uint64_t latency_ns;    /* what a launch usually takes */
    struct evidence shown;
};

struct turns {
    struct cts_path_graph *graph;
    struct evidence all;        /* devices of the program */
    struct evidence *processes; /* of each, while it is being looked for */
};

static bool is_of(const struct cts_path_graph *graph, uint32_t location,
                  const struct device *device)
{
    return graph->system->who[location].stream && cts_path_is_mine(graph->system, location) &&
           graph->system->timeline->locations[location].device == device->number;
}

static enum cts_status open_device(const struct cts_path_graph *graph, struct device *device,
                                   struct cts_error *error)
{
    struct kernels *const kernels = &device->kernels;
    const uint32_t end = graph->system->process_first[device->process + 1];
    for (uint32_t i = graph->system->process_first[device->process]; i < end; i++) {
        const size_t before = kernels->count;
        const uint32_t location = graph->system->by_process[i];
        if (!is_of(graph, location, device)) continue;
        if (gather(graph, location, kernels, error)) return CTS_MEMORY;
        device->stream_count += kernels->count > before;
    }
    if (device->stream_count < 2) return CTS_OK;
    const struct cts_map *const launched =
        graph->stretch ? &graph->stretch->launched[device->process] : NULL;
    qsort(kernels->items, kernels->count, sizeof *kernels->items, by_begin);
    if (usual_latency(kernels, &device->latency_ns, error) || mark_first(kernels, launched, error))
        return CTS_MEMORY;
    device->shown.overlaps = ever_overlap(kernels);
    for (size_t i = 1; i < kernels->count && !device->shown.overlaps; i++)
        device->shown.waits += !kernels->items[i].first && waited(kernels, i, device->latency_ns);
    return CTS_OK;
}

static enum cts_path_turns judge(const struct turns *turns, const struct device *device)
{
    const struct evidence *const shown = &device->shown;
    if (device->stream_count < 2 || shown->overlaps) return CTS_PATH_TURNS_NONE;
    if (shown->waits >= LEAST_EVIDENCE) return CTS_PATH_TURNS_TAKEN;
    if (turns->all.overlaps) return CTS_PATH_TURNS_NONE;
    return turns->all.waits >= LEAST_EVIDENCE ? CTS_PATH_TURNS_TAKEN : CTS_PATH_TURNS_UNKNOWN;
}

/* For the stretches that follow. */
static enum cts_status remember(struct cts_path_graph *graph, const struct device *device,
                                struct cts_error *error)
{
    struct cts_map *const launched =
        graph->stretch ? &graph->stretch->launched[device->process] : NULL;
    for (size_t i = 0; launched && i < device->kernels.count; i++)
        if (!cts_map_at(launched, device->kernels.items[i].region, error)) return CTS_MEMORY;
    return CTS_OK;
}

/* Kernels that would have waited for other streams', if there were more of them. */
static enum cts_status note_hints(struct cts_path_graph *graph, const struct device *device,
                                  struct cts_error *error)
{
    for (size_t i = 1; i < device->kernels.count; i++) {
        const struct kernel *const kernel = &device->kernels.items[i];
        struct cts_path_hints *const hints = &graph->locations[kernel->location].hints;
        if (!waited(&device->kernels, i, device->latency_ns)) continue;
        if (CTS_ARRAY_RESERVE(hints, hints->count + 1, error)) return CTS_MEMORY;
        hints->items[hints->count++] = kernel->activity;
    }
    return CTS_OK;
}

static enum cts_status settle_device(const struct turns *turns, const struct device *device,
                                     struct cts_error *error)
{
    struct cts_path_graph *const graph = turns->graph;
    const enum cts_path_turns taken = judge(turns, device);
    const uint32_t end = graph->system->process_first[device->process + 1];
    for (uint32_t i = graph->system->process_first[device->process]; i < end; i++)
        if (is_of(graph, graph->system->by_process[i], device))
            graph->locations[graph->system->by_process[i]].turns = (uint8_t)taken;
    if (taken == CTS_PATH_TURNS_UNKNOWN && note_hints(graph, device, error)) return CTS_MEMORY;
    const enum cts_status status =
        taken == CTS_PATH_TURNS_TAKEN
            ? add_waits(graph, &device->kernels, device->latency_ns, error)
            : add_loading(graph, &device->kernels, device->latency_ns, error);
    return status ? status : remember(graph, device, error);
}

static bool is_first_of(const struct cts_path_graph *graph, uint32_t index,
                        const struct device *device)
{
    if (!is_of(graph, graph->system->by_process[index], device)) return false;
    for (uint32_t i = graph->system->process_first[device->process]; i < index; i++)
        if (is_of(graph, graph->system->by_process[i], device)) return false;
    return true;
}

/* Looks at the devices of a process; with `settle`, adds their waits. */
static enum cts_status each_device(struct turns *turns, uint32_t process, bool settle,
                                   struct cts_error *error)
{
    const struct cts_path_graph *const graph = turns->graph;
    const uint32_t first = graph->system->process_first[process],
                   end = graph->system->process_first[process + 1];
    enum cts_status status = CTS_OK;
    for (uint32_t i = first; i < end && !status; i++) {
        struct device device = {
            .process = process,
            .number = graph->system->timeline->locations[graph->system->by_process[i]].device};
        if (!is_first_of(graph, i, &device)) continue;
        status = open_device(graph, &device, error);
        if (!status && settle) status = settle_device(turns, &device, error);
        turns->processes[process].overlaps += device.shown.overlaps;
        turns->processes[process].waits += device.shown.waits;
        free(device.kernels.items);
    }
    return status;
}

static enum cts_status look_step(void *state, size_t index, struct cts_error *error)
{
    return each_device(state, (uint32_t)index, false, error);
}

static enum cts_status settle_step(void *state, size_t index, struct cts_error *error)
{
    return each_device(state, (uint32_t)index, true, error);
}

enum cts_status cts_path_full_devices(struct cts_path_graph *graph, struct cts_error *error)
{
    struct turns turns = {.graph = graph};
    turns.processes =
        cts_array_zeroed(graph->system->process_count, sizeof *turns.processes, error);
    enum cts_status status = turns.processes ? CTS_OK : CTS_MEMORY;
    if (!status)
        status = cts_path_for_each(graph->system, graph->system->process_count, look_step, &turns,
                                   error);
    for (uint32_t p = 0; p < graph->system->process_count && !status; p++) {
        turns.all.overlaps += turns.processes[p].overlaps;
        turns.all.waits += turns.processes[p].waits;
    }
    if (cts_processes_agree(graph->system->processes, &status, error)) {
        cts_processes_reduce_u64(graph->system->processes, &turns.all.overlaps, 1, CTS_REDUCE_SUM);
        cts_processes_reduce_u64(graph->system->processes, &turns.all.waits, 1, CTS_REDUCE_SUM);
        status = cts_path_for_each(graph->system, graph->system->process_count, settle_step, &turns,
                                   error);
    }
    free(turns.processes);
    return status;
}
