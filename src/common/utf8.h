/* The little of UTF-8 that writers of text need. */
#ifndef CTS_COMMON_UTF8_H
#define CTS_COMMON_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed character at `text` (1..4), or 0 when there is none: a stray or missing
 * continuation, an overlong form, a surrogate, a value above U+10FFFF. `text` is NUL-terminated and
 * not at its end. */
size_t cts_utf8_length(const char *text);

/* Columns of a terminal that a text takes, one per character (no wide ones are expected). */
size_t cts_utf8_columns(const char *text);

#endif
