/* Kinds of intervals are the timeline's regions and, behind them, what has none: copies and the
 * stay of the path on a location. Calls nest; a call that is never left lasts as long as its
 * location. Intervals are gathered per location in the order of their begins, since a call's end is
 * known only later. */
#include "report/timeline-page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "report/lanes.h"

/* Behind the regions. */
#define EXTRA_KINDS(X)                                                                             \
    X(COPY_TO_DEVICE, "copy to device", "copy")                                                    \
    X(COPY_TO_HOST, "copy to host", "copy")                                                        \
    X(FLUSH, "trace buffer flush", "other")                                                        \
    X(PATH, "critical path", "other")                                                              \
    X(LATENCY, "latency", "latency")
enum extra_kind {
#define X(name, text, class) EXTRA_##name,
    EXTRA_KINDS(X)
#undef X
        EXTRA_COUNT
};

enum { STACK_MAX = 4096 };

struct collect {
    const struct cts_timeline *timeline;
    struct {
        struct cts_lane_interval *items;
        size_t count, capacity;
    } intervals;
    size_t stack[STACK_MAX]; /* of open calls: places in intervals */
    uint32_t depth, deepest;
    uint64_t first_ns, last_ns; /* of the page; of this location */
    uint64_t copy_start_ns, copy_matching;
    uint32_t copy_kind; /* CTS_PATH_NONE-like: UINT32_MAX, no copy is open */
    enum cts_status status;
    struct cts_error *error;
};

/* ---- kinds ---- */

static bool contains(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* cuLaunchKernel, cudaMemcpy, hipMalloc, clFinish; but cull() and cudgel() are somebody's own. */
static bool is_api_name(const char *name)
{
    static const char *const prefixes[] = {"cuda", "cu", "hip", "cl"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0 && isupper((unsigned char)name[length]))
            return true;
    }
    return false;
}

const char *cts_region_class(const struct cts_timeline_region *region)
{
    const char *const name = region->name ? region->name : "";
    switch (region->paradigm) {
    case CTS_PARADIGM_MPI:
        return "mpi";
    case CTS_PARADIGM_OPENMP:
        return "openmp";
    case CTS_PARADIGM_CUDA:
    case CTS_PARADIGM_OPENCL:
        if (strcmp(name, "cuMemset") == 0) return "copy"; /* as it stands on streams */
        if (!is_api_name(name) && region->role != CTS_ROLE_WRAPPER) return "kernel";
        return contains(name, "Synchronize") || contains(name, "Query") ||
                       contains(name, "WaitEvent")
                   ? "synchronise"
                   : "api";
    case CTS_PARADIGM_PTHREAD:
        return region->role == CTS_ROLE_THREAD_WAIT ? "synchronise" : "host";
    case CTS_PARADIGM_MEASUREMENT:
        return "other";
    default:
        return "host";
    }
}

