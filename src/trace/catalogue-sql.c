/* A run.db has a write-ahead log while processes write to it: readers see whole transactions, a
 * killed process loses at most its last one, and the last process to close it writes the log back,
 * removes it and leaves a plain database. `synchronous` is off: that protects from crashes of a
 * process, not of the host, and costs nothing. Where the file system has no shared memory for the
 * log, SQLite keeps a rollback journal by itself, which is as safe and slower. */
#include "trace/catalogue-sql.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/own-rights.h"
#include "common/read-file.h"
#include "schema.sql.h"
#include "trace/catalogue.h"

enum { BUSY_MS = 20000 }; /* how long a process waits for another's transaction */

static enum cts_status status_of(int sqlite_code)
{
    switch (sqlite_code & 0xff) {
    case SQLITE_NOMEM:
        return CTS_MEMORY;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return CTS_IO;
    default:
        return CTS_FORMAT;
    }
}

/* SQLite takes some errors of a read for damage of the file system, and calls the database
 * malformed; 0: it is. */
static int read_errno(sqlite3 *db)
{
    int number = 0;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number == EIO || number == ENXIO || number == ERANGE ? number : 0;
}

enum cts_status cts_sql_fail(sqlite3 *db, struct cts_error *error, const char *what_format, ...)
{
    char what[600];
    va_list args;
    va_start(args, what_format);
    vsnprintf(what, sizeof what, what_format, args);
    va_end(args);
    int code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    if (code == SQLITE_OK) code = SQLITE_NOMEM; /* for the text of a statement, which has no db */
    const int system = db ? sqlite3_system_errno(db) : 0;
    const enum cts_status status = status_of(code);
    const int refused = (code & 0xff) == SQLITE_CORRUPT ? read_errno(db) : 0;
    if (refused) return cts_fail_errno(error, refused, "%s", what);
    /* it then tries read-only, and has lost why it could not write: there is no such file yet */
    const bool is_reason = system && !((code & 0xff) == SQLITE_CANTOPEN && system == ENOENT);
    if ((code & 0xff) == SQLITE_FULL && !system) return cts_fail_errno(error, ENOSPC, "%s", what);
    if (status == CTS_IO && is_reason)
        return cts_fail(error, status, "%s: %s: %s", what, sqlite3_errstr(code), strerror(system));
    return cts_fail(error, status, "%s: %s", what,
                    status == CTS_MEMORY ? "out of memory" : sqlite3_errmsg(db));
}

bool cts_sql_has_failed(sqlite3 *db)
{
    const int code = sqlite3_errcode(db) & 0xff;
    return code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE && code != SQLITE_ERROR;
}

enum cts_status cts_sql_run(sqlite3 *db, const char *sql, const char *what, struct cts_error *error)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK) return CTS_OK;
    return cts_sql_fail(db, error, "%s", what);
}

/* The first column of the first row of a query, or `otherwise`. */
static int64_t query_number(sqlite3 *db, const char *sql, int64_t otherwise)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = otherwise;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

int64_t cts_catalogue_format_version(sqlite3 *db)
{
    return query_number(db, "SELECT value FROM run WHERE key = 'format_version'", -1);
}

/* The number of tables, views and the like in the database; -1: cannot be read. */
static int64_t count_objects(sqlite3 *db)
{
    return query_number(db, "SELECT count(*) FROM sqlite_schema", -1);
}

enum cts_status cts_catalogue_store_key(sqlite3 *db, const char *key, const char *value,
                                        bool replace, struct cts_error *error)
{
    sqlite3_stmt *statement = NULL;
    const char *const sql = replace ? "INSERT OR REPLACE INTO run (key, value) VALUES (?, ?)"
                                    : "INSERT OR IGNORE INTO run (key, value) VALUES (?, ?)";
    enum cts_status status = CTS_OK;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) ||
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC) ||
        sqlite3_bind_text(statement, 2, value, -1, SQLITE_STATIC) ||
        sqlite3_step(statement) != SQLITE_DONE)
        status = cts_sql_fail(db, error, "cannot write key '%s' of the catalogue", key);
    sqlite3_finalize(statement);
    return status;
}

