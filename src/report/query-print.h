/* The result of a query as a table, JSON or CSV. */
#ifndef CTS_REPORT_QUERY_PRINT_H
#define CTS_REPORT_QUERY_PRINT_H

#include <stdio.h>

#include "report/sql-query.h"

enum cts_query_form { CTS_QUERY_AS_TABLE, CTS_QUERY_AS_JSON, CTS_QUERY_AS_CSV };

struct cts_query_print {
    enum cts_query_form form;
    uint64_t limit; /* of rows; 0: all */
    FILE *file;
    uint64_t row_count; /* filled: printed */
    bool has_more;      /* filled: there are more rows than the limit */
};

/* Prints the result. Up to a few MiB nothing is written before the query has succeeded; what it
 * then returns after a failure has begun a longer result, *has_written says. */
CTS_MUST_CHECK enum cts_status cts_query_print(const struct cts_query_run *run, const char *sql,
                                               struct cts_query_print *print, bool *has_written,
                                               struct cts_error *error);

#endif
