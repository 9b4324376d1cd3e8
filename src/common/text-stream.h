/* A stream that collects text in memory. What the C library has for this does not mark
 * that its text could not grow: what was printed then lacks a part, and nothing says so. */
#ifndef CTS_COMMON_TEXT_STREAM_H
#define CTS_COMMON_TEXT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/error.h"

/* Belongs to the caller, and stays where it is until the stream is closed. */
struct cts_text_stream {
    FILE *file;
    char *text;
    size_t byte_count, room_bytes;
    bool failed; /* no memory for all that was printed */
};

/* The stream to print to, or NULL: no memory, and nothing to close. */
CTS_MUST_CHECK FILE *cts_text_stream_open(struct cts_text_stream *stream);
/* How much was printed so far. */
size_t cts_text_stream_bytes(struct cts_text_stream *stream);
/* Ends the stream. Its text, with a 0 behind it, which the caller frees; NULL: there was no memory
 * for all that was printed. `byte_count` may be NULL. */
CTS_MUST_CHECK char *cts_text_stream_close(struct cts_text_stream *stream, size_t *byte_count);

#endif
