/* A CUDA driver without a GPU: what replays call, and what programs call in the tests of `try`.
 *
 * Streams are queues that run as late as possible: when the host waits, when another stream waits
 * for an event, or when the legacy default stream is used. What nothing orders thus runs in an
 * order that depends on who waits first, as on a device. Memory of the device is the host's.
 * FAKE_NO_PRIORITIES: streams have none. */
#include "fake-cuda.h"

#include <cuda.h>
#include <cudaProfiler.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef cuEventElapsedTime /* CUDA 13's header means a second version */
CUresult cuEventElapsedTime(float *ms, CUevent first, CUevent last);

enum { STREAMS_MAX = 256, MEMORY_MAX = 4096, PARAMETERS = 3 };

struct kernel {
    const char *name;
    size_t sizes[PARAMETERS];
    void (*run)(void **parameters);
};

struct event {
    struct queue *queue; /* of its last record; NULL: never recorded */
    uint64_t place;      /* in that queue */
    uint64_t time_ns;
};

enum work_kind { RUN, COPY, SET, HOST, RECORD, WAIT, GRAPH };
struct work {
    enum work_kind kind;
    const struct kernel *kernel;
    char values[PARAMETERS][16];
    uint64_t to, from, bytes, element_bytes;
    uint32_t value;
    CUhostFn function;
    void *data;
    struct event *event;
    struct queue *other; /* WAIT: for the place in it */
    uint64_t place;
    struct graph *graph;
};

struct list {
    struct work *items;
    size_t count, capacity;
};
struct graph {
    struct list works;
};
struct queue {
    struct list works;
    size_t done; /* works of it that have run */
    bool is_running, is_non_blocking;
    struct graph *captures; /* NULL: none */
};

static struct queue legacy, per_thread;
static struct queue *queues[STREAMS_MAX] = {&legacy, &per_thread};
static size_t queue_count = 2;
static struct memory {
    uint64_t address, bytes;
    bool is_host;
} memories[MEMORY_MAX];
static size_t memory_count;
static bool is_lost;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- kernels ---- */

static float *floats(void *parameter)
{
    float *pointer;
    memcpy(&pointer, parameter, sizeof pointer);
    return pointer;
}

static int count_of(void *parameter)
{
    int n;
    memcpy(&n, parameter, sizeof n);
    return n;
}

static void run_fill(void **p)
{
    float value;
    memcpy(&value, p[1], sizeof value);
    for (int i = 0; i < count_of(p[2]); i++) floats(p[0])[i] = value + (float)i;
}

static void run_twice(void **p)
{
    for (int i = 0; i < count_of(p[2]); i++) floats(p[1])[i] = 2 * floats(p[0])[i];
}

static void run_add(void **p)
{
    for (int i = 0; i < count_of(p[2]); i++) floats(p[1])[i] += floats(p[0])[i];
}

static void run_chase(void **p)
{
    float *x;
    memcpy(&x, floats(p[0]), sizeof x);
    for (int i = 0; i < count_of(p[2]); i++) floats(p[1])[i] = 2 * x[i];
}

static void run_tick(void **p)
{
    static uint64_t number;
    number++;
    memcpy(floats(p[0]), &number, sizeof number);
}

static void run_crash(void **p)
{
    (void)p;
    is_lost = true;
}

static const struct kernel kernels[] = {
#define X(name, a, b, c) {#name, {a, b, c}, run_##name},
    FAKE_KERNELS(X)
#undef X
};

/* ---- queues ---- */

static struct queue *queue_of(CUstream stream)
{
    if (!stream || stream == CU_STREAM_LEGACY) return &legacy;
    return stream == CU_STREAM_PER_THREAD ? &per_thread : (struct queue *)(void *)stream;
}

static void append(struct list *list, const struct work *work)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        if (!list->items) abort();
    }
    list->items[list->count++] = *work;
}

static void run_until(struct queue *queue, size_t place);

static void set_bytes(const struct work *work)
{
    for (uint64_t i = 0; i < work->bytes; i++)
        ((uint8_t *)work->to)[i] = (uint8_t)(work->value >> (8 * (i % work->element_bytes)));
}

