#include "trace/mapped-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/own-rights.h"
#include "common/private-files.h"
#include "common/promise.h"

enum {
    PAGE_BYTES = 64 << 10, /* the largest page of any system */
    WINDOW_MAX_BYTES = 4 << 20,
    KEPT_FREE_BYTES = 16 << 20, /* or an eighth of a small disk */
    KEPT_FREE_SHARE = 8,
    INTERRUPTIONS_MAX = 100
};

/* Whether the disk has room for so much and for others. One that does not tell is tried. */
static bool has_room(int fd, uint64_t byte_count)
{
    struct statvfs disk;
    if (fstatvfs(fd, &disk) != 0 || !disk.f_blocks || !disk.f_bavail) return true;
    const uint64_t share_bytes = disk.f_blocks * disk.f_frsize / KEPT_FREE_SHARE;
    const uint64_t kept_bytes = share_bytes < KEPT_FREE_BYTES ? share_bytes : KEPT_FREE_BYTES;
    return disk.f_bavail * disk.f_frsize >= kept_bytes + byte_count;
}

static int open_again(const char *path, int flags)
{
    int fd = -1;
    for (int i = 0; i < INTERRUPTIONS_MAX && fd < 0; i++) {
        fd = open(path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0 && errno != EINTR) break;
    }
    return fd;
}

static int allocate(int fd, uint64_t offset_bytes, uint64_t byte_count)
{
    int errnum = EINTR;
    for (int i = 0; i < INTERRUPTIONS_MAX && errnum == EINTR; i++)
        errnum = posix_fallocate(fd, (off_t)offset_bytes, (off_t)byte_count);
    return errnum;
}

/* Allocates and maps a part of the file; 0 or an errno value. */
static int map_part(int fd, uint64_t offset_bytes, size_t byte_count, uint8_t **mapped)
{
    const int errnum = allocate(fd, offset_bytes, byte_count);
    if (errnum) return errnum;
    void *const at =
        mmap(NULL, byte_count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset_bytes);
    if (at == MAP_FAILED) return errno;
    *mapped = at;
    return 0;
}

/* ---- making ---- */

struct creation {
    struct cts_mapped_file *file;
    size_t header_bytes;
    bool lock;
    int errnum;
};

static int create_open(struct creation *creation, int fd)
{
    struct cts_mapped_file *const file = creation->file;
    struct stat info;
    if (creation->lock) file->is_locked = flock(fd, LOCK_SH) == 0;
    if (fstat(fd, &info) != 0) return errno;
    file->device = info.st_dev;
    file->inode = info.st_ino;
    if (creation->header_bytes) {
        const int errnum = map_part(fd, 0, creation->header_bytes, &file->header);
        if (errnum) return errnum;
    }
    file->size_bytes = file->header_bytes = creation->header_bytes;
    return 0;
}

static void create_now(void *argument)
{
    struct creation *const creation = argument;
    const int fd = open_again(creation->file->path, O_CREAT | O_EXCL);
    creation->errnum = fd < 0 ? errno : 0;
    if (fd >= 0) cts_keep_own_rights(fd);
    if (fd >= 0) creation->errnum = create_open(creation, fd);
    if (fd >= 0 && creation->errnum) unlink(creation->file->path);
    if (fd >= 0 && !creation->errnum && creation->file->is_locked &&
        cts_private_files_are_private())
        return; /* the lock's; it is closed with the thread */
    creation->file->is_locked = false;
    if (fd >= 0) close(fd);
}

enum cts_status cts_mapped_file_create(struct cts_mapped_file *file, const char *path,
                                       size_t header_bytes, bool lock, struct cts_error *error)
{
    *file = (struct cts_mapped_file){.path = strdup(path)};
    if (!file->path) return cts_fail(error, CTS_MEMORY, "no memory for '%s'", path);
    struct creation creation = {.file = file, .header_bytes = header_bytes, .lock = lock};
    cts_private_files_do(create_now, &creation);
    if (!creation.errnum) return CTS_OK;
    free(file->path);
    *file = (struct cts_mapped_file){0};
    return cts_fail_errno(error, creation.errnum, "cannot make '%s'", path);
}

/* ---- growing ---- */

struct growth {
    struct cts_mapped_file *file;
    uint64_t offset_bytes;
    size_t least_bytes, wanted_bytes;
    bool populate;
    uint8_t *window;
    size_t window_bytes;
    int errnum;
};

/* The file at the path, if it is still ours. */
static int open_ours(const struct cts_mapped_file *file, int *errnum)
{
    struct stat info;
    const int fd = open_again(file->path, 0);
    *errnum = fd < 0 ? errno : 0;
    if (fd < 0) return -1;
    if (fstat(fd, &info) != 0)
        *errnum = errno;
    else if (info.st_dev != file->device || info.st_ino != file->inode)
        *errnum = ESTALE;
    if (!*errnum) return fd;
    close(fd);
    return -1;
}

