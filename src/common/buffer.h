/* A growing array of bytes with a ceiling. `struct cts_buffer` is zero-initialised with its
 * ceiling set; cts_buffer_release() frees what it owns. Growth that would pass the ceiling or the
 * memory fails and leaves the content as it was. */
#ifndef CTS_COMMON_BUFFER_H
#define CTS_COMMON_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/error.h"

struct cts_buffer {
    uint8_t *data;
    size_t size_bytes;
    size_t capacity_bytes;
    size_t ceiling_bytes; /* 0: no ceiling but the address space */
};

void cts_buffer_release(struct cts_buffer *buffer);

/* Makes room for `more_bytes` behind the content; CTS_LIMIT or CTS_MEMORY when there is none. */
CTS_MUST_CHECK enum cts_status cts_buffer_reserve(struct cts_buffer *buffer, size_t more_bytes,
                                                  struct cts_error *error);

/* Copies the bytes, which must not be the buffer's own, behind the content; fails as above. */
CTS_MUST_CHECK enum cts_status cts_buffer_append(struct cts_buffer *buffer, const void *bytes,
                                                 size_t byte_count, struct cts_error *error);

/* Appends a file's text and a NUL behind it. CTS_FORMAT when the text has one itself; CTS_IO,
 * CTS_LIMIT, CTS_MEMORY. */
CTS_MUST_CHECK enum cts_status cts_buffer_read_text(struct cts_buffer *buffer, const char *path,
                                                    struct cts_error *error);

/* No content any more; the memory stays for what comes. */
static inline void cts_buffer_clear(struct cts_buffer *buffer)
{
    buffer->size_bytes = 0;
}

#endif
