/* Traces of PyTorch's profiler become the logs of a run, one process for each file. The caller
 * makes the archive of them (src/assemble), as `ctascope record` does. */
#include "import/importer.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/array.h"
#include "common/clock.h"
#include "common/read-file.h"
#include "common/text-table.h"
#include "import/kineto-notes.h"
#include "import/kineto-rank.h"

struct importing {
    const struct cts_import_options *options;
    struct cts_import_result *result;
    struct cts_error *error;
    CTS_KINETO_LIST(char *) files;
    struct cts_map ranks; /* numbers that are taken */
    bool is_prepared;
    char spill_paths[2][PATH_MAX];
};

/* ---- which files ---- */

static enum cts_status add_file(struct importing *in, const char *path)
{
    if (CTS_ARRAY_RESERVE(&in->files, in->files.count + 1, in->error)) return CTS_MEMORY;
    char *const copy = strdup(path);
    if (!copy) return cts_fail(in->error, CTS_MEMORY, "no memory");
    in->files.items[in->files.count++] = copy;
    return CTS_OK;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && !strcmp(text + length - end_length, end);
}

static bool has_name_of_trace(const char *name)
{
    return ends_with(name, ".json") || ends_with(name, ".json.gz") || ends_with(name, ".json.zst");
}

/* rank-2 before rank-10 */
static int by_name(const void *left, const void *right)
{
    return strverscmp(*(char *const *)left, *(char *const *)right);
}

static enum cts_status add_folder(struct importing *in, const char *path)
{
    DIR *const directory = cts_open_directory(path);
    if (!directory) return cts_fail_errno(in->error, errno, "cannot read '%s'", path);
    const size_t first = in->files.count;
    enum cts_status status = CTS_OK;
    struct dirent *entry;
    while (!status && (entry = readdir(directory))) {
        char file[PATH_MAX];
        bool is_trace = false;
        const int length = snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof file || !has_name_of_trace(entry->d_name))
            continue;
        status = cts_kineto_is_trace(file, &is_trace, in->error);
        if (!status && is_trace) status = add_file(in, file);
    }
    closedir(directory);
    if (!status && in->files.count > first)
        qsort(in->files.items + first, in->files.count - first, sizeof *in->files.items, by_name);
    return status;
}

static enum cts_status find_files(struct importing *in)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < in->options->path_count && !status; i++) {
        const char *const path = in->options->paths[i];
        struct stat facts;
        if (stat(path, &facts)) return cts_fail_errno(in->error, errno, "cannot open '%s'", path);
        const size_t before = in->files.count;
        status = S_ISDIR(facts.st_mode) ? add_folder(in, path) : add_file(in, path);
        if (!status && in->files.count == before)
            status =
                cts_fail(in->error, CTS_FORMAT, "'%s' holds no trace of PyTorch's profiler", path);
    }
    return status;
}

/* ---- one file ---- */

static enum cts_status prepare(struct importing *in)
{
    char session[64];
    if (in->is_prepared) return CTS_OK;
    snprintf(session, sizeof session, "import-%d-%llu", (int)getpid(),
             (unsigned long long)cts_clock_ns());
    const enum cts_status status = cts_catalogue_prepare(
        in->options->run_path, session, in->options->command ? in->options->command : "",
        in->options->replace, in->error);
    in->is_prepared = !status;
    return status;
}

/* The rank that the file says it is, else its place among the files; the next free one if another
 * file has it. */
static enum cts_status choose_rank(struct importing *in, const struct cts_kineto_file *file,
                                   size_t place, uint32_t *rank)
{
    enum { RANKS_MAX = 1 << 20 };
    const bool is_told = file->has_rank && file->rank >= 0 && file->rank < RANKS_MAX;
    uint64_t *taken;
    for (*rank = is_told ? (uint32_t)file->rank : (uint32_t)place;; ++*rank) {
        taken = cts_map_at(&in->ranks, *rank, in->error);
        if (!taken) return CTS_MEMORY;
        if (!*taken) break;
    }
    *taken = 1;
    return CTS_OK;
}

