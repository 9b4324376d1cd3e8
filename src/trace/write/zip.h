/* From the lane addresses of a warp to records: recognises the pattern of each row and appends it
 * to a segment. One implementation per instruction set; private to the collector. */
#ifndef CTS_COLLECTOR_ZIP_H
#define CTS_COLLECTOR_ZIP_H

#include "trace/write/collector.h"
#include "trace/acc-builder.h"

/* When a segment is closed; its arrays have room for what one row more can add. */
enum {
    CTS_SEGMENT_RECORDS = 16384,
    CTS_SEGMENT_OFFSETS = 1 << 17,
    CTS_SEGMENT_VALUES = 1 << 17,
    CTS_SEGMENT_RECORDS_CAPACITY = CTS_SEGMENT_RECORDS + CTS_WARP_LANES,
    CTS_SEGMENT_OFFSETS_CAPACITY = CTS_SEGMENT_OFFSETS + 2 * CTS_WARP_LANES,
    CTS_SEGMENT_VALUES_CAPACITY = CTS_SEGMENT_VALUES + CTS_STREAM_VALUE_WORDS_MAX * CTS_WARP_LANES,
};

static inline bool cts_segment_is_full(const struct cts_acc_segment *segment)
{
    return segment->record_count + segment->more_records >= CTS_SEGMENT_RECORDS ||
           segment->offset_count >= CTS_SEGMENT_OFFSETS ||
           segment->value_count >= CTS_SEGMENT_VALUES;
}

/* What the records of one row have in common. */
struct cts_zip_row {
    uint32_t site;
    uint16_t warp;
    uint8_t space;
    uint8_t value_words;    /* per lane of `value_lanes` */
    uint32_t value_lanes;   /* the lanes that `values` has words of, in order */
    const uint64_t *values; /* NULL: none */
    uint64_t origin;        /* is subtracted from every address */
};

struct cts_zip {
    const char *name;
    /* The rows of a batch from `slot` on, until the segment is full; returns the next slot. Rows
     * that were read are 0 afterwards. */
    uint32_t (*rows)(struct cts_acc_segment *segment, const struct cts_row_batch *batch,
                     uint32_t slot);
    /* One row; mask is not 0. */
    void (*one)(struct cts_acc_segment *segment, const struct cts_zip_row *row, uint32_t mask,
                const uint64_t *addresses);
};

extern const struct cts_zip cts_zip_generic;
#if defined(__x86_64__)
extern const struct cts_zip cts_zip_avx2;
extern const struct cts_zip cts_zip_avx512;
#endif

/* The fastest one that this machine runs. */
const struct cts_zip *cts_zip_best(void);

#endif
