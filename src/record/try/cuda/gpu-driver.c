#include "record/try/cuda/gpu-driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static void *(*plain_dlsym)(void *handle, const char *symbol);
static struct cts_gpu_driver driver;
static bool is_complete;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static __thread bool passes;

void cts_gpu_pass(bool passes_now)
{
    passes = passes_now;
}

bool cts_gpu_passes(void)
{
    return passes;
}

void *cts_gpu_plain_dlsym(void *handle, const char *symbol)
{
    if (!plain_dlsym) {
        void *found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        if (!found) found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        if (!found) found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
        memcpy(&plain_dlsym, &found, sizeof found);
    }
    return plain_dlsym ? plain_dlsym(handle, symbol) : NULL;
}

void *cts_gpu_real(const char *symbol)
{
    static void *library;
    if (!library) library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) library = dlopen("libcuda.so.1", RTLD_LAZY);
    /* without a driver, whoever has functions of its names: the CPU device */
    return cts_gpu_plain_dlsym(library ? library : RTLD_NEXT, symbol);
}

static void find_calls(void)
{
    void *found;
    is_complete = true;
#define X(member, symbol, parameters)                                                              \
    found = cts_gpu_real(symbol);                                                                  \
    memcpy(&driver.member, &found, sizeof found);                                                  \
    is_complete &= found != NULL;
    CTS_GPU_CALLS(X)
#undef X
}

const struct cts_gpu_driver *cts_gpu_driver(void)
{
    pthread_once(&once, find_calls);
    return is_complete ? &driver : NULL;
}
