/* SQL over a run: SQLite reads its tables through the recording, not through its files, so that
 * what is damaged or missing is left out as everywhere else.
 *
 * Tables: those of the catalogue (docs/format.md), `requests` and `accesses` (warp records, and a
 * row for each lane), what `access` and `flow` find (made when a query first names them), and
 * `events` and `activities` of the timeline. Nothing can be written, attached or loaded. */
#ifndef CTS_REPORT_SQL_QUERY_H
#define CTS_REPORT_SQL_QUERY_H

#include "analyze/access-source.h"
#include "trace/catalogue.h"
#include "trace/timeline/timeline.h"

struct cts_query_run {
    const struct cts_catalogue *catalogue;  /* NULL: a timeline alone */
    const struct cts_access_source *source; /* NULL: likewise */
    /* Opens the timeline, when a query first names it; NULL: there is none. */
    enum cts_status (*open_timeline)(void *state, const struct cts_timeline **timeline,
                                     struct cts_error *error);
    void *state;
    unsigned threads;
    uint64_t limit_ns; /* of time; 0: none */
};

enum cts_query_kind { CTS_QUERY_NULL, CTS_QUERY_INTEGER, CTS_QUERY_REAL, CTS_QUERY_TEXT };
struct cts_query_value {
    enum cts_query_kind kind;
    int64_t integer;
    double real;
    const char *text;
};

/* Told of the result: its columns once, then each row. Texts are valid during the call. What is not
 * CTS_OK ends the query, and is to be described in `error`; *is_enough ends it well. */
struct cts_query_ops {
    enum cts_status (*columns)(void *state, const char *const *names, unsigned count,
                               struct cts_error *error);
    enum cts_status (*row)(void *state, const struct cts_query_value *values, bool *is_enough,
                           struct cts_error *error);
};

/* Runs one SELECT. CTS_USAGE: SQLite refuses it; CTS_LIMIT: out of time. */
CTS_MUST_CHECK enum cts_status cts_sql_query(const struct cts_query_run *run, const char *sql,
                                             const struct cts_query_ops *ops, void *state,
                                             struct cts_error *error);

#endif
