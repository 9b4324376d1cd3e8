/* The sets of a launch: (bytes, node) in any order, in memory up to a limit and then in a temporary
 * file that is mapped, so that the system keeps of it in memory what fits. */
#ifndef CTS_COMMUNICATION_SETS_H
#define CTS_COMMUNICATION_SETS_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct cts_set_item {
    uint64_t start;
    uint32_t length_bytes;
    uint32_t node;
};

/* Zero-initialise; set memory_bytes. */
struct cts_sets {
    struct cts_set_item *items;
    size_t count, capacity;
    size_t memory_bytes; /* above this the items move to a file */
    int file;            /* descriptor + 1; 0: in memory */
};

CTS_MUST_CHECK enum cts_status cts_sets_grow(struct cts_sets *sets, struct cts_error *error);

/* Adds [start, end), start < end. */
static inline enum cts_status cts_sets_add(struct cts_sets *sets, uint64_t start, uint64_t end,
                                           uint32_t node, struct cts_error *error)
{
    while (start < end) {
        const uint64_t most = UINT32_MAX & ~UINT64_C(4095);
        const uint64_t length_bytes = end - start < most ? end - start : most;
        if (sets->count == sets->capacity) {
            const enum cts_status status = cts_sets_grow(sets, error);
            if (status) return status;
        }
        sets->items[sets->count++] = (struct cts_set_item){start, (uint32_t)length_bytes, node};
        start += length_bytes;
    }
    return CTS_OK;
}

/* Forgets the items; keeps the memory (a file's only while it is small). */
void cts_sets_clear(struct cts_sets *sets);
void cts_sets_release(struct cts_sets *sets);

#endif
