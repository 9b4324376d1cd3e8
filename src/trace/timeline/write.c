/* Writing an archive. Events go to the library's writer of their location, which is opened with the
 * first one; when its chunk is full it is written, and given back when the location ends. The
 * definitions are written last, when the counts are known.
 *
 * Paths: DIRECTORY/NAME.otf2 (the anchor), NAME.def (global definitions), NAME/K.evt and K.def. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/timeline/timeline-private.h"
#include "trace/timeline/write-private.h"

struct location_state {
    OTF2_EvtWriter *writer; /* NULL: not yet opened, or ended */
    OTF2_AttributeList *list;
    uint64_t event_count, last_ns;
    bool ended;
};

struct cts_timeline_writer {
    OTF2_Archive *archive;
    const struct cts_processes *processes;
    const struct cts_timeline *definitions;
    struct cts_timeline_metric *metrics;
    size_t metric_count;
    struct location_state *states;
    uint64_t *group_of_communicator; /* references of groups, for group synchronisation */
    char *path;
};

/* ---- the library's callbacks ---- */

static OTF2_FlushType before_flush(void *user, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final)
{
    (void)user, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = before_flush};

/* By default a writer fills 128 MiB before it flushes; here it gets a few chunks. */
enum { CHUNKS_MAX = 4 };
struct chunks {
    unsigned count;
    void *items[CHUNKS_MAX];
};

static void *allocate_chunk(void *user, OTF2_FileType type, OTF2_LocationRef location,
                            void **per_buffer, uint64_t chunk_bytes)
{
    (void)user, (void)type, (void)location;
    struct chunks *chunks = *per_buffer;
    if (!chunks) *per_buffer = chunks = calloc(1, sizeof *chunks);
    if (!chunks || chunks->count == CHUNKS_MAX) return NULL;
    void *const chunk = malloc(chunk_bytes);
    if (chunk) chunks->items[chunks->count++] = chunk;
    return chunk;
}

static void free_chunks(void *user, OTF2_FileType type, OTF2_LocationRef location,
                        void **per_buffer, bool final)
{
    (void)user, (void)type, (void)location;
    struct chunks *const chunks = *per_buffer;
    while (chunks && chunks->count) free(chunks->items[--chunks->count]);
    if (!final) return;
    free(chunks);
    *per_buffer = NULL;
}

static const OTF2_MemoryCallbacks memory_callbacks = {.otf2_allocate = allocate_chunk,
                                                      .otf2_free_all = free_chunks};

/* ---- opening ---- */

static enum cts_status open_archive(struct cts_timeline_writer *writer,
                                    const struct cts_timeline_writer_options *options,
                                    struct cts_error *error)
{
    if (mkdir(options->directory, 0777) && errno != EEXIST)
        return cts_fail_errno(error, errno, "cannot make '%s'", options->directory);
    writer->archive = OTF2_Archive_Open(options->directory, options->name, OTF2_FILEMODE_WRITE,
                                        OTF2_CHUNK_SIZE_MIN, OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT,
                                        OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!writer->archive) return cts_otf2_fail(error, CTS_IO, OTF2_SUCCESS, "it cannot be made");
    OTF2_ErrorCode code = cts_otf2_lock_archive(writer->archive);
    /* Also after a failure: the library aborts if it closes an archive without them. */
    const OTF2_ErrorCode collectives = cts_otf2_set_collectives(writer->archive, writer->processes);
    if (collectives) writer->archive = NULL; /* it can only be left */
    if (!code) code = collectives;
    if (!code) code = OTF2_Archive_SetFlushCallbacks(writer->archive, &flush_callbacks, NULL);
    if (!code) code = OTF2_Archive_SetMemoryCallbacks(writer->archive, &memory_callbacks, NULL);
    if (!code) code = OTF2_Archive_SetCreator(writer->archive, "ctascope " CTASCOPE_VERSION);
    if (!code && writer->definitions->description)
        code = OTF2_Archive_SetDescription(writer->archive, writer->definitions->description);
    if (!code) code = OTF2_Archive_OpenEvtFiles(writer->archive);
    return code ? cts_otf2_fail(error, CTS_IO, code, "it cannot be made") : CTS_OK;
}

static void free_writer(struct cts_timeline_writer *writer)
{
    if (!writer) return;
    for (size_t i = 0; writer->states && i < writer->definitions->location_count; i++)
        if (writer->states[i].list) OTF2_AttributeList_Delete(writer->states[i].list);
    free(writer->states);
    free(writer->metrics);
    free(writer->group_of_communicator);
    free(writer->path);
    free(writer);
}

