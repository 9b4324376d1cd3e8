#include "common/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

const char *cts_temporary_directory(void)
{
    const char *const wanted = getenv("TMPDIR");
    return wanted && *wanted ? wanted : "/tmp";
}

static bool is_memory(const char *directory)
{
    struct statfs system;
    return statfs(directory, &system) == 0 &&
           (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

/* On many systems /tmp lies in memory: what is large goes to /var/tmp then, if that is better. */
static const char *large_directory(void)
{
    static const char on_disk[] = "/var/tmp";
    const char *const wanted = getenv("TMPDIR"), *const usual = cts_temporary_directory();
    if ((wanted && *wanted) || !is_memory(usual)) return usual;
    return access(on_disk, W_OK | X_OK) || is_memory(on_disk) ? usual : on_disk;
}

int cts_temporary_file(struct cts_error *error)
{
    const char *const directory = large_directory();
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/ctascope-XXXXXX", directory);
    const int file = length > 0 && (size_t)length < sizeof path ? mkostemp(path, O_CLOEXEC) : -1;
    if (file < 0)
        (void)cts_fail_errno(error, errno, "cannot make a temporary file in '%s'", directory);
    else
        unlink(path);
    return file;
}

void *cts_temporary_map(int file, uint64_t offset_bytes, size_t size_bytes, struct cts_error *error)
{
    const int refused = posix_fallocate(file, (off_t)offset_bytes, (off_t)size_bytes);
    if (refused) {
        (void)cts_fail_errno(error, refused, "cannot claim %zu bytes of temporary disk space",
                             size_bytes);
        return NULL;
    }
    void *const mapped =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset_bytes);
    if (mapped != MAP_FAILED) return mapped;
    (void)cts_fail_errno(error, errno, "cannot map %zu bytes of a temporary file", size_bytes);
    return NULL;
}
