/* The OTF2 layer: what is written is read again, event by event; damage is told; clocks. */
#include <dirent.h>
#include <malloc.h>
#include <fcntl.h>
#include <otf2/otf2.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/timeline/timeline.h"
#include "random.h"

/* The OTF2 library does not free all of an archive that it refuses to open. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libopen-trace-format2\n";
}

enum { LOCATIONS = 6, REGIONS = 40, COMMUNICATORS = 5, WINDOWS = 2, EVENTS = 3000 };

/* ---- random timelines ---- */

struct record {
    struct cts_timeline_event event;
    struct cts_event_attributes attributes;
};
static struct record records[LOCATIONS][EVENTS];

static struct cts_timeline_group groups[4];
static struct cts_timeline_location locations[LOCATIONS];
static struct cts_timeline_region regions[REGIONS];
static struct cts_timeline_communicator communicators[COMMUNICATORS];
static struct cts_timeline_window windows[WINDOWS];
static char region_names[REGIONS][32];
static uint32_t world_ranks[] = {0, 3}, other_ranks[] = {3, 0}, cuda_ranks[] = {0, 1, 2},
                left_ranks[] = {0}, right_ranks[] = {3};

static struct cts_timeline make_definitions(void)
{
    groups[0] = (struct cts_timeline_group){
        .name = "MPI Rank 0", .host = "here", .creator = CTS_TIMELINE_NONE, .rank = 0, .master = 0};
    groups[1] = (struct cts_timeline_group){.name = "MPI Rank 1",
                                            .host = "there",
                                            .creator = CTS_TIMELINE_NONE,
                                            .rank = 1,
                                            .master = 3};
    groups[2] = (struct cts_timeline_group){
        .name = "GPU", .accelerator = true, .creator = 1, .master = CTS_TIMELINE_NONE};
    groups[3] = (struct cts_timeline_group){
        .name = "Process", .creator = CTS_TIMELINE_NONE, .rank = 2, .master = 5};
    const struct cts_timeline_location all[LOCATIONS] = {
        {.reference = 0, .name = "Master thread", .kind = CTS_LOCATION_THREAD},
        {.reference = 1ull << 32,
         .name = "CUDA[0:0]",
         .kind = CTS_LOCATION_STREAM,
         .device = 0,
         .stream = 0,
         .null_stream = true},
        {.reference = 2ull << 32,
         .name = "CUDA[0:7]",
         .kind = CTS_LOCATION_STREAM,
         .device = 0,
         .stream = 7,
         .non_blocking = true},
        {.reference = 1, .name = "Master thread", .kind = CTS_LOCATION_THREAD, .group = 1},
        {.reference = 1ull << 32 | 1, .name = "queue", .kind = CTS_LOCATION_STREAM, .group = 2},
        {.reference = 2, .name = "Master thread", .kind = CTS_LOCATION_THREAD, .group = 3},
    };
    memcpy(locations, all, sizeof all);
    for (uint32_t i = 0; i < REGIONS; i++) {
        snprintf(region_names[i], sizeof region_names[i], "region %u \xc3\xa4", i / 2);
        regions[i] = (struct cts_timeline_region){
            .name = region_names[i],
            .canonical_name = i % 3 ? "canonical" : region_names[i],
            .file = i % 4 ? "CUDRV" : NULL,
            .begin_line = i,
            .end_line = i * 2,
            .paradigm = (enum cts_paradigm)(i % CTS_PARADIGM_OTHER),
            .role = (enum cts_region_role)(i % CTS_ROLE_OTHER),
        };
        if (regions[i].paradigm == CTS_PARADIGM_CUDA && i > CTS_PARADIGM_CUDA)
            regions[i].shape = (struct cts_timeline_shape){
                .values = {UINT32_MAX - i, 1, i, 256, 1, i % 2 + 1, 32, i % 20, 1024}};
    }
    communicators[0] = (struct cts_timeline_communicator){.name = "MPI_COMM_WORLD",
                                                          .paradigm = CTS_PARADIGM_MPI,
                                                          .parent = CTS_TIMELINE_NONE,
                                                          .ranks = world_ranks,
                                                          .rank_count = 2};
    communicators[1] = (struct cts_timeline_communicator){.name = "",
                                                          .paradigm = CTS_PARADIGM_CUDA,
                                                          .parent = CTS_TIMELINE_NONE,
                                                          .ranks = cuda_ranks,
                                                          .rank_count = 3};
    communicators[2] = (struct cts_timeline_communicator){.name = "other",
                                                          .paradigm = CTS_PARADIGM_MPI,
                                                          .parent = 0,
                                                          .ranks = other_ranks,
                                                          .rank_count = 2};
    communicators[3] = (struct cts_timeline_communicator){.name = "MPI_COMM_SELF",
                                                          .paradigm = CTS_PARADIGM_MPI,
                                                          .parent = CTS_TIMELINE_NONE,
                                                          .self = true};
    communicators[4] = (struct cts_timeline_communicator){.name = "between",
                                                          .paradigm = CTS_PARADIGM_MPI,
                                                          .parent = 0,
                                                          .ranks = left_ranks,
                                                          .rank_count = 1,
                                                          .remote_ranks = right_ranks,
                                                          .remote_count = 1};
    windows[0] = (struct cts_timeline_window){.name = "", .communicator = 1};
    windows[1] = (struct cts_timeline_window){.name = "shared", .communicator = 2};
    return (struct cts_timeline){
        .locations = locations,
        .location_count = LOCATIONS,
        .groups = groups,
        .group_count = 4,
        .regions = regions,
        .region_count = REGIONS,
        .communicators = communicators,
        .communicator_count = COMMUNICATORS,
        .windows = windows,
        .window_count = WINDOWS,
        .world = 0,
        .global_offset = 123456789012,
        .description = "a test",
    };
}

