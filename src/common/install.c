#include "common/install.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* <prefix>/`tail`, where this program is <prefix>/bin/ctascope. */
static const char *part_directory(char *path, size_t path_bytes, const char *tail)
{
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    for (int level = 0; level < 2; level++) {
        char *const slash = strrchr(program, '/');
        if (slash) *slash = 0;
    }
    if ((size_t)snprintf(path, path_bytes, "%s/%s", program, tail) >= path_bytes) path[0] = 0;
    return path;
}

const char *cts_library_directory(void)
{
    static char path[PATH_MAX];
    return *path ? path : part_directory(path, sizeof path, "lib/ctascope");
}

const char *cts_share_directory(void)
{
    static char path[PATH_MAX];
    return *path ? path : part_directory(path, sizeof path, "share/ctascope");
}
