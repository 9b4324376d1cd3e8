/* The reader trusts nothing: a run.db may be damaged, made by hand, or something else altogether.
 *
 * It opens the database read-only, looks at the schema's own table before it touches any other (a
 * view or a virtual table in place of a table could compute for ever), and reads every table in
 * one transaction, so that a run that is still being recorded is seen as of one moment. Values
 * and rows are checked as they are read (catalogue-rows.c), and at last every id that a row names
 * (catalogue-check.c). */
#include "trace/catalogue.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/catalogue-check.h"
#include "trace/catalogue-open.h"
#include "trace/catalogue-rows.h"
#include "trace/journal.h"
#include "trace/run-lock.h"
#include "trace/seal-tables.h"
#include "trace/stream-name.h"

enum { TEXT_MAX_BYTES = 256 << 20, READ_BUSY_MS = 10000 };

/* ---- the version ---- */

static enum cts_status check_version(sqlite3 *db, struct cts_schema *schema,
                                     struct cts_error *error)
{
    enum cts_status status = cts_sql_run(db, "BEGIN", "cannot read", error);
    if (!status) status = cts_schema_list(db, schema, error);
    if (status) return status;
    if (!schema->object_count) return cts_fail(error, CTS_FORMAT, "an empty database, not a run");
    struct cts_error reason;
    status = cts_schema_check(db, schema, CTS_TABLE_COUNT, &reason);
    cts_schema_release(schema); /* the tables may be read from another, a copy with journals */
    if (status == CTS_FORMAT)
        return cts_fail(error, status, "a database of another program, not a run: %s", reason.text);
    if (status) return cts_fail(error, status, "%s", reason.text);
    char text[32];
    const bool has_key = cts_catalogue_load_key(db, "format_version", text, sizeof text);
    if (!has_key && cts_sql_has_failed(db))
        return cts_sql_fail(db, error, "cannot read table 'run'");
    if (!has_key) return cts_fail(error, CTS_FORMAT, "table 'run', key 'format_version': missing");
    char *end;
    const long version = strtol(text, &end, 10);
    if (end == text || *end || version < 1)
        return cts_fail(error, CTS_FORMAT,
                        "table 'run', key 'format_version': '%s' is not a version", text);
    if (version > CTS_CATALOGUE_VERSION)
        return cts_fail(error, CTS_VERSION,
                        "it has format version %ld; this ctascope reads up to version %d", version,
                        CTS_CATALOGUE_VERSION);
    return CTS_OK;
}

/* ---- the file ---- */

static bool is_anchor_name(const char *path)
{
    const size_t length = strlen(path);
    return length > 5 && !strcmp(path + length - 5, ".otf2");
}

static enum cts_status check_path(const char *run_path, char *path, size_t path_bytes,
                                  struct cts_error *error)
{
    struct stat info;
    if (stat(run_path, &info)) return cts_fail_errno(error, errno, "cannot read '%s'", run_path);
    if (!S_ISDIR(info.st_mode))
        return cts_fail(error, CTS_FORMAT,
                        is_anchor_name(run_path)
                            ? "'%s' is an OTF2 archive, which holds a timeline and no memory "
                              "accesses: a run directory is needed"
                            : "'%s' is a file, not a run directory",
                        run_path);
    switch (cts_directory_content(run_path)) {
    case CTS_CONTENT_DATABASE:
        break;
    case CTS_CONTENT_EMPTY:
        return cts_fail(error, CTS_FORMAT, "'%s' is an empty directory, not a run", run_path);
    case CTS_CONTENT_OTHER:
        return cts_fail(error, CTS_FORMAT, "'%s' is not a run: it has no run.db", run_path);
    default:
        return cts_fail_errno(error, errno, "cannot read '%s'", run_path);
    }
    if ((size_t)snprintf(path, path_bytes, "%s/run.db", run_path) >= path_bytes)
        return cts_fail(error, CTS_USAGE, "the path '%.100s...' is too long", run_path);
    if (stat(path, &info)) return cts_fail_errno(error, errno, "cannot read '%s'", path);
    if (!S_ISREG(info.st_mode))
        return cts_fail(error, CTS_FORMAT, "'%s' is not a regular file", path);
    return cts_catalogue_check_journal(path, false, error);
}

/* In a directory that cannot be written, SQLite could not make the files that a database with a
 * write-ahead log needs even to be read; without a log there is nothing in them anyway. */
static int open_read_only(const char *run_path, const char *path, sqlite3 **db)
{
    char log_path[PATH_MAX + 8];
    snprintf(log_path, sizeof log_path, "%s-wal", path);
    const int flags = cts_catalogue_read_flags(path) | SQLITE_OPEN_NOMUTEX;
    if (eaccess(run_path, W_OK) == 0 || access(log_path, F_OK) == 0)
        return sqlite3_open_v2(path, db, flags, NULL);
    return cts_sql_open_immutable(path, db);
}

/* Rows of the log are read with its index in memory, which SQLite does for the only user of a
 * database. Only who may write it can lock it so; nothing is written. */
static bool open_with_log(const char *path, sqlite3 **db)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    return eaccess(path, W_OK) == 0 && sqlite3_open_v2(path, db, flags, NULL) == SQLITE_OK &&
           sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) == SQLITE_OK &&
           sqlite3_exec(*db, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK;
}

/* Where a database with a write-ahead log cannot be read since there is no room for the file that
 * its readers share: opens it again without that file, if nobody records. */