static uint32_t rank_or_none(void)
{
    return below(3) ? below(2) : CTS_TIMELINE_NONE;
}

/* Members that a kind does not have are what the reader gives for them. */
static void random_members(struct cts_timeline_event *e)
{
    const uint64_t big = below(4) ? below(100) : random_u64() << 8;
    switch (e->kind) {
    case CTS_EVENT_ENTER:
    case CTS_EVENT_LEAVE:
        e->region = below(REGIONS);
        return;
    case CTS_EVENT_MPI_SEND:
    case CTS_EVENT_MPI_RECV:
    case CTS_EVENT_MPI_ISEND:
    case CTS_EVENT_MPI_IRECV:
        e->message.peer = below(2);
        e->message.communicator = below(COMMUNICATORS);
        e->message.tag = below(3) ? below(100) : UINT32_MAX - 1;
        e->message.bytes = big;
        if (e->kind == CTS_EVENT_MPI_ISEND || e->kind == CTS_EVENT_MPI_IRECV)
            e->message.request = big + 1;
        return;
    case CTS_EVENT_MPI_ISEND_COMPLETE:
    case CTS_EVENT_MPI_IRECV_REQUEST:
    case CTS_EVENT_MPI_REQUEST_TEST:
    case CTS_EVENT_MPI_REQUEST_CANCELLED:
        e->message.request = big;
        return;
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST:
        e->collective.communicator = e->collective.root = CTS_TIMELINE_NONE;
        e->collective.request = big;
        return;
    case CTS_EVENT_MPI_COLLECTIVE_END:
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE:
        e->collective.operation = below(17);
        e->collective.communicator = below(COMMUNICATORS);
        e->collective.root = rank_or_none();
        e->collective.sent_bytes = big;
        e->collective.received_bytes = big / 3;
        if (e->kind == CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE) e->collective.request = 7;
        return;
    case CTS_EVENT_BUFFER_FLUSH:
        e->flush.end_ns = e->time_ns + below(1000);
        return;
    case CTS_EVENT_MEASUREMENT_ON_OFF:
        e->on = below(2);
        return;
    case CTS_EVENT_MPI_COLLECTIVE_BEGIN:
    case CTS_EVENT_RMA_COLLECTIVE_BEGIN:
    case CTS_EVENT_OTHER:
        return;
    default:
        break;
    }
    if (e->kind >= CTS_EVENT_THREAD_FORK) {
        e->thread.communicator = CTS_TIMELINE_NONE;
        if (e->kind == CTS_EVENT_THREAD_FORK) e->thread.team_size = below(64);
        if (e->kind == CTS_EVENT_THREAD_ACQUIRE_LOCK || e->kind == CTS_EVENT_THREAD_RELEASE_LOCK) {
            e->thread.sequence = below(1000);
            e->thread.creator = below(1000);
        } else if (e->kind > CTS_EVENT_THREAD_JOIN) {
            e->thread.communicator = below(COMMUNICATORS);
            if (e->kind >= CTS_EVENT_THREAD_TASK_CREATE) e->thread.sequence = below(1 << 30);
            if (e->kind >= CTS_EVENT_THREAD_TASK_CREATE &&
                e->kind <= CTS_EVENT_THREAD_TASK_COMPLETE)
                e->thread.creator = below(8);
        }
        return;
    }
    e->rma.window = below(WINDOWS);
    e->rma.remote = CTS_TIMELINE_NONE;
    switch (e->kind) {
    case CTS_EVENT_RMA_COLLECTIVE_END:
        e->rma.operation = below(17);
        e->rma.level = below(4);
        e->rma.remote = rank_or_none();
        e->rma.bytes = big;
        e->rma.received_bytes = big / 2;
        return;
    case CTS_EVENT_RMA_GROUP_SYNC:
        e->rma.operation = below(4);
        e->rma.level = below(COMMUNICATORS);
        return;
    case CTS_EVENT_RMA_SYNC:
        e->rma.remote = below(2);
        e->rma.operation = below(3);
        return;
    case CTS_EVENT_RMA_REQUEST_LOCK:
    case CTS_EVENT_RMA_ACQUIRE_LOCK:
    case CTS_EVENT_RMA_RELEASE_LOCK:
        e->rma.remote = below(2);
        e->rma.matching = big;
        if (e->kind != CTS_EVENT_RMA_RELEASE_LOCK) e->rma.operation = below(2);
        return;
    case CTS_EVENT_RMA_PUT:
    case CTS_EVENT_RMA_GET:
        e->rma.remote = below(3);
        e->rma.bytes = big;
        e->rma.matching = big;
        return;
    case CTS_EVENT_RMA_ATOMIC:
        e->rma.remote = below(2);
        e->rma.operation = below(9);
        e->rma.bytes = 8;
        e->rma.received_bytes = 16;
        e->rma.matching = big;
        return;
    case CTS_EVENT_RMA_OP_COMPLETE_BLOCKING:
    case CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING:
    case CTS_EVENT_RMA_OP_COMPLETE_REMOTE:
        e->rma.matching = big;
        return;
    default:
        return;
    }
}