static void write_kinds(struct cts_json *json, const struct cts_timeline *timeline)
{
    static const char *const extra[EXTRA_COUNT][2] = {
#define X(name, text, class) {text, class},
        EXTRA_KINDS(X)
#undef X
    };
    cts_json_key(json, "kinds");
    cts_json_open_array(json);
    for (size_t i = 0; i < timeline->region_count + EXTRA_COUNT; i++) {
        const bool is_region = i < timeline->region_count;
        const size_t place = i - timeline->region_count;
        cts_json_open_object_row(json);
        cts_json_member_string(json, "name",
                               is_region ? timeline->regions[i].name : extra[place][0]);
        cts_json_member_string(
            json, "class", is_region ? cts_region_class(&timeline->regions[i]) : extra[place][1]);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

/* ---- one location ---- */

static bool add(struct collect *collect, const struct cts_lane_interval *interval)
{
    if (CTS_ARRAY_RESERVE(&collect->intervals, collect->intervals.count + 1, collect->error)) {
        collect->status = CTS_MEMORY;
        return false;
    }
    collect->intervals.items[collect->intervals.count++] = *interval;
    return true;
}

static bool enter(struct collect *collect, uint32_t region, uint64_t time_ns)
{
    const struct cts_lane_interval interval = {
        .start_ns = time_ns, .end_ns = UINT64_MAX, .kind = region, .place = collect->depth};
    if (!add(collect, &interval)) return false;
    if (collect->depth < STACK_MAX) collect->stack[collect->depth] = collect->intervals.count - 1;
    collect->depth++;
    if (collect->depth > collect->deepest) collect->deepest = collect->depth;
    return true;
}

static void leave(struct collect *collect, uint64_t time_ns)
{
    if (!collect->depth) return; /* its enter was lost */
    collect->depth--;
    if (collect->depth < STACK_MAX)
        collect->intervals.items[collect->stack[collect->depth]].end_ns = time_ns;
}

/* A copy is a pair of records on a stream, which does one at a time. */
static bool end_copy(struct collect *collect, uint64_t time_ns)
{
    const struct cts_lane_interval interval = {.start_ns = collect->copy_start_ns,
                                               .end_ns = time_ns,
                                               .kind = (uint32_t)collect->timeline->region_count +
                                                       collect->copy_kind};
    if (collect->copy_kind == UINT32_MAX) return true;
    collect->copy_kind = UINT32_MAX;
    if (!collect->deepest) collect->deepest = 1;
    return add(collect, &interval);
}

static bool visit(void *state, uint32_t location, const struct cts_timeline_event *event,
                  const struct cts_event_attributes *attributes)
{
    struct collect *const collect = state;
    (void)location;
    (void)attributes;
    uint64_t now = event->time_ns > collect->first_ns ? event->time_ns - collect->first_ns : 0;
    if (now < collect->last_ns) now = collect->last_ns; /* a clock that goes back */
    collect->last_ns = now;
    switch (event->kind) {
    case CTS_EVENT_ENTER:
        return enter(collect, event->region, now);
    case CTS_EVENT_LEAVE:
        leave(collect, now);
        return true;
    case CTS_EVENT_RMA_GET:
    case CTS_EVENT_RMA_PUT:
        if (collect->timeline->locations[location].kind != CTS_LOCATION_STREAM) return true;
        collect->copy_start_ns = now;
        collect->copy_matching = event->rma.matching;
        collect->copy_kind =
            event->kind == CTS_EVENT_RMA_GET ? EXTRA_COPY_TO_DEVICE : EXTRA_COPY_TO_HOST;
        return true;
    case CTS_EVENT_RMA_OP_COMPLETE_BLOCKING:
        return event->rma.matching == collect->copy_matching ? end_copy(collect, now) : true;
    case CTS_EVENT_BUFFER_FLUSH: {
        const struct cts_lane_interval flush = {
            .start_ns = now,
            .end_ns =
                now +
                (event->flush.end_ns > event->time_ns ? event->flush.end_ns - event->time_ns : 0),
            .kind = (uint32_t)collect->timeline->region_count + EXTRA_FLUSH,
            .place = collect->depth};
        return add(collect, &flush);
    }
    default:
        return true;
    }
}

static enum cts_status write_intervals(struct cts_json *json, struct collect *collect,
                                       struct cts_error *error)
{
    struct cts_lane_writer *const lane = cts_lane_begin(json, error);
    if (!lane) return CTS_MEMORY;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < collect->intervals.count && !status; i++) {
        struct cts_lane_interval *const interval = &collect->intervals.items[i];
        if (interval->end_ns == UINT64_MAX) interval->end_ns = collect->last_ns;
        status = cts_lane_add(lane, interval, error);
    }
    const enum cts_status ended = cts_lane_end(lane, error);
    return status ? status : ended;
}

/* Waits of a location: result->waits are by location and begin. */
static enum cts_status write_waits(struct cts_json *json, const struct cts_path *result,
                                   uint32_t location, struct cts_error *error)
{
    cts_json_key(json, "waits");
    cts_json_open_object(json);
    struct cts_lane_writer *const lane = cts_lane_begin(json, error);
    if (!lane) return CTS_MEMORY;
    enum cts_status status = CTS_OK;
    size_t first = 0, last = result->kept.wait_count;
    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        if (result->kept.waits[middle].location < location)
            first = middle + 1;
        else
            last = middle;
    }
    for (size_t i = first; i < result->kept.wait_count && !status; i++) {
        const struct cts_path_kept_wait *const wait = &result->kept.waits[i];
        if (wait->location != location) break;
        const bool known = wait->culprit != CTS_TIMELINE_NONE;
        const struct cts_lane_interval interval = {
            .start_ns = wait->begin_ns,
            .end_ns = wait->end_ns,
            .kind = wait->pattern,
            .place = known ? wait->culprit + 1 : 0,
            .link_ns = known ? (int64_t)(wait->culprit_ns - wait->begin_ns) : 0};
        status = cts_lane_add(lane, &interval, error);
    }
    const enum cts_status ended = cts_lane_end(lane, error);
    cts_json_close_object(json);
    return status ? status : ended;
}

/* Stays of the path on each location: [starts[l], starts[l + 1]) of `order` are those of l, by
 * time. */
struct stays {
    size_t *starts, *order;
};

static void release_stays(struct stays *stays)
{
    free(stays->starts);
    free(stays->order);
}

