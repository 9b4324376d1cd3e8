#include "trace/run-files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/unfinished.h"

/* ---- names ---- */

enum kind { FOLDER = 'd', FILE_ = 'f', LINK = 'l' };

/* A path in the run; `#` is a number, `*` at the end anything within one name. */
static const struct {
    enum kind kind;
    const char *pattern;
} known[] = {
    {FILE_, "run.db"},
    {FILE_, "run.db-wal"},
    {FILE_, "run.db-shm"},
    {FILE_, "run.db-journal"},
    {FILE_, ".recording"}, /* run-lock.c */
    {FILE_, ".ids"},       /* id-claim.c */
    {LINK, ".process-*"},  /* rank-claim.c */
    {LINK, ".failure-*"},  /* failures.c */
    {FOLDER, "rank-#"},
    {FILE_, "rank-#/#.acc"},
    {FILE_, "rank-#/rows.journal"},
    {FOLDER, "rank-#/timeline"},
    {FILE_, "rank-#/timeline/definitions.log"},
    {FILE_, "rank-#/timeline/#.log"},
    {FOLDER, "timeline"},
    {FILE_, "timeline/logs-to-remove"}, /* assemble.c */
    {FILE_, "timeline/traces.otf2"},
    {FILE_, "timeline/traces.def"},
    {FOLDER, "timeline/traces"},
    {FILE_, "timeline/traces/#.def"},
    {FILE_, "timeline/traces/#.evt"},
    {FOLDER, "timeline.new"},
    {FILE_, "timeline.new/logs-to-remove"},
    {FILE_, "timeline.new/traces.otf2"},
    {FILE_, "timeline.new/traces.def"},
    {FOLDER, "timeline.new/traces"},
    {FILE_, "timeline.new/traces/#.def"},
    {FILE_, "timeline.new/traces/#.evt"},
};

static bool matches(const char *pattern, const char *path)
{
    for (; *pattern; pattern++) {
        if (*pattern == '*') return !strchr(path, '/');
        if (*pattern != '#') {
            if (*path++ != *pattern) return false;
        } else {
            if (!isdigit((unsigned char)*path)) return false;
            while (isdigit((unsigned char)*path)) path++;
        }
    }
    return !*path;
}

static bool is_of_a_run(const char *path, mode_t mode)
{
    const enum kind kind = S_ISDIR(mode) ? FOLDER : S_ISLNK(mode) ? LINK : FILE_;
    if (kind == FILE_ && !S_ISREG(mode)) return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].kind == kind && matches(known[i].pattern, path)) return true;
    return false;
}

/* ---- a walk ---- */

/* The directory of the run, and whether what is found is deleted or only looked at. */
struct walk {
    const char *run_path;
    bool deletes;
    struct cts_error *error;
};

static enum cts_status walk_folder(const struct walk *walk, const char *below);

static enum cts_status visit(const struct walk *walk, int directory, const char *below,
                             const char *name)
{
    char path[PATH_MAX];
    struct stat info;
    if ((size_t)snprintf(path, sizeof path, "%s%s%s", below, *below ? "/" : "", name) >=
        sizeof path)
        return cts_fail(walk->error, CTS_USAGE, "the path of '%.100s...' is too long", name);
    if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? CTS_OK
                               : cts_fail_errno(walk->error, errno, "cannot read '%s/%s'",
                                                walk->run_path, path);
    if (!is_of_a_run(path, info.st_mode))
        return cts_fail(walk->error, CTS_USAGE,
                        "'%s' holds '%s', which is no part of a run: move it away first",
                        walk->run_path, path);
    enum cts_status status = S_ISDIR(info.st_mode) ? walk_folder(walk, path) : CTS_OK;
    if (!status && walk->deletes &&
        unlinkat(directory, name, S_ISDIR(info.st_mode) ? AT_REMOVEDIR : 0) && errno != ENOENT)
        status = cts_fail_errno(walk->error, errno, "cannot delete '%s/%s'", walk->run_path, path);
    return status;
}

