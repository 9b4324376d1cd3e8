/* Looking at the accesses of a launch: which records pass a filter, where they go, what they cost.
 *
 * A *selection* stands over a run's access files. Questions name a launch and a filter; all numbers
 * are exact and do not depend on the number of threads. The launches looked at last are kept in
 * memory in a compact form within a bound; what does not fit is decoded again for each question.
 *
 * Words. A record's *index* counts the records of its launch in the order of the source's chunks,
 * filtered or not. A lane of a record touches [address, address + width). Records of constant
 * memory count as global. Records whose site the catalogue does not know (a killed program) have an
 * index, and pass no filter. Ranges are inclusive.
 *
 * Threads: questions may be asked by several threads at once. Results are freed by whoever asked,
 * with the function declared next to their struct; a failed question leaves nothing to free. */
#ifndef CTS_VIEW_SELECTION_H
#define CTS_VIEW_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/access-source.h"
#include "common/error.h"
#include "trace/catalogue.h"

struct cts_selection;

struct cts_selection_options {
    uint64_t memory_bytes; /* bound of what is kept; 0: 256 MiB */
    unsigned threads;      /* per question; 0: one per processor */
    unsigned bank_bytes;   /* 4 or 8; 0: 4 */
};

/* Catalogue and source must outlive the selection. */
CTS_MUST_CHECK enum cts_status cts_selection_open(const struct cts_catalogue *catalogue,
                                                  const struct cts_access_source *source,
                                                  const struct cts_selection_options *options,
                                                  struct cts_selection **selection,
                                                  struct cts_error *error);
void cts_selection_close(struct cts_selection *selection);

/* How many chunks could not be read so far; of the first one, why. */
size_t cts_selection_damage(struct cts_selection *selection, struct cts_error *first);
/* Bytes of decoded records that are kept at the moment. */
uint64_t cts_selection_memory(struct cts_selection *selection);

struct cts_selection_range {
    uint32_t first, last;
};
struct cts_selection_line {
    uint32_t source, line;
};
enum { CTS_SELECTION_LOADS = 1, CTS_SELECTION_STORES = 2, CTS_SELECTION_ATOMICS = 4 };

/* All parts must hold; an empty part lets everything through. */
struct cts_selection_filter {
    const struct cts_selection_range *ctas, *warps;
    size_t cta_count, warp_count;
    const uint32_t *sites;
    size_t site_count;
    const struct cts_selection_line *lines;
    size_t line_count;
    unsigned kinds;                   /* of CTS_SELECTION_LOADS...; 0: all */
    uint8_t space;                    /* enum cts_space; 0: all */
    uint8_t range_space;              /* 0: no range */
    uint64_t range_first, range_last; /* a lane touches a byte of it */
    bool partial;                     /* fewer active lanes than the warp has */
};

/* Everything that a question needs in addition to its own arguments. */
struct cts_selection_question {
    uint32_t launch;
    const struct cts_selection_filter *filter; /* NULL: all */
    /* Whether the request was cancelled; asked now and then, by any thread. May be NULL.
     * The question then fails with CTS_IO. */
    bool (*is_given_up)(void *state);
    void *state;
};

/* ---- a launch ---- */

struct cts_selection_site {
    uint32_t site;
    uint64_t record_count, access_count;
};
struct cts_selection_space {
    uint8_t space;
    uint64_t first, last, access_count; /* bytes touched lie in first..last */
};
struct cts_selection_allocation {
    size_t index; /* in catalogue->allocations */
    bool is_touched;
};
struct cts_selection_launch {
    uint64_t record_count, access_count, unknown_count; /* unknown: records that pass no filter */
    struct cts_selection_site *sites;                   /* by site */
    size_t site_count;
    struct cts_selection_space spaces[3]; /* those that are used */
    size_t space_count;
    struct cts_selection_allocation *allocations; /* alive at the launch, by address */
    size_t allocation_count;
};
CTS_MUST_CHECK enum cts_status cts_selection_launch(struct cts_selection *selection,
                                                    const struct cts_selection_question *question,
                                                    struct cts_selection_launch *launch,
                                                    struct cts_error *error);
void cts_selection_launch_release(struct cts_selection_launch *launch);

/* ---- records ---- */

