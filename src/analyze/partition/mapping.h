/* Mappings: which partition a CTA belongs to (paper 004, 4.3 and 4.4), in integers.
 *
 * A mapping lays the CTAs of a grid out on a line: CTA c stands at positions[c] of `length`, and
 * floor(positions[c] * p / length) is its partition of p. Dimensions of extent 1 are dropped first;
 * on a grid of one dimension every line is i of n. A mapping is one file, mapping-NAME.c, and one
 * line of CTS_MAPPINGS. */
#ifndef CTS_PARTITION_MAPPING_H
#define CTS_PARTITION_MAPPING_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum { CTS_PARTITIONS_MAX = 65535 };

/* All of them, in the order in which results list them: X(symbol, name). */
#define CTS_MAPPINGS(X)                                                                            \
    X(lexicographic, "lexicographic")                                                              \
    X(colexicographic, "colexicographic")                                                          \
    X(z_order, "z-order")                                                                          \
    X(hilbert, "hilbert")                                                                          \
    X(block_cyclic, "block-cyclic")

enum {
#define X(symbol, name) CTS_MAPPING_##symbol,
    CTS_MAPPINGS(X)
#undef X
        CTS_MAPPING_COUNT
};

/* A grid without its dimensions of extent 1. */
struct cts_mapping_grid {
    unsigned dimensions; /* 0 to 3 */
    uint32_t extents[3]; /* x first */
    uint32_t cta_count;
};

struct cts_mapping {
    const char *name;    /* as in CTS_MAPPINGS */
    const char *summary; /* one line */
    /* The line of a grid of two or three dimensions. */
    enum cts_status (*lay_out)(const struct cts_mapping_grid *grid, uint64_t *positions,
                               uint64_t *length, struct cts_error *error);
    /* NULL: floor(position * p / length). `block_ctas` 0: the mapping's own default. */
    uint32_t (*partition)(uint64_t position, uint64_t length, uint32_t p, uint64_t block_ctas);
};

extern const struct cts_mapping *const cts_mappings[CTS_MAPPING_COUNT];

const struct cts_mapping *cts_mapping_named(const char *name); /* or NULL */

struct cts_mapping_grid cts_mapping_grid_of(const uint32_t grid[3]);

/* Fills positions[cta_count]; 1 <= *length < 2^63. CTS_LIMIT for grids whose curve does not fit. */
CTS_MUST_CHECK enum cts_status cts_mapping_lay_out(const struct cts_mapping *mapping,
                                                   const struct cts_mapping_grid *grid,
                                                   uint64_t *positions, uint64_t *length,
                                                   struct cts_error *error);

/* The partition of a position, 0 to p - 1; 1 <= p <= CTS_PARTITIONS_MAX. */
static inline uint32_t cts_mapping_partition(const struct cts_mapping *mapping, uint64_t position,
                                             uint64_t length, uint32_t p, uint64_t block_ctas)
{
    if (mapping->partition) return mapping->partition(position, length, p, block_ctas);
    if (length < UINT64_C(1) << 47) return (uint32_t)(position * p / length);
    return (uint32_t)((unsigned __int128)position * p / length);
}

/* For curves: the coordinates of a CTA, as many as the grid has dimensions. */
static inline void cts_mapping_coordinates(const struct cts_mapping_grid *grid, uint32_t cta,
                                           uint32_t coordinates[3])
{
    for (unsigned d = 0; d < grid->dimensions; d++) {
        coordinates[d] = cta % grid->extents[d];
        cta /= grid->extents[d];
    }
}

/* For curves on cubes: the least b with 2^b >= every extent. CTS_LIMIT when the cube has 2^62
 * points or more. */
CTS_MUST_CHECK enum cts_status cts_mapping_cube_bits(const struct cts_mapping_grid *grid,
                                                     unsigned *bits, struct cts_error *error);

#endif
