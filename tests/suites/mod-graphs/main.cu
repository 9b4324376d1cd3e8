// Graphs: explicit nodes, capture across streams, update, clone, child graphs, memory nodes, host
// nodes.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e_ = (x);                                                                      \
        if (e_ != cudaSuccess) {                                                                   \
            std::printf("%s:%d %s: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_));         \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)
__global__ void scale(float *p, float f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= f;
}
__global__ void axpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
static void host_fn(void *p)
{
    ++*static_cast<int *>(p);
}
int main()
{
    const int n = 1000, B = (n + 255) / 256;
    size_t bytes = n * sizeof(float);
    int bad = 0, calls = 0;
    std::vector<float> h(n);
    for (int i = 0; i < n; i++) h[i] = i;
    float *x, *y;
    CK(cudaMalloc(&x, bytes));
    CK(cudaMalloc(&y, bytes));
    cudaStream_t s;
    CK(cudaStreamCreate(&s));
    auto expect = [&](float *d, float f, const char *what) {
        std::vector<float> g(n);
        CK(cudaMemcpy(g.data(), d, bytes, cudaMemcpyDeviceToHost));
        int b = 0;
        for (int i = 0; i < n; i++) b += g[i] != f * i;
        std::printf("%s: %d\n", what, b);
        bad += b;
    };

    cudaGraph_t g;
    CK(cudaGraphCreate(&g, 0));
    cudaGraphNode_t cpy, ker, ker2, set, hostn;
    cudaMemcpy3DParms mp = {};
    mp.srcPtr = make_cudaPitchedPtr(h.data(), bytes, n, 1);
    mp.dstPtr = make_cudaPitchedPtr(x, bytes, n, 1);
    mp.extent = make_cudaExtent(bytes, 1, 1);
    mp.kind = cudaMemcpyHostToDevice;
    CK(cudaGraphAddMemcpyNode(&cpy, g, NULL, 0, &mp));
    cudaMemsetParams ms = {};
    ms.dst = y;
    ms.value = 0;
    ms.elementSize = 4;
    ms.width = n;
    ms.height = 1;
    CK(cudaGraphAddMemsetNode(&set, g, NULL, 0, &ms));
    float f = 3, a = 2;
    int nn = n;
    void *args[] = {&x, &f, &nn};
    cudaKernelNodeParams kp = {};
    kp.func = (void *)scale;
    kp.gridDim = dim3(B);
    kp.blockDim = dim3(256);
    kp.kernelParams = args;
    CK(cudaGraphAddKernelNode(&ker, g, &cpy, 1, &kp));
    void *args2[] = {&y, &x, &a, &nn};
    cudaKernelNodeParams kp2 = kp;
    kp2.func = (void *)axpy;
    kp2.kernelParams = args2;
    cudaGraphNode_t deps[] = {ker, set};
    CK(cudaGraphAddKernelNode(&ker2, g, deps, 2, &kp2));
    cudaHostNodeParams hp = {host_fn, &calls};
    CK(cudaGraphAddHostNode(&hostn, g, &ker2, 1, &hp));
    size_t count = 0, edges = 0;
    CK(cudaGraphGetNodes(g, NULL, &count));
    bad += count != 5;
    std::vector<cudaGraphNode_t> nodes(count);
    CK(cudaGraphGetNodes(g, nodes.data(), &count));
    cudaGraphNodeType ty;
    CK(cudaGraphNodeGetType(nodes[0], &ty));
    (void)edges;
    cudaGraphExec_t e;
    CK(cudaGraphInstantiate(&e, g, 0));
    for (int i = 0; i < 3; i++) CK(cudaGraphLaunch(e, s));
    CK(cudaStreamSynchronize(s));
    expect(y, 6, "explicit");
    bad += calls != 3;
    f = 5;
    CK(cudaGraphExecKernelNodeSetParams(e, ker, &kp));
    CK(cudaGraphLaunch(e, s));
    CK(cudaStreamSynchronize(s));
    expect(y, 10, "set params");
    cudaGraph_t clone;
    CK(cudaGraphClone(&clone, g));
    cudaGraphExec_t e2;
    CK(cudaGraphInstantiateWithFlags(&e2, clone, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    CK(cudaGraphLaunch(e2, s));
    CK(cudaStreamSynchronize(s));
    expect(y, 6, "clone");

    cudaStream_t s2;
    cudaEvent_t fork, join;
    CK(cudaStreamCreate(&s2));
    CK(cudaEventCreate(&fork));
    CK(cudaEventCreate(&join));
    cudaGraph_t cap;
    cudaGraphExec_t ce = nullptr;
    for (int round = 1; round <= 3; round++) {
        CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        CK(cudaMemcpyAsync(x, h.data(), bytes, cudaMemcpyHostToDevice, s));
        CK(cudaEventRecord(fork, s));
        CK(cudaStreamWaitEvent(s2, fork, 0));
        CK(cudaMemsetAsync(y, 0, bytes, s2));
        scale<<<B, 256, 0, s>>>(x, float(round), n);
        CK(cudaEventRecord(join, s2));
        CK(cudaStreamWaitEvent(s, join, 0));
        for (int k = 0; k < 4; k++) axpy<<<B, 256, 0, s>>>(y, x, 1.0f, n);
        cudaStreamCaptureStatus st;
        CK(cudaStreamIsCapturing(s, &st));
        bad += st != cudaStreamCaptureStatusActive;
        CK(cudaStreamEndCapture(s, &cap));
        if (!ce)
            CK(cudaGraphInstantiate(&ce, cap, 0));
        else {
#if CUDART_VERSION >= 12000
            cudaGraphExecUpdateResultInfo info;
            CK(cudaGraphExecUpdate(ce, cap, &info));
            bad += info.result != cudaGraphExecUpdateSuccess;
#else
            cudaGraphNode_t en;
            cudaGraphExecUpdateResult r;
            CK(cudaGraphExecUpdate(ce, cap, &en, &r));
#endif
        }
        CK(cudaGraphDestroy(cap));
        CK(cudaGraphLaunch(ce, s));
        CK(cudaStreamSynchronize(s));
        expect(y, 4.0f * round, "capture");
    }
    cudaGraph_t parent;
    CK(cudaGraphCreate(&parent, 0));
    cudaGraphNode_t child, after, al, fr;
    CK(cudaGraphAddChildGraphNode(&child, parent, NULL, 0, g));
    cudaMemAllocNodeParams ap = {};
    ap.poolProps.allocType = cudaMemAllocationTypePinned;
    ap.poolProps.location.type = cudaMemLocationTypeDevice;
    ap.poolProps.location.id = 0;
    ap.bytesize = bytes;
    CK(cudaGraphAddMemAllocNode(&al, parent, &child, 1, &ap));
    float *tmp = (float *)ap.dptr, one = 1;
    CK(cudaGraphAddMemcpyNode1D(&after, parent, &al, 1, tmp, y, bytes, cudaMemcpyDeviceToDevice));
    void *args3[] = {&y, &tmp, &one, &nn};
    kp2.kernelParams = args3;
    cudaGraphNode_t k3;
    CK(cudaGraphAddKernelNode(&k3, parent, &after, 1, &kp2));
    CK(cudaGraphAddMemFreeNode(&fr, parent, &k3, 1, tmp));
    cudaGraphExec_t pe;
    CK(cudaGraphInstantiate(&pe, parent, 0));
    CK(cudaGraphUpload(pe, s));
    CK(cudaGraphLaunch(pe, s));
    CK(cudaStreamSynchronize(s));
    expect(y, 12, "child and memory");
    CK(cudaGraphExecDestroy(pe));
    CK(cudaGraphExecDestroy(ce));
    CK(cudaGraphExecDestroy(e));
    CK(cudaGraphExecDestroy(e2));
    CK(cudaGraphDestroy(parent));
    CK(cudaGraphDestroy(g));
    CK(cudaGraphDestroy(clone));
    std::printf("bad %d, calls %d\n", bad, calls);
    return bad != 0;
}