struct cts_selection_record {
    uint64_t index;
    uint32_t cta, site, mask;
    uint16_t warp;
    uint8_t space; /* as the view knows it: never constant */
    uint8_t width_bytes;
    bool has_values;
    uint16_t sectors, ideal_sectors;       /* global and local; else 0 */
    uint16_t wavefronts, ideal_wavefronts; /* shared; else 0 */
    uint64_t addresses[CTS_WARP_LANES];    /* 0 where no lane took part */
};
struct cts_selection_records {
    uint64_t total; /* that pass the filter */
    struct cts_selection_record *items;
    size_t count;
    unsigned value_bytes; /* 0: no record of these has values */
    uint8_t *values;      /* value_bytes for each of 32 lanes of each record that has_values */
};
/* Records `from` to `from + count - 1` of those that pass. */
struct cts_selection_page {
    uint64_t from;
    size_t count;
};
CTS_MUST_CHECK enum cts_status cts_selection_records(struct cts_selection *selection,
                                                     const struct cts_selection_question *question,
                                                     struct cts_selection_page page,
                                                     struct cts_selection_records *records,
                                                     struct cts_error *error);
void cts_selection_records_release(struct cts_selection_records *records);

/* Where record `index` stands among those that pass; -1: it does not. */
CTS_MUST_CHECK enum cts_status cts_selection_position(struct cts_selection *selection,
                                                      const struct cts_selection_question *question,
                                                      uint64_t index, int64_t *position,
                                                      struct cts_error *error);

/* ---- groups ---- */

#define CTS_SELECTION_GROUPINGS(X)                                                                 \
    X(LINE, "line")             /* key: source, line; both CTS_NONE: not known */                  \
    X(WARP, "warp")             /* its number in the CTA, of all CTAs together */                  \
    X(CTA, "cta")               /* cta */                                                          \
    X(SITE, "site")             /* site */                                                         \
    X(ALLOCATION, "allocation") /* index in catalogue->allocations, or a CTS_SELECTION_PLACE_ */   \
    X(OPERATION, "operation")   /* enum cts_operation */

enum cts_selection_grouping {
#define X(name, text) CTS_SELECTION_BY_##name,
    CTS_SELECTION_GROUPINGS(X)
#undef X
        CTS_SELECTION_GROUPING_COUNT
};
/* Where the first active lane of a record goes, if not to an allocation. */
enum {
    CTS_SELECTION_PLACE_LOCAL = 0xfffffffd,
    CTS_SELECTION_PLACE_SHARED = 0xfffffffe,
    CTS_SELECTION_PLACE_OUTSIDE = 0xffffffff,
};
struct cts_selection_sums {
    uint64_t record_count, access_count, requested_bytes;
    uint64_t sectors, ideal_sectors, wavefronts, ideal_wavefronts;
};

static inline void cts_selection_sums_add(struct cts_selection_sums *sum,
                                          const struct cts_selection_sums *more)
{
    sum->record_count += more->record_count;
    sum->access_count += more->access_count;
    sum->requested_bytes += more->requested_bytes;
    sum->sectors += more->sectors;
    sum->ideal_sectors += more->ideal_sectors;
    sum->wavefronts += more->wavefronts;
    sum->ideal_wavefronts += more->ideal_wavefronts;
}
struct cts_selection_group {
    uint32_t key[2]; /* as CTS_SELECTION_GROUPINGS says; the second 0 where there is one */
    struct cts_selection_sums sums;
};
struct cts_selection_groups {
    uint64_t total;
    struct cts_selection_group *items; /* most accesses first, equal ones by key */
    size_t count;
};
/* The first `count` groups. */
struct cts_selection_ranking {
    enum cts_selection_grouping by;
    size_t count;
};
CTS_MUST_CHECK enum cts_status cts_selection_groups(struct cts_selection *selection,
                                                    const struct cts_selection_question *question,
                                                    struct cts_selection_ranking ranking,
                                                    struct cts_selection_groups *groups,
                                                    struct cts_error *error);
void cts_selection_groups_release(struct cts_selection_groups *groups);

/* ---- addresses ---- */

enum { CTS_SELECTION_CELLS_MAX = 1 << 16, CTS_SELECTION_WARPS_MAX = 1 << 16 };