enum cts_status cts_timeline_create(const struct cts_timeline_writer_options *options,
                                    const struct cts_timeline *definitions,
                                    struct cts_timeline_writer **out, struct cts_error *error)
{
    *out = NULL;
    struct cts_timeline_writer *const writer = calloc(1, sizeof *writer);
    if (!writer) return cts_fail(error, CTS_MEMORY, "out of memory");
    cts_otf2_catch_errors();
    writer->definitions = definitions;
    writer->processes = options->processes;
    writer->metric_count = options->metric_count;
    writer->states = calloc(definitions->location_count + 1, sizeof *writer->states);
    writer->metrics = calloc(options->metric_count + 1, sizeof *writer->metrics);
    writer->group_of_communicator =
        calloc(definitions->communicator_count + 1, sizeof *writer->group_of_communicator);
    enum cts_status status = CTS_OK;
    if (!writer->states || !writer->metrics || !writer->group_of_communicator ||
        asprintf(&writer->path, "%s/%s.otf2", options->directory, options->name) < 0) {
        writer->path = NULL;
        status = cts_fail(error, CTS_MEMORY, "out of memory");
    }
    if (!status) {
        if (options->metric_count)
            memcpy(writer->metrics, options->metrics,
                   options->metric_count * sizeof *writer->metrics);
        cts_number_groups(definitions, writer->group_of_communicator);
        status = open_archive(writer, options, error);
        if (status) (void)cts_context(error, "cannot write '%s'", writer->path);
    }
    if (status) {
        if (writer->archive) OTF2_Archive_Close(writer->archive);
        free_writer(writer);
        return status;
    }
    *out = writer;
    return CTS_OK;
}

/* ---- events ---- */

static enum cts_status fail(const struct cts_timeline_writer *writer, OTF2_ErrorCode code,
                            uint32_t location, struct cts_error *error)
{
    const uint64_t reference = writer->definitions->locations[location].reference;
    return cts_otf2_fail(error, CTS_IO, code, "cannot write '%s': location %llu", writer->path,
                         (unsigned long long)reference);
}

static enum cts_status open_location(struct cts_timeline_writer *writer, uint32_t location,
                                     struct cts_error *error)
{
    struct location_state *const state = &writer->states[location];
    if (state->ended)
        return cts_fail(error, CTS_USAGE, "cannot write '%s': location %u has ended", writer->path,
                        location);
    cts_otf2_catch_errors();
    const uint64_t reference = writer->definitions->locations[location].reference;
    state->writer = OTF2_Archive_GetEvtWriter(writer->archive, reference);
    if (!state->list) state->list = OTF2_AttributeList_New();
    if (!state->writer || !state->list) return fail(writer, OTF2_SUCCESS, location, error);
    return CTS_OK;
}

static OTF2_ErrorCode add_attributes(const struct cts_timeline_writer *writer,
                                     OTF2_AttributeList *list,
                                     const struct cts_event_attributes *attributes)
{
    OTF2_ErrorCode code = OTF2_SUCCESS;
    for (uint32_t id = 0; id < CTS_ATTRIBUTE_COUNT && !code; id++) {
        if (!(attributes->present >> id & 1)) continue;
        const uint64_t value = attributes->values[id];
        switch (cts_attribute_types[id]) {
        case OTF2_TYPE_LOCATION:
            if (value < writer->definitions->location_count)
                code = OTF2_AttributeList_AddLocationRef(
                    list, id, writer->definitions->locations[value].reference);
            break;
        case OTF2_TYPE_UINT32:
            code = OTF2_AttributeList_AddUint32(list, id, (uint32_t)value);
            break;
        default:
            code = OTF2_AttributeList_AddUint64(list, id, value);
        }
    }
    return code;
}

