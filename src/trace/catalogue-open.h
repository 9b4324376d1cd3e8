/* Making a run directory, joining one, claiming a rank in it. Private to the catalogue. */
#ifndef CTS_TRACE_CATALOGUE_OPEN_H
#define CTS_TRACE_CATALOGUE_OPEN_H

#include <sqlite3.h>
#include <stdint.h>

#include "common/error.h"
#include "trace/catalogue.h"

/* What lies at a path where a run may be; errno tells more of CTS_CONTENT_ERROR. */
enum cts_content {
    CTS_CONTENT_ABSENT,
    CTS_CONTENT_EMPTY,
    CTS_CONTENT_DATABASE, /* there is a run.db */
    CTS_CONTENT_OTHER,
    CTS_CONTENT_ERROR
};
enum cts_content cts_directory_content(const char *path);

/* Joins a process to the run that it records (see cts_catalogue_create()) and claims its rank.
 * `is_watched`: a `record` will fold its journal. Opens files: see common/private-files.h. */
CTS_MUST_CHECK enum cts_status cts_catalogue_join(const char *run_path, uint32_t *rank,
                                                  bool *is_watched, struct cts_error *error);

/* Makes a directory that is absent; refuses one that is neither empty nor has a run.db. */
CTS_MUST_CHECK enum cts_status cts_catalogue_check_directory(const char *run_path,
                                                             struct cts_error *error);

/* What this process can say of itself: the row's strings are those above it. */
struct cts_self {
    char host[256];
    char program[4096];
    char arguments[4096];
    char directory[4096];
    struct cts_rank row;
};
void cts_self_describe(struct cts_self *self, uint32_t rank);

#endif
