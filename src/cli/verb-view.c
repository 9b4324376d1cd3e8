/* The page of a run, or of the time of an archive, served on this machine until Ctrl-C. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/list-options.h"
#include "cli/report-material.h"
#include "cli/shared-options.h"
#include "cli/verb.h"
#include "common/memory-limit.h"
#include "common/read-file.h"
#include "common/temporary.h"
#include "view/server.h"

/* ---- the browser ---- */

/* Other users see the arguments of a process, so the browser gets the address out of a file that
 * only its user can read. */
static pthread_mutex_t browser_lock = PTHREAD_MUTEX_INITIALIZER; /* of the next */
static char browser_file[PATH_MAX];                              /* "": there is none */

/* A descriptor, or -1. Ctrl-C finds either no file or one whose name it knows. */
static int make_browser_file(void)
{
    char path[PATH_MAX];
    const int length =
        snprintf(path, sizeof path, "%s/ctascope-view-XXXXXX.html", cts_temporary_directory());
    if (length < 0 || (size_t)length >= sizeof path) return -1;
    pthread_mutex_lock(&browser_lock);
    const int number = mkostemps(path, 5, O_CLOEXEC); /* with mode 0600 */
    if (number >= 0) memcpy(browser_file, path, (size_t)length + 1);
    pthread_mutex_unlock(&browser_lock);
    return number;
}

static bool write_browser_file(const struct cts_view_server *server)
{
    const int number = make_browser_file();
    FILE *const file = number < 0 ? NULL : fdopen(number, "w");
    if (!file) return false;
    fprintf(file,
            "<!doctype html><meta charset=\"utf-8\"><title>ctascope</title>\n"
            "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n"
            "<a href=\"%s\">ctascope view</a>\n",
            cts_view_server_entry(server), cts_view_server_entry(server));
    return fclose(file) == 0;
}

/* Opens the browser, if there is a screen, without waiting for it. */
static void open_browser(const struct cts_view_server *server)
{
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) return;
    if (!write_browser_file(server)) {
        fprintf(stderr, "ctascope view: cannot write a file in '%s': open the address yourself\n",
                cts_temporary_directory());
        return;
    }
    const pid_t child = fork();
    if (child != 0) {
        if (child > 0) waitpid(child, NULL, 0);
        return;
    }
    if (fork() == 0) { /* nobody's child, so that nobody has to wait for it */
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        setsid();
        const int nothing = cts_open_file("/dev/null", O_WRONLY, 0);
        if (dup2(nothing, STDOUT_FILENO) >= 0 && dup2(nothing, STDERR_FILENO) >= 0)
            execlp("xdg-open", "xdg-open", browser_file, (char *)NULL);
    }
    _exit(0);
}

/* Keeps the lock: the process ends, and no file is made any more. */
static void remove_browser_file(void)
{
    pthread_mutex_lock(&browser_lock);
    if (*browser_file) unlink(browser_file);
}

/* ---- the end ---- */

enum { CLEAN_END_NS = 100000000 }; /* what an orderly end may take: usually a fifth of it */

/* Ctrl-C and its like are waited for by a thread of their own, from before the run is opened. The
 * server only reads, so the process may end wherever it is: it does so when an orderly end takes
 * too long, or when it is asked for again. */
static struct {
    sigset_t signals;
    sem_t asked;
} ending;

static void *wait_for_end(void *state)
{
    static const struct timespec most = {.tv_nsec = CLEAN_END_NS};
    int number;
    (void)state;
    sigwait(&ending.signals, &number);
    sem_post(&ending.asked);
    while (sigtimedwait(&ending.signals, NULL, &most) < 0 && errno == EINTR) {
    }
    remove_browser_file();
    /* Other threads are in the middle of something. _exit() would have a sanitizer look at them. */
    syscall(SYS_exit_group, CTS_EXIT_OK);
    return NULL;
}

static enum cts_status watch_for_end(struct cts_error *error)
{
    pthread_t thread;
    sigemptyset(&ending.signals);
    sigaddset(&ending.signals, SIGINT);
    sigaddset(&ending.signals, SIGTERM);
    sigaddset(&ending.signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &ending.signals, NULL); /* for all threads that are started from here */
    sem_init(&ending.asked, 0, 0);
    const int reason = pthread_create(&thread, NULL, wait_for_end, NULL);
    if (reason) return cts_fail_errno(error, reason, "cannot start a thread");
    pthread_detach(thread);
    return CTS_OK;
}

/* ---- time ---- */

static enum cts_status write_time(void *state, const struct cts_asker *asker, FILE *file,
                                  struct cts_error *error)
{
    struct cts_report_options options = *(const struct cts_report_options *)state;
    struct cts_report_material material;
    options.asker = asker;
    enum cts_status status = cts_report_material_gather(&material, &options, error);
    if (!status) status = cts_page_write_data(&material.page, file, error);
    cts_report_material_release(&material);
    return status;
}

