/* The sites of a catalogue, and a chunk that is read against them: what is damage.
 *
 * Every record of a run goes through here: a batch is looked at as columns, and record by record
 * only if something in it is wrong. */
#include <stdlib.h>
#include <string.h>

#include "analyze/walk.h"
#include "common/array.h"

/* ---- sites ---- */

enum cts_status cts_walk_sites_make(const struct cts_catalogue *catalogue,
                                    struct cts_walk_sites *sites, struct cts_error *error)
{
    *sites = (struct cts_walk_sites){0};
    sites->items = cts_array_zeroed(catalogue->site_count, sizeof *sites->items, error);
    if (!sites->items) return CTS_MEMORY;
    sites->count = catalogue->site_count;
    sites->all_usable = true;
    for (size_t i = 0; i < sites->count; i++) {
        const struct cts_site *const row = &catalogue->sites[i];
        const uint32_t width = row->width_bytes;
        if (cts_operation_is_barrier(row->operation)) { /* no access names it */
            sites->items[i] = (struct cts_walk_site){.width_bytes = 1, .class = CTS_SITE_READ};
            continue;
        }
        const bool is_usable = row->operation >= CTS_LOAD && row->operation <= CTS_OPERATION_LAST &&
                               width >= 1 && width <= CTS_WALK_WIDTH_MAX;
        sites->all_usable &= is_usable;
        if (!is_usable) continue;
        sites->items[i] = (struct cts_walk_site){
            .width_bytes = width,
            .shift = (width & (width - 1)) ? 255 : (uint8_t)__builtin_ctz(width),
            .class = row->operation == CTS_LOAD    ? CTS_SITE_READ
                     : row->operation == CTS_STORE ? CTS_SITE_STORE
                                                   : CTS_SITE_ATOMIC};
    }
    return CTS_OK;
}

void cts_walk_sites_release(struct cts_walk_sites *sites)
{
    free(sites->items);
    *sites = (struct cts_walk_sites){0};
}

/* ---- a chunk, and its damage ---- */

enum {
    SPACES = 1 << CTS_SPACE_GLOBAL | 1 << CTS_SPACE_SHARED | 1 << CTS_SPACE_CONSTANT |
             1 << CTS_SPACE_LOCAL
};

static bool is_space(unsigned space)
{
    return space <= CTS_SPACE_LAST && SPACES >> space & 1;
}

/* Record i, of which something is wrong: what it is. */
static enum cts_status name_damage(const struct cts_acc_batch *batch, size_t i,
                                   struct cts_walk_bounds bounds, const struct cts_acc_chunk *chunk,
                                   struct cts_error *error)
{
    const uint32_t cta = batch->cta[i], site = batch->site[i];
    if (cta >= bounds.cta_count || cta < chunk->first_cta || cta > chunk->last_cta)
        return cts_fail(error, CTS_FORMAT,
                        "a record names CTA %u of a launch with %llu CTAs, in a chunk for CTAs %u "
                        "to %u",
                        cta, (unsigned long long)bounds.cta_count, chunk->first_cta,
                        chunk->last_cta);
    if (!is_space(batch->space[i]) || !batch->mask[i])
        return cts_fail(error, CTS_FORMAT, "a record of site %u has no %s", site,
                        is_space(batch->space[i]) ? "active lane" : "memory space");
    return cts_fail(error, CTS_FORMAT, "a record names site %u, which the catalogue %s", site,
                    site < bounds.sites->count ? "gives no usable operation and width"
                                               : "does not have");
}

static bool is_fine(const struct cts_acc_batch *batch, size_t i, struct cts_walk_bounds bounds,
                    const struct cts_acc_chunk *chunk)
{
    const struct cts_walk_sites *const sites = bounds.sites;
    const uint32_t cta = batch->cta[i], site = batch->site[i];
    const bool has_site = !sites || (site < sites->count && sites->items[site].width_bytes);
    return has_site && cta < bounds.cta_count && cta >= chunk->first_cta &&
           cta <= chunk->last_cta && batch->mask[i] && is_space(batch->space[i]);
}

