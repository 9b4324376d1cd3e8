/* Which name of a device's API means what: a table in a text file (api-names.txt). */
#ifndef CTS_ANALYZE_PATH_API_H
#define CTS_ANALYZE_PATH_API_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

/* word in the table, meaning */
#define CTS_PATH_API_MAP(X)                                                                        \
    X(NONE, "none")                                                                                \
    X(LAUNCH, "launch")                                                                            \
    X(LAUNCH_HOST, "launch-host")                                                                  \
    X(GRAPH_LAUNCH, "graph-launch")                                                                \
    X(COPY, "copy")                                                                                \
    X(COPY_ASYNC, "copy-async")                                                                    \
    X(MEMSET, "memset")                                                                            \
    X(MEMSET_ASYNC, "memset-async")                                                                \
    X(SYNC_DEVICE, "sync-device")                                                                  \
    X(SYNC_CONTEXT, "sync-context")                                                                \
    X(SYNC_STREAM, "sync-stream")                                                                  \
    X(SYNC_EVENT, "sync-event")                                                                    \
    X(QUERY_STREAM, "query-stream")                                                                \
    X(QUERY_EVENT, "query-event")                                                                  \
    X(RECORD, "record")                                                                            \
    X(WAIT, "wait")                                                                                \
    X(ALLOC, "alloc")
enum cts_path_api {
#define X(name, text) CTS_PATH_API_##name,
    CTS_PATH_API_MAP(X)
#undef X
        CTS_PATH_API_COUNT
};
enum cts_path_direction {
    CTS_PATH_ANY,
    CTS_PATH_HTOD,
    CTS_PATH_DTOH,
    CTS_PATH_DTOD,
    CTS_PATH_DIRECTION_COUNT
};

struct cts_path_api_name {
    char *pattern; /* with '*' */
    enum cts_path_api api;
    enum cts_path_direction direction;
};
struct cts_path_api_table {
    struct cts_path_api_name *items;
    size_t count, capacity;
};

/* Adds the lines of a text; the first line that matches a name decides. CTS_FORMAT names the line
 * that makes no sense. */
CTS_MUST_CHECK enum cts_status cts_path_api_read(struct cts_path_api_table *table, const char *text,
                                                 const char *text_name, struct cts_error *error);
/* The table that is built in. */
const char *cts_path_api_builtin(void);
/* What a name means; version suffixes (_v2, _v7000, _ptsz, _ptds) are left out. NULL: nothing. */
const struct cts_path_api_name *cts_path_api_find(const struct cts_path_api_table *table,
                                                  const char *name);
void cts_path_api_release(struct cts_path_api_table *table);

#endif
