/* Which processes a file of Nsight Systems has, and which tables. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/read-file.h"
#include "import/nsys-tables.h"
#include "trace/catalogue-sql.h"

enum { PROCESSES_MAX = 4096, NAME_BYTES_MAX = 16 << 20 };

/* ---- asking ---- */

void cts_nsys_failed(struct cts_nsys *nsys)
{
    if (!nsys->failure.status)
        (void)cts_sql_fail(nsys->db, &nsys->failure, "cannot read '%s'", nsys->path);
}

bool cts_nsys_has_column(struct cts_nsys *nsys, const char *table, const char *column)
{
    const int code = sqlite3_table_column_metadata(nsys->db, "main", table, column, NULL, NULL,
                                                   NULL, NULL, NULL);
    if (code != SQLITE_OK && code != SQLITE_ERROR) cts_nsys_failed(nsys);
    return code == SQLITE_OK;
}

bool cts_nsys_has_table(struct cts_nsys *nsys, const char *name)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(nsys->db,
                                  "SELECT 1 FROM sqlite_master WHERE type = 'table' AND "
                                  "rootpage > 0 AND name = ?",
                                  -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) cts_nsys_failed(nsys);
    return code == SQLITE_ROW;
}

enum cts_status cts_nsys_check(const struct cts_nsys *nsys, struct cts_error *error)
{
    if (nsys->failure.status) *error = nsys->failure;
    return nsys->failure.status;
}

/* ---- opening ---- */

static int open_database(const char *path, sqlite3 **db)
{
    const int code = cts_sql_open_immutable(path, db);
    if (code != SQLITE_OK) return code;
    sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, NAME_BYTES_MAX);
    sqlite3_exec(*db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
    return code;
}

static bool has_tables_of_nsys(struct cts_nsys *nsys)
{
    if (!cts_nsys_has_table(nsys, "StringIds")) return false;
    for (size_t i = 0; i < CTS_NSYS_TABLE_COUNT; i++)
        if (cts_nsys_has_table(nsys, cts_nsys_tables[i].name)) return true;
    return cts_nsys_has_table(nsys, "META_DATA_EXPORT") ||
           cts_nsys_has_table(nsys, "ANALYSIS_DETAILS");
}

enum cts_status cts_nsys_is_export(const char *path, bool *is_own, struct cts_error *error)
{
    static const char magic[16] = "SQLite format 3";
    char head[sizeof magic];
    struct stat facts;
    *is_own = false;
    if (stat(path, &facts) || !S_ISREG(facts.st_mode)) return CTS_OK;
    const int fd = cts_open_regular_file(path, error);
    if (fd < 0) return error->status;
    const ssize_t count = cts_read_file(fd, (uint8_t *)head, sizeof head);
    const int code = errno;
    close(fd);
    if (count < 0) return cts_fail_errno(error, code, "cannot read '%s'", path);
    if (count < (ssize_t)sizeof head || memcmp(head, magic, sizeof magic)) return CTS_OK;
    /* A damaged one is for cts_nsys_open() to refuse, unless another format takes databases. */
    struct cts_nsys nsys = {.path = (char *)path};
    if (open_database(path, &nsys.db) != SQLITE_OK) cts_nsys_failed(&nsys);
    *is_own = !nsys.failure.status && has_tables_of_nsys(&nsys);
    const enum cts_status status = cts_nsys_check(&nsys, error);
    sqlite3_close(nsys.db);
    if (status == CTS_FORMAT) *is_own = true;
    return status == CTS_FORMAT ? CTS_OK : status;
}

/* Changes that are not in the file itself. */
static enum cts_status refuse_log(const char *path, struct cts_error *error)
{
    static const char *const ends[] = {"-wal", "-journal"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct stat facts;
        char *log = NULL;
        if (asprintf(&log, "%s%s", path, ends[i]) < 0)
            return cts_fail(error, CTS_MEMORY, "no memory");
        const bool is_there = stat(log, &facts) == 0 && facts.st_size > 0;
        free(log);
        if (is_there)
            return cts_fail(error, CTS_FORMAT,
                            "'%s' is still being written, or was not finished ('%s%s' holds "
                            "changes): export it again",
                            path, path, ends[i]);
    }
    return CTS_OK;
}

/* ---- processes ---- */

