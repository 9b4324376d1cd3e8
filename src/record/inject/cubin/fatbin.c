/* A wrapper: magic 466243b1, version (4 bytes), address of the fat binary (8). The fat binary:
 *
 *   0   magic ba55ed50
 *   4   version, size of this header (2 each): 1, 16
 *   8   size of all entries (8)
 *
 * An entry:
 *
 *   0   kind (2): 1 PTX, 2 cubin;  version (2)
 *   4   size of this header (4)
 *   8   size of the payload behind it, with padding (8)
 *   16  its size before padding, if it is compressed (4)
 *   28  compute capability, 10 times (4)
 *   40  flags (8): 2000 LZ4, 8000 zstd
 *   56  size when decompressed (8) */
#include "record/inject/cubin/fatbin.h"

#include <string.h>
#include <zstd.h>

#include "common/cursor.h"

enum { KIND_CUBIN = 2, HEADER_BYTES = 16, ENTRY_BYTES = 64, CUBIN_MAX_BYTES = 1 << 30 };
#define WRAPPER_MAGIC 0x466243b1u
#define FATBIN_MAGIC  0xba55ed50u
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };

struct entry {
    uint32_t kind, capability;
    uint64_t flags, stored_bytes, whole_bytes;
    const uint8_t *payload;
};

const void *cts_fatbin_of(const void *image, size_t *bytes)
{
    uint32_t magic;
    uint64_t size;
    memcpy(&magic, image, sizeof magic);
    if (magic == WRAPPER_MAGIC) {
        memcpy(&image, (const uint8_t *)image + 8, sizeof image);
        if (!image) return NULL;
        memcpy(&magic, image, sizeof magic);
    }
    if (magic != FATBIN_MAGIC) return NULL;
    memcpy(&size, (const uint8_t *)image + 8, sizeof size);
    *bytes = HEADER_BYTES + (size_t)size;
    return image;
}

/* False: no more entries, or damage. */
static bool next_entry(struct cts_cursor *cursor, struct entry *entry)
{
    struct cts_cursor header = *cursor;
    if (cts_cursor_left(cursor) < ENTRY_BYTES) return false;
    entry->kind = cts_cursor_u16(&header);
    (void)cts_cursor_u16(&header);
    const uint32_t header_bytes = cts_cursor_u32(&header);
    const uint64_t padded_bytes = cts_cursor_u64(&header);
    const uint32_t packed_bytes = cts_cursor_u32(&header);
    (void)cts_cursor_u64(&header);
    entry->capability = cts_cursor_u32(&header);
    (void)cts_cursor_u64(&header);
    entry->flags = cts_cursor_u64(&header);
    (void)cts_cursor_u64(&header);
    entry->whole_bytes = cts_cursor_u64(&header);
    if (header_bytes < ENTRY_BYTES || !cts_cursor_bytes(cursor, header_bytes)) return false;
    if (padded_bytes > cts_cursor_left(cursor) || packed_bytes > padded_bytes) return false;
    entry->payload = cts_cursor_bytes(cursor, (size_t)padded_bytes);
    const bool is_packed = entry->flags & (FLAG_LZ4 | FLAG_ZSTD);
    entry->stored_bytes = is_packed ? packed_bytes : padded_bytes;
    if (!is_packed) entry->whole_bytes = padded_bytes;
    return true;
}

/* A length of LZ4: 15 goes on in the bytes that follow. */
static bool read_length(struct cts_cursor *from, size_t *length)
{
    if (*length != 15) return true;
    uint8_t more;
    do {
        more = cts_cursor_u8(from);
        *length += more;
    } while (more == 255 && !from->overflow);
    return !from->overflow;
}

/* A block of LZ4: literals, then a copy of what was written before, again and again. False: it
 * does not become `bytes` bytes. */
static bool unpack_lz4(struct cts_cursor from, uint8_t *to, size_t bytes)
{
    size_t done = 0;
    while (cts_cursor_left(&from)) {
        const uint8_t token = cts_cursor_u8(&from);
        size_t literals = token >> 4, match = token & 15;
        if (!read_length(&from, &literals) || literals > bytes - done) return false;
        const uint8_t *const text = cts_cursor_bytes(&from, literals);
        if (!text) return false;
        memcpy(to + done, text, literals);
        done += literals;
        if (!cts_cursor_left(&from)) break; /* the last one has no copy */
        const size_t distance = cts_cursor_u16(&from);
        if (!read_length(&from, &match) || from.overflow) return false;
        match += 4;
        if (!distance || distance > done || match > bytes - done) return false;
        for (; match; match--, done++) to[done] = to[done - distance];
    }
    return done == bytes;
}

static enum cts_status unpack(const struct entry *entry, struct cts_buffer *cubin,
                              struct cts_error *error)
{
    if (!entry->whole_bytes || entry->whole_bytes > CUBIN_MAX_BYTES)
        return cts_fail(error, CTS_FORMAT, "a cubin of %llu bytes in a fat binary",
                        (unsigned long long)entry->whole_bytes);
    const size_t bytes = (size_t)entry->whole_bytes;
    cts_buffer_clear(cubin);
    const enum cts_status status = cts_buffer_reserve(cubin, bytes, error);
    if (status) return status;
    bool done = true;
    if (entry->flags & FLAG_ZSTD)
        done = ZSTD_decompress(cubin->data, bytes, entry->payload, entry->stored_bytes) == bytes;
    else if (entry->flags & FLAG_LZ4)
        done = unpack_lz4(cts_cursor_of(entry->payload, entry->stored_bytes), cubin->data, bytes);
    else
        memcpy(cubin->data, entry->payload, bytes);
    cubin->size_bytes = done ? bytes : 0;
    return done ? CTS_OK
                : cts_fail(error, CTS_UNSUPPORTED, "a cubin in a fat binary does not decompress");
}

enum cts_status cts_fatbin_cubin(const void *fatbin, size_t bytes, uint32_t capability,
                                 struct cts_buffer *cubin, struct cts_error *error)
{
    struct cts_cursor cursor = cts_cursor_of(fatbin, bytes);
    struct entry entry = {0}, found = {0};
    unsigned count = 0;
    if (!cts_cursor_bytes(&cursor, HEADER_BYTES))
        return cts_fail(error, CTS_FORMAT, "a fat binary of %zu bytes", bytes);
    while (next_entry(&cursor, &entry)) {
        if (entry.kind != KIND_CUBIN || entry.capability != capability) continue;
        found = entry;
        count++;
    }
    if (count != 1)
        return cts_fail(error, CTS_UNSUPPORTED, "a fat binary has %u cubins for %u.%u", count,
                        capability / 10, capability % 10);
    return unpack(&found, cubin, error);
}