static OTF2_ErrorCode write_thread_event(OTF2_EvtWriter *w, OTF2_AttributeList *list, uint64_t time,
                                         const struct cts_timeline_event *e)
{
    const uint32_t team = e->thread.communicator, creator = e->thread.creator;
    const uint64_t sequence = e->thread.sequence;
    switch (e->kind) {
    case CTS_EVENT_THREAD_FORK:
        return OTF2_EvtWriter_ThreadFork(w, list, time, OTF2_PARADIGM_OPENMP, e->thread.team_size);
    case CTS_EVENT_THREAD_JOIN:
        return OTF2_EvtWriter_ThreadJoin(w, list, time, OTF2_PARADIGM_OPENMP);
    case CTS_EVENT_THREAD_TEAM_BEGIN:
        return OTF2_EvtWriter_ThreadTeamBegin(w, list, time, team);
    case CTS_EVENT_THREAD_TEAM_END:
        return OTF2_EvtWriter_ThreadTeamEnd(w, list, time, team);
    case CTS_EVENT_THREAD_ACQUIRE_LOCK:
        return OTF2_EvtWriter_ThreadAcquireLock(w, list, time, OTF2_PARADIGM_OPENMP,
                                                (uint32_t)sequence, creator);
    case CTS_EVENT_THREAD_RELEASE_LOCK:
        return OTF2_EvtWriter_ThreadReleaseLock(w, list, time, OTF2_PARADIGM_OPENMP,
                                                (uint32_t)sequence, creator);
    case CTS_EVENT_THREAD_TASK_CREATE:
        return OTF2_EvtWriter_ThreadTaskCreate(w, list, time, team, creator, (uint32_t)sequence);
    case CTS_EVENT_THREAD_TASK_SWITCH:
        return OTF2_EvtWriter_ThreadTaskSwitch(w, list, time, team, creator, (uint32_t)sequence);
    case CTS_EVENT_THREAD_TASK_COMPLETE:
        return OTF2_EvtWriter_ThreadTaskComplete(w, list, time, team, creator, (uint32_t)sequence);
    case CTS_EVENT_THREAD_CREATE:
        return OTF2_EvtWriter_ThreadCreate(w, list, time, team, sequence);
    case CTS_EVENT_THREAD_BEGIN:
        return OTF2_EvtWriter_ThreadBegin(w, list, time, team, sequence);
    case CTS_EVENT_THREAD_WAIT:
        return OTF2_EvtWriter_ThreadWait(w, list, time, team, sequence);
    case CTS_EVENT_THREAD_END:
        return OTF2_EvtWriter_ThreadEnd(w, list, time, team, sequence);
    default:
        return OTF2_ERROR_INVALID_ARGUMENT;
    }
}

static uint32_t root_of(uint32_t root)
{
    return root == CTS_TIMELINE_NONE ? OTF2_UNDEFINED_UINT32 : root;
}

static OTF2_ErrorCode write_rma_event(const struct cts_timeline_writer *writer, OTF2_EvtWriter *w,
                                      OTF2_AttributeList *list, uint64_t time,
                                      const struct cts_timeline_event *e)
{
    const uint32_t win = e->rma.window, remote = e->rma.remote;
    const uint32_t operation = e->rma.operation, level = e->rma.level;
    const uint64_t bytes = e->rma.bytes, matching = e->rma.matching;
    switch (e->kind) {
    case CTS_EVENT_RMA_WIN_CREATE:
        return OTF2_EvtWriter_RmaWinCreate(w, list, time, win);
    case CTS_EVENT_RMA_WIN_DESTROY:
        return OTF2_EvtWriter_RmaWinDestroy(w, list, time, win);
    case CTS_EVENT_RMA_COLLECTIVE_BEGIN:
        return OTF2_EvtWriter_RmaCollectiveBegin(w, list, time);
    case CTS_EVENT_RMA_COLLECTIVE_END:
        return OTF2_EvtWriter_RmaCollectiveEnd(w, list, time, (OTF2_CollectiveOp)operation, level,
                                               win, root_of(remote), bytes, e->rma.received_bytes);
    case CTS_EVENT_RMA_GROUP_SYNC: {
        const bool known = level < writer->definitions->communicator_count;
        const uint64_t group = known ? writer->group_of_communicator[level] : OTF2_UNDEFINED_GROUP;
        return OTF2_EvtWriter_RmaGroupSync(w, list, time, operation, win, (OTF2_GroupRef)group);
    }
    case CTS_EVENT_RMA_SYNC:
        return OTF2_EvtWriter_RmaSync(w, list, time, win, remote, (OTF2_RmaSyncType)operation);
    case CTS_EVENT_RMA_REQUEST_LOCK:
        return OTF2_EvtWriter_RmaRequestLock(w, list, time, win, remote, matching,
                                             (OTF2_LockType)operation);
    case CTS_EVENT_RMA_ACQUIRE_LOCK:
        return OTF2_EvtWriter_RmaAcquireLock(w, list, time, win, remote, matching,
                                             (OTF2_LockType)operation);
    case CTS_EVENT_RMA_RELEASE_LOCK:
        return OTF2_EvtWriter_RmaReleaseLock(w, list, time, win, remote, matching);
    case CTS_EVENT_RMA_PUT:
        return OTF2_EvtWriter_RmaPut(w, list, time, win, remote, bytes, matching);
    case CTS_EVENT_RMA_GET:
        return OTF2_EvtWriter_RmaGet(w, list, time, win, remote, bytes, matching);
    case CTS_EVENT_RMA_ATOMIC:
        return OTF2_EvtWriter_RmaAtomic(w, list, time, win, remote, (OTF2_RmaAtomicType)operation,
                                        bytes, e->rma.received_bytes, matching);
    case CTS_EVENT_RMA_OP_COMPLETE_BLOCKING:
        return OTF2_EvtWriter_RmaOpCompleteBlocking(w, list, time, win, matching);
    case CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING:
        return OTF2_EvtWriter_RmaOpCompleteNonBlocking(w, list, time, win, matching);
    case CTS_EVENT_RMA_OP_COMPLETE_REMOTE:
        return OTF2_EvtWriter_RmaOpCompleteRemote(w, list, time, win, matching);
    default:
        return write_thread_event(w, list, time, e);
    }
}

