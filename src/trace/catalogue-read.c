/* The reader trusts nothing: a run.db may be damaged, made by hand, or something else altogether.
 *
 * It opens the database read-only, looks at the schema's own table before it touches any other (a
 * view or a virtual table in place of a table could compute for ever), and reads every table in
 * one transaction, so that a run that is still being recorded is seen as of one moment. Each value
 * is checked for type, range and NULL as its column says (catalogue-tables.c), each row for what
 * must hold of it, and at last every id that a row names (catalogue-check.c).
 *
 * Strings live in an arena of chunks; rows in one array per table. */
#include "trace/catalogue.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/search.h"
#include "trace/catalogue-check.h"
#include "trace/catalogue-open.h"
#include "trace/catalogue-sql.h"
#include "trace/catalogue-tables.h"
#include "trace/journal.h"
#include "trace/seal-tables.h"

enum {
    ARENA_CHUNK_BYTES = 64 * 1024,
    TEXT_MAX_BYTES = 256 << 20,
    GAPS_MAX = 1 << 20, /* ids of one table that were reserved and never written */
    READ_BUSY_MS = 10000
};

struct arena_chunk {
    struct arena_chunk *next;
    char bytes[];
};

struct run_key {
    const char *key, *value;
};

struct cts_catalogue_private {
    struct arena_chunk *chunks;
    size_t chunk_left_bytes;
    char *chunk_at;
    struct run_key *keys;
    size_t key_count;
    uint32_t *launch_order; /* indices of launches[], by id */
};

/* ---- memory ---- */

static char *arena_take(struct cts_catalogue_private *p, size_t byte_count)
{
    if (byte_count > p->chunk_left_bytes) {
        const size_t size = byte_count > ARENA_CHUNK_BYTES ? byte_count : ARENA_CHUNK_BYTES;
        struct arena_chunk *const chunk = malloc(sizeof *chunk + size);
        if (!chunk) return NULL;
        chunk->next = p->chunks;
        p->chunks = chunk;
        p->chunk_at = chunk->bytes;
        p->chunk_left_bytes = size;
    }
    char *const bytes = p->chunk_at;
    p->chunk_at += byte_count;
    p->chunk_left_bytes -= byte_count;
    return bytes;
}

static enum cts_status no_memory(struct cts_error *error)
{
    return cts_fail(error, CTS_MEMORY, "no memory for the catalogue");
}

static enum cts_status arena_text(struct cts_catalogue_private *p, sqlite3_stmt *statement,
                                  int column, const char **text, struct cts_error *error)
{
    const char *const value = (const char *)sqlite3_column_text(statement, column);
    const size_t length = (size_t)sqlite3_column_bytes(statement, column);
    char *const copy = value ? arena_take(p, length + 1) : NULL;
    if (!copy) return no_memory(error);
    memcpy(copy, value, length + 1);
    *text = copy;
    return CTS_OK;
}

/* A table's rows while they are read. */
struct row_array {
    const struct cts_table *table;
    char *rows;
    size_t count, capacity;
};

static char *add_rows(struct row_array *array, size_t more)
{
    if (more > array->capacity - array->count) {
        size_t capacity = array->capacity ? array->capacity * 2 : 16;
        while (capacity - array->count < more) capacity *= 2;
        char *const rows = reallocarray(array->rows, capacity, array->table->row_bytes);
        if (!rows) return NULL;
        array->rows = rows;
        array->capacity = capacity;
    }
    char *const added = array->rows + array->count * array->table->row_bytes;
    memset(added, 0, more * array->table->row_bytes);
    array->count += more;
    return added;
}

/* ---- one value ---- */

