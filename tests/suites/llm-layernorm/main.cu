// Forward passes of a transformer's small layers in float and bf16: layernorm, softmax, GELU,
// residual, encoder; 128-bit packets.
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#ifdef ENABLE_FP32
typedef float floatX;
#else
typedef __nv_bfloat16 floatX;
#endif
#define WARP_SIZE      32U
#define CEIL_DIV(M, N) (((M) + (N) - 1) / (N))
#define cudaCheck(err) (cuda_check(err, __FILE__, __LINE__))
inline void cuda_check(cudaError_t error, const char *file, int line)
{
    if (error != cudaSuccess) {
        printf("[CUDA ERROR] at file %s:%d:\n%s\n", file, line, cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}
template <class ElementType> struct alignas(16) Packed128 {
    Packed128() = default;
    __device__ explicit Packed128(int4 bits)
    {
        static_assert(sizeof(bits) == sizeof(payload), "Size mismatch.");
        memcpy(&payload, &bits, sizeof(bits));
    }
    __device__ ElementType &operator[](int index) { return payload[index]; }
    __device__ const ElementType &operator[](int index) const { return payload[index]; }
    __device__ int4 get_bits() const
    {
        int4 bits;
        memcpy(&bits, &payload, sizeof(bits));
        return bits;
    }
    static constexpr const size_t size = sizeof(int4) / sizeof(ElementType);
    ElementType payload[size];
};
template <class T> __device__ Packed128<T> load128cs(const T *address)
{
    return Packed128<T>{__ldcs(reinterpret_cast<const int4 *>(address))};
}
template <class T> __device__ void store128(T *target, Packed128<T> value)
{
    *reinterpret_cast<int4 *>(target) = value.get_bits();
}
using x128 = Packed128<floatX>;
__device__ float warpReduceSum(float val)
{
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
        val += __shfl_xor_sync(0xFFFFFFFF, val, offset);
    return val;
}
__device__ float warpReduceMax(float val)
{
    for (int offset = 16; offset > 0; offset /= 2)
        val = fmaxf(val, __shfl_xor_sync(0xFFFFFFFF, val, offset));
    return val;
}
using reduction_func_t = float (*)(float);
template <reduction_func_t warp_reduction>
__device__ inline float blockReduce(float val, bool final_sync = false, float out_of_bounds = 0.0f)
{
    __shared__ float shared_val[WARP_SIZE];
    const int lane_id = threadIdx.x % WARP_SIZE, warp_id = threadIdx.x / WARP_SIZE,
              num_warps = blockDim.x / WARP_SIZE;
    float warp_val = warp_reduction(val);
    if (lane_id == 0) shared_val[warp_id] = warp_val;
    __syncthreads();
    warp_val = (lane_id < num_warps) ? shared_val[lane_id] : out_of_bounds;
    float block_val = warp_reduction(warp_val);
    if (final_sync) __syncthreads();
    return block_val;
}
__global__ void layernorm_forward_kernel(floatX *__restrict__ out, float *__restrict__ mean,
                                         float *__restrict__ rstd, const floatX *__restrict__ inp,
                                         const floatX *__restrict__ weight,
                                         const floatX *__restrict__ bias, int N, int C)
{
    int lane_id = threadIdx.x % WARP_SIZE, warp_id = threadIdx.x / WARP_SIZE,
        num_warps = blockDim.x / WARP_SIZE;
    int idx = blockIdx.x * num_warps + warp_id;
    if (idx >= N) return;
    const floatX *x = inp + idx * C;
    float sum = 0.0f;
    for (int i = lane_id; i < C; i += WARP_SIZE) sum += (float)x[i];
    sum = warpReduceSum(sum);
    float m = sum / C;
    if (lane_id == 0 && mean != nullptr) __stcs(mean + idx, m);
    sum = 0.0f;
    for (int i = lane_id; i < C; i += WARP_SIZE) {
        float diff = (float)x[i] - m;
        sum += diff * diff;
    }
    sum = warpReduceSum(sum);
    float s = rsqrtf(sum / C + 1e-5f);
    if (lane_id == 0 && rstd != nullptr) __stcs(rstd + idx, s);
    floatX *o = out + idx * C;
    for (int c = lane_id; c < C; c += WARP_SIZE) {
        float n = s * ((float)__ldcs(x + c) - m);
        __stcs(o + c, (floatX)(n * (float)weight[c] + (float)bias[c]));
    }
}
#define GELU_SCALING_FACTOR sqrtf(2.0f / M_PI)
__global__ void gelu_residual_kernel(floatX *out, const floatX *inp, const floatX *inp2)
{
    int idx = (blockIdx.x * blockDim.x + threadIdx.x) * x128::size;
    x128 packed_out, a = load128cs(inp + idx), b = load128cs(inp2 + idx);
    for (int k = 0; k < x128::size; ++k) {
        float xi = (float)a[k];
        float cube = 0.044715f * xi * xi * xi;
        packed_out[k] =
            (floatX)(0.5f * xi * (1.0f + tanhf(GELU_SCALING_FACTOR * (xi + cube))) + (float)b[k]);
    }
    store128(out + idx, packed_out);
}
__global__ void softmax_kernel(float *out, const float *inp, int C)
{
    namespace cg = cooperative_groups;
    const float *x = inp + blockIdx.x * C;
    float m = -FLT_MAX;
    for (int i = threadIdx.x; i < C; i += blockDim.x) m = fmaxf(m, x[i]);
    m = blockReduce<warpReduceMax>(m, true, -FLT_MAX);
    float s = 0;
    for (int i = threadIdx.x; i < C; i += blockDim.x) s += expf(x[i] - m);
    s = blockReduce<warpReduceSum>(s);
    auto t = cg::tiled_partition<32>(cg::this_thread_block());
    float check = cg::reduce(t, s, cg::greater<float>{});
    for (int i = threadIdx.x; i < C; i += blockDim.x)
        __stwt(out + blockIdx.x * C + i, __expf(x[i] - m) / check);
}
__global__ void half2_axpy(half2 *y, const half2 *x, half a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        half2 v = __hfma2(__half2half2(a), x[i], y[i]);
        v = __hmax2(v, __float2half2_rn(0.f));
        y[i] = __hadd2(v, h2exp(__hmul2(x[i], __floats2half2_rn(0.f, 0.f))));
    }
}
int main()
{
    const int N = 37, C = 768;
    std::vector<floatX> x(N * C), w(C), b(C), o(N * C);
    std::vector<float> f(N * C), g(N * C);
    srand(1);
    for (int i = 0; i < N * C; i++) {
        f[i] = rand() / (float)RAND_MAX * 4 - 2;
        x[i] = (floatX)f[i];
    }
    for (int i = 0; i < C; i++) {
        w[i] = (floatX)(1 + 0.01f * (i % 10));
        b[i] = __float2bfloat16(0.1f * (i % 3));
    }
    floatX *dx, *dw, *db, *dout;
    float *mean, *rstd, *df, *dg;
    cudaCheck(cudaMalloc(&dx, N * C * 2));
    cudaCheck(cudaMalloc(&dout, N * C * 2));
    cudaCheck(cudaMalloc(&dw, C * 2));
    cudaCheck(cudaMalloc(&db, C * 2));
    cudaCheck(cudaMalloc(&mean, N * 4));
    cudaCheck(cudaMalloc(&rstd, N * 4));
    cudaCheck(cudaMalloc(&df, N * C * 4));
    cudaCheck(cudaMalloc(&dg, N * C * 4));
    cudaCheck(cudaMemcpy(dx, x.data(), N * C * 2, cudaMemcpyHostToDevice));
    cudaCheck(cudaMemcpy(dw, w.data(), C * 2, cudaMemcpyHostToDevice));
    cudaCheck(cudaMemcpy(db, b.data(), C * 2, cudaMemcpyHostToDevice));
    cudaCheck(cudaMemcpy(df, f.data(), N * C * 4, cudaMemcpyHostToDevice));
    int bad = 0;
    layernorm_forward_kernel<<<CEIL_DIV(N, 4), 128>>>(dout, mean, rstd, dx, dw, db, N, C);
    cudaCheck(cudaGetLastError());
    cudaCheck(cudaMemcpy(o.data(), dout, N * C * 2, cudaMemcpyDeviceToHost));
    for (int r = 0; r < N; r++) {
        double m = 0, v = 0;
        for (int c = 0; c < C; c++) m += (float)x[r * C + c];
        m /= C;
        for (int c = 0; c < C; c++) v += pow((float)x[r * C + c] - m, 2);
        double s = 1 / sqrt(v / C + 1e-5);
        for (int c = 0; c < C; c++)
            bad += fabs((float)o[r * C + c] -
                        (((float)x[r * C + c] - m) * s * (float)w[c] + (float)b[c])) > 0.03;
    }
    printf("layernorm %d\n", bad);
    gelu_residual_kernel<<<N * C / x128::size / 96, 96>>>(dout, dx, dx);
    cudaCheck(cudaGetLastError());
    cudaCheck(cudaMemcpy(o.data(), dout, N * C * 2, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N * C; i++) {
        double v = (float)x[i];
        bad += fabs((float)o[i] -
                    (v + 0.5 * v * (1 + tanh(sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))))) > 0.03;
    }
    printf("gelu %d\n", bad);
    softmax_kernel<<<N, 256>>>(dg, df, C);
    cudaCheck(cudaMemcpy(g.data(), dg, N * C * 4, cudaMemcpyDeviceToHost));
    for (int r = 0; r < N; r++) {
        double s = 0;
        for (int c = 0; c < C; c++) s += exp(f[r * C + c]);
        for (int c = 0; c < C; c++) bad += fabs(g[r * C + c] - exp(f[r * C + c]) / s) > 1e-5;
    }
    printf("softmax %d\n", bad);
    std::vector<half2> hx(500), hy(500);
    for (int i = 0; i < 500; i++) {
        hx[i] = __floats2half2_rn(i * 0.25f, -i);
        hy[i] = make_half2(__float2half(1), __float2half(2));
    }
    half2 *hdx, *hdy;
    cudaMalloc(&hdx, 2000);
    cudaMalloc(&hdy, 2000);
    cudaMemcpy(hdx, hx.data(), 2000, cudaMemcpyHostToDevice);
    cudaMemcpy(hdy, hy.data(), 2000, cudaMemcpyHostToDevice);
    half2_axpy<<<4, 128>>>(hdy, hdx, __float2half(2.0f), 500);
    cudaMemcpy(hy.data(), hdy, 2000, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 500; i++)
        bad += __low2float(hy[i]) != i * 0.5f + 2 ||
               __half2float(hy[i].y) != (i > 1 || i == 1 ? (2 - 2 * i > 0 ? 2 - 2 * i : 0) + 1 : 3);
    printf("bad %d\n", bad);
    return bad != 0;
}
