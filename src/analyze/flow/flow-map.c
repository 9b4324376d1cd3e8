/* The runs of bytes that each launch's CTAs store and load meet page by page. Every pair of CTAs
 * that share a byte is asked what it rules out, until nothing is left. */
#include "analyze/flow/flow-map.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/bits.h"
#include "analyze/flow/flow-runs.h"
#include "common/array.h"

enum { RUNS_AT_A_TIME = 8 << 20, CTAS_MAX = 16 << 20, REACH = 2 };
enum { OFFSETS = (2 * REACH + 1) * (2 * REACH + 1) * (2 * REACH + 1), OFFSET_WORDS = 2 };
_Static_assert(OFFSETS <= 64 * OFFSET_WORDS, "a bit for each offset of a neighbour");

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
static void meet(struct relation *relation, const struct cts_flow_runs *writers,
                 const struct cts_flow_runs *readers, uint64_t *bytes)
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

/* ---- what both load ---- */

/* The runs of a page: [begin, end) of the runs. */
struct page_runs {
    const struct cts_flow_runs *runs;
    size_t begin, end;
    uint64_t longest; /* bytes of a run */
};

static void next_page(struct page_runs *at, uint64_t page)
{
    const struct cts_flow_runs *const runs = at->runs;
    at->begin = at->end;
    while (at->begin < runs->count && page_of(&runs->items[at->begin]) < page) at->begin++;
    at->longest = 0;
    for (at->end = at->begin; at->end < runs->count && page_of(&runs->items[at->end]) == page;
         at->end++) {
        const uint64_t length = runs->items[at->end].end - runs->items[at->end].start;
        if (length > at->longest) at->longest = length;
    }
}

static bool covers(const uint64_t *words, const struct cts_flow_cta_run *run)
{
    const unsigned first = run->start & 4095, end = (unsigned)((run->end - 1) & 4095) + 1;
    for (unsigned w = first / 64; w <= (end - 1) / 64; w++)
        if (cts_bits_mask(w, first, end) & ~words[w]) return false;
    return true;
}