static enum cts_status make_directory(struct importing *in, uint32_t rank, char *path)
{
    static const char *const parts[] = {"", "/timeline"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const int length = snprintf(path, PATH_MAX, "%s/rank-%" PRIu32 "%s", in->options->run_path,
                                    rank, parts[i]);
        if (length < 0 || length >= PATH_MAX)
            return cts_fail(in->error, CTS_USAGE, "the path '%.100s...' is too long",
                            in->options->run_path);
        if (mkdir(path, 0777) && errno != EEXIST)
            return cts_fail_errno(in->error, errno, "cannot make '%s'", path);
    }
    return CTS_OK;
}

static enum cts_status write_rank(struct importing *in, struct cts_kineto_rank *rank,
                                  const struct cts_kineto_file *file, size_t place)
{
    char directory[PATH_MAX];
    uint32_t number = 0;
    struct cts_kineto_notes notes = {0};
    enum cts_status status = prepare(in);
    if (!status) status = choose_rank(in, file, place, &number);
    if (!status) status = make_directory(in, number, directory);
    struct cts_kineto_destination to = {.directory = directory, .file = file};
    if (!status) status = cts_kineto_rank_write(rank, &to, in->error);
    const struct cts_kineto_source source = {.path = in->files.items[place],
                                             .rank = number,
                                             .file_count = in->files.count,
                                             .file = file,
                                             .contents = rank};
    if (!status) status = cts_kineto_note(&source, &notes, in->error);
    to.messages = notes.items;
    to.message_count = notes.count;
    if (!status) status = cts_kineto_rank_define(rank, &to, in->error);
    if (!status) status = cts_kineto_notes_tell(&notes, in->result, in->error);
    for (size_t i = 0; i < notes.count; i++) free(notes.items[i].text);
    free(notes.items);
    return status;
}

static enum cts_status import_file(struct importing *in, size_t place)
{
    struct cts_kineto_rank rank;
    struct cts_kineto_file file;
    const char *const path = in->files.items[place];
    cts_kineto_rank_begin(&rank, (const char *const[2]){in->spill_paths[0], in->spill_paths[1]});
    enum cts_status status = cts_kineto_read(path, &file, cts_kineto_rank_take, &rank, in->error);
    if (!status && rank.first_ns > rank.last_ns) {
        char *const why = cts_kineto_left_out(&file, &rank);
        status =
            cts_fail(in->error, CTS_FORMAT, "cannot import '%s': none of its %s can be used%s%s",
                     path, cts_counted_text(rank.event_count, "event", "events").text,
                     why && *why ? ": " : "", why ? why : "");
        free(why);
    }
    if (!status) status = write_rank(in, &rank, &file, place);
    cts_kineto_file_release(&file);
    cts_kineto_rank_release(&rank);
    return status;
}

/* ---- all ---- */

static enum cts_status name_spills(struct importing *in)
{
    static const char *const names[] = {"threads", "devices"};
    size_t length = strlen(in->options->run_path);
    while (length > 1 && in->options->run_path[length - 1] == '/') length--;
    for (int i = 0; i < 2; i++) {
        const int written = snprintf(in->spill_paths[i], PATH_MAX, "%.*s.%s-%d", (int)length,
                                     in->options->run_path, names[i], (int)getpid());
        if (written < 0 || written >= PATH_MAX)
            return cts_fail(in->error, CTS_USAGE, "the path '%.100s...' is too long",
                            in->options->run_path);
    }
    return CTS_OK;
}

static enum cts_status import_traces(const struct cts_import_options *options,
                                     struct cts_import_result *result, struct cts_error *error)
{
    struct importing *const in = calloc(1, sizeof *in);
    if (!in) return cts_fail(error, CTS_MEMORY, "no memory");
    *in = (struct importing){.options = options, .result = result, .error = error};
    enum cts_status status =
        options->grid ? cts_fail(error, CTS_USAGE, "--grid is for traces of memory accesses")
                      : CTS_OK;
    if (!status) status = name_spills(in);
    if (!status) status = find_files(in);
    for (size_t i = 0; i < in->files.count && !status; i++) status = import_file(in, i);
    if (status && in->is_prepared) cts_catalogue_discard_empty(options->run_path);
    result->is_timeline = !status;
    for (size_t i = 0; i < in->files.count; i++) free(in->files.items[i]);
    free(in->files.items);
    cts_map_release(&in->ranks);
    free(in);
    return status;
}

const struct cts_importer cts_importer_kineto = {
    .name = "traces of PyTorch's profiler (Kineto JSON, plain, .gz or .zst)",
    .claims = cts_kineto_is_trace,
    .import = import_traces,
};
