/* Vector clocks over the CTAs of a launch, event after event: see the header.
 *
 * A CTA has one clock for all that its warps knew at the last barrier, and one of its own for each
 * warp that has acquired since: the others learn of it at the next barrier. A word has the clock of
 * all that was released by it. Uses of a word are compared with those of other CTAs that are kept
 * for it: of each CTA and kind of access the last one, which is the last to be told. */
#include "analyze/access/signal-order.h"

#include <stdlib.h>

#include "common/array.h"
#include "common/map.h"
#include "trace/access.h"

enum { WARPS = 32 };
/* Elements of clocks that are kept and joined, and pairs of uses that are compared, at most. */
static const uint64_t elements_max = UINT64_C(1) << 26, joins_max = UINT64_C(1) << 33;
static const uint64_t pairs_max = UINT64_C(1) << 30;

/* What is known of one CTA: its last release, and the signal that has told it, + 1 (0: the CTA
 * itself). */
struct known {
    uint32_t release, via;
};

struct clock {
    struct known *of; /* by CTA; NULL: nothing is known */
};

struct cta {
    struct clock all, own[WARPS];
    uint32_t phase;
    uint32_t has_own; /* by warp */
};

/* A word that orders. */
struct signal {
    struct clock clock;
    uint64_t word;
    uint8_t operation;
    bool orders;      /* uses of other words */
    bool orders_data; /* of words that no volatile store writes */
};

/* A use that is kept. */
struct kept {
    uint32_t cta, release, epoch;
    uint8_t bytes;
    bool stores, is_atomic, is_volatile;
    uint32_t next; /* of the same word, + 1 */
};

struct word {
    struct cts_signal_verdict verdict;
    uint8_t raced_strongly; /* bytes that volatile stores race for */
    uint32_t store;         /* the site of its last volatile store, + 1 */
    uint32_t first;         /* kept, + 1 */
};

struct order {
    uint32_t cta_count;
    struct cta *ctas;
    struct cts_map cta_of, signal_of, word_of; /* index + 1 */
    struct {
        struct signal *items;
        size_t count, capacity;
    } signals;
    struct {
        struct word *items;
        size_t count, capacity;
    } words;
    struct {
        struct kept *items;
        size_t count, capacity;
    } kept;
    uint64_t elements, joins, pairs;
    bool is_too_much;
    struct cts_error *error;
};

/* ---- clocks ---- */

static bool make(struct order *order, struct clock *clock)
{
    if (clock->of) return true;
    order->elements += order->cta_count;
    order->is_too_much |= order->elements > elements_max;
    if (order->is_too_much) return false;
    clock->of = cts_array_zeroed(order->cta_count, sizeof *clock->of, order->error);
    return clock->of != NULL;
}

static void forget(struct order *order, struct clock *clock)
{
    free(clock->of);
    clock->of = NULL;
    order->elements -= order->cta_count;
}

/* Adds what another clock knows, told by the signal `via` (+ 1), or by those that told the other.
 */
static enum cts_status join(struct order *order, struct clock *clock, const struct clock *more,
                            uint32_t via)
{
    if (!more->of) return CTS_OK;
    if (!make(order, clock)) return order->is_too_much ? CTS_OK : CTS_MEMORY;
    order->joins += order->cta_count;
    order->is_too_much |= order->joins > joins_max;
    for (uint32_t i = 0; i < order->cta_count; i++)
        if (more->of[i].release > clock->of[i].release)
            clock->of[i] = (struct known){more->of[i].release, via ? via : more->of[i].via};
    return CTS_OK;
}

/* ---- CTAs ---- */

/* At a barrier all warps learn what each has acquired. */
static enum cts_status enter_phase(struct order *order, struct cta *cta, uint32_t phase)
{
    enum cts_status status = CTS_OK;
    if (phase <= cta->phase) return CTS_OK;
    cta->phase = phase;
    for (; cta->has_own && !status; cta->has_own &= cta->has_own - 1) {
        struct clock *const own = &cta->own[__builtin_ctz(cta->has_own)];
        status = join(order, &cta->all, own, 0);
        if (own->of) forget(order, own);
    }
    return status;
}