static enum cts_status write_findings(void *state, const struct cts_asker *asker,
                                      const struct cts_run_material *accesses,
                                      struct cts_json *json, struct cts_error *error)
{
    const struct cts_report_options *const options = state;
    const struct cts_path_options path_options = {.threads = options->threads, .asker = asker};
    struct cts_run_material material = *accesses;
    struct cts_timeline timeline;
    struct cts_path path;
    enum cts_status status = cts_cli_open_timeline(options->path, &timeline, error);
    if (status) return status;
    const struct cts_path_asked asked = {cts_path_source_of(&timeline), asker};
    const struct cts_path_source source = cts_path_source_asked(&asked);
    status = cts_path_analyze(&source, &path_options, &path, error);
    material.path = &path;
    if (!status) cts_cli_tell_damage(options->path, &timeline);
    if (!status) status = cts_run_findings_json(&material, json, error);
    if (path.rows) cts_path_release(&path);
    cts_timeline_close(&timeline);
    return status;
}

/* What cannot be told counts as accesses: the view says what is wrong with them. */
static bool has_accesses(const char *path)
{
    struct cts_acc_reader *reader;
    struct cts_error error;
    if (cts_acc_open(path, &reader, &error)) return true;
    const bool has = cts_access_source_of(reader).chunk_count > 0;
    cts_acc_close(reader);
    return has;
}

/* ---- the verb ---- */

static int run_view(const struct cts_arguments *arguments)
{
    uint64_t port = 0;
    struct cts_view_server_options options = {
        .run_path = arguments->positional[0],
        .other_path = arguments->positional_count > 1 ? arguments->positional[1] : NULL};
    if (!cts_argument_u64_if_given(arguments, "port", &port) ||
        !cts_argument_threads(arguments, &options.threads))
        return CTS_EXIT_USAGE;
    options.memory_bytes = cts_memory_limit_bytes() / 4; /* the rest is for answers */
    if (port > UINT16_MAX)
        return cts_usage_error(arguments, "--port takes a number from 0 to 65535");
    options.port = (uint16_t)port;
    struct cts_report_options time = {
        .path = options.run_path, .threads = options.threads, .only_time = true};
    const bool is_archive = cts_cli_is_archive(time.path);
    if (is_archive || cts_cli_has_timeline(time.path)) {
        options.write_time = write_time;
        options.write_findings = write_findings;
        options.time_state = &time;
        if (is_archive || !has_accesses(time.path)) options.run_path = NULL;
        if (!options.run_path && options.other_path)
            return cts_usage_error(arguments, "'%s' is a timeline and has no accesses to compare",
                                   time.path);
    }

    signal(SIGPIPE, SIG_IGN);
    struct cts_view_server *server = NULL;
    struct cts_error error = {0};
    if (watch_for_end(&error) || cts_view_server_start(&options, &server, &error))
        return cts_report_error(arguments, &error);
    printf("%s\n", cts_view_server_url(server));
    fflush(stdout);
    if (isatty(STDERR_FILENO)) fprintf(stderr, "ctascope view: Ctrl-C stops the server\n");
    if (!cts_argument_given(arguments, "no-open")) open_browser(server);
    while (sem_wait(&ending.asked) != 0) {
    }
    cts_view_server_stop(server);
    remove_browser_file();
    return CTS_EXIT_OK;
}

static const struct cts_option options[] = {
    {.name = "port", .argument = "N", .help = "port to serve on (default: any free one)"},
    {.name = "no-open", .help = "print the URL, but do not open a browser"},
    CTS_OPTION_MEMORY_LIMIT,
    CTS_OPTION_THREADS,
    CTS_FORMER_MEMORY("memory"),
    {0},
};

const struct cts_verb cts_verb_view = {
    .name = "view",
    .synopsis = "RUN|TRACE [BEFORE] [--port N] [--no-open] [--memory-limit SIZE]",
    .summary = "Shows every access of a run in the browser, served from this machine",
    .description =
        "Serves the page on 127.0.0.1 only, at a URL with a secret token, and opens the browser.\n"
        "Ctrl-C stops the server. The page fetches only what it shows, so a run can have any\n"
        "size, and its recording can still be in progress. With BEFORE, an earlier run, the page\n"
        "also shows what changed since then, as 'ctascope diff BEFORE RUN' does. For a run with\n"
        "only a timeline, or an OTF2 archive (traces.otf2), it shows the timeline of\n"
        "'ctascope report'.",
    .options = options,
    .opens_traces = true,
    .positional_min = 1,
    .positional_max = 2,
    .run = run_view,
};
