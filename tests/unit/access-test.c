/* Texts and addresses of records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/access.h"

static void test_texts(void **state)
{
    (void)state;
    assert_string_equal(cts_operation_text(CTS_LOAD), "load");
    assert_string_equal(cts_operation_text(CTS_ATOMIC_CAS), "atomic cas");
    assert_string_equal(cts_operation_text(CTS_OPERATION_LAST), "atomic");
    assert_string_equal(cts_operation_text(0), "?");
    assert_string_equal(cts_operation_text(CTS_OPERATION_LAST + 1), "?");
    assert_string_equal(cts_operation_text(UINT32_MAX), "?");
    assert_string_equal(cts_space_text(CTS_SPACE_GENERIC), "generic");
    assert_string_equal(cts_space_text(CTS_SPACE_LOCAL), "local");
    assert_string_equal(cts_space_text(2), "?");
    assert_string_equal(cts_space_text(CTS_SPACE_BARRIER), "barrier");
    assert_string_equal(cts_space_text(CTS_SPACE_BARRIER + 1), "?");
    assert_string_equal(cts_operation_text(CTS_BARRIER_FIRST - 1), "?");
    assert_string_equal(cts_operation_text(CTS_BARRIER_WARP_SYNC), "warp barrier");
    assert_string_equal(cts_operation_text(CTS_BARRIER_LAST + 1), "?");
}

/* Inactive lanes keep what stood there. */
static void check(const struct cts_access *access, const uint64_t expected[CTS_WARP_LANES])
{
    uint64_t addresses[CTS_WARP_LANES];
    for (unsigned l = 0; l < CTS_WARP_LANES; l++) addresses[l] = 1234567890123;
    cts_access_addresses(access, addresses);
    for (unsigned l = 0; l < CTS_WARP_LANES; l++)
        assert_int_equal(addresses[l], access->mask >> l & 1 ? expected[l] : 1234567890123);
}

static void test_addresses_of_each_pattern(void **state)
{
    (void)state;
    const uint32_t masks[] = {UINT32_MAX, 0x80000001u, 0x00ff00f0u, 1u << 17};
    uint32_t offsets[CTS_WARP_LANES];
    for (unsigned l = 0; l < CTS_WARP_LANES; l++) offsets[l] = l * l + (l == 31 ? 0xfffff000u : 0);
    for (unsigned m = 0; m < sizeof masks / sizeof *masks; m++) {
        uint64_t expected[CTS_WARP_LANES];
        struct cts_access access = {.mask = masks[m], .pattern = CTS_PATTERN_UNIFORM, .base = 77};
        for (unsigned l = 0; l < CTS_WARP_LANES; l++) expected[l] = 77;
        check(&access, expected);

        access.pattern = CTS_PATTERN_AFFINE;
        access.s0 = -2000000000;
        for (int64_t l = 0; l < CTS_WARP_LANES; l++) expected[l] = (uint64_t)(77 - l * 2000000000);
        check(&access, expected);

        access.pattern = CTS_PATTERN_TWO_LEVEL;
        access.row_lanes = 12;
        access.s0 = 4;
        access.s1 = -2147483647 - 1;
        for (int64_t l = 0; l < CTS_WARP_LANES; l++)
            expected[l] = (uint64_t)(77 + l % 12 * 4 - l / 12 * 2147483648);
        check(&access, expected);

        access.pattern = CTS_PATTERN_LIST;
        access.offsets = offsets;
        for (unsigned l = 0, nth = 0; l < CTS_WARP_LANES; l++)
            if (masks[m] >> l & 1) expected[l] = 77 + (uint64_t)offsets[nth++];
        check(&access, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_addresses_of_each_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