static void random_attributes(struct cts_event_attributes *a)
{
    if (below(2)) return;
    for (uint32_t id = 0; id < CTS_ATTRIBUTE_COUNT; id++) {
        if (below(3)) continue;
        a->present |= 1u << id;
        const bool location = id == CTS_ATTRIBUTE_STREAM_REF || id == CTS_ATTRIBUTE_QUEUE_REF;
        a->values[id] = location ? below(LOCATIONS) : below(UINT32_MAX);
        if (id == CTS_ATTRIBUTE_EVENT_REF || id == CTS_ATTRIBUTE_CORRELATION)
            a->values[id] = random_u64() << 16;
    }
}

/* A launch of a kernel whose region has a shape: one that knows none, or one whose values are often
 * the region's, and present as the reader gives them: but for ones and zeros that go without
 * saying. */
static void random_shape(struct record *r)
{
    static const uint32_t unsaid[CTS_SHAPE_COUNT] = {0, 1, 1, 0, 1, 1, 0, 0, 0};
    if (r->event.kind != CTS_EVENT_ENTER || !regions[r->event.region].shape.values[0]) return;
    if (!below(4)) {
        r->attributes.present &= ~(1u << CTS_ATTRIBUTE_GRID_X);
        return;
    }
    for (uint32_t i = 0; i < CTS_SHAPE_COUNT; i++) {
        const uint32_t id = CTS_ATTRIBUTE_GRID_X + i;
        const uint32_t own = i == 0 ? 1 + below(1000) : below(3);
        const uint32_t value = below(3) ? regions[r->event.region].shape.values[i] : own;
        r->attributes.values[id] = value;
        r->attributes.present &= ~(1u << id);
        if (value != unsaid[i]) r->attributes.present |= 1u << id;
    }
}

static void make_records(uint64_t seed)
{
    random_start(seed);
    memset(records, 0, sizeof records);
    for (uint32_t location = 0; location < LOCATIONS; location++) {
        uint64_t time_ns = 0;
        for (uint32_t i = 0; i < EVENTS; i++) {
            struct record *const r = &records[location][i];
            time_ns += below(3) ? below(1000) : below(2) ? 0 : random_u64() % 10000000000u;
            r->event.time_ns = time_ns;
            r->event.kind = (enum cts_timeline_event_kind)below(CTS_EVENT_OTHER);
            random_members(&r->event);
            random_attributes(&r->attributes);
            random_shape(r);
        }
    }
}

/* ---- writing and reading ---- */

static char directory[] = "/tmp/ctascope-timeline-XXXXXX";

