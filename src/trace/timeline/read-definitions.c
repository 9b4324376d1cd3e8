/* The global definitions of an archive, dense.
 *
 *   library --callbacks--> raw records by the archive's references --resolve--> struct cts_timeline
 *
 * Definitions may name others that come later, and a hostile archive names some that never come:
 * so everything is gathered first, then looked up. A location without a group, a communicator
 * without members and the like are kept with NONE or nothing in place; what analyses index by is
 * always in range. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace/timeline/timeline-private.h"

struct raw_location {
    uint64_t reference, event_count;
    uint32_t name, group;
    OTF2_LocationType type;
};
struct raw_location_group {
    uint32_t reference, name, node, creator;
    OTF2_LocationGroupType type;
};
struct raw_node {
    uint32_t reference, name;
};
struct raw_region {
    uint32_t reference, name, canonical_name, description, file, begin_line, end_line;
    OTF2_Paradigm paradigm;
    OTF2_RegionRole role;
};
struct raw_group {
    uint32_t reference;
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    bool global_members;
    uint64_t *members;
    uint32_t member_count;
};
struct raw_communicator {
    uint32_t reference, name, group, remote_group, parent;
};
struct raw_window {
    uint32_t reference, name, communicator;
};
struct raw_attribute {
    uint32_t reference, name;
};
struct raw_property {
    uint64_t location;
    uint32_t name, text; /* text: a string's reference, NONE for other types */
};

#define RAW_LISTS(X)                                                                               \
    X(location)                                                                                    \
    X(location_group)                                                                              \
    X(node)                                                                                        \
    X(region)                                                                                      \
    X(group)                                                                                       \
    X(communicator)                                                                                \
    X(window)                                                                                      \
    X(attribute)                                                                                   \
    X(property)

struct loader {
    struct cts_timeline *timeline;
    struct cts_timeline_private *private;
    bool no_memory;
    bool has_clock;
    struct cts_references strings, nodes, groups;
#define X(name)                                                                                    \
    struct raw_##name *name##_list;                                                                \
    size_t name##_count, name##_capacity;
    RAW_LISTS(X)
#undef X
    uint32_t *lone_groups; /* in group_list: those of no communicator */
    size_t lone_count;
};

