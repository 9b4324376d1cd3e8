/* What the writer and the reader of access files share: constants, headers and the few number
 * codings. docs/format.md is the specification; this header only gives its fields names.
 * Private to trace/ and trace/write/. */
#ifndef CTS_TRACE_ACC_FORMAT_H
#define CTS_TRACE_ACC_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/error.h"
#include "trace/acc.h"
#include "trace/box.h"

enum {
    CTS_ACC_VERSION = 3,
    CTS_ACC_MAGIC_BYTES = 8,
    CTS_ACC_HEADER_BYTES = 32,
    CTS_ACC_CHUNK_HEADER_BYTES = 80,
    CTS_ACC_FOOTER_HEADER_BYTES = 16,
    CTS_ACC_ENTRY_BYTES = 64,
    CTS_ACC_TRAILER_BYTES = 24,
    CTS_ACC_CHUNK_MAGIC = 0x4b435441,   /* "ATCK" */
    CTS_ACC_FOOTER_MAGIC = 0x58495441,  /* "ATIX" */
    CTS_ACC_TRAILER_MAGIC = 0x444e4541, /* "AEND" */

    /* Ceilings of a chunk: what a writer keeps and a reader allows. */
    CTS_ACC_CHUNK_RECORDS_MAX = 1 << 18,
    CTS_ACC_RAW_MAX_BYTES = 32 << 20,                             /* payload before compression */
    CTS_ACC_STORED_MAX_BYTES = CTS_ACC_RAW_MAX_BYTES + (1 << 20), /* and after it */
    CTS_ACC_CHUNK_OFFSETS_MAX = 4 << 20,                          /* of lists, stored ones */
    CTS_ACC_CHUNK_VALUES_MAX = 2 << 20,                           /* words */
    CTS_ACC_CHUNK_SHIFTS_MAX = 1 << 20,                           /* values of all shifts */

    CTS_ACC_VALUE_WORDS_MAX = 16, /* per lane */
};
#define CTS_ACC_MAGIC "CTSACC\x1a\n"

/* Sections of a chunk's payload, in this order. */
enum cts_acc_section {
    CTS_ACC_COMBOS,    /* (site, kind) that occur */
    CTS_ACC_TEMPLATES, /* record count of each template */
    CTS_ACC_INSTANCES, /* segments: which template, which shift, which CTA, how often */
    CTS_ACC_COMBO_IDS, /* per defined record */
    CTS_ACC_CONTROLS,  /* per defined record: how its fields below are coded */
    CTS_ACC_MASKS,     /* bytes, as the controls say; and so on */
    CTS_ACC_WARPS,
    CTS_ACC_STRIDES,
    CTS_ACC_BASES,
    CTS_ACC_SHIFT_LENGTHS, /* per record of a new shift: bytes of its value */
    CTS_ACC_SHIFT_BYTES,
    CTS_ACC_LIST_HEADERS, /* per stored list */
    CTS_ACC_LIST_BITS,
    CTS_ACC_VALUES,
    CTS_ACC_SECTION_COUNT
};

/* Control of a defined record, 16 bits. */
enum {
    CTS_ACC_MASK_PREVIOUS = 0, /* 1..4: that many bytes, xor with the previous record's mask */
    CTS_ACC_MASK_COMBO = 5,    /* as the combo's previous record */
    CTS_ACC_MASK_FULL = 6,
    CTS_ACC_WARP_PREVIOUS = 0,
    CTS_ACC_WARP_NEXT = 1,
    CTS_ACC_WARP_EXPLICIT = 2,
    CTS_ACC_WARP_ZERO = 3,
    CTS_ACC_CONTROL_WARP_SHIFT = 3,
    CTS_ACC_CONTROL_S0_SHIFT = 5,
    CTS_ACC_CONTROL_BASE_SHIFT = 8,
    CTS_ACC_CONTROL_S1_SHIFT = 12,
};

/* What a record is apart from its base, offsets and values. Compared with memcmp: no padding. */
struct cts_acc_shape {
    uint32_t site, mask;
    int32_t s0, s1;
    uint16_t warp, kind;
};
_Static_assert(sizeof(struct cts_acc_shape) == 20, "shapes are compared as bytes");

/* Kind: space (3 bits), pattern (2), row_lanes (5), value words per lane (5), box (1), from the low
 * end. A box has the pattern of a list, one lane, its rows as s0, the records that it is handed
 * over as as s1, and CTS_BOX_WORDS words in the place of offsets. */
#define CTS_ACC_KIND_BOX ((uint16_t)(1u << 15))

