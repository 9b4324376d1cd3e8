/* The second half: items in order become a process's logs, laid out as recorders lay them out
 * (docs/timeline.md).
 *
 * Local times are the trace's and 1 ns, since a local time of 0 says that there is none; a reading
 * of the clock takes them to the trace's base. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/array.h"
#include "common/utf8.h"
#include "import/profile-collective.h"
#include "import/profile-rank.h"
#include "trace/log/log-file.h"

enum { LOCAL_BIAS_NS = 1, DEFAULT_STREAM = 7, LATE_MAX = 64, WORDS_MAX = CTS_LOG_RECORD_WORDS_MAX };

struct writing {
    struct cts_profile_rank *rank;
    const struct cts_profile_destination *to;
    struct cts_log_file log; /* of the location at hand */
    uint32_t location;       /* track or stream; NONE: none yet */
    CTS_PROFILE_LIST(struct open_item {
        uint64_t end_ns;
        uint32_t region;
        struct cts_event_attributes leave;
    })
    open;                                        /* innermost last */
    struct cts_profile_host_item late[LATE_MAX]; /* that come again, see cut() */
    unsigned late_count;
    uint64_t words[WORDS_MAX];
};

/* Threads and streams share the numbers of logs. */
static uint32_t log_of_track(uint32_t track)
{
    return 2 * track + 1;
}

static uint32_t log_of_stream(uint32_t stream)
{
    return 2 * stream + 2;
}

static enum cts_status open_log(struct writing *w, const struct cts_log_start *start,
                                struct cts_error *error)
{
    char path[PATH_MAX];
    const int length =
        start->kind == CTS_LOG_DEFINITIONS
            ? snprintf(path, sizeof path, "%s/definitions.log", w->to->directory)
            : snprintf(path, sizeof path, "%s/%u.log", w->to->directory, start->index);
    if (length < 0 || (size_t)length >= sizeof path)
        return cts_fail(error, CTS_USAGE, "the path '%.100s...' is too long", w->to->directory);
    return cts_log_file_create(&w->log, path, start, error);
}

/* ---- threads ---- */

/* Which thread is the main one: that whose number is its process's, else the one with the most
 * calls of CUDA, or events. */
static uint32_t main_track(const struct cts_profile_rank *rank)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < rank->tracks.count; i++) {
        const struct cts_profile_track *const a = &rank->tracks.items[best], *const b =
                                                                                 &rank->tracks
                                                                                      .items[i];
        if (b->calls > a->calls || (b->calls == a->calls && b->items > a->items)) best = i;
    }
    for (uint32_t i = 0; i < rank->tracks.count; i++)
        if (rank->tracks.items[i].pid == rank->tracks.items[best].pid &&
            rank->tracks.items[i].tid == rank->tracks.items[i].pid)
            return i;
    return best;
}

/* The thread id in a log's header: that of the process for its main thread alone. */
static uint32_t thread_id(const struct cts_profile_rank *rank, uint32_t track, uint32_t main)
{
    const uint32_t tid = (uint32_t)rank->tracks.items[track].tid;
    if (track == main) return rank->pid;
    return tid == rank->pid ? UINT32_MAX - (rank->pid == UINT32_MAX) : tid;
}

static void set(struct cts_event_attributes *attributes, enum cts_attribute id, uint64_t value)
{
    attributes->present |= 1u << id;
    attributes->values[id] = value;
}

static void put_event(struct writing *w, enum cts_timeline_event_kind kind, uint64_t time_ns,
                      const struct open_item *item)
{
    const struct cts_timeline_event event = {
        .kind = kind, .time_ns = time_ns + LOCAL_BIAS_NS, .region = item->region};
    (void)cts_log_pack_event(w->words, &event, &item->leave);
    cts_log_file_write(&w->log, w->words);
}

static void leave_until(struct writing *w, uint64_t time_ns)
{
    while (w->open.count && w->open.items[w->open.count - 1].end_ns <= time_ns) {
        const struct open_item *const item = &w->open.items[--w->open.count];
        put_event(w, CTS_EVENT_LEAVE, item->end_ns, item);
    }
}