/* Segments come last first. */
static enum cts_status sort_stays(const struct cts_path *result, uint32_t location_count,
                                  struct stays *stays, struct cts_error *error)
{
    stays->starts = cts_array_zeroed((size_t)location_count + 2, sizeof *stays->starts, error);
    stays->order = cts_array_zeroed(result->kept.segments.count + 1, sizeof *stays->order, error);
    if (!stays->starts || !stays->order) return CTS_MEMORY;
    size_t *const at = stays->starts + 1; /* where the next one of a location goes */
    for (size_t i = 0; i < result->kept.segments.count; i++)
        at[result->kept.segments.items[i].location + 1]++;
    for (uint32_t l = 0; l < location_count; l++) at[l + 1] += at[l];
    for (size_t i = result->kept.segments.count; i-- > 0;)
        stays->order[at[result->kept.segments.items[i].location]++] = i;
    return CTS_OK;
}

/* What the page shows. */
struct shown {
    const struct cts_path_source *source;
    const struct cts_path *result;
    struct stays stays;
};

/* The stays of the path on a location; `place` and `link_ns` say where it comes from. */
static enum cts_status write_stays(struct cts_json *json, const struct shown *shown,
                                   uint32_t location, struct cts_error *error)
{
    const struct cts_timeline *const timeline = shown->source->timeline;
    const struct cts_path *const result = shown->result;
    const struct stays *const stays = &shown->stays;
    cts_json_key(json, "path");
    cts_json_open_object(json);
    struct cts_lane_writer *const lane = cts_lane_begin(json, error);
    if (!lane) return CTS_MEMORY;
    enum cts_status status = CTS_OK;
    for (size_t i = stays->starts[location]; i < stays->starts[location + 1] && !status; i++) {
        const struct cts_path_segment *const segment =
            &result->kept.segments.items[stays->order[i]];
        const bool comes = stays->order[i] + 1 < result->kept.segments.count;
        const struct cts_path_segment *const before = comes ? segment + 1 : segment;
        const struct cts_lane_interval interval = {
            .start_ns = segment->begin_ns - result->first_ns,
            .end_ns = segment->end_ns - result->first_ns,
            .kind = (uint32_t)timeline->region_count + EXTRA_PATH,
            .place = comes ? before->location + 1 : 0,
            .link_ns = comes ? (int64_t)(before->end_ns - segment->begin_ns) : 0};
        status = cts_lane_add(lane, &interval, error);
    }
    const enum cts_status ended = cts_lane_end(lane, error);
    cts_json_close_object(json);
    return status ? status : ended;
}

static enum cts_status write_location(struct cts_json *json, const struct shown *shown,
                                      uint32_t location, struct cts_error *error)
{
    const struct cts_timeline *const timeline = shown->source->timeline;
    const struct cts_path *const result = shown->result;
    const struct cts_timeline_location *const row = &timeline->locations[location];
    struct collect *const collect = cts_array_zeroed(1, sizeof *collect, error);
    if (!collect) return CTS_MEMORY;
    collect->timeline = timeline;
    collect->first_ns = result->first_ns;
    collect->copy_kind = UINT32_MAX;
    collect->error = error;
    const enum cts_status read =
        cts_path_source_read(shown->source, location, visit, collect, error);
    enum cts_status status = collect->status ? collect->status : read;
    if (!status) {
        cts_json_open_object(json);
        cts_json_member_string(json, "name", row->name);
        cts_json_member_string(
            json, "process",
            row->process != CTS_TIMELINE_NONE ? timeline->groups[row->process].name : NULL);
        cts_json_member_u64(json, "rows", collect->deepest);
        status = write_intervals(json, collect, error);
        if (!status) status = write_stays(json, shown, location, error);
        if (!status) status = write_waits(json, result, location, error);
        cts_json_close_object(json);
    }
    free(collect->intervals.items);
    free(collect);
    return status;
}

enum cts_status cts_timeline_page_write(struct cts_json *json, const struct cts_path_source *source,
                                        const struct cts_path *result, struct cts_error *error)
{
    const struct cts_timeline *const timeline = source->timeline;
    struct shown shown = {.source = source, .result = result};
    enum cts_status status = sort_stays(result, timeline->location_count, &shown.stays, error);
    cts_json_key(json, "timeline");
    cts_json_open_object(json);
    cts_json_member_u64(json, "duration", result->last_ns - result->first_ns);
    write_kinds(json, timeline);
    cts_json_key(json, "patterns");
    cts_json_open_array_row(json);
    for (size_t i = 0; i < CTS_PATH_PATTERN_COUNT; i++)
        cts_json_string(json, cts_path_pattern_names[i]);
    cts_json_close_array(json);
    cts_json_key(json, "locations");
    cts_json_open_array(json);
    for (uint32_t i = 0; i < timeline->location_count && !status; i++)
        status = write_location(json, &shown, i, error);
    cts_json_close_array(json);
    cts_json_close_object(json);
    release_stays(&shown.stays);
    return status;
}
