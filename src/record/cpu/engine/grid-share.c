/* Which CTAs of a launch are next, and where they lie in its grid. */
#include "record/cpu/engine/worker.h"

uint64_t cts_grid_take(struct cts_grid *launch, uint64_t most, uint64_t *first)
{
    const uint64_t count = most < launch->chunk_ctas ? most : launch->chunk_ctas;
    if (atomic_load_explicit(&launch->next_cta, memory_order_relaxed) >= launch->cta_count)
        return 0;
    *first = atomic_fetch_add_explicit(&launch->next_cta, count, memory_order_relaxed);
    if (*first >= launch->cta_count) return 0;
    return launch->cta_count - *first < count ? launch->cta_count - *first : count;
}

void cts_grid_cta_position(const struct cts_grid *launch, uint64_t cta, uint32_t position[3])
{
    const uint32_t *const grid = launch->request->grid;
    position[0] = (uint32_t)(cta % grid[0]);
    position[1] = (uint32_t)(cta / grid[0] % grid[1]);
    position[2] = (uint32_t)(cta / grid[0] / grid[1]);
}
