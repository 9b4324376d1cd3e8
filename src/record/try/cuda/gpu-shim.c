/* Stands between the program and the CUDA driver. The driver's functions that matter are exported
 * here, and dlsym() and cuGetProcAddress() lead to them, since CUDA's runtime, PyTorch and others
 * look the driver up at run time. Every call goes on to the driver; what a stretch needs is noted
 * before or behind it. Nothing of CUPTI or the Compute Sanitizer is involved: replays run in the
 * program's thread, in a call of its own.
 *
 * A name with _ptsz or _ptds is the variant whose default stream is the thread's. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "record/try/cuda/gpu-capture.h"
#include "record/try/cuda/gpu-session.h"

#define CTS_EXPORT __attribute__((visibility("default")))

/* Which function of the driver stands behind a shim. */
struct target {
    const char *symbol;
    bool is_per_thread;
};

/* The driver's function of this symbol, looked up once for each. */
#define REAL(target, type)                                                                         \
    __extension__({                                                                                \
        static void *found[2];                                                                     \
        void **const real_place = &found[(target)->is_per_thread];                                 \
        if (!*real_place) *real_place = cts_gpu_real((target)->symbol);                            \
        (type) * real_place;                                                                       \
    })

static bool is_capturing(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (cts_gpu_driver()->stream_capturing(stream, &status) != CUDA_SUCCESS) return false;
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static struct cts_gpu_operation *new_operation(const struct target *target, enum cts_gpu_kind kind,
                                               CUstream stream)
{
    struct cts_gpu_operation *const operation = calloc(1, sizeof *operation);
    if (!operation) return NULL;
    operation->kind = kind;
    operation->stream = stream;
    operation->is_per_thread = target->is_per_thread;
    return operation;
}

static void add(struct cts_gpu_operation *operation, uint64_t call_ns)
{
    if (operation)
        cts_gpu_capture_add(operation, call_ns);
    else
        cts_gpu_refuse("no memory to keep the operations");
}

/* ---- launches ---- */

static void note_launch(const struct target *target, const CUlaunchConfig *config,
                        CUfunction function, void **parameters, bool is_cooperative)
{
    const uint64_t call_ns = cts_clock_ns();
    if (is_capturing(config->hStream)) return;
    cts_gpu_before(CTS_GPU_ACT_LAUNCH);
    if (!cts_gpu_is_watching()) return;
    struct cts_gpu_operation *const operation =
        new_operation(target, CTS_GPU_LAUNCH, config->hStream);
    if (operation && !cts_gpu_copy_launch(config, function, parameters, &operation->launch))
        cts_gpu_refuse("the parameters of a kernel are passed in a way that is not supported");
    if (operation) {
        operation->launch.function = function;
        operation->launch.is_cooperative = is_cooperative;
    }
    add(operation, call_ns);
}

typedef CUresult launch_function(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, unsigned, CUstream, void **, void **);

static CUresult on_launch(const struct target *target, CUfunction f, const CUlaunchConfig *c,
                          void **parameters, void **extra)
{
    if (cts_gpu_is_watching()) note_launch(target, c, f, parameters, false);
    const CUresult result = REAL(target, launch_function *)(
        f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ,
        c->sharedMemBytes, c->hStream, parameters, extra);
    if (cts_gpu_is_watching()) cts_gpu_capture_returned();
    return result;
}

typedef CUresult cooperative_function(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                      unsigned, unsigned, CUstream, void **);

static CUresult on_cooperative(const struct target *target, CUfunction f, const CUlaunchConfig *c,
                               void **parameters)
{
    if (cts_gpu_is_watching()) note_launch(target, c, f, parameters, true);
    const CUresult result = REAL(target, cooperative_function *)(
        f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ,
        c->sharedMemBytes, c->hStream, parameters);
    if (cts_gpu_is_watching()) cts_gpu_capture_returned();
    return result;
}

typedef CUresult launch_ex_function(const CUlaunchConfig *, CUfunction, void **, void **);

static CUresult on_launch_ex(const struct target *target, const CUlaunchConfig *config,
                             CUfunction f, void **parameters, void **extra)
{
    if (cts_gpu_is_watching()) note_launch(target, config, f, parameters, false);
    const CUresult result = REAL(target, launch_ex_function *)(config, f, parameters, extra);
    if (cts_gpu_is_watching()) cts_gpu_capture_returned();
    return result;
}

typedef CUresult graph_function(CUgraphExec, CUstream);

static CUresult on_graph(const struct target *target, CUgraphExec graph, CUstream stream)
{
    const uint64_t call_ns = cts_clock_ns();
    if (cts_gpu_is_watching()) cts_gpu_before(CTS_GPU_ACT_LAUNCH);
    if (cts_gpu_is_watching()) {
        struct cts_gpu_operation *const operation = new_operation(target, CTS_GPU_GRAPH, stream);
        if (operation) operation->graph = graph;
        add(operation, call_ns);
    }
    const CUresult result = REAL(target, graph_function *)(graph, stream);
    if (cts_gpu_is_watching()) cts_gpu_capture_returned();
    return result;
}

typedef CUresult host_function(CUstream, CUhostFn, void *);

static CUresult on_host_function(const struct target *target, CUstream stream, CUhostFn function,
                                 void *data)
{
    if (cts_gpu_is_watching() && !is_capturing(stream)) {
        cts_gpu_before(CTS_GPU_ACT_OTHER);
        cts_gpu_refuse_call("a host function (cuLaunchHostFunc)");
    }
    return REAL(target, host_function *)(stream, function, data);
}

/* ---- copies ---- */

static bool is_host(uint64_t address, bool *is_pageable)
{
    unsigned type = 0;
    *is_pageable = cts_gpu_driver()->pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                       address) != CUDA_SUCCESS;
    return *is_pageable || type == CU_MEMORYTYPE_HOST;
}

