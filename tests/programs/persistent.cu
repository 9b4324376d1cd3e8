/* Cooperative groups as samples use them: a conjugate gradient in one persistent kernel with
 * grid.sync(), a reduction with tiles, tiles as template parameters and as function arguments. */
#include "helper.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <vector>
namespace cg = cooperative_groups;
using namespace cooperative_groups;

__device__ void spmv(int n, const float *x, float *y, const grid_group &grid)
{
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        y[i] = 3 * x[i] - (i ? x[i - 1] : 0) - (i < n - 1 ? x[i + 1] : 0);
}

__device__ void dot(int n, const float *a, const float *b, double *result, const thread_block &cta,
                    const grid_group &grid)
{
    extern __shared__ double tmp[];
    double sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += (double)(a[i] * b[i]);
    thread_block_tile<32> tile32 = tiled_partition<32>(cta);
    sum = cg::reduce(tile32, sum, cg::plus<double>());
    if (tile32.thread_rank() == 0) tmp[tile32.meta_group_rank()] = sum;
    cg::sync(cta);
    if (tile32.meta_group_rank() == 0) {
        sum = tile32.thread_rank() < tile32.meta_group_size() ? tmp[tile32.thread_rank()] : 0.0;
        for (int offset = tile32.size() / 2; offset > 0; offset /= 2)
            sum += tile32.shfl_down(sum, offset);
        if (tile32.thread_rank() == 0) atomicAdd(result, sum);
    }
    cg::sync(cta);
}

extern "C" __global__ void gpuConjugateGradient(int n, float *x, float *r, float *p, float *Ax,
                                                double *dot_result, int *iterations)
{
    thread_block cta = this_thread_block();
    grid_group grid = this_grid();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) p[i] = r[i];
    grid.sync();
    dot(n, r, r, dot_result, cta, grid);
    grid.sync();
    float r1 = *dot_result;
    int k = 0;
    grid.sync();
    while (r1 > 1e-8f && k < 50) {
        spmv(n, p, Ax, grid);
        if (threadIdx.x == 0 && blockIdx.x == 0) *dot_result = 0.0;
        grid.sync();
        dot(n, p, Ax, dot_result, cta, grid);
        grid.sync();
        const float alpha = r1 / (float)*dot_result;
        for (int i = grid.thread_rank(); i < n; i += grid.size()) {
            x[i] += alpha * p[i];
            r[i] -= alpha * Ax[i];
        }
        grid.sync();
        if (grid.thread_rank() == 0) *dot_result = 0.0;
        grid.sync();
        dot(n, r, r, dot_result, cta, grid);
        grid.sync();
        const float r0 = r1;
        r1 = *dot_result;
        const float beta = r1 / r0;
        for (int i = grid.thread_rank(); i < n; i += grid.size()) p[i] = r[i] + beta * p[i];
        grid.sync();
        k++;
    }
    if (grid.thread_rank() == 0) *iterations = k;
}

/* Sums of any group: the code does not know which. */
template <typename Group> __device__ int sum_of(Group g, int *x, int value)
{
    const int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        x[lane] = value;
        g.sync();
        if (lane < i) value += x[lane + i];
        g.sync();
    }
    return value;
}

__global__ void group_sums(int *out)
{
    __shared__ int workspace[128];
    const thread_block block = this_thread_block();
    const int all = sum_of(block, workspace, block.thread_rank());
    if (block.thread_rank() == 0) out[0] = all;
    block.sync();
    const thread_block_tile<16> tile = tiled_partition<16>(block);
    const int part =
        sum_of(tile, workspace + block.thread_rank() / 16 * 16, (int)block.thread_rank());
    if (tile.thread_rank() == 0) out[1 + tile.meta_group_rank()] = part;
    if (block.thread_rank() % 4 == 2) {
        coalesced_group active = coalesced_threads();
        const int leader = active.shfl((int)block.thread_rank(), 0);
        const int odd = active.any(block.thread_rank() % 2),
                  even = active.all(block.thread_rank() % 2 == 0);
        if (active.thread_rank() == 0)
            out[9 + leader / 32] = 100 * leader + 10 * odd + even + active.size();
    }
    const dim3 inside = block.thread_index(), group = block.group_index();
    if (inside.x == 127) out[20] = group.x + 1000 * block.group_dim().x;
}

int main()
{
    int device = 0, supports = 0;
    cudaDeviceProp prop;
    checkCudaErrors(cudaGetDevice(&device));
    checkCudaErrors(cudaGetDeviceProperties(&prop, device));
    checkCudaErrors(cudaDeviceGetAttribute(&supports, cudaDevAttrCooperativeLaunch, device));
    EXPECT(supports && prop.cooperativeLaunch, "cooperative launch");
    int n = 1000, *iterations;
    float *x, *r, *p, *Ax;
    double *dot_result;
    checkCudaErrors(cudaMallocManaged((void **)&x, n * 4));
    checkCudaErrors(cudaMallocManaged((void **)&r, n * 4));
    checkCudaErrors(cudaMallocManaged((void **)&p, n * 4));
    checkCudaErrors(cudaMallocManaged((void **)&Ax, n * 4));
    checkCudaErrors(cudaMallocManaged((void **)&dot_result, sizeof(double)));
    checkCudaErrors(cudaMallocManaged((void **)&iterations, sizeof(int)));
    for (int i = 0; i < n; i++) r[i] = 1 + i % 4, x[i] = 0;
    *dot_result = 0;
    int blocks = 0;
    const int threads = 128, shared = threads / 32 * sizeof(double);
    checkCudaErrors(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, gpuConjugateGradient,
                                                                  threads, shared));
    EXPECT(blocks > 0, "%d", blocks);
    dim3 grid(blocks * prop.multiProcessorCount > 8 ? 8 : blocks * prop.multiProcessorCount),
        block(threads);
    void *args[] = {&n, &x, &r, &p, &Ax, &dot_result, &iterations};
    checkCudaErrors(
        cudaLaunchCooperativeKernel((void *)gpuConjugateGradient, grid, block, args, shared, NULL));
    checkCudaErrors(cudaDeviceSynchronize());
    EXPECT(*iterations > 3 && *iterations < 50, "%d", *iterations);
    for (int i = 0; i < n; i++) {
        const float b = 3 * x[i] - (i ? x[i - 1] : 0) - (i < n - 1 ? x[i + 1] : 0);
        EXPECT(fabs(b - (1 + i % 4)) < 1e-3, "%d: %g", i, b);
    }
    /* more blocks than can be there at once */
    grid.x = 1 << 20;
    const cudaError_t error =
        cudaLaunchCooperativeKernel((void *)gpuConjugateGradient, grid, block, args, shared, 0);
    EXPECT(error == cudaErrorCooperativeLaunchTooLarge, "%s", cudaGetErrorName(error));
    cudaGetLastError();

    int *out;
    checkCudaErrors(cudaMallocManaged(&out, 32 * sizeof(int)));
    group_sums<<<1, 128>>>(out);
    checkCudaErrors(cudaDeviceSynchronize());
    EXPECT(out[0] == 127 * 64 && out[20] == 128000, "%d %d", out[0], out[20]);
    for (int i = 0; i < 8; i++) EXPECT(out[1 + i] == 16 * (16 * i) + 120, "%d: %d", i, out[1 + i]);
    for (int i = 0; i < 4; i++)
        EXPECT(out[9 + i] == 100 * (32 * i + 2) + 1 + 8, "%d: %d", i, out[9 + i]);
    return verdict();
}
