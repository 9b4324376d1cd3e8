/* A table that our own CREATE TABLE made is as we know it; SQLite keeps that text. Only where the
 * text is another one, SQLite is asked for the columns, which costs as much as to read a small
 * table. */
#include "trace/catalogue-schema.h"

#include <stdlib.h>
#include <string.h>

static const struct cts_table_column run_columns[] = {{.name = "key"}, {.name = "value"}};
static const struct cts_table run_table = {
    .name = "run", .columns = run_columns, .column_count = 2};

static const struct cts_table *table_of(unsigned table)
{
    return table == CTS_TABLE_COUNT ? &run_table : &cts_tables[table];
}

/* Whether our schema makes the table by that statement. *from is where to look first: behind the
 * one before, since a database lists its objects in the order in which they were created. */
static bool is_our_text(const char *sql, const char *name, const char **from)
{
    static const char verb[] = "CREATE TABLE ";
    const size_t length = strlen(sql), name_length = strlen(name);
    if (strncmp(sql, verb, strlen(verb)) != 0 ||
        strncmp(sql + strlen(verb), name, name_length) != 0 ||
        sql[strlen(verb) + name_length] != ' ')
        return false;
    const char *const text = cts_schema_text(), *const end = text + strlen(text);
    const char *at = memmem(*from, (size_t)(end - *from), sql, length);
    if (!at) at = memmem(text, (size_t)(end - text), sql, length);
    if (!at || at[length] != ';') return false;
    *from = at + length;
    return true;
}

/* The number of the table of that name; more than CTS_TABLE_COUNT: none of ours. */
static unsigned find_table(const char *name)
{
    unsigned t = 0;
    while (t <= CTS_TABLE_COUNT && strcmp(table_of(t)->name, name) != 0) t++;
    return t;
}

enum cts_status cts_schema_list(sqlite3 *db, struct cts_schema *schema, struct cts_error *error)
{
    static const char sql[] =
        "SELECT name, type = 'table' AND rootpage > 0, sql FROM sqlite_schema";
    sqlite3_stmt *statement = NULL;
    const char *from = cts_schema_text();
    *schema = (struct cts_schema){0};
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    while (!code && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        schema->object_count++;
        const char *const name = (const char *)sqlite3_column_text(statement, 0);
        const unsigned t = name ? find_table(name) : CTS_TABLE_COUNT + 1;
        if (t > CTS_TABLE_COUNT) continue;
        const char *const text = (const char *)sqlite3_column_text(statement, 2);
        const bool is_ours =
            sqlite3_column_int(statement, 1) && text && is_our_text(text, name, &from);
        schema->objects[t] = is_ours ? CTS_OBJECT_OURS : CTS_OBJECT_OTHER;
    }
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? CTS_OK : cts_sql_fail(db, error, "cannot read the schema");
}

void cts_schema_release(struct cts_schema *schema)
{
    sqlite3_finalize(schema->columns);
    schema->columns = NULL;
}

bool cts_schema_has(const struct cts_schema *schema, enum cts_table_id table)
{
    return schema->objects[table] != CTS_OBJECT_ABSENT;
}

/* Marks the column of that name as seen; the schema may have more than we know. */
static void see_column(const struct cts_table *table, const char *name, uint64_t *seen)
{
    for (unsigned i = 0; name && i < table->column_count; i++)
        if (strcmp(name, table->columns[i].name) == 0) *seen |= UINT64_C(1) << i;
}

enum cts_status cts_schema_check(sqlite3 *db, struct cts_schema *schema, unsigned number,
                                 struct cts_error *error)
{
    static const char sql[] = "SELECT c.name FROM sqlite_schema t, pragma_table_info(t.name) c "
                              "WHERE t.name = ? AND t.type = 'table' AND t.rootpage > 0";
    const struct cts_table *const table = table_of(number);
    bool is_table = false;
    uint64_t seen = 0;
    int code;
    if (schema->objects[number] == CTS_OBJECT_OURS) return CTS_OK;
    if (table->column_count > 64) abort(); /* our mistake: `seen` is too small */
    if (!schema->columns && sqlite3_prepare_v2(db, sql, -1, &schema->columns, NULL))
        return cts_sql_fail(db, error, "cannot read the schema");
    sqlite3_bind_text(schema->columns, 1, table->name, -1, SQLITE_STATIC);
    while ((code = sqlite3_step(schema->columns)) == SQLITE_ROW) {
        is_table = true;
        see_column(table, (const char *)sqlite3_column_text(schema->columns, 0), &seen);
    }
    sqlite3_reset(schema->columns);
    if (code != SQLITE_DONE) return cts_sql_fail(db, error, "cannot read the schema");
    if (!is_table) return cts_fail(error, CTS_FORMAT, "it has no table '%s'", table->name);
    for (unsigned i = 0; i < table->column_count; i++)
        if (!(seen >> i & 1))
            return cts_fail(error, CTS_FORMAT, "table '%s' has no column '%s'", table->name,
                            table->columns[i].name);
    return CTS_OK;
}
