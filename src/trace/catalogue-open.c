/* Whose directory is it? A process may record into a directory that is absent or empty, or into a
 * run that it belongs to, which is one of
 *
 *   - the run was prepared by `ctascope record`, which gave it a session, and this process has the
 *     same CTASCOPE_SESSION: all processes that `record` starts, and all of an mpirun, whose
 *     `record`s agree on the session;
 *   - no process has recorded into it yet;
 *   - there is no session, and another process records into it now.
 *
 * Anything else is somebody's data, and refused. */
#include "trace/catalogue-open.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/own-rights.h"
#include "common/proc.h"
#include "common/read-file.h"
#include "trace/catalogue-sql.h"
#include "trace/journal.h"
#include "trace/rank-claim.h"
#include "trace/run-lock.h"

enum { SESSION_BYTES = 512 };

enum cts_content cts_directory_content(const char *path)
{
    DIR *const directory = cts_open_directory(path);
    if (!directory) return errno == ENOENT ? CTS_CONTENT_ABSENT : CTS_CONTENT_ERROR;
    enum cts_content content = CTS_CONTENT_EMPTY;
    struct dirent *entry;
    while (content != CTS_CONTENT_DATABASE && (entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        content = strcmp(entry->d_name, "run.db") == 0 ? CTS_CONTENT_DATABASE : CTS_CONTENT_OTHER;
    }
    closedir(directory);
    return content;
}

enum cts_status cts_catalogue_check_directory(const char *run_path, struct cts_error *error)
{
    if (cts_make_directory(run_path) == 0) return CTS_OK;
    if (errno != EEXIST) return cts_fail_errno(error, errno, "cannot make '%s'", run_path);
    switch (cts_directory_content(run_path)) {
    case CTS_CONTENT_ERROR:
    case CTS_CONTENT_ABSENT:
        return cts_fail_errno(error, errno, "cannot open '%s'", run_path);
    case CTS_CONTENT_OTHER:
        return cts_fail(error, CTS_USAGE, "'%s' is not empty and not a run", run_path);
    case CTS_CONTENT_EMPTY:
    case CTS_CONTENT_DATABASE:
        break;
    }
    return CTS_OK;
}

static size_t count_ranks(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    size_t count = 0;
    if (sqlite3_prepare_v2(db, "SELECT count(*) FROM ranks", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        count = (size_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return count;
}

static enum cts_status check_membership(sqlite3 *db, const char *run_path, struct cts_error *error)
{
    const char *const mine = getenv("CTASCOPE_SESSION");
    char theirs[SESSION_BYTES] = "";
    cts_catalogue_load_key(db, "session", theirs, sizeof theirs);
    if (mine && *mine && strcmp(mine, theirs) == 0) return CTS_OK;
    const bool is_new = count_ranks(db) == 0 && !cts_journals_exist(run_path);
    if (is_new && mine && *mine && !*theirs)
        return cts_catalogue_store_key(db, "session", mine, true, error);
    if (is_new || (!(mine && *mine) && cts_journals_are_live(run_path, NULL))) return CTS_OK;
    /* A process of our session may have named it, and begun, since we looked. */
    cts_catalogue_load_key(db, "session", theirs, sizeof theirs);
    if (mine && *mine && strcmp(mine, theirs) == 0) return CTS_OK;
    return cts_fail(error, CTS_USAGE, "'%s' is not empty: it already holds a run", run_path);
}

/* The session that `record` wrote down spares the program's process SQLite. */
static bool is_of_session(const char *run_path)
{
    const char *const mine = getenv("CTASCOPE_SESSION");
    char theirs[SESSION_BYTES];
    return mine && *mine && cts_run_session(run_path, theirs, sizeof theirs) &&
           strcmp(mine, theirs) == 0;
}

/* With a timeline recorded beside, the process is one rank for both recorders. */
static enum cts_status claim_rank(const char *run_path, uint32_t *rank, struct cts_error *error)
{
    const char *const timeline = getenv("CTASCOPE_TIMELINE");
    const char *const session = getenv("CTASCOPE_SESSION");
    const bool shared = timeline && strcmp(timeline, "1") == 0 && session && *session;
    return shared ? cts_rank_claim(run_path, false, rank, error)
                  : cts_rank_claim_new(run_path, rank, error);
}

enum cts_status cts_catalogue_join(const char *run_path, uint32_t *rank, bool *is_watched,
                                   struct cts_error *error)
{
    *is_watched = is_of_session(run_path);
    if (*is_watched) return claim_rank(run_path, rank, error);
    sqlite3 *db = NULL;
    enum cts_status status = cts_catalogue_check_directory(run_path, error);
    if (!status) status = cts_catalogue_open_database(run_path, &db, error);
    if (!status) status = check_membership(db, run_path, error);
    cts_catalogue_close_database(db);
    return status ? status : claim_rank(run_path, rank, error);
}

void cts_self_describe(struct cts_self *self, uint32_t rank)
{
    *self = (struct cts_self){0};
    gethostname(self->host, sizeof self->host - 1);
    if (readlink("/proc/self/exe", self->program, sizeof self->program - 1) < 0)
        self->program[0] = 0;
    cts_proc_text("/proc/self/cmdline", self->arguments, sizeof self->arguments);
    if (!getcwd(self->directory, sizeof self->directory)) self->directory[0] = 0;
    struct timespec monotonic, wall;
    clock_gettime(CLOCK_MONOTONIC, &monotonic);
    clock_gettime(CLOCK_REALTIME, &wall);
    self->row = (struct cts_rank){
        .rank = rank,
        .pid = getpid(),
        .host = self->host,
        .program = self->program,
        .arguments = self->arguments,
        .directory = self->directory,
        .start_ns = (uint64_t)monotonic.tv_sec * 1000000000u + (uint64_t)monotonic.tv_nsec,
        .unix_start_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec,
    };
}
