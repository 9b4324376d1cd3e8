/* The recorder's logs and the archive that is made of them: threads, forks, disorder, death,
 * damage, a full disk. What records runs in a forked child, since a process has one recorder. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "count.h"
#include "assemble/assemble-private.h"
#include "record/timeline/recorder.h"
#include "random.h"

enum { THREADS = 8, PAIRS = 5000, ACTIVITIES = 3000 };

static char run_path[] = "/tmp/ctascope-logs-XXXXXX";
static void remove_content(const char *path)
{
    DIR *const stream = opendir(path);
    struct dirent *entry;
    while (stream && (entry = readdir(stream))) {
        char inner[700];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (unlink(inner) == 0) continue;
        remove_content(inner);
        rmdir(inner);
    }
    if (stream) closedir(stream);
}

/* ---- recording, in a child ---- */

static const struct cts_recorder *recorder;

static uint32_t region(const char *name, enum cts_paradigm paradigm)
{
    const struct cts_timeline_region wanted = {
        .name = name, .paradigm = paradigm, .role = CTS_ROLE_FUNCTION};
    return recorder->region(&wanted);
}

static void start_recorder(void)
{
    setenv("CTASCOPE_TIMELINE", "1", 1);
    setenv("CTASCOPE_RUN", run_path, 1);
    setenv("CTASCOPE_SESSION", "test", 1);
    recorder = cts_recorder_get();
    if (!recorder->is_on()) _exit(90);
}

/* Runs `scenario` in a child and returns how it ended; `kill_after_us` 0: it ends by itself. */
static int in_child(void (*scenario)(void), useconds_t kill_after_us)
{
    int status = 0;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        start_recorder();
        scenario();
        recorder->finish();
        _exit(0);
    }
    if (kill_after_us) {
        usleep(kill_after_us);
        kill(pid, SIGKILL);
    }
    waitpid(pid, &status, 0);
    return status;
}

static struct cts_assembly assemble(void)
{
    struct cts_assembly assembly;
    struct cts_error error = {0};
    if (cts_timeline_assemble(run_path, &(struct cts_assembly_options){.threads = 2}, &assembly,
                              &error))
        fail_msg("%s", error.text);
    return assembly;
}

/* ---- reading ---- */

struct reading {
    uint64_t last_ns, events, enters, leaves, copies, correlations;
    uint32_t depth, deepest;
    bool in_order;
};

static bool read_event(void *argument, uint32_t location, const struct cts_timeline_event *event,
                       const struct cts_event_attributes *attributes)
{
    struct reading *const r = argument;
    (void)location;
    r->events++;
    if (event->time_ns < r->last_ns) r->in_order = false;
    r->last_ns = event->time_ns;
    if (event->kind == CTS_EVENT_ENTER && ++r->depth > r->deepest) r->deepest = r->depth;
    if (event->kind == CTS_EVENT_LEAVE && r->depth-- == 0) r->in_order = false;
    r->enters += event->kind == CTS_EVENT_ENTER;
    r->leaves += event->kind == CTS_EVENT_LEAVE;
    r->copies += event->kind == CTS_EVENT_RMA_GET || event->kind == CTS_EVENT_RMA_PUT;
    r->correlations += attributes && attributes->present >> CTS_ATTRIBUTE_CORRELATION & 1;
    return true;
}

static struct reading read_location(const struct cts_timeline *timeline, uint32_t location)
{
    struct cts_error error = {0};
    struct reading reading = {.in_order = true};
    if (cts_timeline_read(timeline, location, read_event, &reading, &error))
        fail_msg("%s", error.text);
    if (!reading.in_order || reading.depth) fail_msg("location %u is not in order", location);
    return reading;
}

static void open_run(struct cts_timeline *timeline)
{
    struct cts_error error = {0};
    if (cts_timeline_open(run_path, timeline, &error)) fail_msg("%s", error.text);
}

/* ---- many threads, two streams in disorder, a fork ---- */

static struct cts_log *streams[2];