/* What a warp knows of the release of another CTA; NULL: nothing. */
static const struct known *what_is_known(const struct cta *cta, unsigned warp, uint32_t other,
                                         uint32_t release)
{
    if (release == CTS_RELEASE_NONE) return NULL;
    if (cta->all.of && cta->all.of[other].release >= release) return &cta->all.of[other];
    const struct clock *const own = &cta->own[warp];
    return own->of && own->of[other].release >= release ? &own->of[other] : NULL;
}

/* The index of a key, made when it is new (*is_new); UINT32_MAX: no memory. */
static uint32_t index_of(struct order *order, struct cts_map *map, uint64_t key, bool *is_new)
{
    uint64_t *const place = cts_map_at(map, key, order->error);
    if (!place) return UINT32_MAX;
    *is_new = !*place;
    if (*is_new) *place = map->count;
    return (uint32_t)*place - 1;
}

static enum cts_status find_ctas(struct order *order, const struct cts_signal_input *input)
{
    bool is_new;
    for (size_t i = 0; i < input->event_count; i++)
        if (index_of(order, &order->cta_of, input->events[i].cta, &is_new) == UINT32_MAX)
            return CTS_MEMORY;
    for (size_t i = 0; i < input->use_count; i++)
        if (index_of(order, &order->cta_of, input->uses[i].cta, &is_new) == UINT32_MAX)
            return CTS_MEMORY;
    order->cta_count = (uint32_t)order->cta_of.count;
    order->ctas = cts_array_zeroed(order->cta_count, sizeof *order->ctas, order->error);
    return order->ctas ? CTS_OK : CTS_MEMORY;
}

static uint32_t cta_of(const struct order *order, uint32_t cta)
{
    return (uint32_t)*cts_map_find(&order->cta_of, cta) - 1;
}

/* ---- events ---- */

static uint8_t how_of(unsigned operation)
{
    switch (operation) {
    case CTS_ATOMIC_CAS:
    case CTS_ATOMIC_EXCH:
        return CTS_ORDERED_BY_LOCK;
    case CTS_ATOMIC_ADD:
    case CTS_ATOMIC_SUB:
    case CTS_ATOMIC_INC:
    case CTS_ATOMIC_DEC:
        return CTS_ORDERED_BY_COUNTER;
    default:
        return CTS_ORDERED_BY_FLAG;
    }
}

static struct signal *signal_of(struct order *order, const struct cts_signal_event *event)
{
    bool is_new;
    const uint32_t index = index_of(order, &order->signal_of, event->word, &is_new);
    if (index == UINT32_MAX) return NULL;
    if (is_new) {
        if (CTS_ARRAY_RESERVE(&order->signals, (size_t)index + 1, order->error)) return NULL;
        order->signals.items[order->signals.count++] =
            (struct signal){.word = event->word, .operation = event->operation};
    }
    struct signal *const signal = &order->signals.items[index];
    if (cts_operation_is_atomic(event->operation) && !cts_operation_is_atomic(signal->operation))
        signal->operation = event->operation;
    return signal;
}

static enum cts_status release(struct order *order, const struct cts_signal_event *event,
                               struct signal *signal)
{
    const uint32_t number = cta_of(order, event->cta);
    const struct cta *const cta = &order->ctas[number];
    enum cts_status status = join(order, &signal->clock, &cta->all, 0);
    if (!status) status = join(order, &signal->clock, &cta->own[event->warp % WARPS], 0);
    if (status) return status;
    if (!make(order, &signal->clock)) return order->is_too_much ? CTS_OK : CTS_MEMORY;
    if (signal->clock.of[number].release < event->release)
        signal->clock.of[number] = (struct known){event->release, 0};
    return CTS_OK;
}

static enum cts_status take_event(struct order *order, const struct cts_signal_event *event)
{
    struct cta *const cta = &order->ctas[cta_of(order, event->cta)];
    struct signal *const signal = signal_of(order, event);
    if (!signal) return CTS_MEMORY;
    const enum cts_status status = enter_phase(order, cta, event->phase);
    if (status) return status;
    if (event->release) return release(order, event, signal);
    const uint32_t via = (uint32_t)(signal - order->signals.items) + 1;
    cta->has_own |= UINT32_C(1) << event->warp % WARPS;
    return join(order, &cta->own[event->warp % WARPS], &signal->clock, via);
}

/* ---- uses ---- */

