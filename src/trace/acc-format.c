/* Headers, index and checksum of access files: the parts outside a chunk's payload.
 *
 * Every byte of a file is under a CRC-32C: the file header, each chunk header (which holds the CRC
 * of its payload), the footer and the trailer each carry one of the bytes around it. zstd's own
 * checksum covers what a payload decodes to, but not the bits of a frame that decode to the same.
 */
#include "trace/acc-format.h"

#include "common/cursor.h"

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(uint32_t crc,
                                                                     const uint8_t *at, size_t left)
{
    uint64_t wide = crc;
    for (; left >= 8; at += 8, left -= 8) wide = _mm_crc32_u64(wide, cts_get_u64(at));
    crc = (uint32_t)wide;
    for (; left; at++, left--) crc = _mm_crc32_u8(crc, *at);
    return crc;
}
#endif

/* One nibble at a time; small and fast enough for machines without the instruction. */
static uint32_t crc_by_table(uint32_t crc, const uint8_t *at, size_t left)
{
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    for (; left; at++, left--) {
        crc = table[(crc ^ *at) & 15] ^ crc >> 4;
        crc = table[(crc ^ (uint32_t)*at >> 4) & 15] ^ crc >> 4;
    }
    return crc;
}

uint32_t cts_acc_crc32c(uint32_t crc, const void *bytes, size_t byte_count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return ~crc_by_instruction(~crc, bytes, byte_count);
#endif
    return ~crc_by_table(~crc, bytes, byte_count);
}

void cts_acc_put_file_header(uint8_t bytes[CTS_ACC_HEADER_BYTES],
                             const struct cts_acc_file_header *header)
{
    memset(bytes, 0, CTS_ACC_HEADER_BYTES);
    memcpy(bytes, CTS_ACC_MAGIC, CTS_ACC_MAGIC_BYTES);
    cts_put_u32(bytes + 8, header->version);
    cts_put_u32(bytes + 12, header->rank);
    cts_put_u32(bytes + 16, header->stream);
    cts_put_u32(bytes + 28, cts_acc_crc32c(0, bytes, 28));
}

enum cts_status cts_acc_get_file_header(const uint8_t bytes[CTS_ACC_HEADER_BYTES],
                                        struct cts_acc_file_header *header, struct cts_error *error)
{
    if (memcmp(bytes, CTS_ACC_MAGIC, CTS_ACC_MAGIC_BYTES) != 0)
        return cts_fail(error, CTS_FORMAT, "not an access file (no magic at byte 0)");
    struct cts_cursor cursor = cts_cursor_of(bytes + 8, CTS_ACC_HEADER_BYTES - 8);
    header->version = cts_cursor_u32(&cursor);
    if (header->version > CTS_ACC_VERSION)
        return cts_fail(error, CTS_VERSION, "access file version %u; this program reads up to %d",
                        header->version, CTS_ACC_VERSION);
    if (cts_get_u32(bytes + 28) != cts_acc_crc32c(0, bytes, 28))
        return cts_fail(error, CTS_FORMAT, "file header at byte 0: checksum differs");
    header->rank = cts_cursor_u32(&cursor);
    header->stream = cts_cursor_u32(&cursor);
    const uint64_t reserved = cts_cursor_u64(&cursor);
    if (header->version == 0 || reserved)
        return cts_fail(error, CTS_FORMAT, "file header at byte 0: version 0 or reserved bytes");
    return CTS_OK;
}

void cts_acc_put_chunk_header(uint8_t bytes[CTS_ACC_CHUNK_HEADER_BYTES],
                              const struct cts_acc_chunk_header *header)
{
    memset(bytes, 0, CTS_ACC_CHUNK_HEADER_BYTES);
    cts_put_u32(bytes, CTS_ACC_CHUNK_MAGIC);
    cts_put_u64(bytes + 8, header->size_bytes);
    cts_put_u32(bytes + 16, header->launch);
    cts_put_u32(bytes + 20, header->first_cta);
    cts_put_u32(bytes + 24, header->last_cta);
    cts_put_u32(bytes + 28, header->record_count);
    cts_put_u64(bytes + 32, header->first_address);
    cts_put_u64(bytes + 40, header->last_address);
    cts_put_u64(bytes + 48, header->access_count);
    cts_put_u32(bytes + 56, header->offset_count);
    cts_put_u32(bytes + 60, header->value_count);
    cts_put_u32(bytes + 64, header->raw_bytes);
    cts_put_u32(bytes + 68, header->stored_bytes);
    cts_put_u32(bytes + 72, header->stored_crc);
    cts_put_u32(bytes + 76, header->barrier_count);
    cts_put_u32(bytes + 4, cts_acc_crc32c(0, bytes + 8, CTS_ACC_CHUNK_HEADER_BYTES - 8));
}

