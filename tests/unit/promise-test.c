/* Builds with tests check what comments promise: a broken promise ends the program and names it. */
#include "common/promise.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/interval.h"
#include "common/buffer.h"

static void append_itself(void)
{
    struct cts_buffer buffer = {0};
    struct cts_error error;
    if (cts_buffer_append(&buffer, "four", 4, &error)) return;
    (void)!cts_buffer_append(&buffer, buffer.data, 4, &error);
}

static void unite_unsorted(void)
{
    struct cts_interval disordered[] = {{20, 30}, {0, 10}};
    const struct cts_intervals set = {disordered, 2, 2}, none = {0};
    struct cts_intervals result = {0};
    struct cts_error error;
    (void)!cts_intervals_unite(&set, &none, &result, &error);
}

static void leave_a_lock_open(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    CTS_ASSERT_HELD(&lock);
}

static void keep_promises(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const int ascending[] = {1, 2, 2, 5};
    pthread_mutex_lock(&lock);
    CTS_ASSERT_HELD(&lock);
    pthread_mutex_unlock(&lock);
    CTS_ASSERT_EACH(i, 4, ascending[i] > 0);
    CTS_ASSERT_ORDER(i, 4, ascending[i - 1] <= ascending[i]);
    const size_t none = (size_t)ascending[0] - 1, one = 1;
    CTS_ASSERT_EACH(i, none, false);
    CTS_ASSERT_ORDER(i, one, false);
    assert(cts_is_power_of_two(64) && !cts_is_power_of_two(0) && !cts_is_power_of_two(12));
}

/* The signal that ends a process in which `act` runs; 0: none does. */
static int signal_of(void (*act)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        act();
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void broken_promises_end_the_program(void **state)
{
    (void)state;
    assert_int_equal(signal_of(append_itself), SIGABRT);
    assert_int_equal(signal_of(unite_unsorted), SIGABRT);
    assert_int_equal(signal_of(leave_a_lock_open), SIGABRT);
}

static void kept_promises_do_not(void **state)
{
    (void)state;
    assert_int_equal(signal_of(keep_promises), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(broken_promises_end_the_program),
                                       cmocka_unit_test(kept_promises_do_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
