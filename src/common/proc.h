/* What the operating system says in small files. */
#ifndef CTS_COMMON_PROC_H
#define CTS_COMMON_PROC_H

#include <stddef.h>

/* A file as one line, cut off where `text` ends: a NUL between two of its texts is a space, and a
 * new line at the end goes. "" where it cannot be read. */
void cts_proc_text(const char *path, char *text, size_t text_bytes);

#endif
