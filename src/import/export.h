/* A run becomes a .trc file (import/trc.h). Nothing here prints or exits. */
#ifndef CTS_IMPORT_EXPORT_H
#define CTS_IMPORT_EXPORT_H

#include <stdint.h>

#include "common/error.h"
#include "common/progress.h"
#include "trace/acc.h"
#include "trace/catalogue.h"

struct cts_export_options {
    const char *path;              /* is replaced when all of it has been written */
    unsigned version;              /* 2, or 3: consecutive accesses become runs */
    uint32_t rank, stream;         /* CTS_NONE: the only rank; all streams, in the order of calls */
    struct cts_progress *progress; /* of accesses; may be NULL */
};

/* What was written, and what a .trc cannot hold. */
struct cts_export_result {
    uint64_t launches, accesses, entries;
    uint64_t other_spaces;        /* accesses to shared, local and constant memory, left out */
    uint64_t unrecorded_launches; /* written as launches without accesses */
    uint64_t dropped_accesses;    /* the recorder's */
    uint64_t short_grids;         /* launches whose last CTAs touched nothing: the grid is lost */
    uint32_t streams;
};

CTS_MUST_CHECK enum cts_status cts_export_trc(const struct cts_catalogue *catalogue,
                                              const struct cts_acc_reader *reader,
                                              const struct cts_export_options *options,
                                              struct cts_export_result *result,
                                              struct cts_error *error);

#endif
