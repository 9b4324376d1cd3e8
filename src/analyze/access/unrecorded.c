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
    return begins_with(what, "texture fetches") || begins_with(what, "operands of ");
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

static bool hides(const struct cts_catalogue *catalogue, const struct cts_launch *launch,
                  bool stores)
{
    const struct cts_kernel *const kernel =
        catalogue->skipped_count ? kernel_of(catalogue, launch->kernel) : NULL;
    for (size_t i = 0; kernel && i < catalogue->skipped_count; i++) {
        const struct cts_skipped *const skipped = &catalogue->skipped[i];
        const char *const what = skipped->what ? skipped->what : "";
        if (skipped->module != kernel->module || (stores && only_loads(what))) continue;
        const char *const function = function_of(what);
        if (!function || !is_other_kernel(catalogue, kernel, function)) return true;
    }
    return false;
}

bool cts_access_hides_stores(const struct cts_catalogue *catalogue, const struct cts_launch *launch)
{
    return hides(catalogue, launch, true);
}

bool cts_access_hides_loads(const struct cts_catalogue *catalogue, const struct cts_launch *launch)
{
    return hides(catalogue, launch, false);
}
