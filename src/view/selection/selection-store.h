/* The launches that a selection has looked at, and the blocks of them that it keeps; private to
 * selection/. */
#ifndef CTS_SELECTION_STORE_H
#define CTS_SELECTION_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "analyze/walk.h"
#include "view/selection/block.h"
#include "view/selection/selection.h"
#include "view/selection/tally.h"

/* What is known of a chunk after it has been read once, whether its block is kept or not. */
struct chunk_summary {
    struct {
        uint64_t first, last, access_count; /* first > last: none */
    } spaces[VIEW_SPACES];
    uint64_t unknown_count;
    uint64_t alignment[VIEW_SPACES]; /* OR of all addresses and widths */
    uint64_t *pages;                 /* of global memory that its lanes touch, ascending */
    size_t page_count;
    struct tally tally;
    bool is_damaged; /* its records have indices, and pass no filter */
};
enum { PAGE_BITS = 20 };

/* CTAs first..last have records in a chunk, in one piece each. */
struct cta_run {
    uint32_t first, last;
};

/* A launch that has been looked at. */
struct view {
    struct cts_selection *selection; /* whose it is */
    uint32_t launch;
    const struct cts_launch *row;
    uint64_t cta_count; /* of its grid */
    const struct cts_acc_chunk *chunks;
    size_t chunk_count;
    uint64_t *first_index; /* of each chunk's first record; one more: the number of records */
    struct chunk_summary *summaries;
    struct block **blocks; /* NULL: not kept; guarded by the selection's lock */
    pthread_mutex_t loading;
    bool is_loaded;
    uint64_t used;                 /* when, counted in questions; guarded by the selection's lock */
    uint32_t live_full, live_rest; /* warps below live_full have 32 lanes, that one live_rest */
    uint32_t warp_end;             /* above every warp number that occurs */
    struct {
        uint32_t *items; /* CTAs that come in more than one piece, ascending */
        size_t count, capacity;
    } split;
    struct {
        struct cta_run *items;
        size_t count, capacity;
    } runs; /* by first CTA; those of several chunks may overlap */
    struct {
        struct cts_selection_allocation *items;
        size_t count, capacity;
    } allocations;
    bool has_touched; /* allocations[].is_touched are known; guarded by `loading` */
    /* Pages of global memory with a byte of several warps, ascending; guarded by `loading`. */
    struct {
        uint64_t *items;
        size_t count, capacity;
    } conflict_pages;
    bool has_conflict_pages;
    struct view *next;
};

/* What conflict-memory.c keeps of a space. */
struct conflict_memory {
    pthread_mutex_t lock; /* held while they are looked for */
    bool is_there;
    uint32_t launch;
    struct cts_selection_conflicts answer;
};

struct cts_selection {
    const struct cts_catalogue *catalogue;
    const struct cts_access_source *source;
    struct cts_selection_options options;
    pthread_mutex_t lock;
    struct view *views;
    uint64_t kept_bytes, clock;
    uint64_t tally_bytes; /* of all views, beside what is kept of blocks */
    size_t damaged_count;
    struct cts_error damage;
    struct conflict_memory conflicts[VIEW_SPACES];
};

/* The view of a launch, loaded: its summaries are known. CTS_USAGE: there is no such launch. */
CTS_MUST_CHECK enum cts_status cts_view_of(struct cts_selection *selection,
                                           const struct cts_selection_question *question,
                                           struct view **view, struct cts_error *error);

/* Block `k` of a view, kept or built for the caller, who gives it back. NULL in *block: the chunk
 * is damaged. One builder per thread. */
CTS_MUST_CHECK enum cts_status cts_block_take(struct view *view, size_t k,
                                              struct block_builder *builder, struct block **block,
                                              struct cts_error *error);
void cts_block_give_back(struct view *view, size_t k, struct block *block);

/* Lanes of a warp that exist. */
static inline unsigned view_live_lanes(const struct view *view, uint32_t warp)
{
    return warp < view->live_full ? CTS_WARP_LANES : warp == view->live_full ? view->live_rest : 0;
}

static inline bool is_given_up(const struct cts_selection_question *question)
{
    return question->is_given_up && question->is_given_up(question->state);
}

/* The place of a CTA among those that come in pieces; UINT32_MAX: it comes in one. */
uint32_t cts_view_split_place(const struct view *view, uint32_t cta);

#endif