static void store_number(const struct cts_table_column *column, void *row, uint64_t number)
{
    char *const field = (char *)row + column->offset;
    switch ((enum cts_column_type)column->type) {
    case CTS_COLUMN_U8:
        *(uint8_t *)field = (uint8_t)number;
        break;
    case CTS_COLUMN_BOOL:
        *(bool *)field = number != 0;
        break;
    case CTS_COLUMN_U32:
        *(uint32_t *)(void *)field = (uint32_t)number;
        break;
    case CTS_COLUMN_I32:
        *(int32_t *)(void *)field = (int32_t)number;
        break;
    case CTS_COLUMN_U64:
    case CTS_COLUMN_I64:
        *(uint64_t *)(void *)field = number;
        break;
    case CTS_COLUMN_TEXT:
        break;
    }
}

static bool number_in_range(const struct cts_table_column *column, int64_t number)
{
    switch ((enum cts_column_type)column->type) {
    case CTS_COLUMN_U8:
        return number >= 0 && number <= UINT8_MAX;
    case CTS_COLUMN_BOOL:
        return number == 0 || number == 1;
    case CTS_COLUMN_U32:
        return number >= 0 && number <= UINT32_MAX;
    case CTS_COLUMN_I32:
        return number >= INT32_MIN && number <= INT32_MAX;
    case CTS_COLUMN_U64:
        return number >= 0 || column->unit == CTS_UNIT_ADDRESS;
    case CTS_COLUMN_I64:
        return true;
    case CTS_COLUMN_TEXT:
        break;
    }
    return false;
}

static enum cts_status read_number(const struct cts_table_column *column, sqlite3_stmt *statement,
                                   int index, void *row, struct cts_error *error)
{
    if (sqlite3_column_type(statement, index) != SQLITE_INTEGER)
        return cts_fail(error, CTS_FORMAT, "column '%s': not a whole number", column->name);
    const int64_t number = sqlite3_column_int64(statement, index);
    if (!number_in_range(column, number))
        return cts_fail(error, CTS_FORMAT, "column '%s': %lld is out of range", column->name,
                        (long long)number);
    if (column->reference != CTS_TABLE_NONE && number == CTS_NONE)
        return cts_fail(error, CTS_FORMAT, "column '%s': %lld names no row of table '%s'",
                        column->name, (long long)number, cts_tables[column->reference].name);
    store_number(column, row, (uint64_t)number);
    return CTS_OK;
}

static enum cts_status read_text(struct cts_catalogue_private *p,
                                 const struct cts_table_column *column, sqlite3_stmt *statement,
                                 int index, void *row, struct cts_error *error)
{
    if (sqlite3_column_type(statement, index) != SQLITE_TEXT)
        return cts_fail(error, CTS_FORMAT, "column '%s': not a text", column->name);
    const char **const field = (const char **)(void *)((char *)row + column->offset);
    const enum cts_status status = arena_text(p, statement, index, field, error);
    if (status) return status;
    if (strlen(*field) != (size_t)sqlite3_column_bytes(statement, index))
        return cts_fail(error, CTS_FORMAT, "column '%s': the text holds a NUL byte", column->name);
    if (!column->words) return CTS_OK;
    for (const char *const *word = column->words; *word; word++)
        if (strcmp(*word, *field) == 0) return CTS_OK;
    return cts_fail(error, CTS_FORMAT, "column '%s': unknown word '%.60s'", column->name, *field);
}

static enum cts_status read_value(struct cts_catalogue_private *p,
                                  const struct cts_table_column *column, sqlite3_stmt *statement,
                                  int index, void *row, struct cts_error *error)
{
    if (sqlite3_column_type(statement, index) == SQLITE_NULL) {
        if (column->null == CTS_NULL_REFUSED)
            return cts_fail(error, CTS_FORMAT, "column '%s': NULL where a value is needed",
                            column->name);
        if (column->null == CTS_NULL_IS_ALL_ONES) store_number(column, row, UINT64_MAX);
        return CTS_OK;
    }
    if (column->type == CTS_COLUMN_TEXT) return read_text(p, column, statement, index, row, error);
    return read_number(column, statement, index, row, error);
}

/* ---- one table ---- */

