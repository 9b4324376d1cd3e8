/* The Hilbert curve, in two and three dimensions: neighbours on the line are neighbours in a cube.
 * The curve runs through the next cube with sides of a power of two; CTAs stand in the order in
 * which it meets them, without gaps, so that partitions of any grid differ by one CTA at most.
 *
 * The index of a point, from the highest bit down: the point's bits of one level say in which of
 * 2^d parts of the cube it lies. `entry` and `direction` say how the curve lies in the cube: at
 * which corner it enters and along which axis it leaves. Turned into the standard position, the
 * part's place on the curve is the inverse Gray code of its bits, and the curve inside the part
 * enters and leaves at corners that follow from that place alone. */
#include <stdlib.h>

#include "analyze/partition/mapping.h"
#include "common/array.h"

/* Rotates the lowest `width` bits. */
static unsigned rotate_left(unsigned value, unsigned by, unsigned width)
{
    by %= width;
    return ((value << by) | (value >> (width - by))) & ((1u << width) - 1);
}

static unsigned rotate_right(unsigned value, unsigned by, unsigned width)
{
    return rotate_left(value, width - by % width, width);
}

static unsigned gray(unsigned place)
{
    return place ^ place >> 1;
}

static unsigned gray_inverse(unsigned code)
{
    return code ^ code >> 1 ^ code >> 2; /* enough for three bits */
}

/* Where the curve enters part `place` of a cube in standard position. */
static unsigned entry_of(unsigned place)
{
    return place ? gray((place - 1) / 2 * 2) : 0;
}

/* Along which axis it leaves that part again. */
static unsigned direction_of(unsigned place, unsigned dimensions)
{
    const unsigned ones_of = place & 1 ? place : place - 1;
    return place ? (unsigned)__builtin_ctz(~ones_of) % dimensions : 0;
}

static uint64_t index_of(const uint32_t at[3], unsigned dimensions, unsigned bits)
{
    uint64_t index = 0;
    unsigned entry = 0, direction = 0;
    for (unsigned level = bits; level-- > 0;) {
        unsigned part = 0;
        for (unsigned d = 0; d < dimensions; d++) part |= (at[d] >> level & 1) << d;
        const unsigned place = gray_inverse(rotate_right(part ^ entry, direction + 1, dimensions));
        entry ^= rotate_left(entry_of(place), direction + 1, dimensions);
        direction = (direction + direction_of(place, dimensions) + 1) % dimensions;
        index = index << dimensions | place;
    }
    return index;
}

struct point {
    uint64_t index;
    uint32_t cta;
};

static int by_index(const void *left, const void *right)
{
    const struct point *const a = left, *const b = right;
    return (a->index > b->index) - (a->index < b->index);
}

static enum cts_status lay_out(const struct cts_mapping_grid *grid, uint64_t *positions,
                               uint64_t *length, struct cts_error *error)
{
    unsigned bits;
    const enum cts_status status = cts_mapping_cube_bits(grid, &bits, error);
    if (status) return status;
    struct point *const points = cts_array_zeroed(grid->cta_count, sizeof *points, error);
    if (!points) return CTS_MEMORY;
    for (uint32_t i = 0; i < grid->cta_count; i++) {
        uint32_t at[3];
        cts_mapping_coordinates(grid, i, at);
        points[i] = (struct point){index_of(at, grid->dimensions, bits), i};
    }
    qsort(points, grid->cta_count, sizeof *points, by_index);
    for (uint32_t i = 0; i < grid->cta_count; i++) positions[points[i].cta] = i;
    *length = grid->cta_count;
    free(points);
    return CTS_OK;
}

const struct cts_mapping cts_mapping_hilbert = {
    .name = "hilbert",
    .summary = "along the Hilbert curve, without gaps",
    .lay_out = lay_out,
};