struct copy {
    uint64_t to, from, size_bytes;
    CUstream stream;
    bool is_synchronous;
};

/* What a copy from the host reads, in memory of the same kind. */
static bool keep_payload(struct cts_gpu_operation *o, bool is_pageable)
{
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    o->is_payload_pinned =
        !is_pageable && driver->host_allocate(&o->payload, o->size_bytes, 0) == CUDA_SUCCESS;
    if (!o->is_payload_pinned) o->payload = malloc(o->size_bytes);
    if (o->payload) memcpy(o->payload, (const void *)o->source, o->size_bytes);
    return o->payload != NULL;
}

static void note_copy(const struct target *target, const struct copy *copy)
{
    const uint64_t call_ns = cts_clock_ns();
    bool from_pageable, to_pageable;
    const bool from_host = is_host(copy->from, &from_pageable);
    const bool to_host = is_host(copy->to, &to_pageable);
    if (!copy->size_bytes || (!copy->is_synchronous && is_capturing(copy->stream))) return;
    cts_gpu_before(to_host ? CTS_GPU_ACT_COPY_TO_HOST : CTS_GPU_ACT_OTHER);
    if (!cts_gpu_is_watching()) return;
    struct cts_gpu_operation *const o = new_operation(target, CTS_GPU_COPY, copy->stream);
    if (o) {
        o->host_waits = (copy->is_synchronous && (from_host || to_host)) || to_pageable;
        o->from_host = from_host;
        o->to_host = to_host;
        o->destination = copy->to;
        o->source = copy->from;
        o->size_bytes = copy->size_bytes;
    }
    if (o && from_host && !keep_payload(o, from_pageable)) o->payload = NULL;
    if (o && to_host &&
        cts_gpu_driver()->host_allocate(&o->brought, copy->size_bytes, 0) != CUDA_SUCCESS)
        o->brought = NULL;
    if (o && ((from_host && !o->payload) || (to_host && !o->brought))) {
        cts_gpu_refuse("no memory to keep what copies read and bring");
        free(o);
        return;
    }
    add(o, call_ns);
}

#define COPY(handler, type, parameters, arguments, ...)                                            \
    typedef CUresult type parameters;                                                              \
    static CUresult handler(const struct target *target, struct copy copy)                         \
    {                                                                                              \
        if (cts_gpu_is_watching()) note_copy(target, &copy);                                       \
        const CUresult result = REAL(target, type *) arguments;                                    \
        if (cts_gpu_is_watching()) cts_gpu_capture_returned();                                     \
        return result;                                                                             \
    }

COPY(on_copy_from_host, from_host_function, (CUdeviceptr, const void *, size_t),
     (copy.to, (const void *)copy.from, copy.size_bytes))
COPY(on_copy_to_host, to_host_function, (void *, CUdeviceptr, size_t),
     ((void *)copy.to, copy.from, copy.size_bytes))
COPY(on_copy, copy_function, (CUdeviceptr, CUdeviceptr, size_t),
     (copy.to, copy.from, copy.size_bytes))
COPY(on_copy_from_host_async, from_host_async_function,
     (CUdeviceptr, const void *, size_t, CUstream),
     (copy.to, (const void *)copy.from, copy.size_bytes, copy.stream))
COPY(on_copy_to_host_async, to_host_async_function, (void *, CUdeviceptr, size_t, CUstream),
     ((void *)copy.to, copy.from, copy.size_bytes, copy.stream))