static void remove_tree(const char *path)
{
    DIR *const stream = opendir(path);
    struct dirent *entry;
    while (stream && (entry = readdir(stream))) {
        char inner[700];
        if (entry->d_name[0] == '.') continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (unlink(inner)) remove_tree(inner);
    }
    if (stream) closedir(stream);
    rmdir(path);
}

struct job {
    struct cts_timeline_writer *writer;
    const struct cts_timeline *timeline;
    uint32_t location;
    uint64_t count;
    bool sound;
};

static void *write_location(void *argument)
{
    struct job *const job = argument;
    struct cts_error error;
    job->sound = true;
    for (uint32_t i = 0; i < EVENTS && job->sound; i++) {
        const struct record *const r = &records[job->location][i];
        job->sound =
            !cts_timeline_write(job->writer, job->location, &r->event, &r->attributes, &error);
    }
    job->sound = job->sound && !cts_timeline_end_location(job->writer, job->location, &error);
    return NULL;
}

static bool compare_event(void *argument, uint32_t location, const struct cts_timeline_event *event,
                          const struct cts_event_attributes *attributes)
{
    struct job *const job = argument;
    static const struct cts_event_attributes none;
    if (location != job->location || job->count >= EVENTS) return job->sound = false;
    const struct record *const r = &records[location][job->count++];
    struct cts_timeline_event expected, got;
    expected = r->event;
    got = *event;
    switch (got.kind) {
    case CTS_EVENT_ENTER:
    case CTS_EVENT_LEAVE:
        job->sound = got.region == expected.region;
        break;
    case CTS_EVENT_MPI_ISEND_COMPLETE:
    case CTS_EVENT_MPI_IRECV_REQUEST:
    case CTS_EVENT_MPI_REQUEST_TEST:
    case CTS_EVENT_MPI_REQUEST_CANCELLED:
        job->sound = got.message.request == expected.message.request;
        break;
    case CTS_EVENT_MPI_SEND:
    case CTS_EVENT_MPI_RECV:
    case CTS_EVENT_MPI_ISEND:
    case CTS_EVENT_MPI_IRECV:
        job->sound = got.message.peer == expected.message.peer &&
                     got.message.communicator == expected.message.communicator &&
                     got.message.tag == expected.message.tag &&
                     got.message.bytes == expected.message.bytes &&
                     got.message.request == expected.message.request;
        break;
    case CTS_EVENT_MPI_COLLECTIVE_END:
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST:
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE:
        job->sound = got.collective.operation == expected.collective.operation &&
                     got.collective.communicator == expected.collective.communicator &&
                     got.collective.root == expected.collective.root &&
                     got.collective.sent_bytes == expected.collective.sent_bytes &&
                     got.collective.received_bytes == expected.collective.received_bytes &&
                     got.collective.request == expected.collective.request;
        break;
    case CTS_EVENT_BUFFER_FLUSH:
        job->sound = got.flush.end_ns == expected.flush.end_ns;
        break;
    case CTS_EVENT_MEASUREMENT_ON_OFF:
        job->sound = got.on == expected.on;
        break;
    case CTS_EVENT_MPI_COLLECTIVE_BEGIN:
    case CTS_EVENT_RMA_COLLECTIVE_BEGIN:
        break;
    default:
        if (got.kind >= CTS_EVENT_THREAD_FORK)
            job->sound = got.thread.team_size == expected.thread.team_size &&
                         got.thread.communicator == expected.thread.communicator &&
                         got.thread.creator == expected.thread.creator &&
                         got.thread.sequence == expected.thread.sequence;
        else
            job->sound = memcmp(&got.rma, &expected.rma, sizeof got.rma) == 0;
    }
    job->sound = job->sound && got.kind == expected.kind && got.time_ns == expected.time_ns;
    if (!attributes) attributes = &none;
    job->sound = job->sound && attributes->present == r->attributes.present;
    for (uint32_t id = 0; id < CTS_ATTRIBUTE_COUNT && job->sound; id++)
        if (attributes->present >> id & 1)
            job->sound = attributes->values[id] == r->attributes.values[id];
    return job->sound;
}

static void *read_location(void *argument)
{
    struct job *const job = argument;
    struct cts_error error;
    job->sound = true;
    if (cts_timeline_read(job->timeline, job->location, compare_event, job, &error) ||
        job->count != EVENTS)
        job->sound = false;
    return NULL;
}

static void on_threads(void *(*work)(void *), struct job *jobs)
{
    pthread_t threads[LOCATIONS];
    for (uint32_t i = 0; i < LOCATIONS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    for (uint32_t i = 0; i < LOCATIONS; i++) pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < LOCATIONS; i++)
        if (!jobs[i].sound)
            fail_msg("location %u, event %llu, %s", i, (unsigned long long)jobs[i].count,
                     jobs[i].count
                         ? cts_timeline_event_names[records[i][jobs[i].count - 1].event.kind]
                         : "");
}

