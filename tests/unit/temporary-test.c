/* Temporary files without a name, and their memory. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/temporary.h"

enum { PAGE_BYTES = 1 << 16 };

static void test_files_have_no_name_and_map_as_zeros(void **state)
{
    (void)state;
    struct cts_error error = {0};
    struct stat facts;
    const int file = cts_temporary_file(&error);
    assert_true(file >= 0);
    assert_int_equal(fstat(file, &facts), 0);
    assert_int_equal(facts.st_nlink, 0);
    uint64_t *const first = cts_temporary_map(file, 0, PAGE_BYTES, &error);
    uint64_t *const second = cts_temporary_map(file, PAGE_BYTES, PAGE_BYTES, &error);
    assert_non_null(first);
    assert_non_null(second);
    assert_int_equal(second[PAGE_BYTES / 8 - 1], 0);
    second[0] = 7;
    uint64_t *const both = cts_temporary_map(file, 0, 2 * PAGE_BYTES, &error);
    assert_non_null(both);
    assert_int_equal(both[0], 0);
    assert_int_equal(both[PAGE_BYTES / 8], 7);
    munmap(first, PAGE_BYTES);
    munmap(second, PAGE_BYTES);
    munmap(both, 2 * PAGE_BYTES);
    close(file);
}

static void test_the_directory_is_wanted(void **state)
{
    (void)state;
    struct cts_error error = {0};
    setenv("TMPDIR", "", 1);
    assert_string_equal(cts_temporary_directory(), "/tmp");
    setenv("TMPDIR", "/no/such/directory", 1);
    assert_int_equal(cts_temporary_file(&error), -1);
    assert_int_equal(error.status, CTS_IO);
    assert_non_null(strstr(error.text, "cannot make a temporary file in '/no/such/directory': No"));
    unsetenv("TMPDIR");
    assert_string_equal(cts_temporary_directory(), "/tmp");
}

/* In a child, whose files may have one page. */
static int claim_too_much(void)
{
    struct cts_error error = {0};
    const struct rlimit limit = {PAGE_BYTES, PAGE_BYTES};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit)) return 1;
    const int file = cts_temporary_file(&error);
    if (file < 0 || !cts_temporary_map(file, 0, PAGE_BYTES, &error)) return 2;
    if (cts_temporary_map(file, PAGE_BYTES, PAGE_BYTES, &error)) return 3;
    return error.status == CTS_IO && strstr(error.text, "cannot claim 65536 bytes") ? 0 : 4;
}

static void test_a_full_disk_is_an_error(void **state)
{
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(claim_too_much());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_have_no_name_and_map_as_zeros),
        cmocka_unit_test(test_the_directory_is_wanted),
        cmocka_unit_test(test_a_full_disk_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
