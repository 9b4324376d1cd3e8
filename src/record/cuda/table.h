/* The table of an instrumented module: what the plugin (instrument/device-table.c) wrote into it
 * and the recorder reads from its image. All numbers are little-endian, of 32 bits:
 *
 *   OFFSET  SIZE  MEANING
 *   0       8     "ctsTABLE"
 *   8       4     version, 2
 *   12      4     bytes of the table, this header included
 *   16      4     flags, enum cts_file_flags of record/abi.h
 *   20      4     texts, then each: its bytes, then as many bytes; text 0 is ""
 *   24      24    sources, kernels, sites, variables, skipped, padded types: how many; the rows
 *                 follow the texts
 *   48      4     the text that identifies the translation unit
 *   52      4     the text of the main source's path
 *
 * Rows, in words: a source is {path, content}; a kernel {symbol, name, source, line, flags}; a site
 * {source, line, column, width, operation | space << 8 | volatile << 16 | loop depth << 24,
 * function, type, variable, inlined at}; a variable {symbol, name, type, kind, source, line,
 * function, low and high word of its size}; what was skipped {what, reason, source, line}; a
 * padded type {name, padding, alternatives, size} (record/instrument/padding.h). Texts are named by
 * number; sources, too, -1 being none. */
#ifndef CTS_CUDA_TABLE_H
#define CTS_CUDA_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define CTS_CUDA_TABLE_MAGIC "ctsTABLE"
enum {
    CTS_CUDA_TABLE_VERSION = 2,
    CTS_CUDA_TABLE_HEADER_BYTES = 56,
    CTS_CUDA_SOURCE_WORDS = 2,
    CTS_CUDA_KERNEL_WORDS = 5,
    CTS_CUDA_SITE_WORDS = 9,
    CTS_CUDA_VARIABLE_WORDS = 9,
    CTS_CUDA_SKIPPED_WORDS = 4,
    CTS_CUDA_PADDED_TYPE_WORDS = 4,
};

struct cts_cuda_source {
    const char *path, *text; /* text NULL: not the user's */
};
struct cts_cuda_kernel {
    const char *symbol, *name;
    uint32_t source, line, flags;
};
struct cts_cuda_site {
    uint32_t source, line, column, width_bytes;
    uint8_t operation, space, is_volatile, loop_depth;
    const char *function, *type, *variable, *inlined_at; /* NULL: unknown */
};
struct cts_cuda_variable {
    const char *symbol, *name, *type, *function; /* type, function NULL: none */
    uint32_t kind, source, line;
    uint64_t size_bytes;
};
struct cts_cuda_skipped {
    const char *what, *reason;
    uint32_t source, line;
};

struct cts_cuda_padded_type {
    const char *name, *padding, *alternatives; /* the last two NULL: none */
    uint32_t size_bytes;
};

/* Owns everything in it. Rows name sources by index, or UINT32_MAX. */
struct cts_cuda_table {
    uint32_t flags;
    const char *unit, *path;
    struct cts_cuda_source *sources;
    struct cts_cuda_kernel *kernels;
    struct cts_cuda_site *sites;
    struct cts_cuda_variable *variables;
    struct cts_cuda_skipped *skipped;
    struct cts_cuda_padded_type *padded_types;
    uint32_t source_count, kernel_count, site_count, variable_count, skipped_count;
    uint32_t padded_type_count;
    char *bytes; /* of all texts */
};

/* Reads a table; trusts none of it. */
CTS_MUST_CHECK enum cts_status cts_cuda_table_read(const void *bytes, size_t byte_count,
                                                   struct cts_cuda_table *table,
                                                   struct cts_error *error);
void cts_cuda_table_release(struct cts_cuda_table *table);

#endif
