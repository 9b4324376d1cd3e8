/* The limit of a process's memory: blocks that do not fit lie in the arena and keep their contents,
 * what is resident stays below the limit, and what cannot be helped fails with the limit that it
 * would take. There is one limit in a process: the tests run in this order. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/memory-limit.h"
#include "common/wrap/memory-wrap.h"

enum { BLOCKS = 160, WORDS = 1 << 17, MIB = 1 << 20, LIMIT_MIB = 64, TOUCHES = 5000 };
#define LIMIT_BYTES ((uint64_t)LIMIT_MIB * MIB)

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
    }
    assert_true(cts_memory_arena_bytes(&peak) > LIMIT_BYTES);
    for (unsigned i = 0; i < BLOCKS; i++) {
        for (unsigned k = 0; k < WORDS; k++)
            if (blocks[i][k] != ((uint64_t)i << 32 | k)) fail_msg("block %u, word %u", i, k);
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
    while (count < 3 * LIMIT_BYTES / 2 / sizeof *numbers) {
        if (count == capacity) {
            capacity = capacity ? 2 * capacity : 16;
            numbers = realloc(numbers, capacity * sizeof *numbers);
            assert_non_null(numbers);
        }
        numbers[count] = (uint32_t)count;
        count++;
    }
    for (size_t i = 0; i < count; i++)
        if (numbers[i] != i) fail_msg("number %zu", i);
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
    for (unsigned round = 0; round < 2; round++) {
        char *const block = calloc(2, LIMIT_BYTES / 2);
        assert_non_null(block);
        for (size_t i = 0; i < LIMIT_BYTES; i += 4096) {
            assert_int_equal(block[i], 0);
            block[i] = 1;
        }
        free(block);
    }
    assert_true(most_resident() <= LIMIT_BYTES);
}

/* Blocks that nobody touches fill what is outside the arena. */
static void *ballast[LIMIT_MIB];

static void fill_outside(void)
{
    for (unsigned i = 0; i < LIMIT_MIB && !ballast[i]; i++) {
        void *const block = malloc(MIB);
        if (cts_memory_is_in_arena(block)) {
            free(block);
            return;
        }
        ballast[i] = block;
    }
}

static void empty_outside(void)
{
    for (unsigned i = 0; i < LIMIT_MIB; i++) free(ballast[i]);
    memset(ballast, 0, sizeof ballast);
}

/* A block in the arena, filled with words, all of whose windows are closed: another block of the
 * arena was touched since that has more of them than may be open. */
static uint32_t *closed_block(size_t word_count)
{
    fill_outside();
    uint32_t *const words = calloc(word_count, sizeof *words);
    char *const other = calloc(1, LIMIT_BYTES);
    assert_true(words && other && cts_memory_is_in_arena(words) && cts_memory_is_in_arena(other));
    for (size_t i = 0; i < word_count; i++) words[i] = (uint32_t)i * 2654435761u;
    for (size_t i = 0; i < LIMIT_BYTES; i += 1 << 16) other[i] = 1;
    free(other);
    return words;
}

/* The kernel refuses a buffer in a closed window. */
static void files_are_written_from_the_arena_and_read_into_it(void **state)
{
    (void)state;
    enum { COUNT = 16 * MIB / sizeof(uint32_t) };
    FILE *const file = tmpfile();
    assert_non_null(file);
    uint32_t *words = closed_block(COUNT);
    assert_int_equal(fwrite(words, sizeof *words, COUNT, file), COUNT);
    assert_int_equal(fflush(file), 0);
    free(words);
    for (unsigned way = 0; way < 3; way++) {
        char *const bytes = (char *)closed_block(COUNT);
        ssize_t got = 1;
        rewind(file);
        assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
        for (size_t done = 0; done < COUNT * sizeof *words; done += (size_t)got) {
            const size_t left = COUNT * sizeof *words - done;
            got = way == 0   ? (ssize_t)fread(bytes + done, 1, left, file)
                  : way == 1 ? read(fileno(file), bytes + done, left)
                             : pread(fileno(file), bytes + done, left, (off_t)done);
            assert_true(got > 0);
        }
        words = (uint32_t *)(void *)bytes;
        for (uint32_t i = 0; i < COUNT; i++)
            if (words[i] != i * 2654435761u) fail_msg("way %u, word %u", way, i);
        free(words);
    }
    words = closed_block(COUNT);
    assert_true(pwrite(fileno(file), words, MIB, 0) > 0);
    assert_true(write(fileno(file), words, MIB) > 0);
    free(words);
    fclose(file);
    assert_true(most_resident() <= LIMIT_BYTES);
}

