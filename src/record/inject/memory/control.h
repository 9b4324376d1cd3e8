/* What the recorder tells the patches, in device memory. The pointer that a patch is given is the
 * control's address plus the launch's number: the control is aligned to CTS_RING_LAUNCHES, so that
 * its low bits are free, and no launch needs a write of its own. */
#ifndef CTS_MEMORY_CONTROL_H
#define CTS_MEMORY_CONTROL_H

#include "../../ring/ring.h"

struct cts_memory_control {
    uint32_t bin_count;
    uint32_t slots_log2;
    uint32_t cta_sample; /* every n-th CTA */
    uint32_t padding;
    struct cts_ring_bin bins[]; /* at CTS_MEMORY_BINS_AT */
};
enum { CTS_MEMORY_BINS_AT = 128 };

#endif
