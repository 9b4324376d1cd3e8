/* What an imported trace holds, what it lacks, and what follows for the answers. Private to
 * import/. */
#ifndef CTS_IMPORT_KINETO_NOTES_H
#define CTS_IMPORT_KINETO_NOTES_H

#include "import/import.h"
#include "import/kineto-rank.h"

struct cts_kineto_source {
    const char *path;
    uint32_t rank; /* as which it is imported */
    size_t file_count;
    const struct cts_kineto_file *file;
    const struct cts_kineto_rank *contents; /* after cts_kineto_rank_write() */
};

struct cts_kineto_notes {
    struct cts_kineto_message *items; /* with their texts the caller's */
    size_t count, capacity;
};

/* "2 events of unknown phases (byte 17: ...)", empty if nothing was left out; the caller frees it.
 * NULL: no memory. */
char *cts_kineto_left_out(const struct cts_kineto_file *file, const struct cts_kineto_rank *rank);

CTS_MUST_CHECK enum cts_status cts_kineto_note(const struct cts_kineto_source *source,
                                               struct cts_kineto_notes *notes,
                                               struct cts_error *error);
/* Appends the texts to the result's notes. */
CTS_MUST_CHECK enum cts_status cts_kineto_notes_tell(const struct cts_kineto_notes *notes,
                                                     struct cts_import_result *result,
                                                     struct cts_error *error);

#endif
