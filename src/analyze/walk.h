/* The one walk over the warp records of a launch: which chunks it reads, in which order and on
 * which threads, what it checks, and in which pieces an analysis gets the records.
 *
 * A walk hands over *runs*: records of one CTA that follow one another in a chunk, in the order in
 * which they were recorded. What an analysis does with them is a table of functions (struct
 * cts_walk_ops): a CTA is opened, its runs are handed over, and it is closed when no chunk can have
 * more of its records. All of this happens on one thread for one CTA, so that the state of a CTA
 * needs no lock; CTAs of a launch are walked by several threads at once.
 *
 * An analysis to which the order of a CTA's records is nothing sets `takes_parts`: then a CTA may
 * be opened and closed several times, once for each run, on any threads at once, and every chunk
 * can be read by a thread of its own.
 *
 * What is checked, alike for everybody, before an analysis sees a record:
 *   - the chunk can be read, and its checksum and its index agree with it (trace/acc.h);
 *   - each record's CTA is one of the launch's grid and of those that the index names for the
 * chunk;
 *   - each record has an active lane, and a memory space;
 *   - each record's site is one of the catalogue, of known operation and width (struct
 * cts_walk_sites);
 *   - a CTA's records lie in one access file, as the format says: else their order is unknown.
 * Whatever fails is CTS_FORMAT and names file, chunk, launch, CTA or site. After a failure some
 * CTAs have been handed over and some not; which of several failures is reported does not depend on
 * the number of threads, unless a CTA lies in several files. */
#ifndef CTS_ANALYZE_WALK_H
#define CTS_ANALYZE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/access-source.h"
#include "common/error.h"
#include "common/progress.h"
#include "trace/acc.h"
#include "trace/catalogue.h"

/* ---- sites ---- */

enum { CTS_WALK_WIDTH_MAX = 1 << 26 }; /* bytes of an access */

enum cts_site_class { CTS_SITE_READ, CTS_SITE_STORE, CTS_SITE_ATOMIC };

/* What all records of a site have in common. */
struct cts_walk_site {
    uint32_t width_bytes; /* 0: the catalogue gives no usable operation and width */
    uint8_t class;        /* enum cts_site_class */
    uint8_t shift;        /* width_bytes = 1 << shift; 255: it is no power of two */
};

/* By site id. */
struct cts_walk_sites {
    struct cts_walk_site *items;
    size_t count;
    bool all_usable; /* no width is 0 */
};

/* The table of a catalogue's sites; the caller releases it. */
CTS_MUST_CHECK enum cts_status cts_walk_sites_make(const struct cts_catalogue *catalogue,
                                                   struct cts_walk_sites *sites,
                                                   struct cts_error *error);
void cts_walk_sites_release(struct cts_walk_sites *sites);

static inline bool cts_walk_site_reads(const struct cts_walk_site *site)
{
    return site->class != CTS_SITE_STORE;
}
static inline bool cts_walk_site_writes(const struct cts_walk_site *site)
{
    return site->class != CTS_SITE_READ;
}

/* ---- a launch ---- */

/* Which records are walked: those of one launch, all or some of its CTAs. */
struct cts_walk_scope {
    size_t chunk_begin, chunk_end; /* the launch's, in source->chunks */
    uint64_t cta_count;          /* of its grid; at most 2^32. A record of another CTA is damage */
    uint64_t first_cta, end_cta; /* only CTAs in [first_cta, end_cta) are handed over */
    struct cts_progress *progress; /* counts the thread accesses of chunks; NULL: does not */
};

/* All CTAs of the launch `launch` (an id) with a grid of `cta_count` CTAs. */
struct cts_walk_scope cts_walk_scope_of(const struct cts_access_source *source, uint32_t launch,
                                        uint64_t cta_count);

/* Share `share` of `share_count` of the launch's CTAs, with about as many records in each by the
 * index of chunks: sets first_cta and end_cta. Shares do not overlap, and together they are all. */
void cts_walk_share(const struct cts_access_source *source, unsigned share, unsigned share_count,
                    struct cts_walk_scope *scope);

