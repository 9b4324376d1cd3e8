/* The half of the seal that the catalogue's reader uses. */
#ifndef CTS_TRACE_SEAL_PRIVATE_H
#define CTS_TRACE_SEAL_PRIVATE_H

#include <sqlite3.h>

#include "trace/seal.h"

/* Adds to catalogue->gaps each table that does not hold what it held when the run was sealed. */
CTS_MUST_CHECK enum cts_status cts_seal_check_tables(sqlite3 *db, struct cts_catalogue *catalogue,
                                                     struct cts_error *error);

#endif