/* Bytes first..last of a space in at most `cells` cells of a power of two. */
struct cts_selection_window {
    uint8_t space;
    uint64_t first, last;
    uint32_t cells;  /* 1 to CTS_SELECTION_CELLS_MAX */
    bool with_warps; /* they take as long again, or longer */
};
struct cts_selection_density {
    uint64_t cell_bytes;
    size_t cell_count;
    uint64_t *reads, *writes; /* lanes that touch a byte of the cell; atomics count in both */
    uint32_t *warps;          /* distinct ones, at most CTS_SELECTION_WARPS_MAX; NULL: not asked */
};
CTS_MUST_CHECK enum cts_status cts_selection_density(struct cts_selection *selection,
                                                     const struct cts_selection_question *question,
                                                     const struct cts_selection_window *window,
                                                     struct cts_selection_density *density,
                                                     struct cts_error *error);
void cts_selection_density_release(struct cts_selection_density *density);

/* Address against order. */
struct cts_selection_raster {
    uint8_t space;
    uint64_t first, last;               /* bytes, from row 0 on */
    uint64_t first_record, last_record; /* indices, from column 0 on */
    uint32_t rows, columns;             /* at most; rows * columns <= CTS_SELECTION_RASTER_MAX */
};
enum { CTS_SELECTION_RASTER_MAX = 1 << 22 };
struct cts_selection_order {
    uint32_t rows, columns;
    uint64_t row_bytes, column_records; /* of each; the last may reach over the end */
    uint32_t *reads, *writes;           /* [row * columns + column], lanes; atomics in both */
};
CTS_MUST_CHECK enum cts_status cts_selection_order(struct cts_selection *selection,
                                                   const struct cts_selection_question *question,
                                                   const struct cts_selection_raster *raster,
                                                   struct cts_selection_order *order,
                                                   struct cts_error *error);
void cts_selection_order_release(struct cts_selection_order *order);

struct cts_selection_touch {
    uint64_t index, address;
    uint32_t cta, site;
    uint16_t warp;
    uint8_t lane;
};
struct cts_selection_touches {
    uint64_t total;
    struct cts_selection_touch *items; /* by index and lane */
    size_t count;
};
/* The first `count` lanes that touch a byte of first..last. */
struct cts_selection_bytes {
    uint8_t space;
    uint64_t first, last;
    size_t count;
};
CTS_MUST_CHECK enum cts_status cts_selection_touching(struct cts_selection *selection,
                                                      const struct cts_selection_question *question,
                                                      const struct cts_selection_bytes *bytes,
                                                      struct cts_selection_touches *touches,
                                                      struct cts_error *error);
void cts_selection_touches_release(struct cts_selection_touches *touches);

/* ---- bytes that several warps touch ---- */

/* A maximal range of bytes that the same warps read, write and write without an atomic operation.
 * Shared memory is a CTA's own: its ranges are of one CTA. Local memory is a thread's own and has
 * none. */
struct cts_selection_conflict {
    uint64_t first, last;
    uint32_t cta; /* shared memory; else CTS_NONE */
    uint32_t warp_count, writer_count;
    bool is_atomic;                      /* there are writers, and all write by atomic operations */
    struct cts_selection_touch *touches; /* the first ones */
    size_t touch_count;
    uint64_t touch_total;
};
struct cts_selection_conflicts {
    uint64_t total;
    struct cts_selection_conflict *items; /* plain writes first, then atomic ones, then what is only
                                             read; each by CTA (shared) and address */
    size_t count;
};
enum { CTS_SELECTION_TOUCHES_PER_CONFLICT = 64 };
/* The first `count` ranges of a space. */
struct cts_selection_ranges {
    uint8_t space;
    size_t count;
};
/* Without a filter, or with one that only names the same space, the answer about the launch asked
 * about last is kept (of up to 1,000). */
CTS_MUST_CHECK enum cts_status
cts_selection_conflicts_find(struct cts_selection *selection,
                             const struct cts_selection_question *question,
                             struct cts_selection_ranges ranges,
                             struct cts_selection_conflicts *conflicts, struct cts_error *error);
void cts_selection_conflicts_release(struct cts_selection_conflicts *conflicts);

#endif
