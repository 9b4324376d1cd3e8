/* The checksums of a sealed run's tables, for the seal and for the catalogue's reader. */
#ifndef CTS_TRACE_SEAL_TABLES_H
#define CTS_TRACE_SEAL_TABLES_H

#include <sqlite3.h>
#include <stdbool.h>

#include "common/error.h"
#include "trace/catalogue.h"

#define CTS_SEAL_KEY "sealed" /* of table run */

/* Whether the database has a table of that name; if false, cts_sql_has_failed() may say that it
 * could not be told. */
bool cts_seal_has_table(sqlite3 *db, const char *name);
/* Writes a row of table `checksums` for each table that there is. */
CTS_MUST_CHECK enum cts_status cts_seal_store_tables(sqlite3 *db, struct cts_error *error);
/* Adds to catalogue->gaps each table that does not hold what it held when the run was sealed. */
CTS_MUST_CHECK enum cts_status cts_seal_check_tables(sqlite3 *db, struct cts_catalogue *catalogue,
                                                     struct cts_error *error);

#endif
