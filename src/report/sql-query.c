#include "report/sql-query.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/array.h"
#include "common/text-stream.h"
#include "report/query-tables.h"
#include "trace/catalogue-tables.h"

enum { STEPS = 2000, TABLES_MAX = CTS_TABLE_COUNT + 24, COLUMNS_MAX = 2000 };

/* ---- time ---- */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

bool cts_query_is_late(struct cts_query_state *state)
{
    if (state->end_ns && !state->is_late) state->is_late = now_ns() > state->end_ns;
    return state->is_late;
}

static int look_at_time(void *state)
{
    return cts_query_is_late(state);
}

/* ---- what SQLite calls ---- */

struct module {
    const struct cts_query_table *table;
    struct cts_query_state *state;
};
struct table {
    sqlite3_vtab base;
    const struct module *module;
};
struct cursor {
    sqlite3_vtab_cursor base;
    void *own; /* of the table */
    bool is_open, is_over;
    int64_t row;
};

static int fail(struct table *table, const struct cts_error *error)
{
    struct cts_query_state *const state = table->module->state;
    if (!state->error.status) state->error = *error;
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = sqlite3_mprintf("%s", error->text);
    return SQLITE_ERROR;
}

static int on_connect(sqlite3 *database, void *of, int argc, const char *const *argv,
                      sqlite3_vtab **out, char **message)
{
    const struct module *const module = of;
    struct cts_text_stream stream;
    FILE *const file = cts_text_stream_open(&stream);
    struct table *const table = sqlite3_malloc(sizeof *table);
    (void)argc;
    (void)argv;
    (void)message;
    if (table) *table = (struct table){.module = module};
    if (file) {
        fputs("CREATE TABLE x(", file);
        module->table->declare(module->table, module->state, file);
        fputs(")", file);
    }
    char *const text = file ? cts_text_stream_close(&stream, NULL) : NULL;
    module->state->is_declaring = true;
    int code = table && text ? sqlite3_declare_vtab(database, text) : SQLITE_NOMEM;
    module->state->is_declaring = false;
    free(text);
    if (code == SQLITE_OK)
        *out = &table->base;
    else
        sqlite3_free(table);
    return code;
}

static int on_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int on_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct table *const table = (struct table *)base;
    info->estimatedCost = 1e7;
    info->estimatedRows = 10000000;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *const it = &info->aConstraint[i];
        if (!it->usable || it->op != SQLITE_INDEX_CONSTRAINT_EQ ||
            it->iColumn != table->module->table->keyed_column || it->iColumn < 0)
            continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->idxNum = 1;
        info->estimatedCost = 1e4;
        info->estimatedRows = 10000;
        break;
    }
    return SQLITE_OK;
}

static int on_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    const struct table *const table = (struct table *)base;
    struct cursor *const cursor = calloc(1, sizeof *cursor);
    void *const own = calloc(1, table->module->table->cursor_bytes);
    if (!cursor || !own) {
        free(cursor);
        free(own);
        return SQLITE_NOMEM;
    }
    cursor->own = own;
    *out = &cursor->base;
    return SQLITE_OK;
}

static void end_rows(struct cursor *cursor)
{
    const struct table *const table = (struct table *)cursor->base.pVtab;
    if (cursor->is_open) table->module->table->end(cursor->own);
    memset(cursor->own, 0, table->module->table->cursor_bytes);
    cursor->is_open = false;
}

static int on_close(sqlite3_vtab_cursor *base)
{
    struct cursor *const cursor = (struct cursor *)base;
    end_rows(cursor);
    free(cursor->own);
    free(cursor);
    return SQLITE_OK;
}

static int on_next(sqlite3_vtab_cursor *base)
{
    struct cursor *const cursor = (struct cursor *)base;
    struct table *const table = (struct table *)base->pVtab;
    const struct module *const module = table->module;
    struct cts_error error = {0};
    enum cts_status status = CTS_OK;
    cursor->row++;
    cursor->is_over =
        !module->table->next(module->state, module->table, cursor->own, &status, &error);
    return status ? fail(table, &error) : SQLITE_OK;
}

static int on_filter(sqlite3_vtab_cursor *base, int index, const char *text, int argc,
                     sqlite3_value **argv)
{
    struct cursor *const cursor = (struct cursor *)base;
    struct table *const table = (struct table *)base->pVtab;
    const struct module *const module = table->module;
    struct cts_error error = {0};
    (void)text;
    const bool is_keyed = index && argc && sqlite3_value_numeric_type(argv[0]) == SQLITE_INTEGER;
    const int64_t key = is_keyed ? sqlite3_value_int64(argv[0]) : 0;
    end_rows(cursor);
    cursor->row = -1;
    cursor->is_open = true;
    const enum cts_status status = module->table->begin(module->state, module->table, cursor->own,
                                                        is_keyed ? &key : NULL, &error);
    return status ? fail(table, &error) : on_next(base);
}

