/* Regions of kernels by the names that records carry. The pointer of a name stays the same for a
 * kernel and may come back for another one after its module was unloaded, so the text is compared
 * too; then the name is demangled once. libstdc++ is asked for that if there is one (nearly every
 * CUDA program has it); without, the mangled name is shown. */
#include <dlfcn.h>
#include <string.h>

#include "common/map.h"
#include "inject.h"

struct kernel {
    uint32_t region;
    char mangled[];
};

static char *demangle(const char *mangled)
{
    static char *(*cxa_demangle)(const char *, char *, size_t *, int *);
    static bool sought;
    if (!sought) {
        sought = true;
        void *const library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        if (library) *(void **)&cxa_demangle = dlsym(library, "__cxa_demangle");
    }
    int status = 0;
    if (!cxa_demangle || strncmp(mangled, "_Z", 2) != 0) return NULL;
    return cxa_demangle(mangled, NULL, NULL, &status);
}

static uint32_t make_region(const char *mangled)
{
    char *const demangled = demangle(mangled);
    const struct cts_timeline_region region = {.name = demangled ? demangled : mangled,
                                               .canonical_name = mangled,
                                               .file = "CUDA_KERNEL",
                                               .paradigm = CTS_PARADIGM_CUDA,
                                               .role = CTS_ROLE_FUNCTION};
    const uint32_t number = cts_inject_recorder->region(&region);
    free(demangled);
    return number;
}

uint32_t cts_kernel_region(const char *mangled)
{
    static struct cts_map kernels; /* address of the name -> struct kernel * */
    if (!mangled) mangled = "unnamed kernel";
    const uint64_t key = (uintptr_t)mangled;
    uint64_t *const place = cts_map_at(&kernels, key, NULL);
    struct kernel *kernel = place ? (struct kernel *)(uintptr_t)*place : NULL;
    if (kernel && strcmp(kernel->mangled, mangled) == 0) return kernel->region;
    const size_t bytes = strlen(mangled) + 1;
    const uint32_t region = make_region(mangled);
    if (!place) return region;
    free(kernel);
    kernel = malloc(sizeof *kernel + bytes);
    if (kernel) {
        kernel->region = region;
        memcpy(kernel->mangled, mangled, bytes);
    }
    *place = (uintptr_t)kernel;
    return region;
}