static int by_pid(const void *left, const void *right)
{
    const struct cts_nsys_process *const a = left, *const b = right;
    if (a->pid != b->pid) return a->pid < b->pid ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static enum cts_status add_process(struct cts_nsys *nsys, int64_t id, struct cts_error *error)
{
    for (size_t i = 0; i < nsys->process_count; i++)
        if (nsys->processes[i].id == id) return CTS_OK;
    if (nsys->process_count == PROCESSES_MAX)
        return cts_fail(error, CTS_FORMAT, "'%s' has more than %d processes", nsys->path,
                        PROCESSES_MAX);
    struct cts_nsys_process *const grown =
        realloc(nsys->processes, (nsys->process_count + 1) * sizeof *nsys->processes);
    if (!grown) return cts_fail(error, CTS_MEMORY, "no memory");
    nsys->processes = grown;
    grown[nsys->process_count++] =
        (struct cts_nsys_process){.id = id, .pid = (uint32_t)(id & 0xffffff)};
    return CTS_OK;
}

static enum cts_status add_processes(struct cts_nsys *nsys, const struct cts_nsys_plan *plan,
                                     struct cts_error *error)
{
    char sql[200];
    sqlite3_stmt *statement = NULL;
    enum cts_status status = CTS_OK;
    const char *const owner = plan->columns[CTS_NSYS_OWNER];
    if (!cts_nsys_has_table(nsys, plan->name)) return CTS_OK;
    if (!cts_nsys_has_column(nsys, plan->name, owner)) {
        snprintf(sql, sizeof sql, "SELECT 0 FROM \"%s\" LIMIT 1", plan->name);
    } else {
        snprintf(sql, sizeof sql, "SELECT DISTINCT \"%s\" >> 24 FROM \"%s\" WHERE \"%s\" NOTNULL",
                 owner, plan->name, owner);
    }
    int code = sqlite3_prepare_v2(nsys->db, sql, -1, &statement, NULL);
    while (!status && code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        status = add_process(nsys, sqlite3_column_int64(statement, 0), error);
        code = SQLITE_OK;
    }
    if (!status && code != SQLITE_DONE)
        status =
            cts_sql_fail(nsys->db, error, "cannot read table %s of '%s'", plan->name, nsys->path);
    sqlite3_finalize(statement);
    return status;
}

/* Rows of tables without the column belong to the only process there is. */
static void drop_nameless(struct cts_nsys *nsys)
{
    if (nsys->process_count < 2) return;
    size_t kept = 0;
    for (size_t i = 0; i < nsys->process_count; i++)
        if (nsys->processes[i].id) nsys->processes[kept++] = nsys->processes[i];
    nsys->process_count = kept;
}

static enum cts_status find_processes(struct cts_nsys *nsys, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < CTS_NSYS_TABLE_COUNT && !status; i++)
        if (cts_nsys_tables[i].is_cuda) status = add_processes(nsys, &cts_nsys_tables[i], error);
    const size_t cuda_count = nsys->process_count;
    for (size_t i = 0; i < CTS_NSYS_TABLE_COUNT && !status; i++)
        if (!cts_nsys_tables[i].is_cuda) status = add_processes(nsys, &cts_nsys_tables[i], error);
    if (cuda_count) {
        nsys->other_count = nsys->process_count - cuda_count;
        nsys->process_count = cuda_count;
    }
    drop_nameless(nsys);
    if (nsys->process_count)
        qsort(nsys->processes, nsys->process_count, sizeof *nsys->processes, by_pid);
    return status;
}

/* Ranks of MPI, where the file has them. */
static void find_ranks(struct cts_nsys *nsys)
{
    sqlite3_stmt *statement = NULL;
    if (!cts_nsys_has_column(nsys, "MPI_RANKS", "globalTid") ||
        !cts_nsys_has_column(nsys, "MPI_RANKS", "rank"))
        return;
    int code = sqlite3_prepare_v2(nsys->db, "SELECT globalTid >> 24, rank FROM MPI_RANKS", -1,
                                  &statement, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        for (size_t i = 0; i < nsys->process_count; i++)
            if (nsys->processes[i].id == sqlite3_column_int64(statement, 0)) {
                nsys->processes[i].has_rank = true;
                nsys->processes[i].rank = sqlite3_column_int64(statement, 1);
            }
    }
    if (code != SQLITE_DONE) cts_nsys_failed(nsys);
    sqlite3_finalize(statement);
}

