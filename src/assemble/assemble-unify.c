/* The archive's definitions, made of all processes' own.
 *
 *   groups:        MPI ranks in their order (one that left no log has an empty master, so that
 *                  ranks stay ranks), then other processes
 *   locations:     per process the main thread, other threads, streams;
 *                  reference = their place in that order, since small numbers take less room
 *   regions:       equal ones once
 *   communicators: the world first; by (creator, number) elsewhere; MPI_COMM_SELF once; groups by
 *                  their members; per process with streams one of CUDA's, whose rank 0 is the host
 *   windows:       MPI's by communicator and their place among its windows, which is the same in
 *                  all processes, since making one is collective; one per process with streams */
#include <stdio.h>
#include <string.h>

#include "assemble/assemble-private.h"
#include "common/promise.h"
#include "common/hash.h"
#include "trace/log/region.h"

/* A text that lives as long as the assembler; NULL: no memory. */
static const char *keep(struct cts_assembler *a, char *text)
{
    if (!text || CTS_ARRAY_RESERVE(&a->texts, a->texts.count + 1, NULL)) {
        free(text);
        return NULL;
    }
    a->texts.items[a->texts.count++] = text;
    return text;
}

static const char *keep_numbered(struct cts_assembler *a, const char *format, uint32_t number)
{
    char *text = NULL;
    if (asprintf(&text, format, number) < 0) return NULL;
    return keep(a, text);
}

/* ---- processes ---- */

static int by_number(const void *left, const void *right)
{
    const struct cts_log_process *const a = left, *const b = right;
    return a->number < b->number ? -1 : a->number > b->number;
}

static uint32_t world_size(const struct cts_assembler *a)
{
    uint32_t size = 0;
    for (size_t i = 0; i < a->processes.count; i++) {
        const struct cts_log_process *const p = &a->processes.items[i];
        if (p->is_mpi && p->mpi_count > size) size = p->mpi_count;
    }
    return size;
}

/* Numbers of processes; of two that say to be the same rank the second is an ordinary process. */
static void number_processes(struct cts_assembler *a, uint32_t size)
{
    uint32_t next = size;
    for (size_t i = 0; i < a->processes.count; i++) {
        struct cts_log_process *const p = &a->processes.items[i];
        for (size_t k = 0; p->is_mpi && k < i; k++)
            if (a->processes.items[k].is_mpi && a->processes.items[k].mpi_rank == p->mpi_rank)
                p->is_mpi = false;
        p->number = p->is_mpi ? p->mpi_rank : next++;
    }
    qsort(a->processes.items, a->processes.count, sizeof *a->processes.items, by_number);
}

static int by_local_time(const void *left, const void *right)
{
    const struct cts_clock_reading *const a = left, *const b = right;
    return a->local_ns < b->local_ns ? -1 : a->local_ns > b->local_ns;
}

/* One boot of one machine has one clock. */
static void settle_clocks(struct cts_assembler *a)
{
    const struct cts_log_process *const first = &a->processes.items[0];
    for (size_t i = 0; i < a->processes.count; i++) {
        struct cts_log_process *const p = &a->processes.items[i];
        const bool known = p->boot && first->boot && *p->boot;
        p->same_clock = !p->clock.count || (known && strcmp(p->boot, first->boot) == 0);
        if (p->clock.count)
            qsort(p->clock.items, p->clock.count, sizeof *p->clock.items, by_local_time);
    }
}

static void find_start(struct cts_assembler *a)
{
    uint64_t earliest = UINT64_MAX;
    for (size_t i = 0; i < a->processes.count; i++) {
        const struct cts_log_process *const p = &a->processes.items[i];
        const uint64_t start = cts_correct_time(p, p->start_ns);
        if (p->start_ns && start < earliest) earliest = start;
    }
    a->timeline.global_offset = earliest == UINT64_MAX ? 0 : earliest;
}

/* ---- groups and locations ---- */

/* At most: one for each log, and the main thread, which need not have one. Several logs may name
 * it, if somebody copied one. */
static size_t locations_of(const struct cts_log_process *p)
{
    return p->logs.count + 1;
}