static bool has_word(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strstr(name, *words)) return true;
    return false;
}

/* NULL: nothing on a device has the correlation. */
static uint64_t *find_work(struct cts_profile_rank *rank, uint64_t correlation)
{
    const bool is_known = correlation && cts_map_find(&rank->work, correlation);
    return is_known ? cts_map_at(&rank->work, correlation, NULL) : NULL;
}

/* What recorders note on a call: what starts work says so on ENTER, what waits or records on LEAVE.
 * An event is known by the call that recorded it; one of which that is not said is like no other.
 */
static void describe_call(struct writing *w, const struct cts_profile_host_item *item,
                          struct cts_event_attributes *enter, struct cts_event_attributes *leave)
{
    static const char *const of_events[] = {"EventRecord", "EventSynchronize", "EventQuery",
                                            "StreamWaitEvent", NULL};
    static const char *const of_streams[] = {"StreamSynchronize", "StreamQuery", NULL};
    static const char *const of_work[] = {"Launch", "Memcpy", "Memset", NULL};
    const char *const name = w->rank->regions.items[item->region].name;
    const bool is_of_event = has_word(name, of_events), is_of_stream = has_word(name, of_streams);
    uint64_t *const work = find_work(w->rank, item->correlation);
    const uint64_t stream = work ? *work & ~CTS_PROFILE_LAUNCHED : 0;
    const bool at_leave = is_of_event || is_of_stream;
    if (stream)
        set(at_leave ? leave : enter, CTS_ATTRIBUTE_STREAM_REF,
            log_of_stream((uint32_t)stream - 1));
    const uint64_t *const record =
        is_of_event ? cts_map_find(&w->rank->waited, item->correlation) : NULL;
    if (is_of_event) {
        const uint64_t own = item->correlation ? item->correlation : item->order << 8 | 1;
        set(leave, CTS_ATTRIBUTE_EVENT_REF, record && *record ? *record : own);
    }
    const bool waits = strstr(name, "Synchronize") || strstr(name, "StreamWaitEvent");
    const bool is_said = is_of_event ? record && *record : stream;
    w->rank->waits_unplaced += at_leave && waits && !is_said;
    if (at_leave || !item->correlation || (!work && !has_word(name, of_work))) return;
    set(enter, CTS_ATTRIBUTE_CORRELATION, item->correlation);
    if (work) *work |= CTS_PROFILE_LAUNCHED;
}

/* Two that overlap without one being inside the other (rounded times, a step that begins inside a
 * function and outlives it): the later one loses either its end or its beginning, whichever is
 * less. True: its beginning, and it comes again when the one around it has ended. */
static bool cut(struct writing *w, struct cts_profile_host_item *item)
{
    const uint64_t within_ns = w->open.count ? w->open.items[w->open.count - 1].end_ns : UINT64_MAX;
    if (item->end_ns <= within_ns) return false;
    const uint64_t end_loss_ns = item->end_ns - within_ns,
                   start_loss_ns = within_ns - item->start_ns;
    const bool later = start_loss_ns < end_loss_ns && w->late_count < LATE_MAX;
    const uint64_t loss_ns = item->lost_ns + (later ? start_loss_ns : end_loss_ns);
    w->rank->clipped += !item->lost_ns;
    if (loss_ns > w->rank->clipped_most_ns) w->rank->clipped_most_ns = loss_ns;
    if (!later) {
        item->end_ns = within_ns;
        return false;
    }
    item->start_ns = within_ns;
    item->lost_ns = loss_ns < UINT32_MAX ? (uint32_t)loss_ns : UINT32_MAX;
    w->late[w->late_count++] = *item;
    return true;
}

