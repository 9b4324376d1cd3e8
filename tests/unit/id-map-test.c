/* The map of the GPU recorder against an array. */
#include "record/inject/id-map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 500, STEPS = 20000 };

/* Keys that share their low bits, as addresses do. */
static uint64_t key_of(unsigned i)
{
    return ((uint64_t)i + 1) << 12;
}

static void agrees_with_an_array(void **state)
{
    struct cts_id_map map = {0};
    uint64_t expected[KEYS] = {0};
    uint64_t random = 1;
    (void)state;
    for (int step = 0; step < STEPS; step++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        const unsigned i = (unsigned)(random >> 33) % KEYS;
        const uint64_t value = step % 5 == 0 ? 0 : random >> 20; /* 0: forgotten */
        assert_int_equal(cts_id_map_get(&map, key_of(i)), expected[i]);
        assert_true(cts_id_map_set(&map, key_of(i), value));
        expected[i] = value;
        if (step % 1000 == 0)
            for (unsigned k = 0; k < KEYS; k++)
                assert_int_equal(cts_id_map_get(&map, key_of(k)), expected[k]);
    }
    assert_true(map.count <= KEYS && map.count * 2 <= map.capacity);
    free(map.entries);
}

static void has_nothing_at_first_and_no_key_0(void **state)
{
    struct cts_id_map map = {0};
    (void)state;
    assert_int_equal(cts_id_map_get(&map, 5), 0);
    assert_false(cts_id_map_set(&map, 0, 1));
    assert_int_equal(cts_id_map_get(&map, 0), 0);
    assert_int_equal(map.capacity, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_an_array),
        cmocka_unit_test(has_nothing_at_first_and_no_key_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
