/* What CTAs hand on by words: closed forms, and random histories against a twin that follows each
 * chain of releases and acquires by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/access/signal-order.h"
#include "count.h"
#include "random.h"
#include "trace/access.h"

enum { EVENTS_MOST = 60, USES_MOST = 60, CTAS = 4, WARPS = 2, WORDS = 3, DATA = 4 };

struct history {
    struct cts_signal_event events[EVENTS_MOST];
    struct cts_signal_use uses[USES_MOST];
    size_t event_count, use_count;
};

/* The raced bytes of a word. */
static uint8_t raced_of(const struct history *history, uint64_t word)
{
    struct history copy = *history;
    const struct cts_signal_input input = {copy.events, copy.event_count, copy.uses,
                                           copy.use_count};
    struct cts_signal_verdict *verdicts;
    size_t count;
    bool is_too_much;
    struct cts_error error = {0};
    uint8_t raced = 0;
    assert_int_equal(cts_signal_order(&input, &verdicts, &count, &is_too_much, &error), CTS_OK);
    assert_false(is_too_much);
    for (size_t i = 0; i < count; i++) {
        if (verdicts[i].word == word) raced = verdicts[i].raced;
        assert_int_equal(verdicts[i].raced & verdicts[i].ordered, 0);
    }
    free(verdicts);
    return raced;
}

/* ---- closed forms ---- */

static struct cts_signal_event event(uint64_t number, uint32_t cta, uint64_t word, uint32_t release)
{
    return (struct cts_signal_event){.number = number,
                                     .word = word,
                                     .cta = cta,
                                     .release = release,
                                     .operation = release ? CTS_STORE : CTS_LOAD};
}

static struct cts_signal_use use(uint64_t number, uint32_t cta, uint32_t release, bool stores)
{
    return (struct cts_signal_use){.number = number,
                                   .word = 100,
                                   .cta = cta,
                                   .release = release,
                                   .bytes = 15,
                                   .stores = stores};
}

static void test_flag(void **state)
{
    (void)state;
    struct history h = {.events = {event(2, 0, 7, 1), event(3, 1, 7, 0)},
                        .event_count = 2,
                        .uses = {use(1, 0, 1, true), use(3, 1, CTS_RELEASE_NONE, false)},
                        .use_count = 2};
    assert_int_equal(raced_of(&h, 100), 0);
    h.uses[1].number = 2; /* before it has looked */
    assert_int_equal(raced_of(&h, 100), 15);
    h.uses[1].number = 3;
    h.uses[0].release = 2; /* the flag is raised too early */
    assert_int_equal(raced_of(&h, 100), 15);
    h.uses[0].release = 1;
    h.events[1].word = 8; /* another flag */
    assert_int_equal(raced_of(&h, 100), 15);
}

static void test_other_warp(void **state)
{
    (void)state;
    struct history h = {.events = {event(2, 0, 7, 1), event(3, 1, 7, 0)},
                        .event_count = 2,
                        .uses = {use(1, 0, 1, true), use(3, 1, CTS_RELEASE_NONE, false)},
                        .use_count = 2};
    h.uses[1].warp = 1; /* no barrier behind the look of warp 0 */
    assert_int_equal(raced_of(&h, 100), 15);
    h.uses[1].phase = 1;
    assert_int_equal(raced_of(&h, 100), 0);
}

/* Two flags of one store: who has seen the later one learns nothing by the earlier. */
static void test_flags_of_one_store(void **state)
{
    (void)state;
    struct history h = {
        .events = {event(2, 0, 50, 1), event(3, 0, 51, 2), event(4, 1, 51, 0), event(5, 1, 50, 0)},
        .event_count = 4,
        .uses = {use(1, 0, 1, true), use(2, 0, CTS_RELEASE_NONE, true),
                 use(3, 0, CTS_RELEASE_NONE, true), use(3, 1, CTS_RELEASE_NONE, false),
                 use(4, 1, CTS_RELEASE_NONE, false), use(5, 1, CTS_RELEASE_NONE, false)},
        .use_count = 6};
    const uint64_t words[] = {100, 50, 51, 50, 51, 100};
    for (unsigned i = 0; i < 6; i++) h.uses[i].word = words[i];
    for (unsigned i = 1; i < 5; i++) h.uses[i].is_volatile = true;
    for (unsigned i = 1; i < 3; i++) h.uses[i].site = 9;
    assert_int_equal(raced_of(&h, 100), 0);
    assert_int_equal(raced_of(&h, 51), 0);
    assert_int_equal(raced_of(&h, 50), 0);
    h.uses[1].site = 8; /* by a store of its own */
    assert_int_equal(raced_of(&h, 50), 15);
}

static void test_atomics(void **state)
{
    (void)state;
    struct history h = {
        .uses = {use(0, 0, CTS_RELEASE_NONE, false), use(0, 1, CTS_RELEASE_NONE, false)},
        .use_count = 2};
    assert_int_equal(raced_of(&h, 100), 0);
    h.uses[0].is_atomic = true; /* against a plain load */
    assert_int_equal(raced_of(&h, 100), 15);
    h.uses[1].is_volatile = true;
    assert_int_equal(raced_of(&h, 100), 0);
    h.uses[1].stores = true; /* volatile, of a word that orders nothing */
    assert_int_equal(raced_of(&h, 100), 15);
    h.uses[1].epoch = 1; /* a barrier of the grid in between */
    assert_int_equal(raced_of(&h, 100), 0);
}