/* A table of that name must be a real one, with our columns as ordinary ones. */
static enum cts_status check_schema(sqlite3 *db, const struct cts_table *table,
                                    struct cts_error *error)
{
    static const char table_sql[] =
        "SELECT count(*) FROM sqlite_schema WHERE name = ? AND type = 'table' AND rootpage > 0";
    static const char column_sql[] = "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?";
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, table_sql, -1, &statement, NULL))
        return cts_sql_fail(db, error, "cannot read the schema");
    sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
    bool found = sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == 1;
    sqlite3_finalize(statement);
    if (!found && cts_sql_has_failed(db)) return cts_sql_fail(db, error, "cannot read the schema");
    if (!found) return cts_fail(error, CTS_FORMAT, "it has no table '%s'", table->name);
    if (sqlite3_prepare_v2(db, column_sql, -1, &statement, NULL))
        return cts_sql_fail(db, error, "cannot read the columns of table '%s'", table->name);
    enum cts_status status = CTS_OK;
    for (unsigned i = 0; !status && i < table->column_count; i++) {
        sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, table->columns[i].name, -1, SQLITE_STATIC);
        found = sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == 1;
        if (!found && cts_sql_has_failed(db))
            status = cts_sql_fail(db, error, "cannot read the columns of table '%s'", table->name);
        else if (!found)
            status = cts_fail(error, CTS_FORMAT, "table '%s' has no column '%s'", table->name,
                              table->columns[i].name);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return status;
}

static bool has_object(sqlite3 *db, const char *name)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_schema WHERE name = ?", -1, &statement, NULL))
        return true; /* check_schema() will say what is wrong */
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    const bool found = sqlite3_step(statement) != SQLITE_DONE;
    sqlite3_finalize(statement);
    return found;
}

/* The unary plus keeps SQLite from taking the order from an index that may be damaged. */
static const char *order_clause(const struct cts_table *table)
{
    switch ((enum cts_table_order)table->order) {
    case CTS_ORDER_RANK_OP:
        return "+rank, +op";
    case CTS_ORDER_RANK:
        return "+rank, +device";
    case CTS_ORDER_DENSE:
    case CTS_ORDER_ID:
        return table->columns[0].name;
    case CTS_ORDER_WRITTEN:
        break;
    }
    return "rowid";
}

static sqlite3_stmt *select_statement(sqlite3 *db, const struct cts_table *table)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_str *const sql = sqlite3_str_new(db);
    for (unsigned i = 0; i < table->column_count; i++)
        sqlite3_str_appendf(sql, "%s\"%s\"", i ? ", " : "SELECT ", table->columns[i].name);
    sqlite3_str_appendf(sql, " FROM %s ORDER BY %s", table->name, order_clause(table));
    char *const text = sqlite3_str_finish(sql);
    if (text) sqlite3_prepare_v2(db, text, -1, &statement, NULL);
    sqlite3_free(text);
    return statement;
}

/* Rows for the ids from the end of the array to `id`, which the next row will have. */
static enum cts_status fill_gap(struct row_array *array, uint64_t id, size_t *gap_count,
                                struct cts_error *error)
{
    const size_t gap = (size_t)id - array->count;
    if (gap > GAPS_MAX - *gap_count)
        return cts_fail(error, CTS_FORMAT, "column '%s': more than %d ids are missing below %llu",
                        array->table->columns[0].name, GAPS_MAX, (unsigned long long)id);
    *gap_count += gap;
    for (size_t i = 0; i < gap; i++) {
        const size_t missing_id = array->count;
        char *const row = add_rows(array, 1);
        if (!row) return no_memory(error);
        for (unsigned c = 0; c < array->table->column_count; c++)
            if (array->table->columns[c].reference != CTS_TABLE_NONE)
                store_number(&array->table->columns[c], row, CTS_NONE);
        store_number(&array->table->columns[0], row, missing_id);
    }
    return CTS_OK;
}

