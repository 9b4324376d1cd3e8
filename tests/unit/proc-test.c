/* Small files of the operating system as one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/proc.h"

static void check(const char *bytes, size_t byte_count, size_t room, const char *expected)
{
    char path[] = "/tmp/ctascope-proc-XXXXXX", text[32];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, byte_count), byte_count);
    close(file);
    cts_proc_text(path, text, room);
    unlink(path);
    assert_string_equal(text, expected);
}

static void test_texts_become_one_line(void **state)
{
    (void)state;
    check("a\0bc\0", 5, 32, "a bc"); /* as arguments are */
    check("id\n", 3, 32, "id");
    check("", 0, 32, "");
    check("abcdef\0", 7, 4, "abc");
    check("a\0b\0", 4, 4, "a b");
}

static void test_what_cannot_be_read_is_empty(void **state)
{
    (void)state;
    char text[8] = "before";
    cts_proc_text("/tmp/ctascope-no-such-file", text, sizeof text);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_become_one_line),
        cmocka_unit_test(test_what_cannot_be_read_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
