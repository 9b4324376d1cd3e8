/* The Z-order (Morton) curve as paper 004 normalises it: each coordinate is scaled to the next cube
 * whose sides are a power of two, j = floor(i * 2^b / n), and the bits of the scaled coordinates
 * are interleaved, x lowest. The scaled points leave gaps, so that partitions of grids that are no
 * such cube differ in size. */
#include "analyze/partition/mapping.h"

static enum cts_status lay_out(const struct cts_mapping_grid *grid, uint64_t *positions,
                               uint64_t *length, struct cts_error *error)
{
    unsigned bits;
    const enum cts_status status = cts_mapping_cube_bits(grid, &bits, error);
    if (status) return status;
    for (uint32_t i = 0; i < grid->cta_count; i++) {
        uint32_t at[3];
        cts_mapping_coordinates(grid, i, at);
        uint64_t position = 0;
        for (unsigned d = 0; d < grid->dimensions; d++) {
            const uint64_t scaled = ((uint64_t)at[d] << bits) / grid->extents[d];
            for (unsigned b = 0; b < bits; b++)
                position |= (scaled >> b & 1) << (b * grid->dimensions + d);
        }
        positions[i] = position;
    }
    *length = UINT64_C(1) << (bits * grid->dimensions);
    return CTS_OK;
}

const struct cts_mapping cts_mapping_z_order = {
    .name = "z-order",
    .summary = "along the Z-order curve, scaled to a cube of 2^b CTAs a side",
    .lay_out = lay_out,
};