/* Ids ascend; in dense tables the rows between are made up. Called before the row is added. */
static enum cts_status check_id(struct row_array *array, uint64_t id, size_t *gap_count,
                                struct cts_error *error)
{
    const struct cts_table *const table = array->table;
    const struct cts_table_column *const column = &table->columns[0];
    if (table->order != CTS_ORDER_DENSE && table->order != CTS_ORDER_ID) return CTS_OK;
    const bool ascends =
        !array->count ||
        id > cts_column_number(column, array->rows + (array->count - 1) * table->row_bytes);
    if (!ascends)
        return cts_fail(error, CTS_FORMAT, "column '%s': %llu is duplicated or out of order",
                        column->name, (unsigned long long)id);
    return table->order == CTS_ORDER_DENSE ? fill_gap(array, id, gap_count, error) : CTS_OK;
}

static enum cts_status read_row(struct cts_catalogue_private *p, enum cts_table_id table_id,
                                sqlite3_stmt *statement, struct row_array *array, size_t *gap_count,
                                struct cts_error *error)
{
    const struct cts_table *const table = array->table;
    const bool has_id = table->columns[0].reference == CTS_TABLE_NONE;
    const uint64_t name = has_id ? (uint64_t)sqlite3_column_int64(statement, 0) : array->count + 1;
    struct {
        _Alignas(8) char bytes[256];
    } row = {0};
    if (sizeof row < table->row_bytes) abort(); /* our mistake: a struct has grown */
    enum cts_status status = CTS_OK;
    for (unsigned i = 0; !status && i < table->column_count; i++)
        status = read_value(p, &table->columns[i], statement, (int)i, row.bytes, error);
    if (!status) status = cts_catalogue_check_row(table_id, row.bytes, error);
    if (!status)
        status =
            check_id(array, cts_column_number(&table->columns[0], row.bytes), gap_count, error);
    if (status == CTS_FORMAT) return cts_catalogue_row_context(table_id, name, error);
    if (status) return status;
    char *const added = add_rows(array, 1);
    if (!added) return no_memory(error);
    memcpy(added, row.bytes, table->row_bytes);
    return CTS_OK;
}

static enum cts_status read_table(sqlite3 *db, enum cts_table_id table_id,
                                  struct cts_catalogue *catalogue, struct cts_error *error)
{
    const struct cts_table *const table = &cts_tables[table_id];
    if (table->optional && !has_object(db, table->name)) return CTS_OK;
    enum cts_status status = check_schema(db, table, error);
    if (status) return status;
    sqlite3_stmt *const statement = select_statement(db, table);
    if (!statement) return cts_sql_fail(db, error, "cannot read table '%s'", table->name);
    struct row_array array = {.table = table};
    size_t gap_count = 0;
    int code = SQLITE_ROW;
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW)
        status = read_row(catalogue->private_data, table_id, statement, &array, &gap_count, error);
    if (!status && code != SQLITE_DONE)
        status = cts_sql_fail(db, error, "table '%s', after row %zu", table->name, array.count);
    sqlite3_finalize(statement);
    *(void **)(void *)((char *)catalogue + table->rows_offset) = array.rows;
    *(size_t *)(void *)((char *)catalogue + table->count_offset) = array.count;
    return status;
}

/* ---- the keys ---- */

static enum cts_status read_keys(sqlite3 *db, struct cts_catalogue_private *p,
                                 struct cts_error *error)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, "SELECT key, value FROM run ORDER BY key", -1, &statement, NULL))
        return cts_sql_fail(db, error, "cannot read table 'run'");
    enum cts_status status = CTS_OK;
    int code = SQLITE_ROW;
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (sqlite3_column_type(statement, 0) == SQLITE_NULL ||
            sqlite3_column_type(statement, 1) == SQLITE_NULL)
            continue;
        struct run_key *const keys = reallocarray(p->keys, p->key_count + 1, sizeof *keys);
        if (!keys) {
            status = no_memory(error);
            break;
        }
        p->keys = keys;
        struct run_key *const added = &keys[p->key_count];
        status = arena_text(p, statement, 0, &added->key, error);
        if (!status) status = arena_text(p, statement, 1, &added->value, error);
        if (!status) p->key_count++;
    }
    if (!status && code != SQLITE_DONE) status = cts_sql_fail(db, error, "table 'run'");
    sqlite3_finalize(statement);
    return status;
}

