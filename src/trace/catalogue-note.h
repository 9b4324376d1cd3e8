/* Rows for processes that had no catalogue writer of their own: those with only a recorded
 * timeline. Written after they have ended. */
#ifndef CTS_TRACE_CATALOGUE_NOTE_H
#define CTS_TRACE_CATALOGUE_NOTE_H

#include "trace/catalogue.h"

struct cts_catalogue_notes {
    const struct cts_rank *ranks; /* a rank that has a row keeps it */
    size_t rank_count;
    const struct cts_device *devices; /* likewise */
    size_t device_count;
    const struct cts_message *messages;
    size_t message_count;
};
/* Writes all of them into run.db, or none. */
CTS_MUST_CHECK enum cts_status cts_catalogue_note(const char *run_path,
                                                  const struct cts_catalogue_notes *notes,
                                                  struct cts_error *error);

#endif
