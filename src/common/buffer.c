#include "common/buffer.h"
#include "common/read-file.h"
#include "common/promise.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void cts_buffer_release(struct cts_buffer *buffer)
{
    free(buffer->data);
    buffer->data = NULL;
    buffer->size_bytes = buffer->capacity_bytes = 0;
}

enum cts_status cts_buffer_reserve(struct cts_buffer *buffer, size_t more_bytes,
                                   struct cts_error *error)
{
    assert(buffer->size_bytes <= buffer->capacity_bytes);
    if (more_bytes <= buffer->capacity_bytes - buffer->size_bytes) return CTS_OK;
    const size_t ceiling = buffer->ceiling_bytes ? buffer->ceiling_bytes : SIZE_MAX / 2;
    if (buffer->size_bytes > ceiling || more_bytes > ceiling - buffer->size_bytes)
        return cts_fail(error, CTS_LIMIT, "a buffer of %zu bytes would pass its ceiling of %zu",
                        buffer->size_bytes, ceiling);
    const size_t needed = buffer->size_bytes + more_bytes;
    size_t capacity = buffer->capacity_bytes ? buffer->capacity_bytes : 256;
    while (capacity < needed) capacity = capacity > ceiling / 2 ? ceiling : capacity * 2;
    uint8_t *const data = realloc(buffer->data, capacity);
    if (!data) return cts_fail(error, CTS_MEMORY, "no memory for %zu bytes", capacity);
    buffer->data = data;
    buffer->capacity_bytes = capacity;
    return CTS_OK;
}

enum cts_status cts_buffer_append(struct cts_buffer *buffer, const void *bytes, size_t byte_count,
                                  struct cts_error *error)
{
    assert(!byte_count || !buffer->data || (const uint8_t *)bytes + byte_count <= buffer->data ||
           (const uint8_t *)bytes >= buffer->data + buffer->capacity_bytes); /* not its own */
    const enum cts_status status = cts_buffer_reserve(buffer, byte_count, error);
    if (status) return status;
    if (byte_count) memcpy(buffer->data + buffer->size_bytes, bytes, byte_count);
    buffer->size_bytes += byte_count;
    return CTS_OK;
}

enum cts_status cts_buffer_read_text(struct cts_buffer *buffer, const char *path,
                                     struct cts_error *error)
{
    FILE *const file = cts_open_stream(path, "rb");
    if (!file) return cts_fail_errno(error, errno, "cannot read '%s'", path);
    const size_t start = buffer->size_bytes;
    enum cts_status status = CTS_OK;
    char block[4096];
    size_t got;
    while (!status && (got = fread(block, 1, sizeof block, file)) > 0)
        status = cts_buffer_append(buffer, block, got, error);
    if (!status && ferror(file)) status = cts_fail_errno(error, errno, "cannot read '%s'", path);
    fclose(file);
    if (!status) status = cts_buffer_append(buffer, "", 1, error);
    if (!status && strlen((const char *)buffer->data + start) + 1 < buffer->size_bytes - start)
        status = cts_fail(error, CTS_FORMAT, "'%s' is not a text file", path);
    return status;
}
