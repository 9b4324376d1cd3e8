/* Going through the records of a launch that pass a filter, on all threads; private to selection/.
 *
 *     struct scan scan;
 *     cts_selection_scan_begin(&scan, selection, question, error)       the filter is looked at
 *     scan.visit = ...; scan.state = ...                   one state per thread
 *     cts_selection_scan_run(&scan, error)                              visit() for each block
 *     cts_selection_scan_end(&scan)
 *
 * visit() goes through its block with SCAN_RECORDS. Where what passes is known without looking at
 * the records, add(), if the caller sets it, gets the sums instead. */
#ifndef CTS_SELECTION_SCAN_H
#define CTS_SELECTION_SCAN_H

#include "view/selection/selection-store.h"

enum { WARP_WORDS = 65536 / 64 };

struct scan;

/* A block in a thread's hands. */
struct scan_block {
    const struct scan *scan;
    const struct block *block;
    size_t chunk;          /* its place in the view */
    uint64_t first_index;  /* of its first record */
    const uint8_t *passes; /* by shape: bits of PASSES_... */
};

/* Records of a chunk that all pass, added up. */
struct scan_cell {
    const struct scan *scan;
    size_t chunk;
    const struct tally_class *of;
    uint32_t warp;
    const struct tally_cell *sums;
};

/* What records of a shape must match in addition to their CTA. */
enum { PASSES = 1, PASSES_BY_WARP = 2, PASSES_BY_RANGE = 4 };

struct scan {
    struct cts_selection *selection;
    struct view *view;
    const struct cts_selection_question *question;
    struct cts_selection_filter filter; /* with CTA ranges sorted and joined */
    struct cts_selection_range *ctas;
    uint8_t *site_passes; /* by site */
    uint64_t *warps;      /* bits; NULL: all */
    unsigned threads;

    /* What the caller sets. Chunks may be left out by what is known of them. */
    void *states; /* `threads` of state_bytes */
    size_t state_bytes;
    enum cts_status (*visit)(void *state, const struct scan_block *block, struct cts_error *error);
    /* NULL: visit() does it all. */
    enum cts_status (*add)(void *state, const struct scan_cell *cell, struct cts_error *error);
    /* Whether add() can do with the sums of a class. NULL: of all. */
    bool (*is_summed)(const struct scan *scan, const struct tally_class *of);
    bool (*wants)(const struct scan *scan, size_t chunk); /* NULL: all */
    const void *wants_state;
};

CTS_MUST_CHECK enum cts_status
cts_selection_scan_begin(struct scan *scan, struct cts_selection *selection,
                         const struct cts_selection_question *question, struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_selection_scan_run(struct scan *scan, struct cts_error *error);
void cts_selection_scan_end(struct scan *scan);

/* One block alone, on the caller's thread: visit(state, ...) as cts_selection_scan_run() does it.
 */
CTS_MUST_CHECK enum cts_status cts_selection_scan_one(const struct scan *scan, size_t chunk,
                                                      void *state, struct cts_error *error);

/* What makes a block if it is not kept, and who then sees it. */
struct scan_visitor {
    struct block_builder *builder;
    enum cts_status (*visit)(void *state, const struct scan_block *block, struct cts_error *error);
    void *state;
};

/* The same with the caller's visitor, and without regard to what scan->wants says. */
CTS_MUST_CHECK enum cts_status cts_selection_scan_with(const struct scan *scan, size_t chunk,
                                                       const struct scan_visitor *visitor,
                                                       struct cts_error *error);

/* Whether a chunk may hold records that pass, by its summary. */
bool cts_selection_scan_may_pass(const struct scan *scan, size_t chunk);
/* Whether it may hold lanes that touch a byte of first..last of a space. */
bool cts_selection_scan_may_touch(const struct scan *scan, size_t chunk, unsigned view_space,
                                  uint64_t first, uint64_t last);

/* Whether it lets everything through; NULL does. */
bool cts_selection_filter_is_empty(const struct cts_selection_filter *filter);

/* ---- for visit() ---- */

bool cts_selection_scan_passes_cta(const struct scan *scan, uint32_t cta);
bool cts_selection_scan_touches(const struct block *block, const struct block_shape *shape,
                                size_t i, uint64_t first, uint64_t last);

static inline bool scan_passes_warp(const struct scan *scan, unsigned lanes, uint32_t warp)
{
    if (scan->warps && !(scan->warps[warp / 64] >> warp % 64 & 1)) return false;
    return !scan->filter.partial || lanes < view_live_lanes(scan->view, warp);
}

/* What is left to test when the CTA passes. */
static inline bool scan_passes(const struct scan_block *it, size_t i)
{
    const struct scan *const scan = it->scan;
    const uint8_t passes = it->passes[it->block->shape[i]];
    if (passes <= PASSES) return passes;
    const struct block_shape *const shape = &it->block->shapes[it->block->shape[i]];
    if (passes & PASSES_BY_WARP && !scan_passes_warp(scan, shape->lanes, it->block->warp[i]))
        return false;
    return !(passes & PASSES_BY_RANGE) ||
           cts_selection_scan_touches(it->block, shape, i, scan->filter.range_first,
                                      scan->filter.range_last);
}

/* The segments that pass, one after the other: `segment` counts from 0. */
static inline bool scan_segment(const struct scan_block *it, size_t *segment)
{
    while (*segment < it->block->segment_count &&
           !cts_selection_scan_passes_cta(it->scan, it->block->segments[*segment].cta))
        ++*segment;
    return *segment < it->block->segment_count;
}

#define SCAN_SEGMENTS(it, segment) for (size_t segment = 0; scan_segment((it), &segment); segment++)
#define SCAN_RECORDS(it, segment, i)                                                               \
    for (size_t i = (it)->block->segments[segment].first,                                          \
                i##_end = (it)->block->segments[(segment) + 1].first;                              \
         i < i##_end; i++)                                                                         \
        if (scan_passes((it), i))

#endif