/* Records [begin, end) of a batch, all of one CTA; valid until the function that got it returns. */
struct cts_walk_run {
    const struct cts_acc_batch *batch;
    size_t begin, end;
    size_t barrier_begin, barrier_end; /* with `takes_barriers`: its barriers, among the batch's;
                                          else both are 0 */
    uint32_t cta;
};

/* What an analysis does. `state` is the one given to cts_walk_launch(), `thread` is below the
 * walk's number of threads: memory indexed by it needs no lock. `cta_state` is `cta_bytes` large,
 * zeroed when it is made, owned by the walk, and used for one CTA after another: close() leaves it
 * as open() wants to find it. What is not CTS_OK ends the walk, and is to be described in `error`.
 */
struct cts_walk_ops {
    size_t cta_bytes;    /* 0: cta_state is NULL */
    bool takes_parts;    /* a CTA may be opened several times, for parts of its records */
    bool takes_barriers; /* runs have their barriers, and may have nothing else */
    /* Before the first CTA: how many threads will call. May be NULL. */
    void (*begin)(void *state, unsigned thread_count);
    /* May be NULL. */
    enum cts_status (*open)(void *state, unsigned thread, void *cta_state, uint32_t cta,
                            struct cts_error *error);
    enum cts_status (*record)(void *state, unsigned thread, void *cta_state,
                              const struct cts_walk_run *run, struct cts_error *error);
    /* The CTA's (or the part's) records are complete. May be NULL. */
    enum cts_status (*close)(void *state, unsigned thread, void *cta_state,
                             struct cts_error *error);
    /* Frees what a state holds, whether its CTA was closed or not; the state itself is the walk's.
     * May be NULL. */
    void (*release)(void *cta_state);
    /* Whether nothing more is wanted: asked before each chunk, ends the walk with CTS_OK without
     * closing the CTAs that are open. May be NULL. */
    bool (*is_enough)(const void *state);
};

/* ---- a walk ---- */

struct cts_walk_options {
    const struct cts_access_source
        *source;                        /* borrowed, as all of these are, while the walk lives */
    const struct cts_walk_sites *sites; /* NULL: records may name any site */
    const struct cts_walk_ops *ops;
    unsigned threads; /* at most; 0: one for each processor */
};

struct cts_walk; /* memory that is kept from launch to launch */

/* The caller frees the walk. It serves one cts_walk_launch() at a time. */
CTS_MUST_CHECK enum cts_status cts_walk_new(const struct cts_walk_options *options,
                                            struct cts_walk **walk, struct cts_error *error);
void cts_walk_free(struct cts_walk *walk); /* NULL is fine */

/* Walks the records in `scope`. With `takes_parts` and one thread, chunks come in the order of
 * source->chunks; else in no order that matters. CTS_FORMAT: damage, see above; CTS_IO, CTS_MEMORY;
 * and whatever the functions return. */
CTS_MUST_CHECK enum cts_status cts_walk_launch(struct cts_walk *walk,
                                               const struct cts_walk_scope *scope, void *state,
                                               struct cts_error *error);

/* What the records of a launch may name. */
struct cts_walk_bounds {
    const struct cts_walk_sites *sites; /* NULL: any site */
    uint64_t cta_count;                 /* CTAs below this */
};

/* For questions about single chunks (the page keeps them in a form of its own): reads a chunk into
 * `batch`, with all checks above but the last. On a failure the batch holds nothing of use. */
CTS_MUST_CHECK enum cts_status cts_walk_read_chunk(const struct cts_access_source *source,
                                                   struct cts_walk_bounds bounds,
                                                   const struct cts_acc_chunk *chunk,
                                                   struct cts_acc_batch *batch,
                                                   struct cts_error *error);

/* Says of a failure where it was. */
CTS_MUST_CHECK enum cts_status cts_walk_in_chunk(const struct cts_access_source *source,
                                                 const struct cts_acc_chunk *chunk,
                                                 struct cts_error *error);

/* The CTAs of a launch's grid, in *count; CTS_FORMAT with the launch's id: more than 2^32 - 1. */
CTS_MUST_CHECK enum cts_status cts_walk_count_ctas(const struct cts_launch *launch, uint64_t *count,
                                                   struct cts_error *error);

#endif
