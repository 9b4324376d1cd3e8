/* Chrome's trace format: one JSON object per event, in any order. An activity is a complete event
 * ("X") on the track of its location: process = rank, thread = location. Two more processes hold
 * the critical path (one track: it is at one place at a time) and the waits (one track per
 * location). Arrows ("s" to "f") lead from launches to what they launched, where the trace joins
 * them by a number, and from what a wait waited for to its end. Times are us with three decimals.
 *
 * Locations are streamed one after the other; open activities are all that is held. */
#include "report/path-chrome.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/json.h"
#include "common/text-stream.h"
#include "common/packing/packed-output.h"

struct frame {
    uint64_t begin_ns;
    uint64_t matching; /* of a copy */
    uint32_t region;
    bool copy;
};

struct chrome {
    const struct cts_path_source *source;
    const struct cts_path *result;
    FILE *file;
    char **names; /* of regions, as JSON strings; then of patterns */
    size_t name_count;
    uint32_t path_pid, wait_pid;
    uint64_t event_count, flow_count;
    /* of the location at hand */
    uint32_t location, pid;
    bool stream;
    uint64_t last_ns;
    struct {
        struct frame *items;
        size_t count, capacity;
    } stack;
    enum cts_status status;
    struct cts_error *error;
};

/* ---- names ---- */

static char *quoted(const char *text)
{
    struct cts_text_stream stream;
    FILE *const memory = cts_text_stream_open(&stream);
    if (!memory) return NULL;
    struct cts_json json;
    cts_json_begin(&json, memory);
    cts_json_string(&json, text ? text : "?");
    return cts_text_stream_close(&stream, NULL);
}

static enum cts_status quote_names(struct chrome *c, struct cts_error *error)
{
    const struct cts_path *const r = c->result;
    c->name_count = r->region_count + CTS_PATH_PATTERN_COUNT;
    c->names = cts_array_zeroed(c->name_count, sizeof *c->names, error);
    if (!c->names) return CTS_MEMORY;
    for (size_t i = 0; i < c->name_count; i++) {
        c->names[i] = quoted(i < r->region_count ? r->region_names[i]
                                                 : cts_path_pattern_names[i - r->region_count]);
        if (!c->names[i]) return cts_fail(error, CTS_MEMORY, "out of memory");
    }
    return CTS_OK;
}

/* ---- events ---- */

static void begin_event(struct chrome *c)
{
    fputs(c->event_count++ ? ",\n" : "\n", c->file);
}

/* A row of the picture. */
struct track {
    uint32_t pid, tid;
};

/* A rectangle on a track. */
struct stretch {
    uint64_t begin_ns, end_ns;
    struct track track;
};

/* One end of an arrow; both have the name and the id. */
struct flow_end {
    const char *name;
    uint64_t id;
    uint64_t time_ns;
    struct track track;
};

/* `name` is a JSON string. */
static void put_complete(struct chrome *c, const char *name, const char *category,
                         struct stretch stretch)
{
    const uint64_t duration_ns = stretch.end_ns - stretch.begin_ns;
    begin_event(c);
    fprintf(c->file,
            "{\"ph\":\"X\",\"name\":%s,\"cat\":\"%s\",\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64
            ".%03u,\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 "}",
            name, category, stretch.begin_ns / 1000, (unsigned)(stretch.begin_ns % 1000),
            duration_ns / 1000, (unsigned)(duration_ns % 1000), stretch.track.pid,
            stretch.track.tid);
}

