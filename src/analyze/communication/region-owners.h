/* Which process knows what of the shadow memory, when several share an analysis.
 *
 * The address space is cut into *regions*. A process *follows* a region when it is told all that is
 * written and read there, so that its shadow memory is right there; elsewhere it is not, and nobody
 * looks. The *owner*, one of the followers, counts what is counted once: bytes that were read,
 * conflicts, reads by the host. A region without an owner has had no writer but the host, whose
 * writings all processes know: it is right everywhere. */
#ifndef CTS_COMMUNICATION_REGION_OWNERS_H
#define CTS_COMMUNICATION_REGION_OWNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/map.h"
#include "common/processes.h"

enum { CTS_COMM_REGION_BITS = 16 };

struct cts_comm_region {
    uint64_t key; /* its addresses >> bits */
    unsigned owner;
    unsigned follower_count;
    bool followed; /* by this process */
};

/* Zero-initialise, with `processes` and `bits` set. */
struct cts_comm_regions {
    const struct cts_processes *processes;
    unsigned bits; /* a region has 2^bits bytes: CTS_COMM_REGION_BITS but in tests */
    struct cts_comm_region *items;
    size_t count, capacity;
    uint64_t *followers; /* a bit per process, `words` words per region */
    size_t follower_capacity, words;
    struct cts_map known; /* key -> index + 1 */
};

/* The last address of the region that has `address`. */
static inline uint64_t cts_comm_region_last(const struct cts_comm_regions *regions,
                                            uint64_t address)
{
    return address | ((UINT64_C(1) << regions->bits) - 1);
}

/* NULL: nobody's. Valid until a region is added. */
static inline const struct cts_comm_region *
cts_comm_region_of_key(const struct cts_comm_regions *regions, uint64_t key)
{
    const uint64_t *const at = cts_map_find(&regions->known, key);
    return at ? &regions->items[*at - 1] : NULL;
}

static inline const struct cts_comm_region *
cts_comm_region_find(const struct cts_comm_regions *regions, uint64_t address)
{
    return cts_comm_region_of_key(regions, address >> regions->bits);
}

static inline bool cts_comm_region_has(const struct cts_comm_regions *regions,
                                       const struct cts_comm_region *region, unsigned process)
{
    const size_t index = (size_t)(region - regions->items);
    return regions->followers[index * regions->words + process / 64] >> (process % 64) & 1;
}

/* A new address space. */
void cts_comm_regions_clear(struct cts_comm_regions *regions);
void cts_comm_regions_release(struct cts_comm_regions *regions);

#endif
