/* Gathers the global definitions of an archive: see definitions.h. */
#include <string.h>

#include "trace/timeline/definitions.h"

#define ADD(loader, name, ...)                                                                     \
    do {                                                                                           \
        void *items = (loader)->name##_list;                                                       \
        if (!cts_timeline_grow(&items, (loader)->name##_count, &(loader)->name##_capacity,         \
                               sizeof(struct cts_raw_##name)))                                     \
            return out_of_memory(loader);                                                          \
        (loader)->name##_list = items;                                                             \
        (loader)->name##_list[(loader)->name##_count++] = (struct cts_raw_##name){__VA_ARGS__};    \
    } while (0)

static OTF2_CallbackCode out_of_memory(struct cts_definition_loader *loader)
{
    loader->no_memory = true;
    return OTF2_CALLBACK_INTERRUPT;
}

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length,
                                  uint64_t realtime)
{
    struct cts_definition_loader *const loader = user;
    (void)realtime;
    loader->has_clock = true;
    loader->timeline->ticks_per_second = resolution;
    loader->timeline->global_offset = offset;
    loader->timeline->duration_ns = length; /* still ticks */
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *user, OTF2_StringRef self, const char *text)
{
    struct cts_definition_loader *const loader = user;
    const uint32_t index = (uint32_t)loader->private->string_count;
    if (!cts_timeline_keep(loader->private, text ? text : "") ||
        !cts_references_add(&loader->strings, self, index))
        return out_of_memory(loader);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_attribute(void *user, OTF2_AttributeRef self, OTF2_StringRef name,
                                      OTF2_StringRef description, OTF2_Type type)
{
    struct cts_definition_loader *const loader = user;
    (void)description, (void)type;
    ADD(loader, attribute, self, name);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_node(void *user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                 OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
    struct cts_definition_loader *const loader = user;
    (void)class_name, (void)parent;
    ADD(loader, node, self, name);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location_group(void *user, OTF2_LocationGroupRef self,
                                           OTF2_StringRef name, OTF2_LocationGroupType type,
                                           OTF2_SystemTreeNodeRef node,
                                           OTF2_LocationGroupRef creator)
{
    struct cts_definition_loader *const loader = user;
    ADD(loader, location_group, self, name, node, creator, type);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t event_count,
                                     OTF2_LocationGroupRef group)
{
    struct cts_definition_loader *const loader = user;
    ADD(loader, location, self, event_count, name, group, type);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical_name, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin_line,
                                   uint32_t end_line)
{
    struct cts_definition_loader *const loader = user;
    (void)flags;
    ADD(loader, region, self, name, canonical_name, description, file, begin_line, end_line,
        paradigm, role);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name,
                                  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                  uint32_t member_count, const uint64_t *members)
{
    struct cts_definition_loader *const loader = user;
    (void)name;
    const bool of_communicators = type == OTF2_GROUP_TYPE_COMM_LOCATIONS ||
                                  type == OTF2_GROUP_TYPE_COMM_GROUP ||
                                  type == OTF2_GROUP_TYPE_COMM_SELF;
    if (!of_communicators) return OTF2_CALLBACK_SUCCESS;
    const bool global = (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0;
    ADD(loader, group, self, type, paradigm, global, NULL, 0);
    if (!member_count) return OTF2_CALLBACK_SUCCESS;
    struct cts_raw_group *const group = &loader->group_list[loader->group_count - 1];
    group->members = malloc(member_count * sizeof *group->members);
    if (!group->members) return out_of_memory(loader);
    group->member_count = member_count;
    memcpy(group->members, members, member_count * sizeof *group->members);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_communicator(void *user, OTF2_CommRef self, OTF2_StringRef name,
                                         OTF2_GroupRef group, OTF2_CommRef parent,
                                         OTF2_CommFlag flags)
{
    struct cts_definition_loader *const loader = user;
    (void)flags;
    ADD(loader, communicator, self, name, group, OTF2_UNDEFINED_GROUP, parent);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_inter_communicator(void *user, OTF2_CommRef self, OTF2_StringRef name,
                                               OTF2_GroupRef group, OTF2_GroupRef remote_group,
                                               OTF2_CommRef common, OTF2_CommFlag flags)
{
    struct cts_definition_loader *const loader = user;
    (void)flags;
    ADD(loader, communicator, self, name, group, remote_group, common);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_window(void *user, OTF2_RmaWinRef self, OTF2_StringRef name,
                                   OTF2_CommRef communicator, OTF2_RmaWinFlag flags)
{
    struct cts_definition_loader *const loader = user;
    (void)flags;
    ADD(loader, window, self, name, communicator);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_property(void *user, OTF2_LocationRef location, OTF2_StringRef name,
                                     OTF2_Type type, OTF2_AttributeValue value)
{
    struct cts_definition_loader *const loader = user;
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

static void release_loader(struct cts_definition_loader *loader)
{
    for (size_t i = 0; i < loader->group_count; i++) free(loader->group_list[i].members);
#define X(name) free(loader->name##_list);
    CTS_RAW_LISTS(X)
#undef X
    free(loader->lone_groups);
    cts_references_release(&loader->strings);
    cts_references_release(&loader->nodes);
    cts_references_release(&loader->groups);
}

enum cts_status cts_timeline_read_definitions(struct cts_timeline *timeline,
                                              struct cts_error *error)
{
    struct cts_definition_loader loader = {.timeline = timeline, .private = timeline->private_data};
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
        status = cts_definitions_resolve(&loader, error);
    OTF2_Reader_CloseGlobalDefReader(reader, definitions);
    release_loader(&loader);
    return status;
}
