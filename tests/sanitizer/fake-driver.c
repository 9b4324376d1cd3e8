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
NOTHING(cuDeviceTotalMem_v2)
NOTHING(cuDriverGetVersion)
#ifdef FAKE_WITHOUT
NOTHING(cuModuleGetGlobal_v2)
#else
NOTHING(cuCtxPushCurrent_v2)
#endif
NOTHING(cuCtxPopCurrent_v2)
NOTHING(cuStreamQuery)

/* What a driver that loads modules late does when somebody asks for a kernel's parameters. */
__attribute__((visibility("default"))) extern void (*fake_load_late)(void);
void (*fake_load_late)(void);

/* Of each kernel: a pointer, and a tensor map. The function may be the runtime's handle. */
int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes);
int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes)
{
    (void)function, (void)index, (void)offset, (void)bytes;
    return 400;
}
int cuKernelGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes);
int cuKernelGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes)
{
    (void)function;
    if (fake_load_late) fake_load_late();
    fake_load_late = NULL;
    if (index > 1) return 1;
    *offset = index * 64;
    *bytes = index ? 128 : 8;
    return 0;
}

int cuCtxGetDevice(int *device);
int cuCtxGetDevice(int *device)
{
    *device = 0;
    return 0;
}

/* 132 multiprocessors of 2,048 threads; everything else is 1. */
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    enum { PROCESSORS = 16, THREADS = 39 };
    (void)device;
    *value = attribute == PROCESSORS ? 132 : attribute == THREADS ? 2048 : 1;
    return 0;
}

/* FAKE_FREE_MIB is what is free; asked for by others than the recorder, who hides captures, it is
 * an error. */
static _Thread_local int capture_mode;

int cuThreadExchangeStreamCaptureMode(int *mode);
int cuThreadExchangeStreamCaptureMode(int *mode)
{
    const int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return 0;
}

int cuMemGetInfo_v2(size_t *free_bytes, size_t *all_bytes);
int cuMemGetInfo_v2(size_t *free_bytes, size_t *all_bytes)
{
    enum { RELAXED = 2 };
    const char *const value = getenv("FAKE_FREE_MIB");
    if (capture_mode != RELAXED) abort();
    *free_bytes = value ? strtoul(value, NULL, 10) << 20 : (size_t)1 << 36;
    *all_bytes = (size_t)1 << 37;
    return 0;
}

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
