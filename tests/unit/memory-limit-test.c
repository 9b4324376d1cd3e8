/* The limit of a process's memory: blocks that do not fit lie in the arena and keep their contents,
 * what is resident stays below the limit, and what cannot be helped fails with the limit that it
 * would take. There is one limit in a process: the tests run in this order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "common/memory-limit.h"
#include "common/wrap/memory-wrap.h"

enum { BLOCKS = 300, WORDS = 1 << 17, MIB = 1 << 20 };
#define LIMIT_BYTES ((uint64_t)96 * MIB)

static uint64_t most_resident(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static void a_limit_below_what_is_held_is_refused(void **state)
{
    (void)state;
    struct cts_error error;
    const struct cts_memory_options little = {.plain = &cts_memory_plain, .limit_bytes = MIB};
    assert_int_equal(cts_memory_limit_begin(&little, &error), CTS_LIMIT);
    assert_non_null(strstr(error.text, "at least "));
    assert_int_equal(cts_memory_limit_bytes(), 0);
}

static void blocks_keep_their_contents_and_leave_the_process(void **state)
{
    (void)state;
    struct cts_error error;
    const struct cts_memory_options options = {
        .plain = &cts_memory_plain, .limit_bytes = LIMIT_BYTES, .watches = true};
    uint64_t **const blocks = calloc(BLOCKS, sizeof *blocks), peak;
    assert_int_equal(cts_memory_limit_begin(&options, &error), CTS_OK);
    for (unsigned i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(WORDS * sizeof **blocks);
        assert_non_null(blocks[i]);
        for (unsigned k = 0; k < WORDS; k++) blocks[i][k] = (uint64_t)i << 32 | k;
        cts_memory_poll();
    }
    assert_true(cts_memory_arena_bytes(&peak) > LIMIT_BYTES);
    for (unsigned i = 0; i < BLOCKS; i++) {
        for (unsigned k = 0; k < WORDS; k++)
            if (blocks[i][k] != ((uint64_t)i << 32 | k)) fail_msg("block %u, word %u", i, k);
        cts_memory_poll();
    }
    for (unsigned i = 0; i < BLOCKS; i++) free(blocks[i]);
    assert_int_equal(cts_memory_arena_bytes(&peak), 0);
    assert_true(peak > LIMIT_BYTES);
    free(blocks);
    assert_true(most_resident() <= LIMIT_BYTES);
}

static void a_block_grows_from_small_to_more_than_the_limit(void **state)
{
    (void)state;
    uint32_t *numbers = NULL;
    size_t count = 0, capacity = 0;
    while (count < 3 * LIMIT_BYTES / sizeof *numbers) {
        if (count == capacity) {
            capacity = capacity ? 2 * capacity : 16;
            numbers = realloc(numbers, capacity * sizeof *numbers);
            assert_non_null(numbers);
        }
        numbers[count] = (uint32_t)count;
        if (++count % 65536 == 0) cts_memory_poll();
    }
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] != i) fail_msg("number %zu", i);
        if (i % 65536 == 0) cts_memory_poll();
    }
    numbers = realloc(numbers, 1000);
    assert_non_null(numbers);
    assert_int_equal(numbers[249], 249);
    free(numbers);
    assert_true(most_resident() <= LIMIT_BYTES);
}

/* What was used before is zero again. */
static void new_blocks_are_zero(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        char *const block = calloc(2, LIMIT_BYTES / 2);
        assert_non_null(block);
        for (size_t i = 0; i < LIMIT_BYTES; i += 4096) {
            assert_int_equal(block[i], 0);
            block[i] = 1;
            if (i % MIB == 0) cts_memory_poll();
        }
        free(block);
    }
    assert_true(most_resident() <= LIMIT_BYTES);
}

/* Blocks too small for the arena. */
static void what_cannot_leave_fails_with_the_limit_it_would_take(void **state)
{
    (void)state;
    enum { SMALL = 100000, MOST = 4000 };
    static void *blocks[MOST];
    unsigned count = 0;
    assert_int_equal(cts_memory_limit_needed(), 0);
    while (count < MOST && (blocks[count] = malloc(SMALL)) != NULL) {
        memset(blocks[count++], 1, SMALL);
        cts_memory_look();
    }
    assert_true(count < MOST && (uint64_t)count * SMALL > LIMIT_BYTES / 2);
    assert_true(cts_memory_limit_needed() > LIMIT_BYTES);
    for (unsigned i = 0; i < count; i++) free(blocks[i]);
    void *const again = malloc(SMALL);
    assert_non_null(again);
    free(again);
    assert_true(most_resident() <= LIMIT_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_below_what_is_held_is_refused),
        cmocka_unit_test(blocks_keep_their_contents_and_leave_the_process),
        cmocka_unit_test(a_block_grows_from_small_to_more_than_the_limit),
        cmocka_unit_test(new_blocks_are_zero),
        cmocka_unit_test(what_cannot_leave_fails_with_the_limit_it_would_take)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
