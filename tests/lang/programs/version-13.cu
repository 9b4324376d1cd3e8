// options: --cuda-version=13
// CUDA 13's signatures and version; members and functions that 13 took away are not there.
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>

#include "check.h"

__global__ void add(int *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}

template <class T> static auto has_clock(int) -> decltype(((T *)nullptr)->clockRate, true)
{
    return true;
}
template <class T> static bool has_clock(...)
{
    return false;
}

int main()
{
    const int n = 1000;
    int *const x = managed<int>(n);
    const cudaMemLocation device = {cudaMemLocationTypeDevice, 0},
                          host = {cudaMemLocationTypeHost, 0}, none = {};
    CUDA(cudaMemPrefetchAsync(x, n * sizeof *x, device, 0, 0));
    CUDA(cudaMemAdvise(x, n * sizeof *x, cudaMemAdviseSetPreferredLocation, host));
    CHECK(cudaMemPrefetchAsync(x, n * sizeof *x, none, 0, 0) != cudaSuccess);
    (void)cudaGetLastError();

    cudaGraph_t graph;
    cudaGraphNode_t nodes[2];
    int count = n;
    int *pointer = x;
    void *arguments[] = {&pointer, &count};
    cudaKernelNodeParams parameters = {};
    parameters.func = (void *)add;
    parameters.gridDim = dim3(8);
    parameters.blockDim = dim3(128);
    parameters.kernelParams = arguments;
    CUDA(cudaGraphCreate(&graph, 0));
    for (cudaGraphNode_t &node : nodes)
        CUDA(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
    CUDA(cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], nullptr, 1));
    size_t edges = 0;
    CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    CHECK(edges == 1, "%zu", edges);
    cudaGraphNode_t from[1], to[1];
    cudaGraphEdgeData data[1];
    memset(data, 1, sizeof data);
    CUDA(cudaGraphGetEdges(graph, from, to, data, &edges));
    CHECK(from[0] == nodes[0] && to[0] == nodes[1] && data[0].type == 0);
    cudaGraphExec_t executable;
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CUDA(cudaGraphLaunch(executable, 0));
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) CHECK(x[i] == 2, "x[%d] is %d", i, x[i]);

    cudaDeviceProp properties;
    CUDA(cudaGetDeviceProperties(&properties, 0));
    CHECK(properties.multiProcessorCount > 0 && properties.warpSize == 32 && properties.major == 9);
    CHECK(!has_clock<cudaDeviceProp>(0));
    int runtime, driver;
    CUDA(cudaRuntimeGetVersion(&runtime));
    CUDA(cudaDriverGetVersion(&driver));
    CHECK(runtime == CUDART_VERSION && runtime == 13000 && driver >= runtime);
    CHECK(CUDA_VERSION == 13000 && __CUDACC_VER_MAJOR__ == 13);
    CUdevice number;
    CUcontext context;
    CHECK(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&number, 0) == CUDA_SUCCESS);
    CHECK(cuCtxCreate(&context, nullptr, 0, number) == CUDA_SUCCESS);
    return finish();
}
