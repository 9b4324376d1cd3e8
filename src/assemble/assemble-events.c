/* The events of one location: numbers of the process become the archive's, local time becomes the
 * first rank's, what a device did becomes ENTER and LEAVE, and what is not in order is put right
 * and counted.
 *
 *   - a time that lies before the one before it (in a thread) is moved up to it;
 *   - a LEAVE closes what was entered after its ENTER and is still open (an exception or a
 *     longjmp()); one without an ENTER is left out;
 *   - what is open at the end is closed at the location's last time;
 *   - activities of a stream do not overlap: one begins when the one before it has ended. */
#include <string.h>

#include "assemble/assemble-private.h"

struct conversion {
    struct cts_assembler *assembler;
    const struct cts_log_process *process;
    const struct cts_location_log *log;
    uint32_t location;
    uint64_t last_ns;       /* of what was written; relative to the global offset */
    uint64_t busy_until_ns; /* of a stream */
    uint64_t written;
    bool has_window;
    CTS_LIST(uint32_t) open; /* regions, innermost last */
};

static uint64_t relative_time(struct conversion *c, uint64_t local_ns)
{
    const uint64_t time = cts_correct_time(c->process, local_ns);
    const uint64_t offset = c->assembler->timeline.global_offset;
    return time > offset ? time - offset : 0;
}

static enum cts_status put(struct conversion *c, struct cts_timeline_event *event,
                           const struct cts_event_attributes *attributes, struct cts_error *error)
{
    if (event->time_ns < c->last_ns) {
        event->time_ns = c->last_ns;
        atomic_fetch_add(&c->assembler->moved_count, 1);
    }
    c->last_ns = event->time_ns;
    c->written++;
    return cts_timeline_write(c->assembler->writer, c->location, event, attributes, error);
}

/* The host's and each stream's part in the making and end of the CUDA window. */
static enum cts_status put_window(struct conversion *c, enum cts_timeline_event_kind kind,
                                  uint64_t time_ns, struct cts_error *error)
{
    struct cts_timeline_event event = {.time_ns = time_ns, .kind = kind};
    event.rma.window = c->process->cuda_window;
    event.rma.remote = CTS_TIMELINE_NONE;
    c->has_window = true;
    return put(c, &event, NULL, error);
}

/* ---- threads ---- */

static enum cts_status put_leave(struct conversion *c, uint64_t time_ns, struct cts_error *error)
{
    struct cts_timeline_event event = {.time_ns = time_ns, .kind = CTS_EVENT_LEAVE};
    event.region = c->open.items[--c->open.count];
    return put(c, &event, NULL, error);
}

static enum cts_status put_enter_or_leave(struct conversion *c, struct cts_timeline_event *event,
                                          const struct cts_event_attributes *attributes,
                                          struct cts_error *error)
{
    if (event->kind == CTS_EVENT_ENTER) {
        const enum cts_status status = CTS_ARRAY_RESERVE(&c->open, c->open.count + 1, error);
        if (status) return status;
        c->open.items[c->open.count++] = event->region;
        return put(c, event, attributes, error);
    }
    size_t depth = c->open.count;
    while (depth > 0 && c->open.items[depth - 1] != event->region) depth--;
    if (!depth) {
        atomic_fetch_add(&c->assembler->unmatched_count, 1);
        return CTS_OK;
    }
    enum cts_status status = CTS_OK;
    while (!status && c->open.count > depth) {
        atomic_fetch_add(&c->assembler->unmatched_count, 1);
        status = put_leave(c, event->time_ns, error);
    }
    c->open.count--;
    return status ? status : put(c, event, attributes, error);
}

