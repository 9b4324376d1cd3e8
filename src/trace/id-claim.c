#include "trace/id-claim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/own-rights.h"
#include "trace/acc-format.h"

static bool ids_path(const char *run_path, char *path, size_t path_bytes)
{
    const int length = snprintf(path, path_bytes, "%s/.ids", run_path);
    return length > 0 && (size_t)length < path_bytes;
}

/* A system call that a signal interrupted is done again. */
#define AGAIN(result, call)                                                                        \
    do {                                                                                           \
        (result) = (call);                                                                         \
    } while ((result) < 0 && errno == EINTR)
struct counter_file {
    int fd;
    const char *path;
};

static enum cts_status claim(const struct counter_file *file, enum cts_id_kind kind, uint32_t count,
                             uint32_t *first, struct cts_error *error)
{
    uint8_t bytes[8] = {0};
    const off_t at = (off_t)kind * (off_t)sizeof bytes;
    ssize_t done;
    AGAIN(done, flock(file->fd, LOCK_EX)); /* where it cannot lock, the race is rare */
    AGAIN(done, pread(file->fd, bytes, sizeof bytes, at));
    if (done < 0) return cts_fail_errno(error, errno, "cannot read '%s'", file->path);
    const uint64_t next = done == sizeof bytes ? cts_get_u64(bytes) : 0;
    if (next >= CTS_NONE || count >= CTS_NONE - next)
        return cts_fail(error, CTS_LIMIT, "'%s': the run has no more ids of kind %d", file->path,
                        kind);
    cts_put_u64(bytes, next + count);
    for (size_t written = 0; written < sizeof bytes; written += (size_t)done) {
        AGAIN(done, pwrite(file->fd, bytes + written, sizeof bytes - written, at + (off_t)written));
        if (done <= 0)
            return cts_fail_errno(error, done < 0 ? errno : ENOSPC, "cannot write '%s'",
                                  file->path);
    }
    *first = (uint32_t)next;
    return CTS_OK;
}

enum cts_status cts_ids_claim(const char *run_path, enum cts_id_kind kind, uint32_t count,
                              uint32_t *first, struct cts_error *error)
{
    char path[PATH_MAX];
    int fd;
    if (!ids_path(run_path, path, sizeof path))
        return cts_fail(error, CTS_USAGE, "the path '%.100s...' is too long", run_path);
    AGAIN(fd, open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (fd < 0) return cts_fail_errno(error, errno, "cannot open '%s'", path);
    cts_keep_own_rights(fd);
    const enum cts_status status =
        claim(&(struct counter_file){fd, path}, kind, count, first, error);
    close(fd);
    return status;
}

void cts_ids_forget(const char *run_path)
{
    char path[PATH_MAX];
    if (ids_path(run_path, path, sizeof path)) unlink(path);
}
