#include "cli/open-traces.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/import-run.h"
#include "cli/run-timeline.h"
#include "common/array.h"
#include "common/remove-folder.h"
#include "common/temporary.h"
#include "common/unfinished.h"

struct paths {
    char **items;
    size_t count, capacity;
};

static bool add_path(struct paths *paths, const char *path, struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(paths, paths->count + 1, error)) return false;
    char *const copy = strdup(path);
    if (!copy) (void)cts_fail(error, CTS_MEMORY, "out of memory");
    if (copy) paths->items[paths->count++] = copy;
    return copy;
}

static void release_paths(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++) free(paths->items[i]);
    free(paths->items);
    *paths = (struct paths){0};
}

static bool is_there(const char *folder, const char *name)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0;
}

/* Runs and archives are the verbs' own; what is not there they name. */
static enum cts_status is_trace(const char *path, bool *is_one, struct cts_error *error)
{
    struct stat facts;
    *is_one = false;
    if (stat(path, &facts) || cts_cli_is_archive(path)) return CTS_OK;
    if (S_ISDIR(facts.st_mode) &&
        (is_there(path, "run.db") || is_there(path, "timeline") || is_there(path, "traces.otf2")))
        return CTS_OK;
    if (!S_ISDIR(facts.st_mode) && !S_ISREG(facts.st_mode)) return CTS_OK;
    return cts_import_is_of_time(path, is_one, error);
}

/* A pattern in quotes is one for the files that it names. */
static enum cts_status list_traces(const char *argument, struct paths *traces,
                                   struct cts_error *error)
{
    glob_t found = {0};
    bool is_one;
    enum cts_status status = CTS_OK;
    const bool is_pattern =
        access(argument, F_OK) && strpbrk(argument, "*?[") && glob(argument, 0, NULL, &found) == 0;
    if (!is_pattern) {
        status = is_trace(argument, &is_one, error);
        if (!status && is_one && !add_path(traces, argument, error)) status = CTS_MEMORY;
    }
    for (size_t i = 0; is_pattern && i < found.gl_pathc && !status; i++) {
        status = is_trace(found.gl_pathv[i], &is_one, error);
        if (!status && is_one && !add_path(traces, found.gl_pathv[i], error)) status = CTS_MEMORY;
    }
    globfree(&found);
    return status;
}

/* ---- a temporary run ---- */

static enum cts_status import_traces(const char *verb, const struct paths *traces,
                                     struct cts_opened_traces *opened, struct cts_error *error)
{
    char path[PATH_MAX];
    const char *const slash = strrchr(traces->items[0], '/');
    const char *const name = slash && slash[1] ? slash + 1 : slash ? "traces" : traces->items[0];
    const int length = snprintf(path, sizeof path, "%s/%.100s.ctascope-%d-%zu",
                                cts_temporary_directory(), name, (int)getpid(), opened->count);
    if (opened->count == CTS_OPENED_MAX || length < 0 || (size_t)length >= sizeof path)
        return cts_fail(error, CTS_USAGE, "too many traces, or too long a path in TMPDIR");
    char *const run = strdup(path);
    if (!run) return cts_fail(error, CTS_MEMORY, "out of memory");
    /* until the process ends: it is never finished */
    (void)cts_unfinished_add(CTS_UNFINISHED_FOLDER, run, NULL);
    opened->runs[opened->count++] = run;
    const struct cts_import_options options = {.paths = (const char *const *)traces->items,
                                               .path_count = traces->count,
                                               .run_path = run,
                                               .replace = false};
    const enum cts_status status = cts_cli_import(verb, false, &options, error);
    cts_unfinished_made();
    return status;
}

/* ---- arguments ---- */

static bool compares(const struct cts_verb *verb)
{
    return verb->positional_max == 2;
}

static enum cts_status replace_arguments(struct cts_arguments *arguments,
                                         struct cts_opened_traces *opened, struct cts_error *error)
{
    struct paths traces = {0};
    enum cts_status status = CTS_OK;
    int kept = 0, place = -1;
    for (int i = 0; i < arguments->positional_count && !status; i++) {
        const size_t before = traces.count;
        status = list_traces(arguments->positional[i], &traces, error);
        if (status) break;
        if (traces.count == before || compares(arguments->verb) || place < 0)
            opened->names[kept] = arguments->positional[i];
        if (traces.count == before) {
            opened->paths[kept++] = arguments->positional[i];
        } else if (compares(arguments->verb)) {
            status = import_traces(arguments->verb->name, &traces, opened, error);
            if (!status) opened->paths[kept++] = opened->runs[opened->count - 1];
            release_paths(&traces);
        } else if (place < 0) {
            place = kept++;
        }
    }
    if (!status && place >= 0) {
        status = import_traces(arguments->verb->name, &traces, opened, error);
        if (!status) opened->paths[place] = opened->runs[opened->count - 1];
    }
    release_paths(&traces);
    arguments->positional = opened->paths;
    arguments->names = opened->names;
    arguments->positional_count = kept;
    return status;
}

int cts_traces_open(struct cts_arguments *arguments, struct cts_opened_traces *opened)
{
    const struct cts_verb *const verb = arguments->verb;
    struct cts_error error = {0};
    *opened = (struct cts_opened_traces){.count = 0};
    if (!verb->opens_traces) return CTS_EXIT_OK;
    const size_t count = (size_t)arguments->positional_count + 1;
    opened->paths = cts_array_zeroed(count, sizeof *opened->paths, &error);
    opened->names = cts_array_zeroed(count, sizeof *opened->names, &error);
    if (!opened->paths || !opened->names || replace_arguments(arguments, opened, &error))
        return cts_report_error(arguments, &error);
    if (verb->positional_max >= 0 && arguments->positional_count > verb->positional_max)
        return cts_usage_error(arguments, "unexpected argument '%s'",
                               arguments->positional[verb->positional_max]);
    return CTS_EXIT_OK;
}

void cts_traces_close(struct cts_opened_traces *opened)
{
    for (size_t i = 0; i < opened->count; i++) {
        cts_remove_folder(AT_FDCWD, opened->runs[i]);
        free(opened->runs[i]);
    }
    free(opened->paths);
    free(opened->names);
    *opened = (struct cts_opened_traces){.count = 0};
}