static enum cts_status place(struct writing *w, struct cts_profile_host_item *item,
                             struct cts_error *error)
{
    struct open_item entered = {.region = item->region}, opened = {.region = item->region};
    enum cts_status status = CTS_ARRAY_RESERVE(&w->open, w->open.count + 1, error);
    if (status) return status;
    leave_until(w, item->start_ns);
    if (cut(w, item)) return CTS_OK;
    opened.end_ns = item->end_ns;
    const enum cts_profile_class class = w->rank->regions.items[item->region].class;
    if (class == CTS_PROFILE_RUNTIME || class == CTS_PROFILE_DRIVER)
        describe_call(w, item, &entered.leave, &opened.leave);
    if (item->collective) {
        const struct cts_profile_collective *const c =
            &w->rank->collectives.items[item->collective - 1];
        set(&entered.leave, CTS_ATTRIBUTE_COMMUNICATOR, c->group);
        if (c->bytes) set(&entered.leave, CTS_ATTRIBUTE_BYTES, c->bytes);
    }
    put_event(w, CTS_EVENT_ENTER, item->start_ns, &entered);
    w->open.items[w->open.count++] = opened;
    return status;
}

/* Those that come again before `item`; NULL: all. */
static enum cts_status place_late(struct writing *w, const struct cts_profile_host_item *item,
                                  struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    while (w->late_count && !status) {
        unsigned first = 0;
        for (unsigned i = 1; i < w->late_count; i++)
            if (cts_profile_by_nesting(&w->late[i], &w->late[first]) < 0) first = i;
        struct cts_profile_host_item late = w->late[first];
        if (item && cts_profile_by_nesting(item, &late) < 0) break;
        w->late[first] = w->late[--w->late_count];
        status = place(w, &late, error);
    }
    return status;
}

static enum cts_status end_log(struct writing *w, struct cts_error *error)
{
    const enum cts_status status = place_late(w, NULL, error);
    if (w->location != CTS_TIMELINE_NONE) leave_until(w, UINT64_MAX);
    w->location = CTS_TIMELINE_NONE;
    return status ? status : cts_log_file_close(&w->log, error);
}

static enum cts_status begin_track(struct writing *w, uint32_t track, struct cts_error *error)
{
    enum cts_status status = end_log(w, error);
    const struct cts_log_start start = {.kind = CTS_LOG_THREAD,
                                        .index = log_of_track(track),
                                        .pid = w->rank->pid,
                                        .tid = thread_id(w->rank, track, main_track(w->rank))};
    if (!status) status = open_log(w, &start, error);
    if (!status) w->location = track;
    return status;
}

static enum cts_status put_host(void *state, const void *from, struct cts_error *error)
{
    struct writing *const w = state;
    struct cts_profile_host_item item = *(const struct cts_profile_host_item *)from;
    enum cts_status status = CTS_OK;
    if (w->location != item.track) status = begin_track(w, item.track, error);
    if (!status) status = place_late(w, &item, error);
    return status ? status : place(w, &item, error);
}

/* ---- streams ---- */

static enum cts_status begin_stream(struct writing *w, uint32_t stream, struct cts_error *error)
{
    enum cts_status status = cts_log_file_close(&w->log, error);
    const struct cts_profile_stream *const s = &w->rank->streams.items[stream];
    const struct cts_log_start start = {.kind = CTS_LOG_STREAM,
                                        .index = log_of_stream(stream),
                                        .pid = w->rank->pid,
                                        .device = s->device,
                                        .ordinal = s->number,
                                        .flags = s->has_flags ? s->flags
                                                 : s->number == DEFAULT_STREAM
                                                     ? CTS_LOG_NULL_STREAM
                                                     : CTS_LOG_NON_BLOCKING};
    if (!status) status = open_log(w, &start, error);
    if (!status) w->location = stream;
    return status;
}

static uint32_t pack_copy(uint64_t *words, const struct cts_profile_device_item *item)
{
    words[3] = item->bytes;
    words[4] = item->correlation;
    words[5] = log_of_stream(item->stream);
    words[0] = cts_log_word(CTS_RECORD_COPY, 6, false, item->region);
    return 6;
}