static void *work(void *argument)
{
    const uint32_t seed = (uint32_t)(uintptr_t)argument;
    struct cts_log *const log = recorder->this_thread();
    char name[32];
    snprintf(name, sizeof name, "own %u", seed);
    const uint32_t mine = region(name, CTS_PARADIGM_USER);
    const uint32_t kernel = region("kernel(int)", CTS_PARADIGM_CUDA);
    for (uint32_t i = 0; i < PAIRS; i++) {
        recorder->enter(log, mine);
        recorder->enter(log, kernel);
        recorder->leave(log, kernel);
        recorder->leave(log, mine);
    }
    for (uint32_t i = 0; i < ACTIVITIES; i++) {
        const uint64_t slot = (i * 7919u % ACTIVITIES) * THREADS + seed;
        const struct cts_recorder_activity activity = {
            .start_ns = recorder->now_ns() / 1000000000u * 1000000000u + slot * 100,
            .end_ns = recorder->now_ns() / 1000000000u * 1000000000u + slot * 100 + 60,
            .region = kernel,
            .present = 1u << CTS_ATTRIBUTE_CORRELATION,
            .correlation = slot + 1,
        };
        recorder->activity(streams[0], &activity);
        const struct cts_recorder_copy copy = {
            .start_ns = slot * 100, .end_ns = slot * 100 + 50, .bytes = 8, .kind = i % 5};
        recorder->copy(streams[1], &copy);
    }
    return NULL;
}

