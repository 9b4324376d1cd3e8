/* Kernels that share a device: who has room, how fast each runs, when the next ends. */
#include "analyze/path/whatif-run.h"

static struct cts_whatif_work *work_of(const struct cts_whatif_run *run, uint32_t kernel)
{
    const struct cts_whatif_kernel *const k = &run->plan->kernels[kernel];
    return &run->plan->places[k->location].work[k->activity];
}

static double kernel_factor(const struct cts_whatif_run *run, uint32_t kernel)
{
    const struct cts_whatif_kernel *const k = &run->plan->kernels[kernel];
    const struct cts_path_location *const at = &run->graph->locations[k->location];
    return cts_whatif_factor_after(run, at, at->activities.items[k->activity].begin);
}

static uint64_t left_to_do(const struct cts_whatif_run *run,
                           const struct cts_whatif_running *running)
{
    const uint64_t work = cts_whatif_scale(run->plan->kernels[running->kernel].work,
                                           kernel_factor(run, running->kernel));
    return work > running->done ? work - running->done : 0;
}

static uint64_t when(const struct cts_whatif_room *room, const struct cts_whatif_running *running,
                     uint64_t work)
{
    return room->now_ns + work / running->rate + (work % running->rate != 0);
}

/* The next end, and the next begin behind a kernel's last CTAs. */
static enum cts_status expect(struct cts_whatif_run *run, uint32_t device)
{
    struct cts_whatif_room *const room = &run->rooms[device];
    struct cts_whatif_event next = {CTS_WHATIF_UNSET, room->version, CTS_WHATIF_DEVICE, device};
    struct cts_whatif_event trigger = {CTS_WHATIF_UNSET, room->version, CTS_WHATIF_TRIGGER, 0};
    for (size_t i = 0; i < room->running.count; i++) {
        const struct cts_whatif_running *const running = &room->running.items[i];
        if (!running->begun) continue;
        const uint64_t end_ns = when(room, running, left_to_do(run, running));
        if (end_ns < next.time_ns) next.time_ns = end_ns;
    }
    for (size_t i = 0; i < room->queue.count; i++) {
        const uint32_t kernel = room->queue.items[i];
        const uint32_t blocker = run->plan->kernels[kernel].blocker;
        const struct cts_whatif_running *const running =
            blocker == CTS_PATH_NONE ? NULL : cts_whatif_room_find(room, blocker);
        if (!running || !running->begun) continue;
        const uint64_t left = left_to_do(run, running);
        const uint64_t lead =
            cts_whatif_scale(run->plan->kernels[kernel].lead, kernel_factor(run, blocker));
        const uint64_t begin_ns = when(room, running, left > lead ? left - lead : 0);
        if (begin_ns >= trigger.time_ns) continue;
        trigger.time_ns = begin_ns;
        trigger.id = kernel;
    }
    if (next.time_ns != CTS_WHATIF_UNSET && cts_whatif_push(&run->events, next, run->error))
        return CTS_MEMORY;
    if (trigger.time_ns == CTS_WHATIF_UNSET) return CTS_OK;
    return cts_whatif_push(&run->events, trigger, run->error);
}

static void set_times(struct cts_whatif_run *run, uint32_t kernel, bool end, uint64_t time_ns)
{
    const struct cts_whatif_kernel *const k = &run->plan->kernels[kernel];
    const struct cts_path_activity *const activity =
        &run->graph->locations[k->location].activities.items[k->activity];
    *cts_whatif_node_time(run, k->location, end ? activity->end : activity->begin) = time_ns;
    cts_whatif_list(run, k->location);
    cts_whatif_wake(run, k->location);
}

static uint64_t gap_of(const struct cts_whatif_run *run, const struct cts_whatif_kernel *kernel)
{
    return cts_whatif_scale(kernel->gap_ns,
                            cts_whatif_latency_factor(run, &run->graph->locations[kernel->location],
                                                      CTS_PATH_LAUNCH_LATENCY));
}

