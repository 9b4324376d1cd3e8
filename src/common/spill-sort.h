/* Sorting more items than memory should hold: parts of `items_in_memory` are sorted as they come;
 * what fits into one part never leaves memory, several parts go to a file that is deleted as soon
 * as it is open, and are merged from there, each read a block at a time. */
#ifndef CTS_COMMON_SPILL_SORT_H
#define CTS_COMMON_SPILL_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct cts_spill_options {
    size_t item_bytes;
    size_t items_in_memory;                              /* 1 at least */
    int (*compare)(const void *left, const void *right); /* of two items; never 0: a total order */
    const char *path; /* of the file, made when it is needed; borrowed until release */
};

struct cts_spill_sort {
    struct cts_spill_options options;
    char *items;
    size_t count, capacity; /* of `items` */
    int file;               /* of sorted parts; -1: none yet */
    uint64_t written;       /* items */
    struct cts_spill_part {
        uint64_t at, end; /* in the file, in items; what is not yet read */
        char *block;
        size_t block_at, block_count;
    } *parts;
    size_t part_count, part_capacity;
};

/* Cannot fail; nothing is allocated before the first item. */
void cts_spill_begin(struct cts_spill_sort *sort, const struct cts_spill_options *options);
/* Copies an item. CTS_MEMORY; CTS_IO: the file cannot be written. */
CTS_MUST_CHECK enum cts_status cts_spill_add(struct cts_spill_sort *sort, const void *item,
                                             struct cts_error *error);
/* Gives all items in order, once; ends with the first status that is not CTS_OK. */
typedef enum cts_status cts_spill_visit(void *state, const void *item, struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_spill_finish(struct cts_spill_sort *sort, cts_spill_visit *visit,
                                                void *state, struct cts_error *error);
void cts_spill_release(struct cts_spill_sort *sort); /* also of one that is zero-initialised */

#endif
