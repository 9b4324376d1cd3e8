/* What `ctascope record` does to a run before and after the program has it.
 *
 * Several `record`s of one mpirun prepare the same run at about the same time. They take turns by
 * a lock on the directory above it: the first makes the run (after it has removed an old one, when
 * asked to), the others find one of their own session and leave it alone. An old run is first
 * renamed, so that it is whole or gone for anybody who looks, and deleted when the new one exists.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/catalogue-open.h"
#include "trace/catalogue-sql.h"
#include "trace/failures.h"
#include "trace/journal.h"
#include "trace/run-files.h"
#include "trace/run-lock.h"

enum { TEXT_BYTES = 512 };

/* An open and locked directory that holds `path`; -1 and errno when that is not possible. */
static int lock_parent(const char *path)
{
    char parent[PATH_MAX];
    if ((size_t)snprintf(parent, sizeof parent, "%s", path) >= sizeof parent) {
        errno = ENAMETOOLONG;
        return -1;
    }
    size_t length = strlen(parent);
    while (length > 1 && parent[length - 1] == '/') parent[--length] = 0;
    char *const slash = strrchr(parent, '/');
    if (!slash)
        snprintf(parent, sizeof parent, ".");
    else
        slash[slash == parent] = 0;
    const int directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) flock(directory, LOCK_EX); /* where it cannot lock, the race is rare */
    return directory;
}

/* Whether run.db is one of ours, of any version, and of which session; `error`, unless NULL, says
 * why not. */
static bool is_run(const char *run_path, char *session, size_t session_bytes,
                   struct cts_error *error)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/run.db", run_path);
    sqlite3 *db = NULL;
    struct cts_error own;
    session[0] = 0;
    bool ours = false;
    if (cts_catalogue_check_journal(path, false, error ? error : &own)) return false;
    if (sqlite3_open_v2(path, &db, cts_catalogue_read_flags(path), NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(db, 5000);
        ours = cts_catalogue_format_version(db) >= 1;
        if (ours && !cts_catalogue_load_key(db, "session", session, session_bytes)) session[0] = 0;
    }
    if (!ours && error) {
        if (!db || cts_sql_has_failed(db))
            (void)cts_sql_fail(db, error, "cannot read '%s'", path);
        else
            (void)cts_fail(error, CTS_FORMAT, "'%s' is not a run", run_path);
    }
    sqlite3_close(db);
    return ours;
}

/* Takes back what a failed make_run() left, as on a full disk. */
static void unmake_run(const char *run_path, bool was_absent)
{
    static const char *const names[] = {"run.db", "run.db-wal", "run.db-shm", "run.db-journal"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((size_t)snprintf(path, sizeof path, "%s/%s", run_path, names[i]) < sizeof path)
            unlink(path);
    if (was_absent) rmdir(run_path);
}

static enum cts_status make_run(const char *run_path, const struct cts_run_start *start,
                                struct cts_error *error)
{
    const enum cts_content before = cts_directory_content(run_path);
    sqlite3 *db = NULL;
    enum cts_status status = cts_catalogue_check_directory(run_path, error);
    if (!status) status = cts_catalogue_open_database(run_path, &db, error);
    if (!status) status = cts_catalogue_store_key(db, "session", start->session, true, error);
    if (!status) status = cts_catalogue_store_key(db, "command", start->command, true, error);
    if (!status && start->asks_timeline)
        status = cts_catalogue_store_key(db, CTS_TIMELINE_ASKED_KEY, "1", true, error);
    cts_catalogue_close_database(db);
    if (status && (before == CTS_CONTENT_ABSENT || before == CTS_CONTENT_EMPTY))
        unmake_run(run_path, before == CTS_CONTENT_ABSENT);
    return status;
}

enum cts_status cts_catalogue_prepare(const char *run_path, const char *session,
                                      const char *command, bool replace, struct cts_error *error)
{
    return cts_catalogue_prepare_and_hold(
        run_path, &(struct cts_run_start){session, command, replace, false}, NULL, error);
}

enum cts_status cts_catalogue_prepare_and_hold(const char *run_path,
                                               const struct cts_run_start *start, int *held,
                                               struct cts_error *error)
{
    const int lock = lock_parent(run_path);
    if (lock < 0) return cts_fail_errno(error, errno, "cannot make '%s'", run_path);
    enum cts_status status = CTS_OK;
    bool joined = false;
    struct cts_run_aside aside = {.path = ""};
    if (cts_directory_content(run_path) == CTS_CONTENT_DATABASE) {
        char theirs[TEXT_BYTES];
        const bool ours = is_run(run_path, theirs, sizeof theirs, NULL);
        joined = ours && strcmp(theirs, start->session) == 0;
        if (!joined && ours) status = cts_run_check_free(run_path, error);
        if (status)
            joined = false; /* somebody else has it now */
        else if (!joined && !ours)
            status = cts_fail(error, CTS_USAGE,
                              "'%s' is not empty and not a run: its run.db holds something else",
                              run_path);
        else if (!joined && !start->replace)
            status =
                cts_fail(error, CTS_USAGE, "'%s' is not empty: it already holds a run", run_path);
        else if (!joined)
            status = cts_run_set_aside(run_path, &aside, error);
    }
    if (!status && !joined) status = make_run(run_path, start, error);
    if (!status && *aside.path) status = cts_run_delete_aside(&aside, error);
    if (status && *aside.path) cts_run_give_back(run_path, &aside);
    if (!status && held) *held = cts_run_hold(run_path, start->session, start->command);
    close(lock);
    return status;
}

enum cts_status cts_catalogue_fold(const char *run_path, const struct cts_process_end *ends,
                                   size_t end_count, bool only_known, struct cts_error *error)
{
    const struct cts_fold fold = {
        .ends = ends, .end_count = end_count, .remove = true, .only_known = only_known};
    char session[TEXT_BYTES];
    if (!is_run(run_path, session, sizeof session, error))
        return error ? error->status : CTS_FORMAT;
    sqlite3 *db = NULL;
    enum cts_status status = cts_catalogue_open_database(run_path, &db, error);
    if (!status) status = cts_journals_fold(db, run_path, &fold, error);
    cts_catalogue_close_database(db);
    return status;
}

enum cts_status cts_catalogue_tidy(const char *run_path, struct cts_error *error)
{
    return cts_catalogue_fold(run_path, NULL, 0, false, error);
}

void cts_catalogue_discard_empty(const char *run_path)
{
    const int lock = lock_parent(run_path);
    if (lock < 0) return;
    sqlite3 *db = NULL;
    if (cts_directory_content(run_path) == CTS_CONTENT_DATABASE &&
        !cts_catalogue_open_database(run_path, &db, NULL)) {
        sqlite3_stmt *statement = NULL;
        bool empty = false;
        if (sqlite3_prepare_v2(db,
                               "SELECT (SELECT count(*) FROM ranks) + "
                               "(SELECT count(*) FROM run WHERE key GLOB 'failure_*')",
                               -1, &statement, NULL) == SQLITE_OK &&
            sqlite3_step(statement) == SQLITE_ROW)
            empty = sqlite3_column_int64(statement, 0) == 0;
        sqlite3_finalize(statement);
        cts_catalogue_close_database(db);
        if (empty && !cts_journals_exist(run_path) && !cts_failures_are_left(run_path)) {
            struct cts_error ignored;
            (void)!cts_run_delete(run_path, &ignored); /* one that stays is harmless */
        }
    }
    close(lock);
}
