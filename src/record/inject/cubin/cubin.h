/* What a cubin says of its functions: names, resources, source lines, and the instructions that a
 * recorder has to know of. */
#ifndef CTS_RECORD_CUBIN_H
#define CTS_RECORD_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "record/inject/cubin/sass.h"

#define CTS_CUBIN_NONE UINT32_MAX

struct cts_cubin_function {
    char *name; /* of its section: the kernel, or a function that is called */
    uint32_t section;
    uint32_t registers, static_shared_bytes;
    bool may_have_barriers;
    bool has_arrivals;               /* at barriers, without waiting */
    bool launches_kernels;           /* a function of the runtime that does, called by kernels */
    uint32_t first_line, line_count; /* in lines, by ascending offset */
    uint32_t first_mark, mark_count; /* in marks, by ascending offset */
};
struct cts_cubin_line {
    uint32_t function;
    uint32_t offset_bytes; /* from the start of the function */
    uint32_t file, line;
    uint32_t row;  /* its place in the table: of several of one instruction the last one counts */
    uint32_t call; /* in calls: where the code was inlined; CTS_CUBIN_NONE: nowhere */
};
/* A call that was inlined. */
struct cts_cubin_call {
    uint32_t file, line;  /* where it is written */
    uint32_t parent;      /* in calls: where that code was inlined; CTS_CUBIN_NONE: nowhere */
    uint32_t callee_name; /* of the inlined function, in strings */
};
/* A function without a section of its own, inside that of the kernel that calls it. */
struct cts_cubin_part {
    uint32_t function;
    uint32_t offset_bytes, size_bytes;
    char *name;
};
/* A function that calls another one, which has a section of its own. */
struct cts_cubin_edge {
    uint32_t caller, callee; /* in functions */
};
/* A variable with memory of its own. */
struct cts_cubin_variable {
    char *name; /* its symbol */
    uint64_t size_bytes;
    bool is_constant, is_managed;
};
/* An instruction that needs more than its address. */
struct cts_cubin_mark {
    uint32_t offset_bytes;
    uint32_t origin_bytes; /* of a marked copy: where the copy stood before */
    struct cts_sass sass;
};

/* Owns everything in it. */
struct cts_cubin {
    uint64_t checksum;
    struct cts_cubin_function *functions;
    size_t function_count;
    struct cts_cubin_line *lines;
    size_t line_count, line_capacity;
    struct cts_cubin_call *calls;
    size_t call_count, call_capacity;
    struct cts_cubin_part *parts;
    size_t part_count, part_capacity;
    struct cts_cubin_mark *marks;
    size_t mark_count, mark_capacity;
    struct cts_cubin_variable *variables;
    size_t variable_count, variable_capacity;
    char **files;
    size_t file_count, file_capacity;
    char *strings; /* of inlined functions' names, NUL-terminated */
    size_t strings_bytes;
    struct cts_cubin_edge *edges;
    size_t edge_count, edge_capacity;
    uint32_t capability;     /* the compute capability, 10 times */
    uint64_t constant_bytes; /* of __constant__ variables */
};

/* Reads a cubin, an ELF image; trusts none of its numbers. Damaged line tables yield no lines. */
CTS_MUST_CHECK enum cts_status cts_cubin_read(const void *image, size_t image_bytes,
                                              struct cts_cubin *cubin, struct cts_error *error);
void cts_cubin_release(struct cts_cubin *cubin);

/* The content of a variable that has one in the image; borrowed from it. False: there is none. */
bool cts_cubin_object(const void *image, size_t image_bytes, const char *name, const void **bytes,
                      size_t *byte_count);

const struct cts_cubin_function *cts_cubin_find(const struct cts_cubin *cubin, const char *name);
/* The line of an instruction, or NULL. */
const struct cts_cubin_line *cts_cubin_line_at(const struct cts_cubin *cubin,
                                               const struct cts_cubin_function *function,
                                               uint64_t offset_bytes);
/* What is known of an instruction, or NULL. */
const struct cts_cubin_mark *cts_cubin_mark_at(const struct cts_cubin *cubin,
                                               const struct cts_cubin_function *function,
                                               uint64_t offset_bytes);
/* The part that an instruction lies in, or NULL. */
const struct cts_cubin_part *cts_cubin_part_at(const struct cts_cubin *cubin,
                                               const struct cts_cubin_function *function,
                                               uint64_t offset_bytes);
/* Sets reached[f] for the function and all that it may call, as far as calls name their function.
 */
void cts_cubin_reach(const struct cts_cubin *cubin, const struct cts_cubin_function *function,
                     bool *reached);
/* The instructions of a function in the image that the cubin was read from, or NULL. */
const void *cts_cubin_code(const void *image, size_t image_bytes,
                           const struct cts_cubin_function *function, size_t *code_bytes);
/* The mangled name of the function that a call inlined; "" where it is not known. */
const char *cts_cubin_callee(const struct cts_cubin *cubin, const struct cts_cubin_call *call);

#endif
