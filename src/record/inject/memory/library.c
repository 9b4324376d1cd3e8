/* The Sanitizer's library is the toolkit's and is found at run time, in this order:
 * CTASCOPE_SANITIZER, the toolkit's directory, the loader's search. The driver's functions come
 * from the libcuda that is in the program already. */
#include "library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cts_sanitizer cts_sanitizer;

static void *open_at(const char *format, const char *directory)
{
    if (!directory || !*directory) return NULL;
    snprintf(cts_sanitizer.path, sizeof cts_sanitizer.path, format, directory);
    return access(cts_sanitizer.path, R_OK) == 0 ? dlopen(cts_sanitizer.path, RTLD_NOW | RTLD_LOCAL)
                                                 : NULL;
}

static void *open_library(void)
{
    static const char in_toolkit[] = "%.400s/compute-sanitizer/libsanitizer-public.so";
    static const char *const directories[] = {"/usr/local/cuda", "/usr/lib/nvidia-cuda-toolkit",
                                              "/opt/cuda", "/opt/cuda/extras"};
    void *library = open_at(in_toolkit, getenv("CUDA_HOME"));
    if (!library) library = open_at(in_toolkit, getenv("CUDA_PATH"));
    for (size_t i = 0; !library && i < sizeof directories / sizeof *directories; i++)
        library = open_at(in_toolkit, directories[i]);
    if (library) return library;
    snprintf(cts_sanitizer.path, sizeof cts_sanitizer.path, "libsanitizer-public.so");
    return dlopen(cts_sanitizer.path, RTLD_NOW | RTLD_LOCAL);
}

static enum cts_status find_functions(void *library, struct cts_error *error)
{
#define X(name)                                                                                    \
    *(void **)&cts_sanitizer.name = dlsym(library, #name);                                         \
    if (!cts_sanitizer.name)                                                                       \
        return cts_fail(error, CTS_UNSUPPORTED, "'%s' has no %s: it is too old",                   \
                        cts_sanitizer.path, #name);
    CTS_SANITIZER_FUNCTIONS(X)
#undef X
    return CTS_OK;
}

/* cuda.h makes cuDeviceTotalMem and others names with a version. */
#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)

static enum cts_status find_driver(struct cts_error *error)
{
    void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return cts_fail(error, CTS_UNSUPPORTED, "%s", dlerror());
#define X(name)                                                                                    \
    *(void **)&cts_sanitizer.name = dlsym(library, NAME_OF(name));                                 \
    if (!cts_sanitizer.name)                                                                       \
        return cts_fail(error, CTS_UNSUPPORTED, "the driver has no %s", NAME_OF(name));
    CTS_DRIVER_FUNCTIONS(X)
#undef X
#define X(name) *(void **)&cts_sanitizer.name = dlsym(library, NAME_OF(name));
    CTS_DRIVER_MORE_FUNCTIONS(X)
#undef X
    return CTS_OK;
}

enum cts_status cts_sanitizer_open(const char *asked, struct cts_error *error)
{
    void *library;
    if (asked && *asked) {
        snprintf(cts_sanitizer.path, sizeof cts_sanitizer.path, "%s", asked);
        library = dlopen(asked, RTLD_NOW | RTLD_LOCAL);
        if (!library) return cts_fail(error, CTS_UNSUPPORTED, "CTASCOPE_SANITIZER: %s", dlerror());
    } else {
        library = open_library();
    }
    if (!library)
        return cts_fail(error, CTS_UNSUPPORTED,
                        "Compute Sanitizer's libsanitizer-public.so is neither in a toolkit "
                        "(CUDA_HOME, /usr/local/cuda) nor where the loader looks; "
                        "CTASCOPE_SANITIZER can name it");
    const enum cts_status status = find_functions(library, error);
    return status ? status : find_driver(error);
}

const char *cts_sanitizer_text(SanitizerResult result)
{
    const char *text = NULL;
    (void)cts_sanitizer.sanitizerGetResultString(result, &text);
    return text ? text : "unknown error";
}

SanitizerResult cts_sanitizer_write(uint64_t address, void *bytes, size_t byte_count)
{
    const SanitizerResult result = cts_sanitizer.sanitizerMemcpyHostToDeviceAsync(
        (void *)(uintptr_t)address, bytes, byte_count, NULL);
    return result == SANITIZER_SUCCESS ? cts_sanitizer.sanitizerStreamSynchronize(NULL) : result;
}

/* ---- what stands beside this library ---- */

static bool path_beside(const char *name, char *path, size_t path_bytes)
{
    Dl_info info;
    if (!dladdr((void *)cts_patches_read, &info) || !info.dli_fname) return false;
    const char *const slash = strrchr(info.dli_fname, '/');
    const int directory = slash ? (int)(slash + 1 - info.dli_fname) : 0;
    const int length = snprintf(path, path_bytes, "%.*s%s", directory, info.dli_fname, name);
    return length > 0 && (size_t)length < path_bytes;
}

void *cts_library_beside(const char *name)
{
    char path[PATH_MAX];
    return path_beside(name, path, sizeof path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

enum cts_status cts_patches_read(const char *name, void **image, size_t *image_bytes,
                                 struct cts_error *error)
{
    enum { PATCHES_MAX_BYTES = 64 << 20 };
    char path[PATH_MAX];
    if (!path_beside(name, path, sizeof path))
        return cts_fail(error, CTS_UNSUPPORTED, "cannot find the path of this library");
    FILE *const file = fopen(path, "rbe");
    if (!file)
        return cts_fail(error, CTS_UNSUPPORTED,
                        "no patches at '%s': this ctascope was built without nvcc", path);
    char *const bytes = malloc(PATCHES_MAX_BYTES);
    const size_t size = bytes ? fread(bytes, 1, PATCHES_MAX_BYTES, file) : 0;
    const bool whole = size > 0 && feof(file);
    fclose(file);
    if (!whole) {
        free(bytes);
        return cts_fail(error, CTS_IO, "cannot read the patches at '%s'", path);
    }
    *image = bytes;
    *image_bytes = size;
    return CTS_OK;
}

uint32_t cts_device_attribute(CUdevice device, CUdevice_attribute which)
{
    int value = 0;
    (void)cts_sanitizer.cuDeviceGetAttribute(&value, which, device);
    return value > 0 ? (uint32_t)value : 0;
}
