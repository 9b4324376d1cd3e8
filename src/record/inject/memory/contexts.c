/* Contexts: which there are, of which device, and which have the patches. */
#include "contexts.h"

#include <pthread.h>

#include "library.h"
#include "memory-run.h"

static struct context {
    CUcontext handle; /* NULL: free place */
    CUdevice device;
    bool has_patches, has_tensor_patches;
} contexts[CTS_MEMORY_CONTEXTS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_device[CTS_MEMORY_CONTEXTS_MAX]; /* its row is written */
static uint32_t begun, seen; /* contexts that were created, and that are known */

static struct context *find(CUcontext handle)
{
    for (int i = 0; i < CTS_MEMORY_CONTEXTS_MAX; i++)
        if (contexts[i].handle == handle) return contexts + i;
    return NULL;
}

static void add_device(CUdevice device)
{
    char name[256] = "GPU";
    size_t bytes = 0;
    (void)cts_sanitizer.cuDeviceGetName(name, sizeof name, device);
    (void)cts_sanitizer.cuDeviceTotalMem(&bytes, device);
    const struct cts_device row = {
        .rank = cts_memory_run.rank,
        .device = (uint32_t)device,
        .name = name,
        .kind = "gpu",
        .sm_count = cts_device_attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .compute_major = cts_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        .compute_minor = cts_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        .memory_bytes = bytes,
    };
    cts_catalogue_add_device(cts_memory_run.catalogue, &row);
}

static void add_context(CUcontext handle, CUdevice device)
{
    pthread_mutex_lock(&lock);
    struct context *const context = find(handle) ? NULL : find(NULL);
    const bool is_new =
        context && device >= 0 && device < CTS_MEMORY_CONTEXTS_MAX && !has_device[device];
    if (context) {
        context->handle = handle;
        context->device = device;
        context->has_patches = context->has_tensor_patches = false;
        seen++;
    }
    if (is_new) has_device[device] = true;
    pthread_mutex_unlock(&lock);
    if (is_new) add_device(device);
}

bool cts_context_is_known(CUcontext handle)
{
    pthread_mutex_lock(&lock);
    const bool known = handle && find(handle);
    pthread_mutex_unlock(&lock);
    return known;
}

void cts_context_forget(CUcontext handle)
{
    pthread_mutex_lock(&lock);
    struct context *const context = handle ? find(handle) : NULL;
    if (context) context->handle = NULL;
    pthread_mutex_unlock(&lock);
}

void cts_context_begun(void)
{
    pthread_mutex_lock(&lock);
    begun++;
    pthread_mutex_unlock(&lock);
}

/* One that was there before this library does not become known. */
void cts_context_seen(CUcontext handle)
{
    CUcontext popped;
    CUdevice device;
    pthread_mutex_lock(&lock);
    const bool is_new = handle && seen < begun && !find(handle);
    pthread_mutex_unlock(&lock);
    if (!is_new || cts_sanitizer.cuCtxPushCurrent(handle) != CUDA_SUCCESS) return;
    const CUresult result = cts_sanitizer.cuCtxGetDevice(&device);
    (void)cts_sanitizer.cuCtxPopCurrent(&popped);
    if (result == CUDA_SUCCESS) add_context(handle, device);
}

uint32_t cts_context_device(CUcontext handle)
{
    pthread_mutex_lock(&lock);
    const struct context *const context = handle ? find(handle) : NULL;
    const uint32_t device = context ? (uint32_t)context->device : 0;
    pthread_mutex_unlock(&lock);
    return device;
}

bool cts_context_wants_patches(CUcontext handle)
{
    pthread_mutex_lock(&lock);
    struct context *const context = handle ? find(handle) : NULL;
    const bool wants = context && !context->has_patches;
    if (wants) context->has_patches = true;
    pthread_mutex_unlock(&lock);
    return wants;
}

bool cts_context_wants_tensor_patches(CUcontext handle)
{
    pthread_mutex_lock(&lock);
    struct context *const context = handle ? find(handle) : NULL;
    const bool wants = context && !context->has_tensor_patches;
    if (wants) context->has_tensor_patches = true;
    pthread_mutex_unlock(&lock);
    return wants;
}