COPY(on_copy_async, copy_async_function, (CUdeviceptr, CUdeviceptr, size_t, CUstream),
     (copy.to, copy.from, copy.size_bytes, copy.stream))

/* ---- memsets ---- */

struct fill {
    uint64_t address, count;
    uint32_t value, element_bytes;
    CUstream stream;
    bool is_synchronous;
};

static void note_fill(const struct target *target, const struct fill *fill)
{
    const uint64_t call_ns = cts_clock_ns();
    if (!fill->is_synchronous && is_capturing(fill->stream)) return;
    cts_gpu_before(CTS_GPU_ACT_OTHER);
    if (!cts_gpu_is_watching()) return;
    struct cts_gpu_operation *const o = new_operation(target, CTS_GPU_SET, fill->stream);
    if (o) {
        o->destination = fill->address;
        o->count = fill->count;
        o->size_bytes = fill->count * fill->element_bytes;
        o->value = fill->value;
        o->element_bytes = fill->element_bytes;
    }
    add(o, call_ns);
}

#define FILL(handler, type, value_type)                                                            \
    typedef CUresult type(CUdeviceptr, value_type, size_t);                                        \
    typedef CUresult type##_async(CUdeviceptr, value_type, size_t, CUstream);                      \
    static CUresult handler(const struct target *target, struct fill fill)                         \
    {                                                                                              \
        if (cts_gpu_is_watching()) note_fill(target, &fill);                                       \
        const CUresult result =                                                                    \
            fill.is_synchronous                                                                    \
                ? REAL(target, type *)(fill.address, (value_type)fill.value, fill.count)           \
                : REAL(target, type##_async *)(fill.address, (value_type)fill.value, fill.count,   \
                                               fill.stream);                                       \
        if (cts_gpu_is_watching()) cts_gpu_capture_returned();                                     \
        return result;                                                                             \
    }

FILL(on_fill_8, fill_8_function, unsigned char)
FILL(on_fill_16, fill_16_function, unsigned short)
FILL(on_fill_32, fill_32_function, unsigned)

/* ---- order ---- */

typedef CUresult record_function(CUevent, CUstream);
typedef CUresult record_flags_function(CUevent, CUstream, unsigned);
typedef CUresult wait_event_function(CUstream, CUevent, unsigned);
typedef CUresult stream_function(CUstream);
typedef CUresult event_function(CUevent);
typedef CUresult plain_function(void);

static CUresult on_record(const struct target *target, CUevent event, CUstream stream)
{
    if (cts_gpu_is_watching() && !is_capturing(stream))
        cts_gpu_capture_event(event, stream, target->is_per_thread);
    return REAL(target, record_function *)(event, stream);
}

static CUresult on_record_flags(const struct target *target, CUevent event, CUstream stream,
                                unsigned flags)
{
    if (cts_gpu_is_watching() && !is_capturing(stream))
        cts_gpu_capture_event(event, stream, target->is_per_thread);
    return REAL(target, record_flags_function *)(event, stream, flags);
}

static CUresult on_wait_event(const struct target *target, CUstream stream, CUevent event,
                              unsigned flags)
{
    if (cts_gpu_is_watching() && !is_capturing(stream))
        cts_gpu_capture_wait_event(stream, target->is_per_thread, event);
    return REAL(target, wait_event_function *)(stream, event, flags);
}

static CUresult on_stream_wait(const struct target *target, CUstream stream)
{
    if (cts_gpu_is_watching()) cts_gpu_before(CTS_GPU_ACT_WAIT);
    const CUresult result = REAL(target, stream_function *)(stream);
    if (cts_gpu_is_watching() && result == CUDA_SUCCESS)
        cts_gpu_capture_waited(NULL, stream, target->is_per_thread, false, target->symbol);
    return result;
}

static CUresult on_event_wait(const struct target *target, CUevent event)
{
    if (cts_gpu_is_watching()) cts_gpu_before(CTS_GPU_ACT_WAIT);
    const CUresult result = REAL(target, event_function *)(event);
    if (cts_gpu_is_watching() && result == CUDA_SUCCESS)
        cts_gpu_capture_waited(event, NULL, false, false, target->symbol);
    return result;
}

static CUresult on_device_wait(const struct target *target)
{
    if (cts_gpu_is_watching()) cts_gpu_before(CTS_GPU_ACT_WAIT);
    const CUresult result = REAL(target, plain_function *)();
    if (cts_gpu_is_watching() && result == CUDA_SUCCESS)
        cts_gpu_capture_waited(NULL, NULL, false, true, target->symbol);
    return result;
}

