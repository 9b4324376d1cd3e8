/* Nobody tells when a host function runs, so the driver is given one of ours, which calls it: it
 * takes the arguments of a call from where a callback at the call's begin finds them. A driver that
 * did not would call the program's function as ever, and no row would be written.
 *
 * A function that is captured becomes part of a graph, which the program may look at, and is left
 * alone. */
#include "host-functions.h"

#include <stdlib.h>

#include "contexts.h"
#include "graph-steps.h"
#include "library.h"
#include "memory-run.h"
#include "stream-table.h"

struct host_call {
    CUhostFn function;
    CUstreamCallback callback; /* one of the two */
    void *user;
    uint64_t op;
    uint32_t stream, device;
};

static struct cts_host_function row_of(const struct host_call *call, uint64_t begin_op)
{
    return (struct cts_host_function){.rank = cts_memory_run.rank,
                                      .op = call->op,
                                      .stream = call->stream,
                                      .thread = cts_memory_thread(),
                                      .begin_op = begin_op,
                                      .end_op = UINT64_MAX};
}

static void run(struct host_call *call, CUstream stream, CUresult result)
{
    const struct host_call copy = *call;
    free(call);
    const bool is_told = !cts_memory_run_is_over();
    const uint64_t begin_op = is_told ? cts_memory_op(copy.device) : 0;
    if (copy.function)
        copy.function(copy.user);
    else
        copy.callback(stream, result, copy.user);
    if (!is_told || cts_memory_run_is_over()) return;
    struct cts_host_function row = row_of(&copy, begin_op);
    row.end_op = cts_memory_op(copy.device);
    cts_catalogue_add_host_function(cts_memory_run.catalogue, &row);
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
static struct host_call *make(const struct cts_host_function_call *of, CUstream named)
{
    const CUstream stream = named || !of->per_thread ? named : CU_STREAM_PER_THREAD;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    const bool is_alone = cts_sanitizer.cuStreamIsCapturing &&
                          cts_sanitizer.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
                          status == CU_STREAM_CAPTURE_STATUS_NONE;
    struct host_call *const call = is_alone ? calloc(1, sizeof *call) : NULL;
    if (!call) return NULL;
    call->device = cts_context_device(of->context);
    call->stream = cts_memory_stream(of->context, stream, NULL);
    call->op = cts_memory_op(call->device);
    return call;
}

void cts_host_function_called(const struct cts_host_function_call *of,
                              cuLaunchHostFunc_params *parameters)
{
    struct host_call *const call = parameters->fn ? make(of, parameters->hStream) : NULL;
    if (!call) return;
    call->function = parameters->fn;
    call->user = parameters->userData;
    parameters->fn = run_function;
    parameters->userData = call;
}

void cts_stream_callback_called(const struct cts_host_function_call *of,
                                cuStreamAddCallback_params *parameters)
{
    struct host_call *const call = parameters->callback ? make(of, parameters->hStream) : NULL;
    if (!call) return;
    call->callback = parameters->callback;
    call->user = parameters->userData;
    parameters->callback = run_callback;
    parameters->userData = call;
}

void cts_host_function_in_graph(uint32_t stream)
{
    const struct host_call call = {.op = cts_memory_op(0), .stream = stream};
    const struct cts_host_function row = row_of(&call, call.op);
    cts_catalogue_add_host_function(cts_memory_run.catalogue, &row);
    cts_graph_step_note(row.op);
}
