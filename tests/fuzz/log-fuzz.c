/* Fuzz target of what makes an archive of a process's logs (src/trace/log/log-format.h). The input:
 *
 *   OFFSET SIZE MEANING
 *        0    1 mode: even, the logs as they are; odd, without their headers, which are put before
 *        1    2 bytes of definitions.log, little-endian
 *        3    2 bytes of 0.log, a thread's
 *        5      definitions.log, 0.log, and the rest: 1.log, a stream's
 *
 * Whatever the logs hold, the archive is made or refused in words; it holds as many events as were
 * written, in order of time, and its functions are nested. Of a few inputs (sparse.h) the archive
 * is really made and read to its end; of the others what would be written is looked at, since the
 * OTF2 library clears megabytes for each archive. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assemble/assemble.h"
#include "fuzz/in-place.h"
#include "fuzz/sparse.h"
#include "trace/log/log-format.h"
#include "trace/timeline/timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD_BYTES = 5 };

static void die(const char *what)
{
    fprintf(stderr, "log-fuzz: %s\n", what);
    abort();
}

static const char *folder(void)
{
    static char path[64];
    if (*path) return path;
    snprintf(path, sizeof path, "%s/log-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(path)) die("cannot make a directory");
    return path;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)type, (void)place;
    return remove(path);
}

static bool has_folders;

static void remove_all(void)
{
    nftw(folder(), remove_one, 16, FTW_DEPTH | FTW_PHYS);
    has_folders = false;
}

static void make_folders(void)
{
    char path[128];
    mkdir(folder(), 0777);
    snprintf(path, sizeof path, "%s/rank-0", folder());
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/rank-0/timeline", folder());
    mkdir(path, 0777);
    has_folders = true;
}

static void write_log(const char *name, enum cts_log_kind kind, bool with_header,
                      const uint8_t *bytes, size_t size)
{
    char path[160];
    uint8_t header[CTS_LOG_HEADER_BYTES] = CTS_LOG_MAGIC;
    const uint32_t fields[] = {kind, kind == CTS_LOG_STREAM, 7, 7, 0, 0, CTS_LOG_NULL_STREAM};
    memcpy(header + 8, fields, sizeof fields);
    snprintf(path, sizeof path, "%s/rank-0/timeline/%s.log", folder(), name);
    const struct iovec head = {header, with_header ? sizeof header : 0};
    if (!write_in_place(path, head, (struct iovec){(void *)(uintptr_t)bytes, size})) die(path);
}

struct seen {
    uint64_t events, last_ns, depth;
};

static bool look(void *state, uint32_t location, const struct cts_timeline_event *event,
                 const struct cts_event_attributes *attributes)
{
    struct seen *const seen = state;
    (void)location, (void)attributes;
    if (event->time_ns < seen->last_ns) die("time goes back");
    if (event->kind == CTS_EVENT_LEAVE && !seen->depth) die("a LEAVE without an ENTER");
    seen->last_ns = event->time_ns;
    seen->depth += event->kind == CTS_EVENT_ENTER;
    seen->depth -= event->kind == CTS_EVENT_LEAVE;
    seen->events++;
    return true;
}

static void read_again(const struct cts_assembly *assembly)
{
    struct cts_timeline timeline;
    struct cts_error error;
    uint64_t events = 0;
    if (cts_timeline_open(folder(), &timeline, &error)) die(error.text);
    for (uint32_t i = 0; i < timeline.location_count; i++) {
        struct seen seen = {0};
        if (cts_timeline_read(&timeline, i, look, &seen, &error)) die(error.text);
        if (seen.depth) die("a function was never left");
        events += seen.events;
    }
    if (events != assembly->event_count) die("other events than were written");
    cts_timeline_close(&timeline);
}

/* ---- what would be written; the linker puts this before the writer of archives ---- */

static bool is_archive_made;
static struct memory {
    struct seen *locations;
    uint32_t count;
    uint64_t events;
} memory;

enum cts_status __real_cts_timeline_create(const struct cts_timeline_writer_options *options,
                                           const struct cts_timeline *definitions,
                                           struct cts_timeline_writer **writer,
                                           struct cts_error *error);
enum cts_status __real_cts_timeline_write(struct cts_timeline_writer *writer, uint32_t location,
                                          const struct cts_timeline_event *event,
                                          const struct cts_event_attributes *attributes,
                                          struct cts_error *error);
