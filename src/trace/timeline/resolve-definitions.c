/* Definitions by the archive's references become definitions by index: see definitions.h. */
#include <string.h>

#include "trace/timeline/definitions.h"

static const char *text_of(const struct cts_definition_loader *loader, uint32_t string)
{
    const uint32_t index = cts_references_find(&loader->strings, string);
    return index == CTS_TIMELINE_NONE ? NULL : loader->private->strings[index];
}

static const char *name_of(const struct cts_definition_loader *loader, uint32_t string)
{
    const char *const text = text_of(loader, string);
    return text ? text : "";
}

/* Groups that are not a communicator's: posts and starts of windows name them. */
static bool find_lone_groups(struct cts_definition_loader *loader)
{
    bool *const named = calloc(loader->group_count + 1, sizeof *named);
    loader->lone_groups = calloc(loader->group_count + 1, sizeof *loader->lone_groups);
    if (named && loader->lone_groups) {
        for (size_t i = 0; i < loader->communicator_count; i++) {
            const struct cts_raw_communicator *const raw = &loader->communicator_list[i];
            const uint32_t group = cts_references_find(&loader->groups, raw->group);
            const uint32_t remote = cts_references_find(&loader->groups, raw->remote_group);
            if (group != CTS_TIMELINE_NONE) named[group] = true;
            if (remote != CTS_TIMELINE_NONE) named[remote] = true;
        }
        for (uint32_t i = 0; i < loader->group_count; i++)
            if (loader->group_list[i].type == OTF2_GROUP_TYPE_COMM_GROUP && !named[i])
                loader->lone_groups[loader->lone_count++] = i;
    }
    free(named);
    return named && loader->lone_groups;
}

