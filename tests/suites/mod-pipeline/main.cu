#include <cstdio>
#include <vector>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/atomic>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
#pragma nv_diag_suppress static_var_with_dynamic_init
template <typename T> __device__ void compute(T *out, const T *in)
{
    *out = *in * 3 + 1;
}
template <int stages>
__global__ void with_staging(int *out, const int *in, size_t size, size_t batch_sz)
{
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    extern __shared__ int shared[];
    size_t shared_offset[stages];
    for (int s = 0; s < stages; ++s) shared_offset[s] = s * block.size();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope::thread_scope_block, stages>
        shared_state;
    auto pipeline = cuda::make_pipeline(block, &shared_state);
    auto block_batch = [&](size_t batch) -> int {
        return block.group_index().x * block.size() + grid.size() * batch;
    };
    for (size_t compute_batch = 0, fetch_batch = 0; compute_batch < batch_sz; ++compute_batch) {
        for (; fetch_batch < batch_sz && fetch_batch < (compute_batch + stages); ++fetch_batch) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, shared + shared_offset[fetch_batch % stages],
                               in + block_batch(fetch_batch), sizeof(int) * block.size(), pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        compute(out + block_batch(compute_batch) + threadIdx.x,
                shared + shared_offset[compute_batch % stages] + threadIdx.x);
        pipeline.consumer_release();
    }
}
__global__ void with_barrier(int *out, const int *in, size_t n)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(16) int buffer[256];
    __shared__ barrier bar;
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    for (size_t base = 0; base < n; base += 256) {
        cuda::memcpy_async(block, buffer, in + base, cuda::aligned_size_t<16>(sizeof(int) * 256),
                           bar);
        barrier::arrival_token token = bar.arrive();
        bar.wait(std::move(token));
        compute(out + base + threadIdx.x, buffer + (threadIdx.x ^ 1));
        bar.arrive_and_wait();
    }
}
__global__ void warp_specialised(int *out, const int *in, int tiles)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier ready[2], filled[2];
    __shared__ int buf[2][32];
    if (threadIdx.x < 2) {
        init(&ready[threadIdx.x], 64);
        init(&filled[threadIdx.x], 64);
    }
    __syncthreads();
    if (threadIdx.x < 32)
        for (int i = 0; i < tiles; i++) {
            ready[i % 2].arrive_and_wait();
            buf[i % 2][threadIdx.x] = in[i * 32 + threadIdx.x];
            (void)filled[i % 2].arrive();
        }
    else {
        (void)ready[0].arrive();
        (void)ready[1].arrive();
        for (int i = 0; i < tiles; i++) {
            filled[i % 2].arrive_and_wait();
            compute(out + i * 32 + threadIdx.x - 32, &buf[i % 2][threadIdx.x - 32]);
            (void)ready[i % 2].arrive();
        }
    }
}
__global__ void c_api(int *out, const int *in)
{
    __shared__ int4 s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], reinterpret_cast<const int4 *>(in) + threadIdx.x,
                            sizeof(int4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    int4 v = s[63 - threadIdx.x];
    reinterpret_cast<int4 *>(out)[threadIdx.x] = v;
}
int main()
{
    const int n = 4096;
    std::vector<int> h(n), o(n);
    int *in, *out, bad = 0;
    cudaMalloc(&in, n * 4);
    cudaMalloc(&out, n * 4);
    for (int i = 0; i < n; i++) h[i] = i * 7 - 100;
    cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice);
    auto check = [&](const char *what, int count, auto f) {
        cudaMemcpy(o.data(), out, n * 4, cudaMemcpyDeviceToHost);
        int b = 0;
        for (int i = 0; i < count; i++) b += o[i] != f(i);
        printf("%s %d %s\n", what, b, cudaGetErrorString(cudaGetLastError()));
        bad += b;
        cudaMemset(out, 0, n * 4);
    };
    with_staging<2><<<4, 128, 2 * 128 * sizeof(int)>>>(out, in, n, n / 512);
    check("staging", n, [&](int i) { return h[i] * 3 + 1; });
    with_staging<4><<<4, 128, 4 * 128 * sizeof(int)>>>(out, in, n, n / 512);
    check("staging 4", n, [&](int i) { return h[i] * 3 + 1; });
    with_barrier<<<1, 256>>>(out, in, n);
    check("barrier", n, [&](int i) { return h[i ^ 1] * 3 + 1; });
    warp_specialised<<<1, 64>>>(out, in, 10);
    check("specialised", 320, [&](int i) { return h[i] * 3 + 1; });
    c_api<<<1, 64>>>(out, in);
    check("c", 256, [&](int i) { return h[(63 - i / 4) * 4 + i % 4]; });
    return bad != 0;
}