/* The process's numbers to the archive's; false: the event names what was never defined. */
static bool translate(const struct conversion *c, struct cts_timeline_event *e)
{
    const struct cts_log_process *const p = c->process;
    uint32_t *communicator = NULL;
    switch (e->kind) {
    case CTS_EVENT_ENTER:
    case CTS_EVENT_LEAVE:
        if (e->region >= p->region_map.count) return false;
        e->region = p->region_map.items[e->region];
        return e->region != CTS_TIMELINE_NONE;
    case CTS_EVENT_MPI_SEND:
    case CTS_EVENT_MPI_RECV:
    case CTS_EVENT_MPI_ISEND:
    case CTS_EVENT_MPI_IRECV:
        communicator = &e->message.communicator;
        break;
    case CTS_EVENT_MPI_COLLECTIVE_END:
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE:
        communicator = &e->collective.communicator;
        break;
    case CTS_EVENT_RMA_WIN_CREATE:
    case CTS_EVENT_RMA_WIN_DESTROY:
    case CTS_EVENT_RMA_COLLECTIVE_END:
    case CTS_EVENT_RMA_GROUP_SYNC:
    case CTS_EVENT_RMA_SYNC:
    case CTS_EVENT_RMA_REQUEST_LOCK:
    case CTS_EVENT_RMA_ACQUIRE_LOCK:
    case CTS_EVENT_RMA_RELEASE_LOCK:
    case CTS_EVENT_RMA_PUT:
    case CTS_EVENT_RMA_GET:
    case CTS_EVENT_RMA_ATOMIC:
    case CTS_EVENT_RMA_OP_COMPLETE_BLOCKING:
    case CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING:
    case CTS_EVENT_RMA_OP_COMPLETE_REMOTE:
        if (e->rma.window >= p->windows.count) return false;
        e->rma.window = p->windows.items[e->rma.window].global;
        if (e->rma.window == CTS_TIMELINE_NONE) return false;
        if (e->kind == CTS_EVENT_RMA_GROUP_SYNC && e->rma.level != CTS_TIMELINE_NONE)
            communicator = &e->rma.level;
        break;
    case CTS_EVENT_THREAD_TEAM_BEGIN:
    case CTS_EVENT_THREAD_TEAM_END:
    case CTS_EVENT_THREAD_TASK_CREATE:
    case CTS_EVENT_THREAD_TASK_SWITCH:
    case CTS_EVENT_THREAD_TASK_COMPLETE:
    case CTS_EVENT_THREAD_CREATE:
    case CTS_EVENT_THREAD_BEGIN:
    case CTS_EVENT_THREAD_WAIT:
    case CTS_EVENT_THREAD_END:
        if (e->thread.communicator != CTS_TIMELINE_NONE) communicator = &e->thread.communicator;
        break;
    default:
        break;
    }
    if (!communicator) return true;
    if (*communicator >= p->communicators.count) return false;
    *communicator = p->communicators.items[*communicator].global;
    return true;
}

static void translate_attributes(const struct conversion *c, struct cts_event_attributes *a)
{
    const uint32_t bit = 1u << CTS_ATTRIBUTE_STREAM_REF;
    if (!(a->present & bit)) return;
    const uint64_t *const place =
        cts_map_find(&c->process->log_of_index, a->values[CTS_ATTRIBUTE_STREAM_REF]);
    if (place && *place)
        a->values[CTS_ATTRIBUTE_STREAM_REF] = c->process->logs.items[*place - 1].location;
    else
        a->present &= ~bit;
}

static enum cts_status convert_event(struct conversion *c, const uint64_t *words, uint32_t count,
                                     struct cts_error *error)
{
    struct cts_timeline_event event;
    struct cts_event_attributes attributes;
    if (!cts_log_unpack_event(words, count, &event, &attributes) || !translate(c, &event)) {
        atomic_fetch_add(&c->assembler->unknown_count, 1);
        return CTS_OK;
    }
    event.time_ns = relative_time(c, event.time_ns);
    if (event.kind == CTS_EVENT_BUFFER_FLUSH)
        event.flush.end_ns = relative_time(c, event.flush.end_ns);
    translate_attributes(c, &attributes);
    if (event.kind == CTS_EVENT_ENTER || event.kind == CTS_EVENT_LEAVE)
        return put_enter_or_leave(c, &event, &attributes, error);
    return put(c, &event, &attributes, error);
}