static const struct cts_table_column run_columns[] = {{.name = "key"}, {.name = "value"}};
static const struct cts_table run_table = {
    .name = "run", .columns = run_columns, .column_count = 2};

static enum cts_status check_version(sqlite3 *db, struct cts_error *error)
{
    const int64_t object_count = cts_catalogue_object_count(db);
    if (object_count < 0) return cts_sql_fail(db, error, "cannot read the schema");
    if (object_count == 0) return cts_fail(error, CTS_FORMAT, "an empty database, not a run");
    struct cts_error reason;
    enum cts_status status = check_schema(db, &run_table, &reason);
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

/* ---- launches by id ---- */

static int compare_launch_ids(const void *a, const void *b, void *launches_argument)
{
    const struct cts_launch *const launches = launches_argument;
    const uint32_t x = launches[*(const uint32_t *)a].launch;
    const uint32_t y = launches[*(const uint32_t *)b].launch;
    return (x > y) - (x < y);
}

static enum cts_status index_launches(struct cts_catalogue *catalogue, struct cts_error *error)
{
    struct cts_catalogue_private *const p = catalogue->private_data;
    const size_t count = catalogue->launch_count;
    p->launch_order = calloc(count + 1, sizeof *p->launch_order);
    if (!p->launch_order) return no_memory(error);
    for (size_t i = 0; i < count; i++) p->launch_order[i] = (uint32_t)i;
    qsort_r(p->launch_order, count, sizeof *p->launch_order, compare_launch_ids,
            catalogue->launches);
    for (size_t i = 1; i < count; i++) {
        const uint32_t id = catalogue->launches[p->launch_order[i]].launch;
        if (id != catalogue->launches[p->launch_order[i - 1]].launch) continue;
        cts_fail(error, CTS_FORMAT, "column 'launch': duplicate");
        return cts_catalogue_row_context(CTS_TABLE_LAUNCHES, id, error);
    }
    return CTS_OK;
}

const struct cts_launch *cts_catalogue_launch(const struct cts_catalogue *catalogue,
                                              uint32_t launch)
{
    const struct cts_catalogue_private *const p = catalogue->private_data;
    if (!p) { /* made in memory: in no known order */
        for (size_t i = 0; i < catalogue->launch_count; i++)
            if (catalogue->launches[i].launch == launch) return &catalogue->launches[i];
        return NULL;
    }
    const size_t at = CTS_SEARCH(catalogue->launch_count, i,
                                 catalogue->launches[p->launch_order[i]].launch < launch);
    if (at == catalogue->launch_count) return NULL;
    const struct cts_launch *const row = &catalogue->launches[p->launch_order[at]];
    return row->launch == launch ? row : NULL;
}

bool cts_catalogue_lacks_constants(const struct cts_catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->rank_count; i++) {
        const char *const recorder = catalogue->ranks[i].recorder;
        if (recorder && !strcmp(recorder, "inject")) return true;
    }
    return false;
}

const struct cts_launch_fault *cts_catalogue_fault_of(const struct cts_catalogue *catalogue,
                                                      uint32_t launch)
{
    for (size_t i = 0; i < catalogue->fault_count; i++)
        if (catalogue->faults[i].launch == launch) return &catalogue->faults[i];
    return NULL;
}

const char *cts_catalogue_kernel_name(const struct cts_catalogue *catalogue, uint32_t kernel)
{
    return kernel < catalogue->kernel_count ? catalogue->kernels[kernel].name : NULL;
}