static inline uint16_t cts_acc_kind(unsigned space, unsigned pattern, unsigned row_lanes,
                                    unsigned value_words)
{
    return (uint16_t)(space | pattern << 3 | row_lanes << 5 | value_words << 10);
}
static inline unsigned cts_acc_kind_space(uint16_t kind)
{
    return kind & 7;
}
static inline unsigned cts_acc_kind_pattern(uint16_t kind)
{
    return kind >> 3 & 3;
}
static inline unsigned cts_acc_kind_row_lanes(uint16_t kind)
{
    return kind >> 5 & 31;
}
static inline unsigned cts_acc_kind_value_words(uint16_t kind)
{
    return kind >> 10 & 31;
}
static inline bool cts_acc_kind_is_box(uint16_t kind)
{
    return (kind & CTS_ACC_KIND_BOX) != 0;
}
struct cts_acc_file_header {
    uint32_t version, rank, stream;
};
struct cts_acc_chunk_header {
    uint64_t size_bytes; /* with the header */
    uint32_t launch, first_cta, last_cta;
    uint64_t first_address, last_address;
    uint32_t record_count, offset_count, value_count;
    uint32_t barrier_count; /* records beyond record_count */
    uint64_t access_count;
    uint32_t raw_bytes, stored_bytes, stored_crc;
};

uint32_t cts_acc_crc32c(uint32_t crc, const void *bytes, size_t byte_count);

void cts_acc_put_file_header(uint8_t bytes[CTS_ACC_HEADER_BYTES],
                             const struct cts_acc_file_header *header);
CTS_MUST_CHECK enum cts_status cts_acc_get_file_header(const uint8_t bytes[CTS_ACC_HEADER_BYTES],
                                                       struct cts_acc_file_header *header,
                                                       struct cts_error *error);
void cts_acc_put_chunk_header(uint8_t bytes[CTS_ACC_CHUNK_HEADER_BYTES],
                              const struct cts_acc_chunk_header *header);
/* Also checks that the fields agree with each other and keep the ceilings. */
CTS_MUST_CHECK enum cts_status
cts_acc_get_chunk_header(const uint8_t bytes[CTS_ACC_CHUNK_HEADER_BYTES],
                         struct cts_acc_chunk_header *header, struct cts_error *error);
struct cts_acc_chunk cts_acc_chunk_of(const struct cts_acc_chunk_header *header,
                                      uint64_t offset_bytes);
void cts_acc_put_entry(uint8_t bytes[CTS_ACC_ENTRY_BYTES], const struct cts_acc_chunk *chunk);

/* The footer and trailer of a file with these chunks: what stands at byte `offset_bytes`. */
static inline uint64_t cts_acc_footer_bytes(uint64_t chunk_count)
{
    return CTS_ACC_FOOTER_HEADER_BYTES + chunk_count * CTS_ACC_ENTRY_BYTES + CTS_ACC_TRAILER_BYTES;
}
void cts_acc_put_footer(uint8_t *bytes, const struct cts_acc_chunk *chunks, uint64_t chunk_count,
                        uint64_t offset_bytes);

/* ---- numbers ---- */

static inline void cts_put_u16(uint8_t *to, uint16_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap16(value);
#endif
    memcpy(to, &value, sizeof value);
}
static inline void cts_put_u32(uint8_t *to, uint32_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap32(value);
#endif
    memcpy(to, &value, sizeof value);
}
static inline void cts_put_u64(uint8_t *to, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    memcpy(to, &value, sizeof value);
}
static inline uint16_t cts_get_u16(const uint8_t *from)
{
    uint16_t value;
    memcpy(&value, from, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap16(value);
#endif
    return value;
}
static inline uint32_t cts_get_u32(const uint8_t *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap32(value);
#endif
    return value;
}
static inline uint64_t cts_get_u64(const uint8_t *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* Small numbers of either sign become small numbers: 0, -1, 1, -2 ... -> 0, 1, 2, 3 ... */
static inline uint64_t cts_zigzag(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}
static inline uint64_t cts_unzigzag(uint64_t code)
{
    return code >> 1 ^ (0 - (code & 1));
}
/* Lanes in a mask. Without the popcnt instruction, which not every x86-64 has, the compilers'
 * builtin is a call. */
static inline uint32_t cts_lane_count(uint32_t mask)
{
    mask -= mask >> 1 & 0x55555555u;
    mask = (mask & 0x33333333u) + (mask >> 2 & 0x33333333u);
    return ((mask + (mask >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

/* Bytes that hold a value: 0 for 0, at most 8. */
static inline unsigned cts_length_of(uint64_t value)
{
    return value ? (unsigned)(71 - __builtin_clzll(value)) / 8 : 0;
}
/* The low `length` (0..8) bytes of 8 that may be read. */
static inline uint64_t cts_get_sized(const uint8_t *from, unsigned length)
{
    return length ? cts_get_u64(from) & UINT64_MAX >> (64 - 8 * length) : 0;
}

/* What a record counts as: accesses, records after boxes have become records, words of a list. */
static inline uint32_t cts_acc_access_count(const struct cts_acc_shape *shape)
{
    return cts_acc_kind_is_box(shape->kind) ? (uint32_t)shape->s0 : cts_lane_count(shape->mask);
}
static inline uint32_t cts_acc_record_count(const struct cts_acc_shape *shape)
{
    return cts_acc_kind_is_box(shape->kind) ? (uint32_t)shape->s1 : 1;
}
static inline uint32_t cts_acc_list_words(const struct cts_acc_shape *shape)
{
    return cts_acc_kind_is_box(shape->kind) ? CTS_BOX_WORDS : cts_lane_count(shape->mask);
}

#endif
