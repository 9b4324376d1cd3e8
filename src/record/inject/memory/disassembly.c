/* The code of kernels that were compiled without line information, as text: at the end of the
 * program the toolkit's disassembler (nvdisasm) is run on each function that has sites. The text
 * becomes a source, "KERNEL.sass", with one instruction a line: instruction n of the function is
 * line n + 1. So what is known of a source line is known of an instruction.
 *
 * Images are kept until then, as long as all of them are not too large; time is limited, too. */
#include "disassembly.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/array.h"
#include "common/clock.h"
#include "common/text-stream.h"
#include "memory-run.h"

enum {
    IMAGES_MAX_BYTES = 256 << 20,
    TEXT_MAX_BYTES = 8 << 20,
    TIME_MAX_MS = 20000,
    FUNCTIONS_MAX = 256,
};

struct wanted_site {
    struct cts_memory_module *module;
    const struct cts_cubin_function *function;
    uint64_t offset_bytes;
    struct cts_site row; /* `function` is ours; the other texts are NULL */
    char *kernel;        /* the function's name alone */
};

static struct {
    struct wanted_site *items;
    size_t count, capacity;
} sites; /* under the lock of modules.c until the end */
static _Atomic size_t images_bytes;
static const char *disassembler; /* NULL: there is none */
static char disassembler_path[512];

/* ---- what is wanted ---- */

static void look(void)
{
    const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda",
                                 "/opt/cuda", "/usr"};
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        if (!homes[i] || !*homes[i]) continue;
        snprintf(disassembler_path, sizeof disassembler_path, "%.480s/bin/nvdisasm", homes[i]);
        if (access(disassembler_path, X_OK) != 0) continue;
        disassembler = disassembler_path;
        return;
    }
}

bool cts_disassembly_is_wanted(size_t image_bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look);
    if (!disassembler || image_bytes > IMAGES_MAX_BYTES) return false;
    const size_t before = atomic_fetch_add(&images_bytes, image_bytes);
    if (before + image_bytes <= IMAGES_MAX_BYTES) return true;
    atomic_fetch_sub(&images_bytes, image_bytes);
    return false;
}

void cts_disassembly_add(const struct cts_code_range *range, const struct cts_site *site,
                         uint64_t offset_bytes)
{
    if (!range->module->image || !range->function) return;
    struct wanted_site wanted = {range->module, range->function, offset_bytes, *site, NULL};
    wanted.row.function = strdup(site->function);
    wanted.kernel = strdup(range->name);
    if (wanted.row.function && wanted.kernel &&
        CTS_ARRAY_RESERVE(&sites, sites.count + 1, NULL) == CTS_OK) {
        sites.items[sites.count++] = wanted;
        return;
    }
    free((void *)(uintptr_t)wanted.row.function);
    free(wanted.kernel);
}

/* ---- the disassembler ---- */

static bool write_code(const struct wanted_site *site, char *path)
{
    size_t bytes;
    const void *const code =
        cts_cubin_code(site->module->image, site->module->image_bytes, site->function, &bytes);
    const int file = code ? mkstemp(path) : -1;
    if (file < 0) return false;
    const bool written = write(file, code, bytes) == (ssize_t)bytes;
    close(file);
    if (!written) unlink(path);
    return written;
}

/* Without what makes a program recorded. */
static pid_t start(const char *path, uint32_t capability, int output)
{
    static char environment_path[] = "PATH=/usr/bin:/bin";
    char *const environment[] = {environment_path, NULL};
    char architecture[16];
    pid_t pid = -1;
    snprintf(architecture, sizeof architecture, "SM%u", capability);
    const char *const argv[] = {disassembler, "--binary", architecture, path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, disassembler, &actions, NULL, (char *const *)(uintptr_t)argv,
                    environment))
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/* All of it, or NULL; the caller frees. */
static char *read_output(int from, uint64_t until_ns)
{
    char *const text = malloc(TEXT_MAX_BYTES + 1);
    size_t length = 0;
    ssize_t got = 1;
    while (text && got > 0 && length < TEXT_MAX_BYTES) {
        const uint64_t now_ns = cts_clock_ns();
        struct pollfd waiting = {.fd = from, .events = POLLIN};
        if (now_ns >= until_ns || poll(&waiting, 1, (int)((until_ns - now_ns) / 1000000) + 1) <= 0)
            got = -1;
        else
            got = read(from, text + length, TEXT_MAX_BYTES - length);
        if (got > 0) length += (size_t)got;
    }
    if (text && got == 0) {
        text[length] = 0;
        return text;
    }
    free(text);
    return NULL;
}

