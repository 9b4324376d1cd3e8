/* Histograms of strides against lists of counts by bin: next, count, merge and clear see the same
 * bins, wherever they lie among the bits that say which are in use. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analyze/communication/strides.h"
#include "random.h"

static uint64_t *expected;

/* Any bin; often one at the edge of a line, of a word of lines, of a word of words. */
static uint32_t any_bin(void)
{
    static const uint32_t steps[] = {8, 512, 32768};
    const uint32_t step = steps[below(3)];
    if (chance(40)) return below(CTS_STRIDE_BINS);
    const uint32_t edge = below(CTS_STRIDE_BINS / step + 1) * step;
    return edge && (edge == CTS_STRIDE_BINS || chance(50)) ? edge - 1 : edge;
}

static void fill(struct cts_strides *strides, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const uint32_t bin = any_bin();
        const uint64_t amount = 1 + below(5);
        assert_int_equal(cts_strides_add_bin(strides, bin, amount, NULL), CTS_OK);
        expected[bin] += amount;
    }
}

static void check(const struct cts_strides *strides)
{
    size_t count = 0;
    uint32_t found = cts_strides_next(strides, 0);
    for (uint32_t bin = 0; bin < CTS_STRIDE_BINS; bin++) {
        if (!expected[bin]) continue;
        assert_int_equal(found, bin);
        assert_int_equal(strides->counts[bin], expected[bin]);
        assert_int_equal(cts_strides_next(strides, bin), bin);
        found = cts_strides_next(strides, bin + 1);
        count++;
    }
    assert_int_equal(found, CTS_STRIDE_BINS);
    assert_int_equal(cts_strides_count(strides), count);
}

static void bins_in_use_are_found(void **state)
{
    struct cts_strides strides = {0}, more = {0};
    (void)state;
    expected = calloc(CTS_STRIDE_BINS, sizeof *expected);
    assert_non_null(expected);
    for (unsigned round = 0; round < 12; round++) {
        random_start(round);
        memset(expected, 0, CTS_STRIDE_BINS * sizeof *expected);
        fill(&strides, round * round);
        check(&strides);
        fill(&more, round * 20);
        assert_int_equal(cts_strides_merge(&strides, &more, NULL), CTS_OK);
        check(&strides);
        cts_strides_clear(&strides);
        cts_strides_clear(&more);
    }
    memset(expected, 0, CTS_STRIDE_BINS * sizeof *expected);
    check(&strides);
    for (uint32_t bin = 0; bin < CTS_STRIDE_BINS; bin++) assert_int_equal(strides.counts[bin], 0);
    cts_strides_release(&strides);
    cts_strides_release(&more);
    free(expected);
}

static void strides_of_any_size_are_counted(void **state)
{
    static const int64_t values[] = {0, -1, 65535, -65535, 65536, -65536, INT64_MAX, INT64_MIN};
    struct cts_strides strides = {0};
    size_t count;
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_int_equal(cts_strides_add(&strides, values[i], i + 1, NULL), CTS_OK);
    struct cts_stride_entry *const entries = cts_strides_sorted(&strides, &count, NULL);
    static const uint64_t in_order[] = {8, 6, 4, 2, 1, 3, 5, 7};
    assert_non_null(entries);
    assert_int_equal(count, sizeof in_order / sizeof *in_order);
    for (size_t i = 0; i < count; i++) assert_int_equal(entries[i].count, in_order[i]);
    assert_int_equal(entries[2].stride, -65535);
    assert_int_equal(entries[6].stride, 65536);
    free(entries);
    cts_strides_release(&strides);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_in_use_are_found),
        cmocka_unit_test(strides_of_any_size_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
