/* The global definitions of an archive that we write, in the order in which readers like them:
 * clock, paradigms, system tree, groups, locations, regions, communicators, windows, attributes,
 * metrics.
 *
 * The members of communicators are numbers in the list of all locations that communicate in their
 * paradigm; that list is the union of all members: for MPI the masters by rank, for CUDA hosts and
 * streams. References are our indices; groups are numbered: one list per paradigm first, then one
 * group per communicator (and one more for the other half of an inter-communicator). What is only a
 * group has no communicator, and the reference of one is left out. */
#include <string.h>

#include "common/map.h"
#include "trace/timeline/write-private.h"

const OTF2_Type cts_attribute_types[CTS_ATTRIBUTE_COUNT] = {
#define X(name, text, type) [CTS_ATTRIBUTE_##name] = OTF2_TYPE_##type,
    CTS_ATTRIBUTE_MAP(X)
#undef X
};

static const char *const attribute_descriptions[CTS_ATTRIBUTE_COUNT] = {
    [CTS_ATTRIBUTE_STREAM_REF] = "Referenced CUDA stream",
    [CTS_ATTRIBUTE_EVENT_REF] = "ID (address) of referenced CUDA event",
    [CTS_ATTRIBUTE_RESULT] = "CUDA driver API function result",
    [CTS_ATTRIBUTE_QUEUE_REF] = "Referenced OpenCL queue",
    [CTS_ATTRIBUTE_PARALLEL_REGION] = "OpenMP parallel region",
    [CTS_ATTRIBUTE_CORRELATION] = "Joins a launch and what it launched",
    [CTS_ATTRIBUTE_GRID_X] = "Grid size in x; absent: as the region says",
    [CTS_ATTRIBUTE_GRID_Y] = "Grid size in y; absent: as the region says, else 1",
    [CTS_ATTRIBUTE_GRID_Z] = "Grid size in z; absent: as the region says, else 1",
    [CTS_ATTRIBUTE_BLOCK_X] = "Block size in x; absent: as the region says",
    [CTS_ATTRIBUTE_BLOCK_Y] = "Block size in y; absent: as the region says, else 1",
    [CTS_ATTRIBUTE_BLOCK_Z] = "Block size in z; absent: as the region says, else 1",
    [CTS_ATTRIBUTE_REGISTERS] = "Registers per thread; absent: as the region says, else 0",
    [CTS_ATTRIBUTE_STATIC_SHARED] =
        "Static shared memory in bytes; absent: as the region says, else 0",
    [CTS_ATTRIBUTE_DYNAMIC_SHARED] =
        "Dynamic shared memory in bytes; absent: as the region says, else 0",
    [CTS_ATTRIBUTE_COMMUNICATOR] = "NCCL communicator",
    [CTS_ATTRIBUTE_BYTES] = "Bytes",
    [CTS_ATTRIBUTE_WAITING_TIME] = "Waiting time in ns",
    [CTS_ATTRIBUTE_RELEASE] = "Number, in its process, of what lets other threads go on",
    [CTS_ATTRIBUTE_RELEASED_BY] = "Number of what let this thread go on",
    [CTS_ATTRIBUTE_CPU_TIME] = "Time in ns that the thread was on a processor or ready to run",
};

/* Strings are written when first needed; equal ones once. */
struct output {
    OTF2_GlobalDefWriter *writer;
    const struct cts_definitions_to_write *what;
    OTF2_ErrorCode code;
    uint32_t string_count;
    struct cts_text_map known;
    void *shape_texts; /* known strings lie in it */
};

/* `text` must live until the definitions are written. */
static OTF2_StringRef string(struct output *o, const char *text)
{
    if (!text) return OTF2_UNDEFINED_STRING;
    uint64_t *const known = cts_text_map_at(&o->known, text, NULL); /* its reference + 1 */
    if (!known) {
        o->code = OTF2_ERROR_MEM_FAULT;
        return OTF2_UNDEFINED_STRING;
    }
    if (*known) return (OTF2_StringRef)(*known - 1);
    const uint32_t reference = o->string_count++;
    *known = (uint64_t)reference + 1;
    if (!o->code) o->code = OTF2_GlobalDefWriter_WriteString(o->writer, reference, text);
    return reference;
}