static void write_archive(const struct cts_timeline *definitions)
{
    struct cts_error error;
    struct job jobs[LOCATIONS] = {{0}};
    const struct cts_timeline_writer_options options = {.directory = directory, .name = "traces"};
    struct cts_timeline_writer *writer;
    remove_tree(directory);
    assert_int_equal(cts_timeline_create(&options, definitions, &writer, &error), CTS_OK);
    for (uint32_t i = 0; i < LOCATIONS; i++)
        jobs[i] = (struct job){.writer = writer, .location = i};
    on_threads(write_location, jobs);
    assert_int_equal(cts_timeline_finish(writer, &error), CTS_OK);
}

static void open_archive(struct cts_timeline *timeline)
{
    char path[700];
    struct cts_error error = {0};
    snprintf(path, sizeof path, "%s/traces.otf2", directory);
    if (cts_timeline_open(path, timeline, &error)) fail_msg("%s", error.text);
}

static void check_communicators(const struct cts_timeline *t)
{
    assert_int_equal(t->communicator_count, COMMUNICATORS);
    for (uint32_t i = 0; i < COMMUNICATORS; i++) {
        const struct cts_timeline_communicator *const got = &t->communicators[i];
        const struct cts_timeline_communicator *const expected = &communicators[i];
        assert_string_equal(got->name, expected->name);
        assert_int_equal(got->paradigm, expected->paradigm);
        assert_int_equal(got->parent, expected->parent);
        assert_int_equal(got->self, expected->self);
        assert_int_equal(got->rank_count, expected->rank_count);
        assert_int_equal(got->remote_count, expected->remote_count);
        for (uint32_t k = 0; k < got->rank_count; k++)
            assert_int_equal(got->ranks[k], expected->ranks[k]);
        for (uint32_t k = 0; k < got->remote_count; k++)
            assert_int_equal(got->remote_ranks[k], expected->remote_ranks[k]);
    }
}

static void check_definitions(const struct cts_timeline *t)
{
    static const uint32_t processes[LOCATIONS] = {0, 0, 0, 1, 1, 3};
    assert_int_equal(t->location_count, LOCATIONS);
    for (uint32_t i = 0; i < LOCATIONS; i++) {
        assert_int_equal(t->locations[i].reference, locations[i].reference);
        assert_string_equal(t->locations[i].name, locations[i].name);
        assert_int_equal(t->locations[i].kind, locations[i].kind);
        assert_int_equal(t->locations[i].group, locations[i].group);
        assert_int_equal(t->locations[i].process, processes[i]);
        assert_int_equal(t->locations[i].event_count, EVENTS);
        assert_int_equal(t->locations[i].null_stream, locations[i].null_stream);
        assert_int_equal(t->locations[i].non_blocking, locations[i].non_blocking);
        assert_false(t->locations[i].missing);
    }
    assert_int_equal(t->locations[2].device, 0);
    assert_int_equal(t->locations[2].stream, 7);
    assert_int_equal(t->locations[4].stream, CTS_TIMELINE_NONE);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(t->groups[i].name, groups[i].name);
        assert_int_equal(t->groups[i].accelerator, groups[i].accelerator);
        assert_int_equal(t->groups[i].creator, groups[i].creator);
        if (groups[i].host) assert_string_equal(t->groups[i].host, groups[i].host);
        if (!groups[i].accelerator) assert_int_equal(t->groups[i].master, groups[i].master);
        if (!groups[i].accelerator) assert_int_equal(t->groups[i].rank, groups[i].rank);
    }
    for (uint32_t i = 0; i < REGIONS; i++) {
        assert_string_equal(t->regions[i].name, regions[i].name);
        assert_string_equal(t->regions[i].canonical_name, regions[i].canonical_name);
        if (regions[i].file)
            assert_string_equal(t->regions[i].file, regions[i].file);
        else
            assert_null(t->regions[i].file);
        assert_int_equal(t->regions[i].begin_line, regions[i].begin_line);
        assert_int_equal(t->regions[i].end_line, regions[i].end_line);
        assert_int_equal(t->regions[i].paradigm, regions[i].paradigm);
        assert_int_equal(t->regions[i].role, regions[i].role);
        assert_memory_equal(&t->regions[i].shape, &regions[i].shape, sizeof regions[i].shape);
    }
    check_communicators(t);
    assert_int_equal(t->windows[1].communicator, 2);
    assert_string_equal(t->windows[1].name, "shared");
    assert_int_equal(t->world, 0);
    assert_string_equal(t->description, "a test");
}

