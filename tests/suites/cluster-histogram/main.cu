#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void clusterHist(int *bins, const int nbins, const int bins_per_block, const int *__restrict__ input, size_t array_size) {
  extern __shared__ int smem[]; int tid = cg::this_grid().thread_rank();
  cg::cluster_group cluster = cg::this_cluster(); unsigned int clusterBlockRank = cluster.block_rank(); int cluster_size = cluster.dim_blocks().x;
  for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) smem[i] = 0;
  cluster.sync();
  for (int i = tid; i < array_size; i += blockDim.x * gridDim.x) {
    int binid = input[i]; binid = binid < 0 ? 0 : binid >= nbins ? nbins - 1 : binid;
    int dst_block_rank = binid / bins_per_block, dst_offset = binid % bins_per_block;
    int *dst_smem = cluster.map_shared_rank(smem, dst_block_rank); atomicAdd(dst_smem + dst_offset, 1);
  }
  cluster.sync();
  int *lbins = bins + cluster.block_rank() * bins_per_block; for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) atomicAdd(&lbins[i], smem[i]);
  if (cluster_size == 0) bins[clusterBlockRank] = 0;
}
__global__ void __cluster_dims__(2, 1, 1) ranks(int *out) { out[blockIdx.x] = cg::this_cluster().block_rank() * 10 + cg::this_cluster().num_blocks(); }
int main() {
  const int n = 4000, nbins = 64, cluster = 2; int *in, *bins, *r; cudaMallocManaged(&in, n * 4); cudaMallocManaged(&bins, nbins * 4); cudaMallocManaged(&r, 16); int want[nbins] = {};
  for (int i = 0; i < n; i++) { in[i] = (i * i) % 67; want[in[i] >= nbins ? nbins - 1 : in[i]]++; }
  cudaLaunchConfig_t config = {0}; config.gridDim = 4; config.blockDim = 128; config.dynamicSmemBytes = nbins / cluster * sizeof(int);
  cudaLaunchAttribute attribute[1]; attribute[0].id = cudaLaunchAttributeClusterDimension; attribute[0].val.clusterDim.x = cluster; attribute[0].val.clusterDim.y = 1; attribute[0].val.clusterDim.z = 1; config.numAttrs = 1; config.attrs = attribute;
  cudaFuncSetAttribute((void *)clusterHist, cudaFuncAttributeMaxDynamicSharedMemorySize, config.dynamicSmemBytes); int clusters = 0; cudaOccupancyMaxActiveClusters(&clusters, clusterHist, &config);
  cudaError_t e = cudaLaunchKernelEx(&config, clusterHist, bins, nbins, nbins / cluster, (const int *)in, (size_t)n); ranks<<<4, 32>>>(r);
  if (e == cudaSuccess) e = cudaDeviceSynchronize(); int bad = e != cudaSuccess; for (int i = 0; i < nbins; i++) bad += bins[i] != want[i]; bad += r[0] != 2 || r[1] != 12 || r[3] != 12;
  printf("%s %d %s\n", bad ? "FAILED" : "PASSED", bad, cudaGetErrorString(e)); return bad != 0;
}
