/* What must hold of a row beyond its columns' types, so that analyses need not ask. Private. */
#ifndef CTS_TRACE_CATALOGUE_CHECK_H
#define CTS_TRACE_CATALOGUE_CHECK_H

#include "common/error.h"
#include "trace/catalogue-tables.h"

/* A row of a table as read; on CTS_FORMAT `error` holds "column 'x': reason". */
CTS_MUST_CHECK enum cts_status cts_catalogue_check_row(enum cts_table_id table, const void *row,
                                                       struct cts_error *error);

/* Every id that any row names: that of a row that exists. The text says table, row and column. */
CTS_MUST_CHECK enum cts_status cts_catalogue_check_references(const struct cts_catalogue *catalogue,
                                                              struct cts_error *error);

#endif