#define ADD(loader, name, ...)                                                                     \
    do {                                                                                           \
        void *items = (loader)->name##_list;                                                       \
        if (!cts_timeline_grow(&items, (loader)->name##_count, &(loader)->name##_capacity,         \
                               sizeof(struct raw_##name)))                                         \
            return out_of_memory(loader);                                                          \
        (loader)->name##_list = items;                                                             \
        (loader)->name##_list[(loader)->name##_count++] = (struct raw_##name){__VA_ARGS__};        \
    } while (0)

static OTF2_CallbackCode out_of_memory(struct loader *loader)
{
    loader->no_memory = true;
    return OTF2_CALLBACK_INTERRUPT;
}

/* ---- gathering ---- */

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length,
                                  uint64_t realtime)
{
    struct loader *const loader = user;
    (void)realtime;
    loader->has_clock = true;
    loader->timeline->ticks_per_second = resolution;
    loader->timeline->global_offset = offset;
    loader->timeline->duration_ns = length; /* still ticks */
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *user, OTF2_StringRef self, const char *text)
{
    struct loader *const loader = user;
    const uint32_t index = (uint32_t)loader->private->string_count;
    if (!cts_timeline_keep(loader->private, text ? text : "") ||
        !cts_references_add(&loader->strings, self, index))
        return out_of_memory(loader);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_attribute(void *user, OTF2_AttributeRef self, OTF2_StringRef name,
                                      OTF2_StringRef description, OTF2_Type type)
{
    struct loader *const loader = user;
    (void)description, (void)type;
    ADD(loader, attribute, self, name);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_node(void *user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                 OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
    struct loader *const loader = user;
    (void)class_name, (void)parent;
    ADD(loader, node, self, name);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location_group(void *user, OTF2_LocationGroupRef self,
                                           OTF2_StringRef name, OTF2_LocationGroupType type,
                                           OTF2_SystemTreeNodeRef node,
                                           OTF2_LocationGroupRef creator)
{
    struct loader *const loader = user;
    ADD(loader, location_group, self, name, node, creator, type);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t event_count,
                                     OTF2_LocationGroupRef group)
{
    struct loader *const loader = user;
    ADD(loader, location, self, event_count, name, group, type);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical_name, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin_line,
                                   uint32_t end_line)
{
    struct loader *const loader = user;
    (void)flags;
    ADD(loader, region, self, name, canonical_name, description, file, begin_line, end_line,
        paradigm, role);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name,
                                  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                  uint32_t member_count, const uint64_t *members)
{
    struct loader *const loader = user;
    (void)name;
    const bool of_communicators = type == OTF2_GROUP_TYPE_COMM_LOCATIONS ||
                                  type == OTF2_GROUP_TYPE_COMM_GROUP ||
                                  type == OTF2_GROUP_TYPE_COMM_SELF;
    if (!of_communicators) return OTF2_CALLBACK_SUCCESS;
    uint64_t *copy = NULL;
    if (member_count) {
        copy = malloc(member_count * sizeof *copy);
        if (!copy) return out_of_memory(loader);
        memcpy(copy, members, member_count * sizeof *copy);
    }
    const bool global = (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0;
    const size_t before = loader->group_count;
    void *items = loader->group_list;
    if (!cts_timeline_grow(&items, before, &loader->group_capacity, sizeof *loader->group_list)) {
        free(copy);
        return out_of_memory(loader);
    }
    loader->group_list = items;
    loader->group_list[loader->group_count++] =
        (struct raw_group){self, type, paradigm, global, copy, member_count};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_communicator(void *user, OTF2_CommRef self, OTF2_StringRef name,
                                         OTF2_GroupRef group, OTF2_CommRef parent,
                                         OTF2_CommFlag flags)
{
    struct loader *const loader = user;
    (void)flags;
    ADD(loader, communicator, self, name, group, OTF2_UNDEFINED_GROUP, parent);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_inter_communicator(void *user, OTF2_CommRef self, OTF2_StringRef name,
                                               OTF2_GroupRef group, OTF2_GroupRef remote_group,
                                               OTF2_CommRef common, OTF2_CommFlag flags)
{
    struct loader *const loader = user;
    (void)flags;
    ADD(loader, communicator, self, name, group, remote_group, common);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_window(void *user, OTF2_RmaWinRef self, OTF2_StringRef name,
                                   OTF2_CommRef communicator, OTF2_RmaWinFlag flags)
{
    struct loader *const loader = user;
    (void)flags;
    ADD(loader, window, self, name, communicator);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_property(void *user, OTF2_LocationRef location, OTF2_StringRef name,
                                     OTF2_Type type, OTF2_AttributeValue value)
{
    struct loader *const loader = user;
    const uint32_t text = type == OTF2_TYPE_STRING ? value.stringRef : CTS_TIMELINE_NONE;
    ADD(loader, property, location, name, text);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_GlobalDefReaderCallbacks *make_callbacks(void)
{
    OTF2_GlobalDefReaderCallbacks *const c = OTF2_GlobalDefReaderCallbacks_New();
    if (!c) return NULL;
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, on_string);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(c, on_attribute);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, on_node);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, on_location_group);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, on_communicator);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(c, on_inter_communicator);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, on_window);
    OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(c, on_property);
    return c;
}

/* ---- resolving ---- */

static const char *text_of(const struct loader *loader, uint32_t string)
{
    const uint32_t index = cts_references_find(&loader->strings, string);
    return index == CTS_TIMELINE_NONE ? NULL : loader->private->strings[index];
}

static const char *name_of(const struct loader *loader, uint32_t string)
{
    const char *const text = text_of(loader, string);
    return text ? text : "";
}

/* Groups that are not a communicator's: posts and starts of windows name them. */
static bool find_lone_groups(struct loader *loader)
{
    bool *const named = calloc(loader->group_count + 1, sizeof *named);
    loader->lone_groups = calloc(loader->group_count + 1, sizeof *loader->lone_groups);
    if (named && loader->lone_groups) {
        for (size_t i = 0; i < loader->communicator_count; i++) {
            const struct raw_communicator *const raw = &loader->communicator_list[i];
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

static bool resolve_references(struct loader *loader)
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

static void resolve_groups(struct loader *loader)
{
    struct cts_timeline *const t = loader->timeline;
    uint32_t process_count = 0;
    t->group_count = loader->location_group_count;
    for (size_t i = 0; i < t->group_count; i++) {
        const struct raw_location_group *const raw = &loader->location_group_list[i];
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

static enum cts_status resolve_locations(struct loader *loader, struct cts_error *error)
{
    struct cts_timeline *const t = loader->timeline;
    t->location_count = loader->location_count;
    for (size_t i = 0; i < t->location_count; i++) {
        const struct raw_location *const raw = &loader->location_list[i];
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
        const struct raw_property *const raw = &loader->property_list[i];
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

static void resolve_regions(struct loader *loader)
{
    struct cts_timeline *const t = loader->timeline;
    t->region_count = loader->region_count;
    for (size_t i = 0; i < t->region_count; i++) {
        const struct raw_region *const raw = &loader->region_list[i];
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
static const struct raw_group *locations_of_paradigm(const struct loader *loader,
                                                     OTF2_Paradigm paradigm)
{
    for (size_t i = 0; i < loader->group_count; i++)
        if (loader->group_list[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS &&
            loader->group_list[i].paradigm == paradigm)
            return &loader->group_list[i];
    return NULL;
}

/* Members as indices in locations; a member that is none becomes NONE and is warned of. */
static bool resolve_members(struct loader *loader, const struct raw_group *group, uint32_t **ranks,
                            uint32_t *rank_count)
{
    const bool direct = group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS || group->global_members;
    const struct raw_group *const base =
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
                          "members of communicators that are no location of this archive");
    return true;
}

/* They follow the communicators. */
static bool resolve_lone_groups(struct loader *loader)
{
    struct cts_timeline *const t = loader->timeline;
    for (size_t i = 0; i < loader->lone_count; i++) {
        const struct raw_group *const members = &loader->group_list[loader->lone_groups[i]];
        struct cts_timeline_communicator *const c = &t->communicators[t->communicator_count++];
        *c = (struct cts_timeline_communicator){.name = "",
                                                .paradigm = cts_paradigm_of_otf2(members->paradigm),
                                                .parent = CTS_TIMELINE_NONE,
                                                .group = true};
        if (!resolve_members(loader, members, &c->ranks, &c->rank_count)) return false;
    }
    return true;
}

static bool resolve_communicators(struct loader *loader)
{
    struct cts_timeline *const t = loader->timeline;
    struct cts_timeline_private *const p = loader->private;
    t->communicator_count = loader->communicator_count;
    t->world = CTS_TIMELINE_NONE;
    for (size_t i = 0; i < t->communicator_count; i++) {
        const struct raw_communicator *const raw = &loader->communicator_list[i];
        struct cts_timeline_communicator *const c = &t->communicators[i];
        c->name = name_of(loader, raw->name);
        c->parent = cts_references_find(&p->communicators, raw->parent);
        const uint32_t group = cts_references_find(&loader->groups, raw->group);
        const uint32_t remote = cts_references_find(&loader->groups, raw->remote_group);
        if (group != CTS_TIMELINE_NONE) {
            const struct raw_group *const members = &loader->group_list[group];
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

static void resolve_windows(struct loader *loader)
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

static enum cts_status resolve(struct loader *loader, struct cts_error *error)
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

static void release_loader(struct loader *loader)
{
    for (size_t i = 0; i < loader->group_count; i++) free(loader->group_list[i].members);
#define X(name) free(loader->name##_list);
    RAW_LISTS(X)
#undef X
    free(loader->lone_groups);
    cts_references_release(&loader->strings);
    cts_references_release(&loader->nodes);
    cts_references_release(&loader->groups);
}

enum cts_status cts_timeline_read_definitions(struct cts_timeline *timeline,
                                              struct cts_error *error)
{
    struct loader loader = {.timeline = timeline, .private = timeline->private_data};
    OTF2_Reader *const reader = loader.private->reader;
    OTF2_GlobalDefReader *const definitions = OTF2_Reader_GetGlobalDefReader(reader);
    if (!definitions)
        return cts_otf2_fail(error, CTS_FORMAT, OTF2_SUCCESS, "cannot read the definitions");
    OTF2_GlobalDefReaderCallbacks *const callbacks = make_callbacks();
    if (!callbacks) return cts_fail(error, CTS_MEMORY, "no memory for the definitions");
    uint64_t count = 0;
    OTF2_ErrorCode code =
        OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, &loader);
    if (!code) code = OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &count);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    enum cts_status status = CTS_OK;
    if (loader.no_memory)
        status = cts_fail(error, CTS_MEMORY, "no memory for the definitions");
    else if (code)
        status = cts_otf2_fail(error, CTS_FORMAT, code, "cannot read the definitions");
    else
        status = resolve(&loader, error);
    OTF2_Reader_CloseGlobalDefReader(reader, definitions);
    release_loader(&loader);
    return status;
}
