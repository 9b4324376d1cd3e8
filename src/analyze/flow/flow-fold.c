/* Stretches are compared by hashes of all prefixes (polynomials modulo 2^61 - 1), so that the
 * length to which two stretches are equal takes a binary search. The next item that is alike is
 * linked. */
#include "analyze/flow/flow-fold.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/hash.h"

/* Bodies tried at one item, and comparisons in all. */
enum { TRIES_MAX = 256 };
static const uint64_t work_max = 50000000;

#define MODULUS ((UINT64_C(1) << 61) - 1)
__extension__ typedef unsigned __int128 wide;
static const uint64_t base = UINT64_C(0x1b873593cc9e2d51) & MODULUS;

struct folding {
    const uint64_t *items;
    size_t count;
    uint64_t *hashes, *powers; /* of prefixes; of the base */
    size_t *next;              /* by item: the next one that is alike; count: none */
    struct cts_flow_fold *fold;
    uint64_t work;
};

struct repetition {
    size_t body;
    uint32_t times; /* 0: none */
};

/* ---- hashes ---- */

static uint64_t product(uint64_t a, uint64_t b)
{
    const wide all = (wide)a * b;
    const uint64_t sum = (uint64_t)(all & MODULUS) + (uint64_t)(all >> 61);
    return sum >= MODULUS ? sum - MODULUS : sum;
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
    return a + b >= MODULUS ? a + b - MODULUS : a + b;
}

static uint64_t hash_of(const struct folding *f, size_t first, size_t count)
{
    const uint64_t before = product(f->hashes[first], f->powers[count]);
    return sum_of(f->hashes[first + count], MODULUS - before);
}

static bool are_equal(struct folding *f, size_t a, size_t b, size_t count)
{
    f->work++;
    return hash_of(f, a, count) == hash_of(f, b, count);
}

/* How many items are alike from a and b on, below end; a < b. */
static size_t equal_length(struct folding *f, size_t a, size_t b, size_t end)
{
    size_t low = 0, high = end - b;
    while (low < high) {
        const size_t middle = low + (high - low + 1) / 2;
        if (are_equal(f, a, b, middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* ---- folding ---- */

static struct repetition best_at(struct folding *f, size_t first, size_t end)
{
    struct repetition best = {0};
    size_t tries = 0;
    for (size_t next = f->next[first]; next < end && tries < TRIES_MAX; next = f->next[next]) {
        const size_t body = next - first;
        if (body > (end - first) / CTS_FLOW_LOOP_LEAST || f->work > work_max) break;
        tries++;
        if (!are_equal(f, first, next, body)) continue;
        const size_t times = 1 + equal_length(f, first, next, end) / body;
        if (times < CTS_FLOW_LOOP_LEAST || times * body <= best.times * best.body) continue;
        best = (struct repetition){body, (uint32_t)times};
        if (times * body == end - first) break;
    }
    return best;
}

static enum cts_status add_loop(struct cts_flow_fold *fold, uint32_t first, uint32_t times,
                                size_t *index, struct cts_error *error)
{
    if (fold->loop_count == fold->loop_capacity &&
        cts_array_grow((void **)&fold->loops, &fold->loop_capacity, fold->loop_count + 1,
                       sizeof *fold->loops, error))
        return CTS_MEMORY;
    *index = fold->loop_count++;
    fold->loops[*index] = (struct cts_flow_fold_loop){.first = first, .times = times};
    return CTS_OK;
}

static enum cts_status fold_items(struct folding *f, size_t first, size_t end,
                                  struct cts_error *error)
{
    struct cts_flow_fold *const fold = f->fold;
    while (first < end) {
        const struct repetition best = best_at(f, first, end);
        if (!best.times) {
            fold->places[first++] = fold->place_count++;
            continue;
        }
        size_t loop;
        enum cts_status status = add_loop(fold, fold->place_count, best.times, &loop, error);
        if (!status) status = fold_items(f, first, first + best.body, error);
        if (status) return status;
        fold->loops[loop].last = fold->place_count - 1;
        for (size_t i = best.body; i < best.times * best.body; i++)
            fold->places[first + i] = fold->places[first + i - best.body];
        first += best.times * best.body;
    }
    return CTS_OK;
}

/* ---- the whole ---- */

struct occurrence {
    uint64_t item;
    size_t index;
};

static int by_item(const void *left, const void *right)
{
    const struct occurrence *const a = left, *const b = right;
    if (a->item != b->item) return a->item < b->item ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static enum cts_status link_items(struct folding *f, struct cts_error *error)
{
    struct occurrence *const all = cts_array_zeroed(f->count, sizeof *all, error);
    if (!all) return CTS_MEMORY;
    for (size_t i = 0; i < f->count; i++) all[i] = (struct occurrence){f->items[i], i};
    if (f->count > 1) qsort(all, f->count, sizeof *all, by_item);
    for (size_t i = 0; i < f->count; i++)
        f->next[all[i].index] =
            i + 1 < f->count && all[i + 1].item == all[i].item ? all[i + 1].index : f->count;
    free(all);
    return CTS_OK;
}

static void hash_prefixes(struct folding *f)
{
    f->powers[0] = 1;
    for (size_t i = 0; i < f->count; i++) {
        const uint64_t item = cts_hash_draw(f->items[i]) % MODULUS;
        f->hashes[i + 1] = sum_of(product(f->hashes[i], base), item);
        f->powers[i + 1] = product(f->powers[i], base);
    }
}

enum cts_status cts_flow_fold_make(const uint64_t *items, size_t count, struct cts_flow_fold *fold,
                                   struct cts_error *error)
{
    struct folding f = {.items = items, .count = count, .fold = fold};
    *fold = (struct cts_flow_fold){0};
    fold->places = cts_array_zeroed(count, sizeof *fold->places, error);
    f.hashes = cts_array_zeroed(count + 1, sizeof *f.hashes, error);
    f.powers = cts_array_zeroed(count + 1, sizeof *f.powers, error);
    f.next = cts_array_zeroed(count, sizeof *f.next, error);
    enum cts_status status = fold->places && f.hashes && f.powers && f.next ? CTS_OK : CTS_MEMORY;
    if (!status) status = link_items(&f, error);
    if (!status) {
        hash_prefixes(&f);
        status = fold_items(&f, 0, count, error);
    }
    free(f.hashes);
    free(f.powers);
    free(f.next);
    if (status) cts_flow_fold_release(fold);
    return status;
}

void cts_flow_fold_release(struct cts_flow_fold *fold)
{
    free(fold->places);
    free(fold->loops);
    *fold = (struct cts_flow_fold){0};
}
