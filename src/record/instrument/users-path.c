/* Tells the files of a user from headers of the compiler, the system, the toolkit and ours. */
#include "record/instrument/users-path.h"

#include <string.h>

static bool contains_any(const char *path, const char *const *parts)
{
    for (; *parts; parts++)
        if (strstr(path, *parts)) return true;
    return false;
}

static bool starts_with_any(const char *path, const char *const *parts)
{
    for (; *parts; parts++)
        if (!strncmp(path, *parts, strlen(*parts))) return true;
    return false;
}

/* Headers of the compiler, the system, the toolkit and ours are not what a user wants to be shown
 * when an inlined function of theirs makes an access. Debug information does not tell them apart,
 * their places do. */
bool cts_is_users_path(const char *path)
{
    static const char *const inside[] = {"/lib/clang/",
                                         "/share/ctascope/",
                                         "/record/cpu/include/",
                                         "/targets/x86_64-linux/",
                                         "/targets/sbsa-linux/",
                                         "<built-in>",
                                         NULL};
    static const char *const places[] = {"/usr/include/", "/usr/lib/",       "/usr/local/include/",
                                         "/usr/lib64/",   "/usr/local/cuda", NULL};
    return !contains_any(path, inside) && !starts_with_any(path, places);
}
