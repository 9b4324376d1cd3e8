/* Folded sequences: cases by hand, and a twin that compares items one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/flow/flow-fold.h"
#include "count.h"
#include "random.h"

enum { ITEMS_MAX = 120 };

/* "abab", as "places|first-last*times ..." */
static void expect(const char *text, const char *places, const char *loops)
{
    uint64_t items[64] = {0};
    struct cts_flow_fold fold;
    char found[256] = "";
    const size_t count = strlen(text);
    for (size_t i = 0; i < count; i++) items[i] = (uint64_t)text[i];
    assert_int_equal(cts_flow_fold_make(items, count, &fold, NULL), CTS_OK);
    for (size_t i = 0; i < count; i++) assert_int_equal(fold.places[i], places[i] - '0');
    for (size_t i = 0; i < fold.loop_count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%u-%u*%u ",
                 fold.loops[i].first, fold.loops[i].last, fold.loops[i].times);
    assert_string_equal(found, loops);
    cts_flow_fold_release(&fold);
}

static void by_hand(void **state)
{
    (void)state;
    expect("", "", "");
    expect("abc", "012", "");
    expect("aa", "01", ""); /* twice is no loop */
    expect("aaa", "000", "0-0*3 ");
    expect("iababab", "0121212", "1-2*3 ");
    expect("abababe", "0101012", "0-1*3 ");
    /* a body of 4 covers more than the loop inside it, which is folded in it */
    expect("bbbcbbbcbbbc", "000100010001", "0-1*3 0-0*3 ");
    expect("ibbbbcddde", "0111123334", "1-1*4 3-3*3 ");
}

/* ---- the twin ---- */

static size_t repetitions(const uint64_t *items, size_t first, size_t end, size_t body)
{
    size_t times = 1;
    while (first + (times + 1) * body <= end &&
           !memcmp(items + first, items + first + times * body, body * sizeof *items))
        times++;
    return times;
}

struct twin {
    const uint64_t *items;
    uint32_t places[ITEMS_MAX], place_count;
    struct cts_flow_fold_loop loops[ITEMS_MAX];
    size_t loop_count;
};

static void fold_naively(struct twin *twin, size_t first, size_t end)
{
    while (first < end) {
        size_t best = 0, covered = 0;
        for (size_t body = 1; body <= end - first; body++) {
            const size_t times = repetitions(twin->items, first, end, body);
            if (times >= CTS_FLOW_LOOP_LEAST && times * body > covered) {
                best = body;
                covered = times * body;
            }
        }
        if (!best) {
            twin->places[first++] = twin->place_count++;
            continue;
        }
        const size_t loop = twin->loop_count++;
        twin->loops[loop] = (struct cts_flow_fold_loop){.first = twin->place_count,
                                                        .times = (uint32_t)(covered / best)};
        fold_naively(twin, first, first + best);
        twin->loops[loop].last = twin->place_count - 1;
        for (size_t i = first + best; i < first + covered; i++)
            twin->places[i] = twin->places[i - best];
        first += covered;
    }
}

/* Random loops in loops, with noise between and in them. */
static size_t write_loop(struct random *random, uint64_t *items, size_t room, unsigned depth)
{
    size_t body = 0;
    const size_t parts = 1 + random_below(random, 3), times = 1 + random_below(random, 6);
    for (size_t i = 0; i < parts && body < room; i++)
        if (depth && random_below(random, 2))
            body += write_loop(random, items + body, room - body, depth - 1);
        else
            items[body++] = random_below(random, 4);
    size_t count = body;
    for (size_t i = 1; i < times && count + body <= room; i++, count += body)
        memcpy(items + count, items, body * sizeof *items);
    return count;
}

static void random_sequences(void **state)
{
    struct random random = {.state = 22};
    (void)state;
    for (unsigned n = 0; n < cts_test_count(2000, 100000); n++) {
        uint64_t items[ITEMS_MAX];
        size_t count = 0;
        while (count < 1 || random_below(&random, 3))
            count += write_loop(&random, items + count, ITEMS_MAX - count, 3);
        struct cts_flow_fold fold;
        struct twin twin = {.items = items};
        fold_naively(&twin, 0, count);
        assert_int_equal(cts_flow_fold_make(items, count, &fold, NULL), CTS_OK);
        assert_int_equal(fold.place_count, twin.place_count);
        assert_int_equal(fold.loop_count, twin.loop_count);
        assert_memory_equal(fold.places, twin.places, count * sizeof *fold.places);
        if (fold.loop_count)
            assert_memory_equal(fold.loops, twin.loops, fold.loop_count * sizeof *fold.loops);
        cts_flow_fold_release(&fold);
    }
}

/* Whatever the sequence, the work ends. */
static void long_sequences(void **state)
{
    enum { LONG = 200000 };
    uint64_t *const items = malloc(LONG * sizeof *items);
    struct random random = {.state = 7};
    struct cts_flow_fold fold;
    (void)state;
    assert_non_null(items);
    for (size_t i = 0; i < LONG; i++) items[i] = random_below(&random, 2);
    assert_int_equal(cts_flow_fold_make(items, LONG, &fold, NULL), CTS_OK);
    assert_true(fold.place_count > 0 && fold.place_count <= LONG);
    cts_flow_fold_release(&fold);
    for (size_t i = 0; i < LONG; i++) items[i] = i % 5;
    assert_int_equal(cts_flow_fold_make(items, LONG, &fold, NULL), CTS_OK);
    assert_int_equal(fold.place_count, 5);
    assert_int_equal(fold.loops[0].times, LONG / 5);
    cts_flow_fold_release(&fold);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(random_sequences),
        cmocka_unit_test(long_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
