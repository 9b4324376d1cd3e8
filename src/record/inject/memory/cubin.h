/* What a cubin says of its functions: names, resources and source lines. */
#ifndef CTS_MEMORY_CUBIN_H
#define CTS_MEMORY_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct cts_cubin_function {
    char *name; /* of its section: the kernel, or a function that is called */
    uint32_t section;
    uint32_t registers, static_shared_bytes;
    bool may_have_barriers;
    uint32_t first_line, line_count; /* in lines, by ascending offset */
};
struct cts_cubin_line {
    uint32_t function;
    uint32_t offset_bytes; /* from the start of the function */
    uint32_t file, line;
};

/* Owns everything in it. */
struct cts_cubin {
    uint64_t checksum;
    struct cts_cubin_function *functions;
    size_t function_count;
    struct cts_cubin_line *lines;
    size_t line_count, line_capacity;
    char **files;
    size_t file_count, file_capacity;
};

/* Reads a cubin, an ELF image; trusts none of its numbers. Damaged line tables yield no lines. */
CTS_MUST_CHECK enum cts_status cts_cubin_read(const void *image, size_t image_bytes,
                                              struct cts_cubin *cubin, struct cts_error *error);
void cts_cubin_release(struct cts_cubin *cubin);

const struct cts_cubin_function *cts_cubin_find(const struct cts_cubin *cubin, const char *name);
/* The line of an instruction, or NULL. */
const struct cts_cubin_line *cts_cubin_line_at(const struct cts_cubin *cubin,
                                               const struct cts_cubin_function *function,
                                               uint64_t offset_bytes);

#endif