static struct word *word_of(struct order *order, uint64_t number)
{
    bool is_new;
    const uint32_t index = index_of(order, &order->word_of, number, &is_new);
    if (index == UINT32_MAX) return NULL;
    if (is_new) {
        if (CTS_ARRAY_RESERVE(&order->words, (size_t)index + 1, order->error)) return NULL;
        order->words.items[order->words.count++] =
            (struct word){.verdict = {.word = number, .how = CTS_ORDERED_BY_GRID}};
    }
    return &order->words.items[index];
}

static bool is_strong(bool is_atomic, bool is_volatile)
{
    return is_atomic || is_volatile;
}

/* How a CTA knows of another one: the words on the way order the uses of this one. Returns the last
 * one's kind. */
static uint8_t note_way(struct order *order, const struct word *word, const struct known *known,
                        uint32_t other)
{
    enum { STEPS_MAX = 64 };
    uint8_t how = CTS_ORDERED_BY_FLAG;
    uint32_t via = known->via;
    for (unsigned step = 0; via && step < STEPS_MAX; step++) {
        struct signal *const signal = &order->signals.items[via - 1];
        if (!step) how = how_of(signal->operation);
        signal->orders |= signal->word != word->verdict.word;
        signal->orders_data |= !word->store;
        via = signal->clock.of[other].via;
    }
    return how;
}

static void compare(struct order *order, struct word *word, const struct kept *before,
                    const struct cts_signal_use *use)
{
    const uint8_t bytes = before->bytes & use->bytes;
    const bool writes = before->stores || before->is_atomic || use->stores || use->is_atomic;
    const bool are_strong = is_strong(before->is_atomic, before->is_volatile) &&
                            is_strong(use->is_atomic, use->is_volatile);
    if (!bytes || !writes || (are_strong && !before->stores && !use->stores)) return;
    const struct cta *const cta = &order->ctas[cta_of(order, use->cta)];
    word->verdict.ordered |= bytes;
    if (before->epoch != use->epoch) return;
    const struct known *const known =
        what_is_known(cta, use->warp % WARPS, before->cta, before->release);
    if (known)
        word->verdict.how = note_way(order, word, known, before->cta);
    else if (are_strong)
        word->raced_strongly |= bytes;
    else
        word->verdict.raced |= bytes;
}

/* The use in place of the CTA's last one of that kind, whichever is told later. */
static enum cts_status keep(struct order *order, struct word *word, uint32_t same,
                            const struct kept *wanted)
{
    if (same) {
        struct kept *const kept = &order->kept.items[same - 1];
        if (wanted->release > kept->release) kept->release = wanted->release;
        return CTS_OK;
    }
    if (CTS_ARRAY_RESERVE(&order->kept, order->kept.count + 1, order->error)) return CTS_MEMORY;
    order->kept.items[order->kept.count] = *wanted;
    order->kept.items[order->kept.count].next = word->first;
    word->first = (uint32_t)++order->kept.count;
    return CTS_OK;
}

static enum cts_status take_use(struct order *order, const struct cts_signal_use *use)
{
    struct word *const word = word_of(order, use->word);
    if (!word) return CTS_MEMORY;
    const struct kept wanted = {.cta = cta_of(order, use->cta),
                                .release = use->release,
                                .epoch = use->epoch,
                                .bytes = use->bytes,
                                .stores = use->stores,
                                .is_atomic = use->is_atomic,
                                .is_volatile = use->is_volatile};
    uint32_t same = 0;
    if (use->stores && use->is_volatile) word->store = use->site + 1;
    const enum cts_status status = enter_phase(order, &order->ctas[wanted.cta], use->phase);
    for (uint32_t k = word->first; k; k = order->kept.items[k - 1].next) {
        const struct kept *const kept = &order->kept.items[k - 1];
        order->pairs++;
        if (kept->cta != wanted.cta)
            compare(order, word, kept, use);
        else if (kept->bytes == wanted.bytes && kept->stores == wanted.stores &&
                 kept->is_atomic == wanted.is_atomic && kept->is_volatile == wanted.is_volatile &&
                 kept->epoch == wanted.epoch)
            same = k;
    }
    order->is_too_much |= order->pairs > pairs_max;
    return status ? status : keep(order, word, same, &wanted);
}

/* ---- all ---- */

