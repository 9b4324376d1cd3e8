/* Writes a log file at one go, for who has all of it: importers. (Recorders map theirs, so that
 * nothing is lost when the program is killed: src/record/timeline.) */
#ifndef CTS_TRACE_LOG_FILE_H
#define CTS_TRACE_LOG_FILE_H

#include <stdio.h>

#include "trace/log/log-format.h"

struct cts_log_start { /* the header's fields, log-format.h */
    enum cts_log_kind kind;
    uint32_t index, pid, tid, device, ordinal, flags;
};

struct cts_log_file {
    FILE *file;
    char *path;
    uint64_t offset; /* bytes written */
};

/* CTS_IO, CTS_MEMORY; then there is nothing to close. */
CTS_MUST_CHECK enum cts_status cts_log_file_create(struct cts_log_file *log, const char *path,
                                                   const struct cts_log_start *start,
                                                   struct cts_error *error);
/* A record of CTS_LOG_RECORD_WORDS_MAX words at most; words[0] says how many. Failures are told by
 * cts_log_file_close(). */
void cts_log_file_write(struct cts_log_file *log, const uint64_t *words);
/* Closes and frees in any case; nothing for one that is zero. */
CTS_MUST_CHECK enum cts_status cts_log_file_close(struct cts_log_file *log,
                                                  struct cts_error *error);

/* Appends a text (NULL: absent) to a record that is being made, cut to CTS_LOG_TEXT_BYTES_MAX
 * between characters; returns the number of words then. */
uint32_t cts_log_put_text(uint64_t *words, uint32_t count, const char *text);

#endif
