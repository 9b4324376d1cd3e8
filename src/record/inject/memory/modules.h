/* Modules that are loaded, their kernels, and the sites that records name. */
#ifndef CTS_MEMORY_MODULES_H
#define CTS_MEMORY_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include <sanitizer.h>

#include "record/ring/copies.h"
#include "record/ring/ring.h"
#include "trace/write/collector.h"
#include "launch-tensors.h"

struct cts_memory_kernel {
    uint32_t id;          /* in the catalogue */
    bool is_selected;     /* by --kernel-name */
    bool by_warp;         /* it has no barrier */
    bool is_instrumented; /* it records by itself (instrumented.h) */
    struct cts_tensor_use tensors;
};
void cts_module_loaded(const Sanitizer_ResourceModuleData *data);
void cts_module_unloaded(const Sanitizer_ResourceModuleData *data);
/* Makes the kernel's rows at its first launch. */
struct cts_memory_kernel cts_module_kernel(const Sanitizer_LaunchData *launch);
/* As cts_patching_set(). */
bool cts_module_patch(CUmodule module, bool patched);
/* As struct cts_ring_names has it. */
uint32_t cts_module_site(void *unused, const struct cts_ring_record *record);
uint32_t cts_module_copy(const struct cts_ring_copy *copy, struct cts_stream_box *box);
uint32_t cts_module_copy_site(void *unused, const struct cts_ring_record *record,
                              uint32_t row_bytes);

#endif