static void threads_and_fork(void)
{
    pthread_t threads[THREADS];
    for (uint32_t i = 0; i < 2; i++) {
        const struct cts_recorder_stream stream = {.device = i,
                                                   .stream = 3,
                                                   .ordinal = CTS_TIMELINE_NONE,
                                                   .null_stream = i == 0,
                                                   .non_blocking = i == 1};
        streams[i] = recorder->stream(&stream);
        if (recorder->stream(&stream) != streams[i]) _exit(91);
    }
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1)); /* NOLINT */
    for (uint32_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    struct cts_log *const mine = recorder->this_thread();
    recorder->enter(mine, region("main", CTS_PARADIGM_USER));
    const pid_t pid = fork();
    if (pid == 0) {
        recorder->leave(mine, 0); /* the parent's log is not ours to write to */
        struct cts_log *const own = recorder->this_thread();
        recorder->enter(own, region("child", CTS_PARADIGM_USER));
        recorder->leave(own, region("child", CTS_PARADIGM_USER));
        recorder->finish();
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void test_threads_streams_and_a_fork(void **unused)
{
    (void)unused;
    struct cts_timeline timeline;
    remove_content(run_path);
    assert_int_equal(in_child(threads_and_fork, 0), 0);
    const struct cts_assembly assembly = assemble();
    assert_int_equal(assembly.process_count, 2);
    assert_int_equal(assembly.location_count, 1 + THREADS + 2 + 1);
    assert_int_equal(assembly.cut_process_count, 0);
    assert_int_equal(assembly.lost_count, 0);
    assert_int_equal(assembly.moved_count, 0);
    open_run(&timeline);
    assert_int_equal(timeline.group_count, 2);
    uint32_t threads = 0;
    for (uint32_t i = 0; i < timeline.location_count; i++) {
        const struct reading r = read_location(&timeline, i);
        const struct cts_timeline_location *const location = &timeline.locations[i];
        assert_int_equal(r.enters, r.leaves);
        assert_int_equal(r.events, location->event_count);
        if (location->kind == CTS_LOCATION_STREAM && location->device == 0) {
            assert_true(location->null_stream);
            assert_int_equal(r.enters, THREADS * ACTIVITIES);
            assert_int_equal(r.correlations, THREADS * ACTIVITIES);
        } else if (location->kind == CTS_LOCATION_STREAM) {
            assert_true(location->non_blocking);
            assert_int_equal(r.copies, THREADS * ACTIVITIES);
        } else if (i && location->group == 0) {
            assert_int_equal(r.enters, 2 * PAIRS);
            assert_int_equal(r.deepest, 2);
            threads++;
        } else {
            assert_int_equal(r.enters, 1);
        }
    }
    assert_int_equal(threads, THREADS);
    cts_timeline_close(&timeline);
    char path[700];
    snprintf(path, sizeof path, "%s/rank-0/timeline", run_path);
    assert_int_not_equal(access(path, F_OK), 0); /* the logs are gone */
}

/* ---- killed ---- */

static void record_for_ever(void)
{
    struct cts_log *const log = recorder->this_thread();
    const struct cts_recorder_stream wanted = {.ordinal = CTS_TIMELINE_NONE};
    struct cts_log *const stream = recorder->stream(&wanted);
    for (uint32_t i = 0;; i++) {
        char name[16];
        snprintf(name, sizeof name, "r%u", i % 3000);
        const uint32_t r = region(name, CTS_PARADIGM_USER);
        struct cts_timeline_event event = {.kind = CTS_EVENT_ENTER, .region = r};
        const struct cts_event_attributes attributes = {.present = 1u << CTS_ATTRIBUTE_STREAM_REF,
                                                        .values[CTS_ATTRIBUTE_STREAM_REF] =
                                                            (uintptr_t)stream};
        recorder->event(log, &event, &attributes);
        recorder->enter(log, r);
        recorder->leave(log, r);
        recorder->leave(log, r);
        const uint64_t now_ns = recorder->now_ns();
        const struct cts_recorder_activity activity = {
            .start_ns = now_ns, .end_ns = now_ns + 5, .region = r, .present = 0x7fff & ~31u};
        recorder->activity(stream, &activity);
    }
}

static void test_killed_at_any_moment(void **unused)
{
    (void)unused;
    for (int round = 0; round < 12; round++) {
        struct cts_timeline timeline;
        remove_content(run_path);
        assert_true(WIFSIGNALED(in_child(record_for_ever, 20000 + below(100000))));
        if (!cts_timeline_has_logs(run_path)) continue; /* killed before it began */
        const struct cts_assembly assembly = assemble();
        if (!assembly.event_count) continue;
        assert_int_equal(assembly.cut_process_count, 1);
        assert_int_equal(assembly.lost_count, 0);
        assert_int_equal(assembly.damaged_log_count, 0);
        open_run(&timeline);
        for (uint32_t i = 0; i < timeline.location_count; i++) (void)read_location(&timeline, i);
        cts_timeline_close(&timeline);
    }
}

/* ---- no room ---- */

static void record_much(void)
{
    struct cts_log *const log = recorder->this_thread();
    const uint32_t r = region("much", CTS_PARADIGM_USER);
    for (uint32_t i = 0; i < 1000000; i++) {
        recorder->enter(log, r);
        recorder->leave(log, r);
    }
    if (recorder->is_on()) _exit(92);
}

static void check_ended_early(const char *reason)
{
    struct cts_timeline timeline;
    const struct cts_assembly assembly = assemble();
    assert_non_null(strstr(assembly.failure, reason));
    assert_true(assembly.lost_count > 100000);
    assert_true(assembly.event_count > 10000);
    open_run(&timeline);
    (void)read_location(&timeline, 0);
    cts_timeline_close(&timeline);
}

static void test_size_limit(void **unused)
{
    (void)unused;
    remove_content(run_path);
    setenv("CTASCOPE_MAX_SIZE", "3000000", 1);
    assert_int_equal(in_child(record_much, 0), 0);
    unsetenv("CTASCOPE_MAX_SIZE");
    check_ended_early("size limit of 3000000 bytes");
}

static void test_full_disk(void **unused)
{
    (void)unused;
    remove_content(run_path);
    if (mount("tmpfs", run_path, "tmpfs", 0, "size=4m")) {
        print_message("a small file system cannot be mounted: skipped\n");
        return;
    }
    assert_int_equal(in_child(record_much, 0), 0);
    /* the archive needs room, too: what holds the logs grows, as when somebody cleans up */
    assert_int_equal(mount("tmpfs", run_path, "tmpfs", MS_REMOUNT, "size=64m"), 0);
    check_ended_early("No space left on device");
    umount(run_path);
}

/* ---- damage ---- */

static void record_little(void)
{
    struct cts_log *const log = recorder->this_thread();
    const struct cts_recorder_stream wanted = {.ordinal = CTS_TIMELINE_NONE};
    struct cts_log *const stream = recorder->stream(&wanted);
    const uint32_t members[] = {0, 1};
    const struct cts_recorder_communicator self = {.creator = 0,
                                                   .number = 3,
                                                   .parent_creator = 0,
                                                   .name = "c",
                                                   .members = members,
                                                   .member_count = 2};
    recorder->mpi(0, 2);
    recorder->clock_reading(recorder->now_ns(), 100);
    const uint32_t c = recorder->communicator(&self), w = recorder->window(c, "w");
    const uint32_t r = region("little", CTS_PARADIGM_MPI);
    for (uint32_t i = 0; i < 200; i++) {
        struct cts_timeline_event event = {.kind = (enum cts_timeline_event_kind)(i % 44)};
        recorder->enter(log, r);
        if (event.kind > CTS_EVENT_LEAVE) {
            if (event.kind >= CTS_EVENT_RMA_WIN_CREATE && event.kind < CTS_EVENT_THREAD_FORK)
                event.rma.window = w;
            else if (event.kind < CTS_EVENT_MPI_COLLECTIVE_BEGIN)
                event.message.communicator = c;
            recorder->event(log, &event, NULL);
        }
        recorder->leave(log, r);
        const struct cts_recorder_copy copy = {.start_ns = i, .end_ns = i + 1, .source = stream};
        recorder->copy(stream, &copy);
    }
    recorder->message("note", "a note");
    recorder->lost("things", 3);
}

static void spoil(const char *path)
{
    uint8_t bytes[16];
    struct stat status;
    const int file = open(path, O_RDWR);
    if (file < 0) return;
    fstat(file, &status);
    const uint64_t length = (uint64_t)status.st_size < 8192 ? (uint64_t)status.st_size : 8192;
    const off_t at = (off_t)(length ? random_u64() % length : 0);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)random_u64();
    const bool done = below(4) ? pwrite(file, bytes, 1 + below(9), at) > 0 : !ftruncate(file, at);
    close(file);
    assert_true(done);
}

static void test_damaged_logs(void **unused)
{
    (void)unused;
    CTS_TEST_STARTS_NO_THREAD();
    static const char *const names[] = {"definitions.log", "0.log", "1.log"};
    for (int round = 0; round < 40; round++) {
        char path[700];
        struct cts_assembly assembly;
        struct cts_error error = {0};
        struct cts_timeline timeline;
        remove_content(run_path);
        assert_int_equal(in_child(record_little, 0), 0);
        snprintf(path, sizeof path, "%s/rank-0/timeline/%s", run_path, names[round % 3]);
        for (uint32_t i = 0; i <= below(3); i++) spoil(path);
        if (cts_timeline_assemble(run_path, &(struct cts_assembly_options){.threads = 1}, &assembly,
                                  &error)) {
            assert_non_null(strstr(error.text, "definitions.log"));
            continue;
        }
        open_run(&timeline);
        for (uint32_t i = 0; i < timeline.location_count; i++) (void)read_location(&timeline, i);
        cts_timeline_close(&timeline);
    }
}

static void copy_file(const char *from, const char *to)
{
    static uint8_t bytes[1 << 20];
    const int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ssize_t length;
    assert_true(in >= 0 && out >= 0);
    while ((length = read(in, bytes, sizeof bytes)) > 0)
        assert_int_equal(write(out, bytes, (size_t)length), length);
    close(in);
    close(out);
}

/* Logs that somebody copied: several name the same thread, the main one, too. */
static void test_copied_logs(void **unused)
{
    (void)unused;
    enum { COPIES = 40 };
    struct cts_timeline timeline;
    remove_content(run_path);
    assert_int_equal(in_child(record_little, 0), 0);
    for (int i = 0; i < COPIES; i++) {
        char from[700], to[700];
        snprintf(from, sizeof from, "%s/rank-0/timeline/%d.log", run_path, i % 2);
        snprintf(to, sizeof to, "%s/rank-0/timeline/%d.log", run_path, 10 + i);
        copy_file(from, to);
    }
    (void)assemble();
    open_run(&timeline);
    assert_true(timeline.location_count >= 2 && timeline.location_count <= COPIES + 3);
    cts_timeline_close(&timeline);
}

static void test_all_kinds_reach_the_archive(void **unused)
{
    (void)unused;
    struct cts_timeline timeline;
    remove_content(run_path);
    assert_int_equal(in_child(record_little, 0), 0);
    const struct cts_assembly assembly = assemble();
    assert_int_equal(assembly.lost_count, 3); /* told by the recorder */
    open_run(&timeline);
    assert_int_equal(timeline.group_count, 2); /* rank 1 left no log, but is in the world */
    assert_string_equal(timeline.groups[0].name, "MPI Rank 0");
    assert_string_equal(timeline.groups[1].name, "MPI Rank 1");
    assert_int_equal(timeline.world, 0);
    assert_int_equal(timeline.communicators[0].rank_count, 2);
    assert_int_equal(timeline.communicators[1].rank_count, 2);
    assert_string_equal(timeline.communicators[1].name, "c");
    assert_int_equal(timeline.communicators[1].parent, 0);
    const struct reading host = read_location(&timeline, 0), stream = read_location(&timeline, 1);
    /* 200 pairs, all kinds but ENTER and LEAVE, and the window's two */
    assert_int_equal(host.events, 400 + 200 - 2 * 5 + 2);
    assert_int_equal(stream.copies, 200);
    cts_timeline_close(&timeline);
}

/* ---- overlap, and a parent's log after a fork ---- */

static void record_overlap(void)
{
    const struct cts_recorder_stream wanted = {.ordinal = CTS_TIMELINE_NONE};
    struct cts_log *const stream = recorder->stream(&wanted), *const log = recorder->this_thread();
    const uint64_t start_ns = recorder->now_ns();
    for (uint32_t i = 0; i < 100; i++) {
        const struct cts_recorder_activity activity = {
            .start_ns = start_ns + i * 100, .end_ns = start_ns + i * 100 + (i % 2 ? 10 : 150)};
        recorder->activity(stream, &activity);
    }
    (void)region("overlap", CTS_PARADIGM_CUDA);
    recorder->enter(log, 0);
    if (fork() == 0) {
        for (int i = 0; i < 3; i++) recorder->leave(log, 0); /* must not reach the parent's log */
        _exit(0);
    }
    wait(NULL);
    _exit(0);
}

static void test_overlap_and_a_log_after_fork(void **unused)
{
    (void)unused;
    struct cts_timeline timeline;
    remove_content(run_path);
    assert_int_equal(in_child(record_overlap, 0), 0);
    const struct cts_assembly assembly = assemble();
    assert_int_equal(assembly.overlap_count, 50);
    assert_int_equal(assembly.moved_count, 0);
    assert_int_equal(assembly.unmatched_count, 0);
    open_run(&timeline);
    assert_int_equal(read_location(&timeline, 1).enters, 100);
    cts_timeline_close(&timeline);
}

/* ---- sorting ---- */

struct sorted {
    uint64_t *starts;
    size_t count;
    struct cts_stream_item last;
};

static enum cts_status take_item(void *argument, const struct cts_stream_item *item,
                                 struct cts_error *error)
{
    struct sorted *const s = argument;
    (void)error;
    if (s->count && (s->last.words[1] > item->words[1] ||
                     (s->last.words[1] == item->words[1] && s->last.ordinal > item->ordinal)))
        return CTS_FORMAT;
    s->last = *item;
    s->starts[s->count++] = item->words[1];
    return CTS_OK;
}

static uint64_t sort_seed;

static void record_disorder(void)
{
    const struct cts_recorder_stream wanted = {.ordinal = CTS_TIMELINE_NONE};
    struct cts_log *const stream = recorder->stream(&wanted);
    random_start(sort_seed);
    for (uint32_t i = 0; i < 4000; i++) {
        const uint64_t start_ns = sort_seed % 2 ? below(3000) : i * 10 + below(200);
        const struct cts_recorder_copy copy = {.start_ns = start_ns, .end_ns = start_ns};
        recorder->copy(stream, &copy);
    }
    _exit(0);
}

static int compare_u64(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Its twin: qsort() of all. Parts in memory from one item to all of them. */
static void test_sorting_in_parts(void **unused)
{
    (void)unused;
    CTS_TEST_STARTS_NO_THREAD();
    static const size_t in_memory[] = {1, 7, 100, 3999, 4000, 100000};
    uint64_t *const starts = malloc(4000 * sizeof *starts), *const expected = malloc(4000 * 8);
    for (sort_seed = 1; sort_seed <= 4; sort_seed++) {
        char path[700];
        remove_content(run_path);
        assert_int_equal(in_child(record_disorder, 0), 0);
        snprintf(path, sizeof path, "%s/rank-0/timeline/0.log", run_path);
        random_start(sort_seed);
        for (uint32_t i = 0; i < 4000; i++)
            expected[i] = sort_seed % 2 ? below(3000) : i * 10 + below(200);
        qsort(expected, 4000, sizeof *expected, compare_u64);
        for (size_t i = 0; i < sizeof in_memory / sizeof *in_memory; i++) {
            struct sorted sorted = {.starts = starts};
            const struct cts_stream_visitor visitor = {take_item, &sorted};
            struct cts_error error = {0};
            bool damage;
            assert_int_equal(cts_sort_stream(path, in_memory[i], &visitor, &damage, &error),
                             CTS_OK);
            assert_false(damage);
            assert_int_equal(sorted.count, 4000);
            assert_memory_equal(starts, expected, 4000 * sizeof *starts);
        }
    }
    free(starts);
    free(expected);
}

/* ---- clocks ---- */

static void test_clock_correction(void **unused)
{
    (void)unused;
    struct cts_clock_reading readings[] = {{1000, -50}, {2000, 50}, {12000, 50}};
    struct cts_log_process process = {.clock = {.items = readings, .count = 3}};
    assert_int_equal(cts_correct_time(&process, 1000), 950);
    assert_int_equal(cts_correct_time(&process, 1500), 1500);
    assert_int_equal(cts_correct_time(&process, 2000), 2050);
    assert_int_equal(cts_correct_time(&process, 7000), 7050);
    assert_int_equal(cts_correct_time(&process, 0), 0); /* -150 */
    assert_int_equal(cts_correct_time(&process, 20000), 20050);
    uint64_t last = 0;
    for (uint64_t t = 0; t < 15000; t++) {
        const uint64_t corrected = cts_correct_time(&process, t);
        assert_true(corrected >= last);
        last = corrected;
    }
    process.clock.count = 1;
    assert_int_equal(cts_correct_time(&process, 5000), 4950);
    process.same_clock = true;
    assert_int_equal(cts_correct_time(&process, 5000), 5000);
}

static int make_directory(void **unused)
{
    (void)unused;
    return mkdtemp(run_path) ? 0 : -1;
}

static int remove_directory(void **unused)
{
    (void)unused;
    remove_content(run_path);
    rmdir(run_path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_streams_and_a_fork),
        cmocka_unit_test(test_all_kinds_reach_the_archive),
        cmocka_unit_test(test_killed_at_any_moment),
        cmocka_unit_test(test_size_limit),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_damaged_logs),
        cmocka_unit_test(test_copied_logs),
        cmocka_unit_test(test_overlap_and_a_log_after_fork),
        cmocka_unit_test(test_sorting_in_parts),
        cmocka_unit_test(test_clock_correction),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
