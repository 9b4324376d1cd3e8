/* Which allocation a byte lies in: the allocations that are alive at a moment as disjoint *places*,
 * ascending; where two overlap (a catalogue made by hand) the one made last has the byte. */
#ifndef CTS_ANALYZE_PLACES_H
#define CTS_ANALYZE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/search.h"
#include "trace/catalogue.h"

struct cts_place {
    uint64_t start, end;
    size_t allocation; /* index in catalogue->allocations */
};

/* Zero-initialise. */
struct cts_places {
    struct cts_place *items;
    size_t count, capacity;
    bool made; /* they hold for launches of this rank whose op is in between */
    uint32_t rank;
    uint64_t first_op, last_op;
};

/* Those at a launch; costs nothing while no allocation came or went. */
CTS_MUST_CHECK enum cts_status cts_places_at(const struct cts_catalogue *catalogue,
                                             const struct cts_launch *launch,
                                             struct cts_places *places, struct cts_error *error);
void cts_places_release(struct cts_places *places);

/* The allocation that has the byte at `address`, SIZE_MAX where there is none; *end is how far that
 * holds (UINT64_MAX: to the end of memory). *hint is tried first and updated. */
static inline size_t cts_place_of(const struct cts_places *places, size_t *hint, uint64_t address,
                                  uint64_t *end)
{
    const struct cts_place *const items = places->items;
    if (*hint < places->count && items[*hint].start <= address && address < items[*hint].end) {
        *end = items[*hint].end;
        return items[*hint].allocation;
    }
    const size_t at = CTS_SEARCH(places->count, i, items[i].end <= address);
    *hint = at;
    const bool is_inside = at < places->count && items[at].start <= address;
    *end = at == places->count ? UINT64_MAX : is_inside ? items[at].end : items[at].start;
    return is_inside ? items[at].allocation : SIZE_MAX;
}

#endif
