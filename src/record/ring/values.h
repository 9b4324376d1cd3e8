/* Values in the ring: what the lanes of a record loaded or stored, in words behind it.
 *
 * Bit 19 of a slot's word 7 says that they follow, behind the slots of its list if it is one: as
 * many words of 31 bits as a lane's bytes need, the lowest bits first; the first words of all
 * lanes, in their order, then the second ones and so on, so that what lanes store together lies
 * together. What is left of the last slot is filled up. Accesses of at most 16 bytes have values.
 */
#ifndef CTS_RING_VALUES_H
#define CTS_RING_VALUES_H

#include "producer.h"

#define CTS_RING_HAS_VALUES 0x00080000u /* in word 7 */
enum {
    CTS_RING_VALUE_BYTES_MAX = 16,
    CTS_RING_VALUE_WORDS_MAX = 5,   /* of a lane */
    CTS_RING_VALUED_SLOTS_MAX = 25, /* a list of 32 lanes with such values */
    CTS_RING_BITS_OF_WORD = 31,
};

/* Words of a lane's value, and slots of all lanes' values. */
CTS_RING_INLINE uint32_t cts_ring_value_words(uint32_t width_bytes)
{
    return (width_bytes * 8 + CTS_RING_BITS_OF_WORD - 1) / CTS_RING_BITS_OF_WORD;
}
CTS_RING_INLINE uint32_t cts_ring_value_slots(uint32_t lanes, uint32_t width_bytes)
{
    return (lanes * cts_ring_value_words(width_bytes) + CTS_RING_SLOT_WORDS - 1) /
           CTS_RING_SLOT_WORDS;
}

/* Word `i` of a value of 16 bytes, of which those behind its width are 0; without parity. */
CTS_RING_INLINE uint32_t cts_ring_value_word(const uint32_t *value, uint32_t i)
{
    const uint32_t first = CTS_RING_BITS_OF_WORD * i, at = first / 32, shift = first % 32;
    const uint32_t above = shift && at < 3 ? value[at + 1] << (32 - shift) : 0;
    return (value[at] >> shift | above) & ~CTS_RING_PARITY;
}

/* And back, as words of 8 bytes; of the value whose words are `stride` apart. */
CTS_RING_INLINE void cts_ring_unpack_value(const uint32_t *words, uint32_t stride,
                                           uint32_t width_bytes, uint64_t value[2])
{
    value[0] = value[1] = 0;
    for (uint32_t i = 0; i < cts_ring_value_words(width_bytes); i++) {
        const uint64_t word = words[i * stride] & ~CTS_RING_PARITY;
        const uint32_t at = CTS_RING_BITS_OF_WORD * i / 64, shift = CTS_RING_BITS_OF_WORD * i % 64;
        value[at] |= word << shift;
        if (at == 0 && shift > 64 - CTS_RING_BITS_OF_WORD) value[1] |= word >> (64 - shift);
    }
}

/* As cts_ring_store(), of a record that values follow. */
CTS_RING_INLINE void cts_ring_store_valued(const struct cts_ring_bin *bin, uint64_t position,
                                           uint32_t slots_log2,
                                           const struct cts_ring_record *record)
{
    uint32_t *const slot = cts_ring_slot(bin, position, slots_log2);
    struct cts_ring_words words = cts_ring_pack(record, cts_ring_parity(position, slots_log2));
    words.w[7] |= CTS_RING_HAS_VALUES;
    cts_ring_store_half(slot, words.w);
    cts_ring_store_half(slot + 4, words.w + 4);
}

/* The value of the active lane number `k` of `lanes`, of a record whose list has `list_lanes` lanes
 * (0: it is none). */
struct cts_ring_lane_value {
    const uint32_t *words; /* 4, of which those behind its width are 0 */
    uint32_t width_bytes, list_lanes, lanes, k;
};

/* Stores a lane's value behind the record at a place; the last one's also fills up the slot. */
CTS_RING_INLINE void cts_ring_store_value(const struct cts_ring_place *at,
                                          const struct cts_ring_lane_value *value)
{
    const uint64_t before = at->position + cts_ring_slots(value->list_lanes) - 1;
    const uint32_t count = cts_ring_value_words(value->width_bytes);
    for (uint32_t i = 0; i < count; i++)
        cts_ring_store_offset(at->bin, before, at->slots_log2, i * value->lanes + value->k,
                              (int32_t)cts_ring_value_word(value->words, i));
    if (value->k == value->lanes - 1)
        cts_ring_fill_offsets(at->bin, before, at->slots_log2, value->lanes * count);
}

#endif
