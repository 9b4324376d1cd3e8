/* Maps from numbers and from texts against arrays. */
#include "common/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/hash.h"

enum { KEYS = 500, STEPS = 20000 };

static uint64_t drawn(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *random;
}

/* Keys that share their low bits, as addresses do; one of them is 0. */
static uint64_t key_of(unsigned i)
{
    return (uint64_t)i << 12;
}

static void numbers_agree_with_an_array(void **state)
{
    struct cts_map map = {0};
    uint64_t expected[KEYS] = {0}, random = 1;
    bool is_known[KEYS] = {false};
    size_t known = 0;
    (void)state;
    assert_null(cts_map_find(&map, 5));
    for (int step = 0; step < STEPS; step++) {
        const uint64_t value = drawn(&random) >> 20;
        const unsigned i = (unsigned)(drawn(&random) >> 33) % KEYS;
        const uint64_t *const found = cts_map_find(&map, key_of(i));
        assert_int_equal(found != NULL, is_known[i]);
        uint64_t *const place = cts_map_at(&map, key_of(i), NULL);
        assert_int_equal(*place, expected[i]);
        known += !is_known[i];
        is_known[i] = true;
        *place = expected[i] = value;
    }
    assert_int_equal(map.count, known);
    struct cts_map_entry *const sorted = cts_map_sorted(&map, NULL);
    for (size_t i = 0; i < map.count; i++) {
        if (i) assert_true(sorted[i - 1].key < sorted[i].key);
        assert_int_equal(sorted[i].value, expected[sorted[i].key >> 12]);
    }
    free(sorted);
    cts_map_release(&map);
}

static void texts_agree_with_an_array(void **state)
{
    struct cts_text_map map = {0};
    static char texts[2][KEYS][16]; /* equal texts at two addresses */
    uint64_t expected[KEYS] = {0}, random = 1;
    (void)state;
    for (unsigned i = 0; i < KEYS; i++)
        for (int copy = 0; copy < 2; copy++)
            if (i) /* the first is empty */
                snprintf(texts[copy][i], sizeof texts[copy][i], "name %u", i / 2 * 16 + i % 2);
    for (int step = 0; step < STEPS; step++) {
        const unsigned i = (unsigned)(drawn(&random) >> 33) % KEYS;
        uint64_t *const place = cts_text_map_at(&map, texts[step % 2][i], NULL);
        assert_int_equal(*place, expected[i]);
        *place = expected[i] = drawn(&random);
    }
    assert_int_equal(map.count, KEYS);
    cts_text_map_release(&map);
}

/* Seals and the regions of recordings hold them. */
static void hashes_stay_what_files_hold(void **state)
{
    (void)state;
    assert_int_equal(cts_hash_bytes(CTS_HASH_START, "a", 1), UINT64_C(0xaf63dc4c8601ec8c));
    assert_int_equal(cts_hash_text(CTS_HASH_START, NULL), UINT64_C(0xaf64724c8602eb6e));
    assert_int_equal(cts_hash_bytes(CTS_HASH_START, "foobar", 6), UINT64_C(0x85944171f73967e8));
    assert_int_equal(cts_hash_draw(0), UINT64_C(0xe220a8397b1dcdaf));
    assert_int_equal(cts_hash(2), UINT64_C(0x3c6ef372fe94f82a));
    assert_int_equal(cts_hash_fold(1, 3), UINT64_C(0x3c6ef372fe94f82a) ^ 0x3c6ef372fe94f82a >> 29);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_agree_with_an_array),
        cmocka_unit_test(texts_agree_with_an_array),
        cmocka_unit_test(hashes_stay_what_files_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
