/* What devices do and do not do: idle time, start-up, how much runs at once, copies that nothing
 * ran beside. Statistics beside the waits: none of it is in their sum.
 *
 * The activities of a device's streams are swept by time. Z is the time so far without any kernel,
 * O[s] that in which kernels run on stream s alone; so the time of a copy on s beside which no
 * kernel of another stream ran is what Z + O[s] grew by. Such a copy is *open* from its end until
 * the next kernel begins on another stream: that one could have run beside it, unless it was held
 * for it (by an event or the null stream). A kernel can hide as much copy time as it lasts.
 * Linear in activities, but for the choice of the next stream. */
#include <stdlib.h>
#include <string.h>

#include "analyze/path/questions.h"
#include "common/promise.h"
#include "common/search.h"

struct running {
    uint32_t activity;
    uint64_t alone_ns; /* Z + O at its begin */
};
struct open_copy {
    uint64_t end_ns, alone_ns;
};

struct stream {
    const struct cts_path_location *at;
    uint32_t location;
    uint32_t node;     /* the next one */
    uint32_t activity; /* the next one */
    uint32_t kernels;  /* running */
    uint64_t sole_ns;  /* O */
    CTS_PATH_LIST(struct running, running);
    CTS_PATH_LIST(struct open_copy, copies);
};

struct sweep {
    const struct cts_path_graph *graph;
    struct cts_path_device_row *row;
    struct stream *streams;
    uint32_t stream_count;
    uint32_t *heap; /* streams by the time of their next node, then by order */
    uint32_t heap_count;
    uint32_t running, kernel_streams;
    uint32_t kernel_xor; /* of the indices of streams with kernels: of one stream, that one */
    uint64_t now_ns, first_ns, none_ns; /* none: Z */
    bool begun;
    CTS_PATH_LIST(uint32_t, with_copies); /* streams with open copies */
    CTS_PATH_LIST(uint32_t, batch);       /* streams whose next node is now */
};

/* ---- the next streams ---- */

static uint64_t next_ns(const struct sweep *sweep, uint32_t index)
{
    const struct stream *const stream = &sweep->streams[index];
    return stream->at->time_ns[stream->node];
}

static bool before(const struct sweep *sweep, uint32_t a, uint32_t b)
{
    const uint64_t a_ns = next_ns(sweep, a), b_ns = next_ns(sweep, b);
    return a_ns < b_ns || (a_ns == b_ns && a < b);
}

static void push(struct sweep *sweep, uint32_t index)
{
    assert(sweep->heap_count < sweep->stream_count);
    uint32_t at = sweep->heap_count++;
    for (; at && before(sweep, index, sweep->heap[(at - 1) / 2]); at = (at - 1) / 2)
        sweep->heap[at] = sweep->heap[(at - 1) / 2];
    sweep->heap[at] = index;
}

static uint32_t pop(struct sweep *sweep)
{
    assert(sweep->heap_count);
    const uint32_t first = sweep->heap[0], last = sweep->heap[--sweep->heap_count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= sweep->heap_count) break;
        if (child + 1 < sweep->heap_count &&
            before(sweep, sweep->heap[child + 1], sweep->heap[child]))
            child++;
        if (!before(sweep, sweep->heap[child], last)) break;
        sweep->heap[at] = sweep->heap[child];
        at = child;
    }
    if (sweep->heap_count) sweep->heap[at] = last;
    return first;
}

/* ---- activities ---- */

enum kind { KIND_NONE, KIND_KERNEL, KIND_COPY, KIND_OTHER };

static enum kind kind_of(const struct cts_path_graph *graph, uint32_t region)
{
    if (region >= graph->system->pseudo) {
        const uint32_t pseudo = region - graph->system->pseudo;
        if (pseudo == CTS_PATH_FLUSH) return KIND_NONE;
        return pseudo <= CTS_PATH_COPY_DTOD ? KIND_COPY : KIND_OTHER;
    }
    return graph->system->regions[region].kind == CTS_PATH_API ? KIND_OTHER
                                                               : KIND_KERNEL; /* memsets */
}

