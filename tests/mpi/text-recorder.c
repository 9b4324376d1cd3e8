/* A recorder that writes one line of text per event, so that what the wrappers report can be seen
 * by itself: preloaded before them, it is the recorder that they find. Lines go to
 * $TEXT_RECORDER/PID.txt:
 *
 *   TIME THREAD KIND [FIELD=VALUE]...      events; THREAD counts from 0
 *   - - DEFINITION FIELD=VALUE...
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/timeline/recorder.h"

struct cts_log {
    uint32_t number;
    char name[64];
};

static FILE *output;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint thread_count, stream_count;
static __thread struct cts_log own_log;
static __thread bool has_log;

static struct {
    char name[128];
} regions[4096];
static uint32_t region_count;
static struct {
    uint32_t creator, number;
    bool group;
} communicators[4096];
static uint32_t communicator_count;
static struct {
    uint32_t communicator;
    char name[64];
} windows[1024];
static uint32_t window_count;

static void open_output(void)
{
    char path[4096];
    const char *const directory = getenv("TEXT_RECORDER");
    if (!directory) return;
    snprintf(path, sizeof(path), "%s/%d.txt", directory, (int)getpid());
    output = fopen(path, "w");
    if (output) setvbuf(output, NULL, _IOLBF, 1 << 16);
}

static bool is_on(void)
{
    pthread_once(&once, open_output);
    return output != NULL;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint32_t region(const struct cts_timeline_region *wanted)
{
    pthread_mutex_lock(&lock);
    uint32_t i = 0;
    while (i < region_count && strcmp(regions[i].name, wanted->name) != 0) i++;
    if (i == region_count) {
        snprintf(regions[i].name, sizeof(regions[i].name), "%s", wanted->name);
        region_count++;
        fprintf(output, "- - REGION name=%s paradigm=%d role=%d line=%u\n", wanted->name,
                (int)wanted->paradigm, (int)wanted->role, wanted->begin_line);
    }
    pthread_mutex_unlock(&lock);
    return i;
}

static struct cts_log *this_thread(void)
{
    if (!is_on()) return NULL;
    if (!has_log) {
        own_log.number = atomic_fetch_add(&thread_count, 1);
        has_log = true;
    }
    return &own_log;
}

static void name_thread(const char *name)
{
    if (is_on()) fprintf(output, "- %u THREAD name=%s\n", this_thread()->number, name);
}

static struct cts_log *stream(const struct cts_recorder_stream *wanted)
{
    static struct {
        struct cts_recorder_stream key;
        struct cts_log log;
    } streams[256];
    pthread_mutex_lock(&lock);
    uint32_t i = 0;
    while (i < stream_count &&
           (streams[i].key.device != wanted->device || streams[i].key.context != wanted->context ||
            streams[i].key.stream != wanted->stream))
        i++;
    if (i == stream_count) {
        streams[i].key = *wanted;
        streams[i].log.number = 1000 + i;
        stream_count++;
        fprintf(output, "- - STREAM number=%u device=%u context=%" PRIu64 " stream=%" PRIu64 "\n",
                1000 + i, wanted->device, wanted->context, wanted->stream);
    }
    pthread_mutex_unlock(&lock);
    return &streams[i].log;
}

static uint32_t communicator(const struct cts_recorder_communicator *wanted)
{
    pthread_mutex_lock(&lock);
    uint32_t i = 0;
    while (i < communicator_count &&
           (communicators[i].creator != wanted->creator ||
            communicators[i].number != wanted->number || communicators[i].group != wanted->group))
        i++;
    if (i == communicator_count) {
        communicators[i].creator = wanted->creator;
        communicators[i].number = wanted->number;
        communicators[i].group = wanted->group;
        communicator_count++;
    }
    if (wanted->group)
        fprintf(output, "- - GROUP number=%u members=", i);
    else
        fprintf(output, "- - COMMUNICATOR id=%u.%u parent=%d.%u name=%s members=", wanted->creator,
                wanted->number, (int)wanted->parent_creator, wanted->parent_number,
                wanted->name ? wanted->name : "");
    for (uint32_t k = 0; wanted->members && k < wanted->member_count; k++)
        fprintf(output, "%s%u", k ? "," : "", wanted->members[k]);
    fprintf(output, "\n");
    pthread_mutex_unlock(&lock);
    return i;
}

static uint32_t window(uint32_t comm, const char *name)
{
    pthread_mutex_lock(&lock);
    uint32_t i = 0;
    while (i < window_count &&
           (windows[i].communicator != comm || strcmp(windows[i].name, name) != 0))
        i++;
    if (i == window_count) {
        windows[i].communicator = comm;
        snprintf(windows[i].name, sizeof(windows[i].name), "%s", name);
        window_count++;
        fprintf(output, "- - WINDOW number=%u comm=%u.%u name=%s\n", i, communicators[comm].creator,
                communicators[comm].number, name);
    }
    pthread_mutex_unlock(&lock);
    return i;
}

static const char *const kinds[CTS_EVENT_KIND_COUNT] = {
    [CTS_EVENT_ENTER] = "ENTER",
    [CTS_EVENT_LEAVE] = "LEAVE",
    [CTS_EVENT_MPI_SEND] = "SEND",
    [CTS_EVENT_MPI_RECV] = "RECV",
    [CTS_EVENT_MPI_ISEND] = "ISEND",
    [CTS_EVENT_MPI_ISEND_COMPLETE] = "ISEND_COMPLETE",
    [CTS_EVENT_MPI_IRECV_REQUEST] = "IRECV_REQUEST",
    [CTS_EVENT_MPI_IRECV] = "IRECV",
    [CTS_EVENT_MPI_REQUEST_TEST] = "REQUEST_TEST",
    [CTS_EVENT_MPI_REQUEST_CANCELLED] = "REQUEST_CANCELLED",
    [CTS_EVENT_MPI_COLLECTIVE_BEGIN] = "COLLECTIVE_BEGIN",
    [CTS_EVENT_MPI_COLLECTIVE_END] = "COLLECTIVE_END",
    [CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST] = "ICOLLECTIVE_REQUEST",
    [CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE] = "ICOLLECTIVE_COMPLETE",
    [CTS_EVENT_RMA_WIN_CREATE] = "WIN_CREATE",
    [CTS_EVENT_RMA_WIN_DESTROY] = "WIN_DESTROY",
    [CTS_EVENT_RMA_COLLECTIVE_BEGIN] = "RMA_COLLECTIVE_BEGIN",
    [CTS_EVENT_RMA_COLLECTIVE_END] = "RMA_COLLECTIVE_END",
    [CTS_EVENT_RMA_GROUP_SYNC] = "GROUP_SYNC",
    [CTS_EVENT_RMA_ACQUIRE_LOCK] = "ACQUIRE_LOCK",
    [CTS_EVENT_RMA_RELEASE_LOCK] = "RELEASE_LOCK",
    [CTS_EVENT_RMA_PUT] = "PUT",
    [CTS_EVENT_RMA_GET] = "GET",
    [CTS_EVENT_RMA_ATOMIC] = "ATOMIC",
    [CTS_EVENT_RMA_OP_COMPLETE_BLOCKING] = "OP_COMPLETE_BLOCKING",
    [CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING] = "OP_COMPLETE_NON_BLOCKING",
    [CTS_EVENT_RMA_OP_COMPLETE_REMOTE] = "OP_COMPLETE_REMOTE",
};

static void print_comm(uint32_t number)
{
    fprintf(output, " comm=%u.%u", communicators[number].creator, communicators[number].number);
}

static void print_fields(const struct cts_timeline_event *event)
{
    switch (event->kind) {
    case CTS_EVENT_ENTER:
    case CTS_EVENT_LEAVE:
        fprintf(output, " region=%s", regions[event->region].name);
        break;
    case CTS_EVENT_MPI_SEND:
    case CTS_EVENT_MPI_RECV:
    case CTS_EVENT_MPI_ISEND:
    case CTS_EVENT_MPI_IRECV:
        print_comm(event->message.communicator);
        fprintf(output, " peer=%u tag=%u bytes=%" PRIu64 " request=%" PRIu64, event->message.peer,
                event->message.tag, event->message.bytes, event->message.request);
        break;
    case CTS_EVENT_MPI_ISEND_COMPLETE:
    case CTS_EVENT_MPI_IRECV_REQUEST:
    case CTS_EVENT_MPI_REQUEST_TEST:
    case CTS_EVENT_MPI_REQUEST_CANCELLED:
        fprintf(output, " request=%" PRIu64, event->message.request);
        break;
    case CTS_EVENT_MPI_COLLECTIVE_END:
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE:
        print_comm(event->collective.communicator);
        fprintf(output, " op=%u root=%d sent=%" PRIu64 " received=%" PRIu64,
                event->collective.operation, (int)event->collective.root,
                event->collective.sent_bytes, event->collective.received_bytes);
        __attribute__((fallthrough));
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST:
        fprintf(output, " request=%" PRIu64, event->collective.request);
        break;
    case CTS_EVENT_MPI_COLLECTIVE_BEGIN:
    case CTS_EVENT_RMA_COLLECTIVE_BEGIN:
        break;
    default:
        fprintf(output,
                " window=%u remote=%d op=%u level=%d bytes=%" PRIu64 " received=%" PRIu64
                " matching=%" PRIu64,
                event->rma.window, (int)event->rma.remote, event->rma.operation,
                (int)event->rma.level, event->rma.bytes, event->rma.received_bytes,
                event->rma.matching);
    }
}

static void event(struct cts_log *log, const struct cts_timeline_event *wanted,
                  const struct cts_event_attributes *attributes)
{
    const char *const kind = kinds[wanted->kind];
    pthread_mutex_lock(&lock);
    fprintf(output, "%" PRIu64 " %u %s", wanted->time_ns ? wanted->time_ns : now_ns(), log->number,
            kind ? kind : "?");
    print_fields(wanted);
    for (unsigned i = 0; attributes && i < CTS_ATTRIBUTE_COUNT; i++) {
        if (!(attributes->present >> i & 1)) continue;
        if (i == CTS_ATTRIBUTE_STREAM_REF) {
            const struct cts_log *const stream_log =
                (const struct cts_log *)(uintptr_t)attributes->values[i];
            fprintf(output, " attribute%u=%u", i, stream_log->number);
        } else {
            fprintf(output, " attribute%u=%" PRIu64, i, attributes->values[i]);
        }
    }
    fprintf(output, "\n");
    pthread_mutex_unlock(&lock);
}

static void enter(struct cts_log *log, uint32_t number)
{
    const struct cts_timeline_event entered = {.kind = CTS_EVENT_ENTER, .region = number};
    event(log, &entered, NULL);
}

static void leave(struct cts_log *log, uint32_t number)
{
    const struct cts_timeline_event left = {.kind = CTS_EVENT_LEAVE, .region = number};
    event(log, &left, NULL);
}

static void mpi(uint32_t rank, uint32_t count)
{
    fprintf(output, "- - MPI rank=%u count=%u\n", rank, count);
}

static void clock_reading(uint64_t local_ns, int64_t offset_ns)
{
    fprintf(output, "- - CLOCK local=%" PRIu64 " offset=%" PRId64 " told=%" PRIu64 "\n", local_ns,
            offset_ns, now_ns());
}

static void lost(const char *what, uint64_t count)
{
    fprintf(output, "- - LOST count=%" PRIu64 " what=%s\n", count, what);
}

static void message(const char *severity, const char *text)
{
    fprintf(output, "- - MESSAGE severity=%s text=%s\n", severity, text);
}

static void unused_stream(struct cts_log *log)
{
    (void)log;
}

static void device(uint32_t number, const char *name, const char *kind)
{
    (void)number;
    (void)name;
    (void)kind;
}

static void activity(struct cts_log *log, const struct cts_recorder_activity *what)
{
    (void)log;
    (void)what;
}

static void copy(struct cts_log *log, const struct cts_recorder_copy *what)
{
    (void)log;
    (void)what;
}

static void finish(void)
{
    if (output) fflush(output);
}

__attribute__((visibility("default"))) const struct cts_recorder *cts_recorder_get(void)
{
    static const struct cts_recorder recorder = {
        .version = CTS_RECORDER_VERSION,
        .is_on = is_on,
        .now_ns = now_ns,
        .region = region,
        .this_thread = this_thread,
        .name_thread = name_thread,
        .stream = stream,
        .stream_destroyed = unused_stream,
        .device = device,
        .communicator = communicator,
        .window = window,
        .enter = enter,
        .leave = leave,
        .event = event,
        .activity = activity,
        .copy = copy,
        .mpi = mpi,
        .clock_reading = clock_reading,
        .lost = lost,
        .message = message,
        .finish = finish,
    };
    return &recorder;
}
