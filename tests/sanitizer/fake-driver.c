/* A libcuda.so.1 that does what matters to a recorder: cuInit loads the library that
 * CUDA_INJECTION64_PATH names, as the driver does. FAKE_WITHOUT: built without functions that old
 * drivers lack. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOTHING(name)                                                                              \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return 0;                                                                                  \
    }
NOTHING(cuDeviceGetName)
NOTHING(cuDeviceGetAttribute)
NOTHING(cuDeviceTotalMem_v2)
NOTHING(cuDriverGetVersion)
NOTHING(cuModuleGetGlobal_v2)
#ifndef FAKE_WITHOUT
NOTHING(cuCtxPushCurrent_v2)
#endif
NOTHING(cuCtxPopCurrent_v2)
NOTHING(cuCtxGetDevice)
NOTHING(cuStreamQuery)

int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    (void)flags;
    const char *const path = getenv("CUDA_INJECTION64_PATH");
    void *const library = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*start)(void) = NULL;
    if (library) *(void **)&start = dlsym(library, "InitializeInjection");
    return start && !start();
}
