/* CUPTI does not tell when a host function runs, so the driver is given one of ours, which calls
 * it: it takes the arguments of a call from where a callback at the call's begin finds them. A
 * driver that did not would call the program's function as ever, and no activity would be written.
 *
 * A function that is captured becomes part of a graph, which the program may look at and launch
 * more than once, and is left alone. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "inject.h"

struct host_call {
    CUhostFn function;
    CUstreamCallback callback; /* one of the two */
    void *user;
    uint64_t correlation;
    struct cts_log *stream;
};

static CUresult (*is_capturing)(CUstream, CUstreamCaptureStatus *);

static void find_driver(void)
{
    void *const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    *(void **)&is_capturing = dlsym(driver ? driver : RTLD_DEFAULT, "cuStreamIsCapturing");
}

static uint32_t region_of_function(void)
{
    static _Atomic uint32_t known; /* number plus one */
    uint32_t number = atomic_load_explicit(&known, memory_order_relaxed);
    if (number == 0) {
        const struct cts_timeline_region region = {.name = "host function",
                                                   .file = "CUDA_HOST",
                                                   .paradigm = CTS_PARADIGM_CUDA,
                                                   .role = CTS_ROLE_FUNCTION};
        number = cts_inject_recorder->region(&region) + 1;
        atomic_store_explicit(&known, number, memory_order_relaxed);
    }
    return number - 1;
}

static void run(struct host_call *call, CUstream stream, CUresult result)
{
    const struct host_call copy = *call;
    free(call);
    struct cts_recorder_activity activity = {.start_ns = cts_inject_recorder->now_ns(),
                                             .present = 1u << CTS_ATTRIBUTE_CORRELATION,
                                             .correlation = copy.correlation};
    if (copy.function)
        copy.function(copy.user);
    else
        copy.callback(stream, result, copy.user);
    activity.end_ns = cts_inject_recorder->now_ns();
    activity.region = region_of_function();
    cts_inject_recorder->activity(copy.stream, &activity);
}

static void CUDA_CB run_function(void *call)
{
    run(call, NULL, CUDA_SUCCESS);
}

static void CUDA_CB run_callback(CUstream stream, CUresult result, void *call)
{
    run(call, stream, result);
}

/* NULL: it is captured, or that is not known, or there is no memory. */
static struct host_call *make(const struct cts_function_call *of, CUstream named)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_driver);
    const CUstream stream = named || !of->per_thread ? named : CU_STREAM_PER_THREAD;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    const bool is_alone = of->stream && is_capturing &&
                          is_capturing(stream, &status) == CUDA_SUCCESS &&
                          status == CU_STREAM_CAPTURE_STATUS_NONE;
    struct host_call *const call = is_alone ? calloc(1, sizeof *call) : NULL;
    if (!call) return NULL;
    call->stream = of->stream;
    call->correlation = of->correlation;
    return call;
}

void cts_function_launched(const struct cts_function_call *of, cuLaunchHostFunc_params *parameters)
{
    struct host_call *const call = parameters->fn ? make(of, parameters->hStream) : NULL;
    if (!call) return;
    call->function = parameters->fn;
    call->user = parameters->userData;
    parameters->fn = run_function;
    parameters->userData = call;
}

void cts_callback_added(const struct cts_function_call *of, cuStreamAddCallback_params *parameters)
{
    struct host_call *const call = parameters->callback ? make(of, parameters->hStream) : NULL;
    if (!call) return;
    call->callback = parameters->callback;
    call->user = parameters->userData;
    parameters->callback = run_callback;
    parameters->userData = call;
}