/* Whether any of the numbers is below `least` or more than `span` above it. Four at a time: every
 * record of a run goes through here. */
static bool any_outside(const uint32_t *numbers, size_t count, uint32_t least, uint32_t span)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    four bad = {0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        four these;
        memcpy(&these, numbers + i, sizeof these);
        bad |= (four)(these - least > span);
    }
    bool any = bad[0] | bad[1] | bad[2] | bad[3];
    for (; i < count; i++) any |= numbers[i] - least > span;
    return any;
}

/* Eight at a time, as long as they are all alike. */
static bool all_spaces(const uint8_t *spaces, size_t count)
{
    uint64_t alike = 0;
    for (size_t i = 0; i < count;) {
        uint64_t these;
        if (i + sizeof these <= count) {
            memcpy(&these, spaces + i, sizeof these);
            i += sizeof these;
            if (these == alike) continue;
            i -= sizeof these;
        }
        if (!is_space(spaces[i])) return false;
        alike = UINT64_C(0x0101010101010101) * spaces[i++];
    }
    return true;
}

/* False where a closer look is needed. */
static bool are_plainly_fine(const struct cts_acc_batch *batch, struct cts_walk_bounds bounds,
                             const struct cts_acc_chunk *chunk)
{
    const struct cts_walk_sites *const sites = bounds.sites;
    const size_t count = batch->record_count;
    if (chunk->last_cta < chunk->first_cta || chunk->last_cta >= bounds.cta_count) return false;
    if (sites && (!sites->all_usable || !sites->count || sites->count > UINT32_MAX)) return false;
    return !any_outside(batch->cta, count, chunk->first_cta, chunk->last_cta - chunk->first_cta) &&
           !any_outside(batch->mask, count, 1, UINT32_MAX - 1) &&
           (!sites || !any_outside(batch->site, count, 0, (uint32_t)sites->count - 1)) &&
           all_spaces(batch->space, count);
}

static enum cts_status check_barriers(const struct cts_acc_batch *batch, uint64_t cta_count,
                                      const struct cts_acc_chunk *chunk, struct cts_error *error)
{
    for (size_t i = 0; i < batch->barrier_count; i++) {
        const uint32_t cta = batch->barriers[i].cta;
        if (cta >= cta_count || cta < chunk->first_cta || cta > chunk->last_cta)
            return cts_fail(error, CTS_FORMAT,
                            "a barrier names CTA %u of a launch with %llu CTAs, in a chunk for "
                            "CTAs %u to %u",
                            cta, (unsigned long long)cta_count, chunk->first_cta, chunk->last_cta);
    }
    return CTS_OK;
}

static enum cts_status check_records(const struct cts_acc_batch *batch,
                                     struct cts_walk_bounds bounds,
                                     const struct cts_acc_chunk *chunk, struct cts_error *error)
{
    const enum cts_status status = check_barriers(batch, bounds.cta_count, chunk, error);
    if (status) return status;
    if (are_plainly_fine(batch, bounds, chunk)) return CTS_OK;
    for (size_t i = 0; i < batch->record_count; i++)
        if (!is_fine(batch, i, bounds, chunk)) return name_damage(batch, i, bounds, chunk, error);
    return CTS_OK;
}

enum cts_status cts_walk_in_chunk(const struct cts_access_source *source,
                                  const struct cts_acc_chunk *chunk, struct cts_error *error)
{
    return cts_context(error, "'%s': chunk at byte %llu of launch %u",
                       source->path ? source->path(source->state, chunk->file) : "",
                       (unsigned long long)chunk->offset_bytes, chunk->launch);
}

enum cts_status cts_walk_read_chunk(const struct cts_access_source *source,
                                    struct cts_walk_bounds bounds,
                                    const struct cts_acc_chunk *chunk, struct cts_acc_batch *batch,
                                    struct cts_error *error)
{
    struct cts_error own;
    if (!error) error = &own;
    enum cts_status status = source->read(source->state, chunk, batch, error);
    if (status) return status; /* the reader has said where */
    status = check_records(batch, bounds, chunk, error);
    return status ? cts_walk_in_chunk(source, chunk, error) : CTS_OK;
}
