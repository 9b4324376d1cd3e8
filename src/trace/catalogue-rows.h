/* From tables of run.db to rows in memory, each value checked; and what a struct cts_catalogue
 * owns. For catalogue-read.c, which finds and opens the file, and catalogue-lookup.c. */
#ifndef CTS_TRACE_CATALOGUE_ROWS_H
#define CTS_TRACE_CATALOGUE_ROWS_H

#include "trace/catalogue-schema.h"
#include "trace/catalogue-sql.h"
#include "trace/catalogue-tables.h"
#include "trace/catalogue.h"

struct cts_run_entry {
    const char *key, *value;
};

struct cts_catalogue_private {
    struct cts_text_chunk *chunks; /* what strings live in */
    size_t chunk_left_bytes;
    char *chunk_at;
    struct cts_run_entry *keys;
    size_t key_count;
    uint32_t *launch_order;   /* indices of launches[], by id */
    struct cts_schema schema; /* while tables are read */
};

/* ---- catalogue-rows.c ---- */

CTS_MUST_CHECK enum cts_status cts_catalogue_read_table(sqlite3 *db, enum cts_table_id table_id,
                                                        struct cts_catalogue *catalogue,
                                                        struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_catalogue_read_keys(sqlite3 *db, struct cts_catalogue_private *p,
                                                       struct cts_error *error);

/* ---- catalogue-read.c ---- */

/* cts_catalogue_read() of a database that is open: for a fuzz target, whose inputs share one.
 * Begins a transaction, which the caller ends. */
CTS_MUST_CHECK enum cts_status cts_catalogue_read_open(sqlite3 *db, struct cts_catalogue *catalogue,
                                                       struct cts_error *error);

/* ---- catalogue-lookup.c ---- */

CTS_MUST_CHECK enum cts_status cts_catalogue_index_launches(struct cts_catalogue *catalogue,
                                                            struct cts_error *error);

#endif
