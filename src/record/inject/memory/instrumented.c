/* Modules that record by themselves.
 *
 * What a module needs to know is written once, when it is loaded. Which launches are recorded, its
 * kernels look up by themselves (grids.c).
 *
 * Sites are numbered over all modules, in the order of loading; numbers are never used again. */
#include "instrumented.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/search.h"
#include "contexts.h"
#include "control.h"
#include "grids.h"
#include "library.h"
#include "record/abi.h"
#include "record/cuda/module.h"
#include "record/inject/cubin/cubin.h"
#include "rings.h"
#include "memory-run.h"
#include "settings.h"
#include "trace/access.h"

enum { SITES_MAX = 1 << CTS_RING_PC_BITS };

struct cts_instrumented {
    struct cts_cuda_table table;
    uint64_t *addresses;       /* of its variables; 0: unknown */
    uint32_t first_allocation; /* that stand for them; CTS_NONE: no rows */
    uint32_t device, first_number, site_count;
    uint32_t first_site, first_source; /* in the catalogue; CTS_NONE: no rows yet */
    bool *is_barrier;                  /* by site; kept when the module is closed */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct cts_instrumented **items; /* by first_number; some are closed */
    size_t count, capacity;
} modules;
static uint32_t next_number;

/* ---- loading ---- */

static bool tell_module(const Sanitizer_ResourceModuleData *data, uint32_t first_number)
{
    CUdeviceptr place = 0;
    size_t byte_count = 0;
    struct cts_memory_control control;
    struct cts_cuda_module module = {
        .bins = cts_memory_ring_bins(data->context, &control),
        .grids = cts_grids_address(data->context),
        .bin_count = control.bin_count,
        .slots_log2 = control.slots_log2,
        .cta_sample = control.cta_sample,
        .spaces = (uint32_t)cts_memory_settings.global << CTS_CUDA_GLOBAL |
                  (uint32_t)cts_memory_settings.shared << CTS_CUDA_SHARED |
                  (uint32_t)cts_memory_settings.local << CTS_CUDA_LOCAL,
        .first_site = first_number,
    };
    if (!module.bins || !module.grids) return false; /* which has been said */
    const CUresult found =
        cts_sanitizer.cuModuleGetGlobal(&place, &byte_count, data->module, CTS_CUDA_MODULE);
    SanitizerResult result = SANITIZER_ERROR_INVALID_PARAMETER;
    if (found == CUDA_SUCCESS && byte_count == sizeof module)
        result = cts_sanitizer_write(place, &module, sizeof module);
    if (result != SANITIZER_SUCCESS)
        cts_memory_say("error", "no accesses of an instrumented module are recorded: its %s: %s",
                       CTS_CUDA_MODULE, cts_sanitizer_text(result));
    return result == SANITIZER_SUCCESS;
}

static void find_variables(CUmodule handle, struct cts_instrumented *module)
{
    const struct cts_cuda_table *const table = &module->table;
    module->addresses = calloc(table->variable_count + (size_t)1, sizeof *module->addresses);
    for (uint32_t i = 0; module->addresses && i < table->variable_count; i++) {
        CUdeviceptr place = 0;
        size_t byte_count = 0;
        if (table->variables[i].kind <= CTS_VARIABLE_MANAGED &&
            cts_sanitizer.cuModuleGetGlobal(&place, &byte_count, handle,
                                            table->variables[i].symbol) == CUDA_SUCCESS)
            module->addresses[i] = place;
    }
}

/* Reads its table and numbers its sites. */
static struct cts_instrumented *add_module(const void *bytes, size_t byte_count)
{
    struct cts_instrumented *const module = calloc(1, sizeof *module);
    struct cts_error error = {0};
    if (!module) return NULL;
    if (cts_cuda_table_read(bytes, byte_count, &module->table, &error)) {
        cts_memory_say("warning", "%s; it is recorded as others are", error.text);
        free(module);
        return NULL;
    }
    module->site_count = module->table.site_count;
    module->is_barrier = calloc(module->site_count + (size_t)1, sizeof *module->is_barrier);
    for (uint32_t i = 0; module->is_barrier && i < module->site_count; i++)
        module->is_barrier[i] = module->table.sites[i].space == CTS_SPACE_BARRIER;
    module->first_site = module->first_source = module->first_allocation = CTS_NONE;
    pthread_mutex_lock(&lock);
    const bool fits = module->site_count <= SITES_MAX - next_number && module->is_barrier &&
                      CTS_ARRAY_RESERVE(&modules, modules.count + 1, NULL) == CTS_OK;
    if (fits) {
        module->first_number = next_number;
        next_number += module->site_count;
        modules.items[modules.count++] = module;
    }
    pthread_mutex_unlock(&lock);
    if (fits) return module;
    cts_cuda_table_release(&module->table);
    free(module->is_barrier);
    free(module);
    return NULL;
}

