/* Names of functions and files, as the user has them. */
#ifndef CTS_MEMORY_SOURCE_NAMES_H
#define CTS_MEMORY_SOURCE_NAMES_H

#include <stdbool.h>

/* A name as sources have it; the caller frees. NULL: no memory. */
char *cts_memory_demangled(const char *name);
/* Files that are not the user's. */
bool cts_memory_is_of_toolkit(const char *path);

#endif
