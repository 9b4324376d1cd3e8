/* What the recording says about kernels that ran beside each other: the model of whatif-room.c is
 * turned around over the recorded times. The work of a kernel is the sum of its rates; whether it
 * waited for room is seen from when it was ready, when it began and what ran then. A kernel that
 * began while others had the room, shortly before one of them ended, took the place of that one's
 * last CTAs: it begins when as much of that one is left to do.
 *
 * How much kernels slow each other down, and how those that want more than all the room divide it,
 * is nowhere written: that overtaking and then that interference are chosen under which launches of
 * the same kernel with the same grid have the most equal work. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/path/whatif-room.h"

enum { FIT_KERNELS_MAX = 20000 };

/* ---- how much room a kernel wants ---- */

struct cts_whatif_device cts_whatif_default_device(void)
{
    return (struct cts_whatif_device){.sm_count = 132,
                                      .threads = 2048,
                                      .ctas = 32,
                                      .registers = 65536,
                                      .warp_registers = 256,
                                      .shared_bytes = 228 * 1024,
                                      .shared_reserved_bytes = 1024};
}

static uint64_t most_ctas(const struct cts_whatif_device *device,
                          const struct cts_path_config *config)
{
    uint64_t ctas = device->ctas;
    const uint64_t warps = ((uint64_t)config->threads + 31) / 32;
    if (warps && device->threads / (warps * 32) < ctas) ctas = device->threads / (warps * 32);
    if (config->registers && warps) {
        const uint64_t unit = device->warp_registers ? device->warp_registers : 1;
        const uint64_t per_warp = (config->registers * 32ull + unit - 1) / unit * unit;
        if (device->registers / per_warp / warps < ctas)
            ctas = device->registers / per_warp / warps;
    }
    const uint64_t shared_bytes = config->shared_bytes + device->shared_reserved_bytes;
    if (shared_bytes && device->shared_bytes / shared_bytes < ctas)
        ctas = device->shared_bytes / shared_bytes;
    return ctas ? ctas : 1;
}

void cts_whatif_want_room(const struct cts_whatif_device *device,
                          const struct cts_path_config *config, struct cts_whatif_kernel *kernel)
{
    const uint64_t places = most_ctas(device, config) * device->sm_count;
    const uint64_t wanted = config->cta_count < places ? config->cta_count : places;
    kernel->need = (uint32_t)(CTS_WHATIF_ROOM / places);
    if (!kernel->need) kernel->need = 1;
    kernel->room = (uint32_t)((unsigned __int128)wanted * CTS_WHATIF_ROOM / places);
    if (kernel->room < kernel->need) kernel->room = kernel->need;
}

/* ---- which kernels share ---- */

static uint64_t recorded_ns(const struct cts_whatif_plan *plan, uint32_t location, uint32_t node)
{
    return plan->graph->locations[location].time_ns[node];
}

static uint64_t begin_of(const struct cts_whatif_plan *plan, const struct cts_whatif_kernel *kernel)
{
    const struct cts_path_location *const at = &plan->graph->locations[kernel->location];
    return at->time_ns[at->activities.items[kernel->activity].begin];
}

static uint64_t end_of(const struct cts_whatif_plan *plan, const struct cts_whatif_kernel *kernel)
{
    const struct cts_path_location *const at = &plan->graph->locations[kernel->location];
    return at->time_ns[at->activities.items[kernel->activity].end];
}

/* When it could have begun by the usual latencies; the begin if it depends on nothing. */
static uint64_t ready_of(const struct cts_whatif_plan *plan, uint32_t location, uint32_t index)
{
    const struct cts_path_location *const at = &plan->graph->locations[location];
    const struct cts_whatif_work *const work = &plan->places[location].work[index];
    const uint64_t begin_ns = at->time_ns[at->activities.items[index].begin];
    uint64_t ready_ns = 0;
    if (work->binding == CTS_WHATIF_BY_NOTHING) return begin_ns;
    if (work->launch != CTS_PATH_NONE)
        ready_ns = cts_whatif_add(recorded_ns(plan, at->activities.items[index].host, work->launch),
                                  work->launch_tail_ns);
    if (work->previous != CTS_PATH_NONE) {
        const uint64_t by_ns = cts_whatif_add(at->time_ns[at->activities.items[work->previous].end],
                                              work->previous_tail_ns);
        if (by_ns > ready_ns) ready_ns = by_ns;
    }
    if (work->wait != CTS_PATH_NONE) {
        size_t count;
        const struct cts_path_edge *const edges =
            cts_path_edges_of(plan->graph, location, &at->waits.items[work->wait], &count);
        for (size_t i = 0; i < count; i++) {
            const uint64_t by_ns = cts_whatif_add(edges[i].source_ns, work->wait_tail_ns);
            if (by_ns > ready_ns) ready_ns = by_ns;
        }
    }
    return ready_ns < begin_ns ? ready_ns : begin_ns;
}

