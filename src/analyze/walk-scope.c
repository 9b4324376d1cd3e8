/* Which records of a launch a walk gets: its chunks, and shares of its CTAs. */
#include "analyze/walk.h"
#include "common/search.h"
#include "common/promise.h"

struct cts_walk_scope cts_walk_scope_of(const struct cts_access_source *source, uint32_t launch,
                                        uint64_t cta_count)
{
    struct cts_walk_scope scope = {.cta_count = cta_count, .end_cta = UINT64_MAX};
    scope.chunk_begin = cts_acc_first_chunk(source->chunks, source->chunk_count, launch);
    scope.chunk_end = scope.chunk_begin;
    while (scope.chunk_end < source->chunk_count &&
           source->chunks[scope.chunk_end].launch == launch)
        scope.chunk_end++;
    return scope;
}

/* Records of CTAs below `cta`, as if each chunk had equally many per CTA. */
static uint64_t records_below(const struct cts_access_source *source,
                              const struct cts_walk_scope *scope, uint64_t cta)
{
    uint64_t sum = 0;
    for (size_t i = scope->chunk_begin; i < scope->chunk_end; i++) {
        const struct cts_acc_chunk *const chunk = &source->chunks[i];
        if (cta <= chunk->first_cta) continue;
        const uint64_t ctas = (uint64_t)chunk->last_cta - chunk->first_cta + 1;
        const uint64_t below = cta - chunk->first_cta < ctas ? cta - chunk->first_cta : ctas;
        sum += (uint64_t)((unsigned __int128)chunk->record_count * below / ctas);
    }
    return sum;
}

/* The first CTA of share `share` of `count`. */
static uint64_t first_of_share(const struct cts_access_source *source,
                               const struct cts_walk_scope *scope, unsigned share, unsigned count)
{
    const uint64_t all = records_below(source, scope, scope->cta_count);
    const uint64_t wanted = (uint64_t)((unsigned __int128)all * share / count);
    if (share == 0) return 0;
    if (share == count) return UINT64_MAX;
    return CTS_SEARCH(scope->cta_count, cta, records_below(source, scope, cta) < wanted);
}

void cts_walk_share(const struct cts_access_source *source, unsigned share, unsigned share_count,
                    struct cts_walk_scope *scope)
{
    assert(share_count && share < share_count);
    const uint64_t first = first_of_share(source, scope, share, share_count);
    scope->end_cta = first_of_share(source, scope, share + 1, share_count);
    scope->first_cta = first;
}

enum cts_status cts_walk_count_ctas(const struct cts_launch *launch, uint64_t *count,
                                    struct cts_error *error)
{
    const uint32_t *const grid = launch->grid;
    uint64_t plane;
    if (__builtin_mul_overflow((uint64_t)grid[0], grid[1], &plane) ||
        __builtin_mul_overflow(plane, grid[2], count) || *count > UINT32_MAX)
        return cts_fail(error, CTS_FORMAT, "launch %u has a grid of %u x %u x %u CTAs",
                        launch->launch, grid[0], grid[1], grid[2]);
    return CTS_OK;
}