/* What the kernel says of its collective; the bits of what it says. */
static uint32_t pack_collective(uint64_t *words, const struct cts_profile_collective *c,
                                int64_t own_rank)
{
    const uint64_t communicator = cts_profile_communicator(c, own_rank);
    const bool is_paired = c->is_send || c->is_receive;
    uint32_t present = 1u << CTS_ATTRIBUTE_COMMUNICATOR | 1u << CTS_ATTRIBUTE_MEMBERS;
    if (!communicator) return 0;
    words[CTS_ACTIVITY_SHAPED] = communicator;
    words[CTS_ACTIVITY_SHAPED + 1] = c->sequence >= 0 ? (uint64_t)c->sequence : 0;
    words[CTS_ACTIVITY_SHAPED + 2] = is_paired ? 2 : c->members;
    words[CTS_ACTIVITY_SHAPED + 3] = c->bytes;
    if (c->sequence >= 0 && !is_paired) /* those of sends and receives are each rank's own */
        present |= 1u << CTS_ATTRIBUTE_SEQUENCE;
    if (c->bytes) present |= 1u << CTS_ATTRIBUTE_BYTES;
    return present;
}

static void pack_activity(uint64_t *words, const struct cts_profile_device_item *item,
                          uint32_t collective)
{
    uint32_t present = item->correlation ? 1u << CTS_ATTRIBUTE_CORRELATION : 0,
             count = CTS_ACTIVITY_PLAIN;
    words[4] = item->correlation;
    memset(words + CTS_ACTIVITY_PLAIN, 0,
           (CTS_ACTIVITY_SHAPED - CTS_ACTIVITY_PLAIN) * sizeof *words);
    if (item->has_shape) {
        for (unsigned i = CTS_ATTRIBUTE_GRID_X; i <= CTS_ATTRIBUTE_DYNAMIC_SHARED; i++)
            present |= 1u << i;
        words[5] = cts_log_pair(item->grid[0], item->grid[1]);
        words[6] = cts_log_pair(item->grid[2], item->block[0]);
        words[7] = cts_log_pair(item->block[1], item->block[2]);
        words[8] = cts_log_pair(0, item->shared_bytes);
        count = CTS_ACTIVITY_SHAPED;
    }
    if (collective) count = CTS_ACTIVITY_OF_COLLECTIVE;
    present |= collective;
    words[3] = cts_log_pair(present, item->registers);
    words[0] = cts_log_word(CTS_RECORD_ACTIVITY, count, false, item->region);
}

static uint32_t collective_of(struct writing *w, const struct cts_profile_device_item *item)
{
    const struct cts_profile_file *const file = w->to->file;
    return item->collective
               ? pack_collective(w->words, &w->rank->collectives.items[item->collective - 1],
                                 file->has_rank ? file->rank : -1)
               : 0;
}

static enum cts_status put_device(void *state, const void *from, struct cts_error *error)
{
    struct writing *const w = state;
    const struct cts_profile_device_item *const item = from;
    const enum cts_status status =
        w->location != item->stream ? begin_stream(w, item->stream, error) : CTS_OK;
    if (status) return status;
    w->words[1] = item->start_ns + LOCAL_BIAS_NS;
    w->words[2] = item->end_ns + LOCAL_BIAS_NS;
    if (item->is_copy)
        (void)pack_copy(w->words, item);
    else
        pack_activity(w->words, item, collective_of(w, item));
    cts_log_file_write(&w->log, w->words);
    const uint64_t *const work = find_work(w->rank, item->correlation);
    w->rank->launched += work && (*work & CTS_PROFILE_LAUNCHED);
    return CTS_OK;
}

/* ---- definitions ---- */

struct texts {
    unsigned count;
    const char *items[4];
};

/* A record of `fixed` words that are set, and texts. */
static void put_texts(struct writing *w, unsigned type, uint32_t high, uint32_t fixed,
                      const struct texts *texts)
{
    uint32_t count = fixed;
    for (unsigned i = 0; i < texts->count; i++)
        count = cts_log_put_text(w->words, count, texts->items[i]);
    w->words[0] = cts_log_word(type, count, false, high);
    cts_log_file_write(&w->log, w->words);
}

/* What is no UTF-8 becomes '?': the archive's texts are UTF-8. */
static void make_utf8(char *text)
{
    for (char *at = text; at && *at;) {
        const size_t length = cts_utf8_length(at);
        if (!length) *at = '?';
        at += length ? length : 1;
    }
}

