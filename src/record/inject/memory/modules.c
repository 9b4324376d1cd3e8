/* Modules, the kernels that are launched, and the sites that records name.
 *
 * A module's cubin is read when it is loaded; it gets rows when a kernel of it is launched first
 * (libraries load thousands of kernels and run a few). A record has the low bits of an
 * instruction's address; the kernel that it lies in, and so the site, are found among the address
 * ranges of the kernels that ran. Functions that are called lie in ranges of their own or inside
 * the kernel's. */
#include "modules.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/map.h"
#include "common/name-filter.h"
#include "common/search.h"
#include "disassembly.h"
#include "instrumented.h"
#include "library.h"
#include "module-rows.h"
#include "module-variables.h"
#include "source-names.h"
#include "patching.h"
#include "record/abi.h"
#include "record/inject/cubin/tensor-box.h"
#include "record/ring/consumer.h"
#include "rings.h"
#include "memory-run.h"
#include "settings.h"
#include "sites.h"

struct kernel {
    struct cts_memory_kernel known;
    CUfunction handle; /* NULL: unloaded */
    struct cts_memory_module *module;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct cts_memory_module **items;
    size_t count, capacity;
} modules;
static struct {
    struct kernel *items;
    size_t count, capacity;
} kernels;
static struct {
    struct cts_code_range *items;
    size_t count, capacity;
} ranges;                               /* by first */
static struct cts_map kernel_by_handle; /* index plus one */
static struct cts_map site_by_key;      /* id plus one */
static struct cts_map copy_site_by_key; /* id plus one; by pc and bytes of a row */
enum { COPY_KEY_SHIFT = 16 };

static bool is_selected(const char *name, const char *mangled)
{
    struct cts_name_filter filter;
    if (cts_name_filter_make(&filter, cts_memory_settings.environment.kernel_name, NULL))
        return false;
    const bool takes = cts_name_filter_takes_kernel(&filter, name, mangled);
    cts_name_filter_release(&filter);
    return takes;
}

/* ---- modules ---- */

static struct cts_memory_module *find_module(CUmodule handle)
{
    for (size_t i = modules.count; i-- > 0;)
        if (modules.items[i]->handle == handle) return modules.items[i];
    return NULL;
}

/* Of modules without source lines. */
static void keep_image(struct cts_memory_module *module, const char *image, size_t image_bytes)
{
    if (!image || module->cubin.line_count || !cts_disassembly_is_wanted(image_bytes)) return;
    module->image = malloc(image_bytes);
    if (!module->image) return;
    memcpy(module->image, image, image_bytes);
    module->image_bytes = image_bytes;
}

static struct cts_memory_module *add_module(CUmodule handle, CUcontext context, const char *image,
                                            size_t image_bytes)
{
    struct cts_memory_module *const module = calloc(1, sizeof *module);
    if (!module) return NULL;
    struct cts_error error;
    module->handle = handle;
    module->context = context;
    module->id = module->first_allocation = CTS_NONE;
    if (image && cts_cubin_read(image, image_bytes, &module->cubin, &error))
        cts_memory_say("warning", "%s; its kernels have no source lines", error.text);
    const size_t files = module->cubin.file_count;
    module->sources = malloc((files + 1) * sizeof *module->sources);
    for (size_t i = 0; module->sources && i < files; i++) module->sources[i] = CTS_NONE;
    pthread_mutex_lock(&lock);
    const bool kept =
        module->sources && CTS_ARRAY_RESERVE(&modules, modules.count + 1, NULL) == CTS_OK;
    if (kept) modules.items[modules.count++] = module;
    pthread_mutex_unlock(&lock);
    if (kept) {
        keep_image(module, image, image_bytes);
        return module;
    }
    cts_cubin_release(&module->cubin);
    free(module->sources);
    free(module);
    return NULL;
}

static bool has_markers(const struct cts_memory_module *module)
{
    for (size_t i = 0; i < module->cubin.mark_count; i++)
        if (module->cubin.marks[i].sass.kind == CTS_SASS_MARKED_COPY) return true;
    return false;
}

void cts_module_loaded(const Sanitizer_ResourceModuleData *data)
{
    struct cts_memory_module *const module =
        add_module(data->module, data->context, data->pCubin, data->cubinSize);
    if (!cts_memory_settings.empty)
        (void)cts_memory_ring_user(data->context); /* before any launch */
    if (module) module->instrumented = cts_instrumented_open(data);
    if (module && !module->instrumented && has_markers(module))
        module->records_copies = cts_patching_takes_copies(module);
    if (module) cts_module_allocate_variables(module);
    if (!cts_memory_settings.defer) (void)cts_module_patch(data->module, true);
}

