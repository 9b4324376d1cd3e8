#include "common/text-stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { FIRST_BYTES = 4096 };

/* Room for so many more bytes, and the 0 behind them. */
static bool make_room(struct cts_text_stream *stream, size_t byte_count)
{
    const size_t needed = stream->byte_count + byte_count + 1;
    if (needed <= stream->room_bytes) return true;
    size_t room = stream->room_bytes ? stream->room_bytes : FIRST_BYTES;
    while (room < needed) room *= 2;
    char *const text = realloc(stream->text, room);
    if (!text) return false;
    stream->text = text;
    stream->room_bytes = room;
    return true;
}

static ssize_t take(void *cookie, const char *bytes, size_t byte_count)
{
    struct cts_text_stream *const stream = cookie;
    if (stream->failed || !make_room(stream, byte_count)) {
        stream->failed = true;
        return 0;
    }
    memcpy(stream->text + stream->byte_count, bytes, byte_count);
    stream->byte_count += byte_count;
    return (ssize_t)byte_count;
}

FILE *cts_text_stream_open(struct cts_text_stream *stream)
{
    const cookie_io_functions_t functions = {.write = take};
    *stream = (struct cts_text_stream){0};
    if (!make_room(stream, 0)) return NULL;
    stream->file = fopencookie(stream, "w", functions);
    if (stream->file) return stream->file;
    free(stream->text);
    *stream = (struct cts_text_stream){0};
    return NULL;
}

size_t cts_text_stream_bytes(struct cts_text_stream *stream)
{
    if (fflush(stream->file)) stream->failed = true;
    return stream->byte_count;
}

/* A format that the C library has no memory for fails without a mark on the stream: whoever prints
 * such checks it. */
char *cts_text_stream_close(struct cts_text_stream *stream, size_t *byte_count)
{
    bool failed = fflush(stream->file) || ferror(stream->file);
    if (fclose(stream->file)) failed = true;
    char *const text = stream->text;
    if (byte_count) *byte_count = stream->byte_count;
    failed = failed || stream->failed;
    if (!failed) text[stream->byte_count] = 0;
    *stream = (struct cts_text_stream){0};
    if (!failed) return text;
    free(text);
    return NULL;
}
