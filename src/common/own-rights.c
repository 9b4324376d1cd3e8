#include "common/own-rights.h"

#include <sys/stat.h>

enum { MODE_BITS = 07777 };

int cts_make_directory(const char *path)
{
    struct stat info;
    if (mkdir(path, 0777)) return -1;
    if (stat(path, &info) == 0 && (info.st_mode & S_IRWXU) != S_IRWXU)
        (void)!chmod(path, (info.st_mode & MODE_BITS) | S_IRWXU);
    return 0;
}

void cts_keep_own_rights(int file)
{
    struct stat info;
    const mode_t wanted = S_IRUSR | S_IWUSR;
    if (fstat(file, &info) == 0 && (info.st_mode & wanted) != wanted)
        (void)!fchmod(file, (info.st_mode & MODE_BITS) | wanted);
}
