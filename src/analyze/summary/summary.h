/* Summaries of kernels (paper 004, 5.2): the sets of global addresses that each CTA of a launch
 * read and wrote, atomics in both, as sorted disjoint half-open intervals of which touching ones
 * are one.
 *
 * A *plan* knows the launches of a run in their order and where the records of each lie. Sets are
 * made launch by launch from the access files, by several threads. */
#ifndef CTS_ANALYZE_SUMMARY_H
#define CTS_ANALYZE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/interval.h"
#include "analyze/order/order.h"
#include "analyze/access-source.h"
#include "analyze/walk.h"
#include "common/error.h"
#include "common/progress.h"
#include "trace/catalogue.h"

struct cts_summary_launch {
    size_t index; /* in catalogue->launches */
    uint32_t rank;
    uint32_t superstep, ordinal; /* in its rank */
    uint64_t cta_count;
    uint64_t first_node;           /* nodes are numbered as the communication analysis does */
    size_t chunk_begin, chunk_end; /* its chunks in the source */
    bool counted;                  /* false: nothing was recorded of it */
    bool incomplete;               /* not all of it was recorded */
};

struct cts_summary_plan {
    const struct cts_catalogue *catalogue;
    const struct cts_access_source *source;
    struct cts_order order;
    struct cts_walk_sites sites;
    struct cts_summary_launch *launches; /* in their order, rank after rank */
    size_t launch_count;
    uint64_t node_count;
    /* soundness */
    uint64_t unrecorded_launches; /* launches with missing records */
    uint64_t dropped_accesses;    /* by the recorder, of the whole run */
    uint64_t incomplete_files;    /* access files that end too early */
    uint64_t unseen_allocations;  /* managed, pinned or mapped, and no CPU accesses recorded */
    bool host_seen;               /* CPU accesses were recorded */
    bool lower_bound;             /* something is missing: last writers may be wrong */
};

/* Whether something of the launch is missing: CTAs or accesses left out, a kernel without
 * instrumentation, a program that ended while it ran, or files that are gone. */
bool cts_summary_is_incomplete(const struct cts_catalogue *catalogue, const struct cts_launch *row);

/* Catalogue and source must outlive the plan. */
CTS_MUST_CHECK enum cts_status cts_summary_plan_make(const struct cts_catalogue *catalogue,
                                                     const struct cts_access_source *source,
                                                     struct cts_summary_plan *plan,
                                                     struct cts_error *error);
void cts_summary_plan_release(struct cts_summary_plan *plan);

/* The launch (index in plan->launches) of a node; *hint is tried first and updated. */
size_t cts_summary_launch_of(const struct cts_summary_plan *plan, uint32_t node, size_t *hint);

/* A part of what a CTA touched, all of it in most launches. Parts of one CTA may come from several
 * chunks, by different threads, and overlap. */
struct cts_summary_part {
    uint32_t cta;
    const struct cts_intervals *reads, *writes;
    uint64_t accesses; /* of threads, to global memory */
};

struct cts_summary_reading {
    unsigned share, share_count; /* of the launch's CTAs: cts_walk_share() */
    /* Takes a part; called by thread `thread`, by several at once. */
    enum cts_status (*take)(void *state, unsigned thread, const struct cts_summary_part *part,
                            struct cts_error *error);
    void *state;
    struct cts_progress *progress; /* counts accesses; may be NULL */
};

/* Threads and their memory, kept from launch to launch. The plan must outlive the reader, which the
 * caller frees. `threads`: at least 1. */
struct cts_summary_reader;
CTS_MUST_CHECK enum cts_status cts_summary_reader_new(const struct cts_summary_plan *plan,
                                                      unsigned threads,
                                                      struct cts_summary_reader **reader,
                                                      struct cts_error *error);
void cts_summary_reader_free(struct cts_summary_reader *reader); /* NULL is fine */

/* Reads launch `launch` (index in plan->launches). */
CTS_MUST_CHECK enum cts_status cts_summary_read(struct cts_summary_reader *reader, size_t launch,
                                                const struct cts_summary_reading *reading,
                                                struct cts_error *error);

#endif