static uint64_t alone_ns(const struct sweep *sweep, const struct stream *stream)
{
    return sweep->none_ns + stream->sole_ns;
}

static void pass_time(struct sweep *sweep, uint64_t now_ns)
{
    assert(now_ns >= sweep->now_ns);
    const uint64_t passed_ns = now_ns - sweep->now_ns;
    sweep->now_ns = now_ns;
    if (!sweep->begun) return;
    if (!sweep->kernel_streams)
        sweep->none_ns += passed_ns;
    else if (sweep->kernel_streams == 1)
        sweep->streams[sweep->kernel_xor].sole_ns += passed_ns;
    struct cts_path_device_row *const row = sweep->row;
    if (!sweep->running)
        row->idle_ns += passed_ns;
    else
        row->busy_ns[sweep->running < 3 ? sweep->running - 1 : 2] += passed_ns;
}

/* The end of the latest work of `stream` that an activity of another was held for; 0: none. */
static uint64_t held_until_ns(const struct cts_path_graph *graph, const struct stream *other,
                              uint32_t begin, uint32_t stream)
{
    const struct cts_path_jumps *const jumps = &other->at->jumps;
    size_t low = CTS_SEARCH(jumps->count, i, jumps->items[i].node < begin);
    uint64_t until_ns = 0;
    for (; low < jumps->count && jumps->items[low].node == begin; low++) {
        if (jumps->items[low].index & CTS_PATH_LAUNCH) continue;
        size_t count;
        const struct cts_path_edge *const edges = cts_path_edges_of(
            graph, other->location, &other->at->waits.items[jumps->items[low].index], &count);
        for (size_t i = 0; i < count; i++)
            if (edges[i].location == stream && edges[i].source_ns > until_ns)
                until_ns = edges[i].source_ns;
    }
    return until_ns;
}

/* A kernel begins: copies of other streams that are open could have run beside it. */
static void close_copies(struct sweep *sweep, uint32_t index, uint32_t begin, uint64_t budget_ns)
{
    const struct stream *const kernel = &sweep->streams[index];
    bool keeps_own = false;
    for (size_t i = 0; i < sweep->with_copies.count; i++) {
        if (sweep->with_copies.items[i] == index) {
            keeps_own = true;
            continue;
        }
        struct stream *const stream = &sweep->streams[sweep->with_copies.items[i]];
        const uint64_t held_ns = held_until_ns(sweep->graph, kernel, begin, stream->location);
        for (size_t c = 0; c < stream->copies.count && budget_ns; c++) {
            const struct open_copy *const copy = &stream->copies.items[c];
            if (copy->end_ns <= held_ns) continue;
            const uint64_t missed_ns = copy->alone_ns < budget_ns ? copy->alone_ns : budget_ns;
            sweep->row->copy_missed_ns += missed_ns;
            sweep->row->copy_missed_count++;
            budget_ns -= missed_ns;
        }
        stream->copies.count = 0;
    }
    if (keeps_own) sweep->with_copies.items[0] = index;
    sweep->with_copies.count = keeps_own;
}

/* A region around other activities of its stream (tracks.c): these run, it does not. */
static bool is_around(const struct cts_path_location *at, uint32_t index)
{
    if (index + 1 >= at->activities.count) return false;
    const struct cts_path_activity *const outer = &at->activities.items[index], *inner = outer + 1;
    const uint64_t outer_end_ns = at->time_ns[outer->end], begin_ns = at->time_ns[inner->begin];
    return begin_ns < outer_end_ns && at->time_ns[inner->end] <= outer_end_ns &&
           at->time_ns[inner->end] > begin_ns;
}

