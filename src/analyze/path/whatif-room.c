/* The room of a device: kernels get it in the order of their coming, the later ones what the
 * earlier left over. Kernels that run although they want more than all of it are mixed at their
 * ends: the CTAs of the first leave one by one, and those of the next take their places. Of such
 * kernels a part of the room, the overtaking, goes to each by what it wants. A kernel progresses in
 * proportion to the room it has of what it wants, and is slowed down by the room that others have
 * beside it: 1 + interference * their room times. Integers only: the same calls give the same
 * progress. */
#include "analyze/path/whatif-room.h"

#include <stdlib.h>
#include <string.h>

void cts_whatif_room_advance(struct cts_whatif_room *room, uint64_t now_ns)
{
    if (now_ns <= room->now_ns) return;
    for (size_t i = 0; i < room->running.count; i++)
        room->running.items[i].done += room->running.items[i].rate * (now_ns - room->now_ns);
    room->now_ns = now_ns;
}

/* Mixes what kernels that run have by their order with what they would have by their wishes; how
 * much they have together. */
static uint64_t overtake(struct cts_whatif_room *room, const struct cts_whatif_plan *plan,
                         uint64_t taken, uint64_t in_demand)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < room->running.count; i++) {
        struct cts_whatif_running *const running = &room->running.items[i];
        if (!running->begun) continue;
        const uint64_t fair = plan->kernels[running->kernel].room * taken / in_demand;
        running->grant = (uint32_t)((running->grant * (uint64_t)(16 - room->overtaking) +
                                     fair * room->overtaking) /
                                    16);
        sum += running->grant;
    }
    return sum;
}

void cts_whatif_room_grant(struct cts_whatif_room *room, const struct cts_whatif_plan *plan)
{
    const uint64_t alone = 16ull * CTS_WHATIF_ROOM;
    uint32_t left = CTS_WHATIF_ROOM;
    uint64_t taken = 0, in_demand = 0; /* by kernels that run */
    for (size_t i = 0; i < room->running.count; i++) {
        struct cts_whatif_running *const running = &room->running.items[i];
        const uint32_t wanted = plan->kernels[running->kernel].room;
        running->grant = wanted < left ? wanted : left;
        left -= running->grant;
        if (!running->begun) continue;
        taken += running->grant;
        in_demand += wanted;
    }
    if (in_demand > CTS_WHATIF_ROOM && room->overtaking)
        taken = overtake(room, plan, taken, in_demand);
    for (size_t i = 0; i < room->running.count; i++) {
        struct cts_whatif_running *const running = &room->running.items[i];
        const uint32_t wanted = plan->kernels[running->kernel].room;
        uint64_t rate = (uint64_t)running->grant * CTS_WHATIF_RATE / wanted;
        if (running->begun)
            rate = rate * alone / (alone + (taken - running->grant) * room->interference);
        running->rate = !running->begun ? 0 : rate ? (uint32_t)rate : 1;
    }
    room->free = left;
    room->version++;
}

enum cts_status cts_whatif_room_admit(struct cts_whatif_room *room, uint32_t kernel, bool begun,
                                      struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(&room->running, room->running.count + 1, error)) return CTS_MEMORY;
    room->running.items[room->running.count++] =
        (struct cts_whatif_running){.kernel = kernel, .begun = begun};
    return CTS_OK;
}

struct cts_whatif_running *cts_whatif_room_find(struct cts_whatif_room *room, uint32_t kernel)
{
    for (size_t i = 0; i < room->running.count; i++)
        if (room->running.items[i].kernel == kernel) return &room->running.items[i];
    return NULL;
}

void cts_whatif_room_remove(struct cts_whatif_room *room, size_t index)
{
    memmove(&room->running.items[index], &room->running.items[index + 1],
            (room->running.count - index - 1) * sizeof *room->running.items);
    room->running.count--;
}

bool cts_whatif_room_unqueue(struct cts_whatif_room *room, uint32_t kernel)
{
    for (size_t i = 0; i < room->queue.count; i++) {
        if (room->queue.items[i] != kernel) continue;
        memmove(&room->queue.items[i], &room->queue.items[i + 1],
                (room->queue.count - i - 1) * sizeof *room->queue.items);
        room->queue.count--;
        return true;
    }
    return false;
}

void cts_whatif_room_release(struct cts_whatif_room *room)
{
    free(room->running.items);
    free(room->queue.items);
    *room = (struct cts_whatif_room){.interference = room->interference,
                                     .overtaking = room->overtaking};
}

/* ---- events ---- */

static bool before(const struct cts_whatif_event *a, const struct cts_whatif_event *b)
{
    if (a->time_ns != b->time_ns) return a->time_ns < b->time_ns;
    if (a->kind != b->kind) return a->kind < b->kind;
    return a->id < b->id;
}

enum cts_status cts_whatif_push(struct cts_whatif_events *events, struct cts_whatif_event event,
                                struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(events, events->count + 1, error)) return CTS_MEMORY;
    size_t at = events->count++;
    for (; at && before(&event, &events->items[(at - 1) / 2]); at = (at - 1) / 2)
        events->items[at] = events->items[(at - 1) / 2];
    events->items[at] = event;
    return CTS_OK;
}

struct cts_whatif_event cts_whatif_pop(struct cts_whatif_events *events)
{
    const struct cts_whatif_event first = events->items[0];
    const struct cts_whatif_event last = events->items[--events->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= events->count) break;
        if (child + 1 < events->count && before(&events->items[child + 1], &events->items[child]))
            child++;
        if (!before(&events->items[child], &last)) break;
        events->items[at] = events->items[child];
        at = child;
    }
    if (events->count) events->items[at] = last;
    return first;
}
