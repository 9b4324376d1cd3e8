/* CTAs in the order of their linear index, x fastest: cuts lie across the highest dimension. */
#include "analyze/partition/mapping.h"

static enum cts_status lay_out(const struct cts_mapping_grid *grid, uint64_t *positions,
                               uint64_t *length, struct cts_error *error)
{
    (void)error;
    for (uint32_t i = 0; i < grid->cta_count; i++) positions[i] = i;
    *length = grid->cta_count;
    return CTS_OK;
}

const struct cts_mapping cts_mapping_lexicographic = {
    .name = "lexicographic",
    .summary = "by linear index, x fastest: slabs across the highest dimension",
    .lay_out = lay_out,
};