static OTF2_ErrorCode write_event(const struct cts_timeline_writer *writer, OTF2_EvtWriter *w,
                                  OTF2_AttributeList *list, uint64_t time,
                                  const struct cts_timeline_event *e)
{
    const uint32_t peer = e->message.peer, comm = e->message.communicator, tag = e->message.tag;
    const uint64_t bytes = e->message.bytes, request = e->message.request;
    switch (e->kind) {
    case CTS_EVENT_ENTER:
        return OTF2_EvtWriter_Enter(w, list, time, e->region);
    case CTS_EVENT_LEAVE:
        return OTF2_EvtWriter_Leave(w, list, time, e->region);
    case CTS_EVENT_MPI_SEND:
        return OTF2_EvtWriter_MpiSend(w, list, time, peer, comm, tag, bytes);
    case CTS_EVENT_MPI_RECV:
        return OTF2_EvtWriter_MpiRecv(w, list, time, peer, comm, tag, bytes);
    case CTS_EVENT_MPI_ISEND:
        return OTF2_EvtWriter_MpiIsend(w, list, time, peer, comm, tag, bytes, request);
    case CTS_EVENT_MPI_ISEND_COMPLETE:
        return OTF2_EvtWriter_MpiIsendComplete(w, list, time, request);
    case CTS_EVENT_MPI_IRECV_REQUEST:
        return OTF2_EvtWriter_MpiIrecvRequest(w, list, time, request);
    case CTS_EVENT_MPI_IRECV:
        return OTF2_EvtWriter_MpiIrecv(w, list, time, peer, comm, tag, bytes, request);
    case CTS_EVENT_MPI_REQUEST_TEST:
        return OTF2_EvtWriter_MpiRequestTest(w, list, time, request);
    case CTS_EVENT_MPI_REQUEST_CANCELLED:
        return OTF2_EvtWriter_MpiRequestCancelled(w, list, time, request);
    case CTS_EVENT_MPI_COLLECTIVE_BEGIN:
        return OTF2_EvtWriter_MpiCollectiveBegin(w, list, time);
    case CTS_EVENT_MPI_COLLECTIVE_END:
        return OTF2_EvtWriter_MpiCollectiveEnd(
            w, list, time, (OTF2_CollectiveOp)e->collective.operation, e->collective.communicator,
            root_of(e->collective.root), e->collective.sent_bytes, e->collective.received_bytes);
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST:
        return OTF2_EvtWriter_NonBlockingCollectiveRequest(w, list, time, e->collective.request);
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE:
        return OTF2_EvtWriter_NonBlockingCollectiveComplete(
            w, list, time, (OTF2_CollectiveOp)e->collective.operation, e->collective.communicator,
            root_of(e->collective.root), e->collective.sent_bytes, e->collective.received_bytes,
            e->collective.request);
    case CTS_EVENT_BUFFER_FLUSH:
        return OTF2_EvtWriter_BufferFlush(w, list, time,
                                          e->flush.end_ns + writer->definitions->global_offset);
    case CTS_EVENT_MEASUREMENT_ON_OFF:
        return OTF2_EvtWriter_MeasurementOnOff(w, list, time,
                                               e->on ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF);
    default:
        return write_rma_event(writer, w, list, time, e);
    }
}

