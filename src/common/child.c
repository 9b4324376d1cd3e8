#include "common/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads until the other end closes or time is up; keeps what fits. */
static int drain(int from, int64_t until_ms, char *output, size_t output_bytes)
{
    size_t length = 0;
    char spill[4096];
    for (;;) {
        const int64_t left_ms = until_ms - now_ms();
        struct pollfd waiting = {.fd = from, .events = POLLIN};
        const int ready = left_ms > 0 ? poll(&waiting, 1, (int)left_ms) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) break;
        const size_t room = output_bytes - 1 - length;
        const ssize_t got = read(from, room ? output + length : spill, room ? room : sizeof spill);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            output[length] = 0;
            return 0;
        }
        if (room) length += (size_t)got;
    }
    output[length] = 0;
    return 1;
}

static int start(const char *const argv[], int output, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, output, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP); /* to kill what it starts too */
    posix_spawnattr_setpgroup(&attributes, 0);
    const int errnum =
        posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv,
                     environ); /* it does not write there */
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return errnum;
}

void cts_child_run(const char *const argv[], unsigned timeout_s, struct cts_child_result *result)
{
    int ends[2];
    pid_t pid;
    *result = (struct cts_child_result){.status = 127};
    if (pipe2(ends, O_CLOEXEC)) return;
    const int errnum = start(argv, ends[1], &pid);
    close(ends[1]);
    if (!errnum) {
        result->timed_out =
            drain(ends[0], now_ms() + timeout_s * 1000, result->output, sizeof result->output);
        if (result->timed_out) kill(-pid, SIGKILL);
        int status = 0;
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
        result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    close(ends[0]);
}
