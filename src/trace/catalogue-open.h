/* Making a run directory, joining one, claiming a rank in it. Private to the catalogue. */
#ifndef CTS_TRACE_CATALOGUE_OPEN_H
#define CTS_TRACE_CATALOGUE_OPEN_H

#include <sqlite3.h>
#include <stdint.h>

#include "common/error.h"
#include "trace/catalogue.h"

/* Opens the run for a process that records (see cts_catalogue_create()) and claims its rank. */
CTS_MUST_CHECK enum cts_status cts_catalogue_join(const char *run_path, sqlite3 **db,
                                                  uint32_t *rank, struct cts_error *error);

/* What this process can say of itself. Strings live in the struct. */
struct cts_self {
    char host[256];
    char program[4096];
    char arguments[4096];
    char directory[4096];
    struct cts_rank row;
};
void cts_self_describe(struct cts_self *self, uint32_t rank);

#endif