static bool add_location(struct cts_assembler *a, uint32_t group, uint32_t process, uint32_t log,
                         const char *name)
{
    struct cts_timeline *const t = &a->timeline;
    assert(t->location_count < a->location_room);
    t->locations[t->location_count] = (struct cts_timeline_location){
        .reference = t->location_count,
        .name = name,
        .kind = CTS_LOCATION_THREAD,
        .group = group,
        .process = group,
        .device = CTS_TIMELINE_NONE,
        .stream = CTS_TIMELINE_NONE,
    };
    a->sources[t->location_count] = (struct cts_location_source){process, log};
    if (process != CTS_TIMELINE_NONE && log != CTS_TIMELINE_NONE)
        a->processes.items[process].logs.items[log].location = (uint32_t)t->location_count;
    t->location_count++;
    return name != NULL;
}

static bool add_stream(struct cts_assembler *a, uint32_t group, uint32_t process, uint32_t log)
{
    const struct cts_log_header *const h = &a->processes.items[process].logs.items[log].header;
    char *name = NULL;
    if (asprintf(&name, "CUDA[%u:%u]", h->device, h->ordinal) < 0) return false;
    if (!add_location(a, group, process, log, keep(a, name))) return false;
    struct cts_timeline_location *const location =
        &a->timeline.locations[a->timeline.location_count - 1];
    location->kind = CTS_LOCATION_STREAM;
    location->device = h->device;
    location->stream = h->ordinal;
    location->null_stream = (h->flags & CTS_LOG_NULL_STREAM) != 0;
    location->non_blocking = (h->flags & CTS_LOG_NON_BLOCKING) != 0;
    return true;
}

/* Logs are sorted: threads, then streams. The main thread's is the one whose thread id is the
 * process's; it is there even when it did nothing. */
static bool add_locations(struct cts_assembler *a, uint32_t process, uint32_t group)
{
    struct cts_log_process *const p = &a->processes.items[process];
    uint32_t master = CTS_TIMELINE_NONE, thread = 1;
    for (uint32_t i = 0; i < p->logs.count && master == CTS_TIMELINE_NONE; i++)
        if (p->logs.items[i].header.kind == CTS_LOG_THREAD && p->logs.items[i].header.tid == p->pid)
            master = i;
    const char *const given = master == CTS_TIMELINE_NONE ? NULL : p->logs.items[master].name;
    if (!add_location(a, group, process, master, given ? given : "Master thread")) return false;
    for (uint32_t i = 0; i < p->logs.count; i++) {
        const struct cts_location_log *const log = &p->logs.items[i];
        bool sound = true;
        if (i == master) continue;
        if (log->header.kind == CTS_LOG_STREAM)
            sound = add_stream(a, group, process, i);
        else
            sound = add_location(a, group, process, i,
                                 log->name ? log->name : keep_numbered(a, "Thread %u", thread));
        thread += log->header.kind == CTS_LOG_THREAD;
        if (!sound) return false;
    }
    return true;
}

static bool add_group(struct cts_assembler *a, uint32_t process, uint32_t mpi_rank)
{
    struct cts_timeline *const t = &a->timeline;
    struct cts_log_process *const p =
        process == CTS_TIMELINE_NONE ? NULL : &a->processes.items[process];
    const uint32_t group = (uint32_t)t->group_count++;
    const char *name = NULL;
    if (!p || p->is_mpi)
        name = keep_numbered(a, "MPI Rank %u", mpi_rank);
    else
        name = group ? keep_numbered(a, "Process %u", p->number) : "Process";
    t->groups[group] = (struct cts_timeline_group){
        .reference = group,
        .name = name,
        .creator = CTS_TIMELINE_NONE,
        .host = p ? p->host : NULL,
        .rank = p ? p->number : mpi_rank,
        .master = (uint32_t)t->location_count,
    };
    if (p) p->group = group;
    if (!name) return false;
    return p ? add_locations(a, process, group)
             : add_location(a, group, CTS_TIMELINE_NONE, CTS_TIMELINE_NONE, "Master thread");
}