static enum cts_status convert_thread(struct conversion *c, struct cts_error *error)
{
    struct cts_log_reader reader;
    enum cts_status status = cts_log_open(c->log->path, &reader, error);
    if (status) return status;
    const bool is_host = c->process->cuda_window != CTS_TIMELINE_NONE &&
                         c->assembler->timeline.groups[c->process->group].master == c->location;
    const uint64_t *words;
    uint32_t count;
    enum cts_status ended = CTS_OK;
    while (!status && (words = cts_log_next(&reader, &count, &ended, error))) {
        if (is_host && !c->has_window && count >= 2)
            status = put_window(c, CTS_EVENT_RMA_WIN_CREATE, relative_time(c, words[1]), error);
        if (!status) status = convert_event(c, words, count, error);
    }
    cts_log_reader_close(&reader);
    if (!status && ended == CTS_FORMAT) atomic_fetch_add(&c->assembler->damaged_count, 1);
    if (!status && ended == CTS_IO) status = ended;
    while (!status && c->open.count) status = put_leave(c, c->last_ns, error);
    if (!status && c->has_window)
        status = put_window(c, CTS_EVENT_RMA_WIN_DESTROY, c->last_ns, error);
    return status;
}

/* ---- streams ---- */

static void set(struct cts_event_attributes *attributes, enum cts_attribute id, uint64_t value)
{
    attributes->present |= 1u << id;
    attributes->values[id] = value;
}

/* The launch's shape; extents of 1 and sizes of 0 go without saying (docs/timeline.md). */
static void set_shape(struct cts_event_attributes *attributes, uint32_t present, const uint64_t *w)
{
    static const uint32_t unsaid[CTS_SHAPE_COUNT] = {UINT32_MAX, 1, 1, UINT32_MAX, 1, 1, 0, 0, 0};
    struct cts_timeline_shape shape;
    cts_activity_shape(w, &shape);
    for (unsigned i = 0; i < CTS_SHAPE_COUNT; i++)
        if (present >> (CTS_ATTRIBUTE_GRID_X + i) & 1 && shape.values[i] != unsaid[i])
            set(attributes, (enum cts_attribute)(CTS_ATTRIBUTE_GRID_X + i), shape.values[i]);
}

/* Behind the shape in the record. */
static void set_collective(struct cts_event_attributes *attributes, uint32_t present,
                           const uint64_t *w)
{
    static const enum cts_attribute names[] = {CTS_ATTRIBUTE_COMMUNICATOR, CTS_ATTRIBUTE_SEQUENCE,
                                               CTS_ATTRIBUTE_MEMBERS, CTS_ATTRIBUTE_BYTES};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (present >> names[i] & 1) set(attributes, names[i], w[CTS_ACTIVITY_SHAPED + i]);
}

static enum cts_status put_activity(struct conversion *c, const uint64_t *w, uint64_t start_ns,
                                    uint64_t end_ns, struct cts_error *error)
{
    const uint32_t local = (uint32_t)(w[0] >> 32), present = (uint32_t)w[3];
    struct cts_event_attributes attributes = {.present = 0};
    struct cts_timeline_event event = {.time_ns = start_ns, .kind = CTS_EVENT_ENTER};
    event.region = local;
    if (!translate(c, &event)) {
        atomic_fetch_add(&c->assembler->unknown_count, 1);
        return CTS_OK;
    }
    if (present >> CTS_ATTRIBUTE_CORRELATION & 1) set(&attributes, CTS_ATTRIBUTE_CORRELATION, w[4]);
    set_shape(&attributes, present, w);
    if (present >> CTS_ATTRIBUTE_COMMUNICATOR & 1) set_collective(&attributes, present, w);
    const enum cts_status status = put(c, &event, &attributes, error);
    event.time_ns = end_ns;
    event.kind = CTS_EVENT_LEAVE;
    return status ? status : put(c, &event, NULL, error);
}