/* Texts longer than a stream's buffer, which the C library writes from where they lie. */
static void texts_are_printed_from_the_arena(void **state)
{
    (void)state;
    enum { LENGTH = 3 * MIB };
    FILE *const file = tmpfile();
    char *const text = (char *)closed_block(LENGTH / sizeof(uint32_t) + 1);
    char *const read_back = malloc(LENGTH);
    assert_true(file && read_back && cts_memory_is_in_arena(text));
    memset(text, 'x', LENGTH);
    text[LENGTH] = 0;
    for (unsigned way = 0; way < 3; way++) {
        char *const other = (char *)closed_block(8 * MIB / sizeof(uint32_t));
        free(other); /* the text is in closed windows again */
        rewind(file);
        if (way == 0) assert_int_equal(fprintf(file, "%s%d", text, 42), LENGTH + 2);
        if (way == 1) assert_int_equal(fprintf(file, "%.*s", LENGTH, text), LENGTH);
        if (way == 2) assert_true(fputs(text, file) >= 0);
        assert_int_equal(fflush(file), 0);
        rewind(file);
        memset(read_back, 0, LENGTH);
        assert_int_equal(fread(read_back, 1, LENGTH, file), LENGTH);
        for (size_t i = 0; i < LENGTH; i++)
            if (read_back[i] != 'x') fail_msg("way %u, byte %zu", way, i);
    }
    free(read_back);
    free(text);
    fclose(file);
}

/* A library's calls are not ours: it cannot read a closed window, but one that is held. */
static void what_is_held_can_be_given_to_the_kernel(void **state)
{
    (void)state;
    enum { COUNT = 4 * MIB / sizeof(uint32_t) };
    FILE *const file = tmpfile();
    uint32_t *const words = closed_block(COUNT);
    assert_non_null(file);
    assert_int_equal(syscall(SYS_write, fileno(file), words, 4 * MIB), -1);
    assert_int_equal(errno, EFAULT);
    assert_true(cts_memory_hold(words, 4 * MIB));
    assert_int_equal(syscall(SYS_write, fileno(file), words, 4 * MIB), 4 * MIB);
    assert_int_equal(syscall(SYS_pread64, fileno(file), words, 4 * MIB, 0), 4 * MIB);
    cts_memory_let_go();
    for (uint32_t i = 0; i < COUNT; i++)
        if (words[i] != i * 2654435761u) fail_msg("word %u", i);
    assert_false(cts_memory_hold(&words, sizeof words));
    free(words);
    fclose(file);
    assert_true(most_resident() <= LIMIT_BYTES);
}

/* What a child of ours does, which must end it as if there were no arena. */
static void write_where_nothing_is(char *freed)
{
    (void)freed;
    volatile uintptr_t nowhere = 64; /* not for the compiler to see */
    *(volatile char *)nowhere = 1;
}

static void write_what_was_freed(char *freed)
{
    *(volatile char *)freed = 1;
}

static void jump_into_the_arena(char *freed)
{
    char *const block = calloc(1, 4 * MIB);
    void (*code)(void);
    (void)freed;
    assert_true(cts_memory_is_in_arena(block));
    memcpy(&code, &block, sizeof code);
    code();
}

static void be_sent_one(char *freed)
{
    (void)freed;
    kill(getpid(), SIGSEGV);
}

