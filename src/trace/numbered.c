#include "trace/numbered.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/read-file.h"

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* A name of the form PREFIX digits SUFFIX, in the one way that a number is written. */
static bool parse_name(const char *name, const char *prefix, const char *suffix, uint32_t *number)
{
    const size_t prefix_bytes = strlen(prefix);
    if (strncmp(name, prefix, prefix_bytes) != 0) return false;
    uint64_t value = 0;
    const char *at = name + prefix_bytes;
    const char *const digits = at;
    for (; *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    if (at == digits || value > UINT32_MAX || (*digits == '0' && at - digits > 1)) return false;
    *number = (uint32_t)value;
    return strcmp(at, suffix) == 0;
}

static bool is_directory(int parent, const struct dirent *entry)
{
    struct stat info;
    if (entry->d_type == DT_DIR) return true;
    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK) return false;
    return fstatat(parent, entry->d_name, &info, 0) == 0 && S_ISDIR(info.st_mode);
}

enum cts_status cts_list_numbers(const char *path, const char *prefix, const char *suffix,
                                 struct cts_buffer *numbers, struct cts_error *error)
{
    DIR *const directory = cts_open_directory(path);
    if (!directory) return cts_fail_errno(error, errno, "cannot read directory '%s'", path);
    enum cts_status status = CTS_OK;
    for (;;) {
        errno = 0;
        const struct dirent *const entry = readdir(directory);
        if (!entry && errno)
            status = cts_fail_errno(error, errno, "cannot read directory '%s'", path);
        uint32_t number;
        if (!entry || status) break;
        if (!parse_name(entry->d_name, prefix, suffix, &number)) continue;
        if (!*suffix && !is_directory(dirfd(directory), entry)) continue;
        status = cts_buffer_append(numbers, &number, sizeof number, error);
        if (status) break;
    }
    closedir(directory);
    if (numbers->size_bytes)
        qsort(numbers->data, numbers->size_bytes / sizeof(uint32_t), sizeof(uint32_t),
              compare_numbers);
    return status;
}