/* What its code was is forgotten: another module may get its addresses. */
void cts_module_unloaded(const Sanitizer_ResourceModuleData *data)
{
    (void)cts_memory_rings_drain(10000);
    pthread_mutex_lock(&lock);
    struct cts_memory_module *const module = find_module(data->module);
    for (size_t i = 0; module && i < kernels.count; i++)
        if (kernels.items[i].module == module && kernels.items[i].handle) {
            uint64_t *const place =
                cts_map_at(&kernel_by_handle, (uint64_t)(uintptr_t)kernels.items[i].handle, NULL);
            if (place) *place = 0;
            kernels.items[i].handle = NULL;
        }
    size_t kept = 0;
    for (size_t i = 0; module && i < ranges.count; i++) {
        struct cts_code_range *const range = ranges.items + i;
        if (range->module != module) {
            ranges.items[kept++] = *range;
            continue;
        }
        for (size_t s = 0; s < site_by_key.capacity; s++) {
            const uint32_t pc = (uint32_t)(site_by_key.entries[s].key >> 8);
            if (site_by_key.used[s] && ((pc - range->first) & CTS_PC_MASK) < range->count)
                site_by_key.entries[s].value = 0;
        }
        for (size_t s = 0; s < copy_site_by_key.capacity; s++) {
            const uint32_t pc = (uint32_t)(copy_site_by_key.entries[s].key >> COPY_KEY_SHIFT);
            if (copy_site_by_key.used[s] && ((pc - range->first) & CTS_PC_MASK) < range->count)
                copy_site_by_key.entries[s].value = 0;
        }
        free(range->name);
    }
    if (module) {
        if (module->instrumented) cts_instrumented_close(module->instrumented);
        cts_module_free_variables(module);
        ranges.count = kept;
        module->handle = NULL;
        module->is_patched = false;
    }
    pthread_mutex_unlock(&lock);
    (void)cts_memory_rings_drain(10000); /* and their caches */
}

bool cts_module_patch(CUmodule handle, bool patched)
{
    pthread_mutex_lock(&lock);
    struct cts_memory_module *const module = find_module(handle);
    pthread_mutex_unlock(&lock);
    return module ? cts_patching_set(module, patched) : !patched;
}

/* ---- kernels ---- */

static void add_range(struct cts_memory_module *module, const char *name, uint64_t pc,
                      uint64_t bytes)
{
    const struct cts_code_range range = {
        .first = (uint32_t)(pc >> CTS_RING_PC_SHIFT) & CTS_PC_MASK,
        .count = (uint32_t)(bytes >> CTS_RING_PC_SHIFT),
        .module = module,
        .function = cts_cubin_find(&module->cubin, name),
        .name = cts_memory_demangled(name),
    };
    pthread_mutex_lock(&lock);
    bool is_new = range.name != NULL;
    for (size_t i = 0; i < ranges.count && is_new; i++)
        is_new = ranges.items[i].first != range.first || ranges.items[i].module != module;
    if (is_new && CTS_ARRAY_RESERVE(&ranges, ranges.count + 1, NULL) == CTS_OK) {
        size_t at = ranges.count++;
        for (; at && ranges.items[at - 1].first > range.first; at--)
            ranges.items[at] = ranges.items[at - 1];
        ranges.items[at] = range;
    } else {
        free(range.name);
    }
    pthread_mutex_unlock(&lock);
}

/* Of the kernel that is launched and what it calls alone: asking for one that is not loaded yet
 * waits for ever here.
 */
static void find_range(struct cts_memory_module *module, const char *name)
{
    uint64_t pc = 0, bytes = 0;
    if (cts_sanitizer.sanitizerGetFunctionPcAndSize(module->handle, name, &pc, &bytes) ==
        SANITIZER_SUCCESS)
        add_range(module, name, pc, bytes);
}

/* Functions that the kernel calls are loaded with it. */
static void find_called_ranges(struct cts_memory_module *module, const char *name)
{
    const struct cts_cubin *const cubin = &module->cubin;
    const struct cts_cubin_function *const function = cts_cubin_find(cubin, name);
    bool *const reached = cubin->edge_count ? calloc(cubin->function_count, sizeof *reached) : NULL;
    if (!reached) return;
    cts_cubin_reach(cubin, function, reached);
    for (size_t f = 0; f < cubin->function_count; f++)
        if (reached[f] && cubin->functions + f != function)
            find_range(module, cubin->functions[f].name);
    free(reached);
}

