#include "analyze/communication/sets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 1024 };

/* An unlinked file in TMPDIR; -1 with a description when there can be none. */
static int temporary_file(struct cts_error *error)
{
    const char *const wanted = getenv("TMPDIR");
    const char *const directory = wanted && *wanted ? wanted : "/tmp";
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/ctascope-sets-XXXXXX", directory);
    const int file = length > 0 && (size_t)length < sizeof path ? mkostemp(path, O_CLOEXEC) : -1;
    if (file < 0)
        (void)cts_fail_errno(error, errno, "cannot make a temporary file in '%s'", directory);
    else
        unlink(path);
    return file;
}

/* Space is claimed before it is mapped: a full disk is an error here, not a signal later. */
static enum cts_status map_file(struct cts_sets *sets, int file, size_t capacity,
                                struct cts_error *error)
{
    const size_t size_bytes = capacity * sizeof *sets->items;
    const int refused = posix_fallocate(file, 0, (off_t)size_bytes);
    if (refused)
        return cts_fail_errno(error, refused, "cannot claim %zu bytes of temporary disk space",
                              size_bytes);
    void *const mapped = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        return cts_fail_errno(error, errno, "cannot map %zu bytes of a temporary file", size_bytes);
    if (sets->file)
        munmap(sets->items, sets->capacity * sizeof *sets->items);
    else {
        if (sets->count) memcpy(mapped, sets->items, sets->count * sizeof *sets->items);
        free(sets->items);
    }
    sets->items = mapped;
    sets->capacity = capacity;
    return CTS_OK;
}

enum cts_status cts_sets_grow(struct cts_sets *sets, struct cts_error *error)
{
    const size_t capacity = sets->capacity ? sets->capacity * 2 : FIRST_CAPACITY;
    if (capacity > SIZE_MAX / 2 / sizeof *sets->items)
        return cts_fail(error, CTS_MEMORY, "the sets of a launch are too large");
    const size_t size_bytes = capacity * sizeof *sets->items;
    if (!sets->file && size_bytes <= sets->memory_bytes) {
        struct cts_set_item *const items = realloc(sets->items, size_bytes);
        if (!items) return cts_fail(error, CTS_MEMORY, "no memory for %zu bytes", size_bytes);
        sets->items = items;
        sets->capacity = capacity;
        return CTS_OK;
    }
    const int file = sets->file ? sets->file - 1 : temporary_file(error);
    if (file < 0) return CTS_IO;
    const enum cts_status status = map_file(sets, file, capacity, error);
    if (!status)
        sets->file = file + 1;
    else if (!sets->file)
        close(file);
    return status;
}

void cts_sets_clear(struct cts_sets *sets)
{
    sets->count = 0;
    if (sets->file) cts_sets_release(sets);
}

void cts_sets_release(struct cts_sets *sets)
{
    if (sets->file) {
        munmap(sets->items, sets->capacity * sizeof *sets->items);
        close(sets->file - 1);
    } else {
        free(sets->items);
    }
    *sets = (struct cts_sets){.memory_bytes = sets->memory_bytes};
}
