/* What the timeline costs: recording an event, making the archive, reading it. Prints a line of
 * "name value" for each figure; times are of the processor, best of three.
 *
 *     timeline-bench DIRECTORY EVENTS
 *
 * Reading is compared with the library's own reader, whose callbacks do nothing. */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "assemble/assemble.h"
#include "record/timeline/recorder.h"

enum { REPEATS = 3, REGIONS = 64 };

static void die(const char *what, const char *reason)
{
    fprintf(stderr, "timeline-bench: %s: %s\n", what, reason);
    exit(1);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- recording ---- */

static void record(uint64_t pairs)
{
    const struct cts_recorder *const recorder = cts_recorder_get();
    uint32_t regions[REGIONS];
    double best = 1e9;
    if (!recorder->is_on()) die("recording", "the recorder is off");
    for (uint32_t i = 0; i < REGIONS; i++) {
        char name[32];
        snprintf(name, sizeof name, "function %u", i);
        const struct cts_timeline_region region = {
            .name = name, .paradigm = CTS_PARADIGM_USER, .role = CTS_ROLE_FUNCTION};
        regions[i] = recorder->region(&region);
    }
    struct cts_log *const log = recorder->this_thread();
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = now_s();
        for (uint64_t i = 0; i < pairs / REPEATS; i++) {
            recorder->enter(log, regions[i % REGIONS]);
            recorder->leave(log, regions[i % REGIONS]);
        }
        const double ns = (now_s() - start) * 1e9 / (double)(pairs / REPEATS);
        if (ns < best) best = ns;
    }
    printf("pair_ns %.1f\n", best);
    double clock = 1e9;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = now_s();
        for (uint64_t i = 0; i < 1000000; i++) (void)recorder->now_ns();
        const double ns = (now_s() - start) * 1e9 / 1000000;
        if (ns < clock) clock = ns;
    }
    printf("clock_ns %.1f\n", clock);
    recorder->finish();
}

/* ---- reading ---- */

static bool count_event(void *state, uint32_t location, const struct cts_timeline_event *event,
                        const struct cts_event_attributes *attributes)
{
    (void)location, (void)event, (void)attributes;
    ++*(uint64_t *)state;
    return true;
}

static double read_ours(const char *path, uint64_t *count)
{
    struct cts_timeline timeline;
    struct cts_error error;
    if (cts_timeline_open(path, &timeline, &error)) die("reading", error.text);
    const double start = now_s();
    *count = 0;
    for (uint32_t i = 0; i < timeline.location_count; i++)
        if (cts_timeline_read(&timeline, i, count_event, count, &error)) die("reading", error.text);
    const double seconds = now_s() - start;
    cts_timeline_close(&timeline);
    return seconds;
}

static OTF2_CallbackCode on_region(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at,
                                   void *user, OTF2_AttributeList *list, OTF2_RegionRef region)
{
    (void)location, (void)time, (void)at, (void)list, (void)region;
    ++*(uint64_t *)user;
    return OTF2_CALLBACK_SUCCESS;
}

/* The one location that the benchmark writes has reference 0. */
static double read_library(const char *path)
{
    char anchor[4200];
    uint64_t count = 0, read = 0;
    snprintf(anchor, sizeof anchor, "%s/timeline/traces.otf2", path);
    OTF2_Reader *const reader = OTF2_Reader_Open(anchor);
    if (!reader) die("reading", anchor);
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    OTF2_Reader_SelectLocation(reader, 0);
    OTF2_Reader_OpenEvtFiles(reader);
    OTF2_EvtReader *const events = OTF2_Reader_GetEvtReader(reader, 0);
    OTF2_EvtReaderCallbacks *const callbacks = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, on_region);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, on_region);
    OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, &count);
    const double start = now_s();
    OTF2_Reader_ReadAllLocalEvents(reader, events, &read);
    const double seconds = now_s() - start;
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    OTF2_Reader_CloseEvtReader(reader, events);
    OTF2_Reader_Close(reader);
    return seconds;
}

int main(int argc, char **argv)
{
    if (argc != 3) die("usage", "timeline-bench DIRECTORY EVENTS");
    struct cts_error error;
    struct cts_assembly assembly;
    uint64_t count = 0;
    const uint64_t events = strtoull(argv[2], NULL, 10);
    mkdir(argv[1], 0777);
    setenv("CTASCOPE_TIMELINE", "1", 1);
    setenv("CTASCOPE_RUN", argv[1], 1);
    setenv("CTASCOPE_SESSION", "bench", 1);
    record(events / 2);
    const double start = now_s();
    const struct cts_assembly_options options = {.threads = 1};
    if (cts_timeline_assemble(argv[1], &options, &assembly, &error)) die("assembling", error.text);
    printf("assemble_ns %.1f\n", (now_s() - start) * 1e9 / (double)assembly.event_count);
    printf("bytes %.2f\n", (double)assembly.archive_bytes / (double)assembly.event_count);
    double ours = 1e9, library = 1e9;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double seconds = read_ours(argv[1], &count), theirs = read_library(argv[1]);
        if (seconds < ours) ours = seconds;
        if (theirs < library) library = theirs;
    }
    printf("read_ns %.1f\n", ours * 1e9 / (double)count);
    printf("library_ns %.1f\n", library * 1e9 / (double)count);
    return 0;
}
