#include "common/wrapped-text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/terminal.h"
#include "common/utf8.h"

/* The bytes of the first `columns` characters of a text, or of all. */
static size_t bytes_of(const char *text, size_t columns)
{
    size_t bytes = 0;
    for (; columns && text[bytes]; columns--) {
        const size_t size = cts_utf8_length(text + bytes);
        bytes += size ? size : 1;
    }
    return bytes;
}

/* How much of the text stands on a line with room for `room` characters: up to a space if there is
 * one; a word too long for `whole` lines is cut. */
static size_t piece(const char *text, size_t room, size_t whole)
{
    const size_t most = bytes_of(text, room);
    if (!text[most]) return most;
    size_t end = most;
    while (end && text[end] != ' ') end--;
    if (end) return end;
    const size_t word = strcspn(text, " ");
    return word > bytes_of(text, whole) ? most : 0;
}

void cts_print_wrapped(FILE *file, const char *text, size_t start, size_t indent, size_t width)
{
    enum { ROOM_MIN = 8 };
    if (!width) {
        fputs(text, file);
        return;
    }
    const size_t whole = indent + ROOM_MIN < width ? width - indent : ROOM_MIN;
    size_t room = start < width ? width - start : 0;
    for (;;) {
        const size_t length = piece(text, room, whole);
        fwrite(text, 1, length, file);
        text += length;
        if (!*text) return;
        text += *text == ' ';
        fprintf(file, "\n%*s", (int)indent, "");
        room = whole;
    }
}

void cts_print_paragraph(FILE *file, size_t indent, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    const int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) {
        char shown[4096]; /* no memory to wrap it: as one line, rather than not at all */
        va_start(args, format);
        vsnprintf(shown, sizeof shown, format, args);
        va_end(args);
        (void)cts_utf8_make_plain(shown);
        fprintf(file, "%s\n", shown);
        return;
    }
    (void)cts_utf8_make_plain(text);
    size_t start = 0;
    while (text[start] == ' ') start++;
    fprintf(file, "%*s", (int)start, "");
    cts_print_wrapped(file, text + start, start, indent, cts_terminal_columns(file));
    fputc('\n', file);
    free(text);
}