static bool add_groups(struct cts_assembler *a, uint32_t size)
{
    struct cts_timeline *const t = &a->timeline;
    size_t locations = size;
    for (size_t i = 0; i < a->processes.count; i++)
        locations += locations_of(&a->processes.items[i]);
    t->groups = calloc(a->processes.count + size + 1, sizeof *t->groups);
    a->location_room = locations;
    t->locations = calloc(locations + 1, sizeof *t->locations);
    a->sources = calloc(locations + 1, sizeof *a->sources);
    if (!t->groups || !t->locations || !a->sources) return false;
    uint32_t process = 0;
    for (uint32_t rank = 0; rank < size; rank++) {
        const bool has_log =
            process < a->processes.count && a->processes.items[process].number == rank;
        if (!add_group(a, has_log ? process++ : CTS_TIMELINE_NONE, rank)) return false;
    }
    for (; process < a->processes.count; process++)
        if (!add_group(a, process, a->processes.items[process].number)) return false;
    return true;
}

/* ---- regions ---- */

static uint32_t unify_region(struct cts_assembler *a, struct cts_map *known,
                             const struct cts_timeline_region *region)
{
    struct cts_timeline *const t = &a->timeline;
    uint64_t hash = cts_region_hash(region);
    for (;; hash = cts_hash(hash) + 1) { /* two with one hash: the next one */
        uint64_t *const place = cts_map_at(known, hash, NULL);
        if (!place) return CTS_TIMELINE_NONE;
        if (!*place) {
            t->regions[t->region_count] = *region;
            *place = ++t->region_count;
        }
        if (cts_region_is_same(&t->regions[*place - 1], region)) return (uint32_t)(*place - 1);
    }
}

static bool unify_regions(struct cts_assembler *a)
{
    struct cts_map known = {0};
    size_t count = 0;
    bool sound = true;
    for (size_t i = 0; i < a->processes.count; i++) count += a->processes.items[i].regions.count;
    a->timeline.regions = calloc(count + 1, sizeof *a->timeline.regions);
    if (!a->timeline.regions) return false;
    for (size_t i = 0; sound && i < a->processes.count; i++) {
        struct cts_log_process *const p = &a->processes.items[i];
        sound = CTS_ARRAY_RESERVE(&p->region_map, p->regions.count + 1, NULL) == CTS_OK;
        for (size_t r = 0; sound && r < p->regions.count; r++) {
            uint32_t global = CTS_TIMELINE_NONE;
            if (p->regions.items[r].name) {
                global = unify_region(a, &known, &p->regions.items[r]);
                sound = global != CTS_TIMELINE_NONE;
            }
            p->region_map.items[p->region_map.count++] = global;
        }
    }
    cts_map_release(&known);
    return sound;
}

/* ---- communicators and windows ---- */

struct communicators {
    struct cts_map known;  /* creator << 32 | number -> index + 1 */
    struct cts_map groups; /* hash of the members -> index + 1 */
    struct cts_map windows;
    uint32_t size; /* of the world */
    size_t capacity, window_capacity;
    uint32_t self; /* NONE: not yet */
};

static struct cts_timeline_communicator *
add_communicator(struct cts_assembler *a, struct communicators *c, enum cts_paradigm paradigm)
{
    struct cts_timeline *const t = &a->timeline;
    void *items = t->communicators;
    if (t->communicator_count == c->capacity &&
        cts_array_grow(&items, &c->capacity, t->communicator_count + 1, sizeof *t->communicators,
                       NULL))
        return NULL;
    t->communicators = items;
    struct cts_timeline_communicator *const made = &t->communicators[t->communicator_count++];
    *made = (struct cts_timeline_communicator){
        .name = "", .paradigm = paradigm, .parent = CTS_TIMELINE_NONE};
    return made;
}

static uint32_t master_of(const struct cts_assembler *a, const struct communicators *c,
                          uint32_t rank)
{
    return rank < c->size ? a->timeline.groups[rank].master : 0;
}

static bool set_members(struct cts_assembler *a, const struct communicators *c,
                        struct cts_timeline_communicator *communicator, const uint32_t *members,
                        uint32_t count)
{
    communicator->ranks = malloc((count + 1) * sizeof *communicator->ranks);
    if (!communicator->ranks) return false;
    communicator->rank_count = count;
    for (uint32_t i = 0; i < count; i++) {
        communicator->ranks[i] = master_of(a, c, members ? members[i] : i);
    }
    return true;
}

static bool add_world(struct cts_assembler *a, struct communicators *c)
{
    if (!c->size) return true;
    struct cts_timeline_communicator *const world = add_communicator(a, c, CTS_PARADIGM_MPI);
    uint64_t *const place = cts_map_at(&c->known, 0, NULL);
    if (!world || !place) return false;
    world->name = "MPI_COMM_WORLD";
    a->timeline.world = 0;
    *place = 1;
    return set_members(a, c, world, NULL, c->size);
}

