/* Summaries of CTAs in run.db: what each CTA of a launch read and wrote, as sets of addresses, and
 * an index of who may touch an address. docs/catalogue.md, tables summaries and summary_blocks, has
 * the layout. The tables are made when something is stored; runs without them have none. */
#ifndef CTS_TRACE_SUMMARIES_H
#define CTS_TRACE_SUMMARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum { CTS_SUMMARY_BLOCK_BITS = 16 }; /* 64 KiB of addresses: a block of the index */

/* Half-open intervals, ascending, neither overlapping nor touching: start, end, start, end, ... */
struct cts_summary_set {
    const uint64_t *bounds;
    size_t interval_count;
};

struct cts_summary_row {
    uint32_t launch, cta;                 /* ids; cta: x + y*nx + z*nx*ny */
    struct cts_summary_set reads, writes; /* of addresses in global memory */
    uint64_t accesses;                    /* of threads */
};

struct cts_summaries_writer;

/* Begins to store a run's summaries; those that were there are gone once close() succeeds. */
CTS_MUST_CHECK enum cts_status cts_summaries_create(const char *run_path,
                                                    struct cts_summaries_writer **writer,
                                                    struct cts_error *error);
/* A CTA, once; what `row` points to is copied. */
CTS_MUST_CHECK enum cts_status cts_summaries_add(struct cts_summaries_writer *writer,
                                                 const struct cts_summary_row *row,
                                                 struct cts_error *error);
/* CTAs of a launch that touch a block of addresses. */
struct cts_summary_block {
    uint32_t rank;
    uint64_t block;
    uint32_t launch, first_cta, last_cta;
};

/* CTAs of `launch` that touch block `block` (address >> CTS_SUMMARY_BLOCK_BITS) lie in this range.
 */
CTS_MUST_CHECK enum cts_status cts_summaries_add_block(struct cts_summaries_writer *writer,
                                                       const struct cts_summary_block *added,
                                                       struct cts_error *error);
/* Ends, and frees the writer (NULL: nothing): with `keep` all is stored, else nothing has changed.
 */
enum cts_status cts_summaries_close(struct cts_summaries_writer *writer, bool keep,
                                    struct cts_error *error);

/* Who touches a byte. */
struct cts_toucher {
    uint32_t rank, launch, cta;
    bool reads, writes;
};

/* All touchers of `address` by rank, launch and CTA, in *touchers (the caller frees). CTS_USAGE
 * when the run has no summaries, CTS_FORMAT when they are damaged. */
CTS_MUST_CHECK enum cts_status cts_summaries_find(const char *run_path, uint64_t address,
                                                  struct cts_toucher **touchers, size_t *count,
                                                  struct cts_error *error);

#endif