const struct cts_rank *cts_catalogue_find_rank(const struct cts_catalogue *catalogue, uint32_t rank)
{
    const size_t at = CTS_SEARCH(catalogue->rank_count, i, catalogue->ranks[i].rank < rank);
    return at < catalogue->rank_count && catalogue->ranks[at].rank == rank ? &catalogue->ranks[at]
                                                                           : NULL;
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
    return CTS_OK;
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

/* In a directory that cannot be written, SQLite could not make the files that a database with a
 * write-ahead log needs even to be read; without a log there is nothing in them anyway. */
static int open_read_only(const char *run_path, const char *path, sqlite3 **db)
{
    char log_path[PATH_MAX + 8];
    snprintf(log_path, sizeof log_path, "%s-wal", path);
    const int flags = cts_catalogue_read_flags(path) | SQLITE_OPEN_NOMUTEX;
    if (eaccess(run_path, W_OK) == 0 || access(log_path, F_OK) == 0)
        return sqlite3_open_v2(path, db, flags, NULL);
    char *const uri = immutable_uri(path);
    const int code = uri ? sqlite3_open_v2(uri, db, flags | SQLITE_OPEN_URI, NULL) : SQLITE_NOMEM;
    free(uri);
    return code;
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
    enum cts_status status = cts_sql_run(db, "BEGIN", "cannot read", error);
    if (!status) status = read_keys(db, catalogue->private_data, error);
    if (!status) status = read_table(db, CTS_TABLE_FILES, catalogue, error);
    return status ? status : read_table(db, CTS_TABLE_CHECKSUMS, catalogue, error);
}

static enum cts_status read_all(sqlite3 *db, struct cts_catalogue *catalogue,
                                struct cts_error *error)
{
    enum cts_status status = cts_sql_run(db, "BEGIN", "cannot read", error);
    if (!status) status = read_keys(db, catalogue->private_data, error);
    for (unsigned t = 0; !status && t < CTS_TABLE_COUNT; t++)
        status = read_table(db, t, catalogue, error);
    if (!status) status = cts_catalogue_check_references(catalogue, error);
    if (!status) status = index_launches(catalogue, error);
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
        status = no_memory(error);
    } else if (open_read_only(run_path, path, &db)) {
        status = cts_sql_fail(db, error, "cannot open");
    } else {
        be_careful(db);
        status = check_version(db, error);
        if (!status) status = add_journals(&db, run_path, error);
        if (!status) status = read(db, catalogue, error);
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

void cts_catalogue_release(struct cts_catalogue *catalogue)
{
    for (unsigned t = 0; t < CTS_TABLE_COUNT; t++)
        free(*(void **)(void *)((char *)catalogue + cts_tables[t].rows_offset));
    struct cts_catalogue_private *const p = catalogue->private_data;
    while (p && p->chunks) {
        struct arena_chunk *const chunk = p->chunks;
        p->chunks = chunk->next;
        free(chunk);
    }
    if (p) free(p->keys);
    if (p) free(p->launch_order);
    cts_gaps_release(&catalogue->gaps);
    free(p);
    *catalogue = (struct cts_catalogue){0};
}

size_t cts_catalogue_key_count(const struct cts_catalogue *catalogue)
{
    return catalogue->private_data->key_count;
}

const char *cts_catalogue_key(const struct cts_catalogue *catalogue, size_t i, const char **value)
{
    const struct run_key *const key = &catalogue->private_data->keys[i];
    if (value) *value = key->value;
    return key->key;
}

const char *cts_catalogue_get(const struct cts_catalogue *catalogue, const char *key)
{
    const struct cts_catalogue_private *const p = catalogue->private_data;
    for (size_t i = 0; p && i < p->key_count; i++) /* a catalogue made by hand has no keys */
        if (strcmp(p->keys[i].key, key) == 0) return p->keys[i].value;
    return NULL;
}

bool cts_catalogue_knows_host(const struct cts_catalogue *catalogue)
{
    const char *const host = cts_catalogue_get(catalogue, "host_activity");
    return !host || strcmp(host, "unknown") != 0;
}

bool cts_catalogue_may_be_behind(const struct cts_catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->rank_count; i++)
        if (!catalogue->ranks[i].end_ns || catalogue->ranks[i].failure) return true;
    return false;
}