static int by_number(const void *a, const void *b)
{
    const struct cts_signal_event *const x = a, *const y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_moment(const void *a, const void *b)
{
    const struct cts_signal_use *const x = a, *const y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    if (x->word != y->word) return x->word < y->word ? -1 : 1;
    if (x->cta != y->cta) return x->cta < y->cta ? -1 : 1;
    return (x->phase > y->phase) - (x->phase < y->phase);
}

static int by_word(const void *a, const void *b)
{
    const struct cts_signal_verdict *const x = a, *const y = b;
    return (x->word > y->word) - (x->word < y->word);
}

static enum cts_status take_all(struct order *order, const struct cts_signal_input *input)
{
    size_t e = 0, u = 0;
    enum cts_status status = find_ctas(order, input);
    if (input->event_count)
        qsort(input->events, input->event_count, sizeof *input->events, by_number);
    if (input->use_count) qsort(input->uses, input->use_count, sizeof *input->uses, by_moment);
    while (!status && !order->is_too_much && (e < input->event_count || u < input->use_count)) {
        const bool is_event =
            e < input->event_count &&
            (u == input->use_count || input->events[e].number <= input->uses[u].number);
        status =
            is_event ? take_event(order, &input->events[e++]) : take_use(order, &input->uses[u++]);
    }
    return status;
}

static const struct signal *find_signal(const struct order *order, const struct word *word)
{
    const uint64_t *const place = cts_map_find(&order->signal_of, word->verdict.word);
    return place ? &order->signals.items[*place - 1] : NULL;
}

/* Volatile stores that raise flags: by some of their words, uses of data are ordered. Of several
 * flags of one warp, those that tell nothing new are flags as well. */
static enum cts_status find_flags(const struct order *order, struct cts_map *flags)
{
    for (size_t i = 0; i < order->words.count; i++) {
        const struct word *const word = &order->words.items[i];
        const struct signal *const signal = find_signal(order, word);
        if (!word->store || !signal || !signal->orders_data) continue;
        uint64_t *const is_flag = cts_map_at(flags, word->store, order->error);
        if (!is_flag) return CTS_MEMORY;
        *is_flag = 1;
    }
    return CTS_OK;
}

static struct cts_signal_verdict *judge(struct order *order)
{
    struct cts_map flags = {0};
    struct cts_signal_verdict *verdicts =
        find_flags(order, &flags)
            ? NULL
            : cts_array_zeroed(order->words.count, sizeof *verdicts, order->error);
    for (size_t i = 0; verdicts && i < order->words.count; i++) {
        const struct word *const word = &order->words.items[i];
        const struct signal *const signal = find_signal(order, word);
        const bool orders = (signal && signal->orders) ||
                            (word->store && cts_map_find(&flags, word->store) != NULL);
        verdicts[i] = word->verdict;
        if (!orders) verdicts[i].raced |= word->raced_strongly;
        if (orders && word->raced_strongly) verdicts[i].how = CTS_ORDERED_BY_FLAG;
        verdicts[i].ordered &= (uint8_t)~verdicts[i].raced;
    }
    if (verdicts && order->words.count)
        qsort(verdicts, order->words.count, sizeof *verdicts, by_word);
    cts_map_release(&flags);
    return verdicts;
}

static void release_order(struct order *order)
{
    for (uint32_t c = 0; order->ctas && c < order->cta_count; c++) {
        free(order->ctas[c].all.of);
        for (unsigned w = 0; w < WARPS; w++) free(order->ctas[c].own[w].of);
    }
    for (size_t s = 0; s < order->signals.count; s++) free(order->signals.items[s].clock.of);
    free(order->ctas);
    free(order->signals.items);
    free(order->words.items);
    free(order->kept.items);
    cts_map_release(&order->cta_of);
    cts_map_release(&order->signal_of);
    cts_map_release(&order->word_of);
}

enum cts_status cts_signal_order(const struct cts_signal_input *input,
                                 struct cts_signal_verdict **verdicts, size_t *count,
                                 bool *is_too_much, struct cts_error *error)
{
    struct order order = {.error = error};
    *verdicts = NULL;
    enum cts_status status = take_all(&order, input);
    *is_too_much = order.is_too_much;
    *count = order.words.count;
    if (!status && !order.is_too_much && !(*verdicts = judge(&order))) status = CTS_MEMORY;
    release_order(&order);
    return status;
}
