/* An importer: one file that defines a `struct cts_importer`, and one line in import.c. Private to
 * import/. */
#ifndef CTS_IMPORT_IMPORTER_H
#define CTS_IMPORT_IMPORTER_H

#include "import/import.h"
#include "trace/catalogue.h"
#include "trace/write/collector.h"

enum { CTS_IMPORTER_HEAD_BYTES = 4096 };

struct cts_importer {
    const char *name; /* what it reads, as messages call it */
    /* Whether a file that begins so is one of its own; at most CTS_IMPORTER_HEAD_BYTES. */
    bool (*recognises)(const uint8_t *bytes, size_t byte_count);
    /* Whether a file or a directory is its own; either this or the one above may be NULL. */
    enum cts_status (*claims)(const char *path, bool *is_own, struct cts_error *error);
    bool is_of_time;    /* it makes timelines */
    bool takes_folders; /* a path may be a directory */
    /* `result` is empty at first; the caller releases it, also after a failure. */
    enum cts_status (*import)(const struct cts_import_options *options,
                              struct cts_import_result *result, struct cts_error *error);
};

/* Makes the run directory of an import and opens its collector; `values`: it keeps values. Between
 * this and cts_import_close_run() an importer writes the device, a module, kernels, sites and
 * streams, then accesses, then launches, whose rows name the counts of their accesses. */
CTS_MUST_CHECK enum cts_status cts_import_open_run(const struct cts_import_options *options,
                                                   bool values, struct cts_collector **collector,
                                                   struct cts_error *error);
/* After an import that ended with `status`; a run whose import failed says that it is a part. NULL:
 * nothing. Returns the first failure. */
CTS_MUST_CHECK enum cts_status cts_import_close_run(struct cts_collector *collector,
                                                    enum cts_status status,
                                                    struct cts_error *error);

/* Where notes go: to the result, and to the messages of the run. */
struct cts_import_notes {
    struct cts_import_result *result;
    struct cts_catalogue_writer *writer;
};
CTS_MUST_CHECK enum cts_status cts_import_note(const struct cts_import_notes *where,
                                               const char *severity, struct cts_error *error,
                                               const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
