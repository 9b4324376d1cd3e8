/* Finds libcupti. Two copies in one process would both want the one subscription that there is, so
 * a copy that the program has loaded is taken before any other: PyTorch links the one of its
 * package. Else what CTASCOPE_CUPTI names, the loader's own search, and the usual places of a
 * toolkit. Only headers are needed to build; which version is there turns out here. */
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject.h"

/* CUDA 11.6, the first with cuptiActivityRegisterTimestampCallback. */
enum { VERSION_MIN = 17 };

struct search {
    char path[512];
};

static int look_at_object(struct dl_phdr_info *info, size_t size, void *state)
{
    struct search *const search = state;
    (void)size;
    const char *const slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (!slash || strncmp(slash + 1, "libcupti.so", 11) != 0) return 0;
    snprintf(search->path, sizeof search->path, "%s", info->dlpi_name);
    return 1;
}

static void *open_loaded(char *path, size_t path_bytes)
{
    struct search search = {0};
    dl_iterate_phdr(look_at_object, &search);
    if (!search.path[0]) return NULL;
    snprintf(path, path_bytes, "%s", search.path);
    return dlopen(search.path, RTLD_NOW | RTLD_NOLOAD);
}

/* The last match is the highest version. */
static void *open_pattern(const char *pattern, char *path, size_t path_bytes)
{
    void *library = NULL;
    glob_t found = {0};
    if (glob(pattern, GLOB_BRACE, NULL, &found) == 0)
        for (size_t i = found.gl_pathc; i-- > 0 && !library;) {
            library = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
            if (library) snprintf(path, path_bytes, "%s", found.gl_pathv[i]);
        }
    globfree(&found);
    return library;
}

static void *open_of_toolkit(char *path, size_t path_bytes)
{
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", NULL};
    char pattern[512];
    void *library = NULL;
    for (size_t i = 0; i < 3 && !library; i++) {
        const char *const home = variables[i] ? getenv(variables[i]) : "/usr/local/cuda";
        if (!home || !*home) continue;
        snprintf(pattern, sizeof pattern, "%s/{lib64,extras/CUPTI/lib64,lib}/libcupti.so*", home);
        library = open_pattern(pattern, path, path_bytes);
    }
    return library;
}

/* The driver runs CUPTI of its own version of CUDA and of older ones. */
static int driver_major(void)
{
    enum { NEWEST_KNOWN = 13, PER_MAJOR = 1000 };
    int version = 0;
    CUresult (*get_version)(int *) = NULL;
    void *const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver) *(void **)&get_version = dlsym(driver, "cuDriverGetVersion");
    if (get_version && get_version(&version) == CUDA_SUCCESS && version >= PER_MAJOR)
        return version / PER_MAJOR;
    return NEWEST_KNOWN;
}

static void *open_by_name(char *path, size_t path_bytes)
{
    enum { OLDEST = 11 };
    void *library = NULL;
    for (int major = driver_major(); major >= OLDEST && !library; major--) {
        snprintf(path, path_bytes, "libcupti.so.%d", major);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

static bool find_functions(struct cts_cupti *cupti, void *library, char *reason,
                           size_t reason_bytes)
{
#define X(name)                                                                                    \
    *(void **)&cupti->name = dlsym(library, #name);                                                \
    if (!cupti->name) {                                                                            \
        snprintf(reason, reason_bytes, "'%s' has no %s: it is older than CUDA 11.6", cupti->path,  \
                 #name);                                                                           \
        return false;                                                                              \
    }
    CTS_CUPTI_FUNCTIONS(X)
#undef X
    if (cupti->cuptiGetVersion(&cupti->version) == CUPTI_SUCCESS && cupti->version >= VERSION_MIN)
        return true;
    snprintf(reason, reason_bytes, "'%s' is of version %u, too old", cupti->path, cupti->version);
    return false;
}

bool cts_cupti_open(struct cts_cupti *cupti, char *reason, size_t reason_bytes)
{
    const char *const asked = getenv("CTASCOPE_CUPTI");
    void *library = open_loaded(cupti->path, sizeof cupti->path);
    if (!library && asked && *asked) {
        library = dlopen(asked, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            snprintf(reason, reason_bytes, "CTASCOPE_CUPTI: %s", dlerror());
            return false;
        }
        snprintf(cupti->path, sizeof cupti->path, "%s", asked);
    }
    if (!library) library = open_by_name(cupti->path, sizeof cupti->path);
    if (!library) library = open_of_toolkit(cupti->path, sizeof cupti->path);
    if (!library) {
        snprintf(reason, reason_bytes,
                 "libcupti.so is neither in /usr/local/cuda nor where the loader looks; "
                 "CTASCOPE_CUPTI can name it");
        return false;
    }
    return find_functions(cupti, library, reason, reason_bytes);
}
