/* A batch of records between the bins and the collector. Private to the ring. */
#ifndef CTS_RING_BATCH_H
#define CTS_RING_BATCH_H

#include "record/ring/consumer.h"
#include "record/ring/values.h"

enum {
    CTS_BATCH_RECORDS = 1 << 15,
    CTS_BATCH_OFFSETS = 1 << 20, /* 8 per record without values; memory is taken as it is used */
    CTS_BATCH_PIECES = 1 << 12,
    CTS_BATCH_PLACES = 1 << 14, /* of pieces, by hash */
    CTS_BATCH_SITES = 1 << 12,
    CTS_BATCH_COPY_SITES = 64,
    CTS_BATCH_LAUNCHES = 64, /* known ones */
    CTS_BATCH_WARPS = 32,
};

/* A bin as its consumer sees it. */
struct cts_ring_source {
    const uint32_t *slots;
    uint64_t *tail_at;
    uint64_t tail;
    uint32_t slots_log2;
    uint64_t ready_since_ns; /* when its first record was seen to wait; 0: none waits */
    uint64_t awaited;        /* a delivery takes all before this position */
};

struct cts_batch_site {
    uint64_t key; /* 0: empty */
    uint32_t site;
};

struct cts_batch_launch {
    uint32_t number, launch;
    bool by_warp, is_known, is_set;
};

/* The records of a CTA that are in the batch: a chain of those that have their order, and behind
 * it a chain per warp of those that warps made by chance. */
struct cts_batch_chain {
    uint16_t first, last;
};
struct cts_batch_piece {
    uint64_t key; /* number of the launch, CTA */
    uint32_t launch;
    bool by_warp, is_known, has_ordered;
    uint32_t warps; /* mask of those that have a chain */
    struct cts_batch_chain ordered, of_warp[CTS_BATCH_WARPS];
} __attribute__((aligned(64))); /* a line has all of ten warps */

/* What a record with values is; in front of its offsets and its values. */
struct cts_batch_valued {
    uint32_t s0, s1, row_lanes, pattern, width_bytes;
};
enum {
    CTS_BATCH_VALUED_WORDS = sizeof(struct cts_batch_valued) / sizeof(uint32_t),
    /* with its last slots' rests */
    CTS_BATCH_RECORD_WORDS_MAX =
        CTS_BATCH_VALUED_WORDS + CTS_RING_VALUED_SLOTS_MAX * CTS_RING_SLOT_WORDS,
    CTS_BATCH_HAS_VALUES =
        1 << 15,              /* of a record's kind, beside what cts_stream_record_kind() says */
    CTS_BATCH_BOX_LANES = 31, /* of a list's kind, as its lanes per row: a box */
};

struct cts_batch {
    const struct cts_ring_names *names;
    struct cts_stream *stream;         /* NULL: records are discarded */
    struct cts_stream_record *records; /* of a list or with values, s0 is where its words are */
    uint16_t *next;                    /* in a record's chain */
    uint32_t *offsets;                 /* of the lists, and values, as in the slots */
    uint32_t count, offset_count;
    struct cts_batch_piece *pieces;
    uint32_t piece_count;
    uint16_t *places; /* hash table: piece + 1 */
    uint16_t *order;
    uint64_t *keys, *other_keys;  /* for sorting pieces; their numbers are in the low bits */
    struct cts_batch_site *sites; /* a cache */
    struct cts_batch_site copy_sites[CTS_BATCH_COPY_SITES];
    struct cts_batch_launch *launches;
    uint32_t launch_number; /* whose records the stream holds; CTS_NONE: nobody's */
    uint64_t lost;          /* records of no launch or site */
};

CTS_MUST_CHECK enum cts_status cts_batch_init(struct cts_batch *batch, struct cts_error *error);
void cts_batch_release(struct cts_batch *batch);

/* Whether the slot at a position has been written. */
bool cts_ring_source_is_ready(const struct cts_ring_source *source, uint64_t position);

/* Takes complete records out of a bin, at most `most`, until one is not complete or the batch is
 * full; tells the producers. Returns how many. */
uint32_t cts_batch_take(struct cts_batch *batch, struct cts_ring_source *source, uint32_t most);
bool cts_batch_is_full(const struct cts_batch *batch);

/* Records with values (batch-values.c). How many slots one has; lanes of its list, words of its
 * values. */
uint32_t cts_batch_value_layout(const uint32_t *words, uint32_t *list_lanes, uint32_t *value_words);
/* Writes the CTS_BATCH_VALUED_WORDS that go before its own. */
void cts_batch_note_valued(const uint32_t *words, uint32_t *place);
/* Hands one to the collector. */
void cts_batch_add_valued(struct cts_batch *batch, const struct cts_stream_record *record);

/* Tensor copies (batch-copies.c). What the copy in `words` with its list at `list` touches; its
 * site or CTS_NONE. The box goes over the list. */
uint32_t cts_batch_take_copy(struct cts_batch *batch, const uint32_t *words, uint32_t *list,
                             struct cts_stream_record *record);
/* Hands the box of one to the collector. */
void cts_batch_add_box(struct cts_batch *batch, const struct cts_stream_record *record);

/* Hands all records to the collector, CTA by CTA; the batch is empty afterwards. */
void cts_batch_feed(struct cts_batch *batch);

/* Writes what the stream holds, and tells the counts of its launch. */
void cts_batch_settle(struct cts_batch *batch);
void cts_batch_forget_sites(struct cts_batch *batch);

#endif