static uint32_t unify_self(struct cts_assembler *a, struct communicators *c)
{
    if (c->self != CTS_TIMELINE_NONE) return c->self;
    struct cts_timeline_communicator *const self = add_communicator(a, c, CTS_PARADIGM_MPI);
    if (!self) return CTS_TIMELINE_NONE;
    self->self = true;
    self->name = "MPI_COMM_SELF";
    c->self = (uint32_t)(a->timeline.communicator_count - 1);
    return c->self;
}

static bool has_members(const struct cts_assembler *a, const struct communicators *c,
                        const struct cts_timeline_communicator *made,
                        const struct cts_local_communicator *local)
{
    bool same = made->rank_count == local->member_count;
    for (uint32_t i = 0; same && i < local->member_count; i++)
        same = made->ranks[i] == master_of(a, c, local->members[i]);
    return same;
}

/* Groups are made by one process alone: those with the same members are one. */
static bool unify_group(struct cts_assembler *a, struct communicators *c,
                        struct cts_local_communicator *local)
{
    uint64_t hash = CTS_HASH_START;
    for (uint32_t i = 0; i < local->member_count; i++)
        hash = cts_hash_unit(hash, master_of(a, c, local->members[i]));
    for (;; hash = cts_hash(hash) + 1) { /* two with one hash: the next one */
        uint64_t *const place = cts_map_at(&c->groups, hash, NULL);
        if (!place) return false;
        if (!*place) {
            struct cts_timeline_communicator *const made = add_communicator(a, c, CTS_PARADIGM_MPI);
            if (!made || !set_members(a, c, made, local->members, local->member_count))
                return false;
            made->group = true;
            *place = a->timeline.communicator_count;
        }
        local->global = (uint32_t)(*place - 1);
        if (has_members(a, c, &a->timeline.communicators[local->global], local)) return true;
    }
}

/* The index of a communicator; members and name come from whichever process knows them. */
static bool unify_communicator(struct cts_assembler *a, struct communicators *c,
                               const struct cts_log_process *p,
                               struct cts_local_communicator *local)
{
    struct cts_timeline *const t = &a->timeline;
    if (local->group) return true; /* they come last: readers want communicators without gaps */
    if (p->is_mpi && local->number == 1 && local->creator == p->mpi_rank) {
        local->global = unify_self(a, c);
        return local->global != CTS_TIMELINE_NONE;
    }
    const uint64_t key = (uint64_t)local->creator << 32 | local->number;
    uint64_t *const place = cts_map_at(&c->known, key, NULL);
    if (!place) return false;
    if (!*place) {
        if (!add_communicator(a, c, CTS_PARADIGM_MPI)) return false;
        *place = t->communicator_count;
    }
    local->global = (uint32_t)(*place - 1);
    struct cts_timeline_communicator *const made = &t->communicators[local->global];
    if (!*made->name && local->name) made->name = local->name;
    if (!made->ranks && local->members)
        return set_members(a, c, made, local->members, local->member_count);
    return true;
}

static void find_parents(struct cts_assembler *a, const struct communicators *c,
                         const struct cts_log_process *p)
{
    for (size_t i = 0; i < p->communicators.count; i++) {
        const struct cts_local_communicator *const local = &p->communicators.items[i];
        const uint64_t key = (uint64_t)local->parent_creator << 32 | local->parent_number;
        const uint64_t *const place = cts_map_find(&c->known, key);
        if (local->parent_creator == CTS_TIMELINE_NONE || local->group || !place || !*place)
            continue;
        if (*place - 1 != local->global)
            a->timeline.communicators[local->global].parent = (uint32_t)(*place - 1);
    }
}

static bool add_window(struct cts_assembler *a, struct communicators *c, const char *name,
                       uint32_t communicator)
{
    struct cts_timeline *const t = &a->timeline;
    void *items = t->windows;
    if (t->window_count == c->window_capacity &&
        cts_array_grow(&items, &c->window_capacity, t->window_count + 1, sizeof *t->windows, NULL))
        return false;
    t->windows = items;
    t->windows[t->window_count++] =
        (struct cts_timeline_window){.name = name ? name : "", .communicator = communicator};
    return true;
}