static void put_region(struct writing *w, uint32_t number)
{
    static const struct {
        const char *file;
        enum cts_paradigm paradigm;
        enum cts_region_role role;
    } kinds[CTS_PROFILE_CLASS_COUNT] = {
        [CTS_PROFILE_PYTHON] = {NULL, CTS_PARADIGM_USER, CTS_ROLE_FUNCTION},
        [CTS_PROFILE_ANNOTATION] = {NULL, CTS_PARADIGM_USER, CTS_ROLE_CODE},
        [CTS_PROFILE_OPERATOR] = {NULL, CTS_PARADIGM_USER, CTS_ROLE_FUNCTION},
        [CTS_PROFILE_RUNTIME] = {"CUDART", CTS_PARADIGM_CUDA, CTS_ROLE_WRAPPER},
        [CTS_PROFILE_DRIVER] = {"CUDRV", CTS_PARADIGM_CUDA, CTS_ROLE_WRAPPER},
        [CTS_PROFILE_SYSTEM] = {"OSRT", CTS_PARADIGM_USER, CTS_ROLE_FUNCTION},
        [CTS_PROFILE_KERNEL] = {"CUDA_KERNEL", CTS_PARADIGM_CUDA, CTS_ROLE_FUNCTION},
        [CTS_PROFILE_MEMSET] = {"CUDA_MEMSET", CTS_PARADIGM_CUDA, CTS_ROLE_FUNCTION},
    };
    struct cts_profile_region *const region = &w->rank->regions.items[number];
    make_utf8(region->name);
    make_utf8(region->canonical_name);
    make_utf8(region->file);
    const struct texts texts = {3,
                                {region->name, region->canonical_name,
                                 region->file ? region->file : kinds[region->class].file}};
    w->words[1] = cts_log_pair(kinds[region->class].paradigm, kinds[region->class].role);
    w->words[2] = cts_log_pair(region->line, region->line);
    put_texts(w, CTS_RECORD_REGION, number, 3, &texts);
}

static const char *given_name(const struct cts_profile_rank *rank, const char *key)
{
    for (size_t i = 0; i < rank->name_of_key.count; i++)
        if (!strcmp(rank->name_of_key.items[i].text, key) && rank->name_of_key.items[i].value)
            return rank->names.items[rank->name_of_key.items[i].value - 1];
    return NULL;
}

static void put_process(struct writing *w)
{
    char pid[24];
    snprintf(pid, sizeof pid, "%u", w->rank->pid);
    const char *const name = given_name(w->rank, pid);
    const bool is_empty = w->rank->first_ns > w->rank->last_ns;
    const uint64_t first_ns = is_empty ? 0 : w->rank->first_ns;
    const struct texts texts = {4, {"", "", name ? name : w->to->file->program, ""}};
    w->words[1] = first_ns + LOCAL_BIAS_NS;
    const uint64_t unix_ns = first_ns + (uint64_t)w->to->file->base_ns;
    w->words[2] = unix_ns < INT64_MAX ? unix_ns : INT64_MAX;
    put_texts(w, CTS_RECORD_PROCESS, w->rank->pid, 3, &texts);
    w->words[0] = cts_log_word(CTS_RECORD_CLOCK, 3, false, 0);
    w->words[1] = 0;
    w->words[2] = (uint64_t)(w->to->file->base_ns - LOCAL_BIAS_NS);
    cts_log_file_write(&w->log, w->words);
    w->words[0] = cts_log_word(CTS_RECORD_FINISH, 2, false, 0);
    w->words[1] = (is_empty ? 0 : w->rank->last_ns) + LOCAL_BIAS_NS;
    cts_log_file_write(&w->log, w->words);
}

