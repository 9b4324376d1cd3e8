/* A run becomes files of other tools: a .trc (import/trc.h), a trace folder (import/folder.h), a
 * table. Nothing here prints or exits. */
#ifndef CTS_IMPORT_EXPORT_H
#define CTS_IMPORT_EXPORT_H

#include <stdbool.h>
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

/* What of a run is exported. */
enum { CTS_EXPORT_LOADS = 1, CTS_EXPORT_STORES = 2, CTS_EXPORT_ATOMICS = 4 };
struct cts_export_selection {
    uint32_t rank, stream;              /* CTS_NONE: the only rank; all streams */
    uint32_t first_launch, last_launch; /* inclusive */
    uint32_t first_cta, last_cta;       /* inclusive, linear */
    uint32_t site;                      /* CTS_NONE: all */
    unsigned kinds;                     /* 0: all */
    uint8_t space;                      /* enum cts_space; GENERIC: all */
};

struct cts_export_text_options {
    const char *path; /* a folder that is made or empty; of a table, a file */
    struct cts_export_selection selection;
    bool indented, packed;         /* packed: gzip */
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

/* A trace folder as cuda-profile writes it (paper 002), with two members of our own: the exact
 * operation of a request and the base of shared memory's offsets. entries: requests. */
CTS_MUST_CHECK enum cts_status cts_export_folder(const struct cts_catalogue *catalogue,
                                                 const struct cts_acc_reader *reader,
                                                 const struct cts_export_text_options *options,
                                                 struct cts_export_result *result,
                                                 struct cts_error *error);

/* CSV, a line per thread and access. entries: lines. */
CTS_MUST_CHECK enum cts_status cts_export_csv(const struct cts_catalogue *catalogue,
                                              const struct cts_acc_reader *reader,
                                              const struct cts_export_text_options *options,
                                              struct cts_export_result *result,
                                              struct cts_error *error);

#endif
