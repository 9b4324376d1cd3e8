/* Whoever loads the recorder first, there is one: by its name, which is found wherever the file
 * that the first one took lies (a program may have been compiled by another copy of ctascope). */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/wrappers/loader.h"

typedef const struct cts_recorder *get_recorder(void);

static get_recorder *load_from_beside(void)
{
    char path[4096];
    Dl_info self;
    if (!dladdr((const void *)cts_recorder_load, &self) || !self.dli_fname) return NULL;
    const char *const slash = strrchr(self.dli_fname, '/');
    const int directory = slash ? (int)(slash - self.dli_fname) : 0;
    const int length = snprintf(path, sizeof(path), "%.*s/libctascope_timeline.so",
                                directory ? directory : 1, directory ? self.dli_fname : ".");
    if (length < 0 || (size_t)length >= sizeof(path)) return NULL;
    void *library = dlopen("libctascope_timeline.so", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (!library) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library ? (get_recorder *)dlsym(library, "cts_recorder_get") : NULL;
}

static const struct cts_recorder *load(void)
{
    get_recorder *get = (get_recorder *)dlsym(RTLD_DEFAULT, "cts_recorder_get");
    const char *const wanted = getenv("CTASCOPE_TIMELINE");
    if (!get && wanted && strcmp(wanted, "1") == 0) get = load_from_beside();
    const struct cts_recorder *const recorder = get ? get() : NULL;
    return recorder && recorder->version == CTS_RECORDER_VERSION ? recorder : NULL;
}

const struct cts_recorder *cts_recorder_load(void)
{
    static const struct cts_recorder *_Atomic loaded;
    static _Atomic bool is_loaded;
    if (!atomic_load(&is_loaded)) {
        atomic_store(&loaded, load());
        atomic_store(&is_loaded, true);
    }
    return atomic_load(&loaded);
}

__attribute__((constructor)) static void load_early(void)
{
    (void)cts_recorder_load();
}

struct search {
    const char *name, *library;
    void *found;
};

static int search_library(struct dl_phdr_info *info, size_t size, void *state)
{
    struct search *const search = state;
    const char *const slash = strrchr(info->dlpi_name, '/');
    const char *const file = slash ? slash + 1 : info->dlpi_name;
    (void)size;
    if (strncmp(file, search->library, strlen(search->library)) != 0) return 0;
    void *const handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) return 0;
    search->found = dlsym(handle, search->name);
    dlclose(handle);
    return search->found != NULL;
}

static void *find_symbol(void *where, const char *name, const char *library)
{
    struct search search = {.name = name, .library = library, .found = dlsym(where, name)};
    if (!search.found) dl_iterate_phdr(search_library, &search);
    return search.found;
}

void *cts_function_behind(const char *name, const char *library)
{
    return find_symbol(RTLD_NEXT, name, library);
}

void *cts_variable_address(const char *name, const char *library)
{
    return find_symbol(RTLD_DEFAULT, name, library);
}
