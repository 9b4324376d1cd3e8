/* Radix sort against an insertion sort: the same order, items with one key in their old one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/radix.h"

struct item {
    uint64_t key;
    uint32_t before;
};

#define KEY_OF(item) ((item)->key)
CTS_RADIX_SORT(sort_by_8, struct item, KEY_OF, 8)
CTS_RADIX_SORT(sort_by_11, struct item, KEY_OF, 11)

enum { MOST = 300 };

static uint64_t random_u64(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 31;
}

/* Keys that have only bits of `mask`. */
static void check(size_t count, uint64_t mask, uint64_t seed)
{
    struct item items[2][MOST], spare[2][MOST], expected[MOST];
    for (size_t i = 0; i < count; i++) {
        const struct item item = {random_u64(&seed) & mask, (uint32_t)i};
        items[0][i] = items[1][i] = item;
        size_t k = i;
        for (; k > 0 && expected[k - 1].key > item.key; k--) expected[k] = expected[k - 1];
        expected[k] = item;
    }
    const struct item *const sorted[] = {sort_by_8(items[0], spare[0], count),
                                         sort_by_11(items[1], spare[1], count)};
    for (size_t i = 0; i < count; i++)
        for (int s = 0; s < 2; s++) {
            assert_int_equal(sorted[s][i].key, expected[i].key);
            assert_int_equal(sorted[s][i].before, expected[i].before);
        }
}

static void sorts_any_keys(void **state)
{
    (void)state;
    static const uint64_t masks[] = {0,          1,           0xff,       0x700,
                                     0xff00ff00, 1ull << 63,  0xfffff000, 0x8000000000000001,
                                     UINT64_MAX, 0x3ull << 32};
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
        for (size_t count = 0; count <= MOST; count += count < 2 * CTS_RADIX_FEW ? 1 : 73)
            check(count, masks[m], count * 31 + m);
}

/* Few items are sorted where they are, so that callers need no room. */
static void few_need_no_room(void **state)
{
    struct item items[CTS_RADIX_FEW];
    (void)state;
    for (uint32_t i = 0; i < CTS_RADIX_FEW; i++) items[i] = (struct item){CTS_RADIX_FEW - i, i};
    assert_ptr_equal(sort_by_8(items, NULL, CTS_RADIX_FEW), items);
    for (uint32_t i = 0; i < CTS_RADIX_FEW; i++) assert_int_equal(items[i].key, i + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_any_keys),
        cmocka_unit_test(few_need_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