static void test_round_trip(void **unused)
{
    (void)unused;
    const struct cts_timeline definitions = make_definitions();
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct cts_timeline timeline;
        struct job jobs[LOCATIONS];
        make_records(seed);
        write_archive(&definitions);
        open_archive(&timeline);
        check_definitions(&timeline);
        assert_int_equal(timeline.warning_count, 0);
        for (int pass = 0; pass < 2; pass++) { /* a location may be read again */
            for (uint32_t i = 0; i < LOCATIONS; i++)
                jobs[i] = (struct job){.timeline = &timeline, .location = i};
            on_threads(read_location, jobs);
        }
        cts_timeline_close(&timeline);
    }
}

/* What others print of our archives, without complaint. */
static void test_otf2_print_reads_it(void **unused)
{
    (void)unused;
    char command[800];
    if (system("otf2-print --version >/dev/null 2>&1")) {
        print_message("otf2-print is not installed: skipped\n");
        return;
    }
    const struct cts_timeline definitions = make_definitions();
    make_records(9);
    write_archive(&definitions);
    snprintf(command, sizeof command, "otf2-print -A %s/traces.otf2 2>%s/complaints | wc -l > %s/n",
             directory, directory, directory);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "test ! -s %s/complaints", directory);
    assert_int_equal(system(command), 0);
}

static bool stop_after_ten(void *argument, uint32_t location,
                           const struct cts_timeline_event *event,
                           const struct cts_event_attributes *attributes)
{
    (void)location, (void)event, (void)attributes;
    return ++*(int *)argument < 10;
}

static void test_a_visit_can_stop(void **unused)
{
    (void)unused;
    struct cts_error error;
    struct cts_timeline timeline;
    int count = 0;
    const struct cts_timeline definitions = make_definitions();
    make_records(4);
    write_archive(&definitions);
    open_archive(&timeline);
    assert_int_equal(cts_timeline_read(&timeline, 0, stop_after_ten, &count, &error), CTS_OK);
    assert_int_equal(count, 10);
    cts_timeline_close(&timeline);
}

static void test_time_does_not_go_back(void **unused)
{
    (void)unused;
    struct cts_error error;
    struct cts_timeline_writer *writer;
    const struct cts_timeline definitions = make_definitions();
    const struct cts_timeline_writer_options options = {.directory = directory, .name = "traces"};
    struct cts_timeline_event event = {.time_ns = 100, .kind = CTS_EVENT_ENTER};
    remove_tree(directory);
    assert_int_equal(cts_timeline_create(&options, &definitions, &writer, &error), CTS_OK);
    assert_int_equal(cts_timeline_write(writer, 1, &event, NULL, &error), CTS_OK);
    event.time_ns = 99;
    assert_int_equal(cts_timeline_write(writer, 1, &event, NULL, &error), CTS_USAGE);
    assert_non_null(strstr(error.text, "goes back in time by 1 ns"));
    assert_int_equal(cts_timeline_end_location(writer, 1, &error), CTS_OK);
    event.time_ns = 200;
    assert_int_equal(cts_timeline_write(writer, 1, &event, NULL, &error), CTS_USAGE);
    assert_int_equal(cts_timeline_finish(writer, &error), CTS_OK);
}

static void test_metrics(void **unused)
{
    (void)unused;
    struct cts_error error;
    struct cts_timeline timeline;
    struct cts_timeline_writer *writer;
    const struct cts_timeline definitions = make_definitions();
    const struct cts_timeline_metric metrics[] = {{"blame", "ns", "waiting caused", false},
                                                  {"rating", "", "0 to 2", true}};
    const struct cts_timeline_writer_options options = {
        .directory = directory, .name = "traces", .metrics = metrics, .metric_count = 2};
    int count = 0;
    remove_tree(directory);
    assert_int_equal(cts_timeline_create(&options, &definitions, &writer, &error), CTS_OK);
    assert_int_equal(
        cts_timeline_write_metric(writer, 0, (struct cts_metric_value){5, 0, 12.0}, &error),
        CTS_OK);
    assert_int_equal(
        cts_timeline_write_metric(writer, 0, (struct cts_metric_value){6, 1, 1.5}, &error), CTS_OK);
    assert_int_equal(
        cts_timeline_write_metric(writer, 0, (struct cts_metric_value){7, 2, 1.5}, &error),
        CTS_USAGE);
    assert_int_equal(cts_timeline_finish(writer, &error), CTS_OK);
    open_archive(&timeline);
    assert_int_equal(timeline.locations[0].event_count, 2);
    assert_int_equal(cts_timeline_read(&timeline, 0, stop_after_ten, &count, &error), CTS_OK);
    assert_int_equal(count, 2);
    cts_timeline_close(&timeline);
}