/* What goes without saying on this event; NULL. */
static const struct cts_timeline_shape *shape_of(const struct cts_timeline_writer *writer,
                                                 const struct cts_timeline_event *event)
{
    if (event->kind != CTS_EVENT_ENTER || event->region >= writer->definitions->region_count)
        return NULL;
    const struct cts_timeline_region *const region = &writer->definitions->regions[event->region];
    return region->shape.values[0] && region->paradigm == CTS_PARADIGM_CUDA ? &region->shape : NULL;
}

enum cts_status cts_timeline_write(struct cts_timeline_writer *writer, uint32_t location,
                                   const struct cts_timeline_event *event,
                                   const struct cts_event_attributes *attributes,
                                   struct cts_error *error)
{
    struct location_state *const state = &writer->states[location];
    if (!state->writer) {
        const enum cts_status status = open_location(writer, location, error);
        if (status) return status;
    }
    if (event->time_ns < state->last_ns)
        return cts_fail(
            error, CTS_USAGE, "cannot write '%s': location %llu goes back in time by %llu ns",
            writer->path, (unsigned long long)writer->definitions->locations[location].reference,
            (unsigned long long)(state->last_ns - event->time_ns));
    OTF2_ErrorCode code = OTF2_SUCCESS;
    OTF2_AttributeList *list = NULL;
    struct cts_event_attributes shortened;
    const struct cts_timeline_shape *const shape = shape_of(writer, event);
    if (shape) {
        shortened = attributes ? *attributes : (struct cts_event_attributes){.present = 0};
        cts_shape_leave_out(shape, &shortened);
        attributes = &shortened;
    }
    if (attributes && attributes->present) {
        list = state->list;
        code = add_attributes(writer, list, attributes);
    }
    const uint64_t time = event->time_ns + writer->definitions->global_offset;
    if (!code) code = write_event(writer, state->writer, list, time, event);
    if (list) OTF2_AttributeList_RemoveAllAttributes(list);
    if (code) return fail(writer, code, location, error);
    state->last_ns = event->time_ns;
    state->event_count++;
    return CTS_OK;
}

enum cts_status cts_timeline_write_metric(struct cts_timeline_writer *writer, uint32_t location,
                                          struct cts_metric_value metric_value,
                                          struct cts_error *error)
{
    struct location_state *const state = &writer->states[location];
    if (!state->writer) {
        const enum cts_status status = open_location(writer, location, error);
        if (status) return status;
    }
    if (metric_value.metric >= writer->metric_count || metric_value.time_ns < state->last_ns)
        return cts_fail(error, CTS_USAGE, "cannot write '%s': no such metric, or back in time",
                        writer->path);
    const bool is_double = writer->metrics[metric_value.metric].is_double;
    const OTF2_Type type = is_double ? OTF2_TYPE_DOUBLE : OTF2_TYPE_UINT64;
    OTF2_MetricValue number = {.floating_point = metric_value.value};
    if (!is_double) number.unsigned_int = metric_value.value > 0 ? (uint64_t)metric_value.value : 0;
    const OTF2_ErrorCode code = OTF2_EvtWriter_Metric(
        state->writer, NULL, metric_value.time_ns + writer->definitions->global_offset,
        metric_value.metric, 1, &type, &number);
    if (code) return fail(writer, code, location, error);
    state->last_ns = metric_value.time_ns;
    state->event_count++;
    return CTS_OK;
}

/* A location that had no event gets an empty file, so that whoever looks for it finds it. */
enum cts_status cts_timeline_end_location(struct cts_timeline_writer *writer, uint32_t location,
                                          struct cts_error *error)
{
    struct location_state *const state = &writer->states[location];
    if (!state->writer) {
        const enum cts_status status =
            state->ended ? CTS_OK : open_location(writer, location, error);
        if (status || !state->writer) return status;
    }
    state->ended = true;
    cts_otf2_catch_errors();
    const OTF2_ErrorCode code =
        cts_otf2_caught(OTF2_Archive_CloseEvtWriter(writer->archive, state->writer));
    state->writer = NULL;
    OTF2_AttributeList_Delete(state->list);
    state->list = NULL;
    return code ? fail(writer, code, location, error) : CTS_OK;
}

/* ---- the end ---- */

static bool is_alone(const struct cts_timeline_writer *writer)
{
    return !writer->processes || writer->processes->count < 2;
}

