/* Rows of modules and their sources. Whoever calls holds the lock of modules.c. */
#ifndef CTS_MEMORY_MODULE_ROWS_H
#define CTS_MEMORY_MODULE_ROWS_H

#include "loaded-module.h"

/* Makes a module's row, if it has none. */
void cts_module_make_row(struct cts_memory_module *module);
/* The id of a file of its cubin, made at first use; CTS_NONE: there is no such file. */
uint32_t cts_module_source(struct cts_memory_module *module, uint32_t file);

#endif
