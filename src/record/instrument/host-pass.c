/* The host pass, at the start of the pipeline: nothing is inlined or promoted yet, so that the
 * source's variables and calls are all there. */
#include "record/instrument/device-variables.h"
#include "record/instrument/host-pass.h"
#include "record/instrument/marks.h"

/* On the CPU device a __managed__ variable is one object, which the device side defines. Clang
 * takes it for a __device__ variable: its host side is a shadow that is registered by address,
 * which becomes a declaration of the object itself. */
static bool unite_managed(LLVMModuleRef module, const struct cts_plugin_options *options)
{
    struct cts_pointer_map managed = {0};
    cts_find_managed(module, &managed);
    for (size_t i = 0; i < managed.capacity; i++) {
        LLVMValueRef shadow = (LLVMValueRef)(uintptr_t)managed.entries[i].key;
        if (!shadow) continue;
        LLVMSetInitializer(shadow, NULL);
        cts_unite_managed(shadow, options->unit);
    }
    bool has_any = managed.count > 0;
    cts_pointer_map_release(&managed);
    return has_any;
}

int cts_host_pass(LLVMModuleRef module)
{
    struct cts_plugin_options options;
    bool is_changed = false;
    if (cts_plugin_options_read(&options, module)) {
        if (!LLVMIsNewDbgInfoFormat(module)) LLVMSetIsNewDbgInfoFormat(module, 1);
        is_changed |= cts_host_hint_allocations(module, &options);
        if (options.record_host_accesses) is_changed |= cts_host_mark_accesses(module);
        if (options.for_cpu) is_changed |= unite_managed(module, &options);
        if (options.for_cpu && options.separate_units) is_changed |= cts_host_share_shadows(module);
    }
    cts_plugin_options_release(&options);
    return is_changed;
}
