/* Fuzz target of the path analysis. The first byte chooses what the others are:
 *
 *   0 modulo 2    an archive: its files one after the other, each a name that ends with 0, its
 * length (4 bytes, little-endian) and its bytes; it is opened, read and analysed 1 modulo 2 events
 * in memory, 8 bytes each, of a few locations: what archives cannot say (the library refuses it)
 * reaches the analysis here
 *
 * What is analysed must add up: the path to the runtime, blame to waiting. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/path/path.h"
#include "fuzz/sparse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The OTF2 library does not free all of an archive that it refuses to open. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libopen-trace-format2\n";
}

enum { EVENTS_MAX = 4096, FILES_MAX = 16, REGIONS = 24, LOCATIONS = 6 };

static void die(const char *what)
{
    fprintf(stderr, "path-fuzz: %s\n", what);
    abort();
}

static void check(const struct cts_path *result)
{
    uint64_t path_ns = 0, blame_ns = 0, wait_ns = 0;
    for (size_t i = 0; i < result->row_count; i++) {
        path_ns += result->rows[i].path_ns;
        blame_ns += result->rows[i].blame_ns;
    }
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++) wait_ns += result->patterns[p].time_ns;
    if (path_ns != result->path_ns) die("the path is not the runtime");
    if (blame_ns != result->wait_ns || wait_ns != result->wait_ns) die("blame is not all waiting");
}

/* Of archives one in four is analysed, which opens its files again and again; the others are read.
 * Of all inputs one in eight is analysed in stretches, too. */
static bool is_analysed, in_stretches;

static void analyze(const struct cts_path_source *source)
{
    for (uint64_t window = 0; window < (in_stretches ? 2 : 1); window++) {
        const struct cts_path_options options = {.threads = 1, .window_events = window};
        struct cts_path result;
        struct cts_error error;
        if (cts_path_analyze(source, &options, &result, &error)) continue;
        check(&result);
        cts_path_release(&result);
    }
}

/* ---- an archive ---- */

static char folder[64];

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (*folder && system(command)) fprintf(stderr, "path-fuzz: cannot remove %s\n", folder);
}

static void open_folder(void)
{
    if (*folder) return;
    snprintf(folder, sizeof folder, "%s/path-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    char path[160];
    if (!mkdtemp(folder) || atexit(remove_folder)) die("cannot make a directory");
    snprintf(path, sizeof path, "%s/traces", folder);
    if (mkdir(path, 0700)) die("cannot make a directory");
}

static bool is_name(const char *name, size_t length)
{
    if (!length || length > 40 || name[0] == '.' || name[0] == '/') return false;
    for (size_t i = 0; i < length; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789./", name[i]) ||
            (name[i] == '.' && name[i + 1] == '.'))
            return false;
    return true;
}

static void write_file(const char *name, const uint8_t *bytes, size_t size)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%.47s", folder, name);
    FILE *const file = fopen(path, "wb");
    if (!file) return; /* of a directory that there is not */
    if (fwrite(bytes, 1, size, file) != size) die("cannot write");
    fclose(file);
}

static bool see_event(void *unused, uint32_t location, const struct cts_timeline_event *event,
                      const struct cts_event_attributes *attributes)
{
    (void)unused, (void)location, (void)attributes;
    if ((unsigned)event->kind >= CTS_EVENT_KIND_COUNT) die("an event of no kind");
    return true;
}

static void read_all(const struct cts_timeline *timeline)
{
    struct cts_error error;
    for (uint32_t i = 0; i < timeline->location_count; i++)
        if (cts_timeline_read(timeline, i, see_event, NULL, &error) && !*error.text)
            die("refused without a word");
}

static void run_archive(const uint8_t *data, size_t size)
{
    char names[FILES_MAX][48];
    unsigned count = 0;
    open_folder();
    while (size && count < FILES_MAX) {
        const uint8_t *const end = memchr(data, 0, size);
        if (!end || !is_name((const char *)data, (size_t)(end - data))) break;
        snprintf(names[count], sizeof names[count], "%s", (const char *)data);
        size -= (size_t)(end + 1 - data);
        data = end + 1;
        if (size < 4) break;
        size_t length = data[0] | data[1] << 8 | data[2] << 16 | (size_t)data[3] << 24;
        data += 4, size -= 4;
        if (length > size) length = size;
        write_file(names[count++], data, length);
        data += length, size -= length;
    }
    char anchor[96];
    snprintf(anchor, sizeof anchor, "%s/traces.otf2", folder);
    struct cts_timeline timeline;
    struct cts_error error;
    if (!cts_timeline_open(anchor, &timeline, &error)) {
        const struct cts_path_source source = cts_path_source_of(&timeline);
        if (is_analysed)
            analyze(&source);
        else
            read_all(&timeline);
        cts_timeline_close(&timeline);
    }
    for (unsigned i = 0; i < count; i++) {
        char path[160];
        snprintf(path, sizeof path, "%s/%.47s", folder, names[i]);
        unlink(path);
    }
}

