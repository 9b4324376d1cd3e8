/* The collector: what every memory recorder feeds. It owns the run directory while the program
 * runs: the catalogue (run.db) and one access file per stream of warp records (rank-N/K.acc).
 *
 * Threads: a `struct cts_collector` may be used from any thread. A `struct cts_stream` (of warp
 * records; not a CUDA stream) belongs to one thread at a time.
 *
 * Nothing here prints or exits. A failure while recording (disk full) is kept: the first one is in
 * cts_collector_failure(), later records are counted as dropped, and the program goes on. */
#ifndef CTS_TRACE_WRITE_COLLECTOR_H
#define CTS_TRACE_WRITE_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "trace/access.h"
#include "trace/box.h"
#include "trace/catalogue.h"
#include "trace/value-hash.h"

struct cts_collector;
struct cts_stream;

struct cts_collector_options {
    const char *run_path;    /* directory; made if absent; must be empty or absent */
    uint64_t max_size_bytes; /* --max-size: of all access files together; 0: none */
    bool values;             /* keep values */
    bool hashes;             /* or only count what they were: cts_stream_counts.hash */
    int compression_level;   /* zstd; 0: the default of the codec */
    const char *recorder;    /* for ranks.recorder; NULL: "cpu" */
};

/* Opens the run directory for this process: claims rank-N, opens the catalogue. */
CTS_MUST_CHECK enum cts_status cts_collector_open(const struct cts_collector_options *options,
                                                  struct cts_collector **collector,
                                                  struct cts_error *error);

/* Flushes every stream, writes footers and the final counts, closes. Idempotent by NULL. */
enum cts_status cts_collector_close(struct cts_collector *collector, struct cts_error *error);

/* The catalogue of this run; borrowed. Its writer functions are thread-safe. */
struct cts_catalogue_writer *cts_collector_catalogue(struct cts_collector *collector);

/* The first failure while recording, or NULL. */
const struct cts_error *cts_collector_failure(const struct cts_collector *collector);

/* Keeps a failure, unless there has been one. */
void cts_collector_fail(struct cts_collector *collector, const struct cts_error *error);

/* A stream of warp records with its own access file. Owned by the collector. */
CTS_MUST_CHECK enum cts_status cts_collector_stream(struct cts_collector *collector,
                                                    struct cts_stream **stream,
                                                    struct cts_error *error);

/* Begin and end the records of one CTA. CTAs of one stream best come in ascending order: runs of
 * CTAs that do the same at shifted addresses then cost next to nothing. */
void cts_stream_begin_cta(struct cts_stream *stream, uint32_t launch, uint32_t cta);
void cts_stream_end_cta(struct cts_stream *stream);

/* Writes what is buffered of a launch as chunks; call when a worker has done its part of it. */
void cts_stream_flush(struct cts_stream *stream);

/* Appends one warp record from lane addresses: addresses[l] for each l in mask (others ignored).
 * Recognises the pattern. GENERIC space is taken as GLOBAL. With values, `values` has `value_words`
 * words (ceil(width/8), at most CTS_STREAM_VALUE_WORDS_MAX) per active lane, lane after lane;
 * without, NULL and 0. */
enum { CTS_STREAM_VALUE_WORDS_MAX = 16 };
/* One memory access of a warp. `addresses` has CTS_WARP_LANES elements; only those in `mask`
 * count; `values` has `value_words` words of each lane of `mask`, or is NULL. */
struct cts_stream_row {
    uint32_t site;
    enum cts_space space;
    uint16_t warp;
    uint32_t mask;
    const uint64_t *addresses;
    uint32_t value_words;
    const uint64_t *values;
};

void cts_stream_add(struct cts_stream *stream, const struct cts_stream_row *row);

/* The same for many records of a CTA: those of `records` that `order` names, in its order. `kind`
 * is what cts_stream_record_kind() says. */
struct cts_stream_record {
    uint64_t base;
    uint32_t site, mask;
    int32_t s0, s1;
    uint16_t warp, kind;
};
static inline uint16_t cts_stream_record_kind(enum cts_space space, enum cts_pattern pattern,
                                              uint8_t row_lanes)
{
    return (uint16_t)(space | pattern << 3 | row_lanes << 5);
}
static inline enum cts_space cts_stream_space(uint16_t kind)
{
    return (enum cts_space)(kind & 7);
}
static inline enum cts_pattern cts_stream_pattern(uint16_t kind)
{
    return (enum cts_pattern)(kind >> 3 & 3);
}
void cts_stream_add_records(struct cts_stream *stream, const struct cts_stream_record *records,
                            const uint16_t *order, uint32_t count);

/* Appends the box that a tensor copy touches: rows of the site's width in global memory
 * (trace/box.h). A box without rows adds nothing. */
struct cts_stream_box {
    uint32_t site;
    uint16_t warp;
    uint8_t lane; /* that executed the copy */
    uint64_t base;
    struct cts_box box;
};
void cts_stream_add_box(struct cts_stream *stream, const struct cts_stream_box *box);

/* The fast path of the CPU device: `slot_count` rows of 32 lane addresses, 0 = lane not active,
 * as K.row_rec leaves them (record/abi.h). Appends one record per row that has an active lane, in
 * slot order, and sets the rows to 0 again. Addresses in [shared_base, shared_base +
 * shared_bytes) of rows whose spaces[] entry is SHARED (or GENERIC) become offsets from it. */
/* With values, word w of lane l of a slot is at values[first + w][l], `first` the sum of the
 * value_words[] of the slots before. */
struct cts_row_batch {
    uint64_t *lanes;       /* [slot_count][32], 64-byte aligned */
    const uint32_t *sites; /* catalogue ids, per slot */
    const uint8_t *spaces; /* enum cts_space, per slot */
    uint32_t slot_count;
    uint16_t warp;
    const uint64_t *values;     /* [sum of value_words][32]; NULL: none */
    const uint8_t *value_words; /* per slot */
    uint64_t shared_base;
    uint64_t shared_bytes;
};
void cts_stream_add_rows(struct cts_stream *stream, const struct cts_row_batch *batch);

/* The words of the lanes of `mask` from rows `first` to `first + words - 1`, lane after lane. */
static inline void cts_stream_pack_values(uint64_t *packed, const uint64_t *rows, uint32_t first,
                                          uint32_t words, uint32_t mask)
{
    const uint64_t *const from = rows + (size_t)first * CTS_WARP_LANES;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        for (uint32_t word = 0; word < words; word++)
            *packed++ = from[word * CTS_WARP_LANES + (uint32_t)__builtin_ctz(rest)];
}

/* Counts since they were last taken from this stream (for launches.records, .accesses, .dropped);
 * accesses counts lanes. Taking flushes what is buffered, so that the counts are final, and resets
 * them. */
struct cts_stream_counts {
    uint64_t records, accesses, dropped_records, dropped_accesses;
    struct cts_value_hash hash; /* of accesses to global memory whose values came along */
};
struct cts_stream_counts cts_stream_take_counts(struct cts_stream *stream);

/* The same over all streams, of everything that has been written or dropped so far. */
struct cts_stream_counts cts_collector_counts(const struct cts_collector *collector);

#endif
