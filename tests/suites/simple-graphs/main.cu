// API of CUDA 12: none that 13 lacks
#include <cuda_runtime.h>
#include <helper_cuda.h>
#include <vector>
__global__ void reduce(float *in, double *out, size_t n) { __shared__ double t[128]; double s = 0; for (size_t i = threadIdx.x; i < n; i += 128) s += in[i]; t[threadIdx.x] = s; __syncthreads();
  for (int k = 64; k; k /= 2) { if (threadIdx.x < k) t[threadIdx.x] += t[threadIdx.x + k]; __syncthreads(); } if (!threadIdx.x) *out = t[0]; }
__global__ void scale(float *in, float f, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) in[i] *= f; }
typedef struct callBackData { const char *fn_name; double *data; int *calls; } callBackData_t;
void CUDART_CB myHostNodeCallback(void *data) { callBackData_t *tmp = (callBackData_t *)(data); ++*tmp->calls; *tmp->data += 1; }
int main() {
  const size_t n = 4096; float *h, *d; double *o, result = 0; int calls = 0;
  checkCudaErrors(cudaMallocHost(&h, n * 4)); checkCudaErrors(cudaMalloc(&d, n * 4)); checkCudaErrors(cudaMalloc(&o, 8)); for (size_t i = 0; i < n; i++) h[i] = i % 10;
  cudaStream_t stream; checkCudaErrors(cudaStreamCreate(&stream));
  cudaGraph_t graph; checkCudaErrors(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t copyIn, kernel, copyOut, host; std::vector<cudaGraphNode_t> deps;
  cudaMemcpy3DParms m = {0}; m.srcPtr = make_cudaPitchedPtr(h, n * 4, n, 1); m.dstPtr = make_cudaPitchedPtr(d, n * 4, n, 1); m.extent = make_cudaExtent(n * 4, 1, 1); m.kind = cudaMemcpyHostToDevice;
  checkCudaErrors(cudaGraphAddMemcpyNode(&copyIn, graph, NULL, 0, &m)); deps.push_back(copyIn);
  cudaKernelNodeParams kp = {0}; size_t count = n; void *args[3] = {&d, &o, &count}; kp.func = (void *)reduce; kp.gridDim = dim3(1, 1, 1); kp.blockDim = dim3(128, 1, 1); kp.kernelParams = args; kp.extra = NULL;
  checkCudaErrors(cudaGraphAddKernelNode(&kernel, graph, deps.data(), deps.size(), &kp)); deps.clear(); deps.push_back(kernel);
  checkCudaErrors(cudaGraphAddMemcpyNode1D(&copyOut, graph, deps.data(), deps.size(), &result, o, 8, cudaMemcpyDefault)); deps.clear(); deps.push_back(copyOut);
  callBackData_t data = {"done", &result, &calls}; cudaHostNodeParams hp = {0}; hp.fn = myHostNodeCallback; hp.userData = &data;
  checkCudaErrors(cudaGraphAddHostNode(&host, graph, deps.data(), deps.size(), &hp));
  size_t nodes = 0; checkCudaErrors(cudaGraphGetNodes(graph, NULL, &nodes));
  cudaGraphExec_t exec; checkCudaErrors(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0)); cudaGraph_t clone; checkCudaErrors(cudaGraphClone(&clone, graph));
  for (int i = 0; i < 3; i++) checkCudaErrors(cudaGraphLaunch(exec, stream)); checkCudaErrors(cudaStreamSynchronize(stream));
  double want = 1; for (size_t i = 0; i < n; i++) want += i % 10; bool ok = result == want && calls == 3 && nodes == 4;
  cudaGraph_t cap; cudaStream_t s2; cudaEvent_t fork, join; checkCudaErrors(cudaStreamCreate(&s2)); checkCudaErrors(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming)); checkCudaErrors(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  checkCudaErrors(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  checkCudaErrors(cudaMemcpyAsync(d, h, n * 4, cudaMemcpyHostToDevice, stream)); checkCudaErrors(cudaEventRecord(fork, stream)); checkCudaErrors(cudaStreamWaitEvent(s2, fork, 0));
  scale<<<8, 256, 0, stream>>>(d, 2, n / 2); scale<<<8, 256, 0, s2>>>(d + n / 2, 2, n / 2); checkCudaErrors(cudaEventRecord(join, s2)); checkCudaErrors(cudaStreamWaitEvent(stream, join, 0));
  reduce<<<1, 128, 0, stream>>>(d, o, n); checkCudaErrors(cudaMemcpyAsync(&result, o, 8, cudaMemcpyDeviceToHost, stream)); checkCudaErrors(cudaStreamEndCapture(stream, &cap));
  cudaGraphExec_t e2; checkCudaErrors(cudaGraphInstantiateWithFlags(&e2, cap, 0)); checkCudaErrors(cudaGraphLaunch(e2, stream)); checkCudaErrors(cudaStreamSynchronize(stream));
  ok = ok && result == 2 * (want - 1); printf("%s: %f %zu nodes %d calls\n", ok ? "PASSED" : "FAILED", result, nodes, calls);
  checkCudaErrors(cudaGraphExecDestroy(exec)); checkCudaErrors(cudaGraphDestroy(graph)); return !ok;
}
