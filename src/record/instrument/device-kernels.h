/* The kernels of a module and the functions they can reach. */
#ifndef CTS_INSTRUMENT_DEVICE_KERNELS_H
#define CTS_INSTRUMENT_DEVICE_KERNELS_H

#include "record/instrument/debuginfo.h"
#include "record/instrument/plugin-options.h"

struct cts_kernels {
    LLVMValueRef *items; /* in the module's order */
    size_t count, capacity;
    struct cts_pointer_map is_kernel;  /* kernel -> 1, or 2 when the filter leaves it out */
    struct cts_pointer_map is_reached; /* functions to be instrumented; unused without a filter */
    bool has_filter;
};

void cts_kernels_find(struct cts_kernels *kernels, LLVMModuleRef module, struct cts_debug *debug,
                      const struct cts_plugin_options *options);
void cts_kernels_release(struct cts_kernels *kernels);

bool cts_kernels_is_left_out(const struct cts_kernels *kernels, LLVMValueRef kernel);
bool cts_kernels_wants_function(const struct cts_kernels *kernels, LLVMValueRef function);

#endif
