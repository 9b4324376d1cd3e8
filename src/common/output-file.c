#include "common/output-file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/read-file.h"
#include "common/unfinished.h"

static void release(struct cts_output *output)
{
    free(output->path);
    free(output->target);
    free(output->temporary);
    *output = (struct cts_output){0};
}

/* The path behind links, also where the last one points to nothing yet; NULL and errno. */
static char *follow(const char *path)
{
    char text[PATH_MAX], link[PATH_MAX];
    if ((size_t)snprintf(text, sizeof text, "%s", path) >= sizeof text) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    for (int depth = 0; depth < 40; depth++) {
        const ssize_t length = readlink(text, link, sizeof link - 1);
        if (length < 0) return strdup(text);
        link[length] = 0;
        const char *const slash = link[0] == '/' ? NULL : strrchr(text, '/');
        char next[2 * PATH_MAX];
        const int folder = slash ? (int)(slash - text + 1) : 0;
        if ((size_t)snprintf(next, sizeof next, "%.*s%s", folder, text, link) >= sizeof text) break;
        memcpy(text, next, strlen(next) + 1);
    }
    errno = ELOOP;
    return NULL;
}

/* ---- what belongs to a recording ---- */

static bool is_regular(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* Whether a path below a run directory is one where recordings have files. */
static bool is_of_run(const char *below)
{
    if (begins_with(below, "run.db")) return !below[6] || below[6] == '-';
    if (!strcmp(below, ".recording") || !strcmp(below, ".ids")) return true;
    if (begins_with(below, ".process-") || begins_with(below, ".failure-")) return true;
    if (!strcmp(below, "timeline") || !strcmp(below, "timeline.new")) return true;
    if (begins_with(below, "timeline/")) return true;
    return begins_with(below, "rank-") &&
           (strchr(below, '/') || !below[5 + strspn(below + 5, "0123456789")]);
}

/* NAME.otf2, NAME.def, NAME/K.evt and NAME/K.def where NAME.otf2 is. */
static bool is_of_archive(const char *path)
{
    char anchor[PATH_MAX + 8];
    if (ends_in(path, ".otf2")) return is_regular(path);
    if (!ends_in(path, ".def") && !ends_in(path, ".evt")) return false;
    const int stem = (int)strlen(path) - 4;
    snprintf(anchor, sizeof anchor, "%.*s.otf2", stem, path);
    if (is_regular(anchor)) return true;
    const char *const slash = strrchr(path, '/');
    snprintf(anchor, sizeof anchor, "%.*s.otf2", slash ? (int)(slash - path) : 0, path);
    return is_regular(anchor);
}

/* Where a file goes, without links: /FOLDER/NAME. False: there is no such folder. */
static bool resolve(const char *target, char path[PATH_MAX])
{
    char folder[PATH_MAX], real[PATH_MAX];
    const char *const slash = strrchr(target, '/');
    const char *const name = slash ? slash + 1 : target;
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == target ? 1 : (int)(slash - target),
                 target);
    if (!realpath(slash ? folder : ".", real)) return false;
    return (size_t)snprintf(path, PATH_MAX, "%s/%s", strcmp(real, "/") != 0 ? real : "", name) <
           PATH_MAX;
}

/* Refuses what would destroy a recording, be it the one that is read or another. */
static enum cts_status check_recordings(const char *given, const char *target,
                                        struct cts_error *error)
{
    enum { DEPTH_MAX = 4 }; /* of a run's files below its directory */
    char path[PATH_MAX], database[PATH_MAX + 8];
    if (!resolve(target, path)) return CTS_OK; /* opening it says why */
    if (is_of_archive(path))
        return cts_fail(error, CTS_USAGE, "cannot write '%s': it is a file of an OTF2 archive",
                        given);
    const char *end = path + strlen(path);
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        do end--;
        while (end > path && *end != '/');
        if (end == path) break;
        snprintf(database, sizeof database, "%.*s/run.db", (int)(end - path), path);
        if (is_of_run(end + 1) && is_regular(database))
            return cts_fail(error, CTS_USAGE, "cannot write '%s': it belongs to the run '%.*s'",
                            given, (int)(end - path), path);
    }
    return CTS_OK;
}

enum cts_status cts_output_check(const char *path, struct cts_error *error)
{
    char target[PATH_MAX];
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    if ((size_t)snprintf(target, sizeof target, "%.*s", (int)length, path) >= sizeof target)
        return CTS_OK; /* opening it says why */
    return check_recordings(path, target, error);
}

