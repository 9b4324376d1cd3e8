/* The global definitions of an archive, dense.
 *
 *   library --callbacks--> raw records by the archive's references --resolve--> struct cts_timeline
 *             read-definitions.c                                resolve-definitions.c
 *
 * Definitions may name others that come later, and a hostile archive names some that never come:
 * so everything is gathered first, then looked up. A location without a group, a communicator
 * without members and the like are kept with NONE or nothing in place; what analyses index by is
 * always in range. */
#ifndef CTS_TRACE_TIMELINE_DEFINITIONS_H
#define CTS_TRACE_TIMELINE_DEFINITIONS_H

#include "trace/timeline/timeline-private.h"

/* As the library gives them: references, of strings too, that may be of nothing. */
struct cts_raw_location {
    uint64_t reference, event_count;
    uint32_t name, group;
    OTF2_LocationType type;
};
struct cts_raw_location_group {
    uint32_t reference, name, node, creator;
    OTF2_LocationGroupType type;
};
struct cts_raw_node {
    uint32_t reference, name;
};
struct cts_raw_region {
    uint32_t reference, name, canonical_name, description, file, begin_line, end_line;
    OTF2_Paradigm paradigm;
    OTF2_RegionRole role;
};
struct cts_raw_group {
    uint32_t reference;
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    bool global_members;
    uint64_t *members;
    uint32_t member_count;
};
struct cts_raw_communicator {
    uint32_t reference, name, group, remote_group, parent;
};
struct cts_raw_window {
    uint32_t reference, name, communicator;
};
struct cts_raw_attribute {
    uint32_t reference, name;
};
struct cts_raw_property {
    uint64_t location;
    uint32_t name, text; /* text: a string's reference, NONE for other types */
};

#define CTS_RAW_LISTS(X)                                                                           \
    X(location)                                                                                    \
    X(location_group)                                                                              \
    X(node)                                                                                        \
    X(region)                                                                                      \
    X(group)                                                                                       \
    X(communicator)                                                                                \
    X(window)                                                                                      \
    X(attribute)                                                                                   \
    X(property)

/* What was gathered, and where it goes; lists in the order of the archive. */
struct cts_definition_loader {
    struct cts_timeline *timeline;
    struct cts_timeline_private *private;
    bool no_memory;
    bool has_clock;                               /* its ticks are in the timeline */
    struct cts_references strings, nodes, groups; /* groups: of group_list */
#define X(name)                                                                                    \
    struct cts_raw_##name *name##_list;                                                            \
    size_t name##_count, name##_capacity;
    CTS_RAW_LISTS(X)
#undef X
    uint32_t *lone_groups; /* in group_list: those of no communicator */
    size_t lone_count;
};

/* Makes the timeline's definitions of what was gathered. Its arrays are the timeline's and freed
 * with it, also after a failure: CTS_FORMAT, CTS_MEMORY. */
CTS_MUST_CHECK enum cts_status cts_definitions_resolve(struct cts_definition_loader *loader,
                                                       struct cts_error *error);

#endif
