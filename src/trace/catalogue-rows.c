/* Each value is checked for type, range and NULL as its column says (catalogue-tables.c), each row
 * for what must hold of it, and every table's schema (catalogue-schema.c) before it is read.
 *
 * Strings live in an arena of chunks; rows in one array per table. */
#include "trace/catalogue-rows.h"

#include <stdlib.h>
#include <string.h>

#include "trace/catalogue-check.h"
#include "common/promise.h"

enum {
    ARENA_CHUNK_BYTES = 64 * 1024,
    GAPS_MAX = 1 << 20, /* ids of one table that were reserved and never written */
};

struct cts_text_chunk {
    struct cts_text_chunk *next;
    char bytes[];
};

/* ---- memory ---- */

static char *arena_take(struct cts_catalogue_private *p, size_t byte_count)
{
    if (byte_count > p->chunk_left_bytes) {
        const size_t size = byte_count > ARENA_CHUNK_BYTES ? byte_count : ARENA_CHUNK_BYTES;
        struct cts_text_chunk *const chunk = malloc(sizeof *chunk + size);
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

/* A value of the row at which a statement stands. */
struct cell {
    sqlite3_stmt *statement;
    int index;
};

static enum cts_status arena_text(struct cts_catalogue_private *p, struct cell cell,
                                  const char **text, struct cts_error *error)
{
    const char *const value = (const char *)sqlite3_column_text(cell.statement, cell.index);
    const size_t length = (size_t)sqlite3_column_bytes(cell.statement, cell.index);
    char *const copy = value ? arena_take(p, length + 1) : NULL;
    if (!copy) return cts_catalogue_no_memory(error);
    memcpy(copy, value, length + 1);
    *text = copy;
    return CTS_OK;
}

/* A table's rows while they are read. */
struct row_array {
    const struct cts_table *table;
    char *rows;
    size_t count, capacity;
    size_t made_up; /* rows of ids that nobody wrote */
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

static enum cts_status read_number(const struct cts_table_column *column, struct cell cell,
                                   void *row, struct cts_error *error)
{
    if (sqlite3_column_type(cell.statement, cell.index) != SQLITE_INTEGER)
        return cts_fail(error, CTS_FORMAT, "column '%s': not a whole number", column->name);
    const int64_t number = sqlite3_column_int64(cell.statement, cell.index);
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
                                 const struct cts_table_column *column, struct cell cell, void *row,
                                 struct cts_error *error)
{
    if (sqlite3_column_type(cell.statement, cell.index) != SQLITE_TEXT)
        return cts_fail(error, CTS_FORMAT, "column '%s': not a text", column->name);
    const char **const field = (const char **)(void *)((char *)row + column->offset);
    const enum cts_status status = arena_text(p, cell, field, error);
    if (status) return status;
    if (strlen(*field) != (size_t)sqlite3_column_bytes(cell.statement, cell.index))
        return cts_fail(error, CTS_FORMAT, "column '%s': the text holds a NUL byte", column->name);
    if (!column->words) return CTS_OK;
    for (const char *const *word = column->words; *word; word++)
        if (strcmp(*word, *field) == 0) return CTS_OK;
    return cts_fail(error, CTS_FORMAT, "column '%s': unknown word '%.60s'", column->name, *field);
}

static enum cts_status read_value(struct cts_catalogue_private *p,
                                  const struct cts_table_column *column, struct cell cell,
                                  void *row, struct cts_error *error)
{
    if (sqlite3_column_type(cell.statement, cell.index) == SQLITE_NULL) {
        if (column->null == CTS_NULL_REFUSED)
            return cts_fail(error, CTS_FORMAT, "column '%s': NULL where a value is needed",
                            column->name);
        if (column->null == CTS_NULL_IS_ALL_ONES) store_number(column, row, UINT64_MAX);
        return CTS_OK;
    }
    if (column->type == CTS_COLUMN_TEXT) return read_text(p, column, cell, row, error);
    return read_number(column, cell, row, error);
}

/* ---- one table ---- */

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
static enum cts_status fill_gap(struct row_array *array, uint64_t id, struct cts_error *error)
{
    assert(id >= array->count && array->table->order == CTS_ORDER_DENSE);
    const size_t gap = (size_t)id - array->count;
    if (gap > GAPS_MAX - array->made_up)
        return cts_fail(error, CTS_FORMAT, "column '%s': more than %d ids are missing below %llu",
                        array->table->columns[0].name, GAPS_MAX, (unsigned long long)id);
    array->made_up += gap;
    for (size_t i = 0; i < gap; i++) {
        const size_t missing_id = array->count;
        char *const row = add_rows(array, 1);
        if (!row) return cts_catalogue_no_memory(error);
        for (unsigned c = 0; c < array->table->column_count; c++)
            if (array->table->columns[c].reference != CTS_TABLE_NONE)
                store_number(&array->table->columns[c], row, CTS_NONE);
        store_number(&array->table->columns[0], row, missing_id);
    }
    return CTS_OK;
}

/* Ids ascend; in dense tables the rows between are made up. Called before the row is added. */
static enum cts_status check_id(struct row_array *array, uint64_t id, struct cts_error *error)
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
    return table->order == CTS_ORDER_DENSE ? fill_gap(array, id, error) : CTS_OK;
}

static enum cts_status read_row(struct cts_catalogue_private *p, enum cts_table_id table_id,
                                sqlite3_stmt *statement, struct row_array *array,
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
        status =
            read_value(p, &table->columns[i], (struct cell){statement, (int)i}, row.bytes, error);
    if (!status) status = cts_catalogue_check_row(table_id, row.bytes, error);
    if (!status) status = check_id(array, cts_column_number(&table->columns[0], row.bytes), error);
    if (status == CTS_FORMAT) return cts_catalogue_row_context(table_id, name, error);
    if (status) return status;
    char *const added = add_rows(array, 1);
    if (!added) return cts_catalogue_no_memory(error);
    memcpy(added, row.bytes, table->row_bytes);
    return CTS_OK;
}

enum cts_status cts_catalogue_read_table(sqlite3 *db, enum cts_table_id table_id,
                                         struct cts_catalogue *catalogue, struct cts_error *error)
{
    assert(table_id < CTS_TABLE_COUNT);
    const struct cts_table *const table = &cts_tables[table_id];
    struct cts_schema *const schema = &catalogue->private_data->schema;
    if (table->optional && !cts_schema_has(schema, table_id)) return CTS_OK;
    enum cts_status status = cts_schema_check(db, schema, table_id, error);
    if (status) return status;
    sqlite3_stmt *const statement = select_statement(db, table);
    if (!statement) return cts_sql_fail(db, error, "cannot read table '%s'", table->name);
    struct row_array array = {.table = table};
    int code = SQLITE_ROW;
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW)
        status = read_row(catalogue->private_data, table_id, statement, &array, error);
    if (!status && code != SQLITE_DONE)
        status = cts_sql_fail(db, error, "table '%s', after row %zu", table->name, array.count);
    sqlite3_finalize(statement);
    *(void **)(void *)((char *)catalogue + table->rows_offset) = array.rows;
    *(size_t *)(void *)((char *)catalogue + table->count_offset) = array.count;
    return status;
}

/* ---- the keys ---- */

enum cts_status cts_catalogue_read_keys(sqlite3 *db, struct cts_catalogue_private *p,
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
        struct cts_run_entry *const keys = reallocarray(p->keys, p->key_count + 1, sizeof *keys);
        if (!keys) {
            status = cts_catalogue_no_memory(error);
            break;
        }
        p->keys = keys;
        struct cts_run_entry *const added = &keys[p->key_count];
        status = arena_text(p, (struct cell){statement, 0}, &added->key, error);
        if (!status) status = arena_text(p, (struct cell){statement, 1}, &added->value, error);
        if (!status) p->key_count++;
    }
    if (!status && code != SQLITE_DONE) status = cts_sql_fail(db, error, "table 'run'");
    sqlite3_finalize(statement);
    return status;
}

/* ---- the file ---- */

void cts_catalogue_release(struct cts_catalogue *catalogue)
{
    for (unsigned t = 0; t < CTS_TABLE_COUNT; t++)
        free(*(void **)(void *)((char *)catalogue + cts_tables[t].rows_offset));
    struct cts_catalogue_private *const p = catalogue->private_data;
    while (p && p->chunks) {
        struct cts_text_chunk *const chunk = p->chunks;
        p->chunks = chunk->next;
        free(chunk);
    }
    if (p) free(p->keys);
    if (p) free(p->launch_order);
    cts_gaps_release(&catalogue->gaps);
    free(p);
    *catalogue = (struct cts_catalogue){0};
}