static bool is_kernel(const struct cts_path_graph *graph, const struct cts_path_location *at,
                      uint32_t index)
{
    const uint32_t region = at->region[at->activities.items[index].begin];
    return region < graph->system->pseudo && graph->system->regions[region].kind != CTS_PATH_API;
}

static bool is_exclusive(const struct cts_whatif_plan *plan, const struct cts_path_location *at)
{
    if (at->turns == CTS_PATH_TURNS_TAKEN) return true;
    return plan->options->undecided_take_turns && cts_whatif_is_undecided(at);
}

static enum cts_status add_kernels(struct cts_whatif_plan *plan, uint32_t location, uint32_t device,
                                   struct cts_error *error)
{
    const struct cts_path_location *const at = &plan->graph->locations[location];
    const bool exclusive = plan->devices[device].exclusive;
    for (uint32_t i = 0; i < at->activities.count; i++) {
        const bool configured = i < at->configs.count && at->configs.items[i].cta_count;
        if (exclusive ? !is_kernel(plan->graph, at, i) : !configured) continue;
        if (plan->places[location].work[i].meeting != CTS_PATH_NONE) continue; /* it spins */
        if (plan->kernel_count == plan->kernel_capacity &&
            cts_array_grow((void **)&plan->kernels, &plan->kernel_capacity, plan->kernel_count + 1,
                           sizeof *plan->kernels, error))
            return CTS_MEMORY;
        struct cts_whatif_work *const work = &plan->places[location].work[i];
        struct cts_whatif_kernel *const kernel = &plan->kernels[plan->kernel_count];
        *kernel = (struct cts_whatif_kernel){.location = location,
                                             .activity = i,
                                             .device = device,
                                             .ready_ns = ready_of(plan, location, i),
                                             .blocker = CTS_PATH_NONE};
        if (exclusive)
            kernel->room = kernel->need = CTS_WHATIF_ROOM;
        else
            cts_whatif_want_room(&plan->options->device, &at->configs.items[i], kernel);
        work->on_device = true;
        plan->kernel_count++;
    }
    return CTS_OK;
}

static int by_recorded(const void *left, const void *right, void *state)
{
    const struct cts_whatif_kernel *const a = left, *const b = right;
    const uint64_t a_ns = begin_of(state, a), b_ns = begin_of(state, b);
    if (a_ns != b_ns) return a_ns < b_ns ? -1 : 1;
    if (a->location != b->location) return a->location < b->location ? -1 : 1;
    return (a->activity > b->activity) - (a->activity < b->activity);
}

/* Kernels of a device in the order of their begins. */
static void sort_kernels(struct cts_whatif_plan *plan, uint32_t first)
{
    if (plan->kernel_count == first) return;
    qsort_r(plan->kernels + first, plan->kernel_count - first, sizeof *plan->kernels, by_recorded,
            plan);
    for (uint32_t i = first; i < plan->kernel_count; i++)
        plan->places[plan->kernels[i].location].work[plan->kernels[i].activity].kernel = i;
}

/* Kernels of a device that runs one at a time come in the order in which they began. A latency that
 * was longer than usual, by however little, can say otherwise of kernels that were ready nearly at
 * once; what the later one then lacks is kept. */
static void order_arrivals(struct cts_whatif_plan *plan, uint32_t first)
{
    uint64_t came_ns = 0; /* the kernel before */
    for (uint32_t i = first; i < plan->kernel_count; i++) {
        struct cts_whatif_kernel *const kernel = &plan->kernels[i];
        struct cts_whatif_work *const work = &plan->places[kernel->location].work[kernel->activity];
        const uint64_t begin_ns = begin_of(plan, kernel);
        if (i == first || kernel->ready_ns >= begin_ns ||
            end_of(plan, kernel - 1) <= kernel->ready_ns) {
            came_ns = begin_ns;
            continue;
        }
        if (kernel->ready_ns < came_ns) {
            work->late_ns = (int64_t)(came_ns - kernel->ready_ns);
            kernel->ready_ns = came_ns;
        }
        came_ns = kernel->ready_ns;
    }
}

