const char *sSDKsample = "simpleStreams";
const char *sEventSyncMethod[] = {"cudaEventDefault", "cudaEventBlockingSync", "cudaEventDisableTiming", NULL};
#include <stdio.h>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <helper_cuda.h>
#define MEMORY_ALIGNMENT 4096
#define ALIGN_UP(x, size) (((size_t)x + (size - 1)) & (~(size - 1)))
__global__ void init_array(int *g_data, int *factor, int num_iterations) { int idx = blockIdx.x * blockDim.x + threadIdx.x; for (int i = 0; i < num_iterations; i++) g_data[idx] += *factor; }
static int callbacks;
static void CUDART_CB done(cudaStream_t, cudaError_t status, void *userData) { if (status == cudaSuccess) ++*(int *)userData; }
int main(int argc, char **argv) {
  const int nstreams = 4, n = 16 * 1024, niterations = 5, nbytes = n * sizeof(int); int c = 5, *d_a, *d_c, *h_a, bad = 0; float elapsed; findCudaDevice(argc, (const char **)argv); checkCudaErrors(cudaSetDeviceFlags(cudaDeviceBlockingSync | cudaDeviceMapHost));
  void *um = mmap(NULL, nbytes + MEMORY_ALIGNMENT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0); h_a = (int *)ALIGN_UP(um, MEMORY_ALIGNMENT); checkCudaErrors(cudaHostRegister(h_a, nbytes, cudaHostRegisterMapped)); int *mapped; checkCudaErrors(cudaHostGetDevicePointer(&mapped, h_a, 0));
  checkCudaErrors(cudaMalloc((void **)&d_a, nbytes)); checkCudaErrors(cudaMalloc((void **)&d_c, sizeof(int))); checkCudaErrors(cudaMemset(d_a, 0x0, nbytes)); checkCudaErrors(cudaMemcpy(d_c, &c, sizeof(int), cudaMemcpyHostToDevice));
  cudaStream_t *streams = (cudaStream_t *)malloc(nstreams * sizeof(cudaStream_t)); int lo, hi; checkCudaErrors(cudaDeviceGetStreamPriorityRange(&lo, &hi)); for (int i = 0; i < nstreams; i++) checkCudaErrors(cudaStreamCreateWithPriority(&streams[i], cudaStreamDefault, i ? lo : hi));
  cudaEvent_t start, stop; checkCudaErrors(cudaEventCreateWithFlags(&start, cudaEventBlockingSync)); checkCudaErrors(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync)); dim3 threads(512, 1), blocks(n / (nstreams * threads.x), 1);
  checkCudaErrors(cudaEventRecord(start, 0)); for (int i = 0; i < nstreams; i++) { init_array<<<blocks, threads, 0, streams[i]>>>(d_a + i * n / nstreams, d_c, niterations); checkCudaErrors(cudaMemcpyAsync(h_a + i * n / nstreams, d_a + i * n / nstreams, nbytes / nstreams, cudaMemcpyDeviceToHost, streams[i])); checkCudaErrors(cudaStreamAddCallback(streams[i], done, &callbacks, 0)); }
  checkCudaErrors(cudaEventRecord(stop, 0)); unsigned long counter = 0; while (cudaEventQuery(stop) == cudaErrorNotReady) counter++; checkCudaErrors(cudaEventSynchronize(stop)); checkCudaErrors(cudaEventElapsedTime(&elapsed, start, stop)); checkCudaErrors(cudaDeviceSynchronize()); cudaGetLastError();
  for (int i = 0; i < n; i++) bad += h_a[i] != c * niterations; init_array<<<1, 32>>>(mapped, d_c, 1); checkCudaErrors(cudaStreamSynchronize(0)); bad += h_a[3] != 30 || callbacks != nstreams || cudaStreamQuery(streams[0]) != cudaSuccess;
  for (int i = 0; i < nstreams; i++) checkCudaErrors(cudaStreamDestroy(streams[i])); checkCudaErrors(cudaHostUnregister(h_a)); munmap(um, nbytes + MEMORY_ALIGNMENT); printf("%s %.2f ms, %s\n", bad ? "FAILED" : "PASSED", elapsed, sEventSyncMethod[1]); return bad != 0; }