bool cts_catalogue_load_key(sqlite3 *db, const char *key, char *text, size_t text_bytes)
{
    sqlite3_stmt *statement = NULL;
    bool found = false;
    if (sqlite3_prepare_v2(db, "SELECT value FROM run WHERE key = ?", -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL) {
        const char *const value = (const char *)sqlite3_column_text(statement, 0);
        const int length = value ? snprintf(text, text_bytes, "%s", value) : -1;
        found = length >= 0 && (size_t)length < text_bytes;
    }
    sqlite3_finalize(statement);
    return found;
}

/* The processor's name as the kernel tells it; false where it does not (ARM). */
static bool cpu_model(char *text, size_t text_bytes)
{
    FILE *const file = fopen("/proc/cpuinfo", "re");
    if (!file) return false;
    char line[512];
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        const char *const colon = strchr(line, ':');
        if (!colon || strncmp(line, "model name", 10) != 0) continue;
        snprintf(text, text_bytes, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        found = true;
    }
    fclose(file);
    return found;
}

static enum cts_status store_common_keys(sqlite3 *db, struct cts_error *error)
{
    char text[600];
    enum cts_status status = CTS_OK;
    snprintf(text, sizeof text, "%d", CTS_CATALOGUE_VERSION);
    status = cts_catalogue_store_key(db, "format_version", text, false, error);
    if (!status)
        status = cts_catalogue_store_key(db, "ctascope_version", CTASCOPE_VERSION, false, error);
    struct tm utc;
    const time_t now = time(NULL);
    if (!status && gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc))
        status = cts_catalogue_store_key(db, "created", text, false, error);
    struct utsname host;
    if (!status && uname(&host) == 0) {
        status = cts_catalogue_store_key(db, "host", host.nodename, false, error);
        snprintf(text, sizeof text, "%s %s %s", host.sysname, host.release, host.machine);
        if (!status) status = cts_catalogue_store_key(db, "system", text, false, error);
    }
    if (!status && cpu_model(text, sizeof text))
        status = cts_catalogue_store_key(db, "cpu_model", text, false, error);
    snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    if (!status) status = cts_catalogue_store_key(db, "cpu_count", text, false, error);
    return status;
}

const char *cts_schema_text(void)
{
    return cts_schema_sql;
}

/* In a new database: the schema and the keys that every run has. In one of ours: nothing. Any other
 * is refused. */
static enum cts_status cts_catalogue_prepare_schema(sqlite3 *db, const char *run_path,
                                                    struct cts_error *error)
{
    char what[512];
    snprintf(what, sizeof what, "cannot set up '%s/run.db'", run_path);
    enum cts_status status = cts_sql_run(db, "BEGIN IMMEDIATE", what, error);
    if (status) return status;
    const int64_t version = cts_catalogue_format_version(db);
    if (version == CTS_CATALOGUE_VERSION) return cts_sql_run(db, "COMMIT", what, error);
    const bool is_known = version >= 0 || !cts_sql_has_failed(db);
    const int64_t object_count = version < 0 && is_known ? count_objects(db) : -1;
    if (version >= 0)
        status = cts_fail(error, CTS_VERSION, "'%s/run.db' has format version %lld; this is %d",
                          run_path, (long long)version, CTS_CATALOGUE_VERSION);
    else if (object_count < 0)
        status = cts_sql_fail(db, error, "%s", what);
    else if (object_count != 0)
        status = cts_fail(error, CTS_USAGE,
                          "'%s' is not empty and not a run: its run.db holds "
                          "something else",
                          run_path);
    if (!status) status = cts_sql_run(db, cts_schema_text(), what, error);
    if (!status) status = store_common_keys(db, error);
    if (!status) return cts_sql_run(db, "COMMIT", what, error);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* The path as a URI, since `immutable` can be asked for in no other way. */
static char *immutable_uri(const char *path)
{
    char *const uri = malloc(3 * strlen(path) + 40);
    if (!uri) return NULL;
    char *at = stpcpy(uri, "file:");
    for (; *path; path++) {
        const bool plain = (*path >= 'a' && *path <= 'z') || (*path >= 'A' && *path <= 'Z') ||
                           (*path >= '0' && *path <= '9') || strchr("/._-", *path);
        at += snprintf(at, 4, plain ? "%c" : "%%%02X", (unsigned char)*path);
    }
    stpcpy(at, "?immutable=1");
    return uri;
}

int cts_sql_open_immutable(const char *path, sqlite3 **db)
{
    char *const uri = immutable_uri(path);
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    const int code = uri ? sqlite3_open_v2(uri, db, flags, NULL) : SQLITE_NOMEM;
    free(uri);
    return code;
}

/* Two processes that create one database at the same time get in each other's way here, and SQLite
 * does not wait for this lock by itself. */
static void use_write_ahead_log(sqlite3 *db)
{
    const struct timespec pause = {.tv_nsec = 2 * 1000 * 1000};
    for (int attempt = 0; attempt < 1000; attempt++) {
        const int code = sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
        if ((code & 0xff) != SQLITE_BUSY && (code & 0xff) != SQLITE_LOCKED) return;
        nanosleep(&pause, NULL);
    }
}

/* Opens for writing. SQLite takes any error for a lack of rights, and tries read-only: then whether
 * the file can be opened for writing is asked again, which gives the reason, or was a thing of the
 * moment. */
static enum cts_status open_writable(const char *path, sqlite3 **db, struct cts_error *error)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, db, flags, NULL))
        return cts_sql_fail(*db, error, "cannot open '%s'", path);
    if (sqlite3_db_readonly(*db, "main") != 1) return CTS_OK;
    sqlite3_close(*db);
    *db = NULL;
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return cts_fail_errno(error, errno, "cannot write '%s'", path);
    close(file);
    if (sqlite3_open_v2(path, db, flags, NULL))
        return cts_sql_fail(*db, error, "cannot open '%s'", path);
    return CTS_OK;
}

