/* The variables of a launch's shared memory, and where they lie in a CTA's window: as the CPU
 * device lays a file's out, or as an imported trace says. A GPU's own linker lays out each kernel
 * anew, which no recording holds, so that its launches have none. */
#include <string.h>

#include "view/answers.h"

enum { DYNAMIC_ALIGNMENT = 16 }; /* of what a launch adds behind the file's variables */

static bool is_same(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

static bool knows_layout(const struct cts_catalogue *catalogue, const struct cts_launch *launch)
{
    const struct cts_rank *const rank = cts_catalogue_find_rank(catalogue, launch->rank);
    return rank && (is_same(rank->recorder, "cpu") || is_same(rank->recorder, "import"));
}

static bool is_of_shared(const struct cts_site *site)
{
    return site->space == CTS_SPACE_SHARED || site->space == CTS_SPACE_GENERIC;
}

/* Whether the launch ran the function that the variable belongs to; one that belongs to none is
 * the launch's if a site names it. */
static bool is_used(const struct cts_catalogue *catalogue, const struct cts_kernel *kernel,
                    const struct cts_selection_launch *launch, const struct cts_variable *variable)
{
    const bool has_function = variable->function && *variable->function;
    if (has_function && is_same(kernel->name, variable->function)) return true;
    for (size_t i = 0; i < launch->site_count; i++) {
        const struct cts_site *const site = &catalogue->sites[launch->sites[i].site];
        if (site->module != variable->module) continue;
        if (has_function ? is_same(site->function, variable->function)
                         : is_of_shared(site) && is_same(site->variable, variable->name))
            return true;
    }
    return false;
}

/* The size of the variable's elements, as a site that takes whole ones tells it; 0: none does. */
static unsigned element_bytes(const struct cts_catalogue *catalogue,
                              const struct cts_variable *variable)
{
    for (size_t i = 0; i < catalogue->site_count; i++) {
        const struct cts_site *const site = &catalogue->sites[i];
        if (site->module == variable->module && is_of_shared(site) &&
            is_same(site->variable, variable->name) && is_same(site->type, variable->type))
            return site->width_bytes;
    }
    return 0;
}

static uint64_t end_of_static(const struct cts_catalogue *catalogue, uint32_t module)
{
    uint64_t end = 0;
    for (size_t i = 0; i < catalogue->variable_count; i++) {
        const struct cts_variable *const it = &catalogue->variables[i];
        if (it->module == module && is_same(it->kind, "shared") &&
            it->address + it->size_bytes > end)
            end = it->address + it->size_bytes;
    }
    return (end + DYNAMIC_ALIGNMENT - 1) / DYNAMIC_ALIGNMENT * DYNAMIC_ALIGNMENT;
}

static void write_variable(struct cts_json *json, const struct cts_catalogue *catalogue,
                           const struct cts_variable *it, uint64_t address, uint64_t size_bytes)
{
    char text[400];
    const unsigned element = element_bytes(catalogue, it);
    const char *const path =
        it->source < catalogue->source_count ? catalogue->sources[it->source].path : NULL;
    if (element && size_bytes > element)
        snprintf(text, sizeof text, "%s %s[%llu]", it->type, it->name,
                 (unsigned long long)(size_bytes / element));
    else
        snprintf(text, sizeof text, "%s %s", it->type ? it->type : "", it->name);
    cts_json_open_object(json);
    cts_json_member_u64(json, "allocation", it->variable);
    cts_json_member_u64(json, "address", address);
    cts_json_member_u64(json, "size", size_bytes);
    cts_json_member_string(json, "kind", it->kind);
    cts_json_member_string(json, "variable", it->name);
    cts_json_member_string(json, "declaration", it->type ? text : NULL);
    cts_json_member_string(json, "type", it->type);
    cts_view_member_line(json, "elementBytes", element);
    cts_json_member_string(json, "path", path);
    cts_view_member_line(json, "line", path ? it->line : 0);
    cts_json_member_bool(json, "touched", true);
    cts_json_close_object(json);
}

void cts_view_write_shared(struct cts_json *json, const struct cts_catalogue *catalogue,
                           const struct cts_launch *row, const struct cts_selection_launch *launch)
{
    const bool is_known = row->kernel < catalogue->kernel_count && knows_layout(catalogue, row);
    const struct cts_kernel *const kernel = is_known ? &catalogue->kernels[row->kernel] : NULL;
    cts_json_key(json, "shared");
    cts_json_open_array(json);
    for (size_t i = 0; is_known && i < catalogue->variable_count; i++) {
        const struct cts_variable *const it = &catalogue->variables[i];
        const bool is_dynamic = is_same(it->kind, "dynamic shared");
        const uint64_t size = is_dynamic ? row->dynamic_shared_bytes : it->size_bytes;
        if ((!is_dynamic && !is_same(it->kind, "shared")) || it->module != kernel->module ||
            !it->name || !size || !is_used(catalogue, kernel, launch, it))
            continue;
        write_variable(json, catalogue, it,
                       is_dynamic ? end_of_static(catalogue, it->module) : it->address, size);
    }
    cts_json_close_array(json);
}