static void put_names(struct writing *w)
{
    for (uint32_t i = 0; i < w->rank->tracks.count; i++) {
        const char *const name = given_name(w->rank, w->rank->tracks.items[i].key);
        char text[200];
        if (!name) continue;
        snprintf(text, sizeof text, "%s", name);
        make_utf8(text);
        put_texts(w, CTS_RECORD_THREAD_NAME, log_of_track(i), 1, &(struct texts){1, {text}});
    }
    for (size_t i = 0; i < w->to->file->device_count; i++) {
        struct cts_profile_device *const device = &w->to->file->devices[i];
        bool is_used = false;
        for (size_t s = 0; s < w->rank->streams.count; s++)
            is_used = is_used || w->rank->streams.items[s].device == device->number;
        make_utf8(device->name);
        if (is_used && device->name)
            put_texts(w, CTS_RECORD_DEVICE, device->number, 1,
                      &(struct texts){2, {device->name, "gpu"}});
    }
}

static void put_lost(struct writing *w)
{
    const struct {
        uint64_t count;
        const char *what;
    } losses[] = {{w->to->file->damaged_events, "events that the file breaks off in"},
                  {w->rank->untimed, "events without a valid time"},
                  {w->rank->unplaced, "device activities without a stream"}};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        if (!losses[i].count) continue;
        w->words[1] = losses[i].count;
        put_texts(w, CTS_RECORD_LOST, 0, 2, &(struct texts){1, {losses[i].what}});
    }
    for (size_t i = 0; i < w->to->message_count; i++)
        put_texts(w, CTS_RECORD_MESSAGE, w->to->messages[i].severity, 1,
                  &(struct texts){1, {w->to->messages[i].text}});
}

static enum cts_status write_definitions(struct writing *w, struct cts_error *error)
{
    const struct cts_log_start start = {.kind = CTS_LOG_DEFINITIONS, .pid = w->rank->pid};
    const enum cts_status status = open_log(w, &start, error);
    if (status) return status;
    put_process(w);
    for (uint32_t i = 0; i < w->rank->regions.count; i++) put_region(w, i);
    put_names(w);
    put_lost(w);
    return cts_log_file_close(&w->log, error);
}

/* A stream that is only waited for has a log, too. */
static enum cts_status write_empty_streams(struct writing *w, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (uint32_t i = 0; i < w->rank->streams.count && !status; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%.*s/%u.log", PATH_MAX - 30, w->to->directory,
                 log_of_stream(i));
        if (access(path, F_OK) == 0) continue;
        status = begin_stream(w, i, error);
    }
    return status;
}

/* ---- both ---- */

static struct writing *begin_writing(struct cts_profile_rank *rank,
                                     const struct cts_profile_destination *to,
                                     struct cts_error *error)
{
    struct writing *const w = calloc(1, sizeof *w);
    if (!w) {
        (void)cts_fail(error, CTS_MEMORY, "no memory");
        return NULL;
    }
    w->rank = rank;
    w->to = to;
    w->location = CTS_TIMELINE_NONE;
    return w;
}

static enum cts_status end_writing(struct writing *w, enum cts_status status,
                                   struct cts_error *error)
{
    const enum cts_status closed = cts_log_file_close(&w->log, status ? NULL : error);
    free(w->open.items);
    free(w);
    return status ? status : closed;
}

enum cts_status cts_profile_rank_write(struct cts_profile_rank *rank,
                                       const struct cts_profile_destination *to,
                                       struct cts_error *error)
{
    struct writing *const w = begin_writing(rank, to, error);
    if (!w) return CTS_MEMORY;
    rank->pid = rank->tracks.count ? (uint32_t)rank->tracks.items[main_track(rank)].pid : 0;
    enum cts_status status = cts_spill_finish(&rank->host, put_host, w, error);
    if (!status) status = end_log(w, error);
    if (!status) status = cts_spill_finish(&rank->device, put_device, w, error);
    if (!status) status = cts_log_file_close(&w->log, error);
    if (!status) status = write_empty_streams(w, error);
    return end_writing(w, status, error);
}

enum cts_status cts_profile_rank_define(struct cts_profile_rank *rank,
                                        const struct cts_profile_destination *to,
                                        struct cts_error *error)
{
    struct writing *const w = begin_writing(rank, to, error);
    return w ? end_writing(w, write_definitions(w, error), error) : CTS_MEMORY;
}
