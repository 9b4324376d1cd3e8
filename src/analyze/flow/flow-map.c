/* The runs of bytes that each launch's CTAs store and load, sorted by address, meet page by page.
 * Every pair of CTAs that share a byte is asked what it rules out, until nothing is left. */
#include "analyze/flow/flow-map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/bits.h"
#include "common/array.h"

enum { RUNS_MAX = 8 << 20, CTAS_MAX = 16 << 20, REACH = 2 };
enum { OFFSETS = (2 * REACH + 1) * (2 * REACH + 1) * (2 * REACH + 1), OFFSET_WORDS = 2 };
_Static_assert(OFFSETS <= 64 * OFFSET_WORDS, "a bit for each offset of a neighbour");

struct runs {
    struct cts_flow_cta_run *items;
    size_t count, capacity;
};

/* What a launch's CTAs touch. */
struct side {
    struct runs loads, stores;
    bool is_too_much;
    pthread_mutex_t lock;
};

/* What the pairs of CTAs so far allow. */
struct relation {
    const struct cts_launch *from, *to;
    uint64_t from_ctas, to_ctas;
    bool is_same, is_near, is_reduction;
    uint32_t *reader_of;               /* by CTA of `from`, + 1; 0: none */
    uint32_t *writers_of;              /* by CTA of `to`: how many */
    uint64_t (*offsets)[OFFSET_WORDS]; /* by CTA of `to`: which neighbours it has */
    uint64_t near_pairs;
};

/* ---- runs ---- */

static enum cts_status take_run(void *state, const struct cts_flow_cta_run *run,
                                struct cts_error *error)
{
    struct side *const side = state;
    struct runs *const runs = run->is_store ? &side->stores : &side->loads;
    enum cts_status status = CTS_OK;
    pthread_mutex_lock(&side->lock);
    if (runs->count == RUNS_MAX)
        side->is_too_much = true;
    else if (!(status = CTS_ARRAY_RESERVE(runs, runs->count + 1, error)))
        runs->items[runs->count++] = *run;
    pthread_mutex_unlock(&side->lock);
    return status;
}

static int by_start(const void *left, const void *right)
{
    const struct cts_flow_cta_run *const a = left, *const b = right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return (a->cta > b->cta) - (a->cta < b->cta);
}

static void sort(struct runs *runs)
{
    if (runs->count) qsort(runs->items, runs->count, sizeof *runs->items, by_start);
}

/* ---- a pair of CTAs ---- */

static bool is_same_grid(const struct cts_launch *a, const struct cts_launch *b)
{
    return a->grid[0] == b->grid[0] && a->grid[1] == b->grid[1] && a->grid[2] == b->grid[2];
}

/* The bit of the difference of two coordinates; OFFSETS: they are not neighbours. */
static unsigned offset_of(const struct cts_launch *launch, uint32_t a, uint32_t b)
{
    const uint32_t *const grid = launch->grid;
    const int64_t x = (int64_t)(a % grid[0]) - b % grid[0];
    const int64_t y = (int64_t)(a / grid[0] % grid[1]) - b / grid[0] % grid[1];
    const int64_t z = (int64_t)(a / grid[0] / grid[1]) - b / grid[0] / grid[1];
    if (x < -REACH || x > REACH || y < -REACH || y > REACH || z < -REACH || z > REACH)
        return OFFSETS;
    const int64_t side = 2 * REACH + 1;
    return (unsigned)((x + REACH) + side * ((y + REACH) + side * (z + REACH)));
}

static void relate(struct relation *relation, uint32_t writer, uint32_t reader)
{
    relation->is_same &= writer == reader;
    const unsigned offset = relation->is_near ? offset_of(relation->to, writer, reader) : OFFSETS;
    relation->is_near = offset < OFFSETS;
    if (relation->is_near) {
        uint64_t *const word = &relation->offsets[reader][offset / 64];
        const uint64_t bit = UINT64_C(1) << offset % 64;
        relation->near_pairs += !(*word & bit);
        *word |= bit;
    }
    if (!relation->is_reduction || relation->reader_of[writer] == reader + 1) return;
    relation->is_reduction = !relation->reader_of[writer];
    relation->reader_of[writer] = reader + 1;
    relation->writers_of[reader]++;
}

static bool is_open(const struct relation *relation)
{
    return relation->is_same || relation->is_near || relation->is_reduction;
}

static uint64_t page_of(const struct cts_flow_cta_run *run)
{
    return run->start >> CTS_BITS_PAGE_BITS;
}

static void set_run(uint64_t *words, const struct cts_flow_cta_run *run)
{
    const unsigned first = run->start & 4095, end = (unsigned)((run->end - 1) & 4095) + 1;
    for (unsigned w = first / 64; w <= (end - 1) / 64; w++)
        words[w] |= cts_bits_mask(w, first, end);
}

