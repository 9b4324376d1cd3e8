/* Makes the corpus of log-fuzz: logs that together have every type of record and every kind of
 * event, with attributes and without. Usage: log-corpus directory */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log/log-format.h"
#include "record/timeline/recorder.h"

enum { WORDS_MAX = 4096 };

struct words {
    uint64_t items[WORDS_MAX];
    uint32_t count;
};

static void die(const char *what)
{
    fprintf(stderr, "log-corpus: %s\n", what);
    exit(1);
}

static void add(struct words *w, uint64_t word)
{
    if (w->count == WORDS_MAX) die("too many words");
    w->items[w->count++] = word;
}

static void add_text(struct words *w, const char *text)
{
    const size_t bytes = strlen(text);
    add(w, bytes);
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t word = 0;
        memcpy(&word, text + at, bytes - at < 8 ? bytes - at : 8);
        add(w, word);
    }
}

/* Closes the record that begins at `start`. */
static void close_record(struct words *w, uint32_t start, unsigned type, uint32_t high)
{
    w->items[start] = cts_log_word(type, w->count - start, false, high);
}

static uint32_t open_record(struct words *w)
{
    add(w, 0);
    return w->count - 1;
}

/* ---- definitions ---- */

static void add_region(struct words *w, uint32_t number, const char *name, const char *file,
                       enum cts_paradigm paradigm)
{
    const uint32_t start = open_record(w);
    add(w, cts_log_pair(paradigm, CTS_ROLE_FUNCTION));
    add(w, cts_log_pair(3, 9));
    add_text(w, name);
    add(w, UINT32_MAX);
    add_text(w, file);
    close_record(w, start, CTS_RECORD_REGION, number);
}

static void add_named(struct words *w, unsigned type, uint32_t high, const char *text,
                      const char *more)
{
    const uint32_t start = open_record(w);
    if (type == CTS_RECORD_LOST) add(w, 5);
    if (type == CTS_RECORD_WINDOW) add(w, 0);
    add_text(w, text);
    if (more) add_text(w, more);
    close_record(w, start, type, high);
}

static void add_communicator(struct words *w, uint32_t number, uint32_t members)
{
    uint32_t start = open_record(w);
    add(w, cts_log_pair(0, number));
    add(w, cts_log_pair(CTS_TIMELINE_NONE, CTS_TIMELINE_NONE));
    add(w, members);
    add_text(w, "halo");
    close_record(w, start, CTS_RECORD_COMMUNICATOR, number);
    start = open_record(w);
    add(w, cts_log_pair(0, members));
    for (uint32_t i = 0; i < members; i += 2) add(w, cts_log_pair(i, i + 1));
    close_record(w, start, CTS_RECORD_MEMBERS, number);
}

static void add_pair(struct words *w, unsigned type, uint32_t high, uint64_t first, uint64_t second,
                     uint32_t count)
{
    const uint32_t start = open_record(w);
    add(w, first);
    if (count > 1) add(w, second);
    close_record(w, start, type, high);
}

static void make_definitions(struct words *w, bool with_mpi)
{
    const uint32_t start = open_record(w);
    add(w, 1000);
    add(w, 1700000000000000000);
    add_text(w, "host");
    add_text(w, "boot");
    add_text(w, "program");
    add_text(w, "--option");
    close_record(w, start, CTS_RECORD_PROCESS, 7);
    add_region(w, 0, "cuLaunchKernel", "CUDRV", CTS_PARADIGM_CUDA);
    add_region(w, 1, "kernel(float*)", "CUDA_KERNEL", CTS_PARADIGM_CUDA);
    add_region(w, 2, "solve", "solve.c", CTS_PARADIGM_USER);
    add_named(w, CTS_RECORD_THREAD_NAME, 0, "worker", NULL);
    add_named(w, CTS_RECORD_DEVICE, 0, "device", "cpu");
    add_named(w, CTS_RECORD_MESSAGE, 1, "something was odd", NULL);
    add_named(w, CTS_RECORD_LOST, 0, "records", NULL);
    if (with_mpi) {
        add_pair(w, CTS_RECORD_MPI, 1, 3, 0, 1);
        add_communicator(w, 0, 2);
        add_named(w, CTS_RECORD_WINDOW, 0, "window", NULL);
        add_pair(w, CTS_RECORD_CLOCK, 0, 900, 70, 2);
        add_pair(w, CTS_RECORD_CLOCK, 0, 90000, 75, 2);
    }
    add_pair(w, CTS_RECORD_FINISH, 0, 100000, 0, 1);
}

