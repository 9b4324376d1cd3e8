#include "common/remove-folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MAX = 4 };

static void remove_level(int parent, const char *name, int depth)
{
    const int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *const stream = directory >= 0 ? fdopendir(directory) : NULL;
    struct dirent *entry;
    while (stream && (entry = readdir(stream))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (unlinkat(directory, entry->d_name, 0) && depth < DEPTH_MAX)
            remove_level(directory, entry->d_name, depth + 1);
    }
    if (stream)
        closedir(stream);
    else if (directory >= 0)
        close(directory);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void cts_remove_folder(int parent, const char *name)
{
    remove_level(parent, name, 0);
}
