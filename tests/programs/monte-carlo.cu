/* Monte Carlo with generators of its own: a Mersenne twister per block whose parameters are structs
 * in __constant__ memory, xorshift per thread, Box-Muller, and Black-Scholes next to them. */
// options: -std=c++17 -use_fast_math
#include "helper.h"

#define STATE  19
#define MEMORY 9

typedef struct {
    unsigned matrix, mask_b, mask_c, seed;
} twister_t;
__constant__ twister_t twisters[32];
__device__ double d_sum;
static twister_t h_twisters[32];

/* The same step on host and device: state of 19 words. */
__host__ __device__ inline unsigned twist(const twister_t &config, unsigned *mt, int &state)
{
    const int next = state + 1 == STATE ? 0 : state + 1;
    int middle = state + MEMORY;
    if (middle >= STATE) middle -= STATE;
    unsigned x = (mt[state] & 0xFFFFFFFEu) | (mt[next] & 1);
    x = mt[middle] ^ (x >> 1) ^ (x & 1 ? config.matrix : 0);
    mt[state] = x;
    state = next;
    x ^= x >> 12;
    x ^= (x << 7) & config.mask_b;
    x ^= (x << 15) & config.mask_c;
    x ^= x >> 18;
    return x;
}

__global__ static void RandomGPU(float *out, int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mt[STATE];
    const twister_t config = twisters[tid];
    mt[0] = config.seed;
    int state = 0;
    for (state = 1; state < STATE; state++)
        mt[state] = 1812433253U * (mt[state - 1] ^ (mt[state - 1] >> 30)) + state;
    state = 0;
    for (int i = 0; i < count; i++)
        out[tid + i * 32] = ((float)twist(config, mt, state) + 1.0f) / 4294967296.0f;
}

__device__ inline void box_muller(float &u1, float &u2)
{
    const float r = sqrtf(-2.0f * logf(u1)), phi = 2 * 3.14159265358979f * u2;
    u1 = r * __cosf(phi);
    u2 = r * __sinf(phi);
}

__global__ void normal(float *data, int pairs)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x)
        box_muller(data[2 * i], data[2 * i + 1]);
}

__global__ void pi(unsigned long long *hits, int rounds)
{
    unsigned x = 2463534242u + 7919 * (blockIdx.x * blockDim.x + threadIdx.x), count = 0;
    for (int i = 0; i < rounds; i++) {
        float p[2];
        for (float &c : p) {
            x ^= x << 13, x ^= x >> 17, x ^= x << 5;
            c = __uint2float_rn(x) * 2.3283064e-10f;
        }
        count += __fmaf_rn(p[0], p[0], __fmul_rn(p[1], p[1])) <= 1.0f;
    }
    for (int i = 16; i > 0; i >>= 1) count += __shfl_xor_sync(~0u, count, i);
    if ((threadIdx.x & 31) == 0) atomicAdd(hits, (unsigned long long)count);
}