static enum cts_status begin(struct sweep *sweep, uint32_t index, uint32_t node,
                             struct cts_error *error)
{
    struct stream *const stream = &sweep->streams[index];
    assert(index < sweep->stream_count && stream->activity < stream->at->activities.count);
    const uint32_t activity = stream->activity++;
    const uint64_t duration_ns =
        stream->at->time_ns[stream->at->activities.items[activity].end] - sweep->now_ns;
    const enum kind kind = kind_of(sweep->graph, stream->at->region[node]);
    if (!duration_ns || kind == KIND_NONE || is_around(stream->at, activity)) return CTS_OK;
    if (CTS_ARRAY_RESERVE(&stream->running, stream->running.count + 1, error)) return CTS_MEMORY;
    if (!sweep->begun) sweep->first_ns = sweep->now_ns;
    sweep->begun = true;
    stream->running.items[stream->running.count++] =
        (struct running){activity, alone_ns(sweep, stream)};
    sweep->running++;
    sweep->row->activity_count++;
    if (kind == KIND_COPY) sweep->row->copy_ns += duration_ns;
    if (kind != KIND_KERNEL) return CTS_OK;
    if (!stream->kernels++) {
        sweep->kernel_streams++;
        sweep->kernel_xor ^= index;
    }
    close_copies(sweep, index, node, duration_ns);
    return CTS_OK;
}

static enum cts_status end(struct sweep *sweep, uint32_t index, uint32_t node,
                           struct cts_error *error)
{
    struct stream *const stream = &sweep->streams[index];
    size_t i = stream->running.count;
    while (i > 0 && stream->at->activities.items[stream->running.items[i - 1].activity].end != node)
        i--;
    if (!i) return CTS_OK; /* it was left out */
    const struct running ended = stream->running.items[i - 1];
    memmove(&stream->running.items[i - 1], &stream->running.items[i],
            (stream->running.count - i) * sizeof ended);
    stream->running.count--;
    sweep->running--;
    sweep->row->span_ns = sweep->now_ns - sweep->first_ns;
    const enum kind kind = kind_of(sweep->graph, stream->at->region[node] & ~CTS_PATH_LEAVE);
    if (kind == KIND_KERNEL && !--stream->kernels) {
        sweep->kernel_streams--;
        sweep->kernel_xor ^= index;
    }
    const uint64_t copy_alone_ns = alone_ns(sweep, stream) - ended.alone_ns;
    if (kind != KIND_COPY || !copy_alone_ns) return CTS_OK;
    sweep->row->copy_alone_ns += copy_alone_ns;
    if (CTS_ARRAY_RESERVE(&stream->copies, stream->copies.count + 1, error)) return CTS_MEMORY;
    if (!stream->copies.count) {
        if (CTS_ARRAY_RESERVE(&sweep->with_copies, sweep->with_copies.count + 1, error))
            return CTS_MEMORY;
        sweep->with_copies.items[sweep->with_copies.count++] = index;
    }
    stream->copies.items[stream->copies.count++] = (struct open_copy){sweep->now_ns, copy_alone_ns};
    return CTS_OK;
}

/* ---- the sweep ---- */

/* All nodes of a time: first what ends, then what begins, by the order of streams. */
static enum cts_status step(struct sweep *sweep, struct cts_error *error)
{
    sweep->batch.count = 0;
    const uint64_t now_ns = next_ns(sweep, sweep->heap[0]);
    pass_time(sweep, now_ns);
    enum cts_status status = CTS_OK;
    while (sweep->heap_count && next_ns(sweep, sweep->heap[0]) == now_ns && !status) {
        const uint32_t index = pop(sweep);
        status = CTS_ARRAY_RESERVE(&sweep->batch, sweep->batch.count + 1, error);
        if (!status) sweep->batch.items[sweep->batch.count++] = index;
    }
    for (int begins = 0; begins < 2 && !status; begins++)
        for (size_t i = 0; i < sweep->batch.count && !status; i++) {
            const uint32_t index = sweep->batch.items[i];
            struct stream *const stream = &sweep->streams[index];
            uint32_t node = stream->node;
            for (; node < stream->at->count && stream->at->time_ns[node] == now_ns && !status;
                 node++) {
                const bool leave = stream->at->region[node] & CTS_PATH_LEAVE;
                if (leave == (begins != 0)) continue;
                status = leave ? end(sweep, index, node, error) : begin(sweep, index, node, error);
            }
            if (!begins) continue;
            stream->node = node;
            if (node < stream->at->count) push(sweep, index);
        }
    return status;
}

