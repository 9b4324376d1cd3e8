/* Tensor copies in a batch: a record of the ring becomes a box, whose words stay where the record's
 * list was read to. */
#include "batch.h"

#include <string.h>

#include "common/hash.h"

_Static_assert((int)CTS_RING_COPY_WORDS >= (int)CTS_BOX_WORDS, "a box has room where the list was");

/* Asked for once, while it is in the cache: everybody asks the same table. */
static uint32_t site_of_copy(struct cts_batch *batch, const struct cts_ring_record *record,
                             uint32_t row_bytes)
{
    const uint64_t key = (uint64_t)1 << 63 | (uint64_t)record->pc << 32 | row_bytes;
    struct cts_batch_site *const known =
        batch->copy_sites + (cts_hash(key) >> 40) % CTS_BATCH_COPY_SITES;
    if (known->key == key) return known->site;
    const uint32_t site = batch->names->copy_site(batch->names->state, record, row_bytes);
    if (site != CTS_NONE) *known = (struct cts_batch_site){key, site};
    return site;
}

uint32_t cts_batch_take_copy(struct cts_batch *batch, const uint32_t *words, uint32_t *list,
                             struct cts_stream_record *record)
{
    struct cts_ring_words all;
    struct cts_ring_record read;
    struct cts_ring_copy copy;
    struct cts_stream_box box = {0};
    memcpy(all.w, words, sizeof all.w);
    cts_ring_unpack(&all, &read);
    cts_ring_copy_unpack(list, &copy);
    if (!batch->names->copy) return CTS_NONE;
    const uint32_t site = site_of_copy(batch, &read, batch->names->copy(&copy, &box));
    if (site == CTS_NONE) return CTS_NONE;
    cts_box_put(&box.box, list);
    *record = (struct cts_stream_record){
        .base = box.base,
        .site = site,
        .mask = UINT32_C(1) << (read.s0 & 31),
        .warp = read.warp,
        .kind = cts_stream_record_kind(CTS_SPACE_GLOBAL, CTS_PATTERN_LIST, CTS_BATCH_BOX_LANES),
    };
    return site;
}

void cts_batch_add_box(struct cts_batch *batch, const struct cts_stream_record *record)
{
    cts_stream_add_box(
        batch->stream,
        &(struct cts_stream_box){.site = record->site,
                                 .warp = record->warp,
                                 .lane = (uint8_t)__builtin_ctz(record->mask),
                                 .base = record->base,
                                 .box = cts_box_get(batch->offsets + (uint32_t)record->s0)});
}