/* `below` is the folder's path in the run, "" for the run itself. */
static enum cts_status walk_folder(const struct walk *walk, const char *below)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", walk->run_path, below) >= sizeof path)
        return cts_fail(walk->error, CTS_USAGE, "the path '%.100s...' is too long", walk->run_path);
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (*below ? O_NOFOLLOW : 0);
    const int directory = open(path, flags);
    DIR *const stream = directory >= 0 ? fdopendir(directory) : NULL;
    if (!stream) {
        const int errnum = errno;
        if (directory >= 0) close(directory);
        return cts_fail_errno(walk->error, errnum, "cannot read directory '%s'", path);
    }
    enum cts_status status = CTS_OK;
    struct dirent *entry;
    errno = 0;
    while (!status && (entry = readdir(stream))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = visit(walk, directory, below, entry->d_name);
        errno = 0;
    }
    if (!status && errno)
        status = cts_fail_errno(walk->error, errno, "cannot read directory '%s'", path);
    closedir(stream);
    return status;
}

/* ---- deleting ---- */

/* What a process has left that was killed while it replaced this run. */
static void remove_left_over(int directory, const char *name, const char *path)
{
    struct cts_error ignored;
    struct stat info;
    if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(info.st_mode)) return;
    if (!walk_folder(&(struct walk){path, false, &ignored}, "") &&
        !walk_folder(&(struct walk){path, true, &ignored}, ""))
        (void)unlinkat(directory, name, AT_REMOVEDIR);
}

/* What cannot be replaced whole: a link would be, and not the run; and below a directory that is
 * gone no relative path leads anywhere. */
static enum cts_status check_place(const char *home, struct cts_error *error)
{
    struct stat info;
    char real[PATH_MAX], here[PATH_MAX];
    if (!lstat(home, &info) && S_ISLNK(info.st_mode))
        return cts_fail(error, CTS_USAGE, "'%s' is a symbolic link: name the run itself", home);
    const bool is_known = realpath(home, real) && getcwd(here, sizeof here);
    const size_t length = is_known ? strlen(real) : 0;
    if (is_known && strncmp(here, real, length) == 0 && (!here[length] || here[length] == '/'))
        return cts_fail(error, CTS_USAGE,
                        "cannot replace '%s' from inside: change the directory first", home);
    return CTS_OK;
}

enum cts_status cts_run_set_aside(const char *run_path, struct cts_run_aside *aside,
                                  struct cts_error *error)
{
    char home[PATH_MAX];
    size_t length = strlen(run_path);
    while (length > 1 && run_path[length - 1] == '/') length--;
    if ((size_t)snprintf(home, sizeof home, "%.*s", (int)length, run_path) >= sizeof home ||
        (size_t)snprintf(aside->path, sizeof aside->path, "%.*s.old-%d", (int)length, run_path,
                         getpid()) >= sizeof aside->path)
        return cts_fail(error, CTS_USAGE, "the path '%.100s...' is too long", run_path);
    enum cts_status status = check_place(home, error);
    if (!status) status = walk_folder(&(struct walk){run_path, false, error}, "");
    if (status) return status;
    cts_unfinished_sweep(home, ".old-", remove_left_over);
    aside->unfinished = cts_unfinished_add(CTS_UNFINISHED_RUN, aside->path, home);
    if (!rename(home, aside->path)) return CTS_OK;
    const int errnum = errno;
    cts_unfinished_done(aside->unfinished);
    aside->path[0] = 0;
    return cts_fail_errno(error, errnum, "cannot replace '%s'", run_path);
}

enum cts_status cts_run_delete_aside(struct cts_run_aside *aside, struct cts_error *error)
{
    const int deleting = cts_unfinished_add(CTS_UNFINISHED_FOLDER, aside->path, NULL);
    cts_unfinished_done(aside->unfinished);
    enum cts_status status = walk_folder(&(struct walk){aside->path, true, error}, "");
    if (!status && rmdir(aside->path))
        status = cts_fail_errno(error, errno, "cannot delete '%s'", aside->path);
    cts_unfinished_done(deleting);
    aside->path[0] = 0;
    return status;
}

void cts_run_give_back(const char *run_path, struct cts_run_aside *aside)
{
    if (rename(aside->path, run_path)) return; /* it stays there, whole */
    cts_unfinished_done(aside->unfinished);
    aside->path[0] = 0;
}

enum cts_status cts_run_delete(const char *run_path, struct cts_error *error)
{
    struct cts_run_aside aside;
    const enum cts_status status = cts_run_set_aside(run_path, &aside, error);
    return status ? status : cts_run_delete_aside(&aside, error);
}