/* Only where two streams at least have kernels that say their grid. */
static enum cts_status find_devices(struct cts_whatif_plan *plan, struct cts_error *error)
{
    const struct cts_path_graph *const graph = plan->graph;
    plan->devices = cts_array_zeroed(graph->system->location_count, sizeof *plan->devices, error);
    uint32_t *const streams =
        cts_array_zeroed(graph->system->location_count, sizeof *streams, error);
    uint32_t *const device_of =
        cts_array_zeroed(graph->system->location_count, sizeof *device_of, error);
    enum cts_status status = plan->devices && streams && device_of ? CTS_OK : CTS_MEMORY;
    for (uint32_t i = 0; i < graph->system->location_count && !status; i++) {
        const uint32_t l = graph->system->by_process[i];
        const struct cts_path_location *const at = &graph->locations[l];
        if (!at->who->stream || !at->activities.count) continue;
        const bool exclusive = is_exclusive(plan, at);
        if (!exclusive && !at->configs.count) continue;
        uint32_t d = 0;
        const uint32_t number = graph->system->timeline->locations[l].device;
        while (d < plan->device_count &&
               (plan->devices[d].process != at->who->process || plan->devices[d].device != number))
            d++;
        if (d == plan->device_count)
            plan->devices[plan->device_count++] = (struct cts_whatif_shared_device){
                .process = at->who->process, .device = number, .exclusive = exclusive};
        device_of[l] = d + 1;
        streams[d]++;
    }
    for (uint32_t d = 0; d < plan->device_count && !status; d++) {
        plan->devices[d].first = (uint32_t)plan->kernel_count;
        for (uint32_t i = 0; i < graph->system->location_count && streams[d] > 1 && !status; i++)
            if (device_of[graph->system->by_process[i]] == d + 1)
                status = add_kernels(plan, graph->system->by_process[i], d, error);
        sort_kernels(plan, plan->devices[d].first);
        if (plan->devices[d].exclusive) order_arrivals(plan, plan->devices[d].first);
        plan->devices[d].count = (uint32_t)plan->kernel_count - plan->devices[d].first;
    }
    free(streams);
    free(device_of);
    return status;
}

/* ---- the recording, replayed as it was ---- */

struct measure {
    struct cts_whatif_plan *plan;
    const struct cts_whatif_shared_device *device;
    struct cts_whatif_room room;
    struct cts_whatif_events events;
    uint32_t count; /* kernels taken, of the device's first */
    struct cts_error *error;
};

static bool is_room(const struct cts_whatif_room *room, const struct cts_whatif_kernel *kernel)
{
    return room->free >= kernel->need;
}

static struct cts_whatif_work *work_of(const struct cts_whatif_plan *plan,
                                       const struct cts_whatif_kernel *kernel)
{
    return &plan->places[kernel->location].work[kernel->activity];
}

/* What runs and ends next. */
static enum cts_status expect_end(struct measure *m)
{
    uint64_t next_ns = UINT64_MAX;
    for (size_t i = 0; i < m->room.running.count; i++) {
        if (!m->room.running.items[i].begun) continue;
        const uint64_t end_ns = end_of(m->plan, &m->plan->kernels[m->room.running.items[i].kernel]);
        if (end_ns < next_ns) next_ns = end_ns;
    }
    if (next_ns == UINT64_MAX) return CTS_OK;
    return cts_whatif_push(
        &m->events, (struct cts_whatif_event){next_ns, m->room.version, CTS_WHATIF_DEVICE, 0},
        m->error);
}

/* Those that wait and find room have it from now on. */
static enum cts_status serve_queue(struct measure *m)
{
    for (size_t i = 0; i < m->room.queue.count;) {
        const uint32_t index = m->room.queue.items[i];
        struct cts_whatif_kernel *const kernel = &m->plan->kernels[index];
        if (!is_room(&m->room, kernel)) {
            i++;
            continue;
        }
        cts_whatif_room_unqueue(&m->room, index);
        kernel->gap_ns = begin_of(m->plan, kernel) - m->room.now_ns;
        work_of(m->plan, kernel)->queues = true;
        if (cts_whatif_room_admit(&m->room, index, false, m->error)) return CTS_MEMORY;
        cts_whatif_room_grant(&m->room, m->plan);
    }
    return CTS_OK;
}

static enum cts_status on_end(struct measure *m)
{
    for (size_t i = 0; i < m->room.running.count;) {
        const struct cts_whatif_running *const running = &m->room.running.items[i];
        struct cts_whatif_kernel *const kernel = &m->plan->kernels[running->kernel];
        if (!running->begun || end_of(m->plan, kernel) > m->room.now_ns) {
            i++;
            continue;
        }
        kernel->work = running->done;
        cts_whatif_room_remove(&m->room, i);
    }
    cts_whatif_room_grant(&m->room, m->plan);
    const enum cts_status status = serve_queue(m);
    return status ? status : expect_end(m);
}

