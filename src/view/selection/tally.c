#include "view/selection/tally.h"

#include <stdlib.h>

#include "common/array.h"
#include "common/map.h"

/* There are fewer sums than records by this factor, or there is no tally. */
enum { RECORDS_PER_CELL = 16 };

struct classes {
    struct tally_class *items;
    size_t count, capacity;
};

static bool add_shape(struct classes *classes, const struct block_shape *shape, struct cts_map *map,
                      uint32_t *class_of)
{
    const uint64_t key = (uint64_t)shape->site << 16 | (uint64_t)shape->view << 8 | shape->lanes;
    uint64_t *const known = cts_map_at(map, key, NULL);
    if (!known) return false;
    if (!*known) {
        if (CTS_ARRAY_RESERVE(classes, classes->count + 1, NULL)) return false;
        classes->items[classes->count++] = (struct tally_class){.site = shape->site,
                                                                .lanes = shape->lanes,
                                                                .width_bytes = shape->width_bytes,
                                                                .view = shape->view,
                                                                .kind = shape->kind,
                                                                .first = UINT64_MAX};
        *known = classes->count;
    }
    struct tally_class *const class = &classes->items[*known - 1];
    if (shape->first < class->first) class->first = shape->first;
    if (shape->last > class->last) class->last = shape->last;
    *class_of = (uint32_t)*known - 1;
    return true;
}

static uint32_t warp_end_of(const struct block *block)
{
    uint32_t end = 0;
    for (size_t i = 0; i < block->record_count; i++)
        if (block->warp[i] + 1u > end) end = block->warp[i] + 1u;
    return end;
}

static void add_records(struct tally *tally, const struct block *block, const uint32_t *class_of)
{
    for (size_t i = 0; i < block->record_count; i++) {
        const uint32_t class = class_of[block->shape[i]];
        if (class == UINT32_MAX) continue;
        struct tally_cell *const cell =
            &tally->cells[(size_t)class * tally->warp_end + block->warp[i]];
        cell->record_count++;
        cell->cost += block->cost[i];
        cell->ideal += block->ideal[i];
    }
}

void cts_tally_make(struct tally *tally, const struct block *block)
{
    struct classes classes = {0};
    struct cts_map map = {0};
    uint32_t *const class_of = calloc(block->shape_count + 1, sizeof *class_of);
    const uint32_t warp_end = warp_end_of(block);
    const size_t most = block->record_count / RECORDS_PER_CELL;
    bool is_made = class_of != NULL;
    *tally = (struct tally){0};
    for (size_t s = 0; s < block->shape_count && is_made; s++) {
        class_of[s] = UINT32_MAX;
        if (!block->shapes[s].width_bytes) continue;
        is_made = add_shape(&classes, &block->shapes[s], &map, &class_of[s]) &&
                  classes.count * warp_end <= most;
    }
    if (is_made && classes.count)
        tally->cells = calloc(classes.count * warp_end, sizeof *tally->cells);
    if (tally->cells) {
        tally->classes = classes.items;
        tally->class_count = classes.count;
        tally->warp_end = warp_end;
        tally->size_bytes = classes.capacity * sizeof *classes.items +
                            classes.count * warp_end * sizeof *tally->cells;
        add_records(tally, block, class_of);
    } else {
        free(classes.items);
    }
    free(class_of);
    cts_map_release(&map);
}

void cts_tally_release(struct tally *tally)
{
    free(tally->classes);
    free(tally->cells);
    *tally = (struct tally){0};
}
