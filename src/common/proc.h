/* What the operating system says in small files. */
#ifndef CTS_COMMON_PROC_H
#define CTS_COMMON_PROC_H

#include <stddef.h>

/* Reads a file as one line, truncated to `text_bytes`: a NUL between two of its texts becomes a
 * space, and a newline at the end is removed. "" if the file cannot be read. */
void cts_proc_text(const char *path, char *text, size_t text_bytes);

#endif
