/* Bytes that several warps touch, window by window; private to selection/. */
#ifndef CTS_SELECTION_CONFLICT_H
#define CTS_SELECTION_CONFLICT_H

#include "view/selection/divide.h"
#include "view/selection/selection-scan.h"

/* Kinds of conflicts, in the order in which they are listed. */
enum { CONFLICT_PLAIN, CONFLICT_ATOMIC, CONFLICT_READ, CONFLICT_KINDS };

/* A maximal range of bytes that the same warps touch alike. */
struct conflict_piece {
    uint64_t first, last, hash;
    uint32_t cta, warp_count, writer_count;
    uint8_t kind;
};

/* Of a window: how many, the first ones of each kind, and the first and the last of all. */
struct conflict_pieces {
    uint64_t total;
    struct {
        struct conflict_piece *items;
        size_t count, capacity;
    } kinds[CONFLICT_KINDS];
    struct conflict_piece first, last;
};

/* Granules of `1 << shift` bytes: those from `first` on in global memory; in shared memory those of
 * the CTAs first_cta..last_cta, `per_cta` each. */
struct conflict_window {
    uint64_t first;
    uint32_t first_cta, last_cta;
    size_t granule_count;
    size_t chunk; /* all of its records are there; SIZE_MAX: not known */
};

/* CTAs first..last have the conflicts of a window, each CTA all of them; those of a window of
 * several CTAs are its own. */
struct conflict_span {
    uint32_t first, last;
    size_t window;
    bool is_own;
};

/* The pages of global memory that are looked at. */
struct conflict_pages {
    uint64_t *items; /* ascending */
    size_t count;
    uint32_t *places; /* 1 + the place of page items[0] + p; 0: it is none; NULL: too far apart */
    size_t span;
};

struct conflict_plan {
    struct scan *scan;
    unsigned view; /* VIEW_GLOBAL or VIEW_SHARED */
    unsigned shift;
    size_t per_cta;
    uint64_t clip_first, clip_last; /* bytes; multiples of the granule, but for the ends of all */
    bool is_whole;                  /* these are all bytes that there are */
    bool is_everything;             /* no filter */
    size_t limit;                   /* pieces of each kind that are kept */
    struct conflict_window *windows;
    size_t window_count;
    struct conflict_pages pages;
    unsigned page_shift;                    /* windows of a page: 1 << page_shift */
    const struct conflict_entries *entries; /* NULL: windows go through the records themselves */
    struct conflict_pieces *pieces;         /* by window */
    struct conflict_span *spans;            /* of shared memory, ascending */
    size_t span_count;
};

/* Windows, spans, pages, and what else of the plan they follow from: where there is anything to
 * look at. Released also after a failure. */
CTS_MUST_CHECK enum cts_status cts_conflict_plan_cut(struct conflict_plan *plan,
                                                     struct cts_error *error);
void cts_conflict_plan_release(struct conflict_plan *plan);

/* ---- CTAs that do the same in shared memory ---- */

/* A CTA for all of its group, and the chunk with its records. */
struct conflict_example {
    uint32_t cta;
    size_t chunk;
};
struct conflict_alike {
    bool is_there;               /* else CTAs are too different */
    struct conflict_span *spans; /* in any order; `window` is the group */
    size_t span_count;
    struct conflict_example *examples; /* by group */
    size_t group_count;
};
/* Those that come in one piece and pass. Released also after a failure. */
CTS_MUST_CHECK enum cts_status cts_conflict_alike_find(struct conflict_alike *alike,
                                                       struct conflict_plan *plan,
                                                       struct cts_error *error);
void cts_conflict_alike_release(struct conflict_alike *alike);

/* ---- the lanes of global memory, sorted into windows ---- */

enum {
    CONFLICT_BUCKET_GRANULES = 1 << 15, /* of a window of global memory, at most */
    CONFLICT_ENTRY_GRANULES = 1 << 7,   /* that an entry tells of, at most */
    CONFLICT_DOES_BITS = 3,
    DOES_READ = 1,
    DOES_WRITE = 2,
    DOES_PLAIN = 4, /* a write that is not atomic */
};
#define CONFLICT_ENTRY_WARPS (UINT64_C(1) << 38) /* of a launch */

static inline unsigned conflict_does(const struct block_shape *shape)
{
    const bool is_plain = shape->writes && !(shape->kind & CTS_SELECTION_ATOMICS);
    return shape->reads * DOES_READ | shape->writes * DOES_WRITE | is_plain * DOES_PLAIN;
}

/* `who`: the warp's number in the launch << CONFLICT_DOES_BITS | what it does. */
static inline uint64_t conflict_entry(uint64_t granule, uint64_t count, uint64_t who)
{
    return who << 23 | (count - 1) << 16 | granule;
}
static inline uint32_t conflict_entry_granule(uint64_t entry)
{
    return (uint32_t)(entry & (CONFLICT_BUCKET_GRANULES - 1));
}
static inline uint32_t conflict_entry_count(uint64_t entry)
{
    return (uint32_t)(entry >> 16 & (CONFLICT_ENTRY_GRANULES - 1)) + 1;
}
static inline uint64_t conflict_entry_who(uint64_t entry)
{
    return entry >> 23;
}

struct conflict_entries {
    const struct conflict_plan *plan;
    struct conflict_part *parts; /* by thread */
    unsigned part_count;
    size_t begin;
    size_t segments_max;
    atomic_size_t segment_count;
    atomic_size_t end;        /* of windows [begin, end) all entries are there */
    atomic_bool is_too_large; /* not even those of one window would fit: none are there */
};
/* Entries of as many windows as fit, from `begin` on; at least one, or it is too large. Released
 * also after a failure. */
CTS_MUST_CHECK enum cts_status cts_conflict_entries_make(struct conflict_entries *entries,
                                                         struct conflict_plan *plan, size_t begin,
                                                         struct cts_error *error);
void cts_conflict_entries_release(struct conflict_entries *entries);
/* Those of a window, those of one CTA that comes in one piece one behind the other. */
CTS_MUST_CHECK enum cts_status
cts_conflict_entries_visit(const struct conflict_entries *entries, size_t window,
                           enum cts_status (*visit)(void *state, const uint64_t *items,
                                                    size_t count, struct cts_error *error),
                           void *state, struct cts_error *error);

/* ---- the warps of a window ---- */

/* What a thread needs. Zero-initialise. */
struct conflict_worker {
    struct conflict_plan *plan;
    struct divisor warp_end;
    struct conflict_room *room;
};
enum { CONFLICT_WINDOW_GRANULES = 1 << 22 };
CTS_MUST_CHECK enum cts_status cts_conflict_find(struct conflict_worker *worker, size_t window,
                                                 struct cts_error *error);
void cts_conflict_worker_release(struct conflict_worker *worker);

/* ---- answers ---- */

/* The first `count` of them; what is there after a failure is to be released, too. */
CTS_MUST_CHECK enum cts_status cts_conflict_copy(const struct cts_selection_conflicts *from,
                                                 size_t count, struct cts_selection_conflicts *to,
                                                 struct cts_error *error);
/* The question of cts_selection_conflicts_find(), answered from the records. */
CTS_MUST_CHECK enum cts_status cts_conflict_answer(struct cts_selection *selection,
                                                   const struct cts_selection_question *question,
                                                   struct cts_selection_ranges ranges,
                                                   struct cts_selection_conflicts *conflicts,
                                                   struct cts_error *error);

#endif