/* The stream or host at the other end, as a rank of the process's CUDA communicator. */
static uint32_t other_end(const struct conversion *c, uint32_t kind, uint64_t source)
{
    if (kind == CTS_COPY_DEVICE_TO_DEVICE) return c->log->cuda_rank;
    const uint64_t *const place =
        kind == CTS_COPY_PEER ? cts_map_find(&c->process->log_of_index, source) : NULL;
    if (place && *place && c->process->logs.items[*place - 1].header.kind == CTS_LOG_STREAM)
        return c->process->logs.items[*place - 1].cuda_rank;
    return kind == CTS_COPY_PEER ? c->log->cuda_rank : 0;
}

/* Copies of a stream do not overlap: the number that matches begin and end can be the same, 0. */
static enum cts_status put_copy(struct conversion *c, const uint64_t *w, uint64_t start_ns,
                                uint64_t end_ns, struct cts_error *error)
{
    const uint32_t kind = (uint32_t)(w[0] >> 32);
    struct cts_event_attributes attributes = {.present = 0};
    struct cts_timeline_event event = {.time_ns = start_ns};
    enum cts_status status = CTS_OK;
    if (!c->has_window) status = put_window(c, CTS_EVENT_RMA_WIN_CREATE, start_ns, error);
    event.kind = kind == CTS_COPY_DEVICE_TO_HOST ? CTS_EVENT_RMA_PUT : CTS_EVENT_RMA_GET;
    event.rma.window = c->process->cuda_window;
    event.rma.remote = other_end(c, kind, w[5]);
    event.rma.bytes = w[3];
    if (w[4]) set(&attributes, CTS_ATTRIBUTE_CORRELATION, w[4]);
    if (!status) status = put(c, &event, &attributes, error);
    struct cts_timeline_event completion = {.time_ns = end_ns,
                                            .kind = CTS_EVENT_RMA_OP_COMPLETE_BLOCKING};
    completion.rma.window = event.rma.window;
    return status ? status : put(c, &completion, NULL, error);
}

static enum cts_status convert_item(void *state, const struct cts_stream_item *item,
                                    struct cts_error *error)
{
    struct conversion *const c = state;
    uint64_t start_ns = relative_time(c, item->words[1]);
    uint64_t end_ns = relative_time(c, item->words[2]);
    if (end_ns < start_ns) end_ns = start_ns;
    if (start_ns < c->busy_until_ns) {
        atomic_fetch_add(&c->assembler->overlap_count, 1);
        start_ns = c->busy_until_ns;
        if (end_ns < start_ns) end_ns = start_ns;
    }
    c->busy_until_ns = end_ns;
    if ((item->words[0] & 0xff) == CTS_RECORD_COPY)
        return put_copy(c, item->words, start_ns, end_ns, error);
    return put_activity(c, item->words, start_ns, end_ns, error);
}

static enum cts_status convert_stream(struct conversion *c, struct cts_error *error)
{
    bool damage = false;
    const struct cts_stream_visitor visitor = {convert_item, c};
    enum cts_status status = cts_sort_stream(c->log->path, 0, &visitor, &damage, error);
    if (damage) atomic_fetch_add(&c->assembler->damaged_count, 1);
    if (!status && c->has_window)
        status = put_window(c, CTS_EVENT_RMA_WIN_DESTROY, c->last_ns, error);
    return status;
}

enum cts_status cts_assemble_location(struct cts_assembler *assembler, uint32_t location,
                                      struct cts_error *error)
{
    const struct cts_location_source *const source = &assembler->sources[location];
    enum cts_status status = CTS_OK;
    if (source->process != CTS_TIMELINE_NONE && source->log != CTS_TIMELINE_NONE) {
        const struct cts_log_process *const process = &assembler->processes.items[source->process];
        struct conversion conversion = {
            .assembler = assembler,
            .process = process,
            .log = &process->logs.items[source->log],
            .location = location,
        };
        status = conversion.log->header.kind == CTS_LOG_STREAM ? convert_stream(&conversion, error)
                                                               : convert_thread(&conversion, error);
        atomic_fetch_add(&assembler->event_count, conversion.written);
        free(conversion.open.items);
    }
    return status ? status : cts_timeline_end_location(assembler->writer, location, error);
}
