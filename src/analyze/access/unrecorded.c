/* Launches of which no record is missing, but which may store what no record tells: their kernels
 * have instructions whose addresses the recorder does not learn (tensor copies, unknown inline
 * PTX). The catalogue lists them by module as "WHAT in FUNCTION", or by source file. */
#include "analyze/access/unrecorded.h"

#include <string.h>

static bool begins_with(const char *text, const char *beginning)
{
    return !strncmp(text, beginning, strlen(beginning));
}

/* Instructions that load global memory, if they touch it at all. */
static bool only_loads(const char *what)
{
    return begins_with(what, "texture fetches") || begins_with(what, "tensor loads");
}

/* Operands in shared or tensor memory. */
static bool is_on_chip(const char *what)
{
    return begins_with(what, "operands of ");
}

static bool stores_tensors(const char *what)
{
    return begins_with(what, "tensor stores") || begins_with(what, "tensor reductions");
}

static const char *function_of(const char *what)
{
    const char *found = NULL;
    for (const char *at = what; (at = strstr(at, " in ")); at += 4) found = found ? found : at + 4;
    return found;
}

static bool names_kernel(const struct cts_kernel *kernel, const char *function)
{
    return (kernel->name && !strcmp(kernel->name, function)) ||
           (kernel->mangled && !strcmp(kernel->mangled, function));
}

static const struct cts_kernel *kernel_of(const struct cts_catalogue *catalogue, uint32_t kernel)
{
    for (size_t i = 0; i < catalogue->kernel_count; i++)
        if (catalogue->kernels[i].kernel == kernel) return &catalogue->kernels[i];
    return NULL;
}

/* Whether the function is another kernel of the module; any other may be called by this one. */
static bool is_other_kernel(const struct cts_catalogue *catalogue, const struct cts_kernel *kernel,
                            const char *function)
{
    if (names_kernel(kernel, function)) return false;
    for (size_t i = 0; i < catalogue->kernel_count; i++)
        if (catalogue->kernels[i].module == kernel->module &&
            names_kernel(&catalogue->kernels[i], function))
            return true;
    return false;
}

/* Tensor copies of the kernel may use maps that are not among its parameters. */
static bool has_other_maps(const char *what)
{
    return begins_with(what, "tensor maps made on the device") ||
           begins_with(what, "constant memory that may hold tensor maps");
}

static enum cts_access_hidden where_of(const char *what, bool stores)
{
    if (has_other_maps(what) || is_on_chip(what)) return CTS_HIDDEN_NOWHERE;
    if (stores && only_loads(what)) return CTS_HIDDEN_NOWHERE;
    return stores && stores_tensors(what) ? CTS_HIDDEN_IN_TENSORS : CTS_HIDDEN_ANYWHERE;
}

static enum cts_access_hidden hidden_of(const struct cts_catalogue *catalogue,
                                        const struct cts_launch *launch, bool stores)
{
    const struct cts_kernel *const kernel =
        catalogue->skipped_count ? kernel_of(catalogue, launch->kernel) : NULL;
    enum cts_access_hidden hidden = CTS_HIDDEN_NOWHERE;
    bool other_maps = false;
    for (size_t i = 0; kernel && i < catalogue->skipped_count; i++) {
        const struct cts_skipped *const skipped = &catalogue->skipped[i];
        const char *const what = skipped->what ? skipped->what : "";
        const enum cts_access_hidden where = where_of(what, stores);
        const char *const function = function_of(what);
        if (skipped->module != kernel->module ||
            (function && is_other_kernel(catalogue, kernel, function)))
            continue;
        other_maps |= has_other_maps(what);
        if (where > hidden) hidden = where;
    }
    return hidden == CTS_HIDDEN_IN_TENSORS && other_maps ? CTS_HIDDEN_ANYWHERE : hidden;
}

enum cts_access_hidden cts_access_hidden_stores(const struct cts_catalogue *catalogue,
                                                const struct cts_launch *launch)
{
    return hidden_of(catalogue, launch, true);
}

bool cts_access_hides_loads(const struct cts_catalogue *catalogue, const struct cts_launch *launch)
{
    return hidden_of(catalogue, launch, false) != CTS_HIDDEN_NOWHERE;
}
