/* Running compilers for `ctascope cc`: children with their environment, files that must go when we
 * end, and the signals that end us early (children are ended too, files removed, then the signal
 * takes its course). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cc/cc.h"
#include "common/install.h"
#include "common/temporary.h"

extern char **environ;

/* ---- signals ---- */

enum { CHILDREN_MAX = 8 };

static volatile sig_atomic_t stopped_by;
static volatile sig_atomic_t children[CHILDREN_MAX];

static void on_signal(int number)
{
    stopped_by = number;
    for (int i = 0; i < CHILDREN_MAX; i++)
        if (children[i] > 0) kill((pid_t)children[i], SIGTERM);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction old;
        sigaction(numbers[i], NULL, &old);
        if (old.sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
    }
}

int cc_stopped(void)
{
    return stopped_by;
}

static void note_child(pid_t pid, bool runs)
{
    for (int i = 0; i < CHILDREN_MAX; i++) {
        if (children[i] != (runs ? 0 : pid)) continue;
        children[i] = runs ? pid : 0;
        return;
    }
}

/* ---- the session ---- */

static const char *find_program(struct cc_pool *pool, const char *const *names)
{
    const char *const path = getenv("PATH");
    for (size_t n = 0; names[n]; n++) {
        for (const char *at = path ? path : "/usr/bin:/bin"; at && *at;) {
            const size_t length = strcspn(at, ":");
            const char *const full = cc_text(pool, "%.*s/%s", (int)length, at, names[n]);
            if (access(full, X_OK) == 0) return full;
            at += length + (at[length] == ':');
        }
    }
    return NULL;
}

static enum cts_status make_directory(struct cc_session *session, struct cts_error *error)
{
    struct cc_request *const request = session->request;
    if (request->keep) {
        if (mkdir(request->keep, 0777) != 0 && errno != EEXIST)
            return cts_fail_errno(error, errno, "cannot make '%s'", request->keep);
        session->directory = request->keep;
        return CTS_OK;
    }
    const char *const name =
        cc_text(&request->pool, "%s/ctascope-cc-XXXXXX", cts_temporary_directory());
    char *const writable = request->pool.texts[request->pool.count - 1];
    if (!mkdtemp(writable))
        return cts_fail_errno(error, errno, "cannot make a temporary directory '%s'", name);
    session->directory = writable;
    return CTS_OK;
}

/* Parts of ctascope's own that compiling needs; packages bring them separately. */
static enum cts_status check_parts(struct cc_session *session, struct cts_error *error)
{
    const struct {
        const char *directory, *name, *package;
    } parts[] = {
        {cts_library_directory(), "ctascope-plugin.so", "ctascope-cpu"},
        {cts_share_directory(), "cpu", "ctascope-cpu"},
        {cts_share_directory(), "cuda", "ctascope-gpu"},
    };
    const size_t count = session->request->for_cuda ? 3 : 2;
    for (size_t i = 0; i < count; i++) {
        const char *const path =
            cc_text(&session->request->pool, "%s/%s", parts[i].directory, parts[i].name);
        if (access(path, R_OK) != 0)
            return cts_fail_errno(error, errno,
                                  "this installation cannot compile (the Debian package %s is "
                                  "missing, or the installation is incomplete): cannot read '%s'",
                                  parts[i].package, path);
    }
    return CTS_OK;
}

enum cts_status cc_session_open(struct cc_session *session, struct cc_request *request,
                                struct cts_error *error)
{
    *session = (struct cc_session){.request = request};
    if (check_parts(session, error)) return error->status = CTS_UNSUPPORTED;
    session->clang = find_program(&request->pool, (const char *const[]){"clang-19", NULL});
    session->clangxx = find_program(&request->pool, (const char *const[]){"clang++-19", NULL});
    if (!session->clang || !session->clangxx)
        return cts_fail(error, CTS_UNSUPPORTED,
                        "clang-19 is not installed (Debian and Ubuntu: apt install clang-19)");
    catch_signals();
    return make_directory(session, error);
}

/* All that is in our own directory: a compiler that was ended may have left files of its own. */
static void remove_directory(struct cc_session *session)
{
    DIR *const directory = opendir(session->directory);
    struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory) closedir(directory);
    rmdir(session->directory);
}

void cc_session_close(struct cc_session *session)
{
    if (!session->request->keep && session->directory) remove_directory(session);
    cc_list_release(&session->created);
}

const char *cc_session_file(struct cc_session *session, const char *source, const char *suffix)
{
    const char *const slash = strrchr(source, '/');
    const char *const base = slash ? slash + 1 : source;
    const char *const dot = strrchr(base, '.');
    const size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    struct cc_pool *const pool = &session->request->pool;
    /* Two sources of one name do not share files: the count of files is part of the name. */
    const char *const file =
        session->request->keep
            ? cc_text(pool, "%s/%.*s.%s", session->directory, (int)length, base, suffix)
            : cc_text(pool, "%s/%zu-%.*s.%s", session->directory, session->created.count,
                      (int)length, base, suffix);
    cc_list_add(&session->created, file);
    return file;
}

/* ---- children ---- */

static void print_command(const struct cc_process *process)
{
    for (size_t i = 0; i < process->settings.count; i++)
        fprintf(stderr, " %s", process->settings.items[i]);
    for (size_t i = 0; i < process->command.count; i++) {
        const char *const word = process->command.items[i];
        const bool quote = strpbrk(word, " \t\"'\\$()[]{}*?|&;<>") != NULL || !*word;
        fprintf(stderr, quote ? " \"%s\"" : " %s", word);
    }
    fputc('\n', stderr);
}

static void build_environment(struct cc_list *list, const struct cc_process *process)
{
    for (char **at = environ; *at; at++)
        if (strncmp(*at, "CTS_", 4) != 0 || strncmp(*at, "CTS_NOTES", 9) == 0 ||
            strncmp(*at, "CTS_BARRIERS", 12) == 0 || strncmp(*at, "CTS_VERIFY", 10) == 0)
            cc_list_add(list, *at);
    cc_list_add_all(list, &process->settings);
}

void cc_process_start(struct cc_session *session, struct cc_process *process)
{
    process->pid = 0;
    process->status = 0;
    if (session->request->verbose || session->request->dry_run) print_command(process);
    if (session->request->dry_run) return;
    if (cc_stopped()) {
        process->status = 128 + cc_stopped();
        return;
    }
    struct cc_list environment = {0};
    build_environment(&environment, process);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (process->messages)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, process->messages,
                                         O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t pid;
    const int failure =
        posix_spawn(&pid, process->command.items[0], &actions, NULL,
                    (char **)(void *)process->command.items, (char **)(void *)environment.items);
    posix_spawn_file_actions_destroy(&actions);
    cc_list_release(&environment);
    if (failure) {
        fprintf(stderr, "ctascope cc: cannot run '%s': %s\n", process->command.items[0],
                strerror(failure));
        process->status = 127;
        return;
    }
    process->pid = pid;
    note_child(pid, true);
}

int cc_process_wait(struct cc_process *process)
{
    if (process->pid <= 0) return process->status;
    int status;
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {
    }
    note_child(process->pid, false);
    process->pid = 0;
    process->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (cc_stopped()) process->status = 128 + cc_stopped();
    return process->status;
}

void cc_process_release(struct cc_process *process)
{
    cc_list_release(&process->command);
    cc_list_release(&process->settings);
}

int cc_process_run(struct cc_session *session, struct cc_process *process)
{
    cc_process_start(session, process);
    const int status = cc_process_wait(process);
    cc_process_release(process);
    return status;
}
