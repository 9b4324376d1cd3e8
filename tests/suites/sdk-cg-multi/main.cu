// Conjugate gradient in one cooperative launch: grid sync, managed memory, reductions of tiles.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define CUDA_CALL(x)                                                                               \
    if ((x) != cudaSuccess) {                                                                      \
        printf("failed: %s\n", #x);                                                                \
        exit(1);                                                                                   \
    }
__device__ double grid_dot_result;
__device__ void gpuSpMV(const int *I, const int *J, const float *val, int num_rows, float alpha,
                        const float *x, float *y, const cg::grid_group &grid)
{
    for (unsigned i = grid.thread_rank(); i < num_rows; i += grid.size()) {
        float out = 0.0f;
        for (int j = I[i]; j < I[i + 1]; j++) out += alpha * val[j] * x[J[j]];
        y[i] = out;
    }
}
__device__ void gpuDot(const float *a, const float *b, int size, double *result,
                       const cg::thread_block &cta, const cg::grid_group &grid)
{
    extern __shared__ double tmp[];
    double sum = 0.0;
    for (unsigned long long i = grid.thread_rank(); i < size; i += grid.size())
        sum += static_cast<double>(a[i] * b[i]);
    cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
    sum = cg::reduce(tile32, sum, cg::plus<double>());
    if (tile32.thread_rank() == 0) tmp[tile32.meta_group_rank()] = sum;
    cg::sync(cta);
    if (tile32.meta_group_rank() == 0) {
        double t =
            tile32.thread_rank() < tile32.meta_group_size() ? tmp[tile32.thread_rank()] : 0.0;
        t = cg::reduce(tile32, t, cg::plus<double>());
        if (tile32.thread_rank() == 0) atomicAdd(result, t);
    }
}
extern "C" __global__ void gpuConjugateGradient(int *I, int *J, float *val, float *x, float *Ax,
                                                float *p, float *r, double *dot_result, int nnz,
                                                int N, float tol, int *iters)
{
    cg::thread_block cta = cg::this_thread_block();
    cg::grid_group grid = cg::this_grid();
    for (unsigned i = grid.thread_rank(); i < N; i += grid.size()) {
        r[i] = 1.0f;
        x[i] = 0.0f;
        p[i] = 1.0f;
    }
    if (grid.thread_rank() == 0) {
        dot_result[0] = 0;
        dot_result[1] = 0;
    }
    cg::sync(grid);
    gpuDot(r, r, N, &dot_result[0], cta, grid);
    grid.sync();
    float r1 = dot_result[0];
    int k = 1;
    while (r1 > tol * tol && k <= 200) {
        gpuSpMV(I, J, val, N, 1.0f, p, Ax, grid);
        if (threadIdx.x == 0 && blockIdx.x == 0) dot_result[1] = 0.0;
        grid.sync();
        gpuDot(p, Ax, N, &dot_result[1], cta, grid);
        grid.sync();
        float a = r1 / dot_result[1];
        for (unsigned i = grid.thread_rank(); i < N; i += grid.size()) {
            x[i] += a * p[i];
            r[i] -= a * Ax[i];
        }
        if (grid.thread_rank() == 0) dot_result[0] = 0.0;
        grid.sync();
        gpuDot(r, r, N, &dot_result[0], cta, grid);
        grid.sync();
        float r0 = r1;
        r1 = dot_result[0];
        float b = r1 / r0;
        for (unsigned i = grid.thread_rank(); i < N; i += grid.size()) p[i] = r[i] + b * p[i];
        grid.sync();
        k++;
    }
    if (grid.thread_rank() == 0) *iters = k;
}
int main()
{
    cudaDeviceProp prop;
    CUDA_CALL(cudaGetDeviceProperties(&prop, 0));
    if (!prop.managedMemory || !prop.cooperativeLaunch) {
        printf("waived\n");
        exit(2);
    }
    int N = 1000, nz = 3 * N - 2, *I, *J, *iters;
    float *val, *x, *Ax, *p, *r;
    double *dot;
    CUDA_CALL(cudaMallocManaged((void **)&I, sizeof(int) * (N + 1)));
    CUDA_CALL(cudaMallocManaged((void **)&J, sizeof(int) * nz));
    CUDA_CALL(cudaMallocManaged((void **)&val, sizeof(float) * nz));
    CUDA_CALL(cudaMallocManaged((void **)&x, sizeof(float) * N));
    CUDA_CALL(cudaMallocManaged((void **)&Ax, sizeof(float) * N));
    CUDA_CALL(cudaMallocManaged((void **)&p, sizeof(float) * N));
    CUDA_CALL(cudaMallocManaged((void **)&r, sizeof(float) * N));
    CUDA_CALL(cudaMallocManaged((void **)&dot, 2 * sizeof(double)));
    CUDA_CALL(cudaMallocManaged(&iters, sizeof(int)));
    for (int i = 0, k = 0; i <= N; i++) {
        I[i] = k;
        if (i == N) break;
        for (int j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < N) {
                J[k] = j;
                val[k++] = i == j ? 2.5f : -1.0f;
            }
    }
    float tol = 1e-5f;
    void *args[] = {&I, &J, &val, &x, &Ax, &p, &r, &dot, &nz, &N, &tol, &iters};
    int numBlocksPerSm = 0, numThreads = 128, sMemSize = sizeof(double) * ((numThreads / 32) + 1);
    CUDA_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&numBlocksPerSm, gpuConjugateGradient,
                                                            numThreads, sMemSize));
    int blocks = prop.multiProcessorCount * numBlocksPerSm;
    if (blocks > 8) blocks = 8;
    CUDA_CALL(cudaLaunchCooperativeKernel((void *)gpuConjugateGradient, dim3(blocks),
                                          dim3(numThreads), args, sMemSize, NULL));
    CUDA_CALL(cudaDeviceSynchronize());
    float err = 0;
    for (int i = 0; i < N; i++) {
        float s = 0;
        for (int j = I[i]; j < I[i + 1]; j++) s += val[j] * x[J[j]];
        err = fmaxf(err, fabsf(s - 1));
    }
    printf("iterations %d, error %g\n", *iters, err);
    return err < 1e-4f ? 0 : 1;
}
