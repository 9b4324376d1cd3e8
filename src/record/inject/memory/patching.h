/* Patches: which instructions of a module call which, and whether they do now. */
#ifndef CTS_MEMORY_PATCHING_H
#define CTS_MEMORY_PATCHING_H

#include <stdbool.h>

#include "common/error.h"
#include "loaded-module.h"

/* Reads the patches. */
CTS_MUST_CHECK enum cts_status cts_patching_start(struct cts_error *error);
/* Patches a module, or takes the patches away, if it is not so already. False: it cannot be. */
bool cts_patching_set(struct cts_memory_module *module, bool patched);
/* Whether barriers are recorded, as far as is known. */
bool cts_patching_has_barriers(void);

/* Whether there is a patch for tensor copies, so that modules get markers (images.h). */
bool cts_patching_has_tensors(void);
/* Before the module is patched for the first time: whether its markers will be patched. */
bool cts_patching_takes_copies(struct cts_memory_module *module);

#endif
