/* Half and bfloat16 as programs use them: a dot product of half2 with a tree in shared memory, a
 * product of matrices with float sums, conversions by the vector, atomics, and mixed intrinsics. */
#include "helper.h"
#include "cuda_fp16.h"
#include <cuda_bf16.h>
#include <vector>

__forceinline__ __device__ void reduceInShared_intrinsics(half2 *const v)
{
    if (threadIdx.x < 64) v[threadIdx.x] = __hadd2(v[threadIdx.x], v[threadIdx.x + 64]);
    __syncthreads();
    for (int i = 32; i > 0; i >>= 1) {
        if (threadIdx.x < 32) v[threadIdx.x] = __hadd2(v[threadIdx.x], v[threadIdx.x + i]);
        __syncthreads();
    }
}

__global__ void scalarProductKernel_intrinsics(half2 const *const a, half2 const *const b,
                                               float *const results, size_t const size)
{
    const int stride = gridDim.x * blockDim.x;
    __shared__ half2 shArray[128];
    shArray[threadIdx.x] = __float2half2_rn(0.f);
    half2 value = __float2half2_rn(0.f);
    for (int i = threadIdx.x + blockDim.x * blockIdx.x; i < size; i += stride)
        value = __hfma2(a[i], b[i], value);
    shArray[threadIdx.x] = value;
    __syncthreads();
    reduceInShared_intrinsics(shArray);
    if (threadIdx.x == 0) {
        half2 result = shArray[0];
        float f_result = __low2float(result) + __high2float(result);
        results[blockIdx.x] = f_result;
    }
}

__global__ void scalarProductKernel_native(half2 const *const a, half2 const *const b,
                                           float *const results, size_t const size)
{
    __shared__ half2 shArray[128];
    half2 value(0.f, 0.f);
    for (int i = threadIdx.x + blockDim.x * blockIdx.x; i < size; i += gridDim.x * blockDim.x)
        value = a[i] * b[i] + value;
    shArray[threadIdx.x] = value;
    for (int i = 64; i > 0; i >>= 1) {
        __syncthreads();
        if (threadIdx.x < i) shArray[threadIdx.x] += shArray[threadIdx.x + i];
    }
    if (threadIdx.x == 0) results[blockIdx.x] = (float)shArray[0].x + (float)shArray[0].y;
}

template <typename T> __device__ float widen(T v)
{
    return static_cast<float>(v);
}
template <typename T, int N> struct alignas(sizeof(T) * N) Pack {
    T v[N];
};

/* 8 elements per load, C in the narrow type. */
template <typename T> __global__ void gemm(const T *a, const T *b, T *c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y,
              column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i += 8) {
        const Pack<T, 8> x =
            *reinterpret_cast<const Pack<T, 8> *>(a + row * k + i); /* b is transposed */
        const Pack<T, 8> y = *reinterpret_cast<const Pack<T, 8> *>(b + column * k + i);
#pragma unroll
        for (int j = 0; j < 8; j++) sum = fmaf(widen(x.v[j]), widen(y.v[j]), sum);
    }
    c[row * n + column] = T(sum);
}

__global__ void scalars(float *out, half *sum, __half2 *pair, __nv_bfloat16 *bsum)
{
    const __half h = __float2half(1.5f + threadIdx.x);
    atomicAdd(sum, __float2half(1.0f));
    atomicAdd(pair, __floats2half2_rn(1, 2));
    atomicAdd(bsum, __float2bfloat16(2.0f));
    if (threadIdx.x) return;
    out[0] = __half2float(hsqrt(__hmul(h, h)));
    out[1] = __hgt(h, __int2half_rn(1)) && !__hisnan(h) && h < __half(2) ? 1 : 0;
    out[2] = __half2float(__hmax(h, __hneg(h)));
    out[3] = (float)__half2int_rn(hceil(h));
    const float2 f = __half22float2(__lows2half2(__floats2half2_rn(3, 4), __floats2half2_rn(5, 6)));
    out[4] = 10 * f.x + f.y;
    out[5] = __bfloat162float(__hadd(__float2bfloat16(1.0f), __float2bfloat16(0.0078125f)));
    out[6] = __half_as_ushort(__ushort_as_half(0x3c00)) == 0x3c00
                 ? __half2float(hexp2(__half(3.0f)))
                 : -1;
    out[7] = __half2float(__shfl_sync(1, h, 0)) + __half2float(__ldg(sum));
}