/* A variable with memory of its own is an allocation, too, so that addresses find it; from the
 * beginning, since copies to it come before launches. */
static void add_allocations(struct cts_instrumented *module)
{
    struct cts_catalogue_writer *const catalogue = cts_memory_run.catalogue;
    const struct cts_cuda_table *const table = &module->table;
    uint32_t count = 0;
    for (uint32_t i = 0; module->addresses && i < table->variable_count; i++)
        count += module->addresses[i] != 0;
    if (!count) return;
    uint32_t next = cts_catalogue_reserve(catalogue, CTS_ID_ALLOCATION, count);
    module->first_allocation = next;
    for (uint32_t i = 0; i < table->variable_count; i++) {
        const struct cts_cuda_variable *const variable = table->variables + i;
        const bool has_source = variable->source < table->source_count;
        if (!module->addresses[i]) continue;
        const struct cts_allocation row = {
            .allocation = next++,
            .rank = cts_memory_run.rank,
            .device = module->device,
            .op = cts_memory_op(module->device),
            .freed_op = UINT64_MAX,
            .address = module->addresses[i],
            .size_bytes = variable->size_bytes,
            .kind = variable->kind == CTS_VARIABLE_MANAGED ? "managed" : "variable",
            .variable = variable->name,
            .type = variable->type,
            .path = has_source ? table->sources[variable->source].path : NULL,
            .line = variable->line,
        };
        cts_catalogue_add_allocation(catalogue, &row);
    }
}

struct cts_instrumented *cts_instrumented_open(const Sanitizer_ResourceModuleData *data)
{
    const void *bytes;
    size_t byte_count;
    if (cts_memory_settings.empty || !data->pCubin ||
        !cts_cubin_object(data->pCubin, data->cubinSize, CTS_CUDA_TABLE, &bytes, &byte_count))
        return NULL;
    struct cts_instrumented *const module = add_module(bytes, byte_count);
    if (!module) return NULL;
    module->device = cts_context_device(data->context);
    find_variables(data->module, module);
    add_allocations(module);
    (void)tell_module(data, module->first_number);
    return module;
}

/* ---- rows ---- */

uint32_t cts_instrumented_flags(const struct cts_instrumented *module)
{
    return module->table.flags & (CTS_FILE_BARRIERS | CTS_FILE_FENCES);
}

const char *cts_instrumented_path(const struct cts_instrumented *module)
{
    return module->table.path;
}

const struct cts_cuda_kernel *cts_instrumented_kernel(const struct cts_instrumented *module,
                                                      const char *symbol)
{
    for (uint32_t i = 0; i < module->table.kernel_count; i++)
        if (strcmp(module->table.kernels[i].symbol, symbol) == 0) return module->table.kernels + i;
    return NULL;
}

uint32_t cts_instrumented_source(const struct cts_instrumented *module, uint32_t source)
{
    return source < module->table.source_count && module->first_source != CTS_NONE
               ? module->first_source + source
               : CTS_NONE;
}

static void add_sources(const struct cts_instrumented *module, uint32_t id)
{
    for (uint32_t i = 0; i < module->table.source_count; i++) {
        const struct cts_source row = {.source = module->first_source + i,
                                       .module = id,
                                       .path = module->table.sources[i].path,
                                       .text = module->table.sources[i].text};
        cts_catalogue_add_source(cts_memory_run.catalogue, &row);
    }
}

static void add_sites(const struct cts_instrumented *module, uint32_t first_site, uint32_t id)
{
    for (uint32_t i = 0; i < module->site_count; i++) {
        const struct cts_cuda_site *const site = module->table.sites + i;
        const struct cts_site row = {
            .site = first_site + i,
            .module = id,
            .function = site->function,
            .operation = site->operation,
            .space = site->space,
            .width_bytes = site->width_bytes,
            .source = cts_instrumented_source(module, site->source),
            .line = site->line,
            .column = site->column,
            .inlined_at = site->inlined_at,
            .type = site->type,
            .variable = site->variable,
            .is_volatile = site->is_volatile != 0,
            .loop_depth = site->loop_depth,
        };
        cts_catalogue_add_site(cts_memory_run.catalogue, &row);
    }
}

