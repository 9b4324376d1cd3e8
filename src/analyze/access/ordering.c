/* Which suspected races are none: barriers of the grid, locks, flags, and the CTA that finishes
 * last.
 *
 * In what order CTAs ran is not recorded, but the order of each CTA's own records is. Accesses
 * between which all CTAs have met at a barrier of the grid do not race: those between two of them
 * are an *epoch*, and uses of different epochs are not compared. One CTA hands a byte on to another
 * if it is done with the byte before it fences and updates some word X, and the other has looked at
 * X before its first access to the byte. Where fences are not recorded, one of them has to take X
 * by an atomic. X itself is then no race either, if nobody takes it but by atomics and volatile,
 * and the one CTA that has received what others handed on, which may store it (the last CTA resets
 * the counter). A byte counts as ordered if one X does that for all its CTAs: each that stores it
 * updates X afterwards, and each but one looks at X before. Words that one CTA each writes do so
 * together, too (relays.c). Whether the program then waits for the
 * right value is not recorded. Nor are fences in programs that are not instrumented: a result says
 * so.
 *
 * Called with the lock of the faults. */
#include <stdlib.h>
#include <string.h>

#include "analyze/access/access-model.h"

/* So many uses of bytes by CTAs are kept for a launch; beyond, all races stay possible. */
enum { USES_MAX = 1 << 22 };

static enum cts_status add_use(struct cts_access_uses *uses, const struct cts_access_use *use,
                               struct cts_error *error)
{
    if (uses->is_over) return CTS_OK;
    if (uses->count == USES_MAX) {
        __atomic_store_n(&uses->is_over, true, __ATOMIC_RELAXED);
        return CTS_OK;
    }
    if (CTS_ARRAY_RESERVE(uses, uses->count + 1, error)) return CTS_MEMORY;
    uses->items[uses->count++] = *use;
    return CTS_OK;
}

enum cts_status cts_access_note_use(struct cts_access_model *model,
                                    const struct cts_access_use *use, struct cts_error *error)
{
    struct cts_access_uses *const uses = use->is_signal ? &model->signals : &model->uses;
    struct cts_access_use *const last = uses->count ? &uses->items[uses->count - 1] : NULL;
    /* The lanes of a request and spins repeat themselves. */
    if (last && last->address == use->address && last->cta == use->cta && !use->is_signal &&
        last->epoch == use->epoch) {
        last->last = use->last;
        last->stores |= use->stores;
        last->is_weak |= use->is_weak;
        if (use->first_weak < last->first_weak) last->first_weak = use->first_weak;
        return CTS_OK;
    }
    return add_use(uses, use, error);
}