__device__ __host__ static inline float cndf(float d)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float c =
        0.39894228f * expf(-0.5f * d * d) *
        (k * (0.31938153f +
              k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - c : c;
}

__global__ void black_scholes(float2 *__restrict result, const float4 *__restrict options, float r,
                              float v, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float s = __ldg(&options[i]).x, x = __ldg(&options[i].y), t = options[i].z;
    const float root = __fdividef(1.0f, rsqrtf(t));
    const float d1 = __fdividef(__logf(s / x) + (r + 0.5f * v * v) * t, v * root);
    const float d2 = d1 - v * root, e = __expf(-r * t), n1 = cndf(d1), n2 = cndf(d2);
    result[i] = make_float2(s * n1 - x * e * n2, x * e * (1 - n2) - s * (1 - n1));
    atomicAdd(&d_sum, (double)result[i].x);
}

int main()
{
    const int count = 64;
    for (int i = 0; i < 32; i++)
        h_twisters[i] = {0x9908b0dfu ^ i * 77u, 0x9d2c5680u, 0xefc60000u, 4357u + i};
    checkCudaErrors(cudaMemcpyToSymbol(twisters, h_twisters, sizeof h_twisters));
    float *d;
    static float random[32 * count], gauss[32 * count];
    checkCudaErrors(cudaMalloc((void **)&d, sizeof random));
    RandomGPU<<<1, 32>>>(d, count);
    checkCudaErrors(cudaMemcpy(random, d, sizeof random, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 32; t++) {
        unsigned mt[STATE] = {h_twisters[t].seed};
        for (int i = 1; i < STATE; i++) mt[i] = 1812433253U * (mt[i - 1] ^ (mt[i - 1] >> 30)) + i;
        int state = 0;
        for (int i = 0; i < count; i++) {
            const float want = ((float)twist(h_twisters[t], mt, state) + 1.0f) / 4294967296.0f;
            EXPECT(close_to(random[t + i * 32], want, 1e-6), "%d %d: %g", t, i, random[t + i * 32]);
        }
    }
    normal<<<4, 64>>>(d, 16 * count);
    checkCudaErrors(cudaMemcpy(gauss, d, sizeof gauss, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32 * count; i += 2) {
        const double r = sqrt(-2 * log(random[i])), phi = 2 * 3.14159265358979 * random[i + 1];
        EXPECT(fabs(gauss[i] - r * cos(phi)) < 1e-4, "%d: %g", i, gauss[i]);
        EXPECT(fabs(gauss[i + 1] - r * sin(phi)) < 1e-4, "%d: %g", i, gauss[i + 1]);
    }

    unsigned long long *hits, total = 0;
    checkCudaErrors(cudaMalloc(&hits, sizeof *hits));
    checkCudaErrors(cudaMemset(hits, 0, sizeof *hits));
    pi<<<8, 128>>>(hits, 200);
    checkCudaErrors(cudaMemcpy(&total, hits, sizeof total, cudaMemcpyDeviceToHost));
    EXPECT(fabs(4.0 * total / (8 * 128 * 200) - 3.14159) < 0.02, "%llu", total);

    const int n = 500;
    static float4 options[n];
    static float2 result[n];
    for (int i = 0; i < n; i++)
        options[i] = make_float4(5 + i % 26, 1 + i % 100, 0.25f + 0.01f * (i % 90), 0);
    float4 *d_options;
    float2 *d_result;
    checkCudaErrors(cudaMalloc(&d_options, sizeof options));
    checkCudaErrors(cudaMalloc(&d_result, sizeof result));
    checkCudaErrors(cudaMemcpy(d_options, options, sizeof options, cudaMemcpyHostToDevice));
    black_scholes<<<(n + 127) / 128, 128>>>(d_result, d_options, 0.02f, 0.30f, n);
    checkCudaErrors(cudaMemcpy(result, d_result, sizeof result, cudaMemcpyDeviceToHost));
    double sum = 0, got_sum;
    for (int i = 0; i < n; i++) {
        const double s = options[i].x, x = options[i].y, t = options[i].z, v = 0.3, r = 0.02;
        const double d1 = (log(s / x) + (r + v * v / 2) * t) / (v * sqrt(t)), d2 = d1 - v * sqrt(t);
        const double call = s * cndf((float)d1) - x * exp(-r * t) * cndf((float)d2);
        EXPECT(fabs(result[i].x - call) < 2e-4, "%d: %g, not %g", i, result[i].x, call);
        EXPECT(fabs(result[i].y - (call + x * exp(-r * t) - s)) < 2e-4, "%d: %g", i, result[i].y);
        sum += result[i].x;
    }
    checkCudaErrors(cudaMemcpyFromSymbol(&got_sum, d_sum, sizeof got_sum));
    EXPECT(close_to(got_sum, sum, 1e-9), "%g, not %g", got_sum, sum);
    return verdict();
}
