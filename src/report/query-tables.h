/* The tables of a query, as virtual tables of SQLite; private to sql-query.c. */
#ifndef CTS_REPORT_QUERY_TABLES_H
#define CTS_REPORT_QUERY_TABLES_H

#include <sqlite3.h>

#include "analyze/access/access-analysis.h"
#include "analyze/flow/flow.h"
#include "report/sql-query.h"

struct cts_query_state {
    const struct cts_query_run *run;
    uint64_t end_ns; /* of CLOCK_MONOTONIC; 0: never */
    bool is_late;
    bool is_declaring;               /* SQLite is told of a table: it may make it */
    struct cts_access_source source; /* the run's, which gives up when the time is over */
    bool has_access, has_flow;
    struct cts_access_result access;
    struct cts_flow_result flow;
    struct cts_error error; /* of a table; OK: none */
};

bool cts_query_is_late(struct cts_query_state *state);

/* One column at a time: SQL's name and type ("INTEGER"), added to a declaration. */
void cts_query_declare(FILE *file, const char *name, const char *type, bool is_first);

/* A table: its declaration, and a cursor over its rows. One per module; the cursor begins with
 * sqlite3_vtab_cursor. */
struct cts_query_table {
    const char *name;
    const void *of; /* what the functions make of it */
    void (*declare)(const struct cts_query_table *table, const struct cts_query_state *state,
                    FILE *file);
    size_t cursor_bytes;
    int keyed_column; /* -1: none; else rows with one value of it are found without the others */
    enum cts_status (*begin)(struct cts_query_state *state, const struct cts_query_table *table,
                             void *cursor, const int64_t *key, struct cts_error *error);
    /* False: no row is left. A failure is in *status. */
    bool (*next)(struct cts_query_state *state, const struct cts_query_table *table, void *cursor,
                 enum cts_status *status, struct cts_error *error);
    void (*column)(const struct cts_query_state *state, const struct cts_query_table *table,
                   void *cursor, int column, sqlite3_context *context);
    void (*end)(void *cursor);
};

extern const struct cts_query_table cts_query_sheets[];   /* query-sheets.c; ended by name NULL */
extern const struct cts_query_table cts_query_accesses[]; /* query-accesses.c */
extern const struct cts_query_table cts_query_events[];   /* query-events.c */
extern const struct cts_query_table cts_query_catalogue;  /* query-sheets.c: `of` is a cts_table */
extern const struct cts_query_table cts_query_keys;       /* table run */

#endif