/* ---- clocks ---- */

static OTF2_FlushType flush(void *a, OTF2_FileType b, OTF2_LocationRef c, void *d, bool e)
{
    (void)a, (void)b, (void)c, (void)d, (void)e;
    return OTF2_FLUSH;
}

struct times {
    uint64_t times_ns[8];
    int count;
};

static bool gather_times(void *argument, uint32_t location, const struct cts_timeline_event *event,
                         const struct cts_event_attributes *attributes)
{
    struct times *const times = argument;
    (void)location, (void)attributes;
    times->times_ns[times->count++] = event->time_ns;
    return times->count < 8;
}

/* Ticks of 2.5 GHz, a huge global offset, and clock offsets that grow by 100 ticks in 10,000. */
static void test_ticks_and_clock_offsets(void **unused)
{
    (void)unused;
    static const OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = flush};
    const uint64_t offset = 9000000000000000000u;
    static const uint64_t ticks[] = {0, 1, 5, 10000, 20000};
    struct cts_error error;
    struct cts_timeline timeline;
    struct times times = {.count = 0};
    remove_tree(directory);
    OTF2_Archive *const a = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, 1 << 20,
                                              1 << 20, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    assert_non_null(a);
    OTF2_Archive_SetFlushCallbacks(a, &callbacks, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(a);
    OTF2_Archive_OpenEvtFiles(a);
    OTF2_EvtWriter *const events = OTF2_Archive_GetEvtWriter(a, 42);
    for (int i = 0; i < 5; i++) OTF2_EvtWriter_Enter(events, NULL, offset + ticks[i], 77);
    OTF2_Archive_CloseEvtWriter(a, events);
    OTF2_Archive_CloseEvtFiles(a);
    OTF2_Archive_OpenDefFiles(a);
    OTF2_DefWriter *const local = OTF2_Archive_GetDefWriter(a, 42);
    OTF2_DefWriter_WriteClockOffset(local, offset + 0, 1000, 0.0);
    OTF2_DefWriter_WriteClockOffset(local, offset + 20000, 1200, 0.0);
    OTF2_Archive_CloseDefWriter(a, local);
    OTF2_Archive_CloseDefFiles(a);
    OTF2_GlobalDefWriter *const g = OTF2_Archive_GetGlobalDefWriter(a);
    OTF2_GlobalDefWriter_WriteClockProperties(g, 2500000000u, offset, 30000,
                                              OTF2_UNDEFINED_TIMESTAMP);
    OTF2_GlobalDefWriter_WriteString(g, 900, "name");
    OTF2_GlobalDefWriter_WriteSystemTreeNode(g, 3, 900, 900, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    OTF2_GlobalDefWriter_WriteLocationGroup(g, 8, 900, OTF2_LOCATION_GROUP_TYPE_PROCESS, 3,
                                            OTF2_UNDEFINED_LOCATION_GROUP);
    OTF2_GlobalDefWriter_WriteLocation(g, 42, 900, OTF2_LOCATION_TYPE_CPU_THREAD, 5, 8);
    OTF2_GlobalDefWriter_WriteRegion(g, 77, 900, 900, 900, OTF2_REGION_ROLE_FUNCTION,
                                     OTF2_PARADIGM_USER, 0, OTF2_UNDEFINED_STRING, 0, 0);
    OTF2_Archive_CloseGlobalDefWriter(a, g);
    OTF2_Archive_Close(a);
    open_archive(&timeline);
    assert_int_equal(timeline.duration_ns, 12000);
    assert_string_equal(timeline.groups[0].host, "name");
    assert_int_equal(timeline.regions[0].paradigm, CTS_PARADIGM_USER);
    assert_int_equal(cts_timeline_read(&timeline, 0, gather_times, &times, &error), CTS_OK);
    assert_int_equal(times.count, 5);
    assert_int_equal(times.times_ns[0], 1000 * 2 / 5);
    assert_int_equal(times.times_ns[1], 1001 * 2 / 5);
    assert_int_equal(times.times_ns[2], 1005 * 2 / 5);
    assert_int_equal(times.times_ns[3], (10000 + 1100) * 2 / 5);
    assert_int_equal(times.times_ns[4], (20000 + 1200) * 2 / 5);
    cts_timeline_close(&timeline);
}

/* ---- damage ---- */

static bool is_sound(void *argument, uint32_t location, const struct cts_timeline_event *event,
                     const struct cts_event_attributes *attributes)
{
    uint64_t *const last_ns = argument;
    (void)location, (void)attributes;
    assert_true(event->kind < CTS_EVENT_KIND_COUNT);
    assert_true(event->time_ns >= *last_ns);
    *last_ns = event->time_ns;
    return true;
}

/* Reads all that can be read; how many locations failed, or -1 when the archive did not open. */
static int read_damaged(struct cts_error *error)
{
    char path[700];
    struct cts_timeline timeline;
    int damaged = 0;
    snprintf(path, sizeof path, "%s/traces.otf2", directory);
    if (cts_timeline_open(path, &timeline, error)) {
        assert_null(strchr(error->text, '\n'));
        return -1;
    }
    for (uint32_t i = 0; i < timeline.location_count; i++) {
        uint64_t last_ns = 0;
        damaged += cts_timeline_read(&timeline, i, is_sound, &last_ns, error) != CTS_OK;
    }
    cts_timeline_close(&timeline);
    return damaged;
}

static void cut_file(const char *name, off_t length)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(truncate(path, length), 0);
}