/* ---- the twin ---- */

static bool is_behind(const struct cts_signal_event *from, uint16_t warp, uint32_t phase)
{
    return from->warp == warp || from->phase < phase;
}

/* Marks each event that the CTA's acquire `at` has learnt of. */
static void follow(const struct history *h, size_t at, bool *marked)
{
    if (marked[at]) return;
    marked[at] = true;
    const struct cts_signal_event *const acquire = &h->events[at];
    for (size_t r = 0; r < h->event_count; r++) {
        const struct cts_signal_event *const release = &h->events[r];
        if (!release->release || release->word != acquire->word ||
            release->number > acquire->number)
            continue;
        marked[r] = true;
        for (size_t a = 0; a < h->event_count; a++) {
            const struct cts_signal_event *const before = &h->events[a];
            if (!before->release && before->cta == release->cta &&
                before->number < release->number &&
                is_behind(before, release->warp, release->phase))
                follow(h, a, marked);
        }
    }
}

static bool twin_knows(const struct history *h, const struct cts_signal_use *u,
                       const struct cts_signal_use *v)
{
    bool marked[EVENTS_MOST] = {false};
    for (size_t a = 0; a < h->event_count; a++) {
        const struct cts_signal_event *const acquire = &h->events[a];
        if (!acquire->release && acquire->cta == v->cta && acquire->number <= v->number &&
            is_behind(acquire, v->warp, v->phase))
            follow(h, a, marked);
    }
    for (size_t r = 0; r < h->event_count; r++)
        if (marked[r] && h->events[r].cta == u->cta && h->events[r].release &&
            h->events[r].release >= u->release)
            return true;
    return false;
}

static uint8_t twin_raced(const struct history *h, uint64_t word)
{
    uint8_t raced = 0;
    for (size_t a = 0; a < h->use_count; a++)
        for (size_t b = 0; b < h->use_count; b++) {
            const struct cts_signal_use *const u = &h->uses[a], *const v = &h->uses[b];
            const bool writes = u->stores || v->stores || u->is_atomic || v->is_atomic;
            if (u->word != word || v->word != word || u->cta == v->cta || u->number > v->number ||
                u->epoch != v->epoch || !writes || (u->is_atomic && v->is_atomic))
                continue;
            if (u->release == CTS_RELEASE_NONE || !twin_knows(h, u, v))
                raced |= u->bytes & v->bytes;
        }
    return raced;
}

/* ---- random histories ---- */

struct teller {
    uint32_t releases, phase;
};

static void add_event(struct history *h, uint64_t number, uint32_t cta, struct teller *teller)
{
    const bool is_release = below(2);
    h->events[h->event_count++] =
        (struct cts_signal_event){.number = number,
                                  .word = below(WORDS),
                                  .cta = cta,
                                  .release = is_release ? ++teller->releases : 0,
                                  .phase = teller->phase,
                                  .warp = (uint16_t)below(WARPS),
                                  .operation = is_release ? CTS_STORE : CTS_LOAD};
}

static void add_use(struct history *h, uint64_t number, uint32_t cta, const struct teller *teller)
{
    h->uses[h->use_count++] = (struct cts_signal_use){.number = number,
                                                      .word = 100 + below(DATA),
                                                      .cta = cta,
                                                      .release = teller->releases + 1 + below(2),
                                                      .phase = teller->phase,
                                                      .epoch = number > 70,
                                                      .warp = (uint16_t)below(WARPS),
                                                      .bytes = (uint8_t)(1 + below(15)),
                                                      .stores = below(3) == 0,
                                                      .is_atomic = false};
    struct cts_signal_use *const last = &h->uses[h->use_count - 1];
    last->is_atomic = !last->stores && below(4) == 0;
    if (below(6) == 0) last->release = CTS_RELEASE_NONE;
}

static void make_history(struct history *h)
{
    struct teller tellers[CTAS] = {{0}};
    *h = (struct history){.event_count = 0};
    for (uint64_t number = 1; number <= 110; number++) {
        const uint32_t cta = below(CTAS);
        tellers[cta].phase += below(5) == 0;
        if (below(2) && h->event_count < EVENTS_MOST)
            add_event(h, number, cta, &tellers[cta]);
        else if (h->use_count < USES_MOST)
            add_use(h, number, cta, &tellers[cta]);
    }
}

static void test_twin(void **state)
{
    (void)state;
    CTS_TEST_STARTS_NO_THREAD();
    unsigned raced = 0, ordered = 0;
    random_start(15);
    for (unsigned i = 0; i < cts_test_count(300, 20000); i++) {
        struct history h;
        make_history(&h);
        for (uint64_t word = 100; word < 100 + DATA; word++) {
            const uint8_t expected = twin_raced(&h, word), found = raced_of(&h, word);
            if (expected != found) print_error("history %u, word %d\n", i, (int)word);
            assert_int_equal(found, expected);
            raced += (unsigned)__builtin_popcount(found);
            ordered += 4 - (unsigned)__builtin_popcount(found);
        }
    }
    assert_true(raced > 0 && ordered > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flag),       cmocka_unit_test(test_flags_of_one_store),
        cmocka_unit_test(test_other_warp), cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