typedef CUresult context_function(CUcontext);

static CUresult on_context_wait(const struct target *target, CUcontext context)
{
    if (cts_gpu_is_watching()) cts_gpu_before(CTS_GPU_ACT_WAIT);
    const CUresult result = REAL(target, context_function *)(context);
    if (cts_gpu_is_watching() && result == CUDA_SUCCESS)
        cts_gpu_capture_waited(NULL, NULL, false, true, target->symbol);
    return result;
}

/* ---- memory ---- */

typedef CUresult allocate_function(CUdeviceptr *, size_t);
typedef CUresult allocate_managed_function(CUdeviceptr *, size_t, unsigned);
typedef CUresult allocate_async_function(CUdeviceptr *, size_t, CUstream);
typedef CUresult allocate_pool_function(CUdeviceptr *, size_t, CUmemoryPool, CUstream);
typedef CUresult free_function(CUdeviceptr);
typedef CUresult free_async_function(CUdeviceptr, CUstream);
typedef CUresult global_function(CUdeviceptr *, size_t *, void *, const char *);

static CUresult after_allocation(CUresult result, const CUdeviceptr *address, size_t size_bytes,
                                 const char *kind)
{
    const uint64_t start_ns = cts_clock_ns();
    if (!cts_gpu_is_watching() || result != CUDA_SUCCESS) return result;
    cts_gpu_capture_allocated(&(struct cts_gpu_block){*address, size_bytes, kind, ""});
    cts_gpu_capture_spent(start_ns);
    return result;
}

static CUresult on_allocate(const struct target *target, CUdeviceptr *address, size_t size_bytes)
{
    if (cts_gpu_is_watching()) cts_gpu_before(CTS_GPU_ACT_OTHER);
    return after_allocation(REAL(target, allocate_function *)(address, size_bytes), address,
                            size_bytes, "device");
}

static CUresult on_allocate_managed(const struct target *target, CUdeviceptr *address,
                                    size_t size_bytes, unsigned flags)
{
    if (cts_gpu_is_watching()) cts_gpu_before(CTS_GPU_ACT_OTHER);
    return after_allocation(REAL(target, allocate_managed_function *)(address, size_bytes, flags),
                            address, size_bytes, "managed");
}

static CUresult on_allocate_async(const struct target *target, CUdeviceptr *address,
                                  size_t size_bytes, CUstream stream)
{
    if (cts_gpu_is_watching()) cts_gpu_before(CTS_GPU_ACT_OTHER);
    return after_allocation(REAL(target, allocate_async_function *)(address, size_bytes, stream),
                            address, size_bytes, "device");
}

static CUresult on_allocate_pool(const struct target *target, CUdeviceptr *address,
                                 size_t size_bytes, CUmemoryPool pool, CUstream stream)
{
    if (cts_gpu_is_watching()) cts_gpu_before(CTS_GPU_ACT_OTHER);
    return after_allocation(
        REAL(target, allocate_pool_function *)(address, size_bytes, pool, stream), address,
        size_bytes, "device");
}

static CUresult on_free(const struct target *target, CUdeviceptr address)
{
    if (cts_gpu_is_watching()) cts_gpu_before(CTS_GPU_ACT_OTHER);
    if (!cts_gpu_is_watching() || !cts_gpu_capture_freed(address))
        return REAL(target, free_function *)(address);
    const CUresult result = cts_gpu_driver()->ctx_synchronize(); /* as the call does */
    cts_gpu_capture_waited(NULL, NULL, false, true, "cuMemFree");
    return result;
}

static CUresult on_free_async(const struct target *target, CUdeviceptr address, CUstream stream)
{
    if (cts_gpu_is_watching()) cts_gpu_before(CTS_GPU_ACT_OTHER);
    if (cts_gpu_is_watching() && cts_gpu_capture_freed(address)) return CUDA_SUCCESS;
    return REAL(target, free_async_function *)(address, stream);
}

/* Variables of modules are known once the program, or the runtime for it, asks where they are. */
static CUresult on_global(const struct target *target, CUdeviceptr *address, size_t *size_bytes,
                          void *module, const char *name)
{
    size_t size = 0;
    CUdeviceptr place = 0;
    const CUresult result = REAL(target, global_function *)(&place, &size, module, name);
    if (address) *address = place;
    if (size_bytes) *size_bytes = size;
    const char *const variable = name ? strdup(name) : NULL; /* kept: the module may go */
    if (cts_gpu_is_watching() && result == CUDA_SUCCESS && size)
        cts_gpu_capture_allocated(
            &(struct cts_gpu_block){place, size, "variable", variable ? variable : ""});
    return result;
}

