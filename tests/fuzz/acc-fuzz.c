/* Fuzz target of the reader of access files. The first byte chooses what the others are:
 *
 *   even          a file as it is
 *   1 modulo 4    a file whose checksums are made right first, so that what is behind them is tried
 *   3 modulo 4    28 bytes of header fields and a payload as it is before compression
 *
 * Whatever can be read must be readable to its last address. */
#include <stdlib.h>
#include <string.h>

#include "trace/acc-decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not static, so that the reads cannot be optimised away. */
extern uint64_t cts_fuzz_sum;
uint64_t cts_fuzz_sum;

static void touch(const struct cts_acc_batch *batch)
{
    for (size_t i = 0; i < batch->record_count; i++) {
        const struct cts_access access = cts_acc_record(batch, i);
        uint64_t addresses[CTS_WARP_LANES] = {0};
        if (!access.mask || access.space == CTS_SPACE_GENERIC || access.space > CTS_SPACE_LAST)
            abort();
        if (access.pattern == CTS_PATTERN_TWO_LEVEL ? access.row_lanes < 2 || access.row_lanes > 31
                                                    : access.row_lanes != 0)
            abort();
        cts_access_addresses(&access, addresses);
        for (unsigned l = 0; l < CTS_WARP_LANES; l++) cts_fuzz_sum += addresses[l];
        if (access.values) cts_fuzz_sum += access.values[__builtin_popcount(access.mask) - 1];
    }
}

static void read_file(const uint8_t *bytes, size_t size_bytes)
{
    struct cts_acc_reader *reader = NULL;
    struct cts_error error;
    if (cts_acc_open_memory(bytes, size_bytes, &reader, &error)) return;
    struct cts_acc_batch batch = {0};
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    for (size_t i = 0; i < chunk_count; i++)
        if (!cts_acc_read(reader, &chunks[i], &batch, &error)) touch(&batch);
    cts_acc_batch_release(&batch);
    cts_acc_close(reader);
}

static void put_crc(uint8_t *at, const uint8_t *from, size_t byte_count)
{
    cts_put_u32(at, cts_acc_crc32c(0, from, byte_count));
}

/* Makes the checksums right of all that has the size it claims. */
static void repair(uint8_t *bytes, size_t size_bytes)
{
    if (size_bytes < CTS_ACC_HEADER_BYTES) return;
    put_crc(bytes + 28, bytes, 28);
    size_t at = CTS_ACC_HEADER_BYTES;
    while (size_bytes - at >= CTS_ACC_CHUNK_HEADER_BYTES &&
           cts_get_u32(bytes + at) == CTS_ACC_CHUNK_MAGIC) {
        uint8_t *const chunk = bytes + at;
        const uint64_t chunk_bytes = CTS_ACC_CHUNK_HEADER_BYTES + (uint64_t)cts_get_u32(chunk + 68);
        if (chunk_bytes > size_bytes - at) return;
        cts_put_u64(chunk + 8, chunk_bytes);
        put_crc(chunk + 72, chunk + CTS_ACC_CHUNK_HEADER_BYTES,
                chunk_bytes - CTS_ACC_CHUNK_HEADER_BYTES);
        put_crc(chunk + 4, chunk + 8, CTS_ACC_CHUNK_HEADER_BYTES - 8);
        at += chunk_bytes;
    }
    if (size_bytes - at < cts_acc_footer_bytes(0)) return;
    const size_t footer_bytes = size_bytes - at - CTS_ACC_TRAILER_BYTES;
    put_crc(bytes + at + 4, bytes + at + 8, footer_bytes - 8);
    put_crc(bytes + size_bytes - 8, bytes + size_bytes - CTS_ACC_TRAILER_BYTES, 16);
}

static void read_repaired_file(const uint8_t *data, size_t size)
{
    uint8_t *const bytes = malloc(size + !size);
    if (!bytes) return;
    memcpy(bytes, data, size);
    repair(bytes, size);
    read_file(bytes, size);
    free(bytes);
}

static void read_payload(const uint8_t *data, size_t size)
{
    enum { FIELDS_BYTES = 28 };
    if (size < FIELDS_BYTES) return;
    const size_t raw_bytes = size - FIELDS_BYTES;
    struct cts_acc_chunk_header header = {
        .size_bytes = CTS_ACC_CHUNK_HEADER_BYTES,
        .record_count = cts_get_u32(data) % 4096, /* or reserving memory is all that it does */
        .offset_count = cts_get_u32(data + 4) % 65536,
        .value_count = cts_get_u32(data + 8) % 65536,
        .first_cta = cts_get_u32(data + 12),
        .last_cta = cts_get_u32(data + 16),
        .access_count = cts_get_u64(data + 20),
        .raw_bytes = (uint32_t)raw_bytes,
    };
    uint8_t bytes[CTS_ACC_CHUNK_HEADER_BYTES];
    struct cts_error error;
    cts_acc_put_chunk_header(bytes, &header);
    if (cts_acc_get_chunk_header(bytes, &header, &error)) return;
    uint8_t *const raw = calloc(1, raw_bytes + CTS_ACC_PADDING_BYTES);
    if (!raw) return;
    memcpy(raw, data + FIELDS_BYTES, raw_bytes);
    struct cts_acc_batch batch = {0};
    if (!cts_acc_decode_payload(&header, raw, &batch, &error)) touch(&batch);
    cts_acc_batch_release(&batch);
    free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    if (data[0] % 2 == 0)
        read_file(data + 1, size - 1);
    else if (data[0] % 4 == 1)
        read_repaired_file(data + 1, size - 1);
    else
        read_payload(data + 1, size - 1);
    return 0;
}
