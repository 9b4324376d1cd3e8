/* What an imported trace holds, what it lacks, and what follows for the answers. Private to
 * import/. */
#ifndef CTS_IMPORT_PROFILE_NOTES_H
#define CTS_IMPORT_PROFILE_NOTES_H

#include "import/import.h"
#include "import/profile-rank.h"

struct cts_profile_noting;

struct cts_profile_source {
    const char *path;
    size_t place;  /* among the files, or the processes of a file */
    uint32_t rank; /* as which it is imported */
    size_t file_count;
    const struct cts_profile_file *file;
    const struct cts_profile_rank *contents; /* after cts_profile_rank_write() */
    /* What the format's traces lack, and what follows for the answers. */
    void (*describe)(struct cts_profile_noting *noting);
    const void *of_format; /* whatever `describe` needs */
};

struct cts_profile_notes {
    struct cts_profile_message *items; /* with their texts the caller's */
    size_t count, capacity;
};

enum cts_profile_severity { CTS_PROFILE_NOTE, CTS_PROFILE_WARNING, CTS_PROFILE_PROBLEM };

/* Notes of a source being made. */
struct cts_profile_noting {
    const struct cts_profile_source *source;
    const char *name; /* the file's, without its directory */
    struct cts_profile_notes *notes;
    struct cts_error *error;
    enum cts_status status; /* the first failure */
};
/* "'trace.json': TEXT" */
void cts_profile_say(struct cts_profile_noting *noting, enum cts_profile_severity severity,
                     const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "2 events of unknown phases (byte 17: ...)", empty if nothing was left out; the caller frees it.
 * NULL: no memory. */
char *cts_profile_left_out(const struct cts_profile_file *file,
                           const struct cts_profile_rank *rank);

CTS_MUST_CHECK enum cts_status cts_profile_note(const struct cts_profile_source *source,
                                                struct cts_profile_notes *notes,
                                                struct cts_error *error);
/* Appends the texts to the result's notes. */
CTS_MUST_CHECK enum cts_status cts_profile_notes_tell(const struct cts_profile_notes *notes,
                                                      struct cts_import_result *result,
                                                      struct cts_error *error);

#endif