/* ---- events ---- */

static void add_event(struct words *w, const struct cts_timeline_event *event, bool attributes)
{
    struct cts_event_attributes all = {.present = 1u << CTS_ATTRIBUTE_STREAM_REF |
                                                  1u << CTS_ATTRIBUTE_CORRELATION};
    all.values[CTS_ATTRIBUTE_STREAM_REF] = 1;
    all.values[CTS_ATTRIBUTE_CORRELATION] = 77;
    if (w->count + CTS_LOG_EVENT_WORDS_MAX > WORDS_MAX) die("too many words");
    w->count += cts_log_pack_event(w->items + w->count, event, attributes ? &all : NULL);
}

static void make_thread(struct words *w, bool with_mpi)
{
    struct cts_timeline_event event = {.time_ns = 2000, .kind = CTS_EVENT_ENTER, .region = 2};
    add_event(w, &event, false);
    for (int kind = 0; with_mpi && kind < CTS_EVENT_OTHER; kind++) {
        if (kind <= CTS_EVENT_LEAVE) continue;
        event = (struct cts_timeline_event){.time_ns = 2100 + 10 * (uint64_t)kind,
                                            .kind = (enum cts_timeline_event_kind)kind};
        add_event(w, &event, kind % 3 == 0);
    }
    for (uint64_t i = 0; i < 4; i++) {
        event = (struct cts_timeline_event){
            .time_ns = 3000 + 100 * i, .kind = CTS_EVENT_ENTER, .region = 0};
        add_event(w, &event, true);
        event.time_ns += i == 2 ? 0 : 50;
        event.kind = CTS_EVENT_LEAVE;
        add_event(w, &event, false);
    }
    event = (struct cts_timeline_event){.time_ns = 2500, .kind = CTS_EVENT_ENTER, .region = 0};
    add_event(w, &event, false); /* back in time, and open at the end */
}

static void make_stream(struct words *w)
{
    const uint32_t shape = (1u << CTS_SHAPE_COUNT) - 1;
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t start = open_record(w);
        add(w, 4000 + 100 * (i ^ 1)); /* not in order */
        add(w, 4000 + 100 * (i ^ 1) + (i == 3 ? 300 : 40));
        if (i % 3 == 2) {
            add(w, 4096);
            add(w, 77);
            add(w, CTS_TIMELINE_NONE);
            close_record(w, start, CTS_RECORD_COPY, i % 4);
            continue;
        }
        add(w, cts_log_pair(1u << CTS_ATTRIBUTE_CORRELATION | shape << CTS_ATTRIBUTE_GRID_X, 32));
        add(w, 77);
        add(w, cts_log_pair(64 + i, 1));
        add(w, cts_log_pair(1, 256));
        add(w, cts_log_pair(1, 1));
        add(w, cts_log_pair(0, 1024));
        close_record(w, start, CTS_RECORD_ACTIVITY, 1);
    }
}

static void write_input(const char *directory, const char *name, const struct words *logs)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *const file = fopen(path, "wb");
    const size_t first = logs[0].count * 8ul, second = logs[1].count * 8ul;
    const uint8_t head[] = {1, (uint8_t)first, (uint8_t)(first >> 8), (uint8_t)second,
                            (uint8_t)(second >> 8)};
    if (!file || fwrite(head, sizeof head, 1, file) != 1) die(path);
    for (int i = 0; i < 3; i++)
        if (fwrite(logs[i].items, 8, logs[i].count, file) != logs[i].count) die(path);
    if (fclose(file)) die(path);
}

int main(int argc, char **argv)
{
    static struct words logs[3];
    if (argc != 2) {
        fprintf(stderr, "usage: %s directory\n", argv[0]);
        return 2;
    }
    for (int with_mpi = 0; with_mpi < 2; with_mpi++) {
        memset(logs, 0, sizeof logs);
        make_definitions(&logs[0], with_mpi);
        make_thread(&logs[1], with_mpi);
        make_stream(&logs[2]);
        write_input(argv[1], with_mpi ? "mpi-and-device" : "device", logs);
    }
    memset(logs, 0, sizeof logs);
    write_input(argv[1], "empty", logs);
    return 0;
}
