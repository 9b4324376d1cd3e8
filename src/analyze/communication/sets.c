#include "analyze/communication/sets.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/temporary.h"

enum { FIRST_CAPACITY = 1024 };

static enum cts_status map_file(struct cts_sets *sets, int file, size_t capacity,
                                struct cts_error *error)
{
    void *const mapped = cts_temporary_map(file, 0, capacity * sizeof *sets->items, error);
    if (!mapped) return CTS_IO;
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
    const int file = sets->file ? sets->file - 1 : cts_temporary_file(error);
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