enum cts_status cts_catalogue_open_database(const char *run_path, sqlite3 **db_out,
                                            struct cts_error *error)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/run.db", run_path) >= sizeof path)
        return cts_fail(error, CTS_USAGE, "the path '%.100s...' is too long", run_path);
    /* SQLite would make the file without the right to write for others than the owner, whatever the
     * umask says. If the file is not made here, SQLite reports why. */
    const int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made >= 0) {
        cts_keep_own_rights(made);
        close(made);
    }
    sqlite3 *db = NULL;
    enum cts_status status = cts_catalogue_check_journal(path, true, error);
    if (!status) status = open_writable(path, &db, error);
    if (!status) { /* whatever somebody else has put into the database does not run */
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_busy_timeout(db, BUSY_MS);
        const int64_t object_count = count_objects(db);
        if (object_count < 0)
            status = cts_sql_fail(db, error, "cannot open '%s'", path);
        else if (object_count == 0 || cts_catalogue_format_version(db) >= 0)
            use_write_ahead_log(db); /* not in somebody else's database */
        if (!status) sqlite3_exec(db, "PRAGMA synchronous=OFF", NULL, NULL, NULL);
        if (!status) status = cts_catalogue_prepare_schema(db, run_path, error);
    }
    if (status) {
        sqlite3_close(db);
        db = NULL;
    }
    *db_out = db;
    return status;
}

/* Whether there is a journal of SQLite beside the database that may be rolled back: not one that
 * names a super-journal, which SQLite would delete, wherever it is. */
static enum journal_kind {
    NO_JOURNAL,
    OWN_JOURNAL,
    OTHER_JOURNAL,
    NO_FILE,
    UNREADABLE
} journal_of(const char *path)
{
    /* what a journal ends with when the name of a super-journal stands before it */
    static const uint8_t magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    char journal_path[PATH_MAX + 16];
    uint8_t end[sizeof magic];
    struct stat status;
    snprintf(journal_path, sizeof journal_path, "%s-journal", path);
    const int file =
        cts_open_file(journal_path, O_RDONLY | O_NONBLOCK, 0); /* a pipe may be there */
    if (file < 0) return errno == ENOENT ? NO_JOURNAL : UNREADABLE;
    enum journal_kind kind = UNREADABLE;
    errno = 0;
    if (fstat(file, &status) || !S_ISREG(status.st_mode))
        kind = NO_FILE;
    else if (status.st_size < (off_t)sizeof end)
        kind = NO_JOURNAL;
    else if (lseek(file, -(off_t)sizeof end, SEEK_END) >= 0 &&
             cts_read_file(file, end, sizeof end) == sizeof end)
        kind = memcmp(end, magic, sizeof magic) != 0 ? OWN_JOURNAL : OTHER_JOURNAL;
    const int problem = errno;
    close(file);
    errno = problem;
    return kind;
}

enum cts_status cts_catalogue_check_journal(const char *path, bool for_writing,
                                            struct cts_error *error)
{
    const enum journal_kind kind = journal_of(path);
    if (kind == NO_FILE)
        return cts_fail(error, CTS_FORMAT, "'%s-journal' is not a regular file", path);
    if (kind == UNREADABLE && for_writing)
        return cts_fail_errno(error, errno, "cannot read '%s-journal'", path);
    if (kind == OTHER_JOURNAL && for_writing)
        return cts_fail(error, CTS_FORMAT,
                        "'%s-journal' is not a journal of this run: it is not applied", path);
    return CTS_OK;
}

int cts_catalogue_read_flags(const char *path)
{
    return journal_of(path) == OWN_JOURNAL && access(path, W_OK) == 0 ? SQLITE_OPEN_READWRITE
                                                                      : SQLITE_OPEN_READONLY;
}

void cts_catalogue_close_database(sqlite3 *db)
{
    if (!db) return;
    sqlite3_busy_timeout(db, 0); /* when others have it open, the last of them will do it */
    sqlite3_exec(db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    sqlite3_close(db);
}
