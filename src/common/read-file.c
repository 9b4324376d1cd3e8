#include "common/read-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
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
