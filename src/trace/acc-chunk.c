/* The way of a chunk from its bytes in the file through checksum and decompression to the decoder.
 */
#include <zstd.h>

#include "trace/acc-decode.h"

enum cts_status cts_acc_decode_chunk(const struct cts_acc_chunk_header *header,
                                     const uint8_t *stored, struct cts_acc_batch *batch,
                                     struct cts_error *error)
{
    struct cts_acc_batch_private *const p = cts_acc_batch_private_of(batch);
    if (!p) return cts_acc_fail_memory(error);
    const uint8_t *const frame = stored + CTS_ACC_CHUNK_HEADER_BYTES;
    if (cts_acc_crc32c(0, frame, header->stored_bytes) != header->stored_crc)
        return cts_fail(error, CTS_FORMAT, "payload checksum differs");
    if (ZSTD_getFrameContentSize(frame, header->stored_bytes) != header->raw_bytes)
        return cts_fail(error, CTS_FORMAT, "payload is not a zstd frame of %u bytes",
                        header->raw_bytes);
    if (!p->zstd) p->zstd = ZSTD_createDCtx();
    uint8_t *const raw =
        cts_acc_room_in(&p->raw, (size_t)header->raw_bytes + CTS_ACC_PADDING_BYTES);
    if (!p->zstd || !raw) return cts_acc_fail_memory(error);
    const size_t size =
        ZSTD_decompressDCtx(p->zstd, raw, header->raw_bytes, frame, header->stored_bytes);
    if (ZSTD_isError(size))
        return cts_fail(error, CTS_FORMAT, "cannot decompress: %s", ZSTD_getErrorName(size));
    if (size != header->raw_bytes)
        return cts_fail(error, CTS_FORMAT, "%zu bytes decompressed, not %u", size,
                        header->raw_bytes);
    memset(raw + size, 0, CTS_ACC_PADDING_BYTES);
    return cts_acc_decode_payload(header, raw, batch, error);
}
