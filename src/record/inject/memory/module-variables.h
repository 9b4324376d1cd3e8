/* Variables of modules that are patched: their memory is an allocation, as the CPU device has it.
 */
#ifndef CTS_MEMORY_MODULE_VARIABLES_H
#define CTS_MEMORY_MODULE_VARIABLES_H

#include "loaded-module.h"

/* When the module is loaded: copies to them come before launches. */
void cts_module_allocate_variables(struct cts_memory_module *module);
/* When the module gets its row. */
void cts_module_add_variables(const struct cts_memory_module *module);
/* When it is unloaded. */
void cts_module_free_variables(struct cts_memory_module *module);

#endif