/* ---- what else there is ---- */

static bool is_imported(const char *name)
{
    for (size_t i = 0; i < CTS_NSYS_TABLE_COUNT; i++)
        if (!strcmp(cts_nsys_tables[i].name, name)) return true;
    return !strcmp(name, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION") ||
           !strcmp(name, "CUPTI_ACTIVITY_KIND_CUDA_EVENT");
}

static enum cts_status note_ignored(struct cts_nsys *nsys, const char *name,
                                    struct cts_error *error)
{
    char *sql = sqlite3_mprintf("SELECT count(*) FROM \"%w\"", name);
    sqlite3_stmt *statement = NULL;
    if (!sql) return cts_fail(error, CTS_MEMORY, "no memory");
    uint64_t count = 0;
    int code = sqlite3_prepare_v2(nsys->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        count = (uint64_t)sqlite3_column_int64(statement, 0);
    else
        cts_nsys_failed(nsys);
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    if (!count) return CTS_OK;
    struct cts_nsys_table *const grown =
        realloc(nsys->ignored, (nsys->ignored_count + 1) * sizeof *nsys->ignored);
    if (!grown) return cts_fail(error, CTS_MEMORY, "no memory");
    nsys->ignored = grown;
    grown[nsys->ignored_count] = (struct cts_nsys_table){strdup(name), count};
    if (!grown[nsys->ignored_count].name) return cts_fail(error, CTS_MEMORY, "no memory");
    nsys->ignored_count++;
    return CTS_OK;
}

static enum cts_status find_ignored(struct cts_nsys *nsys, struct cts_error *error)
{
    sqlite3_stmt *statement = NULL;
    enum cts_status status = CTS_OK;
    if (sqlite3_prepare_v2(nsys->db,
                           "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 "
                           "ORDER BY name LIMIT 1000",
                           -1, &statement, NULL) != SQLITE_OK)
        return cts_sql_fail(nsys->db, error, "cannot read '%s'", nsys->path);
    int code = SQLITE_OK;
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *const name = (const char *)sqlite3_column_text(statement, 0);
        const bool has_times = name && (cts_nsys_has_column(nsys, name, "start") ||
                                        cts_nsys_has_column(nsys, name, "timestamp"));
        if (has_times && !is_imported(name)) status = note_ignored(nsys, name, error);
    }
    if (!status && code != SQLITE_DONE) cts_nsys_failed(nsys);
    sqlite3_finalize(statement);
    return status;
}

enum cts_status cts_nsys_open(const char *path, struct cts_nsys *nsys, struct cts_error *error)
{
    *nsys = (struct cts_nsys){.path = strdup(path)};
    if (!nsys->path) return cts_fail(error, CTS_MEMORY, "no memory");
    enum cts_status status = refuse_log(path, error);
    if (!status && open_database(path, &nsys->db) != SQLITE_OK) cts_nsys_failed(nsys);
    const bool is_export = !status && !nsys->failure.status && has_tables_of_nsys(nsys);
    if (!status) status = cts_nsys_check(nsys, error);
    if (!status && !is_export)
        status = cts_fail(error, CTS_FORMAT, "'%s' is no export of Nsight Systems", path);
    if (!status) status = find_processes(nsys, error);
    if (!status && !nsys->process_count)
        status = cts_fail(error, CTS_FORMAT, "'%s' holds no events", path);
    if (status) return status;
    find_ranks(nsys);
    nsys->has_stream_kinds = cts_nsys_has_column(nsys, "TARGET_INFO_CUDA_STREAM", "flag");
    nsys->has_event_records =
        cts_nsys_has_column(nsys, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "eventSyncId") &&
        cts_nsys_has_column(nsys, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "eventSyncId");
    status = find_ignored(nsys, error);
    return status ? status : cts_nsys_check(nsys, error);
}

void cts_nsys_close(struct cts_nsys *nsys)
{
    sqlite3_close(nsys->db);
    free(nsys->path);
    free(nsys->processes);
    for (size_t i = 0; i < nsys->ignored_count; i++) free(nsys->ignored[i].name);
    free(nsys->ignored);
    *nsys = (struct cts_nsys){0};
}
