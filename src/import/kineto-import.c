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
#include "import/kineto-read.h"
#include "import/profile-run.h"

struct importing {
    const struct cts_import_options *options;
    struct cts_error *error;
    CTS_PROFILE_LIST(char *) files;
    struct cts_profile_run run;
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

static enum cts_status import_file(struct importing *in, size_t place)
{
    struct cts_profile_rank rank;
    struct cts_profile_file file;
    const char *const path = in->files.items[place];
    cts_profile_run_begin_rank(&in->run, &rank);
    enum cts_status status = cts_kineto_read(path, &file, cts_profile_rank_take, &rank, in->error);
    struct cts_profile_source source = {.path = path,
                                        .place = place,
                                        .file_count = in->files.count,
                                        .file = &file,
                                        .describe = cts_kineto_describe};
    if (!status) status = cts_profile_run_add(&in->run, &source, &rank, in->error);
    cts_profile_file_release(&file);
    cts_profile_rank_release(&rank);
    return status;
}

/* ---- all ---- */

static enum cts_status import_traces(const struct cts_import_options *options,
                                     struct cts_import_result *result, struct cts_error *error)
{
    struct importing *const in = calloc(1, sizeof *in);
    if (!in) return cts_fail(error, CTS_MEMORY, "no memory");
    *in = (struct importing){.options = options, .error = error};
    enum cts_status status = cts_profile_run_begin(&in->run, options, result, error);
    if (!status) status = find_files(in);
    for (size_t i = 0; i < in->files.count && !status; i++) status = import_file(in, i);
    cts_profile_run_end(&in->run, status);
    for (size_t i = 0; i < in->files.count; i++) free(in->files.items[i]);
    free(in->files.items);
    free(in);
    return status;
}

const struct cts_importer cts_importer_kineto = {
    .name = "traces of PyTorch's profiler (Kineto JSON, plain, .gz or .zst)",
    .is_of_time = true,
    .claims = cts_kineto_is_trace,
    .import = import_traces,
};