static int on_eof(sqlite3_vtab_cursor *base)
{
    return ((struct cursor *)base)->is_over;
}

static int on_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct module *const module = ((struct table *)base->pVtab)->module;
    module->table->column(module->state, module->table, ((struct cursor *)base)->own, column,
                          context);
    return SQLITE_OK;
}

static int on_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
    *row = ((struct cursor *)base)->row;
    return SQLITE_OK;
}

static const sqlite3_module calls = {
    .xConnect = on_connect, /* no xCreate: the tables are there without being made */
    .xBestIndex = on_best_index,
    .xDisconnect = on_disconnect,
    .xOpen = on_open,
    .xClose = on_close,
    .xFilter = on_filter,
    .xNext = on_next,
    .xEof = on_eof,
    .xColumn = on_column,
    .xRowid = on_rowid,
};

void cts_query_declare(FILE *file, const char *name, const char *type, bool is_first)
{
    fprintf(file, "%s\"%s\" %s", is_first ? "" : ", ", name, type);
}

/* ---- the database ---- */

struct database {
    sqlite3 *sqlite;
    struct cts_query_state state;
    struct cts_query_table tables[TABLES_MAX];
    struct module modules[TABLES_MAX];
    unsigned table_count;
};

/* What a query may do: read. */
static int authorize(void *state, int action, const char *first, const char *second,
                     const char *database, const char *trigger)
{
    (void)first;
    (void)database;
    (void)trigger;
    if (((const struct cts_query_state *)state)->is_declaring) return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return second && !strcmp(second, "load_extension") ? SQLITE_DENY : SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

static int add_table(struct database *database, const struct cts_query_table *table)
{
    const unsigned i = database->table_count++;
    assert(i < TABLES_MAX);
    database->tables[i] = *table;
    database->modules[i] = (struct module){&database->tables[i], &database->state};
    return sqlite3_create_module_v2(database->sqlite, table->name, &calls, &database->modules[i],
                                    NULL);
}

static int add_tables(struct database *database)
{
    const struct cts_query_run *const run = database->state.run;
    int code = SQLITE_OK;
    for (size_t i = 0; i < CTS_TABLE_COUNT && run->catalogue && !code; i++) {
        struct cts_query_table table = cts_query_catalogue;
        table.name = cts_tables[i].name;
        table.of = &cts_tables[i];
        code = add_table(database, &table);
    }
    if (run->catalogue && !code) code = add_table(database, &cts_query_keys);
    for (size_t i = 0; cts_query_sheets[i].name && run->source && !code; i++)
        code = add_table(database, &cts_query_sheets[i]);
    for (size_t i = 0; cts_query_accesses[i].name && run->source && !code; i++)
        code = add_table(database, &cts_query_accesses[i]);
    for (size_t i = 0; cts_query_events[i].name && run->open_timeline && !code; i++)
        code = add_table(database, &cts_query_events[i]);
    return code;
}

/* "ranks, devices, ...": what an unknown table could have been. */
static void name_tables(const struct database *database, char *text, size_t bytes)
{
    *text = '\0';
    for (unsigned i = 0; i < database->table_count; i++)
        snprintf(text + strlen(text), bytes - strlen(text), "%s%s", i ? ", " : "",
                 database->tables[i].name);
}

static enum cts_status refuse(struct database *database, struct cts_error *error)
{
    const char *const message = sqlite3_errmsg(database->sqlite);
    char tables[900];
    if (database->state.is_late)
        return cts_fail(error, CTS_LIMIT, "the query takes longer than %.3g s",
                        (double)database->state.run->limit_ns / 1e9);
    if (database->state.error.status) {
        *error = database->state.error;
        return error->status;
    }
    if (sqlite3_errcode(database->sqlite) == SQLITE_NOMEM)
        return cts_fail(error, CTS_MEMORY, "no memory for the query");
    if (sqlite3_errcode(database->sqlite) == SQLITE_AUTH)
        return cts_fail(error, CTS_USAGE, "a query can only read: begin it with SELECT or WITH");
    if (strncmp(message, "no such table", 13) != 0)
        return cts_fail(error, CTS_USAGE, "SQLite refuses the query: %s", message);
    name_tables(database, tables, sizeof tables);
    return cts_fail(error, CTS_USAGE, "%s; this run's tables are %s", message, tables);
}

/* ---- the query ---- */

struct result {
    const struct cts_query_ops *ops;
    void *state;
    unsigned count;
    struct cts_query_value *values;
};

static struct cts_query_value value_at(sqlite3_stmt *statement, unsigned column)
{
    const int i = (int)column;
    switch (sqlite3_column_type(statement, i)) {
    case SQLITE_INTEGER:
        return (struct cts_query_value){.kind = CTS_QUERY_INTEGER,
                                        .integer = sqlite3_column_int64(statement, i)};
    case SQLITE_FLOAT:
        return (struct cts_query_value){.kind = CTS_QUERY_REAL,
                                        .real = sqlite3_column_double(statement, i)};
    case SQLITE_NULL:
        return (struct cts_query_value){.kind = CTS_QUERY_NULL};
    default: /* a blob has its bytes up to the first 0 */
        return (struct cts_query_value){.kind = CTS_QUERY_TEXT,
                                        .text = (const char *)sqlite3_column_text(statement, i)};
    }
}

static enum cts_status tell_columns(sqlite3_stmt *statement, struct result *result,
                                    struct cts_error *error)
{
    result->count = (unsigned)sqlite3_column_count(statement);
    const char **const names = cts_array_zeroed(result->count, sizeof *names, error);
    result->values = cts_array_zeroed(result->count, sizeof *result->values, error);
    enum cts_status status = names && result->values ? CTS_OK : CTS_MEMORY;
    for (unsigned i = 0; i < result->count && !status; i++) {
        names[i] = sqlite3_column_name(statement, (int)i);
        if (!names[i]) status = cts_fail(error, CTS_MEMORY, "no memory for the query");
    }
    if (!status) status = result->ops->columns(result->state, names, result->count, error);
    free(names);
    return status;
}

static enum cts_status step(struct database *database, sqlite3_stmt *statement,
                            struct result *result, struct cts_error *error)
{
    bool is_enough = false;
    enum cts_status status = tell_columns(statement, result, error);
    while (!status && !is_enough) {
        const int code = sqlite3_step(statement);
        if (code == SQLITE_DONE) break;
        if (code != SQLITE_ROW) return refuse(database, error);
        for (unsigned i = 0; i < result->count; i++) result->values[i] = value_at(statement, i);
        status = result->ops->row(result->state, result->values, &is_enough, error);
    }
    return status;
}

static enum cts_status execute(struct database *database, const char *sql, struct result *result,
                               struct cts_error *error)
{
    sqlite3_stmt *statement = NULL;
    const char *rest = sql;
    enum cts_status status = CTS_OK;
    if (sqlite3_prepare_v2(database->sqlite, sql, -1, &statement, &rest))
        status = refuse(database, error);
    else if (!statement)
        status = cts_fail(error, CTS_USAGE, "the query is empty");
    else if (rest[strspn(rest, " \t\r\n;")])
        status = cts_fail(error, CTS_USAGE, "one query at a time: '%.60s' is a second one",
                          rest + strspn(rest, " \t\r\n;"));
    else
        status = step(database, statement, result, error);
    sqlite3_finalize(statement);
    return status;
}

static bool is_given_up(const void *state)
{
    struct database *const database = (struct database *)(uintptr_t)state;
    return cts_query_is_late(&database->state);
}

static enum cts_status read_chunk(const void *state, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    const struct cts_access_source *const own = ((const struct database *)state)->state.run->source;
    if (is_given_up(state)) return cts_fail(error, CTS_LIMIT, "out of time");
    return own->read(own->state, chunk, batch, error);
}

static const char *path_of(const void *state, uint32_t file)
{
    const struct cts_access_source *const own = ((const struct database *)state)->state.run->source;
    return own->path ? own->path(own->state, file) : "";
}

static enum cts_status open_database(struct database *database, struct cts_error *error)
{
    if (sqlite3_open_v2(":memory:", &database->sqlite,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
        return cts_fail(error, CTS_MEMORY, "SQLite cannot be started: %s",
                        sqlite3_errmsg(database->sqlite));
    if (add_tables(database)) return refuse(database, error);
    sqlite3_limit(database->sqlite, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(database->sqlite, SQLITE_LIMIT_COLUMN, COLUMNS_MAX);
    sqlite3_set_authorizer(database->sqlite, authorize, &database->state);
    sqlite3_progress_handler(database->sqlite, STEPS, look_at_time, &database->state);
    return CTS_OK;
}

enum cts_status cts_sql_query(const struct cts_query_run *run, const char *sql,
                              const struct cts_query_ops *ops, void *state, struct cts_error *error)
{
    struct database *const database = cts_array_zeroed(1, sizeof *database, error);
    struct result result = {.ops = ops, .state = state};
    if (!database) return CTS_MEMORY;
    database->state.run = run;
    if (run->limit_ns) database->state.end_ns = now_ns() + run->limit_ns;
    if (run->source) {
        database->state.source = *run->source;
        database->state.source.state = database;
        database->state.source.read = read_chunk;
        database->state.source.path = path_of;
        database->state.source.is_given_up = is_given_up;
    }
    enum cts_status status = open_database(database, error);
    if (!status) status = execute(database, sql, &result, error);
    free(result.values);
    sqlite3_close(database->sqlite);
    cts_access_release(&database->state.access);
    cts_flow_release(&database->state.flow);
    free(database);
    return status;
}