static enum cts_status serve_queue(struct cts_whatif_run *run, struct cts_whatif_room *room)
{
    for (size_t i = 0; i < room->queue.count;) {
        const uint32_t index = room->queue.items[i];
        const struct cts_whatif_kernel *const kernel = &run->plan->kernels[index];
        if (room->free < kernel->need) {
            i++;
            continue;
        }
        cts_whatif_room_unqueue(room, index);
        if (cts_whatif_room_admit(room, index, false, run->error) ||
            cts_whatif_push(&run->events,
                            (struct cts_whatif_event){room->now_ns + gap_of(run, kernel),
                                                      CTS_WHATIF_ALWAYS, CTS_WHATIF_TRIGGER, index},
                            run->error))
            return CTS_MEMORY;
        cts_whatif_room_grant(room, run->plan);
    }
    return CTS_OK;
}

static enum cts_status on_device(struct cts_whatif_run *run, uint32_t device)
{
    struct cts_whatif_room *const room = &run->rooms[device];
    for (size_t i = 0; i < room->running.count;) {
        const struct cts_whatif_running *const running = &room->running.items[i];
        if (!running->begun || left_to_do(run, running)) {
            i++;
            continue;
        }
        set_times(run, running->kernel, true, room->now_ns);
        cts_whatif_room_remove(room, i);
    }
    cts_whatif_room_grant(room, run->plan);
    if (serve_queue(run, room)) return CTS_MEMORY;
    return expect(run, device);
}

static enum cts_status begin_kernel(struct cts_whatif_run *run, uint32_t kernel, uint64_t time_ns)
{
    const uint32_t device = run->plan->kernels[kernel].device;
    struct cts_whatif_room *const room = &run->rooms[device];
    struct cts_whatif_running *const admitted = cts_whatif_room_find(room, kernel);
    if (admitted)
        admitted->begun = true;
    else if (cts_whatif_room_admit(room, kernel, true, run->error))
        return CTS_MEMORY;
    set_times(run, kernel, false, time_ns);
    cts_whatif_room_grant(room, run->plan);
    return expect(run, device);
}

/* A kernel is ready, or has been given room. */
static enum cts_status on_kernel(struct cts_whatif_run *run, const struct cts_whatif_event *event)
{
    const struct cts_whatif_kernel *const kernel = &run->plan->kernels[event->id];
    struct cts_whatif_room *const room = &run->rooms[kernel->device];
    if (event->kind == CTS_WHATIF_TRIGGER) {
        if (event->version != CTS_WHATIF_ALWAYS && !cts_whatif_room_unqueue(room, event->id))
            return CTS_OK;
        return begin_kernel(run, event->id, event->time_ns);
    }
    const bool forced = work_of(run, event->id)->forced;
    if (forced || room->free >= kernel->need) return begin_kernel(run, event->id, event->time_ns);
    if (CTS_ARRAY_RESERVE(&room->queue, room->queue.count + 1, run->error)) return CTS_MEMORY;
    room->queue.items[room->queue.count++] = event->id;
    room->version++;
    return expect(run, kernel->device);
}

enum cts_status cts_whatif_on_event(struct cts_whatif_run *run)
{
    const struct cts_whatif_event event = cts_whatif_pop(&run->events);
    if (event.kind == CTS_WHATIF_ASK) {
        run->lanes[event.id].asked = 2;
        cts_whatif_list(run, event.id);
        return CTS_OK;
    }
    const uint32_t device =
        event.kind == CTS_WHATIF_DEVICE ? event.id : run->plan->kernels[event.id].device;
    struct cts_whatif_room *const room = &run->rooms[device];
    const bool dated = event.kind == CTS_WHATIF_DEVICE || event.kind == CTS_WHATIF_TRIGGER;
    if (dated && event.version != CTS_WHATIF_ALWAYS && event.version != room->version)
        return CTS_OK;
    cts_whatif_room_advance(room, event.time_ns);
    return event.kind == CTS_WHATIF_DEVICE ? on_device(run, event.id) : on_kernel(run, &event);
}
