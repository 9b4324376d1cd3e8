/* Reading a log as far as it goes. The bytes are copied a segment at a time: the file may be
 * damaged, and a process that should have ended may still write to it. */
#ifndef CTS_ASSEMBLE_LOG_READ_H
#define CTS_ASSEMBLE_LOG_READ_H

#include "common/error.h"
#include "trace/log/log-format.h"

struct cts_log_header {
    enum cts_log_kind kind;
    uint32_t index, pid, tid, device, ordinal, flags;
};

struct cts_log_reader {
    int file;
    char *path;
    struct cts_log_header header;
    uint64_t *segment;    /* segment_bytes */
    size_t segment_bytes; /* no more than what the file had when it was opened, and a word */
    uint64_t offset;      /* of the segment in the file */
    size_t word_count;    /* that the segment holds */
    size_t at;            /* the next word */
};

/* CTS_FORMAT for what is no log. */
CTS_MUST_CHECK enum cts_status cts_log_open(const char *path, struct cts_log_reader *reader,
                                            struct cts_error *error);
void cts_log_reader_close(struct cts_log_reader *reader);

/* The next record: its words, valid until the next call, and how many. NULL at the end, which is
 * CTS_OK at the first word of 0 that nothing follows, else CTS_FORMAT or CTS_IO. */
const uint64_t *cts_log_next(struct cts_log_reader *reader, uint32_t *count,
                             enum cts_status *status, struct cts_error *error);
/* Starts again at the first record. */
CTS_MUST_CHECK enum cts_status cts_log_rewind(struct cts_log_reader *reader,
                                              struct cts_error *error);

/* A text of a definition at `at`, advanced behind it; a new string, or NULL and `*missing` when it
 * was given as none. False when the record is too short or memory lacks. */
bool cts_log_take_text(const uint64_t *words, uint32_t count, uint32_t *at, char **text);

#endif
