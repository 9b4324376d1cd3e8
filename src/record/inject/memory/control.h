/* What the recorder tells the patches, in device memory. The pointer that a patch is given is none:
 * its high half is the control's address by CTS_MEMORY_CONTROL_ALIGN, its low half the launch's
 * number and flags, so that no plain launch needs a write of its own. NULL: the launch is not
 * recorded.
 */
#ifndef CTS_MEMORY_CONTROL_H
#define CTS_MEMORY_CONTROL_H

#include <stdbool.h>

#include "../../ring/ring.h"

struct cts_memory_control {
    uint64_t slots; /* address of those of the first bin; the others' follow */
    uint32_t bin_count;
    uint32_t slots_log2;
    uint32_t cta_sample; /* every n-th CTA */
    uint32_t padding;
    uint64_t grids;             /* which grid is which launch (record/cuda/module.h) */
    struct cts_ring_bin bins[]; /* at CTS_MEMORY_BINS_AT */
};

enum {
    CTS_MEMORY_BINS_AT = 128,
    CTS_MEMORY_CONTROL_ALIGN = 1 << 20,
    /* Not all CTAs are recorded, or they have numbers of 32 bits: not for the patches' short way.
     */
    CTS_MEMORY_UNUSUAL = 1 << 18,
    /* The launch's number is found by that of the grid: of nodes of graphs, for which the Sanitizer
     * has one user pointer per kernel. */
    CTS_MEMORY_BY_GRID = 1 << 17,
};
#define CTS_MEMORY_RECORDED 0x80000000u /* the parity's bit of a slot's last word */
#define CTS_MEMORY_USUAL    (CTS_MEMORY_RECORDED / CTS_RING_LAUNCHES)

/* The pointer for launch number 0. */
static inline uint64_t cts_memory_user(uint64_t control, bool is_unusual)
{
    return control / CTS_MEMORY_CONTROL_ALIGN << 32 | CTS_MEMORY_RECORDED |
           (is_unusual ? CTS_MEMORY_UNUSUAL : 0);
}

#endif
