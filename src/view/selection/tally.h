/* What the records of a chunk add up to, by all that a filter can ask of them but their CTA and
 * their addresses: sites, active lanes, warps. Of most chunks that is a few dozen sums, from which
 * questions about sums are answered without the records. Private to selection/. */
#ifndef CTS_SELECTION_TALLY_H
#define CTS_SELECTION_TALLY_H

#include "view/selection/block.h"

/* Records of one site with as many active lanes. */
struct tally_class {
    uint32_t site;
    uint8_t lanes, width_bytes, view, kind; /* as in struct block_shape */
    uint64_t first, last;                   /* the bytes that they touch lie there */
};

struct tally_cell {
    uint64_t record_count;
    uint64_t cost, ideal; /* sectors, or wavefronts of shared memory */
};

struct tally {
    struct tally_class *classes; /* NULL: there is none: it would have too many sums */
    struct tally_cell *cells;    /* [class * warp_end + warp] */
    size_t class_count;
    uint32_t warp_end;
    uint64_t size_bytes;
};

/* Records of sites that are not known are left out. No memory: there is none. */
void cts_tally_make(struct tally *tally, const struct block *block);
void cts_tally_release(struct tally *tally);

#endif