static void grow_now(void *argument)
{
    struct growth *const growth = argument;
    const int fd = open_ours(growth->file, &growth->errnum);
    if (fd < 0) return;
    growth->errnum = ENOSPC;
    const size_t sizes[] = {growth->wanted_bytes, growth->least_bytes};
    for (int i = 0; i < 2 && growth->errnum; i++) {
        if (growth->file->leaves_room && !has_room(fd, sizes[i])) continue;
        growth->errnum = map_part(fd, growth->offset_bytes, sizes[i], &growth->window);
        growth->window_bytes = sizes[i];
    }
    close(fd);
    /* Populating a shared mapping only reads its pages: the first store on each would take a fault
     * of some 3 us. Before Linux 5.14 it does. */
    if (!growth->errnum && growth->populate)
        (void)madvise(growth->window, growth->window_bytes, MADV_POPULATE_WRITE);
}

static enum cts_status take_window(struct growth *growth, struct cts_error *error)
{
    struct cts_mapped_file *const file = growth->file;
    cts_private_files_do(grow_now, growth);
    if (growth->errnum)
        return cts_fail_errno(error, growth->errnum, "cannot write '%s'", file->path);
    if (file->window) munmap(file->window, file->window_bytes);
    file->window = growth->window;
    file->window_offset_bytes = growth->offset_bytes;
    file->window_bytes = growth->window_bytes;
    return CTS_OK;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/* Windows double, so that a short run takes little and a long one asks seldom. */
static enum cts_status grow(struct cts_mapped_file *file, size_t byte_count,
                            struct cts_error *error)
{
    struct growth growth = {.file = file,
                            .offset_bytes = file->size_bytes / PAGE_BYTES * PAGE_BYTES};
    const uint64_t head_bytes = file->size_bytes - growth.offset_bytes;
    uint64_t more_bytes = file->size_bytes - file->header_bytes;
    if (more_bytes > WINDOW_MAX_BYTES) more_bytes = WINDOW_MAX_BYTES;
    growth.least_bytes = head_bytes + byte_count;
    growth.wanted_bytes = round_up(head_bytes + byte_count + more_bytes);
    return take_window(&growth, error);
}

enum cts_status cts_mapped_file_room(struct cts_mapped_file *file, size_t byte_count, uint8_t **to,
                                     struct cts_error *error)
{
    assert(byte_count && byte_count <= SIZE_MAX / 2);
    if (cts_mapped_file_left(file) < byte_count) {
        const enum cts_status status = grow(file, byte_count, error);
        if (status) return status;
    }
    *to = file->window + (file->size_bytes - file->window_offset_bytes);
    return CTS_OK;
}

enum cts_status cts_mapped_file_map(struct cts_mapped_file *file, uint64_t offset_bytes,
                                    size_t byte_count, struct cts_error *error)
{
    struct growth growth = {.file = file,
                            .offset_bytes = offset_bytes,
                            .least_bytes = byte_count,
                            .wanted_bytes = byte_count,
                            .populate = true};
    return take_window(&growth, error);
}

/* ---- closing ---- */

static void unlink_now(void *argument)
{
    struct growth *const growth = argument;
    const int fd = open_ours(growth->file, &growth->errnum);
    if (fd < 0) return;
    unlink(growth->file->path);
    close(fd);
}

void cts_mapped_file_discard(struct cts_mapped_file *file)
{
    struct growth growth = {.file = file};
    cts_private_files_do(unlink_now, &growth);
    (void)cts_mapped_file_close(file, true, NULL);
}

static void cut_now(void *argument)
{
    struct growth *const growth = argument;
    const int fd = open_ours(growth->file, &growth->errnum);
    if (fd < 0) return;
    if (ftruncate(fd, (off_t)growth->file->size_bytes) != 0) growth->errnum = errno;
    if (close(fd) != 0 && !growth->errnum) growth->errnum = errno;
}

enum cts_status cts_mapped_file_close(struct cts_mapped_file *file, bool abandon,
                                      struct cts_error *error)
{
    struct growth growth = {.file = file};
    enum cts_status status = CTS_OK;
    if (file->window) munmap(file->window, file->window_bytes);
    if (file->header) munmap(file->header, file->header_bytes);
    if (file->path && !abandon) cts_private_files_do(cut_now, &growth);
    if (growth.errnum)
        status = cts_fail_errno(error, growth.errnum, "cannot close '%s'", file->path);
    free(file->path);
    *file = (struct cts_mapped_file){0};
    return status;
}
