// Bulk asynchronous copies: cuda::memcpy_async_tx-like with mbarrier through cuda::ptx and raw PTX,
// 1-D.
#include <cstdio>
#include <cstdint>
#include <vector>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda_runtime.h>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace ptx = cuda::ptx;
static constexpr size_t buf_len = 1024;
__global__ void add_one_kernel(int *data, size_t offset)
{
    __shared__ alignas(16) int smem_data[buf_len];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cuda::memcpy_async(smem_data, data + offset, cuda::aligned_size_t<16>(sizeof(smem_data)),
                           bar);
    barrier::arrival_token token = bar.arrive();
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < buf_len; i += blockDim.x) smem_data[i] += 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, data + offset, smem_data,
                           sizeof(smem_data));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
__device__ __forceinline__ uint32_t sptr(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
__global__ void raw(const float *in, float *out, int tiles)
{
    __shared__ __align__(128) float buf[2][256];
    __shared__ __align__(8) uint64_t full[2];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int i = 0; i < 2; i++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sptr(&full[i])), "r"(1));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    auto issue = [&](int tile) {
        int s = tile & 1;
        uint32_t bytes = 1024;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sptr(&full[s])),
                     "r"(bytes)
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                     "[%1], %2, [%3];" ::"r"(sptr(buf[s])),
                     "l"(in + tile * 256), "r"(bytes), "r"(sptr(&full[s]))
                     : "memory");
    };
    if (t == 0) issue(0);
    for (int i = 0; i < tiles; i++) {
        if (t == 0 && i + 1 < tiles) issue(i + 1);
        uint32_t parity = (i >> 1) & 1;
        asm volatile(
            "{\n .reg .pred p;\n LAB_WAIT:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], "
            "%1;\n @p bra.uni DONE;\n bra.uni LAB_WAIT;\n DONE:\n }" ::"r"(sptr(&full[i & 1])),
            "r"(parity)
            : "memory");
        out[i * 256 + t] = buf[i & 1][255 - t] * 2;
        __syncthreads();
    }
}
int main()
{
    const int n = 4096;
    std::vector<int> h(n);
    int *d, bad = 0;
    for (int i = 0; i < n; i++) h[i] = 3 * i;
    cudaMalloc(&d, n * 4);
    cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice);
    add_one_kernel<<<1, 128>>>(d, 1024);
    add_one_kernel<<<1, 128>>>(d, 2048);
    cudaMemcpy(h.data(), d, n * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) bad += h[i] != 3 * i + (i >= 1024 && i < 3072);
    printf("bulk: %d\n", bad);
    std::vector<float> f(2560), o(2560);
    for (int i = 0; i < 2560; i++) f[i] = i;
    float *a, *b;
    cudaMalloc(&a, 10240);
    cudaMalloc(&b, 10240);
    cudaMemcpy(a, f.data(), 10240, cudaMemcpyHostToDevice);
    raw<<<1, 256>>>(a, b, 10);
    cudaMemcpy(o.data(), b, 10240, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 2560; i++) bad += o[i] != 2.0f * (i / 256 * 256 + 255 - i % 256);
    printf("bad %d: %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
