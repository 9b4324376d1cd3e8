/* Vector clocks. A clock is a vector of numbers, one for each chain of a rank (a stream, a host
 * thread): how many of that chain's works are known to have ended. Those of a rank have one width.
 */
#ifndef CTS_ANALYZE_CLOCKS_H
#define CTS_ANALYZE_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* Clocks one after the other; the owner frees items. */
struct cts_clock_list {
    uint32_t *items;
    size_t count, capacity; /* numbers, not clocks */
};

/* What `clock` knows afterwards: besides its own, what `other` knows. */
static inline void cts_clock_join(uint32_t *clock, const uint32_t *other, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (clock[i] < other[i]) clock[i] = other[i];
}

/* Appends `clock`; its place is where it begins in list->items. */
CTS_MUST_CHECK enum cts_status cts_clock_append(struct cts_clock_list *list, const uint32_t *clock,
                                                uint32_t width, size_t *place,
                                                struct cts_error *error);

/* A work of a chain, about to be kept with what precedes it. */
struct cts_chain_clock {
    const uint32_t *clock;
    uint32_t width, chain;
};

/* Keeps what precedes a work of `of->chain`. *last is the place of the chain's last kept clock
 * (SIZE_MAX: none yet); a clock that says the same shares it. The chain's own number is the work's
 * position, and not compared (of->chain: UINT32_MAX: the clock is of no chain, all is). */
CTS_MUST_CHECK enum cts_status cts_clock_keep(struct cts_clock_list *list,
                                              const struct cts_chain_clock *of, size_t *last,
                                              struct cts_error *error);

#endif