/* The n-th window of a communicator is the same one in all its processes. */
static bool unify_windows(struct cts_assembler *a, struct communicators *c,
                          struct cts_log_process *p)
{
    struct cts_map ordinals = {0};
    bool sound = true;
    for (size_t i = 0; sound && i < p->windows.count; i++) {
        struct cts_local_window *const local = &p->windows.items[i];
        local->global = CTS_TIMELINE_NONE;
        if (local->communicator >= p->communicators.count) continue;
        const uint32_t communicator = p->communicators.items[local->communicator].global;
        uint64_t *const ordinal = cts_map_at(&ordinals, communicator, NULL);
        /* windows on MPI_COMM_SELF are each process's own */
        const uint64_t owner = communicator == c->self ? (uint64_t)p->number + 1 : 0;
        uint64_t *const place =
            ordinal ? cts_map_at(&c->windows,
                                 (owner << 32 | communicator) * 1000003u + (*ordinal)++, NULL)
                    : NULL;
        sound = place != NULL;
        if (sound && !*place) {
            sound = add_window(a, c, local->name, communicator);
            *place = a->timeline.window_count;
        }
        if (sound) local->global = (uint32_t)(*place - 1);
    }
    cts_map_release(&ordinals);
    return sound;
}

static bool add_cuda(struct cts_assembler *a, struct communicators *c, struct cts_log_process *p)
{
    uint32_t count = 1;
    for (size_t i = 0; i < p->logs.count; i++)
        count += p->logs.items[i].header.kind == CTS_LOG_STREAM;
    if (count == 1) return true;
    struct cts_timeline_communicator *const cuda = add_communicator(a, c, CTS_PARADIGM_CUDA);
    if (!cuda) return false;
    cuda->ranks = malloc(count * sizeof *cuda->ranks);
    if (!cuda->ranks) return false;
    cuda->ranks[cuda->rank_count++] = a->timeline.groups[p->group].master;
    for (size_t i = 0; i < p->logs.count; i++) {
        struct cts_location_log *const log = &p->logs.items[i];
        if (log->header.kind != CTS_LOG_STREAM) continue;
        log->cuda_rank = cuda->rank_count;
        cuda->ranks[cuda->rank_count++] = log->location;
    }
    p->cuda_window = (uint32_t)a->timeline.window_count;
    return add_window(a, c, "", (uint32_t)(a->timeline.communicator_count - 1));
}

static bool unify_communicators(struct cts_assembler *a, uint32_t size)
{
    struct communicators c = {.size = size, .self = CTS_TIMELINE_NONE};
    bool sound = add_world(a, &c);
    for (size_t i = 0; sound && i < a->processes.count; i++) {
        struct cts_log_process *const p = &a->processes.items[i];
        for (size_t k = 0; sound && k < p->communicators.count; k++)
            sound = unify_communicator(a, &c, p, &p->communicators.items[k]);
    }
    for (size_t i = 0; sound && i < a->processes.count; i++) {
        find_parents(a, &c, &a->processes.items[i]);
        sound = unify_windows(a, &c, &a->processes.items[i]);
    }
    for (size_t i = 0; sound && i < a->processes.count; i++)
        sound = add_cuda(a, &c, &a->processes.items[i]);
    for (size_t i = 0; sound && i < a->processes.count; i++) {
        struct cts_log_process *const p = &a->processes.items[i];
        for (size_t k = 0; sound && k < p->communicators.count; k++)
            if (p->communicators.items[k].group)
                sound = unify_group(a, &c, &p->communicators.items[k]);
    }
    cts_map_release(&c.known);
    cts_map_release(&c.groups);
    cts_map_release(&c.windows);
    return sound;
}

enum cts_status cts_unify(struct cts_assembler *a, struct cts_error *error)
{
    const uint32_t size = world_size(a);
    a->timeline.world = CTS_TIMELINE_NONE;
    a->timeline.ticks_per_second = 1000000000;
    number_processes(a, size);
    settle_clocks(a);
    const enum cts_status status = cts_align_clocks(a, error);
    if (status) return status;
    find_start(a);
    if (!add_groups(a, size) || !unify_regions(a) || !unify_communicators(a, size))
        return cts_fail(error, CTS_MEMORY, "no memory for the timeline's definitions");
    return CTS_OK;
}
