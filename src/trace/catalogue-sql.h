/* SQLite as the catalogue uses it: opening, running statements, errors as ours. Private. */
#ifndef CTS_TRACE_CATALOGUE_SQL_H
#define CTS_TRACE_CATALOGUE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

/* Fails with SQLite's text for what went wrong last; `what` reads like "cannot read 'r/run.db'". */
enum cts_status cts_sql_fail(sqlite3 *db, struct cts_error *error, const char *what_format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether the last call on `db`, or the statement just finalized, could not be carried out: what it
 * did not find may be there. SQL that asks for what a database does not have is no such failure. */
bool cts_sql_has_failed(sqlite3 *db);

/* Runs statements that return nothing of interest. `what` as above, complete. */
CTS_MUST_CHECK enum cts_status cts_sql_run(sqlite3 *db, const char *sql, const char *what,
                                           struct cts_error *error);

/* Opens the database at `path` alone, without locks or a log: nobody may write it meanwhile.
 * SQLite's code; *db is to be closed in any case. */
int cts_sql_open_immutable(const char *path, sqlite3 **db);

/* The statements that create all tables and indices. */
const char *cts_schema_text(void);

/* A catalogue open for writing by one process: locks and journal set up, schema checked. */
CTS_MUST_CHECK enum cts_status cts_catalogue_open_database(const char *run_path, sqlite3 **db,
                                                           struct cts_error *error);

/* Before the database at `path` is opened: CTS_FORMAT where its rollback journal is a pipe, which
 * SQLite would wait for; and, to write, where it is none of ours (see below). */
CTS_MUST_CHECK enum cts_status cts_catalogue_check_journal(const char *path, bool for_writing,
                                                           struct cts_error *error);

/* SQLITE_OPEN_ flags to read the database at `path`: read-only, unless a process that was killed
 * left a rollback journal, which only a writer may roll back. One that names a super-journal is
 * none of ours (SQLite would delete the file of that name) and left alone. */
int cts_catalogue_read_flags(const char *path);

/* Closes it; the last process to do so turns the write-ahead log into plain content. NULL: nothing.
 * No statement may be left. */
void cts_catalogue_close_database(sqlite3 *db);

/* "format_version" of a database that has a table `run`; -1: it has no such key or table. */
int64_t cts_catalogue_format_version(sqlite3 *db);

/* INSERT OR IGNORE, or with `replace` OR REPLACE, into table run. */
CTS_MUST_CHECK enum cts_status cts_catalogue_store_key(sqlite3 *db, const char *key,
                                                       const char *value, bool replace,
                                                       struct cts_error *error);

/* The text of a key of table run in `text`; false when there is none or it does not fit. */
bool cts_catalogue_load_key(sqlite3 *db, const char *key, char *text, size_t text_bytes);

#endif
