/* Sentences on lines of a given width. */
#ifndef CTS_COMMON_WRAPPED_TEXT_H
#define CTS_COMMON_WRAPPED_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Prints words from column `start` of the line on, and no line end behind the last. Lines end
 * before column `width` (0: never) and go on at column `indent`; a word that is longer than a line
 * is cut.
 */
void cts_print_wrapped(FILE *file, const char *text, size_t start, size_t indent, size_t width);

/* One sentence or paragraph with its line end (what else a terminal obeys is a '?'), as wide as the
 * terminal (cts_terminal_columns()); further lines begin with `indent` spaces. */
void cts_print_paragraph(FILE *file, size_t indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
