#include "common/output-file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/read-file.h"

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

/* A new file beside the target with the mode and, where we may, the owner of what is there. */
static int make_temporary(struct cts_output *output, const struct stat *old)
{
    if (asprintf(&output->temporary, "%s.part-%d", output->target, (int)getpid()) < 0) {
        output->temporary = NULL;
        errno = ENOMEM;
        return -1;
    }
    const int file = cts_open_file(output->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
                                   old ? old->st_mode & 0777 : 0666);
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
    release(output);
    return status;
}
