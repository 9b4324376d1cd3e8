/* The Sanitizer and the driver, found at run time. */
#ifndef CTS_MEMORY_LIBRARY_H
#define CTS_MEMORY_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sanitizer.h>

#include "common/error.h"

#define CTS_SANITIZER_FUNCTIONS(X)                                                                 \
    X(sanitizerSubscribe)                                                                          \
    X(sanitizerEnableDomain)                                                                       \
    X(sanitizerEnableCallback)                                                                     \
    X(sanitizerAddPatches)                                                                         \
    X(sanitizerPatchInstructions)                                                                  \
    X(sanitizerPatchModule)                                                                        \
    X(sanitizerUnpatchModule)                                                                      \
    X(sanitizerSetLaunchCallbackData)                                                              \
    X(sanitizerGetFunctionPcAndSize)                                                               \
    X(sanitizerAlloc)                                                                              \
    X(sanitizerAllocHost)                                                                          \
    X(sanitizerMemcpyHostToDeviceAsync)                                                            \
    X(sanitizerStreamSynchronize)                                                                  \
    X(sanitizerGetResultString)

#define CTS_DRIVER_FUNCTIONS(X)                                                                    \
    X(cuDeviceGetName)                                                                             \
    X(cuDeviceGetAttribute)                                                                        \
    X(cuDeviceTotalMem)                                                                            \
    X(cuDriverGetVersion)                                                                          \
    X(cuCtxGetDevice)                                                                              \
    X(cuCtxPushCurrent)                                                                            \
    X(cuCtxPopCurrent)                                                                             \
    X(cuMemGetInfo)                                                                                \
    X(cuModuleGetGlobal)                                                                           \
    X(cuStreamQuery)

/* NULL where the driver is too old for them. */
#define CTS_DRIVER_MORE_FUNCTIONS(X)                                                               \
    X(cuThreadExchangeStreamCaptureMode)                                                           \
    X(cuDeviceGetCount)                                                                            \
    X(cuLibraryLoadData)                                                                           \
    X(cuLibraryUnload)                                                                             \
    X(cuFuncGetParamInfo)                                                                          \
    X(cuKernelGetParamInfo)                                                                        \
    X(cuStreamIsCapturing)                                                                         \
    X(cuGraphGetNodes)                                                                             \
    X(cuGraphGetEdges)                                                                             \
    X(cuGraphNodeGetType)                                                                          \
    X(cuGraphKernelNodeGetParams)                                                                  \
    X(cuGraphKernelNodeGetAttribute)                                                               \
    X(cuGraphMemcpyNodeGetParams)                                                                  \
    X(cuGraphChildGraphNodeGetGraph)                                                               \
    X(cuGraphEventWaitNodeGetEvent)                                                                \
    X(cuGraphMemAllocNodeGetParams)                                                                \
    X(cuGraphMemFreeNodeGetParams)

struct cts_sanitizer {
#define X(name) __typeof__(name) *name;
    CTS_SANITIZER_FUNCTIONS(X)
    CTS_DRIVER_FUNCTIONS(X)
    CTS_DRIVER_MORE_FUNCTIONS(X)
#undef X
    char path[512];
};
extern struct cts_sanitizer cts_sanitizer;

CTS_MUST_CHECK enum cts_status cts_sanitizer_open(const char *asked, struct cts_error *error);
const char *cts_sanitizer_text(SanitizerResult result);
/* Copies to the device; done when it returns. Not in a launch's callback. */
SanitizerResult cts_sanitizer_write(uint64_t address, void *bytes, size_t byte_count);

/* 0: not known. */
uint32_t cts_device_attribute(CUdevice device, CUdevice_attribute which);

/* Another of our libraries, opened; NULL: it is not there. */
void *cts_library_beside(const char *name);

/* Patches, an image that stands beside this library: the whole file, never freed. */
CTS_MUST_CHECK enum cts_status cts_patches_read(const char *name, void **image, size_t *image_bytes,
                                                struct cts_error *error);

#endif
