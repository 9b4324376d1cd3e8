/* Bytes that several warps touch, window by window; private to selection/. */
#ifndef CTS_SELECTION_CONFLICT_H
#define CTS_SELECTION_CONFLICT_H

#include "analyze/selection/scan.h"

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
};

struct conflict_plan {
    struct scan *scan;
    unsigned view; /* VIEW_GLOBAL or VIEW_SHARED */
    unsigned shift;
    size_t per_cta;
    uint64_t clip_first, clip_last; /* bytes; multiples of the granule, but for the ends of all */
    bool is_whole;                  /* these are all bytes that there are */
    size_t limit;                   /* pieces of each kind that are kept */
    struct conflict_window *windows;
    size_t window_count;
    struct conflict_pieces *pieces; /* by window */
};

/* What a thread needs. Zero-initialise. */
struct conflict_worker {
    struct conflict_plan *plan;
    struct conflict_room *room;
};
enum { CONFLICT_WINDOW_GRANULES = 1 << 22 };
CTS_MUST_CHECK enum cts_status conflict_find(struct conflict_worker *worker, size_t window,
                                             struct cts_error *error);
void conflict_worker_release(struct conflict_worker *worker);

/* The question of cts_selection_conflicts(), answered from the records. */
CTS_MUST_CHECK enum cts_status conflict_answer(struct cts_selection *selection,
                                               const struct cts_selection_question *question,
                                               uint8_t space, size_t count,
                                               struct cts_selection_conflicts *conflicts,
                                               struct cts_error *error);

#endif