static void test_damage_is_told(void **unused)
{
    (void)unused;
    struct cts_error error = {0};
    struct cts_timeline timeline;
    char path[700];
    const struct cts_timeline definitions = make_definitions();
    make_records(5);
    write_archive(&definitions);
    assert_int_equal(read_damaged(&error), 0);
    cut_file("traces/4294967296.evt", 20000);
    assert_int_equal(read_damaged(&error), 1);
    assert_non_null(strstr(error.text, "traces/4294967296.evt': "));
    snprintf(path, sizeof path, "%s/traces/0.evt", directory);
    unlink(path);
    open_archive(&timeline);
    assert_true(timeline.locations[0].missing);
    assert_int_equal(timeline.gaps.count, 1);
    assert_non_null(strstr(timeline.gaps.texts[0], "traces/0.evt' is missing"));
    cts_timeline_close(&timeline);
    assert_int_equal(read_damaged(&error), 2);
    cut_file("traces.def", 700);
    assert_int_equal(read_damaged(&error), -1);
    cut_file("traces.otf2", 10);
    assert_int_equal(read_damaged(&error), -1);
    assert_int_equal(cts_timeline_open(directory, &timeline, &error), CTS_FORMAT);
    assert_non_null(strstr(error.text, "holds no timeline"));
    assert_int_equal(cts_timeline_open("/nowhere.otf2", &timeline, &error), CTS_IO);
    assert_int_equal(cts_timeline_open("/dev/null", &timeline, &error), CTS_FORMAT);
}

static void test_random_damage(void **unused)
{
    (void)unused;
    static const char *const names[] = {"traces.otf2", "traces.def", "traces/0.evt", "traces/0.def",
                                        "traces/8589934592.evt"};
    const struct cts_timeline definitions = make_definitions();
    for (int round = 0; round < 60; round++) {
        struct cts_error error = {0};
        char path[700];
        uint8_t bytes[64];
        if (round % 10 == 0) {
            make_records(100 + (uint64_t)round);
            write_archive(&definitions);
        }
        snprintf(path, sizeof path, "%s/%s", directory, names[below(5)]);
        const int file = open(path, O_RDWR);
        assert_true(file >= 0);
        struct stat status;
        fstat(file, &status);
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)random_u64();
        const off_t at = status.st_size ? (off_t)(random_u64() % (uint64_t)status.st_size) : 0;
        if (below(4))
            assert_true(pwrite(file, bytes, 1 + below(8), at) > 0);
        else
            assert_int_equal(ftruncate(file, at), 0);
        close(file);
        (void)read_damaged(&error);
    }
}

static int make_directory(void **unused)
{
    (void)unused;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **unused)
{
    (void)unused;
    remove_tree(directory);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),       cmocka_unit_test(test_otf2_print_reads_it),
        cmocka_unit_test(test_a_visit_can_stop), cmocka_unit_test(test_time_does_not_go_back),
        cmocka_unit_test(test_metrics),          cmocka_unit_test(test_ticks_and_clock_offsets),
        cmocka_unit_test(test_damage_is_told),   cmocka_unit_test(test_random_damage),
    };
    /* Behind definitions that are cut, OTF2 takes what is in a new block of memory for the next
     * chunk. In one that an earlier archive used it can find that one's header, without end. */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