/* It begins without room: perhaps behind the last CTAs of what ends soon. */
static void find_blocker(struct measure *m, struct cts_whatif_kernel *kernel)
{
    const uint64_t begin_ns = begin_of(m->plan, kernel);
    uint64_t best_ns = UINT64_MAX;
    for (size_t i = 0; i < m->room.running.count; i++) {
        const struct cts_whatif_running *const running = &m->room.running.items[i];
        const uint64_t end_ns = end_of(m->plan, &m->plan->kernels[running->kernel]);
        if (!running->begun || end_ns >= best_ns || end_ns <= begin_ns) continue;
        best_ns = end_ns;
        kernel->blocker = running->kernel;
        kernel->lead = running->done; /* until its work is known */
    }
    if (kernel->blocker != CTS_PATH_NONE && best_ns - begin_ns > begin_ns - kernel->ready_ns)
        kernel->blocker = CTS_PATH_NONE;
}

static enum cts_status on_begin(struct measure *m, uint32_t index)
{
    struct cts_whatif_kernel *const kernel = &m->plan->kernels[index];
    struct cts_whatif_work *const work = work_of(m->plan, kernel);
    struct cts_whatif_running *const admitted = cts_whatif_room_find(&m->room, index);
    if (admitted) {
        admitted->begun = true;
    } else {
        const bool queued = cts_whatif_room_unqueue(&m->room, index);
        if (queued) find_blocker(m, kernel);
        work->queues = queued && kernel->blocker != CTS_PATH_NONE;
        work->forced = !work->queues && !is_room(&m->room, kernel);
        if (cts_whatif_room_admit(&m->room, index, true, m->error)) return CTS_MEMORY;
    }
    cts_whatif_room_grant(&m->room, m->plan);
    return expect_end(m);
}

static enum cts_status on_ready(struct measure *m, uint32_t index)
{
    struct cts_whatif_kernel *const kernel = &m->plan->kernels[index];
    const bool queued = kernel->ready_ns < begin_of(m->plan, kernel) && !is_room(&m->room, kernel);
    if (queued) {
        if (CTS_ARRAY_RESERVE(&m->room.queue, m->room.queue.count + 1, m->error)) return CTS_MEMORY;
        m->room.queue.items[m->room.queue.count++] = index;
    }
    return cts_whatif_push(&m->events,
                           (struct cts_whatif_event){begin_of(m->plan, kernel), 0,
                                                     queued ? CTS_WHATIF_TRIGGER : CTS_WHATIF_BEGIN,
                                                     index},
                           m->error);
}

static enum cts_status measure(struct measure *m)
{
    struct cts_whatif_plan *const plan = m->plan;
    enum cts_status status = CTS_OK;
    m->room.free = CTS_WHATIF_ROOM;
    for (uint32_t i = 0; i < m->count && !status; i++) {
        const uint32_t index = plan->by_device[m->device->first + i];
        struct cts_whatif_kernel *const kernel = &plan->kernels[index];
        kernel->blocker = CTS_PATH_NONE;
        kernel->gap_ns = kernel->lead = kernel->work = 0;
        work_of(plan, kernel)->queues = work_of(plan, kernel)->forced = false;
        status = cts_whatif_push(
            &m->events, (struct cts_whatif_event){kernel->ready_ns, 0, CTS_WHATIF_READY, index},
            m->error);
    }
    while (m->events.count && !status) {
        const struct cts_whatif_event event = cts_whatif_pop(&m->events);
        if (event.kind == CTS_WHATIF_DEVICE && event.version != m->room.version) continue;
        cts_whatif_room_advance(&m->room, event.time_ns);
        status = event.kind == CTS_WHATIF_DEVICE  ? on_end(m)
                 : event.kind == CTS_WHATIF_READY ? on_ready(m, event.id)
                                                  : on_begin(m, event.id);
    }
    for (uint32_t i = 0; i < m->count && !status; i++) {
        struct cts_whatif_kernel *const kernel =
            &plan->kernels[plan->by_device[m->device->first + i]];
        if (kernel->blocker != CTS_PATH_NONE)
            kernel->lead = plan->kernels[kernel->blocker].work - kernel->lead;
    }
    cts_whatif_room_release(&m->room);
    free(m->events.items);
    m->events = (struct cts_whatif_events){0};
    return status;
}

/* ---- overtaking and interference ---- */