static enum cts_status run(struct sweep *sweep, struct cts_error *error)
{
    sweep->heap = cts_array_zeroed(sweep->stream_count, sizeof *sweep->heap, error);
    enum cts_status status = sweep->heap ? CTS_OK : CTS_MEMORY;
    for (uint32_t i = 0; i < sweep->stream_count && !status; i++)
        if (sweep->streams[i].at->count) push(sweep, i);
    if (sweep->heap_count) sweep->now_ns = next_ns(sweep, sweep->heap[0]);
    while (sweep->heap_count && !status) status = step(sweep, error);
    for (uint32_t i = 0; i < sweep->stream_count; i++) {
        free(sweep->streams[i].running.items);
        free(sweep->streams[i].copies.items);
    }
    free(sweep->heap);
    free(sweep->with_copies.items);
    free(sweep->batch.items);
    return status;
}

/* ---- the devices of a process ---- */

struct device_key {
    uint32_t device, group, order;
};

struct device_rows {
    struct cts_path_device_row *items;
    size_t count, capacity;
};

static int by_key(const void *left, const void *right)
{
    const struct device_key *const a = left, *const b = right;
    if (a->device != b->device) return a->device < b->device ? -1 : 1;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static struct device_key key_of(const struct cts_path_graph *graph, uint32_t order)
{
    const struct cts_timeline *const timeline = graph->system->timeline;
    const struct cts_timeline_location *const definition =
        &timeline->locations[graph->system->by_process[order]];
    const bool own_group = definition->group < timeline->group_count &&
                           timeline->groups[definition->group].accelerator;
    return (struct device_key){definition->device, own_group ? definition->group : CTS_PATH_NONE,
                               order};
}

/* A device of a process: the keys of its streams. */
struct device {
    uint32_t process;
    uint64_t rank_first_ns; /* the first event of its process */
    const struct device_key *streams;
    uint32_t stream_count;
};

static enum cts_status add_device(const struct cts_path_graph *graph, const struct device *device,
                                  struct device_rows *rows, struct cts_error *error)
{
    const uint32_t count = device->stream_count;
    assert(count);
    struct cts_path_device_row row = {.rank = device->process,
                                      .device = device->streams->device,
                                      .group = device->streams->group,
                                      .process = device->process,
                                      .stream_count = count};
    const uint32_t group = graph->system->process_group[device->process];
    if (group < graph->system->timeline->group_count)
        row.rank = graph->system->timeline->groups[group].rank;
    struct sweep sweep = {.graph = graph, .row = &row, .stream_count = count};
    sweep.streams = cts_array_zeroed(count, sizeof *sweep.streams, error);
    if (!sweep.streams) return CTS_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        sweep.streams[i].location = graph->system->by_process[device->streams[i].order];
        sweep.streams[i].at = &graph->locations[sweep.streams[i].location];
    }
    enum cts_status status = run(&sweep, error);
    free(sweep.streams);
    if (status || !row.activity_count) return status;
    row.rank_first_ns = device->rank_first_ns;
    row.begin_ns = sweep.first_ns;
    row.startup_ns = sweep.first_ns - device->rank_first_ns;
    /* time after the last end is none of the span */
    row.idle_ns = row.span_ns - row.busy_ns[0] - row.busy_ns[1] - row.busy_ns[2];
    if (CTS_ARRAY_RESERVE(rows, rows->count + 1, error)) return CTS_MEMORY;
    rows->items[rows->count++] = row;
    return CTS_OK;
}

