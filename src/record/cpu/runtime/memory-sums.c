#include "common/hash.h"
#include "memory-sums.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *path;

static const char *kind_text(enum cts_range_kind kind)
{
    static const char *const texts[] = {
        [CTS_RANGE_DEVICE] = "device", [CTS_RANGE_MANAGED] = "managed",
        [CTS_RANGE_PINNED] = "pinned", [CTS_RANGE_REGISTERED] = "registered",
        [CTS_RANGE_ARRAY] = "array",   [CTS_RANGE_VARIABLE] = "variable",
    };
    return texts[kind];
}

static int open_file(void)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

bool cts_memory_sums_start(const char *asked)
{
    path = asked;
    if (!path) return true;
    const int file = open_file();
    if (file >= 0) close(file);
    return file >= 0;
}

void cts_memory_sum(const char *when, const struct cts_range *range)
{
    char line[200];
    if (!path || range->kind == CTS_RANGE_REGISTERED) return;
    const int length =
        snprintf(line, sizeof line, "%s %s %d %llu %016llx %s\n", when, kind_text(range->kind),
                 range->device, (unsigned long long)range->size_bytes,
                 (unsigned long long)cts_hash_words(CTS_HASH_START, (const char *)range->address,
                                                    range->size_bytes),
                 *range->variable ? range->variable : "-");
    const int file = open_file();
    const ssize_t ignored = file < 0 ? 0 : write(file, line, (size_t)length);
    (void)ignored; /* a line that lacks makes the two runs differ */
    if (file >= 0) close(file);
}
