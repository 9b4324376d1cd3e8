/* Orders that several words make together: CTA a raises a flag, b waits for it and raises another
 * one, for which c waits. What a did before is then ordered before what c does after.
 *
 * Only words that a single CTA writes take part: from whom to whom they hand on is certain. A CTA
 * hands on what it knew at the last fence before its last update; it receives at its first look.
 * Called with the lock of the faults. */
#include <stdlib.h>
#include <string.h>

#include "analyze/access/access-model.h"

/* A word that one CTA writes: signals [begin, end). */
struct relay {
    uint32_t cta, update; /* who writes it, and the moment of the fence before */
    size_t begin, end;
};

struct cts_access_relays {
    struct relay *items; /* by CTA */
    size_t count, capacity;
    uint32_t cta_count;
    /* How far what one CTA had done at a moment gets: by CTA, the earliest moment (UINT32_MAX:
     * never), and the relay that tells it. */
    uint32_t from, from_moment;
    bool has_reach;
    uint32_t *known, *queue;
    size_t *via;
    bool *is_queued;
};

static int by_cta(const void *a, const void *b)
{
    const struct relay *const x = a, *const y = b;
    if (x->cta != y->cta) return x->cta < y->cta ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static enum cts_status add_word(struct cts_access_relays *relays,
                                const struct cts_access_model *model, size_t begin, size_t end)
{
    const struct cts_access_use *const items = model->signals.items;
    size_t writers = 0, writer = begin;
    bool is_atomic = false;
    for (size_t i = begin; i < end; i++) {
        writers += items[i].stores;
        if (items[i].stores) writer = i;
        is_atomic |= items[i].is_atomic;
    }
    if (writers != 1 || end - begin < 2 || !items[writer].updates) return CTS_OK;
    if (!is_atomic && !model->knows_fences) return CTS_OK;
    if (CTS_ARRAY_RESERVE(relays, relays->count + 1, NULL)) return CTS_MEMORY;
    relays->items[relays->count++] =
        (struct relay){items[writer].cta, items[writer].updates, begin, end};
    return CTS_OK;
}

static enum cts_status find_relays(struct cts_access_relays *relays,
                                   const struct cts_access_model *model)
{
    const struct cts_access_uses *const signals = &model->signals;
    enum cts_status status = CTS_OK;
    for (size_t begin = 0, end; begin < signals->count && !status; begin = end) {
        const uint64_t address = signals->items[begin].address;
        for (end = begin; end < signals->count && signals->items[end].address == address; end++)
            if (signals->items[end].cta >= relays->cta_count)
                relays->cta_count = signals->items[end].cta + 1;
        status = add_word(relays, model, begin, end);
    }
    if (relays->count) qsort(relays->items, relays->count, sizeof *relays->items, by_cta);
    return status;
}

struct cts_access_relays *cts_access_relays_new(const struct cts_access_model *model)
{
    struct cts_access_relays *const relays = cts_array_zeroed(1, sizeof *relays, NULL);
    if (!relays) return NULL;
    const enum cts_status status = find_relays(relays, model);
    const size_t count = relays->count ? relays->cta_count : 1;
    relays->known = cts_array_zeroed(count, sizeof *relays->known, NULL);
    relays->queue = cts_array_zeroed(count, sizeof *relays->queue, NULL);
    relays->via = cts_array_zeroed(count, sizeof *relays->via, NULL);
    relays->is_queued = cts_array_zeroed(count, sizeof *relays->is_queued, NULL);
    if (!status && relays->known && relays->queue && relays->via && relays->is_queued)
        return relays;
    cts_access_relays_free(relays);
    return NULL;
}

void cts_access_relays_free(struct cts_access_relays *relays)
{
    if (!relays) return;
    free(relays->items);
    free(relays->known);
    free(relays->queue);
    free(relays->via);
    free(relays->is_queued);
    free(relays);
}

static size_t first_of(const struct cts_access_relays *relays, uint32_t cta)
{
    size_t begin = 0, end = relays->count;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (relays->items[middle].cta < cta)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* The last moment that is handed on by the same words as `moment` is. */
static uint32_t latest_alike(const struct cts_access_relays *relays, uint32_t cta, uint32_t moment)
{
    uint32_t next = UINT32_MAX;
    for (size_t r = first_of(relays, cta); r < relays->count && relays->items[r].cta == cta; r++)
        if (relays->items[r].update > moment && relays->items[r].update < next)
            next = relays->items[r].update;
    return next - 1;
}

static void spend(uint64_t *left, uint64_t steps)
{
    *left -= steps < *left ? steps : *left;
}

/* Fills `known` of what `cta` had done at `moment`. */
static void find_reach(struct cts_access_relays *relays, const struct cts_access_uses *signals,
                       uint32_t cta, uint32_t moment, uint64_t *left)
{
    const size_t count = relays->cta_count;
    size_t head = 0, waiting = 1;
    memset(relays->known, 0xff, count * sizeof *relays->known);
    memset(relays->is_queued, 0, count * sizeof *relays->is_queued);
    spend(left, count);
    relays->known[cta] = moment;
    relays->queue[0] = cta;
    for (; waiting && *left; waiting--, head = (head + 1) % count) {
        const uint32_t from = relays->queue[head];
        relays->is_queued[from] = false;
        for (size_t r = first_of(relays, from); r < relays->count && relays->items[r].cta == from;
             r++) {
            const struct relay *const relay = &relays->items[r];
            spend(left, relay->end - relay->begin);
            for (size_t i = relay->begin; i < relay->end && relay->update > relays->known[from];
                 i++) {
                const struct cts_access_use *const s = &signals->items[i];
                if (s->cta == cta || s->looks >= relays->known[s->cta]) continue;
                relays->known[s->cta] = s->looks;
                relays->via[s->cta] = r;
                if (relays->is_queued[s->cta]) continue;
                relays->is_queued[s->cta] = true;
                relays->queue[(head + waiting++) % count] = s->cta;
            }
        }
    }
    relays->from = cta;
    relays->from_moment = moment;
    relays->has_reach = *left > 0;
}

/* Whether anything of `from` gets to `to`. Of two CTAs that tell each other in turn, last updates
 * and first looks say nothing of what lies between. */
static bool answers(struct cts_access_relays *relays, const struct cts_access_uses *signals,
                    uint32_t from, uint32_t to, uint64_t *left)
{
    find_reach(relays, signals, from, 0, left);
    return !relays->has_reach || relays->known[to] != UINT32_MAX;
}

/* Whether a CTA's use comes before that of another one; the words on the way order others then. */
static bool comes_before(struct cts_access_relays *relays, struct cts_access_uses *signals,
                         const struct cts_access_use *a, const struct cts_access_use *b,
                         uint64_t *left)
{
    if (a->cta >= relays->cta_count || b->cta >= relays->cta_count) return false;
    const uint32_t moment = latest_alike(relays, a->cta, a->last);
    if (moment == UINT32_MAX - 1) return false;
    if (!relays->has_reach || relays->from != a->cta || relays->from_moment != moment)
        find_reach(relays, signals, a->cta, moment, left);
    if (!relays->has_reach || relays->known[b->cta] >= b->first) return false;
    if (answers(relays, signals, b->cta, a->cta, left)) return false;
    find_reach(relays, signals, a->cta, moment, left);
    if (!relays->has_reach) return false;
    size_t steps = 0;
    for (uint32_t at = b->cta; at != a->cta && steps < relays->cta_count; steps++) {
        const struct relay *const relay = &relays->items[relays->via[at]];
        signals->items[relay->begin].orders_others = true;
        at = relay->cta;
    }
    return true;
}

bool cts_access_relays_order(struct cts_access_relays *relays, struct cts_access_uses *signals,
                             const struct cts_access_use *uses, size_t use_count, uint64_t *left)
{
    if (!relays->count) return false;
    for (size_t a = 0; a < use_count; a++)
        for (size_t b = 0; b < use_count && uses[a].stores; b++) {
            spend(left, 1);
            if (b == a || (uses[b].stores && b < a)) continue;
            if (!*left) return false;
            if (!comes_before(relays, signals, &uses[a], &uses[b], left) &&
                !comes_before(relays, signals, &uses[b], &uses[a], left))
                return false;
        }
    return true;
}
