/* Host functions (cudaLaunchHostFunc, cudaStreamAddCallback): work of a stream that a thread of the
 * driver does. */
#ifndef CTS_MEMORY_HOST_FUNCTIONS_H
#define CTS_MEMORY_HOST_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <sanitizer.h>

#include <generated_cuda_meta.h> /* needs what sanitizer.h defines */

struct cts_host_function_call {
    CUcontext context;
    bool per_thread; /* no stream is the thread's default stream */
};
/* At the call: the function is replaced by one that tells when it begins and ends. */
void cts_host_function_called(const struct cts_host_function_call *call,
                              cuLaunchHostFunc_params *parameters);
void cts_stream_callback_called(const struct cts_host_function_call *call,
                                cuStreamAddCallback_params *parameters);
/* A node of a graph: when it runs is not told. */
void cts_host_function_in_graph(uint32_t stream);

#endif