static void add_variables(const struct cts_instrumented *module, uint32_t id)
{
    static const char *const kinds[] = {
        [CTS_VARIABLE_DEVICE] = "device",
        [CTS_VARIABLE_CONSTANT] = "constant",
        [CTS_VARIABLE_MANAGED] = "managed",
        [CTS_VARIABLE_SHARED] = "shared",
        [CTS_VARIABLE_TEXTURE] = "texture",
        [CTS_VARIABLE_SURFACE] = "surface",
        [CTS_VARIABLE_SHARED_DYNAMIC] = "dynamic shared",
    };
    const uint32_t count = module->table.variable_count;
    const uint32_t first = cts_catalogue_reserve(cts_memory_run.catalogue, CTS_ID_VARIABLE, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct cts_cuda_variable *const variable = module->table.variables + i;
        const struct cts_variable row = {
            .variable = first + i,
            .module = id,
            .name = variable->name,
            .mangled = variable->symbol,
            .type = variable->type,
            .kind = kinds[variable->kind],
            .address = module->addresses ? module->addresses[i] : 0,
            .size_bytes = variable->size_bytes,
            .function = variable->function,
            .source = cts_instrumented_source(module, variable->source),
            .line = variable->line,
        };
        cts_catalogue_add_variable(cts_memory_run.catalogue, &row);
    }
}

static void free_allocations(const struct cts_instrumented *module)
{
    uint32_t next = module->first_allocation;
    const uint64_t op = next == CTS_NONE ? 0 : cts_memory_op(module->device);
    for (uint32_t i = 0; next != CTS_NONE && i < module->table.variable_count; i++)
        if (module->addresses[i])
            cts_catalogue_free_allocation(cts_memory_run.catalogue, next++, op);
}

static void add_skipped(const struct cts_instrumented *module, uint32_t id)
{
    for (uint32_t i = 0; i < module->table.skipped_count; i++) {
        const struct cts_cuda_skipped *const skipped = module->table.skipped + i;
        const struct cts_skipped row = {.module = id,
                                        .what = skipped->what,
                                        .reason = skipped->reason,
                                        .source = cts_instrumented_source(module, skipped->source),
                                        .line = skipped->line,
                                        .count = 1};
        cts_catalogue_add_skipped(cts_memory_run.catalogue, &row);
    }
}

static void add_padded_types(const struct cts_instrumented *module, uint32_t id)
{
    for (uint32_t i = 0; i < module->table.padded_type_count; i++) {
        const struct cts_cuda_padded_type *const type = module->table.padded_types + i;
        const struct cts_padded_type row = {.module = id,
                                            .type = type->name,
                                            .size_bytes = type->size_bytes,
                                            .padding = type->padding,
                                            .alternatives = type->alternatives};
        cts_catalogue_add_padded_type(cts_memory_run.catalogue, &row);
    }
}

void cts_instrumented_add_rows(struct cts_instrumented *module, uint32_t id)
{
    struct cts_catalogue_writer *const catalogue = cts_memory_run.catalogue;
    module->first_source =
        cts_catalogue_reserve(catalogue, CTS_ID_SOURCE, module->table.source_count);
    const uint32_t first_site = cts_catalogue_reserve(catalogue, CTS_ID_SITE, module->site_count);
    add_sources(module, id);
    add_sites(module, first_site, id);
    add_variables(module, id);
    add_skipped(module, id);
    add_padded_types(module, id);
    pthread_mutex_lock(&lock);
    module->first_site = first_site; /* consumers ask for it */
    pthread_mutex_unlock(&lock);
}

uint32_t cts_instrumented_site(uint32_t number)
{
    uint32_t site = CTS_NONE;
    pthread_mutex_lock(&lock);
    const size_t behind = CTS_SEARCH(modules.count, i, modules.items[i]->first_number <= number);
    const struct cts_instrumented *const module = behind ? modules.items[behind - 1] : NULL;
    if (module && number - module->first_number < module->site_count &&
        module->first_site != CTS_NONE)
        site = (module->first_site + (number - module->first_number)) |
               (module->is_barrier[number - module->first_number] ? CTS_RING_BARRIER_SITE : 0u);
    pthread_mutex_unlock(&lock);
    return site;
}

void cts_instrumented_close(struct cts_instrumented *module)
{
    free_allocations(module);
    pthread_mutex_lock(&lock);
    cts_cuda_table_release(&module->table); /* the numbers of its sites stay */
    free(module->addresses);
    module->addresses = NULL;
    pthread_mutex_unlock(&lock);
}