static bool open_without_sharing(const char *run_path, const char *path, sqlite3 **db)
{
    char log_path[PATH_MAX + 8];
    struct stat info;
    snprintf(log_path, sizeof log_path, "%s-journal", path);
    if (!access(log_path, F_OK) || cts_run_is_held(run_path)) return false;
    snprintf(log_path, sizeof log_path, "%s-wal", path);
    const bool has_log = stat(log_path, &info) == 0 && info.st_size;
    if (!has_log && access(log_path, F_OK) && errno != ENOENT) return false;
    sqlite3 *again = NULL;
    /* With an empty log, the database alone is all. */
    const bool is_open =
        has_log ? open_with_log(path, &again) : cts_sql_open_immutable(path, &again) == SQLITE_OK;
    if (!is_open) {
        sqlite3_close(again);
        return false;
    }
    sqlite3_close(*db);
    *db = again;
    return true;
}

static void be_careful(sqlite3 *db)
{
    sqlite3_busy_timeout(db, READ_BUSY_MS);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, TEXT_MAX_BYTES);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_exec(db, "PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY", NULL, NULL, NULL);
}

static enum cts_status read_seal(sqlite3 *db, struct cts_catalogue *catalogue,
                                 struct cts_error *error)
{
    enum cts_status status = cts_catalogue_read_keys(db, catalogue->private_data, error);
    if (!status) status = cts_catalogue_read_table(db, CTS_TABLE_FILES, catalogue, error);
    return status ? status : cts_catalogue_read_table(db, CTS_TABLE_CHECKSUMS, catalogue, error);
}

static enum cts_status read_all(sqlite3 *db, struct cts_catalogue *catalogue,
                                struct cts_error *error)
{
    enum cts_status status = cts_catalogue_read_keys(db, catalogue->private_data, error);
    for (unsigned t = 0; !status && t < CTS_TABLE_COUNT; t++)
        status = cts_catalogue_read_table(db, t, catalogue, error);
    if (!status) status = cts_catalogue_check_references(catalogue, error);
    if (!status) status = cts_catalogue_index_launches(catalogue, error);
    if (!status) status = cts_cuda_stream_number_all(catalogue, error);
    if (!status) status = cts_seal_check_tables(db, catalogue, error);
    return status;
}

/* Where processes still have journals: a copy in memory of run.db, with them folded in. */
static enum cts_status add_journals(sqlite3 **db, const char *run_path, struct cts_error *error)
{
    if (!cts_journals_exist(run_path)) return CTS_OK;
    sqlite3 *copy = NULL;
    if (sqlite3_open_v2(":memory:", &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL)) {
        sqlite3_close(copy);
        return cts_fail(error, CTS_MEMORY, "no memory for the catalogue");
    }
    enum cts_status status = CTS_OK;
    sqlite3_backup *const backup = sqlite3_backup_init(copy, "main", *db, "main");
    if (!backup || sqlite3_backup_step(backup, -1) != SQLITE_DONE)
        status = cts_sql_fail(copy, error, "cannot read");
    sqlite3_backup_finish(backup);
    be_careful(copy);
    if (!status) status = cts_journals_fold(copy, run_path, &(struct cts_fold){0}, error);
    sqlite3_close(*db);
    *db = copy;
    return status;
}

enum cts_status cts_catalogue_read_open(sqlite3 *db, struct cts_catalogue *catalogue,
                                        struct cts_error *error)
{
    *catalogue = (struct cts_catalogue){.private_data = calloc(1, sizeof *catalogue->private_data)};
    if (!catalogue->private_data) return cts_catalogue_no_memory(error);
    struct cts_schema *const schema = &catalogue->private_data->schema;
    enum cts_status status = check_version(db, schema, error);
    if (!status) status = read_all(db, catalogue, error);
    cts_schema_release(schema);
    if (status) cts_catalogue_release(catalogue);
    return status;
}

static enum cts_status read_with(
    enum cts_status (*read)(sqlite3 *db, struct cts_catalogue *catalogue, struct cts_error *error),
    const char *run_path, struct cts_catalogue *catalogue, struct cts_error *error)
{
    *catalogue = (struct cts_catalogue){0};
    char path[PATH_MAX];
    enum cts_status status = check_path(run_path, path, sizeof path, error);
    if (status) return status;
    sqlite3 *db = NULL;
    catalogue->private_data = calloc(1, sizeof *catalogue->private_data);
    if (!catalogue->private_data) {
        status = cts_catalogue_no_memory(error);
    } else if (open_read_only(run_path, path, &db)) {
        status = cts_sql_fail(db, error, "cannot open");
    } else {
        be_careful(db);
        struct cts_schema *const schema = &catalogue->private_data->schema;
        status = check_version(db, schema, error);
        if (status == CTS_IO && open_without_sharing(run_path, path, &db)) {
            be_careful(db);
            status = check_version(db, schema, error);
        }
        if (!status) status = add_journals(&db, run_path, error);
        if (!status) status = read(db, catalogue, error);
        cts_schema_release(schema);
    }
    sqlite3_close(db);
    if (!status) return CTS_OK;
    cts_catalogue_release(catalogue);
    return cts_context(error, "cannot read '%s'", path);
}

enum cts_status cts_catalogue_read(const char *run_path, struct cts_catalogue *catalogue,
                                   struct cts_error *error)
{
    return read_with(read_all, run_path, catalogue, error);
}

enum cts_status cts_catalogue_read_seal(const char *run_path, struct cts_catalogue *catalogue,
                                        struct cts_error *error)
{
    return read_with(read_seal, run_path, catalogue, error);
}
