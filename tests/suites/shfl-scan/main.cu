// API of CUDA 12: cooperative groups in C++11
#include <stdio.h>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <helper_cuda.h>
namespace cg = cooperative_groups;
__global__ void shfl_scan_test(int *data, int width, int *partial_sums = NULL) {
  extern __shared__ int sums[]; int id = ((blockIdx.x * blockDim.x) + threadIdx.x), lane_id = id % warpSize, warp_id = threadIdx.x / warpSize, value = data[id];
#pragma unroll
  for (int i = 1; i <= width; i *= 2) { unsigned int mask = 0xffffffff; int n = __shfl_up_sync(mask, value, i, width); if (lane_id >= i) value += n; }
  if (threadIdx.x % warpSize == warpSize - 1) sums[warp_id] = value;
  __syncthreads();
  if (warp_id == 0 && lane_id < (blockDim.x / warpSize)) { int warp_sum = sums[lane_id]; int mask = (1 << (blockDim.x / warpSize)) - 1;
    for (int i = 1; i <= (blockDim.x / warpSize); i *= 2) { int n = __shfl_up_sync(mask, warp_sum, i, (blockDim.x / warpSize)); if (lane_id >= i) warp_sum += n; } sums[lane_id] = warp_sum; }
  __syncthreads();
  int blockSum = 0; if (warp_id > 0) blockSum = sums[warp_id - 1]; value += blockSum; data[id] = value; if (partial_sums != NULL && threadIdx.x == blockDim.x - 1) partial_sums[blockIdx.x] = value; }
__global__ void uniform_add(int *data, int *partial_sums, int len) { __shared__ int buf; int id = ((blockIdx.x * blockDim.x) + threadIdx.x); if (id > len) return; if (threadIdx.x == 0) buf = partial_sums[blockIdx.x]; __syncthreads(); data[id] += buf; }
static __global__ void warp_votes(unsigned *out) { cg::coalesced_group g = cg::coalesced_threads(); auto tile = cg::tiled_partition<16>(cg::this_thread_block()); unsigned b = tile.ballot(threadIdx.x % 3 == 0); out[threadIdx.x] = b + (g.size() << 16) + tile.shfl_xor(tile.thread_rank(), 3); }
static unsigned int iDivUp(unsigned int dividend, unsigned int divisor) { return ((dividend % divisor) == 0) ? (dividend / divisor) : (dividend / divisor + 1); }
int main(int argc, char *argv[]) {
  const int n_elements = 8192, blockSize = 256; int cuda_device = findCudaDevice(argc, (const char **)argv), gridSize = n_elements / blockSize, nWarps = blockSize / 32, shmem_sz = nWarps * sizeof(int), n_partialSums = n_elements / blockSize, p_blockSize = min(n_partialSums, blockSize), p_gridSize = iDivUp(n_partialSums, p_blockSize);
  cudaDeviceProp deviceProp; checkCudaErrors(cudaGetDeviceProperties(&deviceProp, cuda_device)); printf("> %d SMs of capability %d.%d\n", deviceProp.multiProcessorCount, deviceProp.major, deviceProp.minor); if (deviceProp.major < 3) exit(EXIT_WAIVED);
  int *h, *d, *p, *hp; size_t sz = sizeof(int) * n_elements; checkCudaErrors(cudaMallocHost((void **)&h, sz)); checkCudaErrors(cudaMallocHost(reinterpret_cast<void **>(&hp), n_partialSums * 4)); for (int i = 0; i < n_elements; i++) h[i] = 1 + i % 3;
  cudaEvent_t start, stop; float et = 0; checkCudaErrors(cudaEventCreate(&start)); checkCudaErrors(cudaEventCreate(&stop)); checkCudaErrors(cudaMalloc((void **)&d, sz)); checkCudaErrors(cudaMalloc((void **)&p, n_partialSums * 4)); checkCudaErrors(cudaMemset(p, 0, n_partialSums * 4)); checkCudaErrors(cudaMemcpy(d, h, sz, cudaMemcpyHostToDevice));
  checkCudaErrors(cudaEventRecord(start, 0)); shfl_scan_test<<<gridSize, blockSize, shmem_sz>>>(d, 32, p); shfl_scan_test<<<p_gridSize, p_blockSize, shmem_sz>>>(p, 32); uniform_add<<<gridSize - 1, blockSize>>>(d + blockSize, p, n_elements); checkCudaErrors(cudaEventRecord(stop, 0)); checkCudaErrors(cudaEventSynchronize(stop)); checkCudaErrors(cudaEventElapsedTime(&et, start, stop));
  int *r = (int *)malloc(sz), sum = 0, bad = 0; checkCudaErrors(cudaMemcpy(r, d, sz, cudaMemcpyDeviceToHost)); for (int i = 0; i < n_elements; i++) { sum += h[i]; bad += r[i] != sum; }
  unsigned *v, hv[32]; checkCudaErrors(cudaMalloc(&v, sizeof hv)); warp_votes<<<1, 32>>>(v); checkCudaErrors(cudaMemcpy(hv, v, sizeof hv, cudaMemcpyDeviceToHost)); for (unsigned i = 0; i < 32; i++) { unsigned b = 0, base = i / 16 * 16; for (unsigned k = 0; k < 16; k++) b |= ((base + k) % 3 == 0) << k; bad += hv[i] != b + (32u << 16) + ((i % 16) ^ 3); }
  printf("Time (ms): %f, %d wrong: %s\n", et, bad, bad ? "FAILED" : "PASSED"); checkCudaErrors(cudaFreeHost(h)); checkCudaErrors(cudaFree(d)); return bad ? EXIT_FAILURE : EXIT_SUCCESS; }