static bool add_kernel(const Sanitizer_LaunchData *launch, struct cts_memory_module *module,
                       struct cts_memory_kernel *known)
{
    const struct cts_cuda_kernel *const own =
        module->instrumented ? cts_instrumented_kernel(module->instrumented, launch->functionName)
                             : NULL;
    char *const name = own ? strdup(own->name) : cts_memory_demangled(launch->functionName);
    const struct cts_cubin_function *const function =
        cts_cubin_find(&module->cubin, launch->functionName);
    if (!name) return false;
    pthread_mutex_lock(&lock);
    uint64_t *const place =
        cts_map_at(&kernel_by_handle, (uint64_t)(uintptr_t)launch->function, NULL);
    const bool fits = place && CTS_ARRAY_RESERVE(&kernels, kernels.count + 1, NULL) == CTS_OK;
    if (fits) {
        cts_module_make_row(module);
        const struct cts_cubin_line *const line = cts_cubin_line_at(&module->cubin, function, 0);
        const struct cts_kernel row = {
            .kernel = cts_catalogue_reserve(cts_memory_run.catalogue, CTS_ID_KERNEL, 1),
            .module = module->id,
            .name = name,
            .mangled = launch->functionName,
            .source = own    ? cts_instrumented_source(module->instrumented, own->source)
                      : line ? cts_module_source(module, line->file)
                             : CTS_NONE,
            .line = own    ? own->line
                    : line ? line->line
                           : 0,
            .static_shared_bytes = function ? function->static_shared_bytes : 0,
            .registers = function ? function->registers : 0,
            .instrumented = !own || !(own->flags & CTS_KERNEL_UNINSTRUMENTED),
        };
        cts_catalogue_add_kernel(cts_memory_run.catalogue, &row);
        const struct cts_tensor_use tensors = cts_module_tell_unrecorded(module, function, name);
        *known = (struct cts_memory_kernel){
            .id = row.kernel,
            .is_selected = is_selected(name, launch->functionName),
            .by_warp = function && !function->may_have_barriers,
            .is_instrumented = module->instrumented != NULL,
            .tensors = tensors,
        };
        kernels.items[kernels.count++] = (struct kernel){*known, launch->function, module};
        *place = kernels.count;
    }
    pthread_mutex_unlock(&lock);
    free(name);
    return fits;
}

struct cts_memory_kernel cts_module_kernel(const Sanitizer_LaunchData *launch)
{
    struct cts_memory_kernel known = {.id = CTS_NONE};
    pthread_mutex_lock(&lock);
    const uint64_t *const place =
        cts_map_find(&kernel_by_handle, (uint64_t)(uintptr_t)launch->function);
    const bool found = place && *place;
    if (found) known = kernels.items[*place - 1].known;
    struct cts_memory_module *module = found ? NULL : find_module(launch->module);
    pthread_mutex_unlock(&lock);
    if (found) return known;
    if (!module) module = add_module(launch->module, launch->context, NULL, 0);
    if (!module || !launch->functionName || !add_kernel(launch, module, &known)) return known;
    find_range(module, launch->functionName);
    find_called_ranges(module, launch->functionName);
    return known;
}

/* ---- sites ---- */

/* The range that an instruction lies in, or else the one before it, or any. */
static const struct cts_code_range *range_of(uint32_t pc)
{
    const size_t behind = CTS_SEARCH(ranges.count, i, ranges.items[i].first <= pc);
    return behind ? &ranges.items[behind - 1] : ranges.count ? ranges.items : NULL;
}

uint32_t cts_module_site(void *unused, const struct cts_ring_record *record)
{
    (void)unused;
    const uint64_t key = (uint64_t)record->pc << 8 | (uint64_t)record->space |
                         (uint64_t)record->operation << 2 | (uint64_t)record->width_log2 << 4;
    uint32_t site = CTS_NONE;
    if (record->operation == CTS_RING_AS_SITE) return cts_instrumented_site(record->pc);
    pthread_mutex_lock(&lock);
    const struct cts_code_range *const range = range_of(record->pc);
    uint64_t *const place = range ? cts_map_at(&site_by_key, key, NULL) : NULL;
    if (place) {
        if (!*place) *place = (uint64_t)cts_module_add_site(range, record) + 1;
        site = (uint32_t)(*place - 1);
        if (record->space == CTS_RING_BARRIER) site |= CTS_RING_BARRIER_SITE;
    }
    pthread_mutex_unlock(&lock);
    return site;
}

uint32_t cts_module_copy(const struct cts_ring_copy *copy, struct cts_stream_box *box)
{
    struct cts_tensor_rows rows;
    if (!cts_tensor_box(copy->map, copy->point, &rows)) return 0;
    box->base = rows.base;
    box->box = rows.box;
    box->box.multicast = copy->multicast;
    return rows.row_bytes;
}

uint32_t cts_module_copy_site(void *unused, const struct cts_ring_record *record,
                              uint32_t row_bytes)
{
    (void)unused;
    uint32_t site = CTS_NONE;
    pthread_mutex_lock(&lock);
    const struct cts_code_range *const range = range_of(record->pc);
    const uint64_t key = (uint64_t)record->pc << COPY_KEY_SHIFT | row_bytes;
    if (range && !row_bytes) cts_module_tell_unknown_copy(range, record);
    uint64_t *const place = range && row_bytes ? cts_map_at(&copy_site_by_key, key, NULL) : NULL;
    if (place) {
        if (!*place) *place = (uint64_t)cts_module_add_copy_site(range, record, row_bytes) + 1;
        site = (uint32_t)(*place - 1);
    }
    pthread_mutex_unlock(&lock);
    return site;
}
