/* The little of UTF-8 that writers of text need. */
#ifndef CTS_COMMON_UTF8_H
#define CTS_COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the well-formed character at `text` (1..4), or 0 when there is none: a stray or missing
 * continuation, an overlong form, a surrogate, a value above U+10FFFF. `text` is NUL-terminated and
 * not at its end. */
size_t cts_utf8_length(const char *text);

/* Whether the well-formed character at `text` is one that a terminal only shows: no control
 * character (C0, DEL, C1), no line or paragraph separator, nothing that turns the direction of
 * writing. */
bool cts_utf8_is_plain(const char *text);

/* What is not plain becomes '?', in place; returns the length then. */
size_t cts_utf8_make_plain(char *text);

/* Columns of a terminal that a text takes, one per character (no wide ones are expected). */
size_t cts_utf8_columns(const char *text);

#endif
