/* Importers: other tools' files become a run directory. Nothing here prints or exits. */
#ifndef CTS_IMPORT_IMPORT_H
#define CTS_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/progress.h"

struct cts_import_options {
    const char *const *paths; /* each is a stream; their order in time is not known */
    size_t path_count;
    const char *run_path;  /* is made */
    bool replace;          /* a run that is there */
    const char *command;   /* for the run's key of that name */
    const char *grid;      /* NULL: as large as the CTA ids tell. "X[xY[xZ]]" for every launch, or
                              "KERNEL=X[xY[xZ]]"; several of these with ';' between them */
    unsigned threads;      /* 0: one per processor */
    uint64_t memory_bytes; /* for addresses that are held back; 0: 512 MiB */
    struct cts_progress *progress; /* begun by the caller; its total is set here. May be NULL */
};

struct cts_import_result {
    uint64_t launches, kernels, records, accesses, dropped_accesses;
    char **notes; /* what the files lack and what is wrong with them; also in table `messages` */
    size_t note_count;
    bool is_timeline; /* the run has logs, of which cts_timeline_assemble() makes the archive; the
                         counts above are 0 */
};

/* The first file says which importer takes them all (import/importer.h). Files are checked before
 * anything is written. */
CTS_MUST_CHECK enum cts_status cts_import(const struct cts_import_options *options,
                                          struct cts_import_result *result,
                                          struct cts_error *error);
/* Whether a file or a directory is a trace that becomes a timeline. */
CTS_MUST_CHECK enum cts_status cts_import_is_of_time(const char *path, bool *is_one,
                                                     struct cts_error *error);
void cts_import_result_release(struct cts_import_result *result);

#endif
