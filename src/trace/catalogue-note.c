#include "trace/catalogue-note.h"

#include "trace/catalogue-sql.h"

static void bind_text(sqlite3_stmt *statement, int column, const char *text)
{
    if (text)
        sqlite3_bind_text(statement, column, text, -1, SQLITE_STATIC); /* which needs no memory */
    else
        sqlite3_bind_null(statement, column);
}

static int write_rank(sqlite3_stmt *statement, const struct cts_rank *row)
{
    sqlite3_bind_int64(statement, 1, row->rank);
    sqlite3_bind_int64(statement, 2, row->pid);
    bind_text(statement, 3, row->host);
    bind_text(statement, 4, row->program);
    bind_text(statement, 5, row->arguments);
    bind_text(statement, 6, row->recorder);
    sqlite3_bind_int64(statement, 7, (sqlite3_int64)row->start_ns);
    if (row->end_ns) sqlite3_bind_int64(statement, 8, (sqlite3_int64)row->end_ns);
    sqlite3_bind_int64(statement, 9, (sqlite3_int64)row->unix_start_ns);
    bind_text(statement, 10, row->failure);
    return sqlite3_step(statement);
}

static int write_device(sqlite3_stmt *statement, const struct cts_device *row)
{
    sqlite3_bind_int64(statement, 1, row->rank);
    sqlite3_bind_int64(statement, 2, row->device);
    bind_text(statement, 3, row->name);
    bind_text(statement, 4, row->kind);
    return sqlite3_step(statement);
}

static int write_message(sqlite3_stmt *statement, const struct cts_message *row)
{
    sqlite3_bind_int64(statement, 1, row->rank);
    bind_text(statement, 2, row->severity);
    bind_text(statement, 3, row->text);
    return sqlite3_step(statement);
}

#define WRITE_ALL(sql, rows, count, write_row)                                                     \
    do {                                                                                           \
        sqlite3_stmt *statement = NULL;                                                            \
        int code = sqlite3_prepare_v2(db, (sql), -1, &statement, NULL);                            \
        for (size_t i = 0; code == SQLITE_OK && i < (count); i++) {                                \
            sqlite3_reset(statement);                                                              \
            sqlite3_clear_bindings(statement);                                                     \
            if (write_row(statement, &(rows)[i]) != SQLITE_DONE) code = SQLITE_ERROR;              \
        }                                                                                          \
        if (code != SQLITE_OK)                                                                     \
            status = cts_sql_fail(db, error, "cannot write '%s/run.db'", run_path);                \
        sqlite3_finalize(statement);                                                               \
    } while (0)

enum cts_status cts_catalogue_note(const char *run_path, const struct cts_catalogue_notes *notes,
                                   struct cts_error *error)
{
    sqlite3 *db = NULL;
    enum cts_status status = cts_catalogue_open_database(run_path, &db, error);
    if (!status) status = cts_sql_run(db, "BEGIN IMMEDIATE", "cannot write run.db", error);
    if (!status)
        WRITE_ALL("INSERT OR IGNORE INTO ranks (rank, pid, host, program, arguments, recorder, "
                  "start_ns, end_ns, unix_start_ns, failure, records, accesses, dropped_records, "
                  "dropped_accesses) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0)",
                  notes->ranks, notes->rank_count, write_rank);
    if (!status)
        WRITE_ALL("INSERT OR IGNORE INTO devices (rank, device, name, kind, sm_count, "
                  "memory_bytes, compute_major, compute_minor) VALUES (?, ?, ?, ?, 0, 0, 0, 0)",
                  notes->devices, notes->device_count, write_device);
    if (!status)
        WRITE_ALL("INSERT INTO messages (rank, severity, text) VALUES (?, ?, ?)", notes->messages,
                  notes->message_count, write_message);
    if (!status) status = cts_sql_run(db, "COMMIT", "cannot write run.db", error);
    cts_catalogue_close_database(db);
    return status;
}