/* How unequal the work of like kernels is: the mean square deviation, relative to the mean. */
static double unevenness(const struct cts_whatif_plan *plan, const struct measure *m)
{
    double sum = 0, total = 0;
    for (uint32_t i = 0; i < m->count;) {
        const struct cts_whatif_kernel *const first =
            &plan->kernels[plan->by_device[m->device->first + i]];
        const struct cts_path_location *const at = &plan->graph->locations[first->location];
        const uint32_t region = at->region[at->activities.items[first->activity].begin];
        double n = 0, x = 0, xx = 0;
        for (; i < m->count; i++) {
            const struct cts_whatif_kernel *const kernel =
                &plan->kernels[plan->by_device[m->device->first + i]];
            const struct cts_path_location *const its = &plan->graph->locations[kernel->location];
            if (its->region[its->activities.items[kernel->activity].begin] != region ||
                kernel->room != first->room)
                break;
            n++;
            x += (double)kernel->work;
            xx += (double)kernel->work * (double)kernel->work;
        }
        if (n < 2 || x == 0) continue;
        sum += n * (xx / n - x / n * (x / n)) / (x / n * (x / n));
        total += n;
    }
    return total > 0 ? sum / total : 0;
}

static int like_kernels(const void *left, const void *right, void *state)
{
    const struct cts_whatif_plan *const plan = state;
    const uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
    const struct cts_whatif_kernel *const a = &plan->kernels[i], *const b = &plan->kernels[k];
    const struct cts_path_location *const a_at = &plan->graph->locations[a->location];
    const struct cts_path_location *const b_at = &plan->graph->locations[b->location];
    const uint32_t a_region = a_at->region[a_at->activities.items[a->activity].begin];
    const uint32_t b_region = b_at->region[b_at->activities.items[b->activity].begin];
    if (a_region != b_region) return a_region < b_region ? -1 : 1;
    if (a->room != b->room) return a->room < b->room ? -1 : 1;
    return (i > k) - (i < k);
}

/* Tries the candidates for *parameter, one of m's room; the one under which work is most equal
 * stays in it. A later candidate has to be better by some. */
static enum cts_status fit(struct measure *m, uint32_t *parameter, const uint32_t *candidates,
                           size_t count)
{
    uint32_t chosen = candidates[0];
    double best = 0;
    for (size_t i = 0; i < count; i++) {
        *parameter = candidates[i];
        if (measure(m)) return CTS_MEMORY;
        const double uneven = unevenness(m->plan, m);
        if (i && uneven >= 0.98 * best) continue;
        best = uneven;
        chosen = candidates[i];
    }
    *parameter = chosen;
    return CTS_OK;
}

static enum cts_status fit_device(struct cts_whatif_plan *plan,
                                  struct cts_whatif_shared_device *device, struct cts_error *error)
{
    static const uint32_t overtaking[] = {0, 2, 4, 6, 7, 8, 9, 10, 12, 14, 16};
    static const uint32_t interference[] = {0,  4,  8,  12, 16,  20,  24,  32, 40,
                                            48, 64, 80, 96, 128, 192, 256, 512};
    uint32_t *const list = plan->by_device + device->first;
    struct measure m = {.plan = plan, .device = device, .count = device->count, .error = error};
    if (m.count > FIT_KERNELS_MAX) m.count = FIT_KERNELS_MAX;
    qsort_r(list, m.count, sizeof *list, like_kernels, plan);
    if (fit(&m, &m.room.overtaking, overtaking, sizeof overtaking / sizeof *overtaking) ||
        fit(&m, &m.room.interference, interference, sizeof interference / sizeof *interference))
        return CTS_MEMORY;
    device->overtaking = m.room.overtaking;
    device->interference = m.room.interference;
    m.count = device->count;
    return measure(&m);
}

enum cts_status cts_whatif_share(struct cts_whatif_plan *plan, struct cts_error *error)
{
    enum cts_status status = find_devices(plan, error);
    if (status) return status;
    plan->by_device = cts_array_zeroed(plan->kernel_count, sizeof *plan->by_device, error);
    if (!plan->by_device) return CTS_MEMORY;
    for (uint32_t i = 0; i < plan->kernel_count; i++) plan->by_device[i] = i;
    for (uint32_t d = 0; d < plan->device_count && !status; d++)
        if (plan->devices[d].count) status = fit_device(plan, &plan->devices[d], error);
    return status;
}

void cts_whatif_unshare(struct cts_whatif_plan *plan)
{
    for (size_t i = 0; i < plan->kernel_count; i++) {
        struct cts_whatif_work *const work = work_of(plan, &plan->kernels[i]);
        work->on_device = work->queues = work->forced = false;
    }
    plan->kernel_count = 0;
    plan->device_count = 0;
}