/* ---- events in memory ---- */

struct events {
    struct cts_timeline_event items[EVENTS_MAX];
    struct cts_event_attributes attributes[EVENTS_MAX];
    uint32_t location[EVENTS_MAX];
    size_t count;
};

static enum cts_status read_events(const void *state, uint32_t location, cts_timeline_visit visit,
                                   void *visit_state, struct cts_error *error)
{
    const struct events *const events = state;
    (void)error;
    for (size_t i = 0; i < events->count; i++)
        if (events->location[i] == location &&
            !visit(visit_state, location, &events->items[i],
                   events->attributes[i].present ? &events->attributes[i] : NULL))
            break;
    return CTS_OK;
}

struct reader {
    const struct events *events;
    uint32_t location;
    size_t next;
};

static enum cts_status open_events(const void *state, uint32_t location, void **reader,
                                   struct cts_error *error)
{
    struct reader *const opened = malloc(sizeof *opened);
    (void)error;
    if (!opened) die("no memory");
    *opened = (struct reader){state, location, 0};
    *reader = opened;
    return CTS_OK;
}

static bool next_event(void *state, const struct cts_timeline_event **event,
                       const struct cts_event_attributes **attributes)
{
    struct reader *const reader = state;
    const struct events *const events = reader->events;
    while (reader->next < events->count && events->location[reader->next] != reader->location)
        reader->next++;
    if (reader->next == events->count) return false;
    const size_t at = reader->next++;
    *event = &events->items[at];
    *attributes = events->attributes[at].present ? &events->attributes[at] : NULL;
    return true;
}

static enum cts_status end_of(void *reader, struct cts_error *error)
{
    (void)reader, (void)error;
    return CTS_OK;
}

/* byte 0: location, kind of event's group; 1: time since the last; 2: kind; 3..7: numbers */
static void add_event(struct events *events, uint64_t *now_ns, const uint8_t *bytes)
{
    const size_t at = events->count++;
    struct cts_timeline_event *const e = &events->items[at];
    struct cts_event_attributes *const a = &events->attributes[at];
    events->location[at] = bytes[0] % LOCATIONS;
    now_ns[events->location[at]] += bytes[1] % 64;
    *e = (struct cts_timeline_event){.time_ns = now_ns[events->location[at]]};
    *a = (struct cts_event_attributes){0};
    /* most are enters and leaves */
    e->kind = bytes[2] < 160 ? (bytes[2] & 1 ? CTS_EVENT_LEAVE : CTS_EVENT_ENTER)
                             : (enum cts_timeline_event_kind)(bytes[2] % CTS_EVENT_KIND_COUNT);
    if (e->kind <= CTS_EVENT_LEAVE) {
        e->region = bytes[3] % (REGIONS + 1);
    } else if (e->kind >= CTS_EVENT_MPI_COLLECTIVE_END &&
               e->kind <= CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE) {
        e->collective.operation = bytes[3] % 20;
        e->collective.communicator = bytes[4] % 4;
        e->collective.root = bytes[5] % 4;
        e->collective.request = bytes[6] % 8;
    } else if (e->kind >= CTS_EVENT_RMA_WIN_CREATE && e->kind <= CTS_EVENT_RMA_OP_COMPLETE_REMOTE) {
        e->rma.window = bytes[3] % 2;
        e->rma.remote = bytes[4] % 4;
        e->rma.operation = bytes[5] % 3;
        e->rma.level = bytes[5] % 4;
        e->rma.matching = bytes[6] % 8;
    } else if (e->kind >= CTS_EVENT_THREAD_FORK && e->kind <= CTS_EVENT_THREAD_END) {
        e->thread.communicator = bytes[3] % 4;
        e->thread.sequence = bytes[4] % 4;
    } else if (e->kind == CTS_EVENT_BUFFER_FLUSH) {
        e->flush.end_ns = e->time_ns + bytes[3];
    } else {
        e->message.peer = bytes[3] % 4;
        e->message.communicator = bytes[4] % 4;
        e->message.tag = bytes[5] % 3;
        e->message.request = bytes[6] % 8;
    }
    for (unsigned i = 0; i < 6; i++)
        if (bytes[7] >> i & 1) {
            a->present |= 1u << i;
            a->values[i] = bytes[4 + i % 3] % 8;
        }
}

