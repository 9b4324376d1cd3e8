/* run/.recording: a line each for session, process id, command. */
#include "trace/run-lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/own-rights.h"
#include "trace/journal.h"

enum { LINE_BYTES = 400, TEXT_BYTES = 1200 };

struct holder {
    char session[LINE_BYTES], pid[32], command[LINE_BYTES];
};

static bool lock_path(const char *run_path, char *path, size_t path_bytes)
{
    const int length = snprintf(path, path_bytes, "%s/.recording", run_path);
    return length > 0 && (size_t)length < path_bytes;
}

int cts_run_hold(const char *run_path, const char *session, const char *command)
{
    char path[PATH_MAX], text[TEXT_BYTES];
    struct stat info;
    if (!lock_path(run_path, path, sizeof path)) return -1;
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0) return -1;
    cts_keep_own_rights(file);
    flock(file, LOCK_SH);
    if (fstat(file, &info) == 0 && info.st_size == 0) { /* the first of a session */
        const int length = snprintf(text, sizeof text, "%.*s\n%d\n%.*s\n", LINE_BYTES - 1, session,
                                    getpid(), LINE_BYTES - 1, command);
        (void)!pwrite(file, text, (size_t)length, 0);
    }
    return file;
}

bool cts_run_let_go(const char *run_path, int held)
{
    char path[PATH_MAX];
    if (held < 0) return true; /* where files cannot be locked each one is the last */
    const bool last = flock(held, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (last && lock_path(run_path, path, sizeof path)) unlink(path);
    close(held);
    return last;
}

static void take_line(char **at, char *line, size_t line_bytes)
{
    const size_t length = strcspn(*at, "\n");
    snprintf(line, line_bytes, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == '\n');
}

/* What the file says; `held`: whether somebody holds it now. */
static bool read_holder(const char *run_path, struct holder *holder, bool *held)
{
    char path[PATH_MAX], text[TEXT_BYTES];
    if (!lock_path(run_path, path, sizeof path)) return false;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return false;
    const ssize_t length = read(file, text, sizeof text - 1);
    *held = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(file);
    text[length > 0 ? length : 0] = 0;
    char *at = text;
    take_line(&at, holder->session, sizeof holder->session);
    take_line(&at, holder->pid, sizeof holder->pid);
    take_line(&at, holder->command, sizeof holder->command);
    return true;
}

bool cts_run_is_held(const char *run_path)
{
    struct holder holder;
    bool held = false;
    return read_holder(run_path, &holder, &held) && held;
}

enum cts_status cts_run_check_free(const char *run_path, struct cts_error *error)
{
    struct holder holder = {0};
    bool held = false;
    int64_t pid = 0;
    if (read_holder(run_path, &holder, &held) && held)
        return cts_fail(error, CTS_USAGE, "'%s' is being recorded by process %s ('%s')", run_path,
                        holder.pid, holder.command);
    if (cts_journals_are_live(run_path, &pid))
        return cts_fail(error, CTS_USAGE, "'%s' is being recorded: process %lld still writes to it",
                        run_path, (long long)pid);
    return CTS_OK;
}

bool cts_run_session(const char *run_path, char *session, size_t session_bytes)
{
    struct holder holder;
    bool held;
    if (!read_holder(run_path, &holder, &held) || !*holder.session) return false;
    const int length = snprintf(session, session_bytes, "%s", holder.session);
    return length > 0 && (size_t)length < session_bytes;
}