/* The first run of the page that may reach beyond an address. */
static size_t first_beyond(const struct page_runs *at, uint64_t address)
{
    size_t low = at->begin, high = at->end;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (at->runs->items[middle].start + at->longest > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Bytes that a CTA of `to` and the same CTA of `from` load, or (near) one next to it. */
static void find_shared(const struct relation *relation, const struct page_runs *loads,
                        const struct cts_flow_cta_run *run, bool near, uint64_t *words)
{
    const struct cts_flow_cta_run *const items = loads->runs->items;
    if (covers(words, run)) return;
    for (size_t i = first_beyond(loads, run->start); i < loads->end && items[i].start < run->end;
         i++) {
        if (items[i].end <= run->start ||
            (near ? offset_of(relation->to, items[i].cta, run->cta) == OFFSETS
                  : items[i].cta != run->cta))
            continue;
        const struct cts_flow_cta_run both = {
            .start = items[i].start > run->start ? items[i].start : run->start,
            .end = items[i].end < run->end ? items[i].end : run->end};
        set_run(words, &both);
        if (covers(words, run)) return;
    }
}

/* Adds to `shared` what both load and `from` does not store, by same CTA and by neighbours. */
static void add_shared(const struct relation *relation, const struct cts_flow_side sides[2],
                       uint64_t shared[2])
{
    const struct cts_flow_runs *const to = &sides[1].loads;
    struct page_runs loads = {.runs = &sides[0].loads}, stores = {.runs = &sides[0].stores};
    for (size_t begin = 0, end; begin < to->count; begin = end) {
        const uint64_t page = page_of(&to->items[begin]);
        uint64_t stored[CTS_BITS_PAGE_WORDS] = {0}, words[2][CTS_BITS_PAGE_WORDS] = {{0}};
        next_page(&loads, page);
        next_page(&stores, page);
        for (size_t i = stores.begin; i < stores.end; i++) set_run(stored, &stores.runs->items[i]);
        for (end = begin; end < to->count && page_of(&to->items[end]) == page; end++) {
            if (loads.begin == loads.end) continue;
            if (relation->is_same) find_shared(relation, &loads, &to->items[end], false, words[0]);
            if (relation->is_near) find_shared(relation, &loads, &to->items[end], true, words[1]);
        }
        for (unsigned near = 0; near < 2; near++)
            for (unsigned w = 0; w < CTS_BITS_PAGE_WORDS; w++)
                shared[near] += cts_bits_count(words[near][w] & ~stored[w]);
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

struct mapper {
    struct relation data; /* of what passes */
    struct relation
        overwrites; /* of what `to` stores and `from` touched: none but of the same CTA */
    bool has_overwrites;
    uint64_t bytes;     /* that pass */
    uint64_t shared[2]; /* by same CTA, by neighbours */
};

static enum cts_status take_window(void *state, const struct cts_flow_side sides[2], bool *done,
                                   struct cts_error *error)
{
    struct mapper *const mapper = state;
    (void)error;
    meet(&mapper->data, &sides[0].stores, &sides[1].loads, &mapper->bytes);
    if (mapper->has_overwrites) { /* one kernel would store while other CTAs of it still load */
        meet(&mapper->overwrites, &sides[0].stores, &sides[1].stores, NULL);
        meet(&mapper->overwrites, &sides[0].loads, &sides[1].stores, NULL);
    }
    *done = !is_open(&mapper->data) || !mapper->overwrites.is_same;
    if (!*done) add_shared(&mapper->data, sides, mapper->shared);
    return CTS_OK;
}

static void say(const struct mapper *mapper, const struct cts_flow_pair *pair,
                struct cts_flow_mapping *mapping)
{
    if (!is_open(&mapper->data) || mapper->bytes != pair->raw_bytes || !mapper->overwrites.is_same)
        return;
    mapping->map = conclude(&mapper->data);
    if (mapping->map == CTS_FLOW_MAP_SAME_CTA) mapping->shared_bytes = mapper->shared[0];
    if (mapping->map == CTS_FLOW_MAP_NEIGHBOUR) mapping->shared_bytes = mapper->shared[1];
}

enum cts_status cts_flow_map_pair(struct cts_flow_toucher *toucher, size_t at_a_time,
                                  const struct cts_flow_pair *pair,
                                  struct cts_flow_mapping *mapping, struct cts_error *error)
{
    const struct cts_launch *const launches = cts_flow_toucher_catalogue(toucher)->launches;
    struct mapper mapper = {.data = {.from = &launches[pair->from], .to = &launches[pair->to]},
                            .has_overwrites = pair->has_overwrites};
    struct relation *const data = &mapper.data;
    *mapping = (struct cts_flow_mapping){.map = CTS_FLOW_MAP_OTHER};
    enum cts_status status = cts_walk_count_ctas(data->from, &data->from_ctas, error);
    if (!status) status = cts_walk_count_ctas(data->to, &data->to_ctas, error);
    if (status) return status;
    mapping->is_too_much = data->from_ctas > CTAS_MAX || data->to_ctas > CTAS_MAX;
    if (mapping->is_too_much) return CTS_OK;
    status = start(data, error);
    mapper.overwrites.is_same = !mapper.has_overwrites || data->from_ctas == data->to_ctas;
    struct cts_flow_windows windows = {.toucher = toucher,
                                       .launches = {pair->from, pair->to},
                                       .at_a_time = at_a_time ? at_a_time : RUNS_AT_A_TIME};
    if (!status) status = cts_flow_each_window(&windows, take_window, &mapper, error);
    mapping->is_too_much = windows.is_too_much;
    if (!status && !mapping->is_too_much) say(&mapper, pair, mapping);
    free(data->reader_of);
    free(data->writers_of);
    free(data->offsets);
    return status;
}
