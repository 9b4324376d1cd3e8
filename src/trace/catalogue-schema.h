/* What a run.db has of the tables that we know. Private to the catalogue's reader. */
#ifndef CTS_TRACE_CATALOGUE_SCHEMA_H
#define CTS_TRACE_CATALOGUE_SCHEMA_H

#include "trace/catalogue-sql.h"
#include "trace/catalogue-tables.h"

enum cts_schema_object {
    CTS_OBJECT_ABSENT,
    CTS_OBJECT_OTHER, /* a view, or a table of another version of ctascope or another program */
    CTS_OBJECT_OURS   /* a table, created by the text of our own schema */
};

struct cts_schema {
    uint8_t objects[CTS_TABLE_COUNT + 1]; /* enum cts_schema_object; the last: table run */
    size_t object_count;                  /* tables, views and the like, known or not */
    sqlite3_stmt *columns;                /* lists those of a table; NULL until it is needed */
};

/* Looks at the schema's own table, once for all tables. */
CTS_MUST_CHECK enum cts_status cts_schema_list(sqlite3 *db, struct cts_schema *schema,
                                               struct cts_error *error);
/* Before the database is closed; what was listed stays known. {0} is allowed. */
void cts_schema_release(struct cts_schema *schema);

/* Whether there is an object of the table's name. */
bool cts_schema_has(const struct cts_schema *schema, enum cts_table_id table);

/* The table (CTS_TABLE_COUNT: run) must be a real one, with our columns as ordinary ones. */
CTS_MUST_CHECK enum cts_status cts_schema_check(sqlite3 *db, struct cts_schema *schema,
                                                unsigned table, struct cts_error *error);

#endif