template <typename T> static void test_gemm(const char *name, float tolerance)
{
    const int m = 24, n = 40, k = 32;
    std::vector<T> a(m * k), b(n * k), c(m * n);
    for (int i = 0; i < m * k; i++) a[i] = T((float)(i % 9) / 4 - 1);
    for (int i = 0; i < n * k; i++) b[i] = T((float)(i % 7) / 8);
    T *d_a, *d_b, *d_c;
    checkCudaErrors(cudaMalloc(&d_a, a.size() * sizeof(T)));
    checkCudaErrors(cudaMalloc(&d_b, b.size() * sizeof(T)));
    checkCudaErrors(cudaMalloc(&d_c, c.size() * sizeof(T)));
    checkCudaErrors(cudaMemcpy(d_a, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(d_b, b.data(), b.size() * sizeof(T), cudaMemcpyHostToDevice));
    gemm<T><<<dim3((n + 15) / 16, (m + 7) / 8), dim3(16, 8)>>>(d_a, d_b, d_c, m, n, k);
    checkCudaErrors(cudaMemcpy(c.data(), d_c, c.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float want = 0;
            for (int x = 0; x < k; x++) want += (float)a[i * k + x] * (float)b[j * k + x];
            EXPECT(close_to((float)c[i * n + j], want, tolerance), "%s (%d, %d): %g, not %g", name,
                   i, j, (float)c[i * n + j], want);
        }
}

int main()
{
    const int size = 2048, blocks = 4;
    half2 *h[2], *d[2];
    float *results, *d_results, want = 0;
    for (int i = 0; i < 2; i++) {
        checkCudaErrors(cudaMallocHost((void **)&h[i], size * sizeof *h[i]));
        checkCudaErrors(cudaMalloc((void **)&d[i], size * sizeof *d[i]));
        for (int k = 0; k < size; k++) {
            h[i][k].x = __float2half((float)((k + i) % 4));
            h[i][k].y = (half)(float)(k % 3);
        }
        checkCudaErrors(cudaMemcpy(d[i], h[i], size * sizeof *h[i], cudaMemcpyHostToDevice));
    }
    for (int k = 0; k < size; k++)
        want +=
            __half2float(h[0][k].x) * __half2float(h[1][k].x) + (float)h[0][k].y * (float)h[1][k].y;
    checkCudaErrors(cudaMallocHost((void **)&results, blocks * sizeof(float)));
    checkCudaErrors(cudaMalloc((void **)&d_results, blocks * sizeof(float)));
    for (int native = 0; native < 2; native++) {
        if (native)
            scalarProductKernel_native<<<blocks, 128>>>(d[0], d[1], d_results, size);
        else
            scalarProductKernel_intrinsics<<<blocks, 128>>>(d[0], d[1], d_results, size);
        checkCudaErrors(
            cudaMemcpy(results, d_results, blocks * sizeof(float), cudaMemcpyDeviceToHost));
        float sum = 0;
        for (int i = 0; i < blocks; i++) sum += results[i];
        EXPECT(sum == want, "%d: %g, not %g", native, sum, want); /* small whole numbers: exact */
    }
    test_gemm<half>("half", 1e-3f);
    test_gemm<__nv_bfloat16>("bfloat16", 8e-3f);
    test_gemm<float>("float", 1e-6f);

    float *out;
    half *sum;
    half2 *pair;
    __nv_bfloat16 *bsum;
    checkCudaErrors(cudaMallocManaged(&out, 64));
    checkCudaErrors(cudaMallocManaged(&sum, 4));
    checkCudaErrors(cudaMallocManaged(&pair, 4));
    checkCudaErrors(cudaMallocManaged(&bsum, 4));
    *sum = 0.0f, *bsum = 0.0f, *pair = half2(0.0f, 0.0f);
    scalars<<<1, 64>>>(out, sum, pair, bsum);
    checkCudaErrors(cudaDeviceSynchronize());
    EXPECT((float)*sum == 64 && (float)*bsum == 128, "%g %g", (float)*sum, (float)*bsum);
    EXPECT((float)pair->x == 64 && __high2float(*pair) == 128, "%g", (float)pair->x);
    const float wants[] = {1.5f, 1, 1.5f, 2, 35, 1.0078125f, 8};
    for (int i = 0; i < 7; i++) EXPECT(out[i] == wants[i], "%d: %g, not %g", i, out[i], wants[i]);
    return verdict();
}
