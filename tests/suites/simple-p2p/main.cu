#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <helper_cuda.h>
__global__ void SimpleKernel(float *src, float *dst) { const int idx = blockIdx.x * blockDim.x + threadIdx.x; dst[idx] = src[idx] * 2.0f; }
int main(int argc, char **argv) {
  int gpu_n; checkCudaErrors(cudaGetDeviceCount(&gpu_n));
  printf("CUDA-capable device count: %i\n", gpu_n);
  int gpuid[2] = {0, gpu_n > 1 ? 1 : 0}, can = 0;
  if (gpu_n > 1) {
    checkCudaErrors(cudaDeviceCanAccessPeer(&can, gpuid[0], gpuid[1]));
    checkCudaErrors(cudaSetDevice(gpuid[0])); checkCudaErrors(cudaDeviceEnablePeerAccess(gpuid[1], 0));
    checkCudaErrors(cudaSetDevice(gpuid[1])); checkCudaErrors(cudaDeviceEnablePeerAccess(gpuid[0], 0));
  }
  const size_t buf_size = 1 << 16; float *g0, *g1, *h0;
  checkCudaErrors(cudaSetDevice(gpuid[0])); checkCudaErrors(cudaMalloc(&g0, buf_size));
  checkCudaErrors(cudaSetDevice(gpuid[1])); checkCudaErrors(cudaMalloc(&g1, buf_size));
  checkCudaErrors(cudaMallocHost(&h0, buf_size));
  cudaEvent_t start_event, stop_event; float time_memcpy; int eventflags = cudaEventBlockingSync;
  checkCudaErrors(cudaEventCreateWithFlags(&start_event, eventflags)); checkCudaErrors(cudaEventCreateWithFlags(&stop_event, eventflags));
  checkCudaErrors(cudaEventRecord(start_event, 0));
  for (int i = 0; i < 10; i++) {
    if (i % 2 == 0) checkCudaErrors(cudaMemcpy(g1, g0, buf_size, cudaMemcpyDefault));
    else checkCudaErrors(cudaMemcpyPeer(g0, gpuid[0], g1, gpuid[1], buf_size));
  }
  checkCudaErrors(cudaEventRecord(stop_event, 0)); checkCudaErrors(cudaEventSynchronize(stop_event)); checkCudaErrors(cudaEventElapsedTime(&time_memcpy, start_event, stop_event));
  const int count = buf_size / sizeof(float);
  for (int i = 0; i < count; i++) h0[i] = float(i % 4096);
  checkCudaErrors(cudaSetDevice(gpuid[0])); checkCudaErrors(cudaMemcpy(g0, h0, buf_size, cudaMemcpyDefault));
  const dim3 threads(512, 1), blocks(count / threads.x, 1);
  checkCudaErrors(cudaSetDevice(gpuid[1])); SimpleKernel<<<blocks, threads>>>(g0, g1); checkCudaErrors(cudaDeviceSynchronize());
  checkCudaErrors(cudaSetDevice(gpuid[0])); SimpleKernel<<<blocks, threads>>>(g1, g0); checkCudaErrors(cudaDeviceSynchronize());
  checkCudaErrors(cudaMemcpyPeerAsync(g1, gpuid[1], g0, gpuid[0], buf_size, 0));
  checkCudaErrors(cudaMemcpy(h0, g1, buf_size, cudaMemcpyDefault));
  int error_count = 0;
  for (int i = 0; i < count; i++) if (h0[i] != float(i % 4096) * 2.0f * 2.0f) if (error_count++ > 10) break;
  cudaPointerAttributes at; checkCudaErrors(cudaPointerGetAttributes(&at, g1));
  if (at.device != gpuid[1] || at.type != cudaMemoryTypeDevice) error_count++;
  if (gpu_n > 1) { checkCudaErrors(cudaSetDevice(gpuid[0])); checkCudaErrors(cudaDeviceDisablePeerAccess(gpuid[1])); }
  printf("%s in %.3f ms (peer %d)\n", error_count ? "FAILED" : "Test passed", time_memcpy, can);
  return error_count != 0;
}