static int by_address(const void *a, const void *b)
{
    const struct cts_access_use *const x = a, *const y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    if (x->epoch != y->epoch) return x->epoch < y->epoch ? -1 : 1;
    if (x->cta != y->cta) return x->cta < y->cta ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* One use of each address and CTA: from its first to its last access. */
static void sort_uses(struct cts_access_uses *uses)
{
    size_t kept = 0;
    if (!uses->count) return;
    qsort(uses->items, uses->count, sizeof *uses->items, by_address);
    for (size_t i = 0; i < uses->count; i++) {
        struct cts_access_use *const last = kept ? &uses->items[kept - 1] : NULL;
        const struct cts_access_use *const use = &uses->items[i];
        if (last && last->address == use->address && last->epoch == use->epoch &&
            last->cta == use->cta) {
            if (use->is_atomic && !last->is_atomic) last->operation = use->operation;
            if (use->last > last->last) last->last = use->last;
            if (use->first < last->first) last->first = use->first;
            last->stores |= use->stores;
            last->is_weak |= use->is_weak;
            if (use->first_weak < last->first_weak) last->first_weak = use->first_weak;
            last->is_atomic |= use->is_atomic;
            last->updates = last->updates > use->updates ? last->updates : use->updates;
            last->looks = last->looks < use->looks ? last->looks : use->looks;
        } else {
            uses->items[kept++] = *use;
        }
    }
    uses->count = kept;
}

/* The signals of one word: [*begin, *end) of the sorted ones. False after the last word. */
static bool next_word(const struct cts_access_uses *signals, size_t *begin, size_t *end)
{
    *begin = *end;
    while (*end < signals->count && signals->items[*end].address == signals->items[*begin].address)
        ++*end;
    return *begin < *end;
}

static struct cts_access_use *signal_of(const struct cts_access_uses *signals, size_t begin,
                                        size_t end, uint32_t cta)
{
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (signals->items[middle].cta == cta) return &signals->items[middle];
        if (signals->items[middle].cta < cta)
            begin = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

/* Whether the word with signals [begin, end) orders the uses of a byte. */
static bool orders(const struct cts_access_model *model, size_t begin, size_t end,
                   const struct cts_access_use *uses, size_t use_count)
{
    size_t first_comers = 0;
    bool is_atomic = false;
    for (size_t i = begin; i < end; i++) is_atomic |= model->signals.items[i].is_atomic;
    for (size_t i = 0; i < use_count; i++) {
        const struct cts_access_use *const s = signal_of(&model->signals, begin, end, uses[i].cta);
        if (!s || (uses[i].stores && s->updates <= uses[i].last)) return false;
        first_comers += s->looks >= uses[i].first;
    }
    return (is_atomic || model->knows_fences) && first_comers <= 1;
}

/* How the bytes are counted that a word orders. */
static uint64_t *counter_of(struct cts_access_result *result, const struct cts_access_uses *signals,
                            size_t begin, size_t end)
{
    unsigned operation = signals->items[begin].operation;
    for (size_t i = begin; i < end; i++)
        if (signals->items[i].is_atomic) operation = signals->items[i].operation;
    switch (operation) {
    case CTS_ATOMIC_CAS:
    case CTS_ATOMIC_EXCH:
        return &result->lock_bytes;
    case CTS_ATOMIC_ADD:
    case CTS_ATOMIC_SUB:
    case CTS_ATOMIC_INC:
    case CTS_ATOMIC_DEC:
        return &result->counter_bytes;
    default:
        return &result->flag_bytes;
    }
}

/* The word with signals [begin, end) orders the uses of a byte that some CTA stores: whoever looked
 * at the word before its use has received the byte, unless it alone stores it. */
static void note_receivers(struct cts_access_model *model, size_t begin, size_t end,
                           const struct cts_access_use *uses, size_t use_count)
{
    size_t stores = 0;
    for (size_t i = 0; i < use_count; i++) stores += uses[i].stores;
    for (size_t i = 0; i < use_count; i++) {
        struct cts_access_use *const s = signal_of(&model->signals, begin, end, uses[i].cta);
        if (s && s->looks < uses[i].first && stores > uses[i].stores) s->is_receiver = true;
    }
}

/* What orders the uses of one byte in one epoch: where it is counted; NULL: nothing does. */
static uint64_t *order_of(struct cts_access_model *model, const struct cts_access_use *uses,
                          size_t use_count)
{
    for (size_t begin = 0, end = 0; next_word(&model->signals, &begin, &end);)
        if (signal_of(&model->signals, begin, end, uses->cta) &&
            orders(model, begin, end, uses, use_count)) {
            model->signals.items[begin].orders_others = true;
            note_receivers(model, begin, end, uses, use_count);
            return counter_of(model->result, &model->signals, begin, end);
        }
    return NULL;
}

/* Whether the CTAs that use the word otherwise than by atomics and volatile may: nobody, or the CTA
 * that received what all others handed on, once it has looked at the word, as the last CTA does
 * that resets the counter. */
static bool is_used_well(const struct cts_access_model *model, size_t first, size_t behind,
                         const struct cts_access_use *uses, size_t use_count)
{
    size_t weak = 0;
    for (size_t i = 0; i < use_count; i++) {
        if (!uses[i].is_weak) continue;
        const struct cts_access_use *const s =
            signal_of(&model->signals, first, behind, uses[i].cta);
        if (++weak > 1 || !s || !s->is_receiver || !s->is_atomic || s->looks >= uses[i].first_weak)
            return false;
    }
    return true;
}

/* Whether a byte is of a word that orders others, and all its uses are made for that. */
static bool is_of_flag(const struct cts_access_model *model, size_t begin, size_t end)
{
    const struct cts_access_use *const uses = &model->uses.items[begin];
    for (size_t first = 0, behind = 0; next_word(&model->signals, &first, &behind);) {
        const struct cts_access_use *const word = &model->signals.items[first];
        if (word->orders_others && uses->address - word->address < 4 &&
            is_used_well(model, first, behind, uses, end - begin))
            return true;
    }
    return false;
}

/* The same of all epochs: [begin, end) are the uses of one byte. */
static uint64_t *order_of_byte(struct cts_access_model *model, struct cts_access_relays *relays,
                               size_t begin, size_t end, uint64_t *left)
{
    const struct cts_access_use *const items = model->uses.items;
    uint64_t *counter = &model->result->grid_bytes;
    for (size_t i = begin, stop; i < end && counter; i = stop) {
        bool stores = false;
        for (stop = i; stop < end && items[stop].epoch == items[i].epoch; stop++)
            stores |= items[stop].stores;
        if (stop - i < 2 || !stores) continue;
        counter = order_of(model, &items[i], stop - i);
        if (!counter && relays &&
            cts_access_relays_order(relays, &model->signals, &items[i], stop - i, left))
            counter = &model->result->flag_bytes;
    }
    return counter;
}

void cts_access_note_barrier(const struct cts_access_model *model, struct cts_access_cta *cta,
                             const struct cts_acc_barrier *barrier)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    const unsigned operation = barrier->site < catalogue->site_count
                                   ? (unsigned)catalogue->sites[barrier->site].operation
                                   : 0;
    const uint32_t warp = barrier->warp % (CTS_RACE_THREADS_MAX / CTS_WARP_LANES);
    cta->moment++;
    if (operation == CTS_BARRIER_GRID_SYNC) cta->epochs[warp]++;
    if (operation == CTS_BARRIER_FENCE && barrier->argument >= CTS_FENCE_GPU)
        cta->fence = cta->moment;
}

/* Whether the byte was suspected. */
static bool clear_byte(struct cts_bits *suspects, uint64_t address)
{
    uint64_t *const words = cts_bits_find(suspects, address);
    const uint64_t bit = UINT64_C(1) << (address % 64);
    if (!words) return false;
    uint64_t *const planes = &words[address / 64 % CTS_BITS_PAGE_WORDS * suspects->planes];
    const bool was = (planes[CTS_SUSPECT_RACE] | planes[CTS_SUSPECT_STALE]) & bit;
    planes[CTS_SUSPECT_RACE] &= ~bit;
    planes[CTS_SUSPECT_STALE] &= ~bit;
    return was;
}

/* Words with many signals times bytes with many uses: so many comparisons at most. */
enum { COMPARISONS_MAX = 1 << 26 };

void cts_access_take_byte(struct cts_access_model *model, uint64_t address, uint64_t *counter)
{
    if (!clear_byte(&model->suspects, address) || !counter) return;
    ++*counter;
    model->result->ordered_bytes++;
    model->result->fences_unknown |= !model->knows_fences && counter != &model->result->grid_bytes;
}

/* The words themselves that order others; whether any byte is left. */
static bool take_flags(struct cts_access_model *model, bool is_known)
{
    const struct cts_access_uses *const uses = &model->uses;
    bool any = false;
    for (size_t i = 0, end; i < uses->count; i = end) {
        const uint64_t address = uses->items[i].address;
        for (end = i + 1; end < uses->count && uses->items[end].address == address;) end++;
        if (!cts_bits_get(&model->suspects, CTS_SUSPECT_RACE, address)) continue;
        if (is_known && is_of_flag(model, i, end))
            cts_access_take_byte(model, address, &model->result->flag_bytes);
        else
            any = true;
    }
    return any;
}

static bool take_all(struct cts_access_model *model)
{
    struct cts_access_uses *const uses = &model->uses;
    uint64_t left = COMPARISONS_MAX, relay_steps = COMPARISONS_MAX;
    sort_uses(uses);
    sort_uses(&model->signals);
    struct cts_access_relays *const relays = cts_access_relays_new(model);
    for (size_t i = 0, end; i < uses->count; i = end) {
        const uint64_t address = uses->items[i].address;
        for (end = i + 1; end < uses->count && uses->items[end].address == address;) end++;
        const uint64_t needed = (end - i) + model->signals.count;
        left -= needed < left ? needed : left;
        uint64_t *const counter = left ? order_of_byte(model, relays, i, end, &relay_steps) : NULL;
        if (counter) cts_access_take_byte(model, address, counter);
    }
    cts_access_relays_free(relays);
    return take_flags(model, left);
}

bool cts_access_are_too_many(const struct cts_access_model *model)
{
    return __atomic_load_n(&model->uses.is_over, __ATOMIC_RELAXED) ||
           __atomic_load_n(&model->signals.is_over, __ATOMIC_RELAXED);
}

bool cts_access_take_ordered(struct cts_access_model *model)
{
    const bool any = cts_access_are_too_many(model) || take_all(model);
    model->uses.count = model->signals.count = 0;
    model->uses.is_over = model->signals.is_over = false;
    return any;
}
