/* The consumers' side of the ring: threads that take records out of bins, put them in the order of
 * launches and CTAs, and hand each CTA's piece to the collector. They wait for nobody but
 * producers, and call nothing of CUDA. */
#ifndef CTS_RING_CONSUMER_H
#define CTS_RING_CONSUMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "trace/write/collector.h"
#include "record/ring/copies.h"
#include "record/ring/ring.h"

enum { CTS_RING_BARRIER_SITE = 1 << 30 }; /* beside a site's id */

/* What the records' numbers mean; the recorder's. Called by consumer threads, several at a time. */
struct cts_ring_names {
    void *state;
    /* The catalogue's id of a launch number. `by_warp`: the order of warps within a CTA does not
     * matter. False: unknown; its records are counted as lost. */
    bool (*launch)(void *state, uint32_t number, uint32_t *launch, bool *by_warp);
    /* The catalogue's id of the site of a record (pc, space, operation, width), with
     * CTS_RING_BARRIER_SITE if it is a barrier. CTS_NONE: unknown. */
    uint32_t (*site)(void *state, const struct cts_ring_record *record);
    /* Counts of a launch since they were last told. */
    void (*counts)(void *state, uint32_t number, const struct cts_stream_counts *counts);
    /* Of a tensor copy: what it touches, in box->base and box->box, which may have no rows, and the
     * bytes of a row; 0: its map is not known. NULL: there are no tensor copies. */
    uint32_t (*copy)(const struct cts_ring_copy *copy, struct cts_stream_box *box);
    /* The catalogue's id of the site of a copy with rows of so many bytes. CTS_NONE: unknown. */
    uint32_t (*copy_site)(void *state, const struct cts_ring_record *record, uint32_t row_bytes);
};

struct cts_ring_consumers;

/* The bins of one ring, in memory that lives until they are removed. */
struct cts_ring_bins {
    uint32_t *slots; /* bin_count * 2^slots_log2 slots; zero */
    uint64_t *tails; /* bin_count, CTS_RING_TAIL_STRIDE words apart; zero */
    uint32_t bin_count;
    uint32_t slots_log2;
};
enum { CTS_RING_TAIL_STRIDE = 16 };

/* Where records go, how many threads take them (0: one for each processor), whether they are
 * thrown away instead, and whether they may have values, which makes them longer. */
struct cts_ring_options {
    struct cts_collector *collector;
    uint32_t count;
    bool discard, values;
    const struct cts_ring_names *names;
};

/* Starts `count` threads (0: as many as there are processors, within reason), each with a stream of
 * its own. `discard`: records are taken out and forgotten (for measurements). */
CTS_MUST_CHECK enum cts_status cts_ring_start(const struct cts_ring_options *options,
                                              struct cts_ring_consumers **consumers,
                                              struct cts_error *error);

/* Adds bins; the threads share them so that a bin is always served by the same one. */
CTS_MUST_CHECK enum cts_status cts_ring_add_bins(struct cts_ring_consumers *consumers,
                                                 const struct cts_ring_bins *bins,
                                                 struct cts_error *error);

/* Returns when every record that was complete at the call has been handed on, and every cache of
 * what names->site said is empty. False: not within `timeout_ms`. */
bool cts_ring_drain(struct cts_ring_consumers *consumers, uint32_t timeout_ms);

/* Returns when every record that was complete at the call is in the access files, with its launch's
 * counts told. `others_write`: producers may be at work, and a record of theirs that is reserved
 * but not written, with complete ones behind it, is waited for a few ms. Threads that sleep are not
 * waited for: the caller does their part, holding locks, so that no signal may end the program from
 * here. False: something was not handed on, or not within `timeout_ms`; it comes later. */
bool cts_ring_deliver(struct cts_ring_consumers *consumers, bool others_write, uint32_t timeout_ms);

/* Drained bins that no producer writes to any more. */
void cts_ring_remove_bins(struct cts_ring_consumers *consumers, const uint32_t *slots);

/* Takes out what is complete, ends the threads and frees. Counts of records whose launch or site
 * was unknown come back in *lost, if not NULL. */
void cts_ring_stop(struct cts_ring_consumers *consumers, uint64_t *lost);

#endif
