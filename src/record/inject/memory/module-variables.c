/* The driver tells the address of a variable by its symbol (cuModuleGetGlobal); names and sizes are
 * the cubin's. The memory of __managed__ variables has been told as any other. */
#include "module-variables.h"

#include <stdlib.h>

#include "contexts.h"
#include "library.h"
#include "memory-run.h"
#include "source-names.h"

static const char *variable_kind(const struct cts_cubin_variable *variable)
{
    return variable->is_constant ? "constant" : variable->is_managed ? "managed" : "device";
}

static bool has_own_memory(const struct cts_memory_module *module, size_t index)
{
    return module->variable_addresses[index] && !module->cubin.variables[index].is_managed;
}

static void allocate(const struct cts_memory_module *module, uint32_t allocation, size_t index)
{
    const struct cts_cubin_variable *const variable = module->cubin.variables + index;
    const uint32_t device = cts_context_device(module->context);
    char *const name = cts_memory_demangled(variable->name);
    const struct cts_allocation row = {
        .allocation = allocation,
        .rank = cts_memory_run.rank,
        .device = device,
        .op = cts_memory_op(device),
        .freed_op = UINT64_MAX,
        .address = module->variable_addresses[index],
        .size_bytes = variable->size_bytes,
        .kind = "variable",
        .variable = name ? name : variable->name,
    };
    cts_catalogue_add_allocation(cts_memory_run.catalogue, &row);
    free(name);
}

void cts_module_allocate_variables(struct cts_memory_module *module)
{
    const size_t count = module->cubin.variable_count;
    uint32_t found = 0;
    if (module->instrumented || !count) return;
    module->variable_addresses = calloc(count, sizeof *module->variable_addresses);
    for (size_t i = 0; module->variable_addresses && i < count; i++) {
        CUdeviceptr place = 0;
        size_t byte_count = 0;
        if (cts_sanitizer.cuModuleGetGlobal(&place, &byte_count, module->handle,
                                            module->cubin.variables[i].name) == CUDA_SUCCESS)
            module->variable_addresses[i] = place;
        found += has_own_memory(module, i);
    }
    if (!found) return;
    module->first_allocation =
        cts_catalogue_reserve(cts_memory_run.catalogue, CTS_ID_ALLOCATION, found);
    uint32_t next = module->first_allocation;
    for (size_t i = 0; i < count; i++)
        if (has_own_memory(module, i)) allocate(module, next++, i);
}

void cts_module_add_variables(const struct cts_memory_module *module)
{
    for (size_t i = 0; module->variable_addresses && i < module->cubin.variable_count; i++) {
        const struct cts_cubin_variable *const variable = module->cubin.variables + i;
        char *const name = cts_memory_demangled(variable->name);
        const struct cts_variable row = {
            .variable = cts_catalogue_reserve(cts_memory_run.catalogue, CTS_ID_VARIABLE, 1),
            .module = module->id,
            .name = name ? name : variable->name,
            .mangled = variable->name,
            .kind = variable_kind(variable),
            .address = module->variable_addresses[i],
            .size_bytes = variable->size_bytes,
            .source = CTS_NONE,
        };
        cts_catalogue_add_variable(cts_memory_run.catalogue, &row);
        free(name);
    }
}

void cts_module_free_variables(struct cts_memory_module *module)
{
    uint32_t next = module->first_allocation;
    const bool has_rows = module->variable_addresses && next != CTS_NONE;
    const uint64_t op = has_rows ? cts_memory_op(cts_context_device(module->context)) : 0;
    for (size_t i = 0; has_rows && i < module->cubin.variable_count; i++)
        if (has_own_memory(module, i))
            cts_catalogue_free_allocation(cts_memory_run.catalogue, next++, op);
    free(module->variable_addresses);
    module->variable_addresses = NULL;
}