static bool resolve_references(struct cts_definition_loader *loader)
{
    struct cts_timeline_private *const p = loader->private;
    bool sound = cts_references_settle(&loader->strings);
#define FILL(list, references)                                                                     \
    for (size_t i = 0; sound && i < loader->list##_count; i++)                                     \
        sound = cts_references_add(&(references), loader->list##_list[i].reference, (uint32_t)i);  \
    sound = sound && cts_references_settle(&(references))
    FILL(node, loader->nodes);
    FILL(group, loader->groups);
    FILL(location, p->locations);
    FILL(location_group, p->groups);
    FILL(region, p->regions);
    FILL(communicator, p->communicators);
    FILL(window, p->windows);
#undef FILL
    for (size_t i = 0; sound && i < loader->communicator_count; i++)
        sound = cts_references_add(&p->communicator_groups, loader->communicator_list[i].group,
                                   (uint32_t)i);
    sound = sound && find_lone_groups(loader);
    for (size_t i = 0; sound && i < loader->lone_count; i++)
        sound = cts_references_add(&p->communicator_groups,
                                   loader->group_list[loader->lone_groups[i]].reference,
                                   (uint32_t)(loader->communicator_count + i));
    sound = sound && cts_references_settle(&p->communicator_groups);
    for (size_t i = 0; sound && i < loader->attribute_count; i++)
        for (uint32_t known = 0; sound && known < CTS_ATTRIBUTE_COUNT; known++)
            if (strcmp(name_of(loader, loader->attribute_list[i].name),
                       cts_attribute_names[known]) == 0)
                sound =
                    cts_references_add(&p->attributes, loader->attribute_list[i].reference, known);
    return sound && cts_references_settle(&p->attributes);
}

/* The number at the end of "MPI Rank 12"; NONE when the name is another. */
static uint32_t rank_of_name(const char *name)
{
    static const char prefix[] = "MPI Rank ";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) return CTS_TIMELINE_NONE;
    const char *const digits = name + sizeof prefix - 1;
    char *end;
    const unsigned long rank = strtoul(digits, &end, 10);
    return end == digits || *end || rank >= CTS_TIMELINE_NONE ? CTS_TIMELINE_NONE : (uint32_t)rank;
}

static void resolve_groups(struct cts_definition_loader *loader)
{
    struct cts_timeline *const t = loader->timeline;
    uint32_t process_count = 0;
    t->group_count = loader->location_group_count;
    for (size_t i = 0; i < t->group_count; i++) {
        const struct cts_raw_location_group *const raw = &loader->location_group_list[i];
        struct cts_timeline_group *const group = &t->groups[i];
        const uint32_t node = cts_references_find(&loader->nodes, raw->node);
        group->reference = raw->reference;
        group->name = name_of(loader, raw->name);
        group->accelerator = raw->type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR;
        group->host =
            node == CTS_TIMELINE_NONE ? NULL : text_of(loader, loader->node_list[node].name);
        group->rank = rank_of_name(group->name);
        if (!group->accelerator && group->rank == CTS_TIMELINE_NONE) group->rank = process_count;
        group->creator = group->accelerator
                             ? cts_references_find(&loader->private->groups, raw->creator)
                             : CTS_TIMELINE_NONE;
        group->master = CTS_TIMELINE_NONE;
        process_count += !group->accelerator;
    }
}

/* "CUDA[device:stream]", as all that record write it. */
static void read_stream_name(struct cts_timeline_location *location)
{
    static const char prefix[] = "CUDA[";
    location->device = location->stream = CTS_TIMELINE_NONE;
    const char *const digits = location->name + sizeof prefix - 1;
    if (strncmp(location->name, prefix, sizeof prefix - 1) != 0) return;
    char *colon, *end;
    const unsigned long device = strtoul(digits, &colon, 10);
    if (colon == digits || *colon != ':') return;
    const unsigned long stream = strtoul(colon + 1, &end, 10);
    if (end == colon + 1 || strcmp(end, "]") != 0) return;
    if (device >= CTS_TIMELINE_NONE || stream >= CTS_TIMELINE_NONE) return;
    location->device = (uint32_t)device;
    location->stream = (uint32_t)stream;
}

static enum cts_location_kind kind_of(OTF2_LocationType type)
{
    switch (type) {
    case OTF2_LOCATION_TYPE_CPU_THREAD:
        return CTS_LOCATION_THREAD;
    case OTF2_LOCATION_TYPE_ACCELERATOR_STREAM: /* the old GPU has the same number */
        return CTS_LOCATION_STREAM;
    case OTF2_LOCATION_TYPE_METRIC:
        return CTS_LOCATION_METRIC;
    default:
        return CTS_LOCATION_UNKNOWN;
    }
}

/* The process that a group belongs to: itself, or the creator of an accelerator. */
static uint32_t process_of(const struct cts_timeline *t, uint32_t group)
{
    if (group == CTS_TIMELINE_NONE) return CTS_TIMELINE_NONE;
    const struct cts_timeline_group *const g = &t->groups[group];
    if (!g->accelerator || g->creator == CTS_TIMELINE_NONE) return group;
    return t->groups[g->creator].accelerator ? group : g->creator;
}

static enum cts_status resolve_locations(struct cts_definition_loader *loader,
                                         struct cts_error *error)
{
    struct cts_timeline *const t = loader->timeline;
    t->location_count = loader->location_count;
    for (size_t i = 0; i < t->location_count; i++) {
        const struct cts_raw_location *const raw = &loader->location_list[i];
        struct cts_timeline_location *const location = &t->locations[i];
        location->reference = raw->reference;
        location->name = name_of(loader, raw->name);
        location->kind = kind_of(raw->type);
        location->group = cts_references_find(&loader->private->groups, raw->group);
        if (location->group == CTS_TIMELINE_NONE)
            return cts_fail(error, CTS_FORMAT,
                            "location %llu is of location group %u, which is not defined",
                            (unsigned long long)raw->reference, raw->group);
        location->process = process_of(t, location->group);
        location->event_count = raw->event_count == OTF2_UNDEFINED_UINT64 ? 0 : raw->event_count;
        t->event_count += location->event_count;
        read_stream_name(location);
        struct cts_timeline_group *const process = &t->groups[location->process];
        const bool first = process->master == CTS_TIMELINE_NONE ||
                           raw->reference < t->locations[process->master].reference;
        if (location->kind == CTS_LOCATION_THREAD && first) process->master = (uint32_t)i;
    }
    for (size_t i = 0; i < loader->property_count; i++) {
        const struct cts_raw_property *const raw = &loader->property_list[i];
        const uint32_t location = cts_references_find(&loader->private->locations, raw->location);
        const char *const value = text_of(loader, raw->text);
        if (location == CTS_TIMELINE_NONE || !value) continue;
        const char *const name = name_of(loader, raw->name);
        if (strcmp(name, "CUDA_NULL_STREAM") == 0)
            t->locations[location].null_stream = strcmp(value, "yes") == 0;
        else if (strcmp(name, "CUDA_STREAM_FLAGS") == 0)
            t->locations[location].non_blocking = strcmp(value, "non-blocking") == 0;
    }
    return CTS_OK;
}

static void resolve_regions(struct cts_definition_loader *loader)
{
    struct cts_timeline *const t = loader->timeline;
    t->region_count = loader->region_count;
    for (size_t i = 0; i < t->region_count; i++) {
        const struct cts_raw_region *const raw = &loader->region_list[i];
        t->regions[i] = (struct cts_timeline_region){
            .name = name_of(loader, raw->name),
            .canonical_name = text_of(loader, raw->canonical_name),
            .file = text_of(loader, raw->file),
            .begin_line = raw->begin_line,
            .end_line = raw->end_line,
            .paradigm = cts_paradigm_of_otf2(raw->paradigm),
            .role = cts_role_of_otf2(raw->role),
        };
        const char *const description = text_of(loader, raw->description);
        if (description && raw->paradigm == OTF2_PARADIGM_CUDA)
            (void)cts_shape_parse(description, &t->regions[i].shape);
    }
}

/* The locations that communicators of a paradigm count their members in. */
static const struct cts_raw_group *locations_of_paradigm(const struct cts_definition_loader *loader,
                                                         OTF2_Paradigm paradigm)
{
    for (size_t i = 0; i < loader->group_count; i++)
        if (loader->group_list[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS &&
            loader->group_list[i].paradigm == paradigm)
            return &loader->group_list[i];
    return NULL;
}

/* Members as indices in locations; a member that is none becomes NONE and is warned of. */
static bool resolve_members(struct cts_definition_loader *loader, const struct cts_raw_group *group,
                            uint32_t **ranks, uint32_t *rank_count)
{
    const bool direct = group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS || group->global_members;
    const struct cts_raw_group *const base =
        direct ? NULL : locations_of_paradigm(loader, group->paradigm);
    uint64_t unknown = 0;
    if (!group->member_count) return true;
    *ranks = malloc(group->member_count * sizeof **ranks);
    if (!*ranks) return false;
    *rank_count = group->member_count;
    for (uint32_t i = 0; i < group->member_count; i++) {
        uint64_t reference = group->members[i];
        bool known = true;
        if (!direct) {
            known = base && reference < base->member_count;
            if (known) reference = base->members[reference];
        }
        (*ranks)[i] =
            known ? cts_references_find(&loader->private->locations, reference) : CTS_TIMELINE_NONE;
        unknown += (*ranks)[i] == CTS_TIMELINE_NONE;
    }
    if (unknown)
        cts_timeline_warn(loader->timeline, unknown,
                          "members of communicators that are not locations of this archive");
    return true;
}

/* They follow the communicators. */
static bool resolve_lone_groups(struct cts_definition_loader *loader)
{
    struct cts_timeline *const t = loader->timeline;
    for (size_t i = 0; i < loader->lone_count; i++) {
        const struct cts_raw_group *const members = &loader->group_list[loader->lone_groups[i]];
        struct cts_timeline_communicator *const c = &t->communicators[t->communicator_count++];
        *c = (struct cts_timeline_communicator){.name = "",
                                                .paradigm = cts_paradigm_of_otf2(members->paradigm),
                                                .parent = CTS_TIMELINE_NONE,
                                                .group = true};
        if (!resolve_members(loader, members, &c->ranks, &c->rank_count)) return false;
    }
    return true;
}

static bool resolve_communicators(struct cts_definition_loader *loader)
{
    struct cts_timeline *const t = loader->timeline;
    struct cts_timeline_private *const p = loader->private;
    t->communicator_count = loader->communicator_count;
    t->world = CTS_TIMELINE_NONE;
    for (size_t i = 0; i < t->communicator_count; i++) {
        const struct cts_raw_communicator *const raw = &loader->communicator_list[i];
        struct cts_timeline_communicator *const c = &t->communicators[i];
        c->name = name_of(loader, raw->name);
        c->parent = cts_references_find(&p->communicators, raw->parent);
        const uint32_t group = cts_references_find(&loader->groups, raw->group);
        const uint32_t remote = cts_references_find(&loader->groups, raw->remote_group);
        if (group != CTS_TIMELINE_NONE) {
            const struct cts_raw_group *const members = &loader->group_list[group];
            c->paradigm = cts_paradigm_of_otf2(members->paradigm);
            c->self = members->type == OTF2_GROUP_TYPE_COMM_SELF;
            if (!resolve_members(loader, members, &c->ranks, &c->rank_count)) return false;
        }
        if (remote != CTS_TIMELINE_NONE && !resolve_members(loader, &loader->group_list[remote],
                                                            &c->remote_ranks, &c->remote_count))
            return false;
        if (t->world == CTS_TIMELINE_NONE && strcmp(c->name, "MPI_COMM_WORLD") == 0)
            t->world = (uint32_t)i;
    }
    return true;
}

/* Old archives do not name the world: it is the largest of MPI's that has no parent. */
static void guess_world(struct cts_timeline *t)
{
    for (uint32_t i = 0; i < t->communicator_count && t->world == CTS_TIMELINE_NONE; i++) {
        uint32_t largest = CTS_TIMELINE_NONE;
        for (uint32_t k = i; k < t->communicator_count; k++) {
            const struct cts_timeline_communicator *const c = &t->communicators[k];
            if (c->paradigm != CTS_PARADIGM_MPI || c->self || c->group ||
                c->parent != CTS_TIMELINE_NONE)
                continue;
            if (largest == CTS_TIMELINE_NONE ||
                c->rank_count > t->communicators[largest].rank_count)
                largest = k;
        }
        t->world = largest;
        return;
    }
}

static void resolve_windows(struct cts_definition_loader *loader)
{
    struct cts_timeline *const t = loader->timeline;
    t->window_count = loader->window_count;
    for (size_t i = 0; i < t->window_count; i++)
        t->windows[i] = (struct cts_timeline_window){
            .name = name_of(loader, loader->window_list[i].name),
            .communicator = cts_references_find(&loader->private->communicators,
                                                loader->window_list[i].communicator),
        };
}

enum cts_status cts_definitions_resolve(struct cts_definition_loader *loader,
                                        struct cts_error *error)
{
    struct cts_timeline *const t = loader->timeline;
    t->locations = calloc(loader->location_count + 1, sizeof *t->locations);
    t->groups = calloc(loader->location_group_count + 1, sizeof *t->groups);
    t->regions = calloc(loader->region_count + 1, sizeof *t->regions);
    t->windows = calloc(loader->window_count + 1, sizeof *t->windows);
    if (!t->locations || !t->groups || !t->regions || !t->windows || !resolve_references(loader))
        return cts_fail(error, CTS_MEMORY, "no memory for the definitions");
    t->communicators =
        calloc(loader->communicator_count + loader->lone_count + 1, sizeof *t->communicators);
    if (!t->communicators) return cts_fail(error, CTS_MEMORY, "no memory for the definitions");
    resolve_groups(loader);
    resolve_regions(loader);
    if (resolve_locations(loader, error)) return error ? error->status : CTS_FORMAT;
    if (!resolve_communicators(loader) || !resolve_lone_groups(loader))
        return cts_fail(error, CTS_MEMORY, "no memory for the definitions");
    guess_world(t);
    resolve_windows(loader);
    if (!loader->has_clock || !t->ticks_per_second)
        return cts_fail(error, CTS_FORMAT, "the definitions have no clock");
    t->duration_ns =
        (uint64_t)((unsigned __int128)t->duration_ns * 1000000000u / t->ticks_per_second);
    return CTS_OK;
}
