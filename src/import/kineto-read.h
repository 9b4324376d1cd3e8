/* The events of a Kineto trace (JSON of PyTorch's profiler), one after the other, as they stand in
 * the file. Nothing but the event at hand is kept. Private to import/. */
#ifndef CTS_IMPORT_KINETO_READ_H
#define CTS_IMPORT_KINETO_READ_H

#include "import/profile-event.h"

/* A decimal number times 10^scale, exactly down to a unit of the result, below which it is cut.
 * False: it is no number, or too large. */
bool cts_kineto_decimal(const char *text, size_t length, int scale, __int128 *value);

/* Reads what can be read and gives each event to `take`. CTS_FORMAT: there is no event to be found;
 * CTS_IO, CTS_MEMORY, or what `take` returned. `file` is to be released in any case. */
CTS_MUST_CHECK enum cts_status cts_kineto_read(const char *path, struct cts_profile_file *file,
                                               cts_profile_take *take, void *state,
                                               struct cts_error *error);

/* Whether the file's beginning looks like such a trace, or the directory holds one; CTS_IO,
 * CTS_MEMORY: it could not be read. */
CTS_MUST_CHECK enum cts_status cts_kineto_is_trace(const char *path, bool *is_own,
                                                   struct cts_error *error);

#endif