static void run_work(const struct work *work)
{
    void *parameters[PARAMETERS];
    switch (work->kind) {
    case RUN:
        for (int i = 0; i < PARAMETERS; i++)
            parameters[i] = (void *)(uintptr_t)(const void *)work->values[i];
        if (!is_lost) work->kernel->run(parameters);
        break;
    case COPY:
        if (!is_lost) memmove((void *)work->to, (const void *)work->from, work->bytes);
        break;
    case SET:
        if (!is_lost) set_bytes(work);
        break;
    case HOST:
        work->function(work->data);
        break;
    case RECORD:
        work->event->time_ns = now_ns();
        break;
    case WAIT:
        run_until(work->other, work->place);
        break;
    case GRAPH:
        for (size_t i = 0; i < work->graph->works.count; i++)
            run_work(&work->graph->works.items[i]);
        break;
    }
}

static void run_until(struct queue *queue, size_t place)
{
    if (queue->is_running) return;
    queue->is_running = true;
    while (queue->done < place && queue->done < queue->works.count) {
        const struct work work = queue->works.items[queue->done++];
        run_work(&work);
    }
    queue->is_running = false;
}

static void run_all(bool only_blocking)
{
    for (size_t i = 0; i < queue_count; i++)
        if (!only_blocking || !queues[i]->is_non_blocking)
            run_until(queues[i], queues[i]->works.count);
}

static CUresult result(void)
{
    return is_lost ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

static CUresult put(CUstream stream, const struct work *work)
{
    pthread_mutex_lock(&lock);
    struct queue *const queue = queue_of(stream);
    if (queue->captures) {
        append(&queue->captures->works, work);
    } else {
        if (queue == &legacy) run_all(true);
        if (!queue->is_non_blocking) run_until(&legacy, legacy.works.count);
        append(&queue->works, work);
        if (queue == &legacy) run_all(true);
    }
    pthread_mutex_unlock(&lock);
    return result();
}

static CUresult put_now(const struct work *work)
{
    (void)put(NULL, work);
    pthread_mutex_lock(&lock);
    run_all(true);
    pthread_mutex_unlock(&lock);
    return result();
}

/* ---- launches ---- */

static CUresult launch(CUstream stream, CUfunction function, void **parameters)
{
    struct work work = {.kind = RUN, .kernel = (const struct kernel *)(void *)function};
    for (int i = 0; i < PARAMETERS; i++)
        if (work.kernel->sizes[i]) memcpy(work.values[i], parameters[i], work.kernel->sizes[i]);
    return put(stream, &work);
}

CUresult cuLaunchKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **parameters, void **extra)
{
    (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z;
    (void)shared_bytes, (void)extra;
    if (!parameters && ((const struct kernel *)(void *)f)->sizes[0]) return result();
    return launch(stream, f, parameters);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **parameters,
                          void **extra)
{
    (void)extra;
    return launch(config->hStream, f, parameters);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z,
                                   unsigned shared_bytes, CUstream stream, void **parameters)
{
    (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z;
    (void)shared_bytes;
    return launch(stream, f, parameters);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    return put(stream, &(struct work){.kind = HOST, .function = function, .data = data});
}

CUresult cuModuleLoad(CUmodule *module, const char *name)
{
    *module = (CUmodule)(uintptr_t)name;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    (void)module;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].name, name) == 0) {
            *function = (CUfunction)(uintptr_t)&kernels[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
                              const char *name)
{
    static float state[64];
    (void)module, (void)name;
    *address = (CUdeviceptr)state;
    *bytes = sizeof state;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
    *name = ((const struct kernel *)(void *)function)->name;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
    (void)name, (void)kernel;
    return CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    const struct kernel *const kernel = (const struct kernel *)(void *)function;
    if (index >= PARAMETERS || !kernel->sizes[index]) return CUDA_ERROR_INVALID_VALUE;
    *offset = 16 * index;
    *bytes = kernel->sizes[index];
    return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
    (void)kernel, (void)index, (void)offset, (void)bytes;
    return CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    (void)function, (void)kernel;
    return CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared_bytes)
{
    (void)function, (void)threads, (void)shared_bytes;
    *blocks = 2;
    return CUDA_SUCCESS;
}

/* ---- graphs ---- */

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    (void)mode;
    struct queue *const queue = queue_of(stream);
    if (queue == &legacy || queue->captures) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    queue->captures = calloc(1, sizeof *queue->captures);
    return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    struct graph *const captured = queue_of(stream)->captures;
    for (size_t i = 0; i < queue_count; i++)
        if (queues[i]->captures == captured) queues[i]->captures = NULL;
    *graph = (CUgraph)(void *)captured;
    return captured ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    *status = queue_of(stream)->captures ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                         : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    (void)flags;
    struct graph *const copy = calloc(1, sizeof *copy);
    const struct list *const works = &((struct graph *)(void *)graph)->works;
    for (size_t i = 0; i < works->count; i++) append(&copy->works, &works->items[i]);
    *exec = (CUgraphExec)(void *)copy;
    return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    (void)exec, (void)stream;
    return result();
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    return put(stream, &(struct work){.kind = GRAPH, .graph = (struct graph *)(void *)exec});
}

