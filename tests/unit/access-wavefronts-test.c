/* What the analysis says that an access of shared memory costs, against what an H200 counted for
 * the same addresses: tests/fixtures/wavefronts.txt, which tests/gpu/wavefronts.cu has made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/access/request.h"

/* Wavefronts of an access of `words` * 4 bytes by the lanes with a cell; -1: without one. */
static unsigned wavefronts_of(const int cells[CTS_WARP_LANES], unsigned words, bool loads)
{
    uint32_t offsets[CTS_WARP_LANES], mask = 0;
    unsigned count = 0;
    for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++) {
        if (cells[lane] < 0) continue;
        mask |= UINT32_C(1) << lane;
        offsets[count++] = (uint32_t)cells[lane] * words * 4;
    }
    const struct cts_access access = {
        .mask = mask, .space = CTS_SPACE_SHARED, .pattern = CTS_PATTERN_LIST, .offsets = offsets};
    return cts_request_cost(&access, words * 4, 4, loads).wavefronts;
}

static void test_counted(void **unused)
{
    (void)unused;
    FILE *const file = fopen(CTS_FIXTURES "/wavefronts.txt", "r");
    char line[1024];
    unsigned patterns = 0, several = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        unsigned words, loads, stores;
        int cells[CTS_WARP_LANES], at;
        if (line[0] == '#') continue;
        assert_int_equal(sscanf(line, "%u %u %u%n", &words, &loads, &stores, &at), 3);
        const char *text = line + at;
        for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++) {
            char *end;
            cells[lane] = (int)strtol(text, &end, 10);
            assert_ptr_not_equal(end, text);
            text = end;
        }
        assert_int_equal(wavefronts_of(cells, words, true), loads);
        assert_int_equal(wavefronts_of(cells, words, false), stores);
        patterns++;
        several += loads != stores;
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(patterns, 450);
    assert_true(several > 50); /* loads of lanes in pairs */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
