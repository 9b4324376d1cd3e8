/* Fuzz target of the importer of traces. The first byte chooses what the others are:
 *
 *   0 modulo 4    a file as it is
 *   1 modulo 4    entries of a .trc, without the magic number
 *   2 modulo 4    entries of the format of 2017, without its first two bytes
 *   3 modulo 4    a file as it is, with memory for a few records only, so that it takes rounds
 *
 * What the scan accepts must be packed without a complaint, and hold as many accesses as it said.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/trc-pack.h"
#include "trace/write/collector-private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ACCESSES_MAX = 1 << 20, WORKERS = 2 };

static void die(const char *what)
{
    fprintf(stderr, "trc-fuzz: %s\n", what);
    abort();
}

/* Made once; the access files in it are made anew for each input. */
static const char *folder(void)
{
    static char path[64];
    if (*path) return path;
    snprintf(path, sizeof path, "%s/trc-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(path)) die("cannot make a directory");
    return path;
}

static void remove_files(void)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        char path[96];
        snprintf(path, sizeof path, "%s/%u.acc", folder(), i);
        unlink(path);
    }
}

static void remove_folder(void)
{
    remove_files();
    rmdir(folder());
}

/* Packs all launches whose grids are no trouble. SMs need a catalogue, which there is not. */
static void pack(struct cts_trc_scan *scan, size_t worker_bytes)
{
    static bool known;
    if (!known && atexit(remove_folder) == 0) known = true;
    struct cts_error error;
    struct cts_collector *collector;
    uint64_t accesses = 0, packed = 0;
    struct cts_trc_output *const outputs = calloc(scan->launches.count + 1, sizeof *outputs);
    if (!outputs) die("no memory");
    for (size_t i = 0; i < scan->launches.count; i++) {
        struct cts_trc_launch *const launch = &scan->launches.items[i];
        uint64_t count = 1;
        outputs[i].launch = (uint32_t)i;
        launch->sm_count = 0;
        for (unsigned k = 0; k < 3; k++) {
            outputs[i].grid[k] = (uint32_t)launch->extents[k];
            if (__builtin_mul_overflow(count, launch->extents[k], &count)) count = UINT64_MAX;
        }
        accesses += launch->accesses;
        if (count > UINT32_MAX) accesses = ACCESSES_MAX + 1;
    }
    if (accesses > ACCESSES_MAX) { /* refused, or nothing but time */
        free(outputs);
        return;
    }
    const struct cts_collector_options options = {0};
    if (cts_collector_open_directory(folder(), &options, &collector, &error)) die(error.text);
    const struct cts_trc_packing packing = {.scan = scan,
                                            .outputs = outputs,
                                            .collector = collector,
                                            .worker_count = WORKERS,
                                            .worker_bytes = worker_bytes};
    for (unsigned i = 0; i < WORKERS; i++) {
        struct cts_stream *stream;
        if (cts_collector_stream(collector, &stream, &error)) die(error.text);
        if (cts_trc_pack(&packing, i, stream, &error)) die(error.text);
    }
    if (cts_collector_close(collector, &error)) die(error.text);
    for (size_t i = 0; i < scan->launches.count; i++) packed += outputs[i].accesses;
    if (packed != accesses) die("not every access was packed");
    remove_files();
    free(outputs);
}

static void import(const uint8_t *bytes, size_t byte_count, size_t worker_bytes)
{
    struct cts_trc_file file = {.path = "input", .bytes = bytes, .byte_count = byte_count};
    struct cts_trc_scan scan = {.files = &file, .file_count = 1};
    struct cts_error error;
    if (!cts_trc_scan(&scan, NULL, &error)) pack(&scan, worker_bytes);
    cts_trc_scan_release(&scan);
}

static void import_behind(const void *head, size_t head_bytes, const uint8_t *data, size_t size)
{
    uint8_t *const bytes = malloc(head_bytes + size);
    if (!bytes) die("no memory");
    memcpy(bytes, head, head_bytes);
    memcpy(bytes + head_bytes, data, size);
    import(bytes, head_bytes + size, 1 << 20);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    const unsigned mode = data[0] % 4;
    data++, size--;
    if (mode == 1)
        import_behind(cts_trc_magic[1], CTS_TRC_MAGIC_BYTES, data, size);
    else if (mode == 2)
        import_behind("\x18\n", 2, data, size);
    else
        import(data, size, mode == 3 ? 1 : 1 << 20);
    return 0;
}