/* ---- opening and closing ---- */

/* What a process has left that was killed. The lock tells where numbers of processes do not: in
 * containers, and in directories that several machines share. */
static void remove_left_over(int directory, const char *name, const char *path)
{
    struct stat info;
    (void)path;
    if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) || !S_ISREG(info.st_mode) ||
        info.st_uid != geteuid())
        return;
    const int file = cts_open_file_at(directory, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    if (file < 0) return;
    if (!flock(file, LOCK_EX | LOCK_NB)) unlinkat(directory, name, 0);
    close(file);
}

/* The path, its name shortened so that `more` bytes still fit. */
static void shorten(const char *path, size_t more, char stem[PATH_MAX])
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    const size_t left = NAME_MAX - more, length = strlen(name);
    snprintf(stem, PATH_MAX, "%.*s%.*s", (int)(name - path), path,
             (int)(length < left ? length : left), name);
}

/* A new file beside the target with the mode and, where we may, the owner of what is there. */
static int make_temporary(struct cts_output *output, const struct stat *old)
{
    char end[32], stem[PATH_MAX];
    snprintf(end, sizeof end, ".part-%d", (int)getpid());
    shorten(output->target, strlen(end), stem);
    if (asprintf(&output->temporary, "%s%s", stem, end) < 0) {
        output->temporary = NULL;
        errno = ENOMEM;
        return -1;
    }
    cts_unfinished_sweep(stem, ".part-", remove_left_over);
    output->unfinished = cts_unfinished_add(CTS_UNFINISHED_FILE, output->temporary, NULL);
    const int file = cts_open_file(output->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
                                   old ? old->st_mode & 0777 : 0666);
    cts_unfinished_made();
    if (file >= 0) (void)flock(file, LOCK_EX | LOCK_NB); /* for remove_left_over() */
    if (file >= 0 && old) {
        if (fchown(file, old->st_uid, old->st_gid) && fchown(file, (uid_t)-1, old->st_gid))
            errno = 0; /* somebody else's file, which we may write, becomes ours */
        (void)!fchmod(file, old->st_mode & 07777);
    }
    return file;
}

enum cts_status cts_output_open(const char *path, struct cts_output *output,
                                struct cts_error *error)
{
    struct stat old;
    const bool exists = stat(path, &old) == 0;
    *output = (struct cts_output){.path = strdup(path)};
    int file = -1;
    if (output->path && exists && !S_ISREG(old.st_mode)) {
        file = cts_open_file(path, O_WRONLY | O_NOCTTY, 0);
    } else if (output->path && (output->target = follow(path))) {
        const enum cts_status refused = check_recordings(path, output->target, error);
        if (refused) {
            release(output);
            return refused;
        }
        if (exists && access(path, W_OK)) /* a rename would replace what may not be written */
            file = -1;
        else
            file = make_temporary(output, exists ? &old : NULL);
    }
    if (file >= 0) output->file = fdopen(file, "w");
    if (output->file) return CTS_OK;
    const enum cts_status status = cts_fail_errno(error, errno, "cannot write '%s'", path);
    if (file >= 0) close(file);
    if (file >= 0 && output->temporary) unlink(output->temporary);
    if (output->temporary) cts_unfinished_done(output->unfinished);
    release(output);
    return status;
}

/* Why a stream has failed: a write that was made long ago has left no errno, so one byte is tried
 * again, of a file that is lost anyway. */
static int reason_of(const struct cts_output *output, int errnum)
{
    if (errnum) return errnum;
    return write(fileno(output->file), " ", 1) < 0 ? errno : EIO;
}

enum cts_status cts_output_close(struct cts_output *output, enum cts_status status,
                                 struct cts_error *error)
{
    errno = 0;
    const bool failed = fflush(output->file) || ferror(output->file);
    const int reason = failed ? reason_of(output, errno) : 0;
    const bool not_closed = fclose(output->file) != 0;
    if ((failed && (!status || status == CTS_IO)) || (!status && not_closed))
        status = cts_fail_errno(error, failed ? reason : errno, "cannot write '%s'", output->path);
    if (!status && output->temporary && rename(output->temporary, output->target))
        status = cts_fail_errno(error, errno, "cannot write '%s'", output->path);
    if (status && output->temporary) unlink(output->temporary);
    if (output->temporary) cts_unfinished_done(output->unfinished);
    release(output);
    return status;
}
