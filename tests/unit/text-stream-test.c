/* Text that is printed into memory: whole, or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/text-stream.h"

static void test_text_is_whole(void **state)
{
    (void)state;
    struct cts_text_stream stream;
    size_t byte_count = 0;
    FILE *const file = cts_text_stream_open(&stream);
    assert_non_null(file);
    for (int i = 0; i < 100000; i++) fprintf(file, "%06d\n", i);
    assert_int_equal(cts_text_stream_bytes(&stream), 700000);
    fputc('x', file);
    char *const text = cts_text_stream_close(&stream, &byte_count);
    assert_non_null(text);
    assert_int_equal(byte_count, 700001);
    assert_int_equal(strlen(text), 700001);
    for (int i = 0; i < 100000; i++) assert_int_equal(strtol(text + 7 * i, NULL, 10), i);
    free(text);
}

static void test_nothing_printed_is_an_empty_text(void **state)
{
    (void)state;
    struct cts_text_stream stream;
    assert_non_null(cts_text_stream_open(&stream));
    char *const text = cts_text_stream_close(&stream, NULL);
    assert_non_null(text);
    assert_int_equal(text[0], 0);
    free(text);
}

/* What no memory was left for is not passed over, though there is memory again behind it. */
static void test_no_memory_is_no_text(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__has_feature)
    skip(); /* a sanitizer needs more addresses than any limit leaves it */
#endif
    enum { LINE_BYTES = 1 << 20, LINES = 64 };
    const pid_t child = fork();
    if (!child) {
        struct cts_text_stream stream;
        struct rlimit little, all;
        char *const line = malloc(LINE_BYTES);
        FILE *const file = cts_text_stream_open(&stream);
        if (!file || !line || getrlimit(RLIMIT_AS, &all)) _exit(2);
        memset(line, 'x', LINE_BYTES);
        little = (struct rlimit){.rlim_cur = (rlim_t)LINE_BYTES * 32, .rlim_max = all.rlim_max};
        if (setrlimit(RLIMIT_AS, &little)) _exit(3);
        for (int i = 0; i < LINES; i++) (void)!fwrite(line, 1, LINE_BYTES, file);
        if (setrlimit(RLIMIT_AS, &all)) _exit(4);
        fputs("end", file);
        char *const text = cts_text_stream_close(&stream, NULL);
        _exit(text ? 1 : 0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_whole),
        cmocka_unit_test(test_nothing_printed_is_an_empty_text),
        cmocka_unit_test(test_no_memory_is_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