CUresult cuGraphDestroy(CUgraph graph)
{
    free(((struct graph *)(void *)graph)->works.items);
    free(graph);
    return CUDA_SUCCESS;
}

/* Kept: a queue may hold it. */
CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    (void)exec;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    (void)exec, (void)graph, (void)info;
    return CUDA_SUCCESS;
}

/* ---- streams and events ---- */

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    struct queue *const queue = calloc(1, sizeof *queue);
    if (!queue || queue_count == STREAMS_MAX) return CUDA_ERROR_OUT_OF_MEMORY;
    queue->is_non_blocking = flags & CU_STREAM_NON_BLOCKING;
    pthread_mutex_lock(&lock);
    queues[queue_count++] = queue;
    pthread_mutex_unlock(&lock);
    *stream = (CUstream)(void *)queue;
    return result();
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    (void)priority;
    return cuStreamCreate(stream, flags);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = getenv("FAKE_NO_PRIORITIES") ? 0 : -5;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    (void)stream; /* kept: events may lead to it */
    return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags)
{
    *flags = queue_of(stream)->is_non_blocking ? CU_STREAM_NON_BLOCKING : 0;
    return CUDA_SUCCESS;
}

static CUresult wait_for(struct queue *queue, size_t place)
{
    pthread_mutex_lock(&lock);
    if (queue == &legacy) run_all(true);
    run_until(queue, place);
    pthread_mutex_unlock(&lock);
    return result();
}

CUresult cuStreamSynchronize(CUstream stream)
{
    return wait_for(queue_of(stream), SIZE_MAX);
}

CUresult cuStreamQuery(CUstream stream)
{
    return cuStreamSynchronize(stream);
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof(struct event));
    return result();
}

CUresult cuEventDestroy_v2(CUevent event)
{
    (void)event; /* kept: a queue may hold it */
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent handle, CUstream stream)
{
    struct event *const event = (struct event *)(void *)handle;
    struct queue *const queue = queue_of(stream);
    event->queue = queue;
    const CUresult done = put(stream, &(struct work){.kind = RECORD, .event = event});
    event->place = queue->works.count;
    return done;
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    (void)flags;
    return cuEventRecord(event, stream);
}

CUresult cuEventSynchronize(CUevent handle)
{
    const struct event *const event = (struct event *)(void *)handle;
    return event->queue ? wait_for(event->queue, event->place) : result();
}

CUresult cuEventQuery(CUevent event)
{
    return cuEventSynchronize(event);
}

