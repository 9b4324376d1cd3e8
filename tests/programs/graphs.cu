/* Graphs: captured from streams that fork and join, built node by node, launched many times, with
 * parameters that change between launches. */
#include "helper.h"
#include <vector>

__global__ void scale(float *x, float a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a * x[i];
}
__global__ void add(const float *a, const float *b, float *c, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        c[i] = a[i] + b[i];
}
static void CUDART_CB count(void *data)
{
    ++*(int *)data;
}

int main()
{
    const int n = 1000;
    float *a, *b, *c, *h;
    checkCudaErrors(cudaMalloc(&a, n * 4));
    checkCudaErrors(cudaMalloc(&b, n * 4));
    checkCudaErrors(cudaMalloc(&c, n * 4));
    checkCudaErrors(cudaMallocHost(&h, n * 4));
    cudaStream_t s1, s2;
    cudaEvent_t fork, join;
    checkCudaErrors(cudaStreamCreate(&s1));
    checkCudaErrors(cudaStreamCreate(&s2));
    checkCudaErrors(cudaEventCreate(&fork));
    checkCudaErrors(cudaEventCreate(&join));
    int calls = 0;
    for (int i = 0; i < n; i++) h[i] = i;

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    checkCudaErrors(cudaStreamBeginCapture(s1, cudaStreamCaptureModeGlobal));
    checkCudaErrors(cudaMemcpyAsync(a, h, n * 4, cudaMemcpyHostToDevice, s1));
    checkCudaErrors(cudaEventRecord(fork, s1));
    checkCudaErrors(cudaStreamWaitEvent(s2, fork, 0));
    checkCudaErrors(cudaMemcpyAsync(b, a, n * 4, cudaMemcpyDeviceToDevice, s2));
    scale<<<4, 256, 0, s2>>>(b, 3, n);
    add<<<2, 128, 0, s1>>>(a, a, c, n);
    checkCudaErrors(cudaEventRecord(join, s2));
    checkCudaErrors(cudaStreamWaitEvent(s1, join, 0));
    add<<<2, 128, 0, s1>>>(b, c, c, n);
    checkCudaErrors(cudaLaunchHostFunc(s1, count, &calls));
    checkCudaErrors(cudaMemcpyAsync(h, c, n * 4, cudaMemcpyDeviceToHost, s1));
    cudaStreamCaptureStatus status;
    checkCudaErrors(cudaStreamIsCapturing(s1, &status));
    EXPECT(status == cudaStreamCaptureStatusActive, "%d", status);
    checkCudaErrors(cudaStreamEndCapture(s1, &graph));
    EXPECT(h[5] == 5 && calls == 0, "nothing ran");
    size_t nodes = 0;
    checkCudaErrors(cudaGraphGetNodes(graph, NULL, &nodes));
    EXPECT(nodes == 7, "%zu nodes", nodes);
    checkCudaErrors(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0));
    float factor = 1;
    for (int i = 0; i < 4; i++) {
        checkCudaErrors(cudaGraphLaunch(exec, s2));
        factor *= 5;
    }
    checkCudaErrors(cudaStreamSynchronize(s2));
    EXPECT(calls == 4, "%d calls", calls);
    for (int i = 0; i < n; i++) EXPECT(h[i] == factor * i, "%d: %g", i, h[i]);
    checkCudaErrors(cudaGraphExecDestroy(exec));
    checkCudaErrors(cudaGraphDestroy(graph));

    /* by hand */
    cudaGraphNode_t copy_in, set, kernel, copy_out, host;
    checkCudaErrors(cudaGraphCreate(&graph, 0));
    std::vector<float> in(n, 2), out(n);
    checkCudaErrors(cudaGraphAddMemcpyNode1D(&copy_in, graph, NULL, 0, a, in.data(), n * 4,
                                             cudaMemcpyHostToDevice));
    cudaMemsetParams memset_params = {};
    memset_params.dst = b;
    memset_params.elementSize = 4;
    memset_params.width = n;
    memset_params.height = 1;
    memset_params.value = 0x3f800000; /* 1.0f */
    checkCudaErrors(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &memset_params));
    int count_n = n;
    void *arguments[] = {&a, &b, &c, &count_n};
    cudaKernelNodeParams kernel_params = {};
    kernel_params.func = (void *)add;
    kernel_params.gridDim = dim3(4);
    kernel_params.blockDim = dim3(64);
    kernel_params.kernelParams = arguments;
    const cudaGraphNode_t before[] = {copy_in, set};
    checkCudaErrors(cudaGraphAddKernelNode(&kernel, graph, before, 2, &kernel_params));
    checkCudaErrors(cudaGraphAddMemcpyNode1D(&copy_out, graph, &kernel, 1, out.data(), c, n * 4,
                                             cudaMemcpyDeviceToHost));
    cudaHostNodeParams host_params = {count, &calls};
    checkCudaErrors(cudaGraphAddHostNode(&host, graph, &copy_out, 1, &host_params));
    checkCudaErrors(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0));
    checkCudaErrors(cudaGraphLaunch(exec, 0));
    checkCudaErrors(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(out[i] == 3, "%d: %g", i, out[i]);
    arguments[0] = &b;
    checkCudaErrors(cudaGraphExecKernelNodeSetParams(exec, kernel, &kernel_params));
    checkCudaErrors(cudaGraphLaunch(exec, s1));
    checkCudaErrors(cudaStreamSynchronize(s1));
    EXPECT(out[7] == 2 && calls == 6, "%g %d", out[7], calls);
    /* what may not be captured */
    checkCudaErrors(cudaStreamBeginCapture(s1, cudaStreamCaptureModeGlobal));
    const cudaError_t error = cudaStreamSynchronize(s1);
    EXPECT(error == cudaErrorStreamCaptureUnsupported, "%s", cudaGetErrorName(error));
    cudaGraph_t broken;
    EXPECT(cudaStreamEndCapture(s1, &broken) == cudaErrorStreamCaptureInvalidated, "broken");
    cudaGetLastError();
    checkCudaErrors(cudaGraphExecDestroy(exec));
    checkCudaErrors(cudaGraphDestroy(graph));
    return verdict();
}