static void a_crash_is_a_crash(void **state)
{
    (void)state;
    void (*const crashes[])(char *) = {write_where_nothing_is, write_what_was_freed,
                                       jump_into_the_arena, be_sent_one};
    char *const block = (char *)closed_block(4 * MIB);
    const volatile uintptr_t freed = (uintptr_t)block;
    free(block);
    for (unsigned i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0) {
            const struct rlimit no_core = {0, 0};
            setrlimit(RLIMIT_CORE, &no_core);
            signal(SIGSEGV, SIG_DFL); /* cmocka's handler goes */
            free(closed_block(MIB));  /* and ours comes */
            alarm(60);
            crashes[i]((char *)freed);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
            fail_msg("crash %u: status %x", i, (unsigned)status);
    }
}

static int by_high_bits(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a >> 20, y = *(const uint32_t *)b >> 20;
    return (x > y) - (x < y);
}

/* With a copy that counts; equal elements keep their order, as the C library's qsort() has it. */
static void arrays_are_sorted_within_the_limit(void **state)
{
    (void)state;
    enum { COUNT = 18 * MIB / sizeof(uint32_t) + 5 };
    uint32_t *const words = closed_block(COUNT);
    for (uint32_t i = 0; i < COUNT; i++) words[i] = (words[i] & 0xfff00000) | (i & 0xfffff);
    qsort(words, COUNT, sizeof *words, by_high_bits);
    for (uint32_t i = 1; i < COUNT; i++) /* indices wrap round at 2^20 */
        if (by_high_bits(&words[i - 1], &words[i]) > 0) fail_msg("word %u", i);
    uint64_t falls = 0;
    for (uint32_t i = 1; i < COUNT; i++)
        falls += !by_high_bits(&words[i - 1], &words[i]) &&
                 (words[i] & 0xfffff) < (words[i - 1] & 0xfffff);
    assert_true(falls <= (uint64_t)4096 * (COUNT >> 20));
    free(words);
    assert_true(most_resident() <= LIMIT_BYTES);
}

static void *touch_anywhere(void *argument)
{
    struct {
        unsigned char *bytes;
        uint64_t seed;
    } *const own = argument;
    for (unsigned i = 0; i < TOUCHES; i++) {
        own->seed = own->seed * 6364136223846793005u + 1442695040888963407u;
        __atomic_fetch_add(&own->bytes[(own->seed >> 20) % LIMIT_BYTES], 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* No update is lost while others close what one has opened. */
static void threads_update_the_arena_anywhere(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct {
        unsigned char *bytes;
        uint64_t seed;
    } own[THREADS];
    unsigned char *const bytes = calloc(1, LIMIT_BYTES);
    assert_non_null(bytes);
    for (unsigned i = 0; i < THREADS; i++) {
        own[i].bytes = bytes;
        own[i].seed = i + 1;
        assert_int_equal(pthread_create(&threads[i], NULL, touch_anywhere, &own[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    uint64_t sum = 0;
    for (size_t i = 0; i < LIMIT_BYTES; i++) sum += bytes[i];
    assert_int_equal(sum, THREADS * TOUCHES);
    free(bytes);
    assert_true(most_resident() <= LIMIT_BYTES);
}

/* Blocks too small for the arena. */
static void what_cannot_leave_fails_with_the_limit_it_would_take(void **state)
{
    (void)state;
    enum { SMALL = 100000, MOST = 4000 };
    static void *blocks[MOST];
    unsigned count = 0;
    empty_outside();
    assert_int_equal(cts_memory_limit_needed(), 0);
    while (count < MOST && (blocks[count] = malloc(SMALL)) != NULL)
        memset(blocks[count++], 1, SMALL);
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
        cmocka_unit_test(files_are_written_from_the_arena_and_read_into_it),
        cmocka_unit_test(texts_are_printed_from_the_arena),
        cmocka_unit_test(what_is_held_can_be_given_to_the_kernel),
        cmocka_unit_test(a_crash_is_a_crash),
        cmocka_unit_test(arrays_are_sorted_within_the_limit),
        cmocka_unit_test(threads_update_the_arena_anywhere),
        cmocka_unit_test(what_cannot_leave_fails_with_the_limit_it_would_take)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