#define WRITE(o, record, ...)                                                                      \
    do {                                                                                           \
        const OTF2_ErrorCode written =                                                             \
            OTF2_GlobalDefWriter_Write##record((o)->writer, __VA_ARGS__);                          \
        if (!(o)->code) (o)->code = written;                                                       \
    } while (0)

/* ---- clock, paradigms, system ---- */

static void write_clock(struct output *o)
{
    WRITE(o, ClockProperties, 1000000000, o->what->definitions->global_offset,
          o->what->duration_ns + 1, OTF2_UNDEFINED_TIMESTAMP);
}

static void write_paradigms(struct output *o)
{
    static const struct {
        enum cts_paradigm paradigm;
        const char *name;
        OTF2_ParadigmClass class;
    } all[] = {
        {CTS_PARADIGM_MPI, "MPI", OTF2_PARADIGM_CLASS_PROCESS},
        {CTS_PARADIGM_CUDA, "CUDA", OTF2_PARADIGM_CLASS_ACCELERATOR},
        {CTS_PARADIGM_OPENCL, "OpenCL", OTF2_PARADIGM_CLASS_ACCELERATOR},
        {CTS_PARADIGM_OPENMP, "OpenMP", OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN},
        {CTS_PARADIGM_PTHREAD, "POSIX Threads", OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const OTF2_Paradigm paradigm = cts_paradigm_to_otf2(all[i].paradigm);
        const OTF2_StringRef name = string(o, all[i].name);
        WRITE(o, Paradigm, paradigm, name, all[i].class);
        if (all[i].class != OTF2_PARADIGM_CLASS_ACCELERATOR) continue;
        const OTF2_AttributeValue yes = {.uint8 = OTF2_TRUE};
        WRITE(o, ParadigmProperty, paradigm, OTF2_PARADIGM_PROPERTY_RMA_ONLY, OTF2_TYPE_UINT8, yes);
    }
}

/* Node 0 is the machine; each host that groups name is a node below it. */
static void write_system(struct output *o)
{
    const struct cts_timeline *const t = o->what->definitions;
    const OTF2_StringRef machine = string(o, "machine"), node = string(o, "node");
    WRITE(o, SystemTreeNode, 0, machine, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    WRITE(o, SystemTreeNodeDomain, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
    uint32_t *const node_of = calloc(t->group_count + 1, sizeof *node_of);
    if (!node_of) {
        o->code = OTF2_ERROR_MEM_FAULT;
        return;
    }
    uint32_t node_count = 1;
    for (size_t i = 0; i < t->group_count; i++) {
        for (size_t k = 0; t->groups[i].host && k < i && !node_of[i]; k++)
            if (t->groups[k].host && strcmp(t->groups[k].host, t->groups[i].host) == 0)
                node_of[i] = node_of[k];
        if (!t->groups[i].host || node_of[i]) continue;
        node_of[i] = node_count++;
        const OTF2_StringRef name = string(o, t->groups[i].host);
        WRITE(o, SystemTreeNode, node_of[i], name, node, 0);
        WRITE(o, SystemTreeNodeDomain, node_of[i], OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
    }
    for (uint32_t i = 0; i < t->group_count; i++) {
        const struct cts_timeline_group *const group = &t->groups[i];
        const OTF2_StringRef name = string(o, group->name ? group->name : "");
        const bool created = group->accelerator && group->creator != CTS_TIMELINE_NONE;
        WRITE(o, LocationGroup, i, name,
              group->accelerator ? OTF2_LOCATION_GROUP_TYPE_ACCELERATOR
                                 : OTF2_LOCATION_GROUP_TYPE_PROCESS,
              node_of[i], created ? group->creator : OTF2_UNDEFINED_LOCATION_GROUP);
    }
    free(node_of);
}

static OTF2_LocationType type_of(enum cts_location_kind kind)
{
    switch (kind) {
    case CTS_LOCATION_THREAD:
        return OTF2_LOCATION_TYPE_CPU_THREAD;
    case CTS_LOCATION_STREAM:
        return OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
    case CTS_LOCATION_METRIC:
        return OTF2_LOCATION_TYPE_METRIC;
    default:
        return OTF2_LOCATION_TYPE_UNKNOWN;
    }
}

static void write_property(struct output *o, uint64_t location, const char *name, const char *text)
{
    const OTF2_StringRef key = string(o, name);
    const OTF2_AttributeValue value = {.stringRef = string(o, text)};
    WRITE(o, LocationProperty, location, key, OTF2_TYPE_STRING, value);
}

static void write_locations(struct output *o)
{
    const struct cts_timeline *const t = o->what->definitions;
    for (size_t i = 0; i < t->location_count; i++) {
        const struct cts_timeline_location *const location = &t->locations[i];
        const OTF2_StringRef name = string(o, location->name ? location->name : "");
        WRITE(o, Location, location->reference, name, type_of(location->kind),
              o->what->event_counts[i], location->group);
        if (location->null_stream)
            write_property(o, location->reference, "CUDA_NULL_STREAM", "yes");
        if (location->non_blocking)
            write_property(o, location->reference, "CUDA_STREAM_FLAGS", "non-blocking");
    }
}

static void write_regions(struct output *o)
{
    const struct cts_timeline *const t = o->what->definitions;
    const OTF2_StringRef none = string(o, "");
    char(*const texts)[CTS_SHAPE_TEXT_MAX] = calloc(t->region_count + 1, sizeof *texts);
    o->shape_texts = texts;
    if (!texts) {
        o->code = OTF2_ERROR_MEM_FAULT;
        return;
    }
    for (uint32_t i = 0; i < t->region_count; i++) {
        const struct cts_timeline_region *const region = &t->regions[i];
        const OTF2_StringRef name = string(o, region->name ? region->name : "");
        const OTF2_StringRef canonical =
            region->canonical_name ? string(o, region->canonical_name) : name;
        const OTF2_StringRef file = region->file ? string(o, region->file) : OTF2_UNDEFINED_STRING;
        OTF2_StringRef description = none;
        if (region->shape.values[0]) {
            cts_shape_describe(&region->shape, texts[i], sizeof texts[i]);
            description = string(o, texts[i]);
        }
        WRITE(o, Region, i, name, canonical, description, cts_role_to_otf2(region->role),
              cts_paradigm_to_otf2(region->paradigm), OTF2_REGION_FLAG_NONE, file,
              region->begin_line, region->end_line);
    }
}

/* ---- communicators ---- */

static uint32_t paradigms_used(const struct cts_timeline *t, enum cts_paradigm *used)
{
    uint32_t count = 0;
    for (size_t i = 0; i < t->communicator_count; i++) {
        bool known = false;
        for (uint32_t k = 0; k < count && !known; k++)
            known = used[k] == t->communicators[i].paradigm;
        if (!known) used[count++] = t->communicators[i].paradigm;
    }
    return count;
}

enum { PARADIGMS_MAX = CTS_PARADIGM_OTHER + 1 };

void cts_number_groups(const struct cts_timeline *t, uint64_t *group_of_communicator)
{
    enum cts_paradigm used[PARADIGMS_MAX];
    uint64_t next = paradigms_used(t, used);
    for (size_t i = 0; i < t->communicator_count; i++) {
        group_of_communicator[i] = next++;
        next += t->communicators[i].remote_ranks != NULL;
    }
}

/* The locations that communicate in a paradigm: members[] in order, number_of[location]. */
struct paradigm_members {
    uint64_t *members;
    uint32_t *number_of;
    uint32_t count;
};

static void add_members(struct paradigm_members *list, const struct cts_timeline *t,
                        const uint32_t *ranks, uint32_t rank_count)
{
    for (uint32_t i = 0; i < rank_count; i++) {
        if (ranks[i] >= t->location_count || list->number_of[ranks[i]] != CTS_TIMELINE_NONE)
            continue;
        list->number_of[ranks[i]] = list->count;
        list->members[list->count++] = t->locations[ranks[i]].reference;
    }
}

/* The world comes first, so that ranks are numbers in it; then the others' members. */
static void gather_members(struct paradigm_members *list, const struct cts_timeline *t,
                           enum cts_paradigm paradigm)
{
    memset(list->number_of, 0xff, t->location_count * sizeof *list->number_of);
    list->count = 0;
    if (t->world < t->communicator_count && t->communicators[t->world].paradigm == paradigm)
        add_members(list, t, t->communicators[t->world].ranks,
                    t->communicators[t->world].rank_count);
    for (size_t i = 0; i < t->communicator_count; i++) {
        const struct cts_timeline_communicator *const c = &t->communicators[i];
        if (c->paradigm != paradigm) continue;
        add_members(list, t, c->ranks, c->rank_count);
        add_members(list, t, c->remote_ranks, c->remote_count);
    }
}
/* A group of a paradigm's processes, by their locations. */
struct group {
    uint64_t reference;
    enum cts_paradigm paradigm;
    const uint32_t *ranks;
    uint32_t rank_count;
    const char *name;
};

static void write_group(struct output *o, const struct group *group,
                        const struct paradigm_members *list)
{
    const struct cts_timeline *const t = o->what->definitions;
    uint64_t *const members = calloc(group->rank_count + 1, sizeof *members);
    if (!members) {
        o->code = OTF2_ERROR_MEM_FAULT;
        return;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < group->rank_count; i++)
        if (group->ranks[i] < t->location_count)
            members[count++] = list->number_of[group->ranks[i]];
    WRITE(o, Group, (OTF2_GroupRef)group->reference, string(o, group->name),
          OTF2_GROUP_TYPE_COMM_GROUP, cts_paradigm_to_otf2(group->paradigm), OTF2_GROUP_FLAG_NONE,
          count, members);
    free(members);
}

static void write_group_of_communicator(struct output *o, uint32_t communicator, uint64_t reference,
                                        const struct paradigm_members *list)
{
    const struct cts_timeline_communicator *const c =
        &o->what->definitions->communicators[communicator];
    if (c->self) {
        const OTF2_StringRef none = string(o, "");
        WRITE(o, Group, (OTF2_GroupRef)reference, none, OTF2_GROUP_TYPE_COMM_SELF,
              cts_paradigm_to_otf2(c->paradigm), OTF2_GROUP_FLAG_NONE, 0, NULL);
        return;
    }
    const char *const name = c->paradigm == CTS_PARADIGM_CUDA ? "CUDA_GROUP" : "";
    write_group(o,
                &(struct group){.reference = reference,
                                .paradigm = c->paradigm,
                                .ranks = c->ranks,
                                .rank_count = c->rank_count,
                                .name = name},
                list);
    if (c->remote_ranks)
        write_group(o,
                    &(struct group){.reference = reference + 1,
                                    .paradigm = c->paradigm,
                                    .ranks = c->remote_ranks,
                                    .rank_count = c->remote_count,
                                    .name = name},
                    list);
}

static void write_communicators(struct output *o, const uint64_t *group_of)
{
    const struct cts_timeline *const t = o->what->definitions;
    for (uint32_t i = 0; i < t->communicator_count; i++) {
        const struct cts_timeline_communicator *const c = &t->communicators[i];
        const OTF2_StringRef name = string(o, c->name ? c->name : "");
        const uint32_t parent = c->parent < t->communicator_count ? c->parent : OTF2_UNDEFINED_COMM;
        const OTF2_GroupRef group = (OTF2_GroupRef)group_of[i];
        if (c->group) continue;
        if (c->remote_ranks)
            WRITE(o, InterComm, i, name, group, group + 1, parent, OTF2_COMM_FLAG_NONE);
        else
            WRITE(o, Comm, i, name, group, parent, OTF2_COMM_FLAG_NONE);
    }
    for (uint32_t i = 0; i < t->window_count; i++) {
        const OTF2_StringRef name = string(o, t->windows[i].name ? t->windows[i].name : "");
        const bool known = t->windows[i].communicator < t->communicator_count;
        WRITE(o, RmaWin, i, name, known ? t->windows[i].communicator : OTF2_UNDEFINED_COMM,
              OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS);
    }
}

/* Readers want groups in ascending order. */
static void write_groups(struct output *o, struct paradigm_members *lists, const uint64_t *group_of)
{
    const struct cts_timeline *const t = o->what->definitions;
    enum cts_paradigm used[PARADIGMS_MAX];
    const uint32_t used_count = paradigms_used(t, used);
    for (uint32_t i = 0; i < used_count; i++) {
        gather_members(&lists[used[i]], t, used[i]);
        const OTF2_StringRef name = string(o, used[i] == CTS_PARADIGM_CUDA ? "CUDA" : "");
        WRITE(o, Group, i, name, OTF2_GROUP_TYPE_COMM_LOCATIONS, cts_paradigm_to_otf2(used[i]),
              OTF2_GROUP_FLAG_NONE, lists[used[i]].count, lists[used[i]].members);
    }
    for (uint32_t i = 0; i < t->communicator_count; i++)
        write_group_of_communicator(o, i, group_of[i], &lists[t->communicators[i].paradigm]);
    write_communicators(o, group_of);
}

static void write_all_groups(struct output *o)
{
    const struct cts_timeline *const t = o->what->definitions;
    struct paradigm_members lists[PARADIGMS_MAX] = {{0}};
    uint64_t *const group_of = calloc(t->communicator_count + 1, sizeof *group_of);
    bool sound = group_of != NULL;
    for (size_t i = 0; i < t->communicator_count && sound; i++) {
        struct paradigm_members *const list = &lists[t->communicators[i].paradigm];
        if (list->members) continue;
        list->members = calloc(t->location_count + 1, sizeof *list->members);
        list->number_of = calloc(t->location_count + 1, sizeof *list->number_of);
        sound = list->members && list->number_of;
    }
    if (sound) {
        cts_number_groups(t, group_of);
        write_groups(o, lists, group_of);
    } else {
        o->code = OTF2_ERROR_MEM_FAULT;
    }
    free(group_of);
    for (size_t i = 0; i < PARADIGMS_MAX; i++) {
        free(lists[i].members);
        free(lists[i].number_of);
    }
}

/* ---- attributes and metrics ---- */

static void write_attributes(struct output *o)
{
    for (uint32_t i = 0; i < CTS_ATTRIBUTE_COUNT; i++) {
        const OTF2_StringRef name = string(o, cts_attribute_names[i]);
        const OTF2_StringRef description = string(o, attribute_descriptions[i]);
        WRITE(o, Attribute, i, name, description, cts_attribute_types[i]);
    }
}

static void write_metrics(struct output *o)
{
    for (uint32_t i = 0; i < o->what->metric_count; i++) {
        const struct cts_timeline_metric *const metric = &o->what->metrics[i];
        const OTF2_StringRef name = string(o, metric->name);
        const OTF2_StringRef description =
            string(o, metric->description ? metric->description : "");
        const OTF2_StringRef unit = string(o, metric->unit ? metric->unit : "");
        WRITE(o, MetricMember, i, name, description, OTF2_METRIC_TYPE_OTHER,
              OTF2_METRIC_ABSOLUTE_POINT, metric->is_double ? OTF2_TYPE_DOUBLE : OTF2_TYPE_UINT64,
              OTF2_BASE_DECIMAL, 0, unit);
        const OTF2_MetricMemberRef member = i;
        WRITE(o, MetricClass, i, 1, &member, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT);
    }
}

OTF2_ErrorCode cts_write_definitions(OTF2_GlobalDefWriter *writer,
                                     const struct cts_definitions_to_write *what)
{
    struct output output = {.writer = writer, .what = what};
    (void)string(&output, "");
    write_clock(&output);
    write_paradigms(&output);
    write_system(&output);
    write_locations(&output);
    write_regions(&output);
    write_all_groups(&output);
    write_attributes(&output);
    write_metrics(&output);
    cts_text_map_release(&output.known);
    free(output.shape_texts);
    return output.code;
}
