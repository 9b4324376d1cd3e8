/* The thread of private files: what it has opened is its own, and closed when end() returns. */
#include "common/private-files.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

#include "count.h"

enum {
    OTHER_FILES = 400
}; /* which an ending thread closes before the lock's, if it does it late */

struct task {
    char path[32];
    bool is_private, is_locked;
};

static void leave_locked(void *argument)
{
    struct task *const task = argument;
    task->is_private = cts_private_files_are_private();
    for (int i = 0; i < OTHER_FILES; i++) (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int fd = open(task->path, O_RDONLY | O_CLOEXEC);
    task->is_locked = fd >= 0 && flock(fd, LOCK_SH) == 0;
}

/* A run that is recorded a second time at once must not seem to be still recorded. */
static void test_no_lock_outlives_the_end(void **state)
{
    (void)state;
    struct task task = {.path = "/tmp/ctascope-private-XXXXXX"};
    const int fd = mkstemp(task.path);
    assert_true(fd >= 0);
    const unsigned count = cts_test_count(200, 2000);
    for (unsigned i = 0; i < count; i++) {
        cts_private_files_begin();
        cts_private_files_do(leave_locked, &task);
        assert_true(task.is_private && task.is_locked);
        assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
        cts_private_files_end();
        assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
        assert_int_equal(flock(fd, LOCK_UN), 0);
    }
    close(fd);
    unlink(task.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_lock_outlives_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