enum cts_status __real_cts_timeline_end_location(struct cts_timeline_writer *writer,
                                                 uint32_t location, struct cts_error *error);
enum cts_status __real_cts_timeline_finish(struct cts_timeline_writer *writer,
                                           struct cts_error *error);
enum cts_status __wrap_cts_timeline_create(const struct cts_timeline_writer_options *options,
                                           const struct cts_timeline *definitions,
                                           struct cts_timeline_writer **writer,
                                           struct cts_error *error);
enum cts_status __wrap_cts_timeline_write(struct cts_timeline_writer *writer, uint32_t location,
                                          const struct cts_timeline_event *event,
                                          const struct cts_event_attributes *attributes,
                                          struct cts_error *error);
enum cts_status __wrap_cts_timeline_end_location(struct cts_timeline_writer *writer,
                                                 uint32_t location, struct cts_error *error);
enum cts_status __wrap_cts_timeline_finish(struct cts_timeline_writer *writer,
                                           struct cts_error *error);

enum cts_status __wrap_cts_timeline_create(const struct cts_timeline_writer_options *options,
                                           const struct cts_timeline *definitions,
                                           struct cts_timeline_writer **writer,
                                           struct cts_error *error)
{
    if (is_archive_made) return __real_cts_timeline_create(options, definitions, writer, error);
    memory.count = (uint32_t)definitions->location_count;
    memory.events = 0;
    memory.locations = calloc(memory.count + 1, sizeof *memory.locations);
    if (!memory.locations) die("no memory");
    *writer = NULL;
    return CTS_OK;
}

enum cts_status __wrap_cts_timeline_write(struct cts_timeline_writer *writer, uint32_t location,
                                          const struct cts_timeline_event *event,
                                          const struct cts_event_attributes *attributes,
                                          struct cts_error *error)
{
    if (is_archive_made)
        return __real_cts_timeline_write(writer, location, event, attributes, error);
    if (location >= memory.count) die("an event of no location");
    look(&memory.locations[location], location, event, attributes);
    memory.events++;
    return CTS_OK;
}

enum cts_status __wrap_cts_timeline_end_location(struct cts_timeline_writer *writer,
                                                 uint32_t location, struct cts_error *error)
{
    if (is_archive_made) return __real_cts_timeline_end_location(writer, location, error);
    if (location >= memory.count) die("the end of no location");
    if (memory.locations[location].depth) die("a function was never left");
    return CTS_OK;
}

enum cts_status __wrap_cts_timeline_finish(struct cts_timeline_writer *writer,
                                           struct cts_error *error)
{
    if (is_archive_made) return __real_cts_timeline_finish(writer, error);
    free(memory.locations);
    memory.locations = NULL;
    return CTS_OK;
}

static void check(const struct cts_assembly *assembly)
{
    if (is_archive_made)
        read_again(assembly);
    else if (memory.events != assembly->event_count)
        die("other events than were written");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool known;
    if (!known && atexit(remove_all) == 0) known = true;
    if (size < HEAD_BYTES) return 0;
    is_archive_made = is_one_of(256, data, size);
    const bool with_header = data[0] % 2;
    size_t lengths[3] = {data[1] | data[2] << 8, data[3] | data[4] << 8};
    data += HEAD_BYTES, size -= HEAD_BYTES;
    if (lengths[0] > size) lengths[0] = size;
    if (lengths[1] > size - lengths[0]) lengths[1] = size - lengths[0];
    lengths[2] = size - lengths[0] - lengths[1];

    if (!has_folders) make_folders();
    write_log("definitions", CTS_LOG_DEFINITIONS, with_header, data, lengths[0]);
    write_log("0", CTS_LOG_THREAD, with_header, data + lengths[0], lengths[1]);
    write_log("1", CTS_LOG_STREAM, with_header, data + lengths[0] + lengths[1], lengths[2]);

    struct cts_assembly assembly;
    struct cts_error error = {0};
    if (!cts_timeline_assemble(folder(), &(struct cts_assembly_options){.threads = 1}, &assembly,
                               &error))
        check(&assembly);
    else if (!*error.text)
        die("refused without a word");
    if (is_archive_made) remove_all();
    return 0;
}