CUresult cuEventElapsedTime(float *ms, CUevent first, CUevent last)
{
    const struct event *const a = (struct event *)(void *)first;
    const struct event *const b = (struct event *)(void *)last;
    *ms = (float)((double)(int64_t)(b->time_ns - a->time_ns) / 1e6);
    return result();
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent handle, unsigned flags)
{
    struct event *const event = (struct event *)(void *)handle;
    struct queue *const queue = queue_of(stream);
    (void)flags;
    if (event->queue && event->queue->captures) {
        queue->captures = event->queue->captures; /* its nodes are in call order */
        return result();
    }
    if (!event->queue) return result();
    return put(stream, &(struct work){.kind = WAIT, .other = event->queue, .place = event->place});
}

CUresult cuCtxSynchronize(void)
{
    pthread_mutex_lock(&lock);
    run_all(false);
    pthread_mutex_unlock(&lock);
    return result();
}

/* ---- memory ---- */

static CUresult allocate(uint64_t *address, size_t bytes, bool is_host)
{
    void *const memory = calloc(1, bytes + 64);
    if (!memory || memory_count == MEMORY_MAX) return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    memories[memory_count++] = (struct memory){(uint64_t)memory, bytes, is_host};
    pthread_mutex_unlock(&lock);
    *address = (uint64_t)memory;
    return result();
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    uint64_t place = 0;
    const CUresult done = allocate(&place, bytes, false);
    *address = place;
    return done;
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    (void)flags;
    return cuMemAlloc_v2(address, bytes);
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    (void)stream;
    return cuMemAlloc_v2(address, bytes);
}

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    uint64_t place = 0;
    (void)flags;
    const CUresult done = allocate(&place, bytes, true);
    *address = (void *)place;
    return done;
}

CUresult cuMemFreeHost(void *address)
{
    (void)address; /* kept: a queue may hold it */
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    const CUresult done = cuCtxSynchronize();
    for (size_t i = 0; i < memory_count; i++)
        if (memories[i].address == address) memset((void *)address, 0xdd, memories[i].bytes);
    return done;
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    (void)stream;
    return cuMemFree_v2(address);
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    if (attribute != CU_POINTER_ATTRIBUTE_MEMORY_TYPE) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < memory_count; i++)
        if (address - memories[i].address < memories[i].bytes) {
            *(unsigned *)value = memories[i].is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

static struct work copy(uint64_t to, uint64_t from, uint64_t bytes)
{
    return (struct work){.kind = COPY, .to = to, .from = from, .bytes = bytes};
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    const struct work work = copy(to, (uint64_t)from, bytes);
    return put_now(&work);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    const struct work work = copy((uint64_t)to, from, bytes);
    return put_now(&work);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    const struct work work = copy(to, from, bytes);
    return put(stream, &work);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return cuMemcpyAsync(to, from, bytes, stream);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return cuMemcpyAsync(to, (CUdeviceptr)from, bytes, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    const CUresult done = cuMemcpyAsync((CUdeviceptr)to, from, bytes, stream);
    unsigned type = 0;
    const bool is_pageable = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                   (CUdeviceptr)to) != CUDA_SUCCESS;
    return is_pageable && !queue_of(stream)->captures ? cuStreamSynchronize(stream) : done;
}

static CUresult set(CUdeviceptr to, uint32_t value, uint64_t bytes, size_t count, CUstream stream)
{
    return put(
        stream,
        &(struct work){
            .kind = SET, .to = to, .value = value, .bytes = bytes * count, .element_bytes = bytes});
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count)
{
    return set(to, value, 1, count, NULL);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    return set(to, value, 1, count, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
    return set(to, value, 2, count, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    return set(to, value, 4, count, stream);
}

/* ---- the device ---- */

CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
    (void)device;
    strncpy(name, "no GPU", (size_t)bytes);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? 4 : 0;
    return CUDA_SUCCESS;
}

CUresult cuProfilerStart(void)
{
    return CUDA_SUCCESS;
}

CUresult cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}

/* ---- what replays cannot make ---- */

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *what, CUstream stream)
{
    (void)what, (void)stream;
    return CUDA_SUCCESS;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes, CUstream stream)
{
    (void)to, (void)to_context, (void)from, (void)from_context, (void)bytes, (void)stream;
    return CUDA_SUCCESS;
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags)
{
    (void)stream, (void)address, (void)value, (void)flags;
    return CUDA_SUCCESS;
}
