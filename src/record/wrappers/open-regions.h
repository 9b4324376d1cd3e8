/* Open regions of a thread: user code's, NVTX's, instrumented functions'. What they report need not
 * be nested (an NVTX domain's range ends inside another's, a longjmp leaves functions open), but a
 * timeline's regions are: a region that ends below others splits those, which are left and entered
 * again at that time. */
#ifndef CTS_RECORD_WRAPPERS_REGIONS_H
#define CTS_RECORD_WRAPPERS_REGIONS_H

#include "record/timeline/recorder.h"

enum { CTS_OPEN_REGIONS_MAX = 1024 };
#define CTS_NO_REGION UINT32_MAX

/* `owner` and `number` are what the region is found by when it ends: a domain, a function. */
struct cts_open_region {
    const void *owner;
    uint64_t number;
    uint32_t region; /* CTS_NO_REGION: open, but not recorded */
};
struct cts_open_regions {
    uint32_t count;
    uint32_t beyond; /* regions that were opened when there was no room: not recorded */
    struct cts_open_region open[CTS_OPEN_REGIONS_MAX];
};

/* The calling thread's; NULL: no memory. Freed when the thread ends. */
struct cts_open_regions *cts_open_regions(void);

void cts_open_push(const struct cts_recorder *recorder, struct cts_open_regions *regions,
                   struct cts_open_region region);
/* Ends the topmost region of the owner (and, unless `number` is 0, of that number). False: there is
 * none. `drops`: those above it end with it, instead of going on. */
bool cts_open_pop(const struct cts_recorder *recorder, struct cts_open_regions *regions,
                  const void *owner, uint64_t number, bool drops);

#endif