/* Pairs of CTAs with a common byte; *bytes: how many bytes are common, if not NULL. */
static void meet(struct relation *relation, const struct runs *writers, const struct runs *readers,
                 uint64_t *bytes)
{
    for (size_t w = 0, r = 0; w < writers->count && is_open(relation);) {
        const uint64_t page = page_of(&writers->items[w]);
        uint64_t stored[CTS_BITS_PAGE_WORDS] = {0}, read[CTS_BITS_PAGE_WORDS] = {0};
        size_t end = w;
        for (; end < writers->count && page_of(&writers->items[end]) == page; end++)
            set_run(stored, &writers->items[end]);
        while (r < readers->count && page_of(&readers->items[r]) < page) r++;
        for (; r < readers->count && page_of(&readers->items[r]) == page; r++) {
            const struct cts_flow_cta_run *const b = &readers->items[r];
            set_run(read, b);
            for (size_t i = w; i < end && writers->items[i].start < b->end; i++)
                if (writers->items[i].end > b->start && is_open(relation))
                    relate(relation, writers->items[i].cta, b->cta);
        }
        for (unsigned i = 0; bytes && i < CTS_BITS_PAGE_WORDS; i++)
            *bytes += cts_bits_count(stored[i] & read[i]);
        w = end;
    }
}

/* ---- the pair of launches ---- */

static enum cts_status start(struct relation *relation, struct cts_error *error)
{
    relation->reader_of = cts_array_zeroed(relation->from_ctas, sizeof(uint32_t), error);
    relation->writers_of = cts_array_zeroed(relation->to_ctas, sizeof(uint32_t), error);
    relation->offsets = cts_array_zeroed(relation->to_ctas, sizeof *relation->offsets, error);
    relation->is_same = relation->from_ctas == relation->to_ctas;
    relation->is_near = is_same_grid(relation->from, relation->to);
    relation->is_reduction = true;
    return relation->reader_of && relation->writers_of && relation->offsets ? CTS_OK : CTS_MEMORY;
}

static enum cts_flow_map conclude(const struct relation *relation)
{
    bool is_reduction = relation->is_reduction;
    for (uint64_t i = 0; is_reduction && i < relation->to_ctas; i++)
        is_reduction = relation->writers_of[i] != 1;
    /* As many as half of all pairs: everybody reads of everybody. */
    const uint64_t half = relation->from_ctas * relation->to_ctas / 2;
    if (relation->is_same) return CTS_FLOW_MAP_SAME_CTA;
    if (is_reduction) return CTS_FLOW_MAP_REDUCTION;
    return relation->is_near && relation->near_pairs < half ? CTS_FLOW_MAP_NEIGHBOUR
                                                            : CTS_FLOW_MAP_OTHER;
}

static enum cts_status map_sides(struct relation *relation, const struct cts_flow_pair *pair,
                                 const struct side sides[2], enum cts_flow_map *map,
                                 struct cts_error *error)
{
    uint64_t bytes = 0;
    const enum cts_status status = start(relation, error);
    if (status) return status;
    meet(relation, &sides[0].stores, &sides[1].loads, &bytes);
    const bool is_all = is_open(relation) && bytes == pair->raw_bytes;
    *map = is_all ? conclude(relation) : CTS_FLOW_MAP_OTHER;
    if (!*map || !pair->has_overwrites) return CTS_OK;
    /* One kernel would store while other CTAs of it still load. */
    relation->is_near = relation->is_reduction = false;
    relation->is_same = relation->from_ctas == relation->to_ctas;
    meet(relation, &sides[0].stores, &sides[1].stores, NULL);
    meet(relation, &sides[0].loads, &sides[1].stores, NULL);
    if (!relation->is_same) *map = CTS_FLOW_MAP_OTHER;
    return CTS_OK;
}

enum cts_status cts_flow_map_pair(struct cts_flow_toucher *toucher,
                                  const struct cts_catalogue *catalogue,
                                  const struct cts_flow_pair *pair, enum cts_flow_map *map,
                                  struct cts_error *error)
{
    struct side sides[2] = {0};
    struct relation relation = {.from = &catalogue->launches[pair->from],
                                .to = &catalogue->launches[pair->to]};
    *map = CTS_FLOW_MAP_OTHER;
    enum cts_status status = cts_walk_count_ctas(relation.from, &relation.from_ctas, error);
    if (!status) status = cts_walk_count_ctas(relation.to, &relation.to_ctas, error);
    if (status || relation.from_ctas > CTAS_MAX || relation.to_ctas > CTAS_MAX) return status;
    for (unsigned i = 0; i < 2; i++) pthread_mutex_init(&sides[i].lock, NULL);
    status = cts_flow_touch_ctas(toucher, pair->from, take_run, &sides[0], error);
    if (!status) status = cts_flow_touch_ctas(toucher, pair->to, take_run, &sides[1], error);
    for (unsigned i = 0; i < 2; i++) {
        sort(&sides[i].loads);
        sort(&sides[i].stores);
    }
    if (!status && !sides[0].is_too_much && !sides[1].is_too_much)
        status = map_sides(&relation, pair, sides, map, error);
    for (unsigned i = 0; i < 2; i++) {
        pthread_mutex_destroy(&sides[i].lock);
        free(sides[i].loads.items);
        free(sides[i].stores.items);
    }
    free(relation.reader_of);
    free(relation.writers_of);
    free(relation.offsets);
    return status;
}
