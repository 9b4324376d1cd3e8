/* Blocks of CTAs with consecutive indices, dealt to the partitions in turn. A block has
 * `block_ctas`, or an eighth of a partition's share, rounded up. */
#include "analyze/partition/mapping.h"

enum { ROUNDS = 8 };

static enum cts_status lay_out(const struct cts_mapping_grid *grid, uint64_t *positions,
                               uint64_t *length, struct cts_error *error)
{
    (void)error;
    for (uint32_t i = 0; i < grid->cta_count; i++) positions[i] = i;
    *length = grid->cta_count;
    return CTS_OK;
}

static uint32_t partition(uint64_t position, uint64_t length, uint32_t p, uint64_t block_ctas)
{
    const uint64_t dealt = (uint64_t)ROUNDS * p;
    if (!block_ctas) block_ctas = (length + dealt - 1) / dealt;
    return (uint32_t)(position / block_ctas % p);
}

const struct cts_mapping cts_mapping_block_cyclic = {
    .name = "block-cyclic",
    .summary = "blocks of consecutive CTAs dealt out in turn",
    .lay_out = lay_out,
    .partition = partition,
};
