/* Rows of sites. Whoever calls holds the lock of modules.c. */
#ifndef CTS_MEMORY_SITES_H
#define CTS_MEMORY_SITES_H

#include "loaded-module.h"
#include "launch-tensors.h"

uint32_t cts_module_add_site(const struct cts_code_range *range,
                             const struct cts_ring_record *record);
/* Of a marker's record: the copy's site. CTS_NONE: no marker is there. */
uint32_t cts_module_add_copy_site(const struct cts_code_range *range,
                                  const struct cts_ring_record *record, uint32_t row_bytes);
/* A row for copies of which a map is not known, once a module. */
void cts_module_tell_unknown_copy(const struct cts_code_range *range,
                                  const struct cts_ring_record *record);
/* Rows for what of a kernel is not recorded. Returns what its tensor copies can do. */
struct cts_tensor_use cts_module_tell_unrecorded(struct cts_memory_module *module,
                                                 const struct cts_cubin_function *function,
                                                 const char *name);

#endif