static char *disassemble(const struct wanted_site *site, uint64_t until_ns)
{
    char path[] = "/tmp/ctascope-code-XXXXXX";
    int ends[2];
    char *text = NULL;
    if (!write_code(site, path)) return NULL;
    if (pipe2(ends, O_CLOEXEC) == 0) {
        const pid_t pid = start(path, site->module->cubin.capability, ends[1]);
        close(ends[1]);
        if (pid > 0) {
            text = read_output(ends[0], until_ns);
            if (!text) kill(pid, SIGKILL);
            (void)waitpid(pid, NULL, 0);
        }
        close(ends[0]);
    }
    unlink(path);
    return text;
}

/* ---- the text ---- */

/* The lines of the disassembler that are instructions, the offset as a comment, then the text and a
 * semicolon, as a line each. */
static char *listing(const char *output)
{
    struct cts_text_stream stream;
    FILE *const out = cts_text_stream_open(&stream);
    uint64_t next = 0;
    if (!out) return NULL;
    for (const char *line = output; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *const at = line + strspn(line, " \t");
        char *end;
        if (strncmp(at, "/*", 2) != 0) continue;
        const uint64_t offset = strtoull(at + 2, &end, 16);
        if (end == at + 2 || strncmp(end, "*/", 2) != 0 || offset != next) continue;
        const char *const code = end + 2 + strspn(end + 2, " \t");
        fprintf(out, "%.*s\n", (int)strcspn(code, ";\n"), code);
        next = offset + CTS_SASS_BYTES;
    }
    char *const text = cts_text_stream_close(&stream, NULL);
    if (text && next) return text;
    free(text);
    return NULL;
}

/* ---- all of it ---- */

static int by_function(const void *a, const void *b)
{
    const struct wanted_site *const x = a, *const y = b;
    if (x->module != y->module) return x->module < y->module ? -1 : 1;
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    return (x->offset_bytes > y->offset_bytes) - (x->offset_bytes < y->offset_bytes);
}

static uint32_t add_source(const struct wanted_site *site, const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%.590s.sass", site->kernel);
    const struct cts_source row = {
        .source = cts_catalogue_reserve(cts_memory_run.catalogue, CTS_ID_SOURCE, 1),
        .module = site->module->id,
        .path = path,
        .text = text};
    cts_catalogue_add_source(cts_memory_run.catalogue, &row);
    return row.source;
}

/* The sites from `first` on that are of one function; returns behind them. */
static size_t finish_function(size_t first, uint64_t until_ns, bool run)
{
    const struct wanted_site *const one = sites.items + first;
    char *const output = run ? disassemble(one, until_ns) : NULL;
    char *const text = output ? listing(output) : NULL;
    const uint32_t source = text ? add_source(one, text) : CTS_NONE;
    size_t at = first;
    for (; at < sites.count && sites.items[at].function == one->function &&
           sites.items[at].module == one->module;
         at++) {
        struct cts_site *const row = &sites.items[at].row;
        if (source == CTS_NONE) continue;
        row->source = source;
        row->line = (uint32_t)(sites.items[at].offset_bytes / CTS_SASS_BYTES) + 1;
        cts_catalogue_add_site(cts_memory_run.catalogue, row);
    }
    free(output);
    free(text);
    return at;
}

void cts_disassembly_finish(void)
{
    const uint64_t until_ns = cts_clock_ns() + (uint64_t)TIME_MAX_MS * 1000000;
    if (sites.count > 1) qsort(sites.items, sites.count, sizeof *sites.items, by_function);
    size_t functions = 0;
    for (size_t at = 0; at < sites.count; functions++)
        at = finish_function(at, until_ns, functions < FUNCTIONS_MAX && cts_clock_ns() < until_ns);
    sites.count = 0;
}
