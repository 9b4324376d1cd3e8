// Clusters: distributed shared memory by cooperative groups; compile-time and launch-time cluster
// sizes.
#include <cstdio>
#include <vector>
#include <numeric>
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
__global__ void clusterHist_kernel(int *bins, const int nbins, const int bins_per_block,
                                   const int *__restrict__ input, size_t array_size)
{
    extern __shared__ int smem[];
    int tid = cg::this_grid().thread_rank();
    cg::cluster_group cluster = cg::this_cluster();
    unsigned int clusterBlockRank = cluster.block_rank();
    int cluster_size = cluster.dim_blocks().x;
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) smem[i] = 0;
    cluster.sync();
    for (int i = tid; i < array_size; i += blockDim.x * gridDim.x) {
        int ldata = input[i];
        int binid = ldata;
        if (ldata < 0)
            binid = 0;
        else if (ldata >= nbins)
            binid = nbins - 1;
        int dst_block_rank = (int)(binid / bins_per_block);
        int dst_offset = binid % bins_per_block;
        int *dst_smem = cluster.map_shared_rank(smem, dst_block_rank);
        atomicAdd(dst_smem + dst_offset, 1);
    }
    cluster.sync();
    int *lbins = bins + cluster.block_rank() * bins_per_block;
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) atomicAdd(&lbins[i], smem[i]);
    (void)clusterBlockRank;
    (void)cluster_size;
}
__global__ void __cluster_dims__(4, 1, 1) ring(float *out)
{
    __shared__ float mine[64];
    auto cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), n = cluster.num_blocks();
    mine[threadIdx.x] = 100.0f * blockIdx.x + threadIdx.x;
    cluster.barrier_arrive();
    cluster.barrier_wait();
    float sum = 0;
    for (unsigned r = 0; r < n; r++)
        sum += cluster.map_shared_rank(mine, (rank + r) % n)[threadIdx.x];
    float *next = cluster.map_shared_rank(&mine[threadIdx.x], (rank + 1) % n);
    sum += 0.5f * *next;
    unsigned owner = cluster.query_shared_rank(next);
    if (owner != (rank + 1) % n) sum = -1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    cluster.sync();
}
int main()
{
    int bad = 0;
    const int nbins = 256, n = 20000, threads = 128;
    std::vector<int> in(n), want(nbins), got(nbins);
    for (int i = 0; i < n; i++) {
        in[i] = (i * 7919) % 300 - 20;
        int b = in[i] < 0 ? 0 : in[i] >= nbins ? nbins - 1 : in[i];
        want[b]++;
    }
    int *dbins, *din;
    cudaMalloc(&dbins, nbins * 4);
    cudaMalloc(&din, n * 4);
    cudaMemcpy(din, in.data(), n * 4, cudaMemcpyHostToDevice);
    for (int cluster_size : {1, 2, 8}) {
        cudaMemset(dbins, 0, nbins * 4);
        cudaLaunchConfig_t config = {0};
        config.gridDim = 16;
        config.blockDim = threads;
        config.dynamicSmemBytes = nbins / cluster_size * sizeof(int);
        cudaFuncSetAttribute((void *)clusterHist_kernel,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, config.dynamicSmemBytes);
        cudaLaunchAttribute attribute[1];
        attribute[0].id = cudaLaunchAttributeClusterDimension;
        attribute[0].val.clusterDim.x = cluster_size;
        attribute[0].val.clusterDim.y = 1;
        attribute[0].val.clusterDim.z = 1;
        config.numAttrs = 1;
        config.attrs = attribute;
        int clusters = 0;
        cudaOccupancyMaxActiveClusters(&clusters, (void *)clusterHist_kernel, &config);
        cudaError_t e = cudaLaunchKernelEx(&config, clusterHist_kernel, dbins, nbins,
                                           nbins / cluster_size, (const int *)din, (size_t)n);
        cudaMemcpy(got.data(), dbins, nbins * 4, cudaMemcpyDeviceToHost);
        int b = 0;
        for (int i = 0; i < nbins; i++) b += got[i] != want[i];
        printf("cluster of %d: %d wrong, %s, %d clusters\n", cluster_size, b, cudaGetErrorString(e),
               clusters);
        bad += b;
    }
    float *out;
    std::vector<float> h(8 * 64);
    cudaMalloc(&out, 8 * 64 * 4);
    ring<<<8, 64>>>(out);
    cudaMemcpy(h.data(), out, 8 * 64 * 4, cudaMemcpyDeviceToHost);
    for (int b = 0; b < 8; b++)
        for (int t = 0; t < 64; t++) {
            int c = b / 4 * 4;
            float s = 0;
            for (int r = 0; r < 4; r++) s += 100.0f * (c + r) + t;
            s += 0.5f * (100.0f * (c + (b % 4 + 1) % 4) + t);
            bad += h[b * 64 + t] != s;
        }
    printf("bad %d\n", bad);
    return bad != 0;
}