static void run_events(const uint8_t *data, size_t size)
{
    static const struct {
        const char *name;
        enum cts_paradigm paradigm;
        enum cts_region_role role;
    } kinds[REGIONS] = {{"main", CTS_PARADIGM_USER, CTS_ROLE_FUNCTION},
                        {"MPI_Send", CTS_PARADIGM_MPI, CTS_ROLE_POINT2POINT},
                        {"MPI_Recv", CTS_PARADIGM_MPI, CTS_ROLE_POINT2POINT},
                        {"MPI_Waitall", CTS_PARADIGM_MPI, CTS_ROLE_FUNCTION},
                        {"MPI_Probe", CTS_PARADIGM_MPI, CTS_ROLE_FUNCTION},
                        {"MPI_Init", CTS_PARADIGM_MPI, CTS_ROLE_FUNCTION},
                        {"MPI_Finalize", CTS_PARADIGM_MPI, CTS_ROLE_FUNCTION},
                        {"MPI_Allreduce", CTS_PARADIGM_MPI, CTS_ROLE_COLL_ALL2ALL},
                        {"MPI_Win_post", CTS_PARADIGM_MPI, CTS_ROLE_RMA},
                        {"MPI_Win_start", CTS_PARADIGM_MPI, CTS_ROLE_RMA},
                        {"MPI_Win_complete", CTS_PARADIGM_MPI, CTS_ROLE_RMA},
                        {"MPI_Win_wait", CTS_PARADIGM_MPI, CTS_ROLE_RMA},
                        {"MPI_Win_lock", CTS_PARADIGM_MPI, CTS_ROLE_RMA},
                        {"cuLaunchKernel", CTS_PARADIGM_CUDA, CTS_ROLE_WRAPPER},
                        {"cuGraphLaunch", CTS_PARADIGM_CUDA, CTS_ROLE_WRAPPER},
                        {"cuMemcpyDtoH_v2", CTS_PARADIGM_CUDA, CTS_ROLE_WRAPPER},
                        {"cuCtxSynchronize", CTS_PARADIGM_CUDA, CTS_ROLE_WRAPPER},
                        {"cuStreamSynchronize", CTS_PARADIGM_CUDA, CTS_ROLE_WRAPPER},
                        {"cuEventRecord", CTS_PARADIGM_CUDA, CTS_ROLE_WRAPPER},
                        {"cuEventQuery", CTS_PARADIGM_CUDA, CTS_ROLE_WRAPPER},
                        {"cuStreamWaitEvent", CTS_PARADIGM_CUDA, CTS_ROLE_WRAPPER},
                        {"kernel", CTS_PARADIGM_CUDA, CTS_ROLE_FUNCTION},
                        {"!$omp barrier", CTS_PARADIGM_OPENMP, CTS_ROLE_BARRIER},
                        {"!$omp implicit_task", CTS_PARADIGM_OPENMP, CTS_ROLE_CODE}};
    struct cts_timeline_region regions[REGIONS] = {0};
    for (unsigned i = 0; i < REGIONS; i++)
        regions[i] = (struct cts_timeline_region){
            .name = kinds[i].name, .paradigm = kinds[i].paradigm, .role = kinds[i].role};
    /* two ranks, each with a thread, another thread or stream, and a stream */
    struct cts_timeline_location locations[LOCATIONS] = {0};
    struct cts_timeline_group groups[2] = {0};
    for (uint32_t i = 0; i < LOCATIONS; i++) {
        const uint32_t rank = i / 3;
        locations[i] = (struct cts_timeline_location){
            .reference = i,
            .name = "location",
            .kind = i % 3 == 0 || i == 1 ? CTS_LOCATION_THREAD : CTS_LOCATION_STREAM,
            .group = rank,
            .process = rank,
            .null_stream = i == 4,
            .stream = i};
        if (i % 3 == 0)
            groups[rank] = (struct cts_timeline_group){.name = "rank", .rank = rank, .master = i};
    }
    uint32_t world[2] = {0, 3}, one[1] = {3}, team[2] = {0, 1};
    struct cts_timeline_communicator communicators[3] = {
        {.name = "world", .paradigm = CTS_PARADIGM_MPI, .ranks = world, .rank_count = 2},
        {.name = "group", .paradigm = CTS_PARADIGM_MPI, .ranks = one, .rank_count = 1},
        {.name = "team", .paradigm = CTS_PARADIGM_OPENMP, .ranks = team, .rank_count = 2}};
    struct cts_timeline_window window = {.name = "window"};
    const struct cts_timeline timeline = {.locations = locations,
                                          .location_count = LOCATIONS,
                                          .groups = groups,
                                          .group_count = 2,
                                          .regions = regions,
                                          .region_count = REGIONS,
                                          .communicators = communicators,
                                          .communicator_count = 3,
                                          .windows = &window,
                                          .window_count = 1};
    static struct events kept; /* of 900 KB, of which most inputs fill little */
    struct events *const events = &kept;
    uint64_t now_ns[LOCATIONS] = {0};
    events->count = 0;
    for (; size >= 8 && events->count < EVENTS_MAX; data += 8, size -= 8)
        add_event(events, now_ns, data);
    const struct cts_path_source source = {.timeline = &timeline,
                                           .state = events,
                                           .read = read_events,
                                           .open = open_events,
                                           .next = next_event,
                                           .end = end_of,
                                           .close = free};
    analyze(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    in_stretches = is_one_of(8, data, size);
    is_analysed = is_one_of(4, data, size);
    if (data[0] % 2)
        run_events(data + 1, size - 1);
    else
        run_archive(data + 1, size - 1);
    return 0;
}
