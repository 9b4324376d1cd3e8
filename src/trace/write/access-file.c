/* Writing an access file: whole chunks by plain write(), never a part of one.
 *
 * A write that fails half-way is taken back with ftruncate(), so that the file always ends with a
 * whole chunk (where that fails too, it gets no footer); a program that is killed may leave a cut
 * one, which readers skip. A file-size limit must not kill the traced program: SIGXFSZ is held back
 * while we write, and swallowed.
 *
 * Chunks stop a little before the disk is full. The rest is the catalogue's, which goes on:
 * accesses are worth nothing without the launches that they belong to. */
#include "trace/write/access-file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { KEPT_FREE_BYTES = 16 << 20, KEPT_FREE_SHARE = 8 }; /* or an eighth of a small disk */

/* Whether the disk has room for so much and the catalogue. One that does not tell is tried. */
static bool has_room(int fd, uint64_t byte_count)
{
    struct statvfs disk;
    if (fstatvfs(fd, &disk) != 0 || !disk.f_blocks || !disk.f_bavail) return true;
    const uint64_t share_bytes = disk.f_blocks * disk.f_frsize / KEPT_FREE_SHARE;
    const uint64_t kept_bytes = share_bytes < KEPT_FREE_BYTES ? share_bytes : KEPT_FREE_BYTES;
    return disk.f_bavail * disk.f_frsize >= kept_bytes + byte_count;
}

static int write_all(int fd, const uint8_t *bytes, size_t byte_count)
{
    while (byte_count) {
        const ssize_t done = write(fd, bytes, byte_count);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return done < 0 ? errno : EIO;
        bytes += done;
        byte_count -= (size_t)done;
    }
    return 0;
}

/* Returns 0 or an errno value. */
static int write_without_signal(int fd, const void *bytes, size_t byte_count)
{
    sigset_t size_signal, before;
    sigemptyset(&size_signal);
    sigaddset(&size_signal, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &size_signal, &before);
    const int failure = write_all(fd, bytes, byte_count);
    if (failure == EFBIG && !sigismember(&before, SIGXFSZ)) {
        const struct timespec now = {0};
        (void)!sigtimedwait(&size_signal, NULL, &now);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

static enum cts_status append(struct cts_access_file *file, const void *bytes, size_t byte_count,
                              struct cts_error *error)
{
    const int failure = write_without_signal(file->fd, bytes, byte_count);
    if (!failure) {
        file->size_bytes += byte_count;
        return CTS_OK;
    }
    if (ftruncate(file->fd, (off_t)file->size_bytes) != 0 ||
        lseek(file->fd, (off_t)file->size_bytes, SEEK_SET) < 0)
        file->is_torn = true;
    return cts_fail_errno(error, failure, "cannot write '%s'", file->path);
}

enum cts_status cts_access_file_create(struct cts_access_file *file, const char *path,
                                       uint32_t rank, uint32_t stream, struct cts_error *error)
{
    *file = (struct cts_access_file){.path = strdup(path), .fd = -1};
    if (!file->path) return cts_fail(error, CTS_MEMORY, "no memory for '%s'", path);
    file->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    enum cts_status status = CTS_OK;
    if (file->fd < 0) {
        status = cts_fail_errno(error, errno, "cannot make '%s'", path);
    } else {
        uint8_t bytes[CTS_ACC_HEADER_BYTES];
        cts_acc_put_file_header(bytes, &(struct cts_acc_file_header){.version = CTS_ACC_VERSION,
                                                                     .rank = rank,
                                                                     .stream = stream});
        status = append(file, bytes, sizeof bytes, error);
    }
    if (status) {
        (void)!cts_access_file_close(file, true, NULL);
        return status;
    }
    return CTS_OK;
}

enum cts_status cts_access_file_append(struct cts_access_file *file, const void *bytes,
                                       const struct cts_acc_chunk_header *header,
                                       struct cts_error *error)
{
    const struct cts_acc_chunk chunk = cts_acc_chunk_of(header, file->size_bytes);
    enum cts_status status = cts_buffer_reserve(&file->chunks, sizeof chunk, error);
    if (!status && !has_room(file->fd, header->size_bytes))
        status = cts_fail_errno(error, ENOSPC, "cannot write '%s'", file->path);
    if (!status) status = append(file, bytes, header->size_bytes, error);
    if (status) return status;
    (void)!cts_buffer_append(&file->chunks, &chunk, sizeof chunk, NULL); /* there is room */
    file->chunk_count++;
    return CTS_OK;
}

static enum cts_status append_footer(struct cts_access_file *file, struct cts_error *error)
{
    struct cts_buffer bytes = {0};
    const size_t byte_count = cts_acc_footer_bytes(file->chunk_count);
    enum cts_status status = cts_buffer_reserve(&bytes, byte_count, error);
    if (!status) {
        cts_acc_put_footer(bytes.data, (const struct cts_acc_chunk *)file->chunks.data,
                           file->chunk_count, file->size_bytes);
        status = append(file, bytes.data, byte_count, error);
    }
    cts_buffer_release(&bytes);
    return status;
}

enum cts_status cts_access_file_close(struct cts_access_file *file, bool abandon,
                                      struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (file->fd >= 0 && !abandon && !file->is_torn) status = append_footer(file, error);
    if (file->fd >= 0 && close(file->fd) != 0 && !abandon && !status)
        status = cts_fail_errno(error, errno, "cannot close '%s'", file->path);
    cts_buffer_release(&file->chunks);
    free(file->path);
    *file = (struct cts_access_file){.fd = -1};
    return status;
}