static CUresult on_profiler_start(const struct target *target)
{
    if (cts_gpu_is_watching()) cts_gpu_profiler(true);
    return REAL(target, plain_function *)();
}

static CUresult on_profiler_stop(const struct target *target)
{
    if (cts_gpu_is_watching()) cts_gpu_profiler(false);
    return REAL(target, plain_function *)();
}

/* What replays cannot make. The parameters are passed on as they are: at most six words. */
typedef CUresult any_function(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static CUresult on_unsupported(const struct target *target, const uintptr_t words[6])
{
    if (cts_gpu_is_watching()) {
        cts_gpu_before(CTS_GPU_ACT_OTHER);
        cts_gpu_refuse_call(target->symbol);
    }
    return REAL(target, any_function *)(words[0], words[1], words[2], words[3], words[4], words[5]);
}

#include "record/try/cuda/gpu-table.h"

/* ---- looking the driver up ---- */

static void *shim_of(const char *symbol)
{
    for (size_t i = 0; i < sizeof shims / sizeof *shims; i++)
        if (strcmp(shims[i].symbol, symbol) == 0) return shims[i].function;
    return NULL;
}

/* The variant of a base name that the driver gave: the one whose address it is. */
static void *shim_of_address(const char *base, const void *address)
{
    const size_t length = strlen(base);
    for (size_t i = 0; i < sizeof shims / sizeof *shims; i++) {
        const char *const rest = shims[i].symbol + length;
        if (strncmp(shims[i].symbol, base, length) != 0 || (*rest && *rest != '_')) continue;
        if (cts_gpu_real(shims[i].symbol) == address) return shims[i].function;
    }
    return NULL;
}

typedef CUresult address_2_function(const char *, void **, int, cuuint64_t,
                                    CUdriverProcAddressQueryResult *);
typedef CUresult address_1_function(const char *, void **, int, cuuint64_t);

CTS_EXPORT CUresult
cts_gpu_get_address_2(const char *symbol, void **function, int version, cuuint64_t flags,
                      CUdriverProcAddressQueryResult *status) __asm__("cuGetProcAddress_v2");
CTS_EXPORT CUresult cts_gpu_get_address_1(const char *symbol, void **function, int version,
                                          cuuint64_t flags) __asm__("cuGetProcAddress");

static void redirect(const char *symbol, void **function)
{
    void *shim = function && *function ? shim_of_address(symbol, *function) : NULL;
    if (!strcmp(symbol, "cuGetProcAddress") && function && *function)
        shim = *function == cts_gpu_real("cuGetProcAddress") ? (void *)cts_gpu_get_address_1
                                                             : (void *)cts_gpu_get_address_2;
    if (shim) *function = shim;
}

CUresult cts_gpu_get_address_2(const char *symbol, void **function, int version, cuuint64_t flags,
                               CUdriverProcAddressQueryResult *status)
{
    address_2_function *const real = (address_2_function *)cts_gpu_real("cuGetProcAddress_v2");
    const CUresult result =
        real ? real(symbol, function, version, flags, status) : CUDA_ERROR_NOT_FOUND;
    if (result == CUDA_SUCCESS && symbol) redirect(symbol, function);
    return result;
}

CUresult cts_gpu_get_address_1(const char *symbol, void **function, int version, cuuint64_t flags)
{
    address_1_function *const real = (address_1_function *)cts_gpu_real("cuGetProcAddress");
    const CUresult result = real ? real(symbol, function, version, flags) : CUDA_ERROR_NOT_FOUND;
    if (result == CUDA_SUCCESS && symbol) redirect(symbol, function);
    return result;
}

CTS_EXPORT void *dlsym(void *restrict handle, const char *restrict symbol);
void *dlsym(void *restrict handle, const char *restrict symbol)
{
    const bool may_be_driver =
        symbol[0] == 'c' && symbol[1] == 'u' && handle != RTLD_NEXT && handle != RTLD_DEFAULT;
    if (!may_be_driver) return cts_gpu_plain_dlsym(handle, symbol); /* in place: RTLD_NEXT */
    void *const real = cts_gpu_plain_dlsym(handle, symbol);
    if (!real || real != cts_gpu_real(symbol)) return real;
    if (!strcmp(symbol, "cuGetProcAddress_v2")) return (void *)cts_gpu_get_address_2;
    if (!strcmp(symbol, "cuGetProcAddress")) return (void *)cts_gpu_get_address_1;
    void *const shim = shim_of(symbol);
    return shim ? shim : real;
}
