/* A bounded little-endian reader over untrusted bytes. Reads past the end return 0 and
 * set `overflow`, so that a parser may read a whole header and check once. */
#ifndef CTS_COMMON_CURSOR_H
#define CTS_COMMON_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/promise.h"

struct cts_cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool overflow;
};

static inline struct cts_cursor cts_cursor_of(const void *bytes, size_t byte_count)
{
    /* no bytes may lie nowhere: arithmetic on NULL is undefined */
    const uint8_t *const start = bytes ? bytes : (const void *)"";
    return (struct cts_cursor){.at = start, .end = start + byte_count};
}

static inline size_t cts_cursor_left(const struct cts_cursor *cursor)
{
    assert(cursor->at <= cursor->end);
    return (size_t)(cursor->end - cursor->at);
}

/* The next `byte_count` bytes, or NULL (and overflow) when there are fewer. */
static inline const uint8_t *cts_cursor_bytes(struct cts_cursor *cursor, size_t byte_count)
{
    if (cursor->overflow || byte_count > cts_cursor_left(cursor)) {
        cursor->overflow = true;
        return NULL;
    }
    const uint8_t *const bytes = cursor->at;
    cursor->at += byte_count;
    return bytes;
}

static inline uint64_t cts_cursor_unsigned(struct cts_cursor *cursor, size_t byte_count)
{
    assert(byte_count <= sizeof(uint64_t));
    const uint8_t *const bytes = cts_cursor_bytes(cursor, byte_count);
    uint64_t value = 0;
    for (size_t i = 0; bytes && i < byte_count; i++) value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static inline uint8_t cts_cursor_u8(struct cts_cursor *c)
{
    return (uint8_t)cts_cursor_unsigned(c, 1);
}
static inline uint16_t cts_cursor_u16(struct cts_cursor *c)
{
    return (uint16_t)cts_cursor_unsigned(c, 2);
}
static inline uint32_t cts_cursor_u32(struct cts_cursor *c)
{
    return (uint32_t)cts_cursor_unsigned(c, 4);
}
static inline uint64_t cts_cursor_u64(struct cts_cursor *c)
{
    return cts_cursor_unsigned(c, 8);
}

#endif