static OTF2_ErrorCode write_local_definitions(struct cts_timeline_writer *writer)
{
    OTF2_ErrorCode code = OTF2_Archive_OpenDefFiles(writer->archive);
    for (size_t i = 0; i < writer->definitions->location_count && !code; i++) {
        if (!writer->states[i].ended) continue; /* another process's */
        OTF2_DefWriter *const local =
            OTF2_Archive_GetDefWriter(writer->archive, writer->definitions->locations[i].reference);
        code = local ? OTF2_Archive_CloseDefWriter(writer->archive, local)
                     : OTF2_ERROR_INVALID_ARGUMENT;
    }
    return code ? code : OTF2_Archive_CloseDefFiles(writer->archive);
}

static enum cts_status end_all(struct cts_timeline_writer *writer, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (uint32_t i = 0; i < writer->definitions->location_count && !status; i++)
        if (is_alone(writer) || writer->states[i].writer)
            status = cts_timeline_end_location(writer, i, error);
    return status;
}

/* Each location's count is known to the process that wrote it; the first writes the definitions. */
static OTF2_ErrorCode write_global_definitions(struct cts_timeline_writer *writer)
{
    uint64_t duration_ns = 0;
    const size_t count = writer->definitions->location_count;
    uint64_t *const counts = calloc(count + 1, sizeof *counts);
    if (!counts) return OTF2_ERROR_MEM_FAULT;
    for (size_t i = 0; i < count; i++) {
        counts[i] = writer->states[i].event_count;
        if (writer->states[i].last_ns > duration_ns) duration_ns = writer->states[i].last_ns;
    }
    cts_processes_reduce_u64(writer->processes, counts, count, CTS_REDUCE_SUM);
    cts_processes_reduce_u64(writer->processes, &duration_ns, 1, CTS_REDUCE_MAX);
    OTF2_ErrorCode code = OTF2_SUCCESS;
    if (is_alone(writer) || writer->processes->rank == 0) {
        const struct cts_definitions_to_write what = {
            .definitions = writer->definitions,
            .event_counts = counts,
            .duration_ns = duration_ns,
            .metrics = writer->metrics,
            .metric_count = writer->metric_count,
        };
        OTF2_GlobalDefWriter *const global = OTF2_Archive_GetGlobalDefWriter(writer->archive);
        code = global ? cts_write_definitions(global, &what) : OTF2_ERROR_MEM_FAULT;
        if (!code) code = OTF2_Archive_CloseGlobalDefWriter(writer->archive, global);
    }
    free(counts);
    return code;
}

/* Together the processes go on or stop: the next step waits for all of them. */
static void agree(const struct cts_timeline_writer *writer, enum cts_status *status,
                  OTF2_ErrorCode code, struct cts_error *error)
{
    code = cts_otf2_caught(code);
    if (!*status && code)
        *status = cts_otf2_fail(error, CTS_IO, code, "cannot write '%s'", writer->path);
    (void)cts_processes_agree(writer->processes, status, error);
}

/* What the archive lacks, where its readers look first. The library takes a line of text. */
static OTF2_ErrorCode write_gaps(const struct cts_timeline_writer *writer)
{
    const struct cts_gaps *const gaps = &writer->definitions->gaps;
    OTF2_ErrorCode code = OTF2_SUCCESS;
    if (writer->processes && writer->processes->rank) return code;
    for (size_t i = 0; i < gaps->named_count && !code; i++) {
        char name[sizeof CTS_OTF2_MISSING + 20], text[1000];
        snprintf(name, sizeof name, CTS_OTF2_MISSING "%zu", i);
        snprintf(text, sizeof text, "%s", gaps->texts[i]);
        for (char *c = text; *c; c++)
            if (*c == '\n') *c = ' ';
        code = OTF2_Archive_SetProperty(writer->archive, name, text, true);
    }
    return code;
}

enum cts_status cts_timeline_finish(struct cts_timeline_writer *writer, struct cts_error *error)
{
    if (!writer) return CTS_OK;
    cts_otf2_catch_errors();
    enum cts_status status = end_all(writer, error);
    agree(writer, &status, OTF2_SUCCESS, error);
    if (!status) agree(writer, &status, OTF2_Archive_CloseEvtFiles(writer->archive), error);
    if (!status) agree(writer, &status, write_local_definitions(writer), error);
    if (!status) agree(writer, &status, write_global_definitions(writer), error);
    if (!status) agree(writer, &status, write_gaps(writer), error);
    const OTF2_ErrorCode closed = cts_otf2_caught(OTF2_Archive_Close(writer->archive));
    if (!status && closed)
        status = cts_otf2_fail(error, CTS_IO, closed, "cannot write '%s'", writer->path);
    free_writer(writer);
    return status;
}