/* `phase`: 's' where the arrow starts, 'f' where it finishes. */
static void put_flow(struct chrome *c, char phase, const struct flow_end *end)
{
    begin_event(c);
    fprintf(c->file,
            "{\"ph\":\"%c\",\"name\":\"%s\",\"cat\":\"%s\",\"id\":\"%s-%" PRIu64
            "\",\"ts\":%" PRIu64 ".%03u,\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 "%s}",
            phase, end->name, end->name, end->name, end->id, end->time_ns / 1000,
            (unsigned)(end->time_ns % 1000), end->track.pid, end->track.tid,
            phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void put_name(struct chrome *c, const char *what, const char *name, uint32_t pid,
                     uint32_t tid)
{
    char *const text = quoted(name);
    begin_event(c);
    fprintf(c->file,
            "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"args\":{\"name\":%s}}",
            what, pid, tid, text ? text : "\"?\"");
    free(text);
}

static uint32_t pid_of(const struct chrome *c, uint32_t location)
{
    const struct cts_timeline *const timeline = c->result->timeline;
    const uint32_t process = timeline->locations[location].process;
    return process < timeline->group_count ? timeline->groups[process].rank : 0;
}

static void put_names(struct chrome *c)
{
    const struct cts_timeline *const timeline = c->result->timeline;
    for (uint32_t i = 0; i < timeline->group_count; i++) {
        if (timeline->groups[i].accelerator) continue;
        put_name(c, "process_name", timeline->groups[i].name, timeline->groups[i].rank, 0);
        if (timeline->groups[i].rank >= c->path_pid) c->path_pid = timeline->groups[i].rank + 1;
    }
    c->wait_pid = c->path_pid + 1;
    for (uint32_t i = 0; i < timeline->location_count; i++) {
        if (timeline->locations[i].kind == CTS_LOCATION_METRIC) continue;
        put_name(c, "thread_name", timeline->locations[i].name, pid_of(c, i), i);
        put_name(c, "thread_name", timeline->locations[i].name, c->wait_pid, i);
    }
    put_name(c, "process_name", "critical path", c->path_pid, 0);
    put_name(c, "thread_name", "critical path", c->path_pid, 0);
    put_name(c, "process_name", "waits", c->wait_pid, 0);
}

/* ---- a location ---- */

static bool push(struct chrome *c, uint64_t time_ns, uint32_t region, bool copy, uint64_t matching)
{
    if (CTS_ARRAY_RESERVE(&c->stack, c->stack.count + 1, c->error)) {
        c->status = CTS_MEMORY;
        return false;
    }
    c->stack.items[c->stack.count++] = (struct frame){time_ns, matching, region, copy};
    return true;
}

/* Ends frame `index`. */
static void end_frame(struct chrome *c, size_t index, uint64_t time_ns)
{
    const struct frame frame = c->stack.items[index];
    memmove(&c->stack.items[index], &c->stack.items[index + 1],
            (c->stack.count - index - 1) * sizeof frame);
    c->stack.count--;
    const char *const category = frame.copy ? "copy" : c->stream ? "device" : "host";
    put_complete(c, c->names[frame.region], category,
                 (struct stretch){frame.begin_ns, time_ns, {c->pid, c->location}});
}

/* As the analysis reads it: a thread's enters end with what encloses them; on a stream what ends
 * may stand anywhere. */
static void leave(struct chrome *c, uint64_t time_ns, uint32_t region)
{
    size_t index = c->stack.count;
    while (index > 0 &&
           (c->stack.items[index - 1].copy || c->stack.items[index - 1].region != region))
        index--;
    if (!index) return;
    while (!c->stream && c->stack.count > index) end_frame(c, c->stack.count - 1, time_ns);
    end_frame(c, index - 1, time_ns);
}

static uint32_t copy_region(const struct chrome *c, const struct cts_timeline_event *event)
{
    /* the pseudo regions follow the timeline's: to the device, to the host, between devices */
    const struct cts_timeline *const timeline = c->result->timeline;
    uint32_t which = event->kind == CTS_EVENT_RMA_GET ? 0 : 1;
    if (event->rma.window < timeline->window_count) {
        const uint32_t communicator = timeline->windows[event->rma.window].communicator;
        if (communicator < timeline->communicator_count &&
            event->rma.remote < timeline->communicators[communicator].rank_count) {
            const uint32_t remote = timeline->communicators[communicator].ranks[event->rma.remote];
            if (remote < timeline->location_count &&
                timeline->locations[remote].kind == CTS_LOCATION_STREAM)
                which = 2;
        }
    }
    return (uint32_t)timeline->region_count + which;
}

static void end_copy(struct chrome *c, const struct cts_timeline_event *event, uint64_t time_ns)
{
    for (size_t i = 0; i < c->stack.count; i++)
        if (c->stack.items[i].copy && c->stack.items[i].matching == event->rma.matching) {
            end_frame(c, i, time_ns);
            return;
        }
}

static void put_launch(struct chrome *c, const struct cts_event_attributes *attributes,
                       uint64_t time_ns)
{
    if (!attributes || !(attributes->present >> CTS_ATTRIBUTE_CORRELATION & 1)) return;
    const uint64_t id = attributes->values[CTS_ATTRIBUTE_CORRELATION];
    if (!id) return;
    char name[32]; /* the numbers are a process's own */
    snprintf(name, sizeof name, "launch-%" PRIu32, c->pid);
    put_flow(c, c->stream ? 'f' : 's',
             &(struct flow_end){name, id, time_ns, {c->pid, c->location}});
}

static bool visit(void *state, uint32_t location, const struct cts_timeline_event *event,
                  const struct cts_event_attributes *attributes)
{
    struct chrome *const c = state;
    const struct cts_path *const r = c->result;
    (void)location;
    uint64_t now_ns = event->time_ns > r->first_ns ? event->time_ns - r->first_ns : 0;
    if (now_ns < c->last_ns) now_ns = c->last_ns; /* a clock that goes back */
    c->last_ns = now_ns;
    switch (event->kind) {
    case CTS_EVENT_ENTER:
        if (event->region >= r->timeline->region_count) return true;
        if (push(c, now_ns, event->region, false, 0)) put_launch(c, attributes, now_ns);
        break;
    case CTS_EVENT_LEAVE:
        if (event->region < r->timeline->region_count) leave(c, now_ns, event->region);
        break;
    case CTS_EVENT_RMA_GET:
    case CTS_EVENT_RMA_PUT:
        if (c->stream && push(c, now_ns, copy_region(c, event), true, event->rma.matching))
            put_launch(c, attributes, now_ns);
        break;
    case CTS_EVENT_RMA_OP_COMPLETE_BLOCKING:
    case CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING:
        if (c->stream) end_copy(c, event, now_ns);
        break;
    case CTS_EVENT_BUFFER_FLUSH:
        if (event->flush.end_ns > event->time_ns) {
            c->last_ns = now_ns + (event->flush.end_ns - event->time_ns);
            put_complete(c, "\"trace buffer flush\"", "flush",
                         (struct stretch){now_ns, c->last_ns, {c->pid, c->location}});
        }
        break;
    default:
        break;
    }
    return !c->status && !ferror(c->file);
}

static enum cts_status put_location(struct chrome *c, uint32_t location)
{
    c->location = location;
    c->pid = pid_of(c, location);
    c->stream = c->result->timeline->locations[location].kind == CTS_LOCATION_STREAM;
    c->last_ns = 0;
    c->stack.count = 0;
    const enum cts_status status = cts_path_source_read(c->source, location, visit, c, c->error);
    if (status && !c->status) c->status = status;
    while (c->stack.count) end_frame(c, c->stack.count - 1, c->last_ns);
    return c->status;
}

/* ---- path and waits ---- */

static void put_path(struct chrome *c)
{
    const struct cts_path *const r = c->result;
    for (size_t i = r->kept.segments.count; i-- > 0;) {
        const struct cts_path_segment *const segment = &r->kept.segments.items[i];
        const bool latency = segment->latency < r->region_count;
        char name[200];
        const char *const where = r->timeline->locations[segment->location].name;
        if (r->process_count > 1)
            snprintf(name, sizeof name, "rank %" PRIu32 ": %s", pid_of(c, segment->location),
                     where ? where : "?");
        else
            snprintf(name, sizeof name, "%s", where ? where : "?");
        char *const text = latency ? NULL : quoted(name);
        put_complete(c,
                     latency ? c->names[segment->latency]
                     : text  ? text
                             : "\"?\"",
                     latency ? "latency" : "path",
                     (struct stretch){segment->begin_ns - r->first_ns,
                                      segment->end_ns - r->first_ns,
                                      {c->path_pid, 0}});
        free(text);
    }
}

static void put_waits(struct chrome *c)
{
    const struct cts_path *const r = c->result;
    for (size_t i = 0; i < r->kept.wait_count; i++) {
        const struct cts_path_kept_wait *const wait = &r->kept.waits[i];
        const struct track track = {c->wait_pid, wait->location};
        put_complete(c, c->names[r->region_count + wait->pattern], "wait",
                     (struct stretch){wait->begin_ns, wait->end_ns, track});
        if (wait->culprit >= r->timeline->location_count) continue;
        const uint64_t id = c->flow_count++;
        put_flow(c, 's',
                 &(struct flow_end){
                     "waits for", id, wait->culprit_ns, {pid_of(c, wait->culprit), wait->culprit}});
        put_flow(c, 'f', &(struct flow_end){"waits for", id, wait->end_ns, track});
    }
}

/* ---- the file ---- */

static enum cts_status put_all(struct chrome *c, struct cts_error *error)
{
    enum cts_status status = quote_names(c, error);
    if (status) return status;
    fputc('[', c->file);
    put_names(c);
    for (uint32_t i = 0; i < c->result->timeline->location_count && !status; i++)
        if (c->result->timeline->locations[i].kind != CTS_LOCATION_METRIC)
            status = put_location(c, i);
    put_path(c);
    put_waits(c);
    fputs("\n]\n", c->file);
    return status;
}

enum cts_status cts_path_write_chrome(const struct cts_path_source *source,
                                      const struct cts_path *result, const char *path,
                                      uint64_t *event_count, struct cts_error *error)
{
    struct chrome chrome = {.source = source, .result = result, .error = error};
    struct cts_packed_output output;
    const size_t length = strlen(path);
    const bool is_packed = length >= 3 && strcmp(path + length - 3, ".gz") == 0;
    enum cts_status status = cts_packed_output_open(path, is_packed, &output, error);
    if (status) return status;
    chrome.file = output.file;
    status = cts_packed_output_close(&output, put_all(&chrome, error), error);
    for (size_t i = 0; i < chrome.name_count && chrome.names; i++) free(chrome.names[i]);
    free(chrome.names);
    free(chrome.stack.items);
    *event_count = chrome.event_count;
    return status;
}
