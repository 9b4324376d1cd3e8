/* Rows of sites. Whoever calls holds the lock of modules.c. */
#ifndef CTS_MEMORY_SITES_H
#define CTS_MEMORY_SITES_H

#include "loaded-module.h"
#include "launch-tensors.h"

uint32_t cts_module_add_site(const struct cts_code_range *range,
                             const struct cts_ring_record *record);
/* Rows for what of a kernel is not recorded. Returns what its tensor copies can do. */
struct cts_tensor_use cts_module_tell_unrecorded(struct cts_memory_module *module,
                                                 const struct cts_cubin_function *function,
                                                 const char *name);

#endif
