// What nvcc takes and clang alone would not, or would take for something else.
// options: -std=c++20
#include <concepts>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.h"

#define CHECK_SAME(got, want) CHECK((got) == (want), "%g, not %g", (double)(got), (double)(want))

// A shape in braces, as the grid or the block.
__global__ void fill(int *out, int value)
{
    out[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x +
        threadIdx.x] = value;
}

// `first` is set in the leader alone: no promise that every lane has set it.
__device__ int next_place(int *count)
{
    const unsigned mask = __match_any_sync(__activemask(), (unsigned long long)count);
    const int leader = __ffs(mask) - 1, lane = threadIdx.x % 32;
    int first;
    if (lane == leader) first = atomicAdd(count, __popc(mask));
    first = __shfl_sync(mask, first, leader);
    return first + __popc(mask & ((1u << lane) - 1));
}
__global__ void keep_even(int *out, int *count, const int *in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 2 == 0) out[next_place(count)] = in[i];
}

// Storage of a smaller alignment than the type in it asks for; the words in it are aligned.
struct __align__(32) sums {
    int of_warp[4];
};
__global__ void through_storage(int *out)
{
    __shared__ uint4 storage[3];
    sums &partial = *reinterpret_cast<sums *>(&storage[1]);
    if (threadIdx.x < 4) partial.of_warp[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    out[threadIdx.x] =
        partial.of_warp[0] + partial.of_warp[1] + partial.of_warp[2] + partial.of_warp[3];
}

// A vector load under a guard.
__global__ void guarded(const float4 *in, float *out)
{
    float a = -1, b = -1, c = -1, d = -1;
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %5, 4;\n"
                 "  @p ld.global.v4.f32 {%0, %1, %2, %3}, [%4]; }"
                 : "+f"(a), "+f"(b), "+f"(c), "+f"(d)
                 : "l"(in + threadIdx.x), "r"(threadIdx.x));
    out[threadIdx.x] = a + b + c + d;
}

// Concepts of the standard library in the constraints of a kernel, of functions of the device.
template <class F, class T>
concept maps = requires(F f, T a) {
    { f(a) } -> std::convertible_to<T>;
};
template <class T, maps<T> F> __global__ void apply(T *values, F f)
{
    values[threadIdx.x] = f(values[threadIdx.x]);
}
struct twice {
    __device__ int operator()(int a) const { return 2 * a; }
};

__global__ void small_floats(__nv_bfloat162 *values, volatile __half *halves, unsigned *out)
{
    const __nv_bfloat162 a = __ldcs(values), b = __ldcg(values + 1);
    __stcs(values + 2, __lows2bfloat162(a, b));
    const __half copy = __half_raw(halves[0]);
    out[0] = __hbeq2(a, a) && !__hbeq2(a, b) && __hgtu2_mask(b, a) == 0xffffffffu &&
             __heq(copy, __float2half(1.5f));
}

__global__ void tf32(const float *in, unsigned *out)
{
    unsigned rna, rn, rz;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rna) : "f"(in[threadIdx.x]));
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(rn) : "f"(in[threadIdx.x]));
    asm("cvt.rz.tf32.f32 %0, %1;" : "=r"(rz) : "f"(in[threadIdx.x]));
    out[3 * threadIdx.x] = rna;
    out[3 * threadIdx.x + 1] = rn;
    out[3 * threadIdx.x + 2] = rz;
}

int main()
{
    int *values, *count;
    cudaMallocManaged(&values, 4096 * sizeof *values);
    cudaMallocManaged(&count, sizeof *count);

    fill<<<{2, 3}, /* a comment */ {8, 4, 1}>>>(values, 7);
    fill<<<1, {32, 1}, 0>>>(values + 192, 8);
    fill<<<dim3{1}, 16>>>(values + 224, 9);
    cudaDeviceSynchronize();
    for (int i = 0; i < 240; i++) CHECK_SAME(values[i], i < 192 ? 7 : i < 224 ? 8 : 9);

    const int n = 1000;
    for (int i = 0; i < n; i++) values[i] = 3 * i;
    *count = 0;
    keep_even<<<4, 256>>>(values + 2048, count, values, n);
    cudaDeviceSynchronize();
    CHECK_SAME(*count, n / 2);
    long sum = 0;
    for (int i = 0; i < n / 2; i++) sum += values[2048 + i];
    CHECK_SAME(sum, 3L * (n / 2) * (n / 2 - 1));

    through_storage<<<1, 64>>>(values);
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; i++) CHECK_SAME(values[i], 10);

    float *floats;
    cudaMallocManaged(&floats, 1024);
    for (int i = 0; i < 32; i++) floats[i] = (float)i;
    guarded<<<1, 8>>>((float4 *)floats, floats + 64);
    cudaDeviceSynchronize();
    for (int i = 0; i < 8; i++) CHECK_SAME(floats[64 + i], i < 4 ? 16.0f * i + 6 : -4.0f);

    apply<<<1, 32>>>(values, twice());
    apply<<<1, 32>>>(values + 32, [] __device__(int a) { return a + 1; });
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; i++) CHECK_SAME(values[i], i < 32 ? 20 : 11);

    __nv_bfloat162 *pairs = (__nv_bfloat162 *)floats;
    pairs[0] = __floats2bfloat162_rn(1, 2);
    pairs[1] = __floats2bfloat162_rn(3, 4);
    __half *half = (__half *)(pairs + 8);
    *half = __float2half(1.5f);
    small_floats<<<1, 1>>>(pairs, half, (unsigned *)values);
    cudaDeviceSynchronize();
    CHECK_SAME(values[0], 1);
    CHECK_SAME((float)pairs[2].x, 1.0f);
    CHECK_SAME((float)pairs[2].y, 3.0f);

    const unsigned in[] = {0x3f801000, 0x3f803000, 0x3f800fff, 0xbf801001, 0x7f800000};
    const unsigned want[][3] = {{0x3f802000, 0x3f800000, 0x3f800000},
                                {0x3f804000, 0x3f804000, 0x3f802000},
                                {0x3f800000, 0x3f800000, 0x3f800000},
                                {0xbf802000, 0xbf802000, 0xbf800000},
                                {0x7f800000, 0x7f800000, 0x7f800000}};
    cudaMemcpy(floats, in, sizeof in, cudaMemcpyDefault);
    tf32<<<1, 5>>>(floats, (unsigned *)values);
    cudaDeviceSynchronize();
    for (int i = 0; i < 15; i++) CHECK_SAME((unsigned)values[i], want[i / 3][i % 3]);
    CHECK_SAME(cudaGetLastError(), cudaSuccess);
    return finish();
}