static enum cts_status check_chunk_header(const struct cts_acc_chunk_header *h,
                                          struct cts_error *error)
{
    if (h->size_bytes != (uint64_t)CTS_ACC_CHUNK_HEADER_BYTES + h->stored_bytes)
        return cts_fail(error, CTS_FORMAT,
                        "size %llu is not that of the header and a payload of %u bytes",
                        (unsigned long long)h->size_bytes, h->stored_bytes);
    const uint64_t records = (uint64_t)h->record_count + h->barrier_count;
    if (records == 0 || records > CTS_ACC_CHUNK_RECORDS_MAX)
        return cts_fail(error, CTS_LIMIT, "%llu records (1 to %d allowed)",
                        (unsigned long long)records, CTS_ACC_CHUNK_RECORDS_MAX);
    if (h->access_count < h->record_count ||
        h->access_count > (uint64_t)h->record_count * CTS_WARP_LANES)
        return cts_fail(error, CTS_FORMAT, "%llu accesses in %u records",
                        (unsigned long long)h->access_count, h->record_count);
    if (h->raw_bytes > CTS_ACC_RAW_MAX_BYTES || h->stored_bytes > CTS_ACC_STORED_MAX_BYTES)
        return cts_fail(error, CTS_LIMIT, "payload of %u bytes, %u before compression: too large",
                        h->stored_bytes, h->raw_bytes);
    if (h->offset_count > CTS_ACC_CHUNK_OFFSETS_MAX || h->value_count > CTS_ACC_CHUNK_VALUES_MAX)
        return cts_fail(error, CTS_LIMIT, "%u offsets and %u values: too many", h->offset_count,
                        h->value_count);
    if (h->first_cta > h->last_cta)
        return cts_fail(error, CTS_FORMAT, "first CTA %u is after the last CTA %u", h->first_cta,
                        h->last_cta);
    return CTS_OK;
}

enum cts_status cts_acc_get_chunk_header(const uint8_t bytes[CTS_ACC_CHUNK_HEADER_BYTES],
                                         struct cts_acc_chunk_header *header,
                                         struct cts_error *error)
{
    struct cts_cursor c = cts_cursor_of(bytes, CTS_ACC_CHUNK_HEADER_BYTES);
    if (cts_cursor_u32(&c) != CTS_ACC_CHUNK_MAGIC)
        return cts_fail(error, CTS_FORMAT, "no chunk magic");
    if (cts_cursor_u32(&c) != cts_acc_crc32c(0, bytes + 8, CTS_ACC_CHUNK_HEADER_BYTES - 8))
        return cts_fail(error, CTS_FORMAT, "header checksum differs");
    header->size_bytes = cts_cursor_u64(&c);
    header->launch = cts_cursor_u32(&c);
    header->first_cta = cts_cursor_u32(&c);
    header->last_cta = cts_cursor_u32(&c);
    header->record_count = cts_cursor_u32(&c);
    header->first_address = cts_cursor_u64(&c);
    header->last_address = cts_cursor_u64(&c);
    header->access_count = cts_cursor_u64(&c);
    header->offset_count = cts_cursor_u32(&c);
    header->value_count = cts_cursor_u32(&c);
    header->raw_bytes = cts_cursor_u32(&c);
    header->stored_bytes = cts_cursor_u32(&c);
    header->stored_crc = cts_cursor_u32(&c);
    header->barrier_count = cts_cursor_u32(&c);
    return check_chunk_header(header, error);
}

struct cts_acc_chunk cts_acc_chunk_of(const struct cts_acc_chunk_header *header,
                                      uint64_t offset_bytes)
{
    return (struct cts_acc_chunk){
        .launch = header->launch,
        .first_cta = header->first_cta,
        .last_cta = header->last_cta,
        .first_address = header->first_address,
        .last_address = header->last_address,
        .offset_bytes = offset_bytes,
        .size_bytes = header->size_bytes,
        .record_count = header->record_count,
        .access_count = header->access_count,
        .barrier_count = header->barrier_count,
    };
}

void cts_acc_put_entry(uint8_t bytes[CTS_ACC_ENTRY_BYTES], const struct cts_acc_chunk *chunk)
{
    cts_put_u64(bytes, chunk->offset_bytes);
    cts_put_u64(bytes + 8, chunk->size_bytes);
    cts_put_u32(bytes + 16, chunk->launch);
    cts_put_u32(bytes + 20, chunk->first_cta);
    cts_put_u32(bytes + 24, chunk->last_cta);
    cts_put_u32(bytes + 28, (uint32_t)chunk->record_count);
    cts_put_u64(bytes + 32, chunk->first_address);
    cts_put_u64(bytes + 40, chunk->last_address);
    cts_put_u64(bytes + 48, chunk->access_count);
    cts_put_u64(bytes + 56, chunk->barrier_count);
}

void cts_acc_put_footer(uint8_t *bytes, const struct cts_acc_chunk *chunks, uint64_t chunk_count,
                        uint64_t offset_bytes)
{
    uint8_t *at = bytes + CTS_ACC_FOOTER_HEADER_BYTES;
    for (uint64_t i = 0; i < chunk_count; i++, at += CTS_ACC_ENTRY_BYTES)
        cts_acc_put_entry(at, &chunks[i]);
    cts_put_u32(bytes, CTS_ACC_FOOTER_MAGIC);
    cts_put_u64(bytes + 8, chunk_count);
    cts_put_u32(bytes + 4, cts_acc_crc32c(0, bytes + 8, (size_t)(at - bytes) - 8));
    cts_put_u64(at, offset_bytes);
    cts_put_u64(at + 8, (uint64_t)(at - bytes));
    cts_put_u32(at + 16, cts_acc_crc32c(0, at, 16));
    cts_put_u32(at + 20, CTS_ACC_TRAILER_MAGIC);
}
