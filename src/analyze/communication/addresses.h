/* The addresses of a CTA's accesses, sorted and each once (strides of kind (b)).
 *
 * A CTA's bytes are kept as intervals. Where all its accesses have one width and stand on one grid
 * of that width (the usual case) the intervals are the addresses: start, start + width, ... The
 * *grain* notices when that ends; from then on the accesses are kept as *runs* beside. */
#ifndef CTS_COMMUNICATION_ADDRESSES_H
#define CTS_COMMUNICATION_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/communication/strides.h"
#include "analyze/interval.h"

/* Addresses start, start + width, ..., `count` of them. */
struct cts_address_run {
    uint64_t start;
    uint32_t width, count;
};

/* Zero-initialise. */
struct cts_grain {
    uint64_t origin;
    uint32_t width; /* 0: no access yet */
    bool mixed;
    struct cts_address_run *items; /* when mixed: all accesses */
    size_t count, capacity, settled_count;
};

static inline bool cts_grain_fits(const struct cts_grain *grain, uint64_t start, uint32_t width)
{
    if (grain->width != width || grain->mixed) return false;
    return width & (width - 1) ? start % width == grain->origin % width
                               : !((start - grain->origin) & (width - 1));
}

/* Accesses that do not fit; `before`: all bytes of the accesses before, as spans and sets. */
struct cts_grain_past {
    const struct cts_spans *spans[2];
    const struct cts_intervals *sets[2];
};
CTS_MUST_CHECK enum cts_status cts_grain_add(struct cts_grain *grain, struct cts_address_run run,
                                             const struct cts_grain_past *before,
                                             struct cts_error *error);
void cts_grain_clear(struct cts_grain *grain);
void cts_grain_release(struct cts_grain *grain);

/* Which bytes matter: how far from `start` (at most to `end`) bytes are alike, and whether they do.
 */
struct cts_address_filter {
    void *state;
    uint64_t (*run)(void *state, uint64_t start, uint64_t end, bool *matters);
};

/* Counts the strides between addresses of accesses with a byte that matters; `set`: all bytes of
 * the CTA's accesses. */
CTS_MUST_CHECK enum cts_status cts_grain_strides(struct cts_grain *grain,
                                                 const struct cts_intervals *set,
                                                 const struct cts_address_filter *filter,
                                                 struct cts_strides *strides,
                                                 struct cts_error *error);

#endif
