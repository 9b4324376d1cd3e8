/* Errors of the runtime API: names, texts, the last error of a thread, and the sticky error of a
 * device. A fault in a kernel poisons its device: from then on every call on it returns the
 * fault's error, queued work is dropped, and only cudaDeviceReset() makes it sound again. */
#include "runtime.h"

#include <stdatomic.h>
#include <string.h>

static __thread cudaError_t last_error;
static _Atomic int sticky[CTS_DEVICES_MAX];

cudaError_t cts_return(cudaError_t error)
{
    if (error != cudaSuccess) {
        last_error = error;
        cts_call_failed((int)error);
    }
    return error;
}

cudaError_t cts_return_query(cudaError_t error)
{
    if (error != cudaErrorNotReady) return cts_return(error);
    cts_call_failed((int)error);
    return error;
}

cudaError_t cts_last_error(void)
{
    return last_error;
}

void cts_restore_last_error(const cudaError_t *kept)
{
    last_error = *kept;
}

cudaError_t cts_sticky(int device)
{
    return (cudaError_t)atomic_load(&sticky[device]);
}

void cts_set_sticky(int device, cudaError_t error)
{
    int sound = cudaSuccess;
    atomic_compare_exchange_strong(&sticky[device], &sound, (int)error);
}

void cts_clear_sticky(int device)
{
    atomic_store(&sticky[device], cudaSuccess);
    last_error = cudaSuccess;
}

cudaError_t cts_refuse(const char *function, const char *why)
{
    /* The functions that were refused so far; the texts are string literals. */
    static _Atomic(const char *) refused[64];
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const char *expected = NULL;
        if (atomic_compare_exchange_strong(&refused[i], &expected, function)) {
            cts_say("%s is not supported: %s", function, why);
            break;
        }
        if (strcmp(expected, function) == 0) break;
    }
    return cts_return(cudaErrorNotSupported);
}

cudaError_t cudaGetLastError(void)
{
    if (cts_process_is_forked()) return cudaErrorInitializationError;
    const cudaError_t poisoned = cts_sticky(cts_current_device());
    const cudaError_t error = poisoned != cudaSuccess ? poisoned : last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    if (cts_process_is_forked()) return cudaErrorInitializationError;
    const cudaError_t poisoned = cts_sticky(cts_current_device());
    return poisoned != cudaSuccess ? poisoned : last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define NAME(name, value)                                                                          \
    case name:                                                                                     \
        return #name;
        CTS_CUDA_ERROR_MAP(NAME)
#undef NAME
    }
    return "unrecognized error code";
}

/* Texts of the errors that this runtime returns; programs print and sometimes compare them, so
 * they are the usual ones. */
static const struct {
    cudaError_t error;
    const char *text;
} texts[] = {
    {cudaSuccess, "no error"},
    {cudaErrorInvalidValue, "invalid argument"},
    {cudaErrorMemoryAllocation, "out of memory"},
    {cudaErrorInitializationError, "initialization error"},
    {cudaErrorCudartUnloading, "driver shutting down"},
    {cudaErrorInvalidConfiguration, "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "invalid device symbol"},
    {cudaErrorInvalidHostPointer, "invalid host pointer"},
    {cudaErrorInvalidDevicePointer, "invalid device pointer"},
    {cudaErrorInvalidTexture, "invalid texture reference"},
    {cudaErrorInvalidTextureBinding, "texture is not bound to a pointer"},
    {cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"},
    {cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"},
    {cudaErrorInvalidDeviceFunction, "invalid device function"},
    {cudaErrorMissingConfiguration, "__global__ function call is not configured"},
    {cudaErrorNoDevice, "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "invalid device ordinal"},
    {cudaErrorUnsupportedLimit, "limit is not supported on this architecture"},
    {cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"},
    {cudaErrorInvalidResourceHandle, "invalid resource handle"},
    {cudaErrorIllegalState, "the operation cannot be performed in the present state"},
    {cudaErrorSymbolNotFound, "named symbol not found"},
    {cudaErrorNotReady, "device not ready"},
    {cudaErrorIllegalAddress, "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"},
    {cudaErrorAssert, "device-side assert triggered"},
    {cudaErrorHostMemoryAlreadyRegistered,
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"},
    {cudaErrorHardwareStackError, "hardware stack error"},
    {cudaErrorLaunchFailure, "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"},
    {cudaErrorNotPermitted, "operation not permitted"},
    {cudaErrorNotSupported, "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge,
     "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureImplicit,
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent,
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorGraphExecUpdateFailure,
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
    {cudaErrorUnknown, "unknown error"},
};

const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].error == error) return texts[i].text;
    return cudaGetErrorName(error);
}