static enum cts_status add_process(const struct cts_path_graph *graph, uint32_t process,
                                   struct device_rows *rows, struct cts_error *error)
{
    const uint32_t first = graph->system->process_first[process],
                   last = graph->system->process_first[process + 1];
    struct device_key *const keys = cts_array_zeroed(last - first, sizeof *keys, error);
    if (!keys) return CTS_MEMORY;
    uint32_t count = 0;
    uint64_t first_ns = UINT64_MAX;
    for (uint32_t order = first; order < last; order++) {
        const struct cts_path_location *const at =
            &graph->locations[graph->system->by_process[order]];
        if (at->count && at->time_ns[0] < first_ns) first_ns = at->time_ns[0];
        if (at->who->stream) keys[count++] = key_of(graph, order);
    }
    if (graph->stretch) first_ns = graph->stretch->rank_first_ns[process];
    qsort(keys, count, sizeof *keys, by_key);
    enum cts_status status = CTS_OK;
    for (uint32_t from = 0, to; from < count && !status; from = to) {
        for (to = from + 1; to < count && keys[to].device == keys[from].device &&
                            keys[to].group == keys[from].group;)
            to++;
        const struct device device = {process, first_ns, &keys[from], to - from};
        status = add_device(graph, &device, rows, error);
    }
    free(keys);
    return status;
}

static int by_process(const void *left, const void *right)
{
    const struct cts_path_device_row *const a = left, *const b = right;
    if (a->process != b->process) return a->process < b->process ? -1 : 1;
    if (a->device != b->device) return a->device < b->device ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

/* A device in a later stretch: its times go on. Copies before a stretch have met no kernel in it.
 */
static void go_on(struct cts_path_device_row *row, const struct cts_path_device_row *more)
{
    row->activity_count += more->activity_count;
    row->span_ns = more->begin_ns + more->span_ns - row->begin_ns;
    row->idle_ns = row->span_ns;
    for (unsigned i = 0; i < 3; i++) {
        row->busy_ns[i] += more->busy_ns[i];
        row->idle_ns -= row->busy_ns[i];
    }
    row->copy_ns += more->copy_ns;
    row->copy_alone_ns += more->copy_alone_ns;
    row->copy_missed_ns += more->copy_missed_ns;
    row->copy_missed_count += more->copy_missed_count;
}

static enum cts_status merge(struct cts_path_devices *devices,
                             const struct cts_path_device_row *rows, size_t count,
                             struct cts_error *error)
{
    struct cts_path_device_row *const all =
        realloc(devices->items, (devices->count + count + 1) * sizeof *all);
    if (!all) return cts_fail(error, CTS_MEMORY, "no memory for %zu devices", count);
    devices->items = all;
    const size_t before = devices->count;
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < before && by_process(&all[at], &rows[i])) at++;
        if (at < before)
            go_on(&all[at], &rows[i]);
        else
            all[devices->count++] = rows[i];
    }
    if (devices->count) qsort(all, devices->count, sizeof *all, by_process);
    return CTS_OK;
}

enum cts_status cts_path_watch_devices(const struct cts_path_graph *graph,
                                       struct cts_path_devices *devices, struct cts_error *error)
{
    struct device_rows rows = {0};
    const unsigned self = graph->system->processes ? graph->system->processes->rank : 0;
    enum cts_status status = CTS_OK;
    for (uint32_t p = 0; p < graph->system->process_count && !status; p++)
        if (graph->system->process_owner[p] == self) status = add_process(graph, p, &rows, error);
    if (cts_processes_agree(graph->system->processes, &status, error)) {
        void *all = NULL;
        size_t *offsets = NULL;
        status = cts_processes_all_gather(
            graph->system->processes,
            (struct cts_sent_block){rows.items, rows.count * sizeof *rows.items}, &all, &offsets,
            error);
        if (!status) {
            const unsigned total = graph->system->processes ? graph->system->processes->count : 1;
            status = merge(devices, all, offsets[total] / sizeof *devices->items, error);
            free(offsets);
            free(all);
        }
    }
    free(rows.items);
    return status;
}
