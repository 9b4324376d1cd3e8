#include "common/read-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

int cts_open_file_at(int directory, const char *name, int flags, mode_t mode)
{
    int file;
    do {
        file = openat(directory, name, flags | O_CLOEXEC, mode);
    } while (file < 0 && errno == EINTR);
    return file;
}

int cts_open_file(const char *path, int flags, mode_t mode)
{
    int file;
    do {
        file = open(path, flags | O_CLOEXEC, mode);
    } while (file < 0 && errno == EINTR);
    return file;
}

bool cts_is_kept_file(const char *path, const struct stat *facts)
{
    struct statfs where;
    if (!S_ISREG(facts->st_mode)) return false;
    if (facts->st_size) return true;
    return statfs(path, &where) ||
           (where.f_type != PROC_SUPER_MAGIC && where.f_type != SYSFS_MAGIC &&
            where.f_type != DEBUGFS_MAGIC && where.f_type != TRACEFS_MAGIC);
}

int cts_open_regular_file(const char *path, struct cts_error *error)
{
    struct stat facts;
    if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && !cts_is_kept_file(path, &facts)) {
        (void)cts_fail(error, CTS_IO, "cannot read '%s': it is not a regular file", path);
        return -1;
    }
    const int file = cts_open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (file < 0) {
        (void)cts_fail_errno(error, errno, "cannot open '%s'", path);
        return -1;
    }
    if (fstat(file, &facts))
        (void)cts_fail_errno(error, errno, "cannot read '%s'", path);
    else if (S_ISDIR(facts.st_mode))
        (void)cts_fail_errno(error, EISDIR, "cannot read '%s'", path);
    else if (!S_ISREG(facts.st_mode))
        (void)cts_fail(error, CTS_IO, "cannot read '%s': it is not a regular file", path);
    else
        return file;
    close(file);
    return -1;
}

FILE *cts_open_stream(const char *path, const char *mode)
{
    char with_flag[8];
    FILE *file;
    snprintf(with_flag, sizeof with_flag, "%se", mode);
    do {
        file = fopen(path, with_flag);
    } while (!file && errno == EINTR);
    return file;
}

DIR *cts_open_directory(const char *path)
{
    DIR *directory;
    do {
        directory = opendir(path);
    } while (!directory && errno == EINTR);
    return directory;
}

ssize_t cts_read_file(int file, void *bytes, size_t byte_count)
{
    size_t done = 0;
    while (done < byte_count) {
        const ssize_t got = read(file, (char *)bytes + done, byte_count - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}
