#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <stdio.h>
#include <vector>
#include <helper_cuda.h>
namespace cg = cooperative_groups;
__device__ void reduceBlock(double *sdata, const cg::thread_block &cta) {
  const unsigned int tid = cta.thread_rank();
  cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
  sdata[tid] = cg::reduce(tile32, sdata[tid], cg::plus<double>());
  cg::sync(cta);
  double beta = 0.0;
  if (cta.thread_rank() == 0) { for (int i = 0; i < blockDim.x; i += tile32.size()) beta += sdata[i]; sdata[0] = beta; }
  cg::sync(cta);
}
extern "C" __global__ void reduceSinglePassMultiBlockCG(const float *g_idata, double *g_odata, unsigned int n) {
  cg::thread_block block = cg::this_thread_block();
  cg::grid_group grid = cg::this_grid();
  extern double __shared__ sdata[];
  sdata[block.thread_rank()] = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) sdata[block.thread_rank()] += g_idata[i];
  cg::sync(block);
  reduceBlock(sdata, block);
  if (block.thread_rank() == 0) g_odata[blockIdx.x] = sdata[0];
  cg::sync(grid);
  if (grid.thread_rank() == 0) for (int b = 1; b < gridDim.x; b++) g_odata[0] += g_odata[b];
}
__global__ void tiles(int *out) {
  __shared__ cg::block_tile_memory<256> scratch;
  cg::thread_block block = cg::this_thread_block(scratch);
  auto tile64 = cg::tiled_partition<64>(block);
  int sum = cg::reduce(tile64, (int)threadIdx.x, cg::plus<int>());
  auto tile8 = cg::tiled_partition<8>(cg::tiled_partition<32>(block));
  int scan = cg::inclusive_scan(tile8, 1), high = tile8.shfl_down(scan, 1);
  auto active = cg::coalesced_threads();
  if (threadIdx.x % 3 == 0) { auto part = cg::coalesced_threads(); sum += part.size() * 0 + part.meta_group_rank() * 0; }
  auto label = cg::labeled_partition(active, threadIdx.x & 1); auto bin = cg::binary_partition(active, threadIdx.x & 2);
  out[threadIdx.x] = sum * 1000 + scan * 100 + (tile8.any(high == 8) ? 10 : 0) + label.size() / 16 + bin.size() / 16 + tile64.meta_group_rank() * 0;
}
int main(int argc, char **argv) {
  const int n = 1 << 15; int dev = findCudaDevice(argc, (const char **)argv), numSms = 0, perSm = 0;
  float *h = (float *)malloc(n * 4), *d; double *o, got, want = 0;
  for (int i = 0; i < n; i++) { h[i] = i % 7 * 0.25f; want += h[i]; }
  checkCudaErrors(cudaMalloc(&d, n * 4)); checkCudaErrors(cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice));
  cudaDeviceProp prop = {0}; checkCudaErrors(cudaGetDeviceProperties(&prop, dev));
  if (!prop.cooperativeLaunch) { printf("waived\n"); exit(EXIT_WAIVED); }
  numSms = prop.multiProcessorCount;
  checkCudaErrors(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perSm, reduceSinglePassMultiBlockCG, 128, 128 * sizeof(double)));
  int blocks = perSm * numSms < 8 ? perSm * numSms : 8; unsigned count = n;
  checkCudaErrors(cudaMalloc(&o, blocks * sizeof(double)));
  void *args[] = {(void *)&d, (void *)&o, (void *)&count};
  checkCudaErrors(cudaLaunchCooperativeKernel((void *)reduceSinglePassMultiBlockCG, dim3(blocks), dim3(128), args, 128 * sizeof(double), NULL));
  checkCudaErrors(cudaDeviceSynchronize()); checkCudaErrors(cudaMemcpy(&got, o, 8, cudaMemcpyDeviceToHost));
  int *t, ht[256]; checkCudaErrors(cudaMalloc(&t, sizeof ht)); tiles<<<1, 256>>>(t); checkCudaErrors(cudaMemcpy(ht, t, sizeof ht, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int i = 0; i < 256; i++) { int base = i / 64 * 64, sum = 64 * base + 63 * 32; bad += ht[i] != sum * 1000 + (i % 8 + 1) * 100 + 10 + 2; }
  printf("%s: %f of %f, %d tiles wrong, %d\n", got == want && !bad ? "PASSED" : "FAILED", got, want, bad, ht[1]);
  return got != want || bad;
}
